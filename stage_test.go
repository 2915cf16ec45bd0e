package redis_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/simnet"
	"github.com/baton-go/redis/maintnotifications"
)

// The addresses on a stage: the old server, its successor, another one.
const (
	oldAddr   = "10.0.0.1:6379"
	newAddr   = "10.0.0.2:6379"
	otherAddr = "10.0.0.3:6379"
)

// A stage is a network in a bubble, where a client meets servers of one database and
// every time is exact. A test changes opt and maint before it makes the client.
type stage struct {
	*testing.T
	net   *simnet.Network
	start time.Time
	opt   redis.Options
	maint maintnotifications.Config
	seen  metrics

	mu      sync.Mutex // guards the fields below
	dialled []dialled
	dialing int
	atOnce  int // the most dials at one time
	values  map[string]string
	lists   map[string][]string
	pushed  chan struct{} // closed, and made anew, when a list has got an element
	subs    map[string]map[*part]struct{}
}

type dialled struct {
	addr string
	at   time.Duration
}

// onStage runs a test in a bubble.
func onStage(t *testing.T, test func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{
			T: t, net: simnet.New(), start: time.Now(),
			values: make(map[string]string), lists: make(map[string][]string), pushed: make(chan struct{}),
			subs: make(map[string]map[*part]struct{}),
		}
		t.Cleanup(func() { _ = s.net.Close() })
		s.opt = redis.Options{
			Addr: oldAddr, Dialer: s.dial, Resolver: s.net, DialerRetries: 1, MaxRetries: -1,
			ReadTimeout: 3 * time.Second, PoolSize: 10, MaintNotificationsMetrics: s.seen.callbacks(),
		}
		test(s)
	})
}

// client makes the client, which is closed when the bubble ends.
func (s *stage) client() *redis.Client {
	opt, maint := s.opt, s.maint
	opt.MaintNotificationsConfig = &maint
	c := redis.NewClient(&opt)
	s.Cleanup(func() { _ = c.Close() })
	return c
}

func (s *stage) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	s.mu.Lock()
	s.dialled = append(s.dialled, dialled{addr, time.Since(s.start)})
	s.dialing++
	s.atOnce = max(s.atOnce, s.dialing)
	s.mu.Unlock()
	nc, err := s.net.Dial(ctx, network, addr)
	s.mu.Lock()
	s.dialing--
	s.mu.Unlock()
	return nc, err
}

// dials are the times at which addr was dialled; without addr all are.
func (s *stage) dials(addr string) (at []time.Duration) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.dialled {
		if addr == "" || d.addr == addr {
			at = append(at, d.at)
		}
	}
	return at
}

// sleep lets time pass, and what follows from it happen.
func (s *stage) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// sleepUntil is sleep until some time after the beginning.
func (s *stage) sleepUntil(at time.Duration) { s.sleep(time.Until(s.start.Add(at))) }

// wantConns checks how many connections there are to addr.
func (s *stage) wantConns(addr string, want int) {
	s.Helper()
	synctest.Wait()
	if got := len(s.net.Conns(addr)); got != want {
		s.Errorf("got %d connections to %s after %v, want %d", got, addr, time.Since(s.start), want)
	}
}

// echo sends a command that has to succeed, and gives how long that took.
func (s *stage) echo(c echoer) time.Duration {
	s.Helper()
	began := time.Now()
	text := began.String()
	got, err := c.Echo(s.Context(), text).Result()
	if err != nil || got != any(text) {
		s.Errorf("after %v: got %v, %v, want %s", time.Since(s.start), got, err, text)
	}
	return time.Since(began)
}

// echoer is a client, or a connection of one's own.
type echoer interface {
	Echo(ctx context.Context, message any) *redis.StringCmd
}

// hold takes n connections of the pool.
func (s *stage) hold(c *redis.Client, n int) []*redis.Conn {
	s.Helper()
	held := make([]*redis.Conn, n)
	for i := range held {
		held[i] = c.Conn()
		s.echo(held[i])
	}
	return held
}

// give gives them back.
func (s *stage) give(held ...*redis.Conn) {
	for _, cn := range held {
		_ = cn.Close()
	}
}

// silence sends a command that is not answered, and gives what becomes of it.
func (s *stage) silence(c *redis.Client) *outcome {
	o := &outcome{began: time.Now(), done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.err = c.Do(context.Background(), "hang").Err()
		o.took = time.Since(o.began)
	}()
	synctest.Wait()
	return o
}

type outcome struct {
	began time.Time
	done  chan struct{} // closed when the fields below are set
	took  time.Duration
	err   error
}

// wantTimeout waits for a command that is not answered, and checks that it was given
// up after so long.
func (s *stage) wantTimeout(o *outcome, want time.Duration) {
	s.Helper()
	<-o.done
	timeout, ok := errors.AsType[net.Error](o.err)
	if !ok || !timeout.Timeout() || o.took != want {
		s.Errorf("got %v after %v, want a timeout after %v", o.err, o.took, want)
	}
}

// metrics adds up what the client reports.
type metrics struct {
	mu      sync.Mutex // guards the fields below
	relaxed int        // connections now
	most    int        // connections at one time
	ups     int        // how often +1 was told
	low     int        // the lowest sum
	good    int        // handoffs
	bad     int
	notices map[string]int // by kind; malformed ones with a "!"
}

func (m *metrics) callbacks() *maintnotifications.Metrics {
	m.notices = make(map[string]int)
	return &maintnotifications.Metrics{
		OnRelaxed: func(delta int, _ string) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.relaxed += delta
			m.ups += max(delta, 0)
			m.most, m.low = max(m.most, m.relaxed), min(m.low, m.relaxed)
		},
		OnHandoff: func(_, _ string, err error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			if err != nil {
				m.bad++
				return
			}
			m.good++
		},
		OnNotification: func(kind string, valid bool) {
			m.mu.Lock()
			defer m.mu.Unlock()
			if !valid {
				kind += "!"
			}
			m.notices[kind]++
		},
	}
}

// now is a copy of the numbers.
func (m *metrics) now() (relaxed, good, bad int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.relaxed, m.good, m.bad
}

//------------------------------------------------------------------------------

// An actor is a server on a stage.
type actor struct {
	s    *stage
	addr string
	l    net.Listener

	mu       sync.Mutex // guards the fields below
	version  string
	refuses  bool                       // the opt-in
	hangsUp  bool                       // when it is asked to opt in
	quiet    bool                       // nothing is answered, the handshake included
	loading  bool                       // all but the handshake and subscriptions is answered with LOADING
	says     func(args []string) string // first of all; "": what it says without that
	greeting []byte                     // behind the reply to the opt-in
	hasty    bool                       // the greeting comes before that reply
	stalled  time.Time                  // replies are held back until then
	conns    []*part                    // those that have opted in, oldest first
	asked    int                        // opt-ins
	commands int                        // handshakes aside
}

// A part is one connection of an actor.
type part struct {
	net.Conn
	gone chan struct{} // closed when nothing more can be read

	mu sync.Mutex // of writing
}

// actor makes a server.
func (s *stage) actor(addr string) *actor {
	s.Helper()
	l, err := s.net.Listen(addr)
	if err != nil {
		s.Fatal(err)
	}
	a := &actor{s: s, addr: addr, l: l, version: "8.2.1"}
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go a.serve(&part{Conn: nc, gone: make(chan struct{})})
		}
	}()
	return a
}

// serve reads ahead, so that a connection is seen to end also while its last command
// waits.
func (a *actor) serve(p *part) {
	cmds := make(chan []string, 1024)
	go func() {
		defer close(p.gone)
		in := bufio.NewReader(p)
		for {
			args, err := readCommand(in)
			if err != nil {
				return
			}
			cmds <- args
		}
	}()
	defer func() {
		a.mu.Lock()
		for i, c := range a.conns {
			if c == p {
				a.conns = append(a.conns[:i:i], a.conns[i+1:]...)
				break
			}
		}
		a.mu.Unlock()
		a.s.mu.Lock()
		for _, on := range a.s.subs {
			delete(on, p)
		}
		a.s.mu.Unlock()
		_ = p.Close()
	}()
	for {
		select {
		case args := <-cmds:
			a.mu.Lock()
			stalled := time.Until(a.stalled)
			a.mu.Unlock()
			time.Sleep(stalled)
			p.send(a.answer(p, args))
		case <-p.gone:
			return
		}
	}
}

func (p *part) send(frames string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if frames != "" {
		_, _ = p.Write([]byte(frames))
	}
}

func bulk(s string) string { return "$" + strconv.Itoa(len(s)) + "\r\n" + s + "\r\n" }

// answer gives the reply to one command.
func (a *actor) answer(p *part, args []string) string {
	name := strings.ToLower(args[0])
	a.mu.Lock()
	if a.quiet {
		a.mu.Unlock()
		return ""
	}
	if name != "hello" && name != "client" {
		a.commands++
	}
	loading, says := a.loading, a.says
	a.mu.Unlock()
	if loading && name != "hello" && name != "client" && name != "subscribe" {
		return "-LOADING Redis is loading the dataset in memory\r\n"
	}
	if says != nil {
		if said := says(args); said != "" {
			return said
		}
	}
	switch name {
	case "hello":
		a.mu.Lock()
		defer a.mu.Unlock()
		return "%5\r\n+server\r\n+redis\r\n+version\r\n+" + a.version + "\r\n+proto\r\n:3\r\n+id\r\n:1\r\n+role\r\n+master\r\n"
	case "client":
		return a.answerClient(p, args)
	case "echo":
		return bulk(args[1])
	case "hang":
		return ""
	case "set":
		a.s.mu.Lock()
		defer a.s.mu.Unlock()
		a.s.values[args[1]] = args[2]
		return "+OK\r\n"
	case "get":
		a.s.mu.Lock()
		defer a.s.mu.Unlock()
		if v, ok := a.s.values[args[1]]; ok {
			return bulk(v)
		}
		return "_\r\n"
	case "lpush":
		a.s.mu.Lock()
		defer a.s.mu.Unlock()
		a.s.lists[args[1]] = append(a.s.lists[args[1]], args[2])
		close(a.s.pushed)
		a.s.pushed = make(chan struct{})
		return ":1\r\n"
	case "blpop":
		return a.answerPop(p, args)
	case "subscribe", "unsubscribe":
		return a.s.subscribe(p, name, args[1:])
	case "publish":
		return fmt.Sprintf(":%d\r\n", a.s.publish(args[1], args[2]))
	case "ping":
		return "+PONG\r\n"
	}
	return "+OK\r\n"
}

func (a *actor) answerClient(p *part, args []string) string {
	if !strings.EqualFold(args[1], "maint_notifications") {
		return "+OK\r\n"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	if a.hangsUp {
		_ = p.Close()
		return ""
	}
	if a.refuses {
		return "-ERR unknown subcommand 'MAINT_NOTIFICATIONS'\r\n"
	}
	a.conns = append(a.conns, p)
	if a.hasty {
		return string(a.greeting) + "+OK\r\n"
	}
	return "+OK\r\n" + string(a.greeting)
}

// answerPop waits for an element as long as the command says.
func (a *actor) answerPop(p *part, args []string) string {
	seconds, _ := strconv.ParseFloat(args[2], 64)
	var late <-chan time.Time
	if seconds > 0 {
		timer := time.NewTimer(time.Duration(seconds * float64(time.Second)))
		defer timer.Stop()
		late = timer.C
	}
	for {
		a.s.mu.Lock()
		if l := a.s.lists[args[1]]; len(l) > 0 {
			a.s.lists[args[1]] = l[1:]
			a.s.mu.Unlock()
			return "*2\r\n" + bulk(args[1]) + bulk(l[0])
		}
		pushed := a.s.pushed
		a.s.mu.Unlock()
		select {
		case <-pushed:
		case <-late:
			return "_\r\n"
		case <-p.gone:
			return ""
		}
	}
}

// subscribe confirms each channel.
func (s *stage) subscribe(p *part, verb string, channels []string) (confirmed string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range channels {
		if s.subs[c] == nil {
			s.subs[c] = make(map[*part]struct{})
		}
		if verb == "subscribe" {
			s.subs[c][p] = struct{}{}
		} else {
			delete(s.subs[c], p)
		}
		confirmed += notice(verb, c, len(s.subs[c]))
	}
	return confirmed
}

// publish sends a message to all subscribers, on whichever server they are.
func (s *stage) publish(channel, message string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.subs[channel] {
		p.send(notice("message", channel, message))
		n++
	}
	return n
}

// notice is the wire form of a notification. An element is a string, a number, or
// nil.
func notice(elems ...any) string {
	var b strings.Builder
	b.WriteString(">" + strconv.Itoa(len(elems)) + "\r\n")
	for _, e := range elems {
		switch e := e.(type) {
		case string:
			b.WriteString(bulk(e))
		case int:
			b.WriteString(fmt.Sprintf(":%d\r\n", e))
		default:
			b.WriteString("_\r\n")
		}
	}
	return b.String()
}

// tell sends a notice to all connections that have opted in.
func (a *actor) tell(elems ...any) {
	a.s.Helper()
	a.tellSome(-1, elems...)
}

// tellOne is tell to the oldest connection only.
func (a *actor) tellOne(elems ...any) {
	a.s.Helper()
	a.tellSome(1, elems...)
}

func (a *actor) tellSome(most int, elems ...any) {
	a.s.Helper()
	synctest.Wait()
	a.mu.Lock()
	conns := append([]*part(nil), a.conns...)
	a.mu.Unlock()
	if len(conns) == 0 {
		a.s.Fatalf("%s has nobody to tell %v to", a.addr, elems)
	}
	if most > 0 {
		conns = conns[:most]
	}
	for _, p := range conns {
		p.send(notice(elems...))
	}
	synctest.Wait()
}

// leave makes the server refuse and close its connections, as an old proxy does at
// its deadline.
func (a *actor) leave() {
	_ = a.l.Close()
	a.s.net.Cut(a.addr, simnet.FIN)
	synctest.Wait()
}

// set changes what the server does.
func (a *actor) set(change func(a *actor)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(a)
}

// counts are how often the server was asked for notices, and how many commands it
// got.
func (a *actor) counts() (asked, commands int) {
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked, a.commands
}

func containsAll(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}
