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
