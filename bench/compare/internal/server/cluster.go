package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/baton-go/redis/bench/compare/internal/load"
	"github.com/baton-go/redis/internal/realserver"
)

// nodeTimeout is longer than a node goes without an answer on a machine that the
// clients keep busy: nothing may fail over.
const nodeTimeout = 15 * time.Second

// A cluster is three nodes with what the workloads read. It is immutable once started.
type cluster struct {
	nodes    *realserver.Cluster
	addrs    []string
	controls map[string]redis.Conn // by address
}

// startCluster starts a cluster of the program at path.
func startCluster(ctx context.Context, path string) (*cluster, error) {
	nodes, err := realserver.LaunchCluster(ctx, path, realserver.ClusterConfig{NodeTimeout: nodeTimeout})
	if err != nil {
		return nil, err
	}
	c := &cluster{nodes: nodes, addrs: nodes.Addrs(), controls: map[string]redis.Conn{}}
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

// prepare connects and writes what the workloads read.
func (c *cluster) prepare(ctx context.Context) error {
	for _, addr := range c.addrs {
		conn, err := redis.DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		c.controls[addr] = conn
	}
	return fill(c.set)
}

// set writes p to the node that has its slot.
func (c *cluster) set(p load.Pair) error {
	_, err := c.controls[c.addrs[0]].Do("SET", p.Key, p.Value)
	var refusal redis.Error
	if !errors.As(err, &refusal) {
		return err
	}
	// MOVED slot address
	words := strings.Fields(string(refusal))
	if len(words) != 3 || words[0] != "MOVED" || c.controls[words[2]] == nil {
		return err
	}
	if _, err := c.controls[words[2]].Do("SET", p.Key, p.Value); err != nil {
		return fmt.Errorf("%s: %w", words[2], err)
	}
	return nil
}

// cpu is the CPU time that all nodes have used so far.
func (c *cluster) cpu() (time.Duration, error) {
	if c == nil {
		return 0, nil
	}
	var sum time.Duration
	for _, addr := range c.addrs {
		used, err := cpuOf(c.controls[addr])
		if err != nil {
			return 0, fmt.Errorf("%s: %w", addr, err)
		}
		sum += used
	}
	return sum, nil
}

// stop ends all nodes, if there are any.
func (c *cluster) stop() error {
	if c == nil {
		return nil
	}
	var errs []error
	for _, conn := range c.controls {
		errs = append(errs, conn.Close())
	}
	return errors.Join(append(errs, c.nodes.Close())...)
}
