package redis

import (
	"github.com/baton-go/redis/maintnotifications"
)

// newMaintManager makes what the client's endpoint reports to. The options have
// been validated.
func newMaintManager(opt *Options) *maintnotifications.Manager {
	m, err := maintnotifications.NewManager(opt.MaintNotificationsConfig, opt.MaintNotificationsMetrics)
	if err != nil {
		panic("redis: options were validated, and yet: " + err.Error())
	}
	return m
}
