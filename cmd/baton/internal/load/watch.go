package load

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"

	"github.com/baton-go/redis"
)

// watched is a counter incremented by optimistic transactions.
type watched struct {
	key                                   string
	committed, conflicts, failed, unknown atomic.Int64
}

// watch increments t by reading it, and writing it in a transaction that fails if
// somebody else has written meanwhile, and then again. Nothing else is tried again.
func (w *worker) watch(ctx context.Context, t *watched) {
	for w.running(ctx) {
		sent := false // EXEC was
		err := w.client().Watch(ctx, func(tx *redis.Tx) error {
			n, err := tx.Get(ctx, t.key).Int64()
			if err != nil && !errors.Is(err, redis.Nil) {
				return err
			}
			cmds, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, t.key, strconv.FormatInt(n+1, 10), 0)
				return nil
			})
			sent = err != nil && Classify(err) == Unknown
			if err == nil && (len(cmds) != 1 || cmds[0].(*redis.StatusCmd).Val() != "OK") {
				w.rec.wrong++
			}
			return err
		}, t.key)
		switch {
		case err == nil:
			t.committed.Add(1)
		case errors.Is(err, redis.TxFailedErr):
			t.conflicts.Add(1)
		default:
			// An EXEC without an answer may have been executed: the application can't know.
			if w.failed(ctx, err); sent {
				t.unknown.Add(1)
			} else {
				t.failed.Add(1)
			}
			continue
		}
		w.rec.completed()
	}
}

// failed notes the error of a session's command, and pauses.
func (w *worker) failed(ctx context.Context, err error) Outcome {
	note(w.rec.appErrors, err)
	pause(ctx, failurePause)
	return Classify(err)
}
