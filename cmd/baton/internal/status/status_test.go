package status

import (
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/cmd/baton/internal/drill"
	"github.com/baton-go/redis/cmd/baton/internal/load"
)

func at(elapsed time.Duration, phase load.Phase, acknowledged int64) drill.Status {
	return drill.Status{
		Phase: phase, Elapsed: elapsed, Planned: 10 * time.Second, Notices: 3, Handoffs: 2,
		Live: load.Live{Acknowledged: acknowledged, Failed: 4, Unknown: 5},
	}
}

func TestPlainLinesComeNowAndThen(t *testing.T) {
	var b strings.Builder
	l := New(&b, false)
	for i := range 40 { // 10 s
		phase := load.Before
		if i >= 12 {
			phase = load.During
		}
		l.Show(at(time.Duration(i+1)*250*time.Millisecond, phase, int64(i+1)*250))
	}
	l.Close()
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 3 { // the first, the new phase, five seconds later
		t.Errorf("%d lines:\n%s", len(lines), b.String())
	}
	if want := "during  3.2/10 s   1,000 ops/s  failed 4  unknown 5  notices 3  handoffs 2"; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, b.String())
	}
}

func TestTerminalHasOneLine(t *testing.T) {
	var b strings.Builder
	l := New(&b, false)
	l.terminal = true
	l.Show(at(5*time.Second, load.During, 5000))
	l.Close()
	if s := b.String(); strings.Contains(s, "\n") || !strings.Contains(s, "█████░░░░░") || !strings.HasSuffix(s, lineBegin+lineEnd) {
		t.Errorf("line = %q", s)
	}
}

func TestQuietIsQuiet(t *testing.T) {
	var b strings.Builder
	l := New(&b, true)
	l.Show(at(time.Second, load.Before, 1))
	l.Close()
	if b.Len() > 0 {
		t.Errorf("printed %q", b.String())
	}
}
