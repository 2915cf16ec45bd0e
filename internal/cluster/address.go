package cluster

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// An Origin says whom a reply came from. What a server leaves open about an
// address is taken from there.
type Origin struct {
	// Addr is the "host:port" that was dialled. Without a host, as of a unix
	// socket, nodes that tell no host can't be reached and are an error.
	Addr string

	// TLS says that the connection is encrypted, so that TLS ports count.
	TLS bool
}

const maxHostLen = 255 // of a DNS name

var errNoHost = errors.New("no host is told, and the address that was asked has none")

// split returns host and port of the origin, "" and 0 for what it doesn't have.
func (o Origin) split() (host string, port uint16) {
	host, port, err := splitAddr(o.Addr)
	if err != nil {
		return "", 0
	}
	if host, err = canonicalHost(host); err != nil {
		host = ""
	}
	return host, port
}

// resolve returns the address to dial for a host and port that a server told, in
// the one form that all addresses of this package have.
//
// No host ("", and also "?", the word of a server that prefers host names and
// knows none) means the host that was asked, as port 0 means its port. The pages of
// the commands say so of NULL and ""; a port is 0 if the server has none of the
// kind that this client needs, as behind a proxy that speaks TLS for it.
//
// A loopback address told by a server that isn't on this machine is one of its own
// and means the host that was asked, as go-redis has it: clusters in containers
// announce themselves that way.
func (o Origin) resolve(host string, port uint16) (string, error) {
	askedHost, askedPort := o.split()
	if port == 0 {
		port = askedPort
	}
	if port == 0 {
		return "", errors.New("no port is told, and the address that was asked has none")
	}
	if isNoHost(host) {
		if askedHost == "" {
			return "", errNoHost
		}
		return join(askedHost, port), nil
	}
	host, err := canonicalHost(host)
	if err != nil {
		return "", err
	}
	if isLoopback(host) && isElsewhere(askedHost) {
		host = askedHost
	}
	return join(host, port), nil
}

func isNoHost(host string) bool { return host == "" || host == "?" }

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// isElsewhere tells of an address that it is not of this machine. A name may be
// anything.
func isElsewhere(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && !ip.IsLoopback()
}

func join(host string, port uint16) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// canonicalHost returns the one form of an IP address ("1.2.3.4" for
// "::ffff:1.2.3.4") and checks that anything else could be the name of a host.
func canonicalHost(host string) (string, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		if strings.ContainsFunc(ip.Zone(), isNotInName) {
			return "", fmt.Errorf("host %s has an odd zone", clip(host))
		}
		return ip.Unmap().String(), nil
	}
	if host == "" || len(host) > maxHostLen || strings.ContainsFunc(host, isNotInName) {
		return "", fmt.Errorf("%s is no host", clip(host))
	}
	return host, nil
}

// isNotInName tells whether r can't be in the name of a host or an interface. The
// underscore is in names of containers.
func isNotInName(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '.' && r != '-' && r != '_'
}

// splitAddr takes "host:port" apart. Servers write IPv6 addresses without
// brackets, so the port is behind the last colon. The host may be empty and the
// port 0; what the host is must be looked at.
func splitAddr(addr string) (host string, port uint16, err error) {
	colon := strings.LastIndexByte(addr, ':')
	if colon < 0 {
		return "", 0, fmt.Errorf("address %s has no port", clip(addr))
	}
	n, ok := parseDigits(addr[colon+1:])
	if !ok || n > 65535 {
		return "", 0, fmt.Errorf("address %s has no sound port", clip(addr))
	}
	host = addr[:colon]
	if inner, ok := strings.CutPrefix(host, "["); ok {
		if host, ok = strings.CutSuffix(inner, "]"); !ok || !strings.Contains(host, ":") {
			return "", 0, fmt.Errorf("address %s has odd brackets", clip(addr))
		}
	}
	return host, uint16(n), nil
}

// canonicalAddr returns the one form of a complete address.
func canonicalAddr(addr string) (string, error) {
	host, port, err := splitAddr(addr)
	if err != nil {
		return "", err
	}
	if isNoHost(host) || port == 0 {
		return "", fmt.Errorf("address %s is not complete", clip(addr))
	}
	return Origin{}.resolve(host, port)
}
