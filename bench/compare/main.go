package main

import (
	_ "github.com/baton-go/redis"
	_ "github.com/gomodule/redigo/redis"
	_ "github.com/redis/go-redis/v9"
	_ "github.com/redis/rueidis"
	_ "github.com/HdrHistogram/hdrhistogram-go"
	_ "github.com/go-analyze/charts"
	_ "github.com/spf13/cobra"
)

func main() {}
