package rig

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"
)

// envRole says in the environment of a process that it is not the program but
// something beside it, so that its work is not counted as the program's.
const envRole = "BATON_BENCH_ROLE"

// A Role is what a process does that was started by Spawn: it ends when in ends.
type Role func(args []string, in io.Reader, out io.Writer) error

// PlayRole makes this process do what Spawn has started it for, and end. In a process
// that a user has started it does nothing. It comes first in main, and in TestMain.
func PlayRole(roles map[string]Role) {
	name, ok := os.LookupEnv(envRole)
	if !ok {
		return
	}
	signal.Ignore(os.Interrupt) // it is for the program, which ends this process
	role := roles[name]
	if role == nil {
		fmt.Fprintf(os.Stderr, "%s=%q: there is no such role\n", envRole, name)
		os.Exit(2)
	}
	if err := role(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A Child is a process of the same program with a role. It is used by one goroutine.
type Child struct {
	role string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

// Spawn starts this program once more, with a role. Whoever calls it must call Close.
func Spawn(ctx context.Context, role string, args ...string) (*Child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), envRole+"="+role)
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = 5 * time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", role, err)
	}
	return &Child{role: role, cmd: cmd, in: in, out: bufio.NewReader(out)}, nil
}

// Line is the next line that the child prints.
func (c *Child) Line() (string, error) {
	line, err := c.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s has ended: %w", c.role, err)
	}
	return strings.TrimSuffix(line, "\n"), nil
}

// Tell gives the child a line.
func (c *Child) Tell(line string) error {
	_, err := io.WriteString(c.in, line+"\n")
	return err
}

// Close tells the child to end and waits until it has.
func (c *Child) Close() error {
	err := c.in.Close()
	_, _ = io.Copy(io.Discard, c.out) // or it could hang in writing
	return errors.Join(err, c.cmd.Wait())
}

// SpawnRelay starts a relay in a process of its own, which plays the role "relay".
func SpawnRelay(ctx context.Context, to string, delay time.Duration) (c *Child, addr string, err error) {
	c, err = Spawn(ctx, RoleRelay, to, delay.String())
	if err != nil {
		return nil, "", err
	}
	if addr, err = c.Line(); err != nil {
		return nil, "", errors.Join(err, c.Close())
	}
	return c, addr, nil
}

// RoleRelay is the name of the role ServeRelay.
const RoleRelay = "relay"
