package simnet

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// Hosts maps names to IPs and can change at any time. The zero value is empty.
// It is safe for concurrent use.
type Hosts struct {
	mu  sync.Mutex // guards ips
	ips map[string][]string
}

// Set makes name resolve to ips, in this order. Without ips the name is unknown
// from then on.
func (h *Hosts) Set(name string, ips ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(ips) == 0 {
		delete(h.ips, name)
		return
	}
	if h.ips == nil {
		h.ips = make(map[string][]string)
	}
	h.ips[name] = slices.Clone(ips)
}

// LookupHost returns the IPs of host, which may also be an IP itself. It has
// the signature of net.Resolver.LookupHost; an unknown name is a *net.DNSError
// with IsNotFound.
func (h *Hosts) LookupHost(ctx context.Context, host string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, &net.DNSError{
			UnwrapErr: err, Err: err.Error(), Name: host,
			IsTimeout: errors.Is(err, context.DeadlineExceeded),
		}
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return []string{host}, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	ips, ok := h.ips[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return slices.Clone(ips), nil
}
