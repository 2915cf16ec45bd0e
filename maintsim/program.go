package maintsim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// Ports are taken from below the range that systems give to outgoing
// connections, so that one can be released and taken again during an outage.
const (
	firstPort = 10_000
	lastPort  = 32_000
)

// randomPort proposes a port to listen on.
func randomPort() int { return firstPort + rand.IntN(lastPort-firstPort) }

// program is a server process the simulator started.
type program struct {
	addr string
	cmd  *exec.Cmd
	dir  string
	gone chan struct{} // closed when the process has ended and was waited for
	log  *tail
}

const (
	startTimeout = 10 * time.Second
	startTries   = 5
	stopTimeout  = 5 * time.Second
)

// startProgram starts a server on a free port and waits until it answers.
func startProgram(ctx context.Context, argv []string, password string) (*program, error) {
	if len(argv) == 0 {
		return nil, errors.New("maintsim: empty program")
	}
	var err error
	for range startTries {
		var p *program
		if p, err = launch(argv, randomPort(), password); err == nil {
			if err = p.ready(ctx, password); err == nil {
				return p, nil
			}
			_ = p.close()
		}
		if ctx.Err() != nil || errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	return nil, err
}

func launch(argv []string, port int, password string) (*program, error) {
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	// Make sure that nobody else would answer for the server.
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("maintsim: %w", err)
	}
	_ = ln.Close()
	dir, err := os.MkdirTemp("", "maintsim-")
	if err != nil {
		return nil, fmt.Errorf("maintsim: %w", err)
	}
	args := append([]string(nil), argv[1:]...)
	args = append(args, "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", dir,
		"--save", "", "--appendonly", "no", "--daemonize", "no")
	if password != "" {
		args = append(args, "--requirepass", password)
	}
	p := &program{
		addr: addr,
		cmd:  exec.Command(argv[0], args...),
		dir:  dir,
		gone: make(chan struct{}),
		log:  &tail{},
	}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, p.log, p.log
	if err := p.cmd.Start(); err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("maintsim: %w", err)
	}
	go func() {
		defer close(p.gone)
		_ = p.cmd.Wait() // ended by close, or too early, which ready reports
	}()
	return p, nil
}

// ready waits until the server answers PING.
func (p *program) ready(ctx context.Context, password string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := p.ping(ctx, password)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-p.gone:
			return fmt.Errorf("maintsim: %s ended at once: %s", p.cmd.Path, p.log)
		case <-ctx.Done():
			return fmt.Errorf("maintsim: %s does not answer: %w", p.cmd.Path, err)
		}
	}
}

func (p *program) ping(ctx context.Context, password string) error {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", p.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	data := newDataConn(c.(*net.TCPConn))
	if err := data.auth("", password); err != nil {
		return err
	}
	_, err = data.do("PING")
	return err
}

// close ends the process, politely first, and removes its folder.
func (p *program) close() error {
	_ = p.cmd.Process.Signal(os.Interrupt) // fails if it is gone
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-p.gone:
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		<-p.gone
	}
	return os.RemoveAll(p.dir)
}

// tail keeps the last bytes written to it, for messages.
type tail struct {
	mu  sync.Mutex // guards the field below
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if n := len(t.buf) - 2048; n > 0 {
		t.buf = t.buf[n:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.buf))
}
