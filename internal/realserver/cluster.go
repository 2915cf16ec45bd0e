package realserver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	slotCount          = 16384
	clusterTimeout     = time.Minute           // for whatever a cluster is waited for
	clusterPoll        = 20 * time.Millisecond // between two looks at it
	defaultNodeTimeout = 1500 * time.Millisecond
)

// ClusterConfig says how a cluster starts. The zero value is one of three primaries
// without replicas.
type ClusterConfig struct {
	// Primaries is how many nodes share the slots evenly. Zero means 3.
	Primaries int

	// Replicas is how many replicas each primary has.
	Replicas int

	// Spares is how many more nodes start, as strangers to the cluster that Join
	// makes part of it. They come behind the replicas.
	Spares int

	// Lead are arguments that come before the server's own, such as those of a loader
	// that the program is.
	Lead []string

	// NodeTimeout is after how long without an answer a node is held to be down;
	// a failover takes about a second longer. Zero means 1.5 s.
	NodeTimeout time.Duration

	// Hosts are the loopback addresses that the nodes listen on, in turn. Nil
	// means 127.0.0.1 for all.
	Hosts []string

	// Args are added to the command line of every node and win over what this
	// package sets.
	Args []string

	// Password is what the default user must give, nodes included. Empty means
	// none.
	Password string

	// TLS adds a TLS port to every node, with certificates of one authority, and
	// makes the nodes talk TLS to each other. The methods of the cluster use the
	// plain port.
	TLS bool

	// Announce returns what the node with a number, from 0 on, primaries first,
	// tells others of itself; it listens on addr. It is called once for each
	// node before the nodes meet, so it can put a proxy in front of a node. Nil
	// means that they tell their own addresses.
	Announce func(node int, addr string) Announcement
}

// An Announcement is the address by which a node is known to clients, and to other
// nodes: replicas follow their primary there, so what listens there must pass on
// everything.
type Announcement struct {
	// IP is also where the other nodes look for the port of the cluster's bus,
	// which only the node's own host has. Empty means the node's host.
	IP string

	// Port and TLSPort are the announced ports. Zero means the node's own.
	Port, TLSPort int

	// Hostname is the announced name. Empty means none.
	Hostname string
}

// A SlotRange is the slots from Start to End, both included.
type SlotRange struct{ Start, End int }

// A Cluster is a set of running cluster nodes. Nodes are named by the address they
// listen on, whatever they announce.
//
// Its methods may be called by several goroutines. Each ends by itself after a minute
// at the latest.
type Cluster struct {
	path     string
	nodes    []*node // immutable once the cluster has formed
	password string

	nodeTimeout time.Duration // immutable

	turn   chan struct{} // one place, taken by whoever gives slots to a new owner: a lock that may be held over I/O
	latest *node         // who got slots last; nil: nobody. Of whoever has the turn
}

// A node is one server of a cluster. What can be stored to changes; the rest is immutable once the
// cluster has formed.
type node struct {
	process   atomic.Pointer[Server]    // replaced by Restart
	cfg       Config                    // it started with
	known     atomic.Pointer[[]byte]    // of others when it was killed
	ident     atomic.Pointer[string]    // set by learn
	replaced  atomic.Pointer[time.Time] // when Failover put another one in its place last
	announced Announcement
	paused    atomic.Bool
	stranger  atomic.Bool // not, or not any more, part of the cluster
}

// StartCluster starts a cluster of servers called name. It ends with the test.
func StartCluster(tb TB, name string, cfg ClusterConfig) *Cluster {
	tb.Helper()
	path := require(tb, name, "server")
	cluster, err := LaunchCluster(tb.Context(), path, cfg)
	if err != nil {
		tb.Fatalf("realserver: cluster of %s: %v", name, err)
	}
	tb.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			tb.Errorf("realserver: cluster of %s: %v", name, err)
		}
		if tb.Failed() {
			tb.Logf("realserver: the last lines of the cluster of %s:\n%s", name, cluster.logs())
		}
	})
	return cluster
}

// LaunchCluster starts a cluster of the program at path and returns when all its
// nodes agree that it serves, and all replicas follow. ctx bounds the start only.
// Whoever calls it must call Close.
func LaunchCluster(ctx context.Context, path string, cfg ClusterConfig) (*Cluster, error) {
	if cfg.Primaries == 0 {
		cfg.Primaries = 3
	}
	if cfg.NodeTimeout == 0 {
		cfg.NodeTimeout = defaultNodeTimeout
	}
	if len(cfg.Hosts) == 0 {
		cfg.Hosts = []string{"127.0.0.1"}
	}
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	var authority *Authority
	if cfg.TLS {
		var err error
		if authority, err = NewAuthority(); err != nil {
			return nil, err
		}
	}
	c := &Cluster{path: path, password: cfg.Password, nodeTimeout: cfg.NodeTimeout, turn: make(chan struct{}, 1)}
	err := c.launchNodes(ctx, path, cfg, authority)
	if err == nil {
		err = c.form(ctx, cfg)
	}
	if err != nil {
		logs := c.logs()
		_ = c.Close()
		return nil, fmt.Errorf("%w; the nodes' last lines:\n%s", err, logs)
	}
	return c, nil
}

// launchNodes starts all nodes at once, still strangers to each other.
func (c *Cluster) launchNodes(ctx context.Context, path string, cfg ClusterConfig, authority *Authority) error {
	count := cfg.Primaries*(1+cfg.Replicas) + cfg.Spares
	servers := make([]*Server, count)
	errs := make([]error, count)
	var starts sync.WaitGroup
	for i := range count {
		starts.Go(func() {
			servers[i], errs[i] = Launch(ctx, path, cfg.node(i, authority))
		})
	}
	starts.Wait()
	for i, srv := range servers {
		if srv != nil {
			n := &node{cfg: cfg.node(i, authority)}
			n.process.Store(srv)
			n.stranger.Store(i >= count-cfg.Spares)
			c.nodes = append(c.nodes, n)
		}
	}
	return errors.Join(errs...)
}

// node is how node i starts.
func (cfg ClusterConfig) node(i int, authority *Authority) Config {
	args := []string{
		"--cluster-node-timeout", strconv.FormatInt(cfg.NodeTimeout.Milliseconds(), 10),
		"--cluster-allow-replica-migration", "no", // roles change only when somebody says so, or a node is down
		"--repl-diskless-sync-delay", "0",
	}
	if cfg.Password != "" {
		args = append(args, "--masterauth", cfg.Password)
	}
	if cfg.TLS {
		args = append(args, "--tls-cluster", "yes", "--tls-replication", "yes")
	}
	return Config{
		Host:      cfg.Hosts[i%len(cfg.Hosts)],
		Password:  cfg.Password,
		Lead:      cfg.Lead,
		Cluster:   true,
		TLS:       cfg.TLS,
		Authority: authority,
		Args:      append(args, cfg.Args...),
	}
}

// form makes the nodes a cluster.
func (c *Cluster) form(ctx context.Context, cfg ClusterConfig) error {
	for i, n := range c.nodes {
		if err := c.prepare(ctx, i, n, cfg); err != nil {
			return fmt.Errorf("node %d at %s: %w", i, n.server().Addr(), err)
		}
	}
	if err := c.meet(ctx); err != nil {
		return err
	}
	for i, n := range c.nodes[cfg.Primaries : len(c.nodes)-cfg.Spares] {
		primary := c.nodes[i%cfg.Primaries]
		if _, err := c.Do(ctx, n.server().Addr(), "CLUSTER", "REPLICATE", primary.id()); err != nil {
			return err
		}
	}
	return c.Settle(ctx)
}

// prepare gives node i its address, its epoch and, if it is a primary, its slots.
func (c *Cluster) prepare(ctx context.Context, i int, n *node, cfg ClusterConfig) error {
	s, err := openSession(ctx, n.server().Addr(), c.password)
	if err != nil {
		return err
	}
	defer s.close()
	if err := n.learn(ctx, s); err != nil {
		return err
	}
	if err := n.announce(ctx, s, i, cfg.Announce); err != nil {
		return err
	}
	commands := [][]string{{"CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i + 1)}}
	if i < cfg.Primaries {
		first, next := slotCount*i/cfg.Primaries, slotCount*(i+1)/cfg.Primaries
		commands = append(commands, []string{"CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(first), strconv.Itoa(next - 1)})
	}
	_, err = s.doAll(ctx, commands)
	return err
}

// learn asks the node for its id.
func (n *node) learn(ctx context.Context, s *session) error {
	id, err := s.text(ctx, "CLUSTER", "MYID")
	if err == nil {
		n.ident.Store(&id)
	}
	return err
}

// server is the node's present process, or its last one.
func (n *node) server() *Server { return n.process.Load() }

// id is the name of the node among nodes.
func (n *node) id() string {
	if id := n.ident.Load(); id != nil {
		return *id
	}
	return ""
}

// announce asks what the node shall tell of itself, and makes it do so.
func (n *node) announce(ctx context.Context, s *session, i int, ask func(int, string) Announcement) error {
	host, port, err := splitAddr(n.server().Addr())
	if err != nil {
		return err
	}
	if ask != nil {
		n.announced = ask(i, n.server().Addr())
	}
	n.announced.IP = cmp.Or(n.announced.IP, host)
	n.announced.Port = cmp.Or(n.announced.Port, port)
	words := []string{
		"CONFIG", "SET", "cluster-announce-ip", n.announced.IP,
		"cluster-announce-port", strconv.Itoa(n.announced.Port),
		"cluster-announce-bus-port", strconv.Itoa(n.server().busPort),
	}
	if n.server().TLSAddr() != "" {
		_, port, err := splitAddr(n.server().TLSAddr())
		if err != nil {
			return err
		}
		n.announced.TLSPort = cmp.Or(n.announced.TLSPort, port)
		words = append(words, "cluster-announce-tls-port", strconv.Itoa(n.announced.TLSPort))
	}
	if n.announced.Hostname != "" {
		words = append(words, "cluster-announce-hostname", n.announced.Hostname)
	}
	_, err = s.do(ctx, words...)
	return err
}

func splitAddr(addr string) (host string, port int, err error) {
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, err
	}
	port, err = strconv.Atoi(portText)
	return host, port, err
}

// meet introduces all nodes to all, which is faster than to wait for gossip, and
// waits until they know each other.
func (c *Cluster) meet(ctx context.Context) error {
	members := c.living()
	for i, n := range members {
		for _, other := range members[i+1:] {
			if err := c.introduce(ctx, n, other); err != nil {
				return err
			}
		}
	}
	return c.until(ctx, c.acquainted)
}

// introduce tells a node of another one.
func (c *Cluster) introduce(ctx context.Context, n, other *node) error {
	port := cmp.Or(other.announced.TLSPort, other.announced.Port) // that of the nodes
	_, err := c.Do(ctx, n.server().Addr(), "CLUSTER", "MEET", other.announced.IP, strconv.Itoa(port), strconv.Itoa(other.server().busPort))
	return err
}

// acquainted tells who doesn't know everybody.
func (c *Cluster) acquainted(ctx context.Context) error {
	for _, n := range c.living() {
		seen, err := c.view(ctx, n)
		if err != nil {
			return err
		}
		for _, other := range c.living() {
			if of, ok := seen[other.id()]; !ok || of.isUnsure() {
				return fmt.Errorf("%s does not know %s yet", n.server().Addr(), other.server().Addr())
			}
		}
	}
	return nil
}

// until waits until look finds nothing to complain of.
func (c *Cluster) until(ctx context.Context, look func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	ticker := time.NewTicker(clusterPoll)
	defer ticker.Stop()
	for {
		last := look(ctx)
		if last == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), last)
		}
	}
}

// Close ends all nodes, and returns when they have ended. It may be called again.
func (c *Cluster) Close() error {
	errs := make([]error, len(c.nodes))
	var ends sync.WaitGroup
	for i, n := range c.nodes {
		ends.Go(func() { errs[i] = n.server().Stop() })
	}
	ends.Wait()
	return errors.Join(errs...)
}

// Server returns the server at addr, or nil if no node listens there.
func (c *Cluster) Server(addr string) *Server {
	n, err := c.at(addr)
	if err != nil {
		return nil
	}
	return n.server()
}

// Addrs returns the addresses on which living nodes listen, those of the cluster that have
// neither ended nor been paused: first those that started as primaries.
func (c *Cluster) Addrs() []string {
	var addrs []string
	for _, n := range c.living() {
		addrs = append(addrs, n.server().Addr())
	}
	return addrs
}

// Announced returns the address that the node at addr announces: its name, if it
// has any, and its port. It is "" if no node listens at addr.
func (c *Cluster) Announced(addr string) string {
	n, err := c.at(addr)
	if err != nil {
		return ""
	}
	host := n.announced.Hostname
	if host == "" {
		host = n.announced.IP
	}
	return net.JoinHostPort(host, strconv.Itoa(n.announced.Port))
}

// TLSConfig returns a client configuration that trusts all nodes and carries a client
// certificate, or nil without TLS. The caller owns it.
func (c *Cluster) TLSConfig() *tls.Config { return c.nodes[0].server().TLSConfig() }

// Do sends one command to the node at addr and returns its reply: a string, an
// int64, nil, or a []any of these. An error reply is a ReplyError.
func (c *Cluster) Do(ctx context.Context, addr string, words ...string) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	s, err := openSession(ctx, addr, c.password)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.do(ctx, words...)
}

// at returns the node that listens at addr.
func (c *Cluster) at(addr string) (*node, error) {
	i := slices.IndexFunc(c.nodes, func(n *node) bool { return n.server().Addr() == addr })
	if i < 0 {
		return nil, fmt.Errorf("no node of the cluster listens at %s", addr)
	}
	return c.nodes[i], nil
}

// living returns the nodes of the cluster that can answer.
func (c *Cluster) living() []*node {
	var living []*node
	for _, n := range c.nodes {
		if n.lives() && !n.stranger.Load() {
			living = append(living, n)
		}
	}
	return living
}

// lives tells whether the node has neither ended nor been paused.
func (n *node) lives() bool {
	select {
	case <-n.server().Done():
		return false
	default:
		return !n.paused.Load()
	}
}

// logs returns the last lines of all nodes.
func (c *Cluster) logs() string {
	const keep = 20
	var text strings.Builder
	for i, n := range c.nodes {
		lines := strings.Split(strings.TrimSpace(n.server().Log()), "\n")
		fmt.Fprintf(&text, "node %d at %s:\n%s\n", i, n.server().Addr(), strings.Join(lines[max(0, len(lines)-keep):], "\n"))
	}
	return text.String()
}
