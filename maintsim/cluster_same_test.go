package maintsim_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/internal/realserver"
	"github.com/baton-go/redis/maintsim"
)

// halfMoved is what is said to the two ends of a slot on the move that has a key {t}b at the
// source, gets {t}a at the target, and has no {t}c. "s:" is the source, "t:" the target, "+"
// continues on the same connection.
var halfMoved = []string{
	"t:GET {t}a", "t:ASKING+SET {t}a 1+GET {t}a", "s:GET {t}a", "s:GET {t}b", "s:GET {t}c", "s:SET {t}c 1",
	"s:MGET {t}a {t}c", "s:MGET {t}a {t}b", "s:MGET {t}b {t}b", "s:MSET {t}x 1 {t}y 1", "t:ASKING+MSET {t}x 1 {t}y 1",
	"t:ASKING+MGET {t}a {t}b", "t:ASKING+MGET {t}a {t}a",
	"t:ASKING+MULTI+INCR {t}a+INCR {t}a+EXEC+GET {t}a", "t:MULTI+ASKING+INCR {t}a+ASKING+INCR {t}a+EXEC",
	"t:ASKING+MULTI+INCR {t}a+INCR {t}b+EXEC", lateJudged, "s:MULTI+INCR {t}b+INCR {t}b+EXEC",
	"t:MULTI+INCR {t}a+EXEC", "s:WATCH {t}a", "s:WATCH {t}b+UNWATCH", "t:WATCH {t}a", "t:ASKING+WATCH {t}a+UNWATCH",
	"t:ASKING+PING+GET {t}a", "s:DEL {t}a {t}b", "s:MGET {t}a other", "s:EVAL return(1) 1 {t}a", "s:EVAL return(1) 1 {t}b",
	"s:EVAL return(1) 0", "s:SSUBSCRIBE {t}a", "t:SSUBSCRIBE {t}a", "s:SPUBLISH {t}a m", "t:SPUBLISH {t}a m",
	"s:BLPOP {t}l 0.01", "s:CLUSTER KEYSLOT {t}a", "s:CLUSTER COUNTKEYSINSLOT 15891", "t:CLUSTER COUNTKEYSINSLOT 15891",
	"s:SELECT 0", "s:DBSIZE", "t:DBSIZE", "s:SCAN 0", "s:KEYS *",
}

// lateJudged is what Valkey 9 judges at EXEC, with TRYAGAIN, and others when it is queued.
const lateJudged = "s:MULTI+INCR {t}b+INCR {t}a+EXEC"

// ends are the addresses of the two ends of the slot on the move.
type ends struct {
	source, target string
}

// run says a line of halfMoved, and returns what comes back, with the ends' addresses by name.
func (e ends) run(t *testing.T, line string) string {
	t.Helper()
	addr, commands, _ := strings.Cut(line, ":")
	c := dial(t, map[string]string{"s": e.source, "t": e.target}[addr])
	var out []string
	for words := range strings.SplitSeq(commands, "+") {
		out = append(out, c.do(strings.Fields(words)...))
	}
	return strings.NewReplacer(e.source, "SOURCE", e.target, "TARGET").Replace(strings.Join(out, " "))
}

// What the embedded form says of a slot on the move is what real servers say.
func TestClusterAnswersAsServersDo(t *testing.T) {
	const slot = 15891 // of {t}
	embedded := maintsim.StartCluster(t, maintsim.ClusterConfig{})
	if _, err := embedded.Do("SET", "{t}b", "1"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wait := background(t, func() error {
		_ = embedded.MigrateSlots(ctx, 2, 0, oneSlot(slot), maintsim.WithUnannounced(), maintsim.WithWindow(time.Hour))
		return nil
	})
	at := ends{embedded.Addrs()[2], embedded.Addrs()[0]}
	waitFor(t, func() bool { return strings.HasPrefix(at.run(t, "s:GET {t}c"), "-ASK") })
	got := make([]string, len(halfMoved))
	for i, line := range halfMoved {
		got[i] = at.run(t, line)
	}
	cancel()
	wait()
	for _, name := range []string{realserver.Redis7, realserver.Redis8, realserver.Valkey9} {
		t.Run(name, func(t *testing.T) {
			c := realserver.StartCluster(t, name, realserver.ClusterConfig{})
			at := ends{c.Addrs()[2], c.Addrs()[0]}
			if _, err := c.Do(t.Context(), at.source, "SET", "{t}b", "1"); err != nil {
				t.Fatal(err)
			}
			m, err := c.StartMove(t.Context(), at.source, at.target)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if err := m.Open(t.Context(), slot); err != nil {
				t.Fatal(err)
			}
			for i, line := range halfMoved {
				want := at.run(t, line)
				if name == realserver.Valkey9 && line == lateJudged {
					continue
				}
				if got[i] != want {
					t.Errorf("%s:\n got %q\nwant %q", line, got[i], want)
				}
			}
		})
	}
}
