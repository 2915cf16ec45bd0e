package maintsim

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/internal/realserver"
)

// A realWatch is real servers, each known to the sentinels and to the others by its
// proxy, and real sentinels, each known to clients and to the others by its own.
type realWatch struct {
	s         *Sentinels
	servers   []*realserver.Server // by number of the proxy
	sentinels []*realserver.Server
	primary   atomic.Pointer[proxy]
}

const (
	watchPoll      = 20 * time.Millisecond
	promotionPoll  = 2 * time.Millisecond
	watchReady     = 30 * time.Second // until all know each other
	failoverLimit  = 30 * time.Second // for one change of the master
	writePause     = 5 * time.Second  // at most; ended when the old master is a replica
	caughtUpWithin = 2 * time.Second
	// downAfter is after how long without a reply a sentinel takes a server to be down.
	downAfter = time.Second
)

// startReal starts the servers, then the sentinels, and waits until they know each other.
func (s *Sentinels) startReal() error {
	f := &realWatch{s: s}
	s.fleet = f
	s.servers = newSim(s.cfg.Config)
	if err := f.startServers(); err != nil {
		return err
	}
	s.watch = newSim(s.cfg.watchConfig())
	if err := f.startSentinels(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(s.servers.ctx, watchReady, errors.New("maintsim: the sentinels don't find each other and the replicas"))
	defer cancel()
	return f.settled(ctx)
}

// startServers starts the master and its replicas, which follow it by its proxy.
func (f *realWatch) startServers() error {
	sim := f.s.servers
	lns, err := sim.listen()
	if err != nil {
		return err
	}
	sim.engine = &Engine{user: f.s.cfg.Username, password: f.s.cfg.Password}
	for i, ln := range lns {
		p := sim.proxies[i]
		args := []string{"--repl-diskless-sync-delay", "0", "--replica-announce-ip", p.host, "--replica-announce-port", strconv.Itoa(p.port)}
		if f.s.cfg.Password != "" {
			args = append(args, "--masterauth", f.s.cfg.Password)
		}
		if i > 0 {
			args = append(args, "--replicaof", words(sim.proxies[0]))
		}
		srv, err := f.launch(realserver.Config{Args: args, Password: f.s.cfg.Password})
		if err != nil {
			closeAll(lns[i:])
			return err
		}
		f.servers = append(f.servers, srv)
		p.upstream = srv.Addr()
		sim.serve(p, ln, nil)
	}
	sim.engine.addr = f.servers[0].Addr()
	f.primary.Store(sim.proxies[0])
	return nil
}

func (f *realWatch) launch(cfg realserver.Config) (*realserver.Server, error) {
	argv := f.s.cfg.Backend.argv
	cfg.Lead = argv[1:]
	srv, err := realserver.Launch(f.s.servers.ctx, argv[0], cfg)
	if err != nil {
		return nil, fmt.Errorf("maintsim: %w", err)
	}
	return srv, nil
}

func (f *realWatch) startSentinels() error {
	sim, name := f.s.watch, f.s.cfg.MasterName
	lns, err := sim.listen()
	if err != nil {
		return err
	}
	sim.engine = &Engine{}
	for i, ln := range lns {
		p := sim.proxies[i]
		lines := []string{
			fmt.Sprintf("sentinel announce-ip %q", p.host),
			fmt.Sprintf("sentinel announce-port %d", p.port),
			fmt.Sprintf("sentinel monitor %s %s %d", name, words(f.s.servers.proxies[0]), f.s.quorum()),
			fmt.Sprintf("sentinel down-after-milliseconds %s %d", name, downAfter.Milliseconds()),
			fmt.Sprintf("sentinel failover-timeout %s 5000", name),
			fmt.Sprintf("sentinel parallel-syncs %s 1", name),
		}
		if f.s.cfg.Password != "" {
			lines = append(lines, fmt.Sprintf("sentinel auth-pass %s %q", name, f.s.cfg.Password))
		}
		srv, err := f.launch(realserver.Config{Sentinel: lines})
		if err != nil {
			closeAll(lns[i:])
			return err
		}
		f.sentinels = append(f.sentinels, srv)
		p.upstream = srv.Addr()
		sim.serve(p, ln, nil)
		// They look at servers more often than by default; one that can't is only slower. How
		// often they talk to each other stays: four times that is after how long one that
		// has not heard yet makes a new master a replica again.
		_, _ = f.ask(srv, "SENTINEL", "DEBUG", "INFO-PERIOD", "1000")
	}
	sim.engine.addr = f.sentinels[0].Addr()
	return nil
}

// ask runs a command on a server or sentinel itself.
func (f *realWatch) ask(srv *realserver.Server, args ...string) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), doTimeout)
	defer cancel()
	conn, err := dialServer(ctx, srv.Addr())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	d := newDataConn(conn)
	if args[0] != "SENTINEL" {
		if err := d.auth("", f.s.cfg.Password); err != nil {
			return nil, err
		}
	}
	return d.do(args...)
}

func (f *realWatch) master() *proxy { return f.primary.Load() }

func (f *realWatch) do(args []string) (any, error) {
	return f.ask(f.servers[f.primary.Load().index], args...)
}

// settled waits until every sentinel knows all others, and every replica that lives as
// one that follows the master.
func (f *realWatch) settled(ctx context.Context) error {
	return f.until(ctx, func() bool {
		for _, srv := range f.sentinels {
			others, err := f.ask(srv, "SENTINEL", "SENTINELS", f.s.cfg.MasterName)
			if list, _ := others.([]any); err != nil || len(list) != len(f.sentinels)-1 {
				return false
			}
			replicas, err := f.ask(srv, "SENTINEL", "REPLICAS", f.s.cfg.MasterName)
			if err != nil {
				return false
			}
			up := 0
			list, _ := replicas.([]any)
			for _, r := range list {
				if of := fieldsOf(r); of["flags"] == "slave" && of["master-link-status"] == "ok" {
					up++
				}
			}
			if up != f.living()-1 {
				return false
			}
		}
		return true
	})
}

// living is how many servers live.
func (f *realWatch) living() (n int) {
	for _, p := range f.s.servers.proxies {
		if f.s.accepts(p) {
			n++
		}
	}
	return n
}

// fieldsOf reads pairs of strings.
func fieldsOf(reply any) map[string]string {
	list, _ := reply.([]any)
	of := make(map[string]string, len(list)/2)
	for i := 0; i+1 < len(list); i += 2 {
		key, _ := list[i].(string)
		of[key], _ = list[i+1].(string)
	}
	return of
}

// until waits until is is true.
func (f *realWatch) until(ctx context.Context, is func() bool) error {
	for !is() {
		if err := f.s.servers.wait(ctx, watchPoll); err != nil {
			return err
		}
	}
	return nil
}

func (f *realWatch) failover(ctx context.Context, o options) error {
	ctx, cancel := context.WithTimeoutCause(ctx, failoverLimit, errors.New("maintsim: the sentinels don't fail over"))
	defer cancel()
	old := f.primary.Load()
	if o.target >= 0 {
		return errors.New("maintsim: real sentinels choose by themselves who takes over")
	}
	if _, err := f.s.nextServer(old, -1); err != nil {
		return err
	}
	var next *proxy
	var err error
	for next == nil {
		if next, err = f.tryFailover(ctx, old, o.unannounced); err != nil {
			return err
		}
		if next == nil { // they need a while after the last one
			if err := f.s.servers.wait(ctx, watchPoll); err != nil {
				return err
			}
		}
	}
	if err := f.named(ctx, next); err != nil {
		return fmt.Errorf("until all name %s: %w", next.addr, err)
	}
	if err := f.until(ctx, func() bool { return f.role(old) == "slave" }); err != nil {
		return fmt.Errorf("until %s is a replica: %w", old.addr, err)
	}
	if o.unannounced {
		f.s.servers.record(Event{Kind: EventDemoted, Proxy: old.index})
	}
	if err := f.settled(ctx); err != nil {
		return fmt.Errorf("until all know of each other: %w", err)
	}
	return nil
}

// tryFailover tells a sentinel to fail over, and waits for a promotion. next is nil where
// it refuses for the time being.
func (f *realWatch) tryFailover(ctx context.Context, old *proxy, unannounced bool) (next *proxy, err error) {
	master := f.servers[old.index]
	if !unannounced {
		if _, err := f.ask(master, "CLIENT", "PAUSE", strconv.FormatInt(writePause.Milliseconds(), 10), "WRITE"); err != nil {
			return nil, fmt.Errorf("maintsim: pause writes: %w", err)
		}
		f.s.servers.record(Event{Kind: EventStallBegin, Proxy: -1})
		defer func() {
			_, _ = f.ask(master, "CLIENT", "UNPAUSE")
			f.s.servers.record(Event{Kind: EventStallEnd, Proxy: -1})
		}()
		if err := f.caughtUp(ctx, old); err != nil {
			return nil, err
		}
	}
	_, err = f.ask(f.sentinels[0], "SENTINEL", "FAILOVER", f.s.cfg.MasterName)
	if isServerError(err) {
		return nil, nil //nolint:nilerr // INPROG or NOGOODSLAVE: later it does
	}
	if err != nil {
		return nil, err
	}
	if next, err = f.promoted(ctx, old); err != nil {
		return nil, fmt.Errorf("until a replica is promoted: %w", err)
	}
	f.s.servers.record(Event{Kind: EventPromoted, Proxy: next.index})
	if !unannounced {
		// What waited is refused before the new master's data, and messages, come in.
		if err := f.demote(master, next); err != nil {
			return nil, fmt.Errorf("maintsim: make the old master a replica: %w", err)
		}
		f.s.servers.record(Event{Kind: EventDemoted, Proxy: old.index})
	}
	return next, nil
}

// demote makes a server whose writes pause a replica, and ends the pause in the same breath.
func (f *realWatch) demote(srv *realserver.Server, next *proxy) error {
	ctx, cancel := context.WithTimeout(context.Background(), doTimeout)
	defer cancel()
	conn, err := dialServer(ctx, srv.Addr())
	if err != nil {
		return err
	}
	defer conn.Close()
	d := newDataConn(conn)
	if err := d.auth("", f.s.cfg.Password); err != nil {
		return err
	}
	both := appendCommand(nil, "REPLICAOF", next.host, strconv.Itoa(next.port))
	if _, err := conn.Write(appendCommand(both, "CLIENT", "UNPAUSE")); err != nil {
		return err
	}
	for range 2 {
		reply, err := d.reply()
		if err != nil {
			return err
		}
		if refusal, ok := reply.(ServerError); ok {
			return refusal
		}
	}
	return nil
}

// caughtUp waits until the replicas have all that the master has. They are asked
// themselves: to the master they say it once a second.
func (f *realWatch) caughtUp(ctx context.Context, master *proxy) error {
	ctx, cancel := context.WithTimeoutCause(ctx, caughtUpWithin, errors.New("maintsim: the replicas don't catch up"))
	defer cancel()
	for {
		want, has := f.replication(master)["master_repl_offset"], true
		for _, p := range f.s.servers.proxies {
			if p != master && f.s.accepts(p) {
				has = has && f.replication(p)["slave_repl_offset"] == want
			}
		}
		if has && want != "" {
			return nil
		}
		if err := f.s.servers.wait(ctx, promotionPoll); err != nil {
			return err
		}
	}
}

// replication is what a server tells of its replication.
func (f *realWatch) replication(p *proxy) map[string]string {
	reply, err := f.ask(f.servers[p.index], "INFO", "replication")
	text, _ := reply.(string)
	if err != nil {
		return nil
	}
	return infoOf(text)
}

// infoOf reads the lines of INFO.
func infoOf(text string) map[string]string {
	of := make(map[string]string)
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			of[key] = value
		}
	}
	return of
}

// role is what a server says that it is.
func (f *realWatch) role(p *proxy) string {
	reply, err := f.ask(f.servers[p.index], "ROLE")
	list, _ := reply.([]any)
	if err != nil || len(list) == 0 {
		return ""
	}
	role, _ := list[0].(string)
	return role
}

// promoted waits until a replica is a master.
func (f *realWatch) promoted(ctx context.Context, old *proxy) (*proxy, error) {
	for {
		for _, p := range f.s.servers.proxies {
			if p != old && f.s.accepts(p) && f.role(p) == "master" {
				return p, nil
			}
		}
		if err := f.s.servers.wait(ctx, promotionPoll); err != nil {
			return nil, err
		}
	}
}

// named waits until every sentinel calls a server the master; nil: another one than now.
func (f *realWatch) named(ctx context.Context, next *proxy) error {
	old := f.primary.Load()
	err := f.until(ctx, func() bool {
		for _, srv := range f.sentinels {
			reply, err := f.ask(srv, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", f.s.cfg.MasterName)
			list, _ := reply.([]any)
			if err != nil || len(list) != 2 {
				return false
			}
			host, _ := list[0].(string)
			port, _ := list[1].(string)
			p := f.s.servers.proxyAt(host, port)
			if p == nil || p == old || next != nil && p != next {
				return false
			}
			next = p
		}
		return true
	})
	if err != nil {
		return err
	}
	f.primary.Store(next)
	f.s.servers.record(Event{Kind: EventSwitched, Proxy: next.index})
	return nil
}

func (f *realWatch) kill(ctx context.Context, _ options) error {
	ctx, cancel := context.WithTimeoutCause(ctx, failoverLimit, errors.New("maintsim: the sentinels name no other master"))
	defer cancel()
	old := f.primary.Load()
	if _, err := f.s.nextServer(old, -1); err != nil {
		return err
	}
	f.s.servers.endServer(old, endReset, EventKilled)
	if err := f.servers[old.index].Kill(); err != nil {
		return fmt.Errorf("maintsim: %w", err)
	}
	next, err := f.promoted(ctx, old)
	if err != nil {
		return err
	}
	f.s.servers.record(Event{Kind: EventPromoted, Proxy: next.index})
	return f.named(ctx, next)
}

func (f *realWatch) close() error {
	var errs []error
	for _, srv := range append(f.sentinels, f.servers...) {
		errs = append(errs, srv.Stop())
	}
	return errors.Join(errs...)
}
