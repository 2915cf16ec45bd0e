// Package server starts the server that the clients are measured against.
package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/baton-go/redis/bench/compare/internal/load"
	"github.com/baton-go/redis/bench/compare/internal/subject"
	"github.com/baton-go/redis/internal/realserver"
)

// A Transport is how clients reach the server.
type Transport string

// The transports.
const (
	TCP     Transport = "tcp"
	TLS     Transport = "tls"
	Unix    Transport = "unix"
	Cluster Transport = "cluster" // three nodes of the same program, over TCP
)

// Transports returns all of them.
func Transports() []Transport { return []Transport{TCP, TLS, Unix, Cluster} }

// A Server is a running server, filled with what the workloads read, and a cluster of
// the same program once somebody has asked how to reach it.
type Server struct {
	path      string
	srv       *realserver.Server
	noTLS     error // why there is no TLS port
	control   redis.Conn
	cluster   *cluster // nil: not started
	noCluster error    // why it did not start
}

// Locate returns the program to start: path, or else the default server that
// "make servers" fetches.
func Locate(path string) (string, error) {
	if path != "" {
		return path, nil
	}
	path, ok := realserver.Find(realserver.Redis7)
	if !ok {
		return "", fmt.Errorf("no %s: run 'make servers' in the root of the project to get it, or name a server with -server", realserver.Redis7)
	}
	return path, nil
}

// Start starts the program at path with all transports that it has.
func Start(ctx context.Context, path string) (*Server, error) {
	srv, noTLS := realserver.Launch(ctx, path, realserver.Config{Unix: true, TLS: true})
	if noTLS != nil {
		var err error
		if srv, err = realserver.Launch(ctx, path, realserver.Config{Unix: true}); err != nil {
			return nil, fmt.Errorf("start of %s: %w", path, errors.Join(noTLS, err))
		}
	}
	s := &Server{path: path, srv: srv, noTLS: noTLS}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, srv.Stop())
	}
	return s, nil
}

// prepare connects and writes what the workloads read.
func (s *Server) prepare(ctx context.Context) error {
	var err error
	if s.control, err = redis.DialContext(ctx, "tcp", s.srv.Addr()); err != nil {
		return err
	}
	return fill(func(p load.Pair) error {
		_, err := s.control.Do("SET", p.Key, p.Value)
		return err
	})
}

// fill sets all that the workloads read.
func fill(set func(load.Pair) error) error {
	for _, size := range load.Sizes() {
		for _, p := range load.Pairs(size) {
			if err := set(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// Reach tells how to reach the server. An error says why it can't be reached so. The
// cluster starts when it is asked for first, which ctx bounds, so that it disturbs
// nothing that is measured without it.
func (s *Server) Reach(ctx context.Context, t Transport) (subject.Server, error) {
	switch t {
	case Cluster:
		if s.cluster == nil && s.noCluster == nil {
			s.cluster, s.noCluster = startCluster(ctx, s.path)
		}
		if s.noCluster != nil {
			return subject.Server{}, fmt.Errorf("the cluster does not start: %w", s.noCluster)
		}
		return subject.Server{Network: "tcp", Addr: s.cluster.addrs[0], Nodes: s.cluster.addrs}, nil
	case TLS:
		if s.noTLS != nil {
			return subject.Server{}, fmt.Errorf("the server does not start with TLS: %w", s.noTLS)
		}
		config := s.srv.TLSConfig()
		// Not every client takes the name to verify from the address.
		config.ServerName, _, _ = net.SplitHostPort(s.srv.TLSAddr())
		return subject.Server{Network: "tcp", Addr: s.srv.TLSAddr(), TLS: config}, nil
	case Unix:
		return subject.Server{Network: "unix", Addr: s.srv.UnixSocket()}, nil
	case TCP:
	}
	return subject.Server{Network: "tcp", Addr: s.srv.Addr()}, nil
}

// CPU is the CPU time used so far by what t leads to: the server, or all nodes of the
// cluster together.
func (s *Server) CPU(t Transport) (time.Duration, error) {
	if t == Cluster {
		return s.cluster.cpu()
	}
	return cpuOf(s.control)
}

// cpuOf is the CPU time that the server of conn has used so far.
func cpuOf(conn redis.Conn) (time.Duration, error) {
	info, err := redis.String(conn.Do("INFO", "cpu"))
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, field := range []string{"used_cpu_sys", "used_cpu_user"} {
		seconds, err := strconv.ParseFloat(infoField(info, field), 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", field, err)
		}
		sum += time.Duration(seconds * float64(time.Second))
	}
	return sum, nil
}

// Version is the name and version of the server.
func (s *Server) Version() (string, error) {
	info, err := redis.String(s.control.Do("INFO", "server"))
	if err != nil {
		return "", err
	}
	if v := infoField(info, "valkey_version"); v != "" {
		return "valkey " + v, nil
	}
	return "redis " + infoField(info, "redis_version"), nil
}

// infoField is the value of a field in a reply of INFO, or "".
func infoField(info, name string) string {
	lines := bufio.NewScanner(strings.NewReader(info))
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Stop ends the server, and the cluster if there is one.
func (s *Server) Stop() error {
	return errors.Join(s.cluster.stop(), s.control.Close(), s.srv.Stop())
}
