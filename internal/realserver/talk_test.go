package realserver

import (
	"bufio"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadReply(t *testing.T) {
	for text, want := range map[string]any{
		"+OK\r\n":          "OK",
		"-ERR no\r\n":      ReplyError("ERR no"),
		":-7\r\n":          int64(-7),
		"$-1\r\n":          nil,
		"$0\r\n\r\n":       "",
		"$4\r\na\r\nb\r\n": "a\r\nb",
		"*-1\r\n":          nil,
		"*0\r\n":           []any{},
		"*3\r\n:1\r\n*1\r\n$1\r\nx\r\n-MOVED 1 a\r\n": []any{int64(1), []any{"x"}, ReplyError("MOVED 1 a")},
	} {
		got, err := readReply(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{"", "\r\n", "OK\r\n", "$x\r\n", ":x\r\n", "*x\r\n", "$5\r\nab\r\n", "*2\r\n:1\r\n"} {
		if got, err := readReply(bufio.NewReader(strings.NewReader(text))); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}
