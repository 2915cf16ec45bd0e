package realserver

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	startTimeout = 20 * time.Second      // for one start, until PING answers
	pollInterval = 10 * time.Millisecond // between two PINGs of a start
	probeTimeout = 2 * time.Second       // for one PING
	stopTimeout  = 5 * time.Second       // from SIGTERM to SIGKILL
	portTries    = 5                     // starts, if others take the port first
	logLimit     = 64 << 10              // bytes of output kept
	firstPort    = 20000                 // below what the system gives to clients,
	lastPort     = 32000                 // so that no dialing socket takes a port
)

// Config says how a server starts. The zero value is a plain server without a
// password on a free port of 127.0.0.1.
type Config struct {
	// Args are added to the command line and win over what this package sets.
	Args []string

	// Lead are arguments that come before the server's own, such as those of a loader
	// that the program is.
	Lead []string

	// Host is the loopback address to listen on. Empty means 127.0.0.1; other
	// addresses of 127.0.0.0/8 make several "hosts" on one machine.
	Host string

	// Port is the port to listen on, for a server that comes back where an
	// earlier one was. Zero means a free one.
	Port int

	// Password is what the default user must give. Empty means none.
	Password string

	// Users are ACL rules, one user each, as after "user" in a configuration
	// file: "alice on >secret ~* +@all".
	Users []string

	// Unix adds a unix socket.
	Unix bool

	// TLS adds a TLS port.
	TLS bool

	// Authority issues the certificate of the TLS port. Nil means one of its own.
	Authority *Authority

	// TLSHosts are the names and addresses in the certificate. Nil means
	// localhost and Host.
	TLSHosts []string

	// TLSClients makes the TLS port demand a client certificate.
	TLSClients bool

	// Cluster starts a cluster node, without any slots yet.
	Cluster bool

	// Sentinel are the lines of a Sentinel's configuration ("sentinel monitor
	// ..."). If it is not nil the program is started as a Sentinel, which servers can
	// be too, and Args, Users and Cluster don't apply.
	Sentinel []string

	// Of a cluster node that comes back: its bus port, and what it knew of the others.
	busPort int
	nodes   []byte
}

// A Server is a running server process.
//
// Its methods may be called by several goroutines.
type Server struct {
	path       string
	dir        string // working directory, removed with the server
	addr       string
	tlsAddr    string
	unixSocket string
	busPort    int // of a cluster node
	tlsConfig  *tls.Config
	cmd        *exec.Cmd
	log        tail
	done       chan struct{} // closed when the process has ended and was waited for
	stop       func() error  // runs once
}

// Launch starts the program at path and returns when it answers. ctx bounds the
// start only. Whoever calls it must call Stop.
func Launch(ctx context.Context, path string, cfg Config) (*Server, error) {
	if cfg.Host == "" {
		cfg.Host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(cfg.Host); err != nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("host %q is not a loopback address", cfg.Host)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var last error
	for range portTries {
		srv, err := launch(ctx, path, cfg)
		if err == nil {
			return srv, nil
		}
		last = err
		if !errors.Is(err, errPortTaken) || cfg.Port != 0 {
			break
		}
	}
	return nil, last
}

// newDir makes the folder of a server: in memory where that is to be had and TMPDIR names
// no other place, as cluster nodes wait for the disk whenever they learn something.
func newDir() (string, error) {
	const pattern = "baton-server-" // not the test's temporary directory: its name is too long for a socket
	if os.Getenv("TMPDIR") == "" {
		if dir, err := os.MkdirTemp("/dev/shm", pattern); err == nil {
			return dir, nil
		}
	}
	return os.MkdirTemp("", pattern)
}

// errPortTaken says that another process was faster to listen on the port.
var errPortTaken = errors.New("the port was taken")

func launch(ctx context.Context, path string, cfg Config) (_ *Server, err error) {
	dir, err := newDir()
	if err != nil {
		return nil, err
	}
	srv := &Server{path: path, dir: dir, done: make(chan struct{})}
	srv.stop = sync.OnceValue(srv.end)
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	args, err := srv.arguments(cfg)
	if err != nil {
		return nil, err
	}
	srv.cmd = exec.Command(path, append(slices.Clone(cfg.Lead), args...)...)
	srv.cmd.Dir = dir
	srv.cmd.Stdout = &srv.log
	srv.cmd.Stderr = &srv.log
	srv.cmd.WaitDelay = time.Second
	dieWithParent(srv.cmd)

	// The thread that starts a process with a parent-death signal must live as
	// long as the process, so one goroutine keeps its thread for both.
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(srv.done)
		err := srv.cmd.Start()
		started <- err
		if err == nil {
			_ = srv.cmd.Wait() // the way it ended is in the log
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	if err := srv.ready(ctx, cfg.Password); err != nil {
		_ = srv.Kill()
		if strings.Contains(srv.Log(), "Address already in use") {
			err = errPortTaken
		}
		return nil, fmt.Errorf("%w; its last lines:\n%s", err, srv.Log())
	}
	return srv, nil
}

// arguments prepares the files a server needs and returns its command line.
func (s *Server) arguments(cfg Config) ([]string, error) {
	port := cfg.Port
	if port == 0 {
		var err error
		if port, err = freePort(cfg.Host); err != nil {
			return nil, err
		}
	}
	s.addr = net.JoinHostPort(cfg.Host, strconv.Itoa(port))
	settings := [][]string{
		{"port", strconv.Itoa(port)},
		{"bind", cfg.Host},
		{"dir", s.dir},
		{"daemonize", "no"},
		{"logfile", ""},
	}
	set := func(words ...string) { settings = append(settings, words) }
	if cfg.Password != "" {
		set("requirepass", cfg.Password)
	}
	if cfg.Unix {
		s.unixSocket = filepath.Join(s.dir, "redis.sock")
		set("unixsocket", s.unixSocket)
	}
	if cfg.TLS {
		if err := s.prepareTLS(cfg, set); err != nil {
			return nil, err
		}
	}
	if cfg.Sentinel != nil {
		return s.sentinelFile(settings, cfg.Sentinel)
	}
	set("save", "")
	set("appendonly", "no")
	if cfg.Cluster {
		if err := s.clusterNode(cfg, set); err != nil {
			return nil, err
		}
	}
	if len(cfg.Users) > 0 {
		var rules strings.Builder
		for _, user := range cfg.Users {
			fmt.Fprintf(&rules, "user %s\n", user)
		}
		if cfg.Password != "" {
			// As a hash, as a rule has no way to write a space.
			fmt.Fprintf(&rules, "user default on #%x ~* &* +@all\n", sha256.Sum256([]byte(cfg.Password)))
		}
		file := filepath.Join(s.dir, "users.acl")
		if err := os.WriteFile(file, []byte(rules.String()), 0o600); err != nil {
			return nil, err
		}
		set("aclfile", file)
	}
	var args []string
	for _, words := range settings {
		args = append(args, "--"+words[0])
		args = append(args, words[1:]...)
	}
	return append(args, cfg.Args...), nil
}

// nodesFile is where a cluster node keeps what it knows of the others.
const nodesFile = "nodes.conf"

// clusterNode adds the settings of a cluster node.
func (s *Server) clusterNode(cfg Config, set func(words ...string)) error {
	s.busPort = cfg.busPort
	if s.busPort == 0 {
		var err error
		if s.busPort, err = freePort(cfg.Host); err != nil {
			return err
		}
	}
	set("cluster-enabled", "yes")
	set("cluster-config-file", nodesFile)
	set("cluster-port", strconv.Itoa(s.busPort))
	if cfg.nodes == nil {
		return nil
	}
	return os.WriteFile(filepath.Join(s.dir, nodesFile), cfg.nodes, 0o600)
}

// sentinelFile writes what a Sentinel wants: a file that it may write to.
func (s *Server) sentinelFile(settings [][]string, lines []string) ([]string, error) {
	var text strings.Builder
	for _, words := range settings {
		text.WriteString(words[0])
		for _, word := range words[1:] {
			fmt.Fprintf(&text, " %q", word)
		}
		text.WriteByte('\n')
	}
	for _, line := range lines {
		text.WriteString(line + "\n")
	}
	file := filepath.Join(s.dir, "sentinel.conf")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		return nil, err
	}
	return []string{file, "--sentinel"}, nil
}

// prepareTLS issues a certificate and adds the settings of a TLS port.
func (s *Server) prepareTLS(cfg Config, set func(words ...string)) error {
	hosts := cfg.TLSHosts
	if hosts == nil {
		hosts = []string{"localhost", cfg.Host}
	}
	authority := cfg.Authority
	if authority == nil {
		var err error
		if authority, err = NewAuthority(); err != nil {
			return err
		}
	}
	certFile, keyFile, caFile, err := authority.write(s.dir, hosts...)
	if err != nil {
		return err
	}
	if s.tlsConfig, err = authority.ClientConfig(); err != nil {
		return err
	}
	port, err := freePort(cfg.Host)
	if err != nil {
		return err
	}
	s.tlsAddr = net.JoinHostPort(cfg.Host, strconv.Itoa(port))
	set("tls-port", strconv.Itoa(port))
	set("tls-cert-file", certFile)
	set("tls-key-file", keyFile)
	set("tls-ca-cert-file", caFile)
	if cfg.TLSClients {
		set("tls-auth-clients", "yes")
	} else {
		set("tls-auth-clients", "no")
	}
	return nil
}

// Addr returns the host and port of the plain port.
func (s *Server) Addr() string { return s.addr }

// TLSAddr returns the host and port of the TLS port, or "" without one.
func (s *Server) TLSAddr() string { return s.tlsAddr }

// UnixSocket returns the path of the unix socket, or "" without one.
func (s *Server) UnixSocket() string { return s.unixSocket }

// Path returns the path of the program.
func (s *Server) Path() string { return s.path }

// PID returns the process id of the server.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Log returns the last part of what the server wrote.
func (s *Server) Log() string { return s.log.String() }

// Done is closed when the server has ended, by Stop or by itself.
func (s *Server) Done() <-chan struct{} { return s.done }

// TLSConfig returns a client configuration that trusts the server's certificate
// and carries a client certificate, or nil without a TLS port. The caller owns
// it.
func (s *Server) TLSConfig() *tls.Config {
	if s.tlsConfig == nil {
		return nil
	}
	return s.tlsConfig.Clone()
}

// Stop asks the server to end, kills it if it doesn't within five seconds, and
// returns when it has ended. It may be called again.
func (s *Server) Stop() error { return s.stop() }

// Kill ends the server without giving it a chance to say goodbye, and returns
// when it has ended. Its sockets are closed by the system.
func (s *Server) Kill() error {
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return s.Stop()
}

// end is the body of Stop. A kill is always of the very process started.
func (s *Server) end() error {
	_ = s.resume() // a paused process would not hear the request
	if err := s.terminate(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		_ = s.cmd.Process.Kill()
	}
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
		if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		<-s.done
	}
	return os.RemoveAll(s.dir)
}

// ready waits until this server, and not another on the same port, answers.
func (s *Server) ready(ctx context.Context, password string) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		last := s.probe(ctx, password)
		if last == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-s.done:
			return errors.New("the server ended before it answered")
		case <-ctx.Done():
			return fmt.Errorf("no answer to PING: %w (%w)", context.Cause(ctx), last)
		}
	}
}

// probe asks the server once whether it is there.
func (s *Server) probe(ctx context.Context, password string) error {
	dialer := net.Dialer{Timeout: probeTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(probeTimeout)); err != nil {
		return err
	}
	reply := bufio.NewReader(conn)
	if password != "" {
		if _, err := ask(conn, reply, "AUTH", password); err != nil {
			return err
		}
	}
	pong, err := ask(conn, reply, "PING")
	switch {
	case err != nil:
		return err
	case strings.HasPrefix(pong, "-NOAUTH"), strings.HasPrefix(pong, "-NOPERM"):
		return nil // it is up and keeps strangers out
	case pong != "+PONG":
		return fmt.Errorf("answered %q to PING", pong)
	}
	info, err := ask(conn, reply, "INFO", "server")
	if err != nil {
		return err
	}
	if strings.HasPrefix(info, "-") {
		return nil
	}
	if !strings.Contains(info, fmt.Sprintf("\nprocess_id:%d\r\n", s.PID())) {
		return errors.New("another server answers on the port")
	}
	return nil
}

// ask sends one command and returns its reply: a line with its type, or the
// contents of a bulk string.
func ask(w io.Writer, r *bufio.Reader, words ...string) (string, error) {
	if err := writeCommand(w, words); err != nil {
		return "", err
	}
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	size, isBulk := strings.CutPrefix(line, "$")
	if !isBulk {
		return line, nil
	}
	n, err := strconv.Atoi(size)
	if err != nil || n < 0 {
		return line, err
	}
	bulk := make([]byte, n+2)
	if _, err := io.ReadFull(r, bulk); err != nil {
		return "", err
	}
	return string(bulk[:n]), nil
}

// freePort returns a port on which nobody listens on host. Somebody may before
// the server does; then the start is tried again with another.
func freePort(host string) (int, error) {
	var last error
	for range 50 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			last = err
			continue
		}
		return port, listener.Close()
	}
	return 0, fmt.Errorf("no free port: %w", last)
}

// A tail keeps the last logLimit bytes written to it.
type tail struct {
	mu  sync.Mutex // guards buf
	buf []byte
}

// Write keeps p and forgets the oldest bytes.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if extra := len(t.buf) - logLimit; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
