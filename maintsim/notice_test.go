package maintsim

import (
	"testing"
	"time"
)

func TestNoticesLookLikeCaptures(t *testing.T) {
	now := time.Now()
	target := newProxy(1, "127.0.0.2", 6379)
	moving := window{notice: Moving, end: now.Add(15 * time.Second), target: target}
	null := moving
	null.target = nil
	late := moving
	late.seq, late.end = 7, now.Add(-1500*time.Millisecond)
	quoted := moving
	quoted.text = "[2001:db8::1]:6379"
	migrating := window{notice: Migrating, seq: 3, end: now.Add(2 * time.Second), shards: []string{"2", "4"}}
	failing := window{notice: FailingOver, seq: 12, end: now.Add(-time.Second), shards: []string{"1"}}

	for _, tc := range []struct {
		name  string
		w     window
		maint string
		want  string
	}{
		{"captured: null, none", moving, "none", ">4\r\n$6\r\nMOVING\r\n:0\r\n:15\r\n_\r\n"},
		{"captured: null, server can't say", null, "external-ip", ">4\r\n$6\r\nMOVING\r\n:0\r\n:15\r\n_\r\n"},
		{"internal ip", moving, "internal-ip", ">4\r\n$6\r\nMOVING\r\n:0\r\n:15\r\n$14\r\n127.0.0.2:6379\r\n"},
		{"external ip", moving, "external-ip", ">4\r\n$6\r\nMOVING\r\n:0\r\n:15\r\n$14\r\n127.0.0.2:6379\r\n"},
		{"internal name", moving, "internal-fqdn", ">4\r\n$6\r\nMOVING\r\n:0\r\n:15\r\n$20\r\nnode-2.sim.test:6379\r\n"},
		{"external name", moving, "external-fqdn", ">4\r\n$6\r\nMOVING\r\n:0\r\n:15\r\n$20\r\nnode-2.sim.test:6379\r\n"},
		{"told in so many words", quoted, "none", ">4\r\n$6\r\nMOVING\r\n:0\r\n:15\r\n$18\r\n[2001:db8::1]:6379\r\n"},
		{"negative time is left", late, "none", ">4\r\n$6\r\nMOVING\r\n:7\r\n:-2\r\n_\r\n"},
		{"two shards", migrating, "none", ">4\r\n$9\r\nMIGRATING\r\n:3\r\n:2\r\n$9\r\n[\"2\",\"4\"]\r\n"},
		{"lead is over", failing, "none", ">4\r\n$12\r\nFAILING_OVER\r\n:12\r\n:0\r\n$5\r\n[\"1\"]\r\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := string(tc.w.appendTo(nil, tc.maint, now, time.Second)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	if got, want := string(appendClosing(nil, Migrated, 4, []string{"2", "4"}, nil)), ">3\r\n$8\r\nMIGRATED\r\n:4\r\n$9\r\n[\"2\",\"4\"]\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := string(appendClosing(nil, FailedOver, 13, nil, nil)), ">3\r\n$11\r\nFAILED_OVER\r\n:13\r\n$2\r\n[]\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNextRequest(t *testing.T) {
	whole := "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\na\r\nbc\r\n"
	for i := range len(whole) {
		if n, _, err := nextRequest([]byte(whole[:i])); n != 0 || err != nil {
			t.Fatalf("first %d bytes: got %d, %v, want 0, nil", i, n, err)
		}
	}
	n, name, err := nextRequest([]byte(whole + "*1"))
	if n != len(whole) || string(name) != "SET" || err != nil {
		t.Errorf("got %d, %q, %v", n, name, err)
	}
	for _, bad := range []string{"*a\r\n", "*1\n", "*1\r\n+a\r\n", "*\r\n", "*99999999999999999999\r\n", "*1\r\rx"} {
		if n, _, err := nextRequest([]byte(bad)); err == nil {
			t.Errorf("%q: got %d and no error", bad, n)
		}
	}
	for in, want := range map[string]int{"PING\r\nx": 6, "\r\n": 2, "PING": 0, "*0\r\n": 4} {
		if n, name, err := nextRequest([]byte(in)); n != want || name != nil || err != nil {
			t.Errorf("%q: got %d, %q, %v, want %d", in, n, name, err, want)
		}
	}
}

func TestFIFOMergesRuns(t *testing.T) {
	var f fifo
	for range 1000 {
		f.push(entry{n: 2})
	}
	f.push(entry{kind: entryLocal})
	f.push(entry{n: 1})
	if len(f.q) != 3 || f.total != 2002 {
		t.Errorf("got %d entries of %d commands, want 3 of 2002", len(f.q), f.total)
	}
	f.pop()
	if f.head().kind != entryLocal {
		t.Errorf("head is %v", f.head().kind)
	}
}
