package subject

import (
	"context"
	"fmt"

	"github.com/baton-go/redis"
	"github.com/baton-go/redis/maintnotifications"
)

func batons() []Subject {
	return []Subject{
		{Baton, FamilyBaton, "Baton with its defaults", []Setting{{"default", openBaton(func(*redis.Options) {})}}},
		{BatonNoPoll, FamilyBaton, "Baton whose readers sleep at once", []Setting{{"no polling", openBaton(func(o *redis.Options) {
			o.DisablePolling = true
		})}}},
		{BatonOff, FamilyBaton, "Baton without maintenance notifications", []Setting{{"maintnotifications disabled", openBaton(func(o *redis.Options) {
			o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
		})}}},
	}
}

type batonClient struct{ c *redis.Client }

func openBaton(change func(*redis.Options)) func(Server) (Client, error) {
	return func(srv Server) (Client, error) {
		opt := &redis.Options{Network: srv.Network, Addr: srv.Addr, TLSConfig: srv.TLS}
		change(opt)
		return batonClient{redis.NewClient(opt)}, nil
	}
}

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
	found, err := b.c.MGet(ctx, keys...).Result()
	if err != nil {
		return err
	}
	return intoStrings(values, found)
}

func (b batonClient) Pipe(ctx context.Context, ops []Op, values []string) error {
	pipe := b.c.Pipeline()
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

func (b batonClient) Close() error { return b.c.Close() }

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
