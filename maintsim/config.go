package maintsim

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strconv"
	"time"
)

// Defaults of [Config].
const (
	DefaultProxies  = 2
	DefaultGrace    = 15 * time.Second
	DefaultLead     = 2 * time.Second
	DefaultStall    = 3 * time.Second
	DefaultOutage   = 500 * time.Millisecond
	DefaultHold     = 20 * time.Millisecond
	DefaultTakeOver = 0.3 // of the grace time
	DefaultResolver = 0.6 // of the grace time
)

// DBName is the name of the simulated database. [Sim.LookupHost] resolves it to
// the address of its present endpoint.
const DBName = "redis-1.sim.test"

// A Config says what to simulate. Its zero value is a database with two proxies
// in front of an embedded server and the timing of the real product.
type Config struct {
	// Backend is the server behind the proxies. Zero means [Embedded].
	Backend Backend

	// Proxies is the number of nodes, each with one proxy. Zero means
	// DefaultProxies. A named rebind needs two.
	Proxies int

	// Hosts are the loopback addresses of the proxies. Empty means 127.0.0.1,
	// 127.0.0.2, and so on. If set, it decides the number of proxies.
	Hosts []string

	// Port is the port all proxies share. Zero means a free one.
	Port int

	// OwnPorts gives every proxy a port of its own, Port to the first. A name
	// can't lead to another port, so only named moves make sense then. Hosts may
	// be the same.
	OwnPorts bool

	// Records is how many proxies the database's endpoint has, and addresses its
	// name. A move replaces one of them by a proxy beyond them; the others are
	// siblings that tell their connections nothing. Zero means 1.
	Records int

	// Version is the server version that HELLO, and the embedded server's INFO,
	// report. Empty means the server's own. [Sim.SetVersion] changes it.
	Version string

	// Grace is how long an old proxy serves after MOVING, in wire time.
	// Zero means DefaultGrace.
	Grace time.Duration

	// Lead passes between MIGRATING or FAILING_OVER and the stall, in wire
	// time. Zero means DefaultLead, negative none.
	Lead time.Duration

	// TimeUnit is how long one wire second takes. Zero means a second. With
	// 100ms, a MOVING that says 15 seconds is over after 1.5.
	TimeUnit time.Duration

	// Stall is how long replies are held back in a MIGRATING or FAILING_OVER
	// window, in real time. Zero means DefaultStall, negative not at all.
	Stall time.Duration

	// Outage is how long nothing accepts after a cut, in real time. Zero means
	// DefaultOutage, negative not at all.
	Outage time.Duration

	// Hold is how long replies are held back before a cut, in real time, so that
	// commands are executed whose replies are lost. Zero means DefaultHold,
	// negative not at all.
	Hold time.Duration

	// CloseJitter delays the close at the deadline of a MOVING by a random time
	// below it, in real time. Zero means none.
	CloseJitter time.Duration

	// Seed makes the random choices repeatable. Zero is a seed like any other.
	Seed uint64

	// Linger is how long an old proxy serves, and announces that, beyond the
	// deadline of a MOVING, in wire time: a random time in the range, anew for
	// each move. Zero means that it closes at the deadline.
	Linger Range

	// ResolverChange is when after a MOVING the database's name begins to lead to
	// the new address, in wire time: a random time in the range, anew for each
	// move. Zero means DefaultResolver, a fraction of the grace time.
	ResolverChange Range

	// FirstSeq is the sequence number of the first notice.
	FirstSeq int64

	// CloseMode is how connections end when an old proxy closes or a cut
	// happens. Zero means CloseDefault.
	CloseMode CloseMode

	// RetainedLast sends the retained completion to a connection that opts in
	// after the notices of open windows instead of before them. It isn't known
	// which of the two the real product does.
	RetainedLast bool

	// AnnounceAfter is behind how many further replies to commands of the
	// handshake (SELECT, CLIENT and the like) a connection that opts in is told
	// what it missed, or 20 ms later if there are no more. Zero means right behind
	// the reply to the opt-in.
	AnnounceAfter int

	// HandshakePush, if set, is sent behind every reply to a command of the
	// handshake on RESP3 connections, HELLO's own included: any complete frame.
	HandshakePush string

	// Writes says in which pieces bytes go to clients. [Sim.SetWrites] changes it.
	Writes Writes

	// Unsupported makes the proxies refuse the opt-in command as a server does
	// that never heard of it. [Sim.Support] and [Sim.Refuse] change it.
	Unsupported bool

	// Username and Password are asked from clients of an embedded server or of a
	// started program, and used by [Engine.Do]. An empty Password means no
	// authentication; an empty Username means the default user.
	Username, Password string

	// TLS is the configuration the proxies serve TLS with; nil means plain TCP.
	// [NewCertificate] makes one for the simulated names.
	TLS *tls.Config

	// Logger gets the events at level info and connections at level debug. Nil
	// means silence.
	Logger *slog.Logger

	// OnEvent, if set, is called for each event, on the goroutine that caused it
	// and with no lock held. Scenarios wait for it, so it should be quick.
	OnEvent func(Event)
}

// withDefaults returns a copy of c with defaults filled in, or every problem.
func (c Config) withDefaults() (Config, error) {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("maintsim: "+format, args...))
	}
	if c.Proxies < 0 || c.Proxies > 200 {
		bad("%d proxies, want 1 to 200", c.Proxies)
	}
	if len(c.Hosts) == 0 {
		n := c.Proxies
		if n == 0 {
			n = DefaultProxies
		}
		for i := range min(max(n, 0), 200) {
			c.Hosts = append(c.Hosts, "127.0.0."+strconv.Itoa(i+1))
		}
	} else {
		c.Hosts = append([]string(nil), c.Hosts...)
	}
	c.Proxies = len(c.Hosts)
	for _, h := range c.Hosts {
		ip, err := netip.ParseAddr(h)
		if err != nil || !ip.IsLoopback() {
			bad("host %q is no loopback address", h)
		}
	}
	if c.Port < 0 || c.Port > 65535 {
		bad("port %d", c.Port)
	}
	if c.Records == 0 {
		c.Records = 1
	}
	if c.Records < 0 || c.Records > c.Proxies {
		bad("%d records of %d proxies", c.Records, c.Proxies)
	}
	if c.FirstSeq < 0 || c.AnnounceAfter < 0 {
		bad("FirstSeq and AnnounceAfter can't be negative")
	}
	for _, r := range []Range{c.Linger, c.ResolverChange} {
		if r.Min < 0 || r.Max < r.Min {
			bad("range %v to %v", r.Min, r.Max)
		}
	}
	if err := c.Writes.validate(); err != nil {
		errs = append(errs, err)
	}
	if c.Grace < 0 || c.TimeUnit < 0 || c.CloseJitter < 0 {
		bad("Grace, TimeUnit and CloseJitter can't be negative")
	}
	if c.TimeUnit == 0 {
		c.TimeUnit = time.Second
	}
	if c.Grace == 0 {
		c.Grace = DefaultGrace
	}
	c.Lead = orDefault(c.Lead, DefaultLead)
	c.Stall = orDefault(c.Stall, DefaultStall)
	c.Outage = orDefault(c.Outage, DefaultOutage)
	c.Hold = orDefault(c.Hold, DefaultHold)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, errors.Join(errs...)
}

// orDefault returns what d stands for where zero means def and negative none.
func orDefault(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return max(d, 0)
}
