package realserver

import (
	"context"
	"slices"
)

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
// primary. They are spare again, and empty. It returns when all others have forgotten them.
func (c *Cluster) Leave(ctx context.Context, addrs ...string) error {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	var leaving []*node
	for _, addr := range addrs {
		n, err := c.at(addr)
		if err != nil {
			return err
		}
		leaving = append(leaving, n)
	}
	slices.Reverse(leaving) // a primary with replicas can't be reset
	old := make([]string, len(leaving))
	for i, n := range leaving {
		n.stranger.Store(true)
		old[i] = n.id()
		if err := c.reset(ctx, n); err != nil {
			return err
		}
	}
	for _, other := range c.living() {
		for _, id := range old {
			if _, err := c.Do(ctx, other.srv.Addr(), "CLUSTER", "FORGET", id); err != nil {
				return err
			}
		}
	}
	return c.Settle(ctx)
}

// reset makes a node a stranger with another id: nodes refuse for a minute to know one
// that they were told to forget.
func (c *Cluster) reset(ctx context.Context, n *node) error {
	s, err := openSession(ctx, n.srv.Addr(), c.password)
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := s.do(ctx, "CLUSTER", "RESET", "HARD"); err != nil {
		return err
	}
	return n.learn(ctx, s)
}
