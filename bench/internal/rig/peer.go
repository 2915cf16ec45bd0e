package rig

import (
	"context"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	redis "github.com/baton-go/redis"
)

// A Peer is a client, Baton among them, that can get and set.
type Peer interface {
	Get(ctx context.Context, key string) (string, error)
	Set(ctx context.Context, key, value string) error
	Close() error
}

// A Maker opens a client.
type Maker struct {
	Name string // stable
	Open func(addr string) (Peer, error)
}

// Makers are the clients that are compared, as they are without any setting.
func Makers() []Maker {
	return []Maker{
		{"baton", func(addr string) (Peer, error) { return NewBaton(&redis.Options{Addr: addr}), nil }},
		{"rueidis", openRueidis},
		{"go-redis", openGoRedis},
	}
}

// Baton is the project's own client.
type Baton struct{ *redis.Client }

// NewBaton makes one. What takes long takes as long as it takes.
func NewBaton(opt *redis.Options) Baton {
	o := *opt
	if o.ReadTimeout == 0 {
		o.ReadTimeout = patience
	}
	return Baton{redis.NewClient(&o)}
}

// patience is the read timeout of all clients: a machine that does other things too
// must not fail a measurement.
const patience = 30 * time.Second

// Get gives a value.
func (b Baton) Get(ctx context.Context, key string) (string, error) {
	return b.Client.Get(ctx, key).Result()
}

// Set stores a value.
func (b Baton) Set(ctx context.Context, key, value string) error {
	return b.Client.Set(ctx, key, value, 0).Err()
}

// BatonCluster is the project's own client of a cluster.
type BatonCluster struct{ *redis.ClusterClient }

// NewBatonCluster makes one of the nodes at addrs, which share the slots evenly, and
// which need not know that they are a cluster.
func NewBatonCluster(addrs []string) BatonCluster {
	const slots = 16384
	topology := make([]redis.ClusterSlot, len(addrs))
	for i, addr := range addrs {
		topology[i] = redis.ClusterSlot{
			Start: slots * i / len(addrs), End: slots*(i+1)/len(addrs) - 1, Nodes: []redis.ClusterNode{{Addr: addr}},
		}
	}
	return BatonCluster{redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: addrs, ReadTimeout: patience,
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) { return topology, nil },
	})}
}

// Get gives a value.
func (b BatonCluster) Get(ctx context.Context, key string) (string, error) {
	return b.ClusterClient.Get(ctx, key).Result()
}

// Set stores a value.
func (b BatonCluster) Set(ctx context.Context, key, value string) error {
	return b.ClusterClient.Set(ctx, key, value, 0).Err()
}

type rueidisPeer struct{ c rueidis.Client }

func openRueidis(addr string) (Peer, error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{addr}, ForceSingleClient: true, ConnWriteTimeout: patience,
	})
	return rueidisPeer{c}, err
}

func (p rueidisPeer) Get(ctx context.Context, key string) (string, error) {
	return p.c.Do(ctx, p.c.B().Get().Key(key).Build()).ToString()
}

func (p rueidisPeer) Set(ctx context.Context, key, value string) error {
	return p.c.Do(ctx, p.c.B().Set().Key(key).Value(value).Build()).Error()
}

func (p rueidisPeer) Close() error {
	p.c.Close()
	return nil
}

type goRedisPeer struct{ c *goredis.Client }

func openGoRedis(addr string) (Peer, error) {
	return goRedisPeer{goredis.NewClient(&goredis.Options{
		Addr: addr, ReadTimeout: patience, WriteTimeout: patience,
	})}, nil
}

func (p goRedisPeer) Get(ctx context.Context, key string) (string, error) {
	return p.c.Get(ctx, key).Result()
}

func (p goRedisPeer) Set(ctx context.Context, key, value string) error {
	return p.c.Set(ctx, key, value, 0).Err()
}

func (p goRedisPeer) Close() error { return p.c.Close() }

// ErrWrongValue says that a client gave another value than was stored.
var ErrWrongValue = errors.New("wrong value")

// Want is nil where got is what was stored under key.
func Want(key, got, want string) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%s: %w: got %d bytes that begin with %.20q, want %d that begin with %.20q",
		key, ErrWrongValue, len(got), got, len(want), want)
}

// Getting is an operation that gets key and wants value.
func Getting(p Peer, key, value string) func() error {
	return func() error {
		got, err := p.Get(context.Background(), key)
		if err != nil {
			return fmt.Errorf("get %s: %w", key, err)
		}
		return Want(key, got, value)
	}
}
