package cluster

import "strings"

// A Redirect is the answer of a node to a command that it isn't the one to run.
type Redirect struct {
	// Slot is the slot of the command's keys.
	Slot uint16

	// Addr is the address to dial, complete and in the form that addresses in a
	// [Topology] have.
	Addr string

	// Ask says that the slot is on its way: only this command goes to Addr, behind
	// ASKING, and the topology stays as it is. Otherwise the slot has moved for
	// good (cluster specification, "ASK redirection").
	Ask bool
}

// ParseRedirect reads the text of an error reply of the node at origin,
// "MOVED slot host:port" or "ASK slot host:port". ok is false for every other
// text, also for one that only begins like these.
//
// IPv6 addresses may stand without brackets, as servers write them. An empty host
// or "?" means the host of origin with another port (cluster specification, "MOVED
// redirection"), and port 0 the port of origin.
func ParseRedirect(text, origin string) (r Redirect, ok bool) {
	rest, isMoved := strings.CutPrefix(text, "MOVED ")
	if !isMoved {
		if rest, r.Ask = strings.CutPrefix(text, "ASK "); !r.Ask {
			return Redirect{}, false
		}
	}
	slot, addr, _ := strings.Cut(rest, " ")
	n, ok := parseSlot(slot)
	if !ok {
		return Redirect{}, false
	}
	host, port, err := splitAddr(addr)
	if err != nil {
		return Redirect{}, false
	}
	r.Slot = uint16(n)
	if r.Addr, err = (Origin{Addr: origin}).resolve(host, port); err != nil {
		return Redirect{}, false
	}
	return r, true
}

// ParseRedirect is the function ParseRedirect, with what the topology knows: a host of
// "?" is that of a server that prefers names and has none, so that nodes of several
// hosts say it. It is the node with that port at the host of origin, or else the only
// one with that port; Addr is "" where there is no such node. The nil topology knows
// nothing.
func (t *Topology) ParseRedirect(text, origin string) (r Redirect, ok bool) {
	r, ok = ParseRedirect(text, origin)
	if ok && strings.Contains(text, " ?:") {
		r.Addr = t.locate(r.Addr, origin)
	}
	return r, ok
}

// locate gives the address of a node by one whose host may be wrong; "" if it is none
// or several.
func (t *Topology) locate(addr, origin string) string {
	if t == nil {
		return ""
	}
	if p, ok := t.find(addr); ok && addr != origin {
		return t.at(p).Addr
	}
	_, port, err := splitAddr(addr)
	if err != nil {
		return ""
	}
	found := ""
	for n := range t.Nodes() {
		_, own, _ := splitAddr(n.Addr)
		switch {
		case own != port && n.Port != port && n.TLSPort != port, n.Addr == origin:
		case found != "":
			return ""
		default:
			found = n.Addr
		}
	}
	return found
}
