package redis_test

import (
	"context"
	"errors"
	"fmt"

	redis "github.com/baton-go/redis"
)

// Documents need Redis 8, or the module RedisJSON.
func Example_json() {
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer rdb.Close()

	type bike struct {
		Model string   `json:"model"`
		Price float64  `json:"price"`
		Tags  []string `json:"tags"`
	}
	if err := rdb.JSONSet(ctx, "bike:1", "$", bike{Model: "Deimos", Price: 1200}).Err(); err != nil {
		fmt.Println(err)
		return
	}
	// A path that begins with $ may match several values, so there is a list.
	prices, err := rdb.JSONNumIncrBy(ctx, "bike:1", "$.price", -100).Expanded()
	fmt.Println(prices, err)

	text, err := rdb.JSONGet(ctx, "bike:2", "$").Result()
	if errors.Is(err, redis.Nil) {
		fmt.Println("there is no such bike")
	}
	fmt.Println(text)
}

// Vector sets need Redis 8.
func Example_vectorSet() {
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer rdb.Close()

	for name, v := range map[string][]float64{"north": {0, 1}, "east": {1, 0}, "northeast": {1, 1}} {
		if err := rdb.VAdd(ctx, "winds", name, &redis.VectorValues{Val: v}).Err(); err != nil {
			fmt.Println(err)
			return
		}
	}
	found, err := rdb.VSimWithArgsWithScores(ctx, "winds", &redis.VectorRef{Name: "north"}, &redis.VSimArgs{Count: 2}).Result()
	for _, f := range found {
		fmt.Printf("%s is similar by %.2f\n", f.Name, f.Score)
	}
	fmt.Println(err)
}

// Time series need Redis 8, or the module RedisTimeSeries.
func Example_timeSeries() {
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer rdb.Close()

	for at, degrees := range []float64{20, 21.5, 22} {
		if err := rdb.TSAdd(ctx, "temperature", at*1000, degrees).Err(); err != nil {
			fmt.Println(err)
			return
		}
	}
	means, err := rdb.TSRangeWithArgs(ctx, "temperature", 0, 3000, &redis.TSRangeOptions{
		Aggregator: redis.Avg, BucketDuration: 2000,
	}).Result()
	fmt.Println(means, err)
}
