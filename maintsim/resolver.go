package maintsim

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// LookupHost resolves the simulator's names: [DBName] to the address of the
// present endpoint, node-<i>.sim.test to that of a node. Addresses resolve to
// themselves. Any other name is a [*net.DNSError] with IsNotFound set. What
// DBName resolves to changes during a rebind; see [WithResolverChange].
func (s *Sim) LookupHost(ctx context.Context, host string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return []string{host}, nil
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if name == DBName {
		s.mu.Lock()
		defer s.mu.Unlock()
		return []string{s.mu.resolved.host}, nil
	}
	for _, p := range s.proxies {
		if name == p.name {
			return []string{p.host}, nil
		}
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// DialContext connects to addr, host:port, with the host resolved by
// [Sim.LookupHost]. It has the form of a client's dialer option.
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
	return d.DialContext(ctx, network, net.JoinHostPort(ips[0], port))
}
