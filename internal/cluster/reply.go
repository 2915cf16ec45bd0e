package cluster

import (
	"errors"
	"fmt"
	"math"

	"github.com/baton-go/redis/internal/resp"
)

// text reads a string. A null is an empty one.
func text(r *resp.Reader) (string, error) {
	s, err := r.String()
	if errors.Is(err, resp.Nil) {
		return "", nil
	}
	return s, err
}

// port reads a port. 0 and null are none.
func port(r *resp.Reader) (uint16, error) {
	n, err := r.Int()
	switch {
	case errors.Is(err, resp.Nil):
		return 0, nil
	case err != nil:
		return 0, err
	case n < 0 || n > math.MaxUint16:
		return 0, fmt.Errorf("port %d is not within 0 to %d", n, math.MaxUint16)
	}
	return uint16(n), nil
}

// slotRange reads the two ends of a range.
func slotRange(r *resp.Reader) (Range, error) {
	first, err := r.Int()
	if err != nil {
		return Range{}, err
	}
	last, err := r.Int()
	if err != nil {
		return Range{}, err
	}
	return newRange(first, last)
}

// An announcement is what a reply says about one node.
type announcement struct {
	Node
	endpoint string
	viaIP    bool // the endpoint says nothing; the IP is dialled, if it is told
}

// node turns an announcement into a node. ok is false if the servers don't know the
// address of it themselves ("noaddr" in CLUSTER NODES): neither host nor port is
// told. Asking the origin in its place would be asking somebody else.
func (a announcement) node(from Origin) (n Node, ok bool, err error) {
	n = a.Node
	p := n.Port
	if from.TLS && n.TLSPort != 0 {
		p = n.TLSPort
	}
	host := a.endpoint
	if a.viaIP && n.IP != "" {
		host = n.IP
	}
	if isNoHost(host) && n.Port == 0 && n.TLSPort == 0 {
		return Node{}, false, nil
	}
	n.Addr, err = from.resolve(host, p)
	return n, err == nil, err
}

// setName keeps an announced name or address if it is a sound one; it serves to
// recognize the node only.
func setName(dst *string, s string) {
	if host, err := canonicalHost(s); err == nil && !isNoHost(s) {
		*dst = host
	}
}
