package subject

import (
	"context"
	"io"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

func goRedises() []Subject {
	return []Subject{
		{GoRedis, FamilyGoRedis, "go-redis with its defaults", []Setting{{"default", openGoRedis}}},
		{GoRedisAutoPipeline, FamilyGoRedis, "go-redis's AutoPipeline in its fastest setting", []Setting{
			{"blocking", openAuto(blocking, goredis.DefaultBlockingAutoPipelineOptions)},
			{"blocking, delay", openAuto(blocking, delayed(goredis.DefaultBlockingAutoPipelineOptions))},
			{"async", openAuto(async, goredis.DefaultAutoPipelineOptions)},
			{"async, adaptive delay", openAuto(async, adaptive(delayed(goredis.DefaultAutoPipelineOptions)))},
			{"async, full duplex", openAuto(async, fullDuplex(goredis.DefaultAutoPipelineOptions))},
		}},
	}
}

// autoOptions makes the options of an autopipeliner.
type autoOptions func() *goredis.AutoPipelineOptions

// delayed adds the flush delay that go-redis's documentation recommends.
func delayed(of autoOptions) autoOptions {
	return func() *goredis.AutoPipelineOptions {
		opt := of()
		opt.MaxFlushDelay = 100 * time.Microsecond
		return opt
	}
}

func adaptive(of autoOptions) autoOptions {
	return func() *goredis.AutoPipelineOptions {
		opt := of()
		opt.AdaptiveDelay = true
		return opt
	}
}

func fullDuplex(of autoOptions) autoOptions {
	return func() *goredis.AutoPipelineOptions {
		opt := of()
		opt.FullDuplex = true
		return opt
	}
}

// A goRedisOwner is a client of go-redis, for a single server or for a cluster.
type goRedisOwner interface {
	goredis.Cmdable
	io.Closer
	AutoPipelineWithOptions(opt *goredis.AutoPipelineOptions) (*goredis.AutoPipeliner, error)
	AsyncAutoPipelineWithOptions(opt *goredis.AutoPipelineOptions) (*goredis.AutoPipeliner, error)
}

func newGoRedis(srv Server) goRedisOwner {
	if srv.Nodes != nil {
		return goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: srv.Nodes, TLSConfig: srv.TLS})
	}
	return goredis.NewClient(&goredis.Options{Network: srv.Network, Addr: srv.Addr, TLSConfig: srv.TLS})
}

// goRedisClient does single commands on cmds, which is the client or one of its
// autopipeliners, and pipelines by pipeline or, where that is nil, by submitting
// commands one by one and reading their results then.
type goRedisClient struct {
	owner    io.Closer
	cmds     goredis.Cmdable
	pipeline func() goredis.Pipeliner
}

func openGoRedis(srv Server) (Client, error) {
	c := newGoRedis(srv)
	return &goRedisClient{owner: c, cmds: c, pipeline: c.Pipeline}, nil
}

// blocking and async are the two faces of an AutoPipeliner.
func blocking(c goRedisOwner, opt *goredis.AutoPipelineOptions) (*goRedisClient, error) {
	ap, err := c.AutoPipelineWithOptions(opt)
	if err != nil {
		return nil, err
	}
	return &goRedisClient{owner: c, cmds: ap, pipeline: ap.Pipeline}, nil
}

func async(c goRedisOwner, opt *goredis.AutoPipelineOptions) (*goRedisClient, error) {
	ap, err := c.AsyncAutoPipelineWithOptions(opt)
	if err != nil {
		return nil, err
	}
	return &goRedisClient{owner: c, cmds: ap}, nil
}

func openAuto(
	face func(goRedisOwner, *goredis.AutoPipelineOptions) (*goRedisClient, error),
	options autoOptions,
) func(Server) (Client, error) {
	return func(srv Server) (Client, error) {
		c := newGoRedis(srv)
		client, err := face(c, options())
		if err != nil {
			_ = c.Close() // nothing was sent
			return nil, err
		}
		return client, nil
	}
}

func (g *goRedisClient) Get(ctx context.Context, key string) (string, error) {
	return g.cmds.Get(ctx, key).Result()
}

func (g *goRedisClient) Set(ctx context.Context, key, value string) error {
	return g.cmds.Set(ctx, key, value, 0).Err()
}

func (g *goRedisClient) Incr(ctx context.Context, key string) (int64, error) {
	return g.cmds.Incr(ctx, key).Result()
}

func (g *goRedisClient) MGet(ctx context.Context, keys, values []string) error {
	found, err := g.cmds.MGet(ctx, keys...).Result()
	if err != nil {
		return err
	}
	return intoStrings(values, found)
}

func (g *goRedisClient) Pipe(ctx context.Context, ops []Op, values []string) error {
	if g.pipeline == nil {
		return g.submit(ctx, ops, values)
	}
	pipe := g.pipeline()
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
		if get, ok := cmd.(*goredis.StringCmd); ok {
			values[i] = get.Val()
		}
	}
	return nil
}

// submit is a pipeline as an asynchronous AutoPipeliner has it: commands return
// at once, and their results wait.
func (g *goRedisClient) submit(ctx context.Context, ops []Op, values []string) error {
	cmds := make([]goredis.Cmder, len(ops))
	for i, op := range ops {
		if op.Set {
			cmds[i] = g.cmds.Set(ctx, op.Key, op.Value, 0)
		} else {
			cmds[i] = g.cmds.Get(ctx, op.Key)
		}
	}
	for i, cmd := range cmds {
		if err := cmd.Err(); err != nil {
			return err
		}
		if get, ok := cmd.(*goredis.StringCmd); ok {
			values[i] = get.Val()
		}
	}
	return nil
}

func (g *goRedisClient) Close() error { return g.owner.Close() }
