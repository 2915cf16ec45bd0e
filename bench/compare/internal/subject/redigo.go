package subject

import (
	"context"
	"fmt"
	"runtime"

	redigo "github.com/gomodule/redigo/redis"
)

func redigos() []Subject {
	return []Subject{
		{Redigo, FamilyRedigo, "redigo with a pool of go-redis's size", []Setting{{"pool", openRedigo}}},
	}
}

type redigoClient struct{ pool *redigo.Pool }

// openRedigo makes a pool of the size that go-redis has by default, as redigo has
// no default of its own.
func openRedigo(srv Server) (Client, error) {
	if srv.Nodes != nil {
		return nil, NotMeasured("redigo has no client for clusters")
	}
	size := 10 * runtime.GOMAXPROCS(0)
	return redigoClient{&redigo.Pool{
		MaxIdle:   size,
		MaxActive: size,
		Wait:      true,
		DialContext: func(ctx context.Context) (redigo.Conn, error) {
			opts := []redigo.DialOption{}
			if srv.TLS != nil {
				opts = append(opts, redigo.DialUseTLS(true), redigo.DialTLSConfig(srv.TLS))
			}
			return redigo.DialContext(ctx, srv.Network, srv.Addr, opts...)
		},
	}}, nil
}

// do runs one command on a connection of the pool. Only a context that can end
// needs the calls that look at it, which cost more.
func (r redigoClient) do(ctx context.Context, command string, args ...any) (any, error) {
	conn, err := r.pool.GetContext(ctx)
	if err != nil {
		return nil, err
	}
	var reply any
	if ctx.Done() == nil {
		reply, err = conn.Do(command, args...)
	} else {
		reply, err = redigo.DoContext(conn, ctx, command, args...)
	}
	if closed := conn.Close(); err == nil {
		err = closed
	}
	return reply, err
}

func (r redigoClient) Get(ctx context.Context, key string) (string, error) {
	return redigo.String(r.do(ctx, "GET", key))
}

func (r redigoClient) Set(ctx context.Context, key, value string) error {
	_, err := r.do(ctx, "SET", key, value)
	return err
}

func (r redigoClient) Incr(ctx context.Context, key string) (int64, error) {
	return redigo.Int64(r.do(ctx, "INCR", key))
}

func (r redigoClient) MGet(ctx context.Context, keys, values []string) error {
	found, err := redigo.Strings(r.do(ctx, "MGET", redigo.Args{}.AddFlat(keys)...))
	if err != nil {
		return err
	}
	if len(found) != len(values) {
		return fmt.Errorf("%d values for %d keys", len(found), len(values))
	}
	copy(values, found)
	return nil
}

func (r redigoClient) Pipe(ctx context.Context, ops []Op, values []string) error {
	conn, err := r.pool.GetContext(ctx)
	if err != nil {
		return err
	}
	err = exchange(ctx, conn, ops, values)
	if closed := conn.Close(); err == nil {
		err = closed
	}
	return err
}

// exchange sends ops and receives their replies.
func exchange(ctx context.Context, conn redigo.Conn, ops []Op, values []string) error {
	for _, op := range ops {
		var err error
		if op.Set {
			err = conn.Send("SET", op.Key, op.Value)
		} else {
			err = conn.Send("GET", op.Key)
		}
		if err != nil {
			return err
		}
	}
	if err := conn.Flush(); err != nil {
		return err
	}
	for i, op := range ops {
		reply, err := receive(ctx, conn)
		if err == nil && !op.Set {
			values[i], err = redigo.String(reply, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func receive(ctx context.Context, conn redigo.Conn) (any, error) {
	if ctx.Done() == nil {
		return conn.Receive()
	}
	return redigo.ReceiveContext(conn, ctx)
}

func (r redigoClient) Close() error { return r.pool.Close() }
