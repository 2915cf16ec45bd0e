package redis

import (
	"testing"

	"pgregory.net/rapid"
)

// Whatever is put into a command comes out of Args, byte by byte.
func TestArgsAreWhatWasPutIn(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.Rune(), 0, 300, -1), rapid.SampledFrom([]string{"", "\r\n", "$3\r\nabc\r\n", "\xff\x00"}))
	rapid.Check(t, func(t *rapid.T) {
		c := cmdable(none)
		key, val := text.Draw(t, "key"), text.Draw(t, "value")
		list := rapid.SliceOfN(text, 1, 20).Draw(t, "list")
		values := make([]any, len(list))
		for i, s := range list {
			values[i] = s
		}
		for _, tc := range []struct {
			cmd  Cmder
			want []string
		}{
			{c.Get(bg, key), []string{"get", key}},
			{c.Set(bg, key, []byte(val), 0), []string{"set", key, val}},
			{c.SetFromBuffer(bg, key, []byte(val)), []string{"set", key, val}},
			{c.Del(bg, list...), append([]string{"del"}, list...)},
			{c.HSet(bg, key, list), append([]string{"hset", key}, list...)},
			{c.RPush(bg, key, values...), append([]string{"rpush", key}, list...)},
			{c.MSetEX(bg, MSetEXArgs{}, key, val), []string{"msetex", "1", key, val}},
			{NewCmd(bg, append([]any{"name"}, values...)...), append([]string{"name"}, list...)},
		} {
			args := tc.cmd.Args()
			if len(args) != len(tc.want) {
				t.Fatalf("got %q, want %q", args, tc.want)
			}
			for i, a := range args {
				if a != tc.want[i] {
					t.Fatalf("argument %d is %q, want %q", i, a, tc.want[i])
				}
			}
		}
	})
}
