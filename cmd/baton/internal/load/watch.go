package load

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis"
)

// giveUp is how long the application retries one operation.
const giveUp = 10 * time.Second

// watched is a counter incremented by optimistic transactions.
type watched struct {
	key                                            string
	committed, conflicts, failed, unknown, retried atomic.Int64
}

// watch increments t by reading it, and writing it in a transaction that fails if
// somebody else has written meanwhile.
func (w *worker) watch(ctx context.Context, t *watched) {
	var failing time.Time // since when; zero: it is not
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
			// An EXEC without an answer may have been executed. The application can't
			// know, so it reads again and goes on: that is what optimistic loops are.
			if sent {
				t.unknown.Add(1)
			}
			if !w.retry(ctx, err, &failing) {
				t.failed.Add(1)
				continue
			}
			t.retried.Add(1)
			continue
		}
		failing = time.Time{}
		w.rec.completed()
	}
}

// retry notes an error the application retries, and pauses. It reports false when
// the operation has failed for too long.
func (w *worker) retry(ctx context.Context, err error, failing *time.Time) bool {
	note(w.rec.appErrors, err)
	now := time.Now()
	if failing.IsZero() {
		*failing = now
	}
	if Classify(err) == Failed && redis.DeliveryOf(err) == redis.Rejected && !notReady(err) || now.Sub(*failing) > giveUp {
		*failing = time.Time{}
		pause(ctx, failurePause)
		return false
	}
	pause(ctx, failurePause)
	return true
}

// notReady reports whether the server has refused something for the time being, or
// a transaction because it has refused a part of it.
func notReady(err error) bool {
	return redis.IsReadOnlyError(err) || redis.IsLoadingError(err) || redis.IsExecAbortError(err) ||
		redis.IsClusterDownError(err) || redis.IsTryAgainError(err) || redis.IsMasterDownError(err)
}
