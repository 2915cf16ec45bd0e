package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/baton-go/redis/cmd/baton/internal/drill"
	"github.com/baton-go/redis/maintsim"
)

const simLong = `Sim simulates a database on loopback addresses until it is interrupted, so that any
client can be pointed at it. It prints what it does, with the time.

Type a scenario and it is done, several at a time if they are typed while others
run:

  migrate [stall=3s] [lead=1s]
  failover [stall=3s] [lead=1s]
  rebind [grace=5s]          to a named address
  rebind-none [grace=5s]     without an address
  rolling-upgrade            all of them, once per node
  failover-cut [outage=1s]
  silent-cut [outage=1s]
  stats                      what was done so far
  help                       everything else that can be typed
  quit

With --shards it is a cluster, and help tells what can be done to it: slot-migrate,
cluster-failover, reshard, kill and others.

With --every, the scenarios of --schedule are done in turn.`

type simFlags struct {
	hosts    []string
	port     int
	server   string
	proxies  int
	grace    time.Duration
	lead     time.Duration
	stall    time.Duration
	outage   time.Duration
	every    time.Duration
	schedule string
	password string
	refuse   bool
	seed     uint64
	tls      string
	shards   int
	replicas int
	spares   int
	window   time.Duration
	timings  maintsim.Config
	timed    *parsed[maintsim.Config]
	drill.Conditions
}

// groups are the flags of a simulation.
func (f *simFlags) groups() []flagGroup {
	basic := newGroup("Flags")
	fs := basic.set
	fs.StringSliceVar(&f.hosts, "hosts", nil, "loopback addresses of the proxies (default 127.0.0.1, 127.0.0.2, ...)")
	fs.IntVar(&f.port, "port", 0, "port of the proxies (default a free one)")
	fs.StringVar(&f.server, "server", "embedded", "`embedded`, a server program with its arguments, or host:port")
	fs.IntVar(&f.proxies, "proxies", maintsim.DefaultProxies, "number of nodes")
	fs.DurationVar(&f.grace, "grace", maintsim.DefaultGrace, "how long an old endpoint serves after MOVING")
	fs.DurationVar(&f.lead, "lead", maintsim.DefaultLead, "time between an announcement and the stall")
	fs.DurationVar(&f.stall, "stall", maintsim.DefaultStall, "how long replies stall; in a cluster, when slots have moved, and 0s if it\nis not given")
	fs.DurationVar(&f.outage, "outage", maintsim.DefaultOutage, "how long nothing accepts after a cut")
	fs.DurationVar(&f.every, "every", 0, "do the next scenario of the schedule so often")
	fs.StringVar(&f.schedule, "schedule", "migrate,failover,rebind", "the scenarios to do in turn; of a cluster what it can do, if it is not given")
	fs.StringVar(&f.password, "password", "", "password that clients need")
	fs.BoolVar(&f.refuse, "refuse", false, "refuse the opt-in to notices, as servers do that don't know it")
	fs.Uint64Var(&f.seed, "seed", 1, "seed of all random choices")
	fs.BoolP("help", "h", false, "show this")

	clusters := newGroup("Clusters")
	fs = clusters.set
	fs.IntVar(&f.shards, "shards", 0, "simulate a cluster of so many shards")
	fs.IntVar(&f.replicas, "replicas", 0, "number of replicas of each shard")
	fs.IntVar(&f.spares, "spares", 1, "number of shards that can join")
	fs.DurationVar(&f.window, "window", maintsim.DefaultWindow, "how long slots take to move")

	how := newGroup("Harder: where it listens")
	how.set.StringVar(&f.tls, "tls", "", "encrypt, and write the certificate to trust, of host names only, to this `file`")
	addPlaces(how.set, &f.Conditions)
	f.timed = value(&f.timings, "measured[:scale]", drill.ParseTimings)
	how.set.Var(f.timed, "timings", "the timing of the real product; times that are given otherwise hold, too")

	faults := newGroup("Harder: faults, beside those that can be typed")
	addFaults(faults.set, &f.Conditions)
	return []flagGroup{basic, clusters, how, faults}
}

func simCommand() *cobra.Command {
	var f simFlags
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Simulate a database that any client can be pointed at",
		Long:  simLong,
		Example: `  baton sim --port 6400
  baton sim --server /usr/bin/redis-server --every 30s --schedule migrate,rebind
  baton sim --shards 3 --replicas 1 --port 7000 --every 10s`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runSim(cmd, f) },
	}
	addGroups(cmd, f.groups())
	return cmd
}

func runSim(cmd *cobra.Command, f simFlags) error {
	backend, server, err := drill.Backend(f.server)
	if err != nil {
		return usageError{err}
	}
	if f.every < 0 {
		return usageError{fmt.Errorf("--every %v is negative", f.every)}
	}
	schedule, err := f.actions(cmd.Flags().Changed)
	if err != nil {
		return usageError{err}
	}
	out := &printer{w: cmd.OutOrStdout()}
	if err := f.Check(); err != nil {
		return usageError{err}
	}
	f.resolve(cmd.Flags().Changed)
	if f.Records > 1 && len(f.hosts) == 0 {
		f.proxies = max(f.proxies, f.Records+1)
	}
	cfg := maintsim.Config{
		Backend: backend, Hosts: f.hosts, Port: f.port, Proxies: f.proxies,
		Grace: f.grace, Lead: drill.OrNone(f.lead), Stall: drill.OrNone(f.stall), Outage: drill.OrNone(f.outage),
		Password: f.password, Unsupported: f.refuse || f.RefuseOptIn != 0, Seed: f.seed,
		OnEvent: func(e maintsim.Event) { out.at(e.Time, e.String()) },
	}
	f.Apply(&cfg)
	if f.tls != "" {
		if cfg.TLS, err = certificate(f.tls); err != nil {
			return usageError{fmt.Errorf("--tls: %w", err)}
		}
	}
	s, addrs, err := f.start(cfg, out)
	if err != nil {
		var opErr *net.OpError
		if errors.As(err, &opErr) {
			return fmt.Errorf("sim: %w", err)
		}
		return usageError{err}
	}
	if accept := f.Begin(s.sim); accept > 0 {
		t := time.AfterFunc(accept, s.sim.Support)
		defer t.Stop()
	}
	out.at(time.Now(), server+addrs)
	s.serve(cmd.Context(), cmd.InOrStdin(), f.every, schedule)
	if err := s.close(); err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	s.wg.Wait()
	out.at(time.Now(), "closed")
	return nil
}

// actions are those of the schedule.
func (f *simFlags) actions(given func(string) bool) (schedule []simAction, err error) {
	isCluster := f.shards != 0
	names := f.schedule
	if isCluster && !given("schedule") {
		names = f.clusterSchedule()
	}
	for name := range strings.SplitSeq(names, ",") {
		a, err := parseAction(name, isCluster)
		if err != nil {
			return nil, fmt.Errorf("--schedule: %w", err)
		}
		schedule = append(schedule, a)
	}
	return schedule, nil
}

// start starts the simulation of a database or a cluster, and tells where it is.
func (f *simFlags) start(cfg maintsim.Config, out *printer) (s *simulation, addrs string, err error) {
	s = &simulation{out: out, grace: f.grace}
	if f.shards == 0 {
		if s.sim, err = maintsim.New(cfg); err != nil {
			return nil, "", err
		}
		s.close = s.sim.Close
		return s, fmt.Sprintf(" behind %s; clients connect to %s", strings.Join(s.sim.Addrs(), ", "), s.sim.Addr()), nil
	}
	if s.cluster, err = f.startCluster(cfg); err != nil {
		return nil, "", err
	}
	s.sim, s.close = s.cluster.Sim(), s.cluster.Close
	return s, ", a cluster; its clients connect to " + strings.Join(s.cluster.Addrs(), ", "), nil
}

// printer writes lines with the time, from any goroutine.
type printer struct {
	mu sync.Mutex // serialises writing
	w  io.Writer
}

func (p *printer) at(t time.Time, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.w, "%s  %s\n", t.Format("15:04:05.000"), text)
}

// simulation is a running simulator that takes orders.
type simulation struct {
	sim     *maintsim.Sim
	cluster *maintsim.Cluster // nil for a database
	close   func() error      // ends both
	out     *printer
	wg      sync.WaitGroup // scenarios

	grace time.Duration // of moves that don't say it

	stop context.CancelFunc // calls off what runs; owned by serve
}

// serve does what is typed and what is scheduled until ctx ends or it is told to
// quit.
func (s *simulation) serve(ctx context.Context, in io.Reader, every time.Duration, schedule []simAction) {
	runs, stop := context.WithCancel(ctx)
	s.stop = stop
	defer func() { s.stop() }()
	lines := make(chan string)
	// This goroutine ends with the input, or with the program.
	go func() {
		defer close(lines)
		for sc := bufio.NewScanner(in); sc.Scan(); {
			select {
			case lines <- sc.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	var due <-chan time.Time
	if every > 0 {
		t := time.NewTicker(every)
		defer t.Stop()
		due = t.C
	}
	for next := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-due:
			s.start(runs, schedule[next%len(schedule)])
			next++
		case line, ok := <-lines:
			if !ok {
				lines = nil // nobody types; the schedule goes on
				continue
			}
			line = strings.TrimSpace(line)
			if line == "stop" {
				s.stop()
				runs, s.stop = context.WithCancel(ctx)
				continue
			}
			if !s.obey(runs, line) {
				return
			}
		}
	}
}

// obey does what a line says. It reports false if that is to quit.
func (s *simulation) obey(ctx context.Context, line string) bool {
	switch line {
	case "":
	case "quit", "exit":
		return false
	case "help", "?":
		s.out.at(time.Now(), "what can be typed:\n"+strings.TrimSuffix(simHelp(s.cluster != nil), "\n"))
	case "stats":
		if s.cluster != nil {
			s.out.at(time.Now(), clusterStats(s.cluster.Stats()))
			break
		}
		st := s.sim.Stats()
		s.out.at(time.Now(), fmt.Sprintf("%d connections, %d opted in, %d commands, notices %v, %d cuts and closes",
			st.Open(), st.OptedIn(), st.Commands, st.Notices, len(st.Cuts)))
	default:
		a, err := parseAction(line, s.cluster != nil)
		if err != nil {
			s.out.at(time.Now(), err.Error())
			return true
		}
		s.start(ctx, a)
	}
	return true
}

func (s *simulation) start(ctx context.Context, a simAction) {
	s.wg.Go(func() {
		s.out.at(time.Now(), a.name+" begins")
		if err := a.do(ctx, s); err != nil {
			s.out.at(time.Now(), fmt.Sprintf("%s failed: %v", a.name, err))
			return
		}
		s.out.at(time.Now(), a.name+" is over")
	})
}

// resolve takes the measured timing where nothing else was given, and lets nothing stall
// in a cluster.
func (f *simFlags) resolve(given func(string) bool) {
	if f.shards != 0 && !given("stall") {
		f.stall = 0
	}
	if f.timed.text == "" {
		return
	}
	t := f.timings
	for flag, set := range map[string]func(){
		"grace":  func() { f.grace = t.Grace },
		"lead":   func() { f.lead = t.Lead },
		"stall":  func() { f.stall = t.Stall },
		"outage": func() { f.outage = t.Outage },
		"linger": func() { f.Linger = t.Linger },
	} {
		if !given(flag) {
			set()
		}
	}
	f.Resolver = t.ResolverChange
}

// certificate makes a certificate and writes what clients are to trust to file.
func certificate(file string) (*tls.Config, error) {
	cfg, _, err := maintsim.NewCertificate()
	if err != nil {
		return nil, err
	}
	block := &pem.Block{Type: "CERTIFICATE", Bytes: cfg.Certificates[0].Certificate[0]}
	return cfg, os.WriteFile(file, pem.EncodeToMemory(block), 0o644)
}
