package main

import (
	"context"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	redis "github.com/baton-go/redis"
)

// A hot command, called in the same way with both clients.
type hot struct {
	name    string
	setup   []string
	atMost  float64
	baton   func() error
	goredis func() error // nil: it is our byte form
}

// result drops a value, so that calls of any type are alike.
func result[T any](_ T, err error) error { return err }

// hotCommands are the commands of hot paths. The values are made before, as what they
// cost as interfaces is the caller's.
func hotCommands(ctx context.Context, b *redis.Client, g *goredis.Client) []hot {
	var value any = strings.Repeat("v", 64)
	var field any = "field"
	raw := []byte(value.(string))
	keys := make([]string, 10)
	for i := range keys {
		keys[i] = fmt.Sprintf("key:%06d", i)
	}
	const key = "key:000000"
	set := []string{"set " + key + " " + value.(string)}
	hash := []string{"hset " + key + " field " + value.(string)}
	buf := make([]byte, 0, 128)
	var again redis.ReusableCmd
	return []hot{
		{"GET", set, 2, func() error { return result(b.Get(ctx, key).Result()) }, func() error { return result(g.Get(ctx, key).Result()) }},
		{"SET", nil, 2, func() error { return b.Set(ctx, key, value, 0).Err() }, func() error { return g.Set(ctx, key, value, 0).Err() }},
		{"INCR", nil, 0, func() error { return result(b.Incr(ctx, key).Result()) }, func() error { return result(g.Incr(ctx, key).Result()) }},
		{"HGET", hash, 0, func() error { return result(b.HGet(ctx, key, "field").Result()) }, func() error { return result(g.HGet(ctx, key, "field").Result()) }},
		{"HSET", nil, 0, func() error { return b.HSet(ctx, key, field, value).Err() }, func() error { return g.HSet(ctx, key, field, value).Err() }},
		{"LPUSH", nil, 0, func() error { return b.LPush(ctx, key, value).Err() }, func() error { return g.LPush(ctx, key, value).Err() }},
		{
			"ZADD", nil, 0,
			func() error { return b.ZAdd(ctx, key, redis.Z{Score: 1.5, Member: value}).Err() },
			func() error { return g.ZAdd(ctx, key, goredis.Z{Score: 1.5, Member: value}).Err() },
		},
		{"MGET of 10", set, 0, func() error { return result(b.MGet(ctx, keys...).Result()) }, func() error { return result(g.MGet(ctx, keys...).Result()) }},
		{"GetBytes", set, 0, func() error { return result(b.GetBytes(ctx, buf, key)) }, nil},
		{"SetBytes", nil, 0, func() error { return b.SetBytes(ctx, key, raw, 0) }, nil},
		{"ReusableCmd of HGET", hash, 0, func() error {
			if err := b.Process(ctx, again.Begin("hget").Str(key).Str("field")); err != nil {
				return err
			}
			return result(again.Text())
		}, nil},
	}
}
