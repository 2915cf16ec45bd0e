package endpoint

import (
	"time"

	"github.com/baton-go/redis/maintnotifications"
	"github.com/baton-go/redis/push"
)

// notice takes a maintenance notice through the hooks and asks the machine. It runs
// on the owner, so hooks may take their time: they hold up other notices, but no
// reply.
func (e *Endpoint) notice(at time.Time, ev *event) (actions []maintnotifications.Action) {
	hctx := push.NotificationHandlerContext{Conn: ev.link}
	err := e.cfg.Manager.Dispatch(e.run, hctx, ev.args, func(n maintnotifications.Notice) error {
		actions = e.machine.Notice(at, maintnotifications.LinkID(ev.link), n)
		switch n.Kind {
		case maintnotifications.KindMigrated, maintnotifications.KindFailedOver:
			e.afterMaintenance(at)
		case maintnotifications.KindSMigrated:
			if e.cfg.OnSlots != nil {
				e.cfg.OnSlots(n)
			}
		case maintnotifications.KindMoving, maintnotifications.KindMigrating, maintnotifications.KindFailingOver,
			maintnotifications.KindSMigrating:
		}
		return nil
	})
	if err != nil {
		e.cfg.Logger.Debug("maintenance notice ignored", "endpoint", e.cfg.Addr, "link", ev.link, "cause", err)
	}
	return actions
}
