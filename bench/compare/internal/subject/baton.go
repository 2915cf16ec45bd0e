package subject

import (
	"context"
	"fmt"

	"github.com/baton-go/redis"
	"github.com/baton-go/redis/maintnotifications"
)

func batons() []Subject {
	return []Subject{
		{Baton, FamilyBaton, "Baton with its defaults", []Setting{{"default", openBaton(batonOptions{})}}},
		{BatonNoPoll, FamilyBaton, "Baton whose readers sleep at once", []Setting{{"no polling", openBaton(batonOptions{noPolling: true})}}},
		{BatonOff, FamilyBaton, "Baton without maintenance notifications", []Setting{{"maintnotifications disabled", openBaton(batonOptions{
			maintenance: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})}}},
	}
}

// batonOptions are what the settings of Baton differ in.
type batonOptions struct {
	noPolling   bool
	maintenance *maintnotifications.Config
}

func openBaton(opt batonOptions) func(Server) (Client, error) {
	return func(srv Server) (Client, error) {
		if srv.Nodes != nil {
			return batonCluster{redis.NewClusterClient(&redis.ClusterOptions{
				Addrs: srv.Nodes, TLSConfig: srv.TLS, DisablePolling: opt.noPolling, MaintNotificationsConfig: opt.maintenance,
			})}, nil
		}
		return batonClient{redis.NewClient(&redis.Options{
			Network: srv.Network, Addr: srv.Addr, TLSConfig: srv.TLS,
			DisablePolling: opt.noPolling, MaintNotificationsConfig: opt.maintenance,
		})}, nil
	}
}

type batonClient struct{ c *redis.Client }

func (b batonClient) Get(ctx context.Context, key string) (string, error) {
	return b.c.Get(ctx, key).Result()
}

func (b batonClient) Set(ctx context.Context, key, value string) error {
	return b.c.Set(ctx, key, value, 0).Err()
}

func (b batonClient) Incr(ctx context.Context, key string) (int64, error) {
	return b.c.Incr(ctx, key).Result()
}

func (b batonClient) MGet(ctx context.Context, keys, values []string) error {
	return batonMGet(b.c.MGet(ctx, keys...), values)
}

func (b batonClient) Pipe(ctx context.Context, ops []Op, values []string) error {
	return batonPipe(ctx, b.c.Pipeline(), ops, values)
}

func (b batonClient) Close() error { return b.c.Close() }

// batonCluster calls the methods of ClusterClient itself, as its users do: through an
// interface of both clients a call would cost more.
type batonCluster struct{ c *redis.ClusterClient }

func (b batonCluster) Get(ctx context.Context, key string) (string, error) {
	return b.c.Get(ctx, key).Result()
}

func (b batonCluster) Set(ctx context.Context, key, value string) error {
	return b.c.Set(ctx, key, value, 0).Err()
}

func (b batonCluster) Incr(ctx context.Context, key string) (int64, error) {
	return b.c.Incr(ctx, key).Result()
}

func (b batonCluster) MGet(ctx context.Context, keys, values []string) error {
	return batonMGet(b.c.MGet(ctx, keys...), values)
}

func (b batonCluster) Pipe(ctx context.Context, ops []Op, values []string) error {
	return batonPipe(ctx, b.c.Pipeline(), ops, values)
}

func (b batonCluster) Close() error { return b.c.Close() }

func batonMGet(cmd *redis.SliceCmd, values []string) error {
	found, err := cmd.Result()
	if err != nil {
		return err
	}
	return intoStrings(values, found)
}

func batonPipe(ctx context.Context, pipe redis.Pipeliner, ops []Op, values []string) error {
	for _, op := range ops {
		if op.Set {
			pipe.Set(ctx, op.Key, op.Value, 0)
		} else {
			pipe.Get(ctx, op.Key)
		}
	}
	cmds, err := pipe.Exec(ctx)
	if err != nil {
		return err
	}
	for i, cmd := range cmds {
		if get, ok := cmd.(*redis.StringCmd); ok {
			values[i] = get.Val()
		}
	}
	return nil
}

// intoStrings puts the strings found into values.
func intoStrings(values []string, found []any) error {
	if len(found) != len(values) {
		return fmt.Errorf("%d values for %d keys", len(found), len(values))
	}
	for i, v := range found {
		s, ok := v.(string)
		if !ok {
			return fmt.Errorf("a value is a %T", v)
		}
		values[i] = s
	}
	return nil
}
