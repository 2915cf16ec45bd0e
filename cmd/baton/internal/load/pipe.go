package load

import (
	"context"
	"time"

	"github.com/baton-go/redis"
)

// pipe is what the load sends in pipelines.
type pipe interface {
	Get(ctx context.Context, key string) *redis.StringCmd
	Set(ctx context.Context, key string, value any, expiration time.Duration) *redis.StatusCmd
	Incr(ctx context.Context, key string) *redis.IntCmd
}
