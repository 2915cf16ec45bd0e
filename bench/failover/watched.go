package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/realserver"
)

// masterName is what the sentinel calls its master.
const masterName = "main"

// patience is how long servers may take to be in step.
const patience = time.Minute

// watched is a master with a replica, and a sentinel that watches them.
type watched struct {
	servers []*realserver.Server // the sentinel is the last
	ask     *redis.SentinelClient
}

// startWatched starts them. What it has started is to be stopped after an error, too.
func startWatched(ctx context.Context, name string) (*watched, error) {
	w := &watched{}
	server, ok := realserver.Find(name)
	sentinel, okToo := realserver.FindSentinel(name)
	if !ok || !okToo {
		return w, fmt.Errorf("%s is not there: run 'make servers' to get it", name)
	}
	start := func(path string, cfg realserver.Config) (*realserver.Server, error) {
		s, err := realserver.Launch(ctx, path, cfg)
		if err == nil {
			w.servers = append(w.servers, s)
		}
		return s, err
	}
	master, err := start(server, realserver.Config{Args: []string{"--repl-diskless-sync-delay", "0"}})
	if err != nil {
		return w, err
	}
	host, port, err := net.SplitHostPort(master.Addr())
	if err != nil {
		return w, err
	}
	if _, err := start(server, realserver.Config{Args: []string{"--replicaof", host + " " + port, "--repl-diskless-sync-delay", "0"}}); err != nil {
		return w, err
	}
	s, err := start(sentinel, realserver.Config{Sentinel: []string{
		fmt.Sprintf("sentinel monitor %s %s %s 1", masterName, host, port),
		"sentinel down-after-milliseconds " + masterName + " 5000",
		"sentinel failover-timeout " + masterName + " 5000",
	}})
	if err != nil {
		return w, err
	}
	w.ask = redis.NewSentinelClient(&redis.Options{Addr: s.Addr()})
	return w, nil
}

func (w *watched) sentinels() []string { return []string{w.servers[len(w.servers)-1].Addr()} }

// settled waits until the sentinel knows a replica that is in step.
func (w *watched) settled(ctx context.Context) error {
	return until(ctx, "a replica in step", func() bool {
		all, err := w.ask.Replicas(ctx, masterName).Result()
		return err == nil && len(all) == 1 && all[0]["flags"] == "slave" && all[0]["master-link-status"] == "ok"
	})
}

func (w *watched) master(ctx context.Context) (string, error) {
	parts, err := w.ask.GetMasterAddrByName(ctx, masterName).Result()
	if err != nil {
		return "", err
	}
	return strings.Join(parts, ":"), nil
}

// failover makes the replica the master, and returns when the sentinel says so.
func (w *watched) failover(ctx context.Context) error {
	before, err := w.master(ctx)
	if err != nil {
		return err
	}
	// It refuses for a while after the last one.
	if err := until(ctx, "a sentinel that begins a failover", func() bool { return w.ask.Failover(ctx, masterName).Err() == nil }); err != nil {
		return err
	}
	return until(ctx, "another master", func() bool {
		now, err := w.master(ctx)
		return err == nil && now != before
	})
}

func (w *watched) stop() error {
	var errs []error
	if w.ask != nil {
		errs = append(errs, w.ask.Close())
	}
	for _, s := range w.servers {
		errs = append(errs, s.Stop())
	}
	return errors.Join(errs...)
}

// until waits for a condition.
func until(ctx context.Context, what string, is func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
		}
	}
	return nil
}
