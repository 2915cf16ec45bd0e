package realserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Kill ends the node at addr without giving it a chance to say goodbye.
func (c *Cluster) Kill(addr string) error {
	n, err := c.at(addr)
	if err != nil {
		return err
	}
	// What it knows goes with its folder, and it comes back with that.
	if known, err := os.ReadFile(filepath.Join(n.server().dir, nodesFile)); err == nil {
		n.known.Store(&known)
	}
	return n.server().Kill()
}

// Restart starts a node anew that was killed, at the same addresses and with what it knew
// of the others, but without data. It returns when the cluster is whole: a node that another
// one has replaced is its replica then. A cluster with TLS can't.
func (c *Cluster) Restart(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	n, err := c.at(addr)
	if err != nil {
		return err
	}
	known := n.known.Swap(nil)
	if known == nil {
		return fmt.Errorf("%s was not killed", addr)
	}
	cfg := n.cfg
	if cfg.TLS {
		return fmt.Errorf("restart %s with TLS: %w", addr, errors.ErrUnsupported)
	}
	if cfg.Host, cfg.Port, err = splitAddr(addr); err != nil {
		return err
	}
	cfg.busPort, cfg.nodes = n.server().busPort, *known
	srv, err := Launch(ctx, c.path, cfg)
	if err != nil {
		return err
	}
	n.process.Store(srv)
	s, err := openSession(ctx, addr, c.password)
	if err != nil {
		return err
	}
	defer s.close()
	as := n.announced
	if err := n.announce(ctx, s, 0, func(int, string) Announcement { return as }); err != nil {
		return err
	}
	return c.Settle(ctx)
}

// Join makes the spare node at addr part of the cluster: a primary without slots, or if
// primary is not "" a replica of the node there. It returns when all nodes know it.
func (c *Cluster) Join(ctx context.Context, addr, primary string) error {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	n, err := c.at(addr)
	if err != nil {
		return err
	}
	for _, other := range c.living() {
		if err := c.introduce(ctx, n, other); err != nil {
			return err
		}
	}
	n.stranger.Store(false)
	if err := c.until(ctx, c.acquainted); err != nil {
		return err
	}
	if primary != "" {
		of, err := c.at(primary)
		if err != nil {
			return err
		}
		if _, err := c.Do(ctx, addr, "CLUSTER", "REPLICATE", of.id()); err != nil {
			return err
		}
	}
	return c.Settle(ctx)
}

// Leave takes nodes that have no slots out of the cluster: replicas together with their
// primary. It returns when all others have forgotten them. They themselves still know the
// others, until Reset.
func (c *Cluster) Leave(ctx context.Context, addrs ...string) error {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	leaving, err := c.all(addrs)
	if err != nil {
		return err
	}
	for _, n := range leaving {
		n.stranger.Store(true)
	}
	for _, other := range c.living() {
		for _, n := range leaving {
			if _, err := c.Do(ctx, other.server().Addr(), "CLUSTER", "FORGET", n.id()); err != nil {
				return err
			}
		}
	}
	return c.Settle(ctx)
}

// Reset makes spare again, and empty, what has left: the primary first, as in Leave. Those
// that were killed stay as they are.
func (c *Cluster) Reset(ctx context.Context, addrs ...string) error {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	gone, err := c.all(addrs)
	if err != nil {
		return err
	}
	for _, n := range slices.Backward(gone) { // a primary with replicas can't be reset
		if !n.lives() {
			continue
		}
		if err := c.reset(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// all returns the nodes that listen at some addresses.
func (c *Cluster) all(addrs []string) ([]*node, error) {
	var nodes []*node
	for _, addr := range addrs {
		n, err := c.at(addr)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// reset makes a node a stranger with another id: nodes refuse for a minute to know one
// that they were told to forget.
func (c *Cluster) reset(ctx context.Context, n *node) error {
	s, err := openSession(ctx, n.server().Addr(), c.password)
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := s.do(ctx, "CLUSTER", "RESET", "HARD"); err != nil {
		return err
	}
	return n.learn(ctx, s)
}
