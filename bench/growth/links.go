package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/bench/internal/gauge"
	"github.com/baton-go/redis/bench/internal/rig"
)

// exclusive measures what a command costs on more and more exclusive connections: kept by
// a session, and lent for one blocking command that has not to wait.
func (l *lab) exclusive(ctx context.Context) error {
	if err := l.store(ctx, slices.Max(l.links)); err != nil {
		return err
	}
	rows, err := l.grow(ctx, "links",
		series{"conn get", l.links, l.sessions},
		series{"blmove", l.links, l.blocking},
	)
	l.result.Links = rows
	return err
}

func (l *lab) pooled(n int) rig.Baton {
	return rig.NewBaton(&redis.Options{Addr: l.addr, PoolSize: n, PoolTimeout: time.Minute})
}

// connPeer is a session as a peer.
type connPeer struct {
	rig.Peer
	cn *redis.Conn
}

// Get gives a value.
func (p connPeer) Get(ctx context.Context, key string) (string, error) {
	return p.cn.Get(ctx, key).Result()
}

func (l *lab) sessions(ctx context.Context, n int) (gauge.Cost, error) {
	b := l.pooled(n)
	defer b.Close()
	ops := make([]gauge.Op, n)
	for i := range ops {
		cn := b.Conn()
		defer cn.Close()
		ops[i] = rig.Getting(connPeer{cn: cn}, key(i), value(i, smallSize))
	}
	return l.run(ctx, ops)
}

// blocking is each caller moving the only element of a list to the same list: a
// blocking command that finds the list as it was before.
func (l *lab) blocking(ctx context.Context, n int) (gauge.Cost, error) {
	b := l.pooled(n)
	defer b.Close()
	ops := make([]gauge.Op, n)
	for i := range ops {
		list, element := key(i)+":list", value(i, smallSize)
		if err := b.Del(ctx, list).Err(); err != nil {
			return gauge.Cost{}, err
		}
		if err := b.RPush(ctx, list, element).Err(); err != nil {
			return gauge.Cost{}, err
		}
		ops[i] = func() error {
			got, err := b.BLMove(context.Background(), list, list, "left", "right", time.Minute).Result()
			if err != nil {
				return fmt.Errorf("blmove %s: %w", list, err)
			}
			return rig.Want(list, got, element)
		}
	}
	return l.run(ctx, ops)
}
