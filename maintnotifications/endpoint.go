package maintnotifications

import (
	"context"
	"net"
	"net/netip"
	"strings"
)

// EndpointType says in which form the server names the endpoint of a MOVING
// notice.
type EndpointType string

// The endpoint types. "" stands for the default, EndpointTypeAuto.
const (
	// EndpointTypeAuto is decided for each connection from the address of its
	// peer; see [EndpointTypeForPeer].
	EndpointTypeAuto EndpointType = "auto"
	// EndpointTypeInternalIP is an IP address of the private network.
	EndpointTypeInternalIP EndpointType = "internal-ip"
	// EndpointTypeInternalFQDN is a host name of the private network.
	EndpointTypeInternalFQDN EndpointType = "internal-fqdn"
	// EndpointTypeExternalIP is a public IP address.
	EndpointTypeExternalIP EndpointType = "external-ip"
	// EndpointTypeExternalFQDN is a public host name.
	EndpointTypeExternalFQDN EndpointType = "external-fqdn"
	// EndpointTypeNone asks for notices without an endpoint: the client connects
	// to the configured address again.
	EndpointTypeNone EndpointType = "none"
)

// IsValid says whether t is one of the six types.
func (t EndpointType) IsValid() bool {
	switch t {
	case EndpointTypeAuto, EndpointTypeInternalIP, EndpointTypeInternalFQDN,
		EndpointTypeExternalIP, EndpointTypeExternalFQDN, EndpointTypeNone:
		return true
	}
	return false
}

// String returns the type as the command of the opt-in has it.
func (t EndpointType) String() string { return string(t) }

// sharedSpace is RFC 6598, which providers use behind carrier-grade NAT.
var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")

// isPrivate says whether ip is private in the sense of section 3 of the
// maintenance specification: RFC 1918, RFC 4193, loopback, link-local, RFC 6598.
func isPrivate(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	return ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || sharedSpace.Contains(ip)
}

func endpointTypeOf(internal, tlsEnabled bool) EndpointType {
	switch {
	case internal && tlsEnabled:
		return EndpointTypeInternalFQDN
	case internal:
		return EndpointTypeInternalIP
	case tlsEnabled:
		return EndpointTypeExternalFQDN
	}
	return EndpointTypeExternalIP
}

// EndpointTypeForPeer decides EndpointTypeAuto for a live connection whose
// remote address is peer. With TLS it is a host name type, so that a
// certificate can be checked, else an IP type; internal if the address is
// private. Anything but an IP address (nil, a Unix socket, the address of a
// custom dialer) gives EndpointTypeNone.
func EndpointTypeForPeer(peer net.Addr, tlsEnabled bool) EndpointType {
	var ip netip.Addr
	switch a := peer.(type) {
	case nil:
		return EndpointTypeNone
	case *net.TCPAddr:
		if a == nil {
			return EndpointTypeNone
		}
		ip = a.AddrPort().Addr()
	case *net.UnixAddr:
		return EndpointTypeNone
	default:
		ap, err := netip.ParseAddrPort(peer.String())
		if err != nil {
			return EndpointTypeNone
		}
		ip = ap.Addr()
	}
	if !ip.IsValid() {
		return EndpointTypeNone
	}
	return endpointTypeOf(isPrivate(ip), tlsEnabled)
}

// DetectEndpointType decides from a configured address "host:port" or "host".
// A host name is looked up, for 2 s at most: internal if every address is
// private, external if the look-up fails. An empty host is internal. The client
// itself never calls it, because it may wait for DNS; see [EndpointTypeForPeer].
func DetectEndpointType(addr string, tlsEnabled bool) EndpointType {
	ctx, cancel := context.WithTimeout(context.Background(), endpointResolutionTimeout)
	defer cancel()
	return detectEndpointType(ctx, addr, tlsEnabled, func(ctx context.Context, host string) ([]netip.Addr, error) {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	})
}

func detectEndpointType(ctx context.Context, addr string, tlsEnabled bool,
	lookup func(ctx context.Context, host string) ([]netip.Addr, error),
) EndpointType {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(addr, "["), "]") // no port
	}
	if host == "" {
		return endpointTypeOf(true, tlsEnabled)
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return endpointTypeOf(isPrivate(ip), tlsEnabled)
	}
	ips, err := lookup(ctx, host)
	if err != nil || len(ips) == 0 {
		return endpointTypeOf(false, tlsEnabled)
	}
	for _, ip := range ips {
		if !isPrivate(ip) {
			return endpointTypeOf(false, tlsEnabled)
		}
	}
	return endpointTypeOf(true, tlsEnabled)
}
