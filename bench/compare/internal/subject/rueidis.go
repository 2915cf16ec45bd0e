package subject

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/redis/rueidis"
)

// flushDelay is what rueidis's documentation gives as an example.
const flushDelay = 20 * time.Microsecond

func rueidises() []Subject {
	delayed := func(o *rueidis.ClientOption) { o.MaxFlushDelay = flushDelay }
	always := func(o *rueidis.ClientOption) { o.AlwaysPipelining = true }
	both := func(o *rueidis.ClientOption) { o.AlwaysPipelining, o.MaxFlushDelay = true, flushDelay }
	return []Subject{
		{Rueidis, FamilyRueidis, "rueidis with its defaults", []Setting{{"default", openRueidis(func(*rueidis.ClientOption) {})}}},
		{RueidisDelay, FamilyRueidis, "rueidis with a flush delay of 20 µs", []Setting{{"20 µs delay", openRueidis(delayed)}}},
		{RueidisAlways, FamilyRueidis, "rueidis that always pipelines, with or without the delay", []Setting{
			{"always", openRueidis(always)},
			{"always, 20 µs delay", openRueidis(both)},
		}},
	}
}

type rueidisClient struct{ c rueidis.Client }

func openRueidis(change func(*rueidis.ClientOption)) func(Server) (Client, error) {
	return func(srv Server) (Client, error) {
		opt := rueidis.ClientOption{InitAddress: []string{srv.Addr}, TLSConfig: srv.TLS}
		if srv.Nodes != nil {
			opt.InitAddress = srv.Nodes
		}
		if srv.Network == "unix" {
			opt.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
				return d.DialContext(ctx, srv.Network, addr)
			}
		}
		change(&opt)
		c, err := rueidis.NewClient(opt)
		if err != nil {
			return nil, err
		}
		return rueidisClient{c}, nil
	}
}

func (r rueidisClient) Get(ctx context.Context, key string) (string, error) {
	return r.c.Do(ctx, r.c.B().Get().Key(key).Build()).ToString()
}

func (r rueidisClient) Set(ctx context.Context, key, value string) error {
	return r.c.Do(ctx, r.c.B().Set().Key(key).Value(value).Build()).Error()
}

func (r rueidisClient) Incr(ctx context.Context, key string) (int64, error) {
	return r.c.Do(ctx, r.c.B().Incr().Key(key).Build()).AsInt64()
}

func (r rueidisClient) MGet(ctx context.Context, keys, values []string) error {
	found, err := r.c.Do(ctx, r.c.B().Mget().Key(keys...).Build()).AsStrSlice()
	if err != nil {
		return err
	}
	if len(found) != len(values) {
		return fmt.Errorf("%d values for %d keys", len(found), len(values))
	}
	copy(values, found)
	return nil
}

func (r rueidisClient) Pipe(ctx context.Context, ops []Op, values []string) error {
	cmds := make(rueidis.Commands, len(ops))
	for i, op := range ops {
		if op.Set {
			cmds[i] = r.c.B().Set().Key(op.Key).Value(op.Value).Build()
		} else {
			cmds[i] = r.c.B().Get().Key(op.Key).Build()
		}
	}
	for i, reply := range r.c.DoMulti(ctx, cmds...) {
		if ops[i].Set {
			if err := reply.Error(); err != nil {
				return err
			}
			continue
		}
		value, err := reply.ToString()
		if err != nil {
			return err
		}
		values[i] = value
	}
	return nil
}

func (r rueidisClient) Close() error {
	r.c.Close()
	return nil
}
