package maintsim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// lookups says what is wrong with the resolver.
type lookups struct {
	delay time.Duration
	err   error
}

// DisturbLookups makes every lookup of a name take delay in real time, and then
// fail with err, from now on; zero and nil mean that nothing is wrong. Only
// LookupHost and DialContext are concerned.
func (s *Sim) DisturbLookups(delay time.Duration, err error) {
	if delay <= 0 && err == nil {
		s.lookups.Store(nil)
		s.record(Event{Kind: EventLookups, Proxy: -1, Detail: "well"})
		return
	}
	s.lookups.Store(&lookups{delay: delay, err: err})
	s.record(Event{Kind: EventLookups, Proxy: -1, Detail: fmt.Sprintf("delay=%v err=%v", delay, err)})
}

// LookupHost resolves the simulator's names: [DBName] to the addresses of the
// present endpoint, in turn, node-<i>.sim.test to that of a node. Addresses resolve
// to themselves. Any other name is a [*net.DNSError] with IsNotFound set. What
// DBName resolves to changes during a rebind; see [WithResolverChange].
func (s *Sim) LookupHost(ctx context.Context, host string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return []string{host}, nil
	}
	n := s.lookedUp.Add(1)
	if l := s.lookups.Load(); l != nil {
		if err := s.wait(ctx, l.delay); err != nil {
			return nil, err
		}
		if l.err != nil {
			return nil, l.err
		}
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if name == DBName {
		return s.records(n - 1), nil
	}
	for _, p := range s.proxies {
		if name == p.name {
			return []string{p.host}, nil
		}
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// records are the addresses of the database's name, the first of which changes
// with turn.
func (s *Sim) records(turn uint64) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, p := range s.mu.resolved {
		if p != nil && !slices.Contains(out, p.host) {
			out = append(out, p.host)
		}
	}
	if len(out) == 0 { // the last one left before another one joined
		return []string{s.currentLocked().host}
	}
	k := int(turn % uint64(len(out)))
	return append(out[k:len(out):len(out)], out[:k]...)
}

// DialContext connects to addr, host:port, with the host resolved by
// [Sim.LookupHost]; addresses are tried in turn. It has the form of a client's
// dialer option.
func (s *Sim) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("maintsim: dial %s: %w", addr, err)
	}
	ips, err := s.LookupHost(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("maintsim: dial %s: %w", addr, err)
	}
	var d net.Dialer
	var errs []error
	for _, ip := range ips {
		c, err := d.DialContext(ctx, network, net.JoinHostPort(ip, port))
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}
