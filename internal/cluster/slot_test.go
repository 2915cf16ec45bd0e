package cluster

import (
	"strings"
	"testing"
)

// bitwiseCRC16 is CRC16/XMODEM by its definition, bit by bit.
func bitwiseCRC16(s string) uint16 {
	var crc uint16
	for i := range len(s) {
		for bit := 7; bit >= 0; bit-- {
			in := s[i]>>bit&1 == 1
			out := crc>>15 == 1
			crc <<= 1
			if in != out {
				crc ^= 0x1021
			}
		}
	}
	return crc
}

// specHashTag is the algorithm of the cluster specification, word by word.
func specHashTag(key string) string {
	for s := range len(key) {
		if key[s] != '{' {
			continue
		}
		for e := s + 1; e < len(key); e++ {
			if key[e] == '}' {
				if e == s+1 {
					return key
				}
				return key[s+1 : e]
			}
		}
		return key
	}
	return key
}

func TestCRCHasTheCheckValueOfTheSpecification(t *testing.T) {
	if got := crc16("123456789"); got != 0x31C3 {
		t.Errorf("got %#x, want 0x31C3", got)
	}
	if got := bitwiseCRC16("123456789"); got != 0x31C3 {
		t.Errorf("the test's own CRC: got %#x, want 0x31C3", got)
	}
}

func TestSlotOfKnownKeys(t *testing.T) {
	for key, want := range map[string]uint16{
		"":                     0,
		"foo":                  12182,
		"bar":                  5061,
		"somekey":              11058,
		"123456789":            0x31C3,
		"hash_tag":             2515,
		"foo{hash_tag}":        2515,
		"bar{hash_tag}":        2515,
		"{user1000}.following": 3443,
		"{user1000}.followers": 3443,
		"foo{bar}{zap}":        5061,                               // the first tag counts
		"foo{}{bar}":           bitwiseCRC16("foo{}{bar}") % Slots, // an empty tag is none
		"{}":                   bitwiseCRC16("{}") % Slots,
		"foo{{bar}}zap":        bitwiseCRC16("{bar") % Slots,
		"foo{bar":              bitwiseCRC16("foo{bar") % Slots,
		"foo}bar{":             bitwiseCRC16("foo}bar{") % Slots,
		"}foo{bar}":            5061,
	} {
		if got := SlotString(key); got != want {
			t.Errorf("SlotString(%q): got %d, want %d", key, got, want)
		}
		if got := Slot([]byte(key)); got != want {
			t.Errorf("Slot(%q): got %d, want %d", key, got, want)
		}
	}
}

func TestSlotOfNil(t *testing.T) {
	if got := Slot(nil); got != 0 {
		t.Errorf("got %d, want 0", got)
	}
}

func TestSlotDoesNotAllocate(t *testing.T) {
	key, text := []byte("prefix:{user1000}:suffix"), strings.Repeat("k", 100)
	if n := testing.AllocsPerRun(100, func() {
		Slot(key)
		SlotString(text)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func FuzzSlot(f *testing.F) {
	for _, key := range []string{"", "foo", "{a}b", "a{}b{c}", "{", "}", "{}", "}{", "a{{b}}c", "\x00\xff{\x80}", "123456789abcdefghijklmnopqrstuvwxyz"} {
		f.Add([]byte(key))
	}
	f.Fuzz(func(t *testing.T, key []byte) {
		want := bitwiseCRC16(specHashTag(string(key))) % 16384
		if got := Slot(key); got != want {
			t.Fatalf("Slot(%q): got %d, want %d", key, got, want)
		}
		if got := SlotString(string(key)); got != want {
			t.Fatalf("SlotString(%q): got %d, want %d", key, got, want)
		}
	})
}

func BenchmarkSlot(b *testing.B) {
	for _, bench := range []struct{ name, key string }{
		{"3", "foo"},
		{"16", "user:1000:visits"},
		{"40", strings.Repeat("0123456789", 4)},
		{"tag", "prefix:{user1000}:a suffix that does not count"},
		{"1000", strings.Repeat("0123456789", 100)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				SlotString(bench.key)
			}
		})
	}
}
