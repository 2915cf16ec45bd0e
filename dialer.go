package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/baton-go/redis/internal/link"
)

// NewDialer makes the dialer that a client uses where Options.Dialer is nil: TCP
// with keep-alive, or a unix socket, looked up by Options.Resolver, with TLS where
// Options.TLSConfig is set.
func NewDialer(opt *Options) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return newDialer(opt.withDefaults())
}

// NewDialer is the function NewDialer.
func (opt *Options) NewDialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	return NewDialer(opt)
}

// Commands that block for ever have no timeout of their own. What they wait for can't come
// any more where the peer has forgotten the connection (its host was restarted, the way
// there has lost it), and nobody says so: the system has to ask. So often it does, and so
// long it takes to see that there is no answer.
const (
	keepAliveIdle  = 15 * time.Second // since the last byte came in
	keepAliveEvery = 5 * time.Second
	keepAliveMost  = 3 // questions without an answer
	keepAliveBound = keepAliveIdle + keepAliveMost*keepAliveEvery
)

// holeBound is how long a peer may acknowledge nothing of what was sent to it: as long as
// keep-alive takes, or as any timeout allows. 0: it may for ever.
func (opt *Options) holeBound() time.Duration {
	if opt.WriteTimeout <= 0 {
		return 0
	}
	return max(keepAliveBound, opt.WriteTimeout, opt.MaintNotificationsConfig.RelaxedTimeout)
}

func newDialer(opt *Options) func(ctx context.Context, network, addr string) (net.Conn, error) {
	d := &net.Dialer{Timeout: max(opt.DialTimeout, 0), KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: keepAliveIdle, Interval: keepAliveEvery, Count: keepAliveMost,
	}}
	hole := opt.holeBound()
	resolver := opt.Resolver
	var config *tls.Config
	if opt.TLSConfig != nil {
		config = opt.TLSConfig.Clone()
		if config.ServerName == "" {
			// The name of the configured host, wherever a handoff leads to. It is told to
			// the server even where nothing is verified.
			if host, _, err := net.SplitHostPort(opt.Addr); err == nil {
				config.ServerName = host
			}
		}
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := dialAny(ctx, d, resolver, network, addr)
		if err == nil && hole > 0 {
			link.LimitHole(nc, hole)
		}
		if err != nil || config == nil {
			return nc, err
		}
		config := config
		if config.ServerName == "" { // no host is configured: sentinels have told this one
			config = config.Clone()
			config.ServerName, _, _ = net.SplitHostPort(addr)
		}
		t := tls.Client(link.Gate(nc), config)
		if err := t.HandshakeContext(ctx); err != nil {
			_ = nc.Close()
			return nil, fmt.Errorf("TLS: %w", err)
		}
		return t, nil
	}
}

// dialAny dials the addresses of a host one after the other until one answers. A
// resolver of the user's is asked; the system's is left to the dialer, which then
// races the address families.
func dialAny(ctx context.Context, d *net.Dialer, r Resolver, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if network == "unix" || err != nil || host == "" || r == nil || r == Resolver(net.DefaultResolver) || net.ParseIP(host) != nil {
		return d.DialContext(ctx, network, addr)
	}
	ips, err := r.LookupHost(ctx, host)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, ip := range ips {
		nc, err := d.DialContext(ctx, network, net.JoinHostPort(ip, port))
		if err == nil {
			return nc, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return nil, &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	}
	return nil, errors.Join(errs...)
}
