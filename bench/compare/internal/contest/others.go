package contest

import (
	"runtime"
	"time"

	"github.com/baton-go/redis/bench/compare/internal/load"
	"github.com/baton-go/redis/bench/compare/internal/server"
	"github.com/baton-go/redis/bench/internal/gauge"
)

// A watch tells how much of the machine other processes use.
type watch struct {
	cpu              func() (time.Duration, error) // that the server has used so far
	began            time.Time
	busy, client, db time.Duration // CPU time of all, of this process, of the server
	err              error         // why it is not known
}

func (r *run) watch(t server.Transport) *watch {
	w := &watch{cpu: func() (time.Duration, error) { return r.srv.CPU(t) }}
	w.began, w.busy, w.client, w.db, w.err = w.read()
	return w
}

func (w *watch) read() (now time.Time, busy, client, db time.Duration, err error) {
	if busy, err = load.MachineCPU(); err != nil {
		return now, 0, 0, 0, err
	}
	if client, err = gauge.ProcessCPU(); err != nil {
		return now, 0, 0, 0, err
	}
	db, err = w.cpu()
	return time.Now(), busy, client, db, err
}

// others is the part of all CPUs that other processes have used since, or 0 if that
// is not known.
func (w *watch) others() float64 {
	now, busy, client, db, err := w.read()
	if w.err != nil || err != nil {
		return 0
	}
	used := (busy - w.busy) - (client - w.client) - (db - w.db)
	return max(0, used.Seconds()/now.Sub(w.began).Seconds()/float64(runtime.NumCPU()))
}
