package cluster

import (
	"cmp"
	"iter"
	"slices"
)

// A Health is what a cluster says about the state of a node.
type Health uint8

// The states of a node.
const (
	// HealthUnknown: not told. CLUSTER SLOTS tells no health; it leaves out
	// replicas that failed or load, but not primaries that failed.
	HealthUnknown Health = iota
	// HealthOnline: the node serves.
	HealthOnline
	// HealthLoading: a replica that has not finished its first synchronization.
	HealthLoading
	// HealthHandshake: the node is about to join. Redis and Valkey leave such nodes out
	// of both replies.
	HealthHandshake
	// HealthFailed: the cluster has agreed that the node is down.
	HealthFailed
)

// String returns the server's word for it.
func (h Health) String() string {
	switch h {
	case HealthUnknown:
		return "unknown"
	case HealthOnline:
		return "online"
	case HealthLoading:
		return "loading"
	case HealthHandshake:
		return "handshake"
	case HealthFailed:
		return "failed"
	}
	return "no health"
}

// IsUsable tells whether commands should be sent to the node: it serves, as far as
// is known.
func (h Health) IsUsable() bool { return h == HealthOnline || h == HealthUnknown }

// A Node is one server of a cluster. All but Addr is empty or zero if not told.
type Node struct {
	// Addr is the address to dial, "host:port" with a bracketed IPv6 address. It
	// is what a node is known by.
	Addr string

	ID       string // 40 hexadecimal digits
	Hostname string // announced name
	IP       string // address that the nodes use among each other
	Port     uint16 // for plain connections
	TLSPort  uint16 // for encrypted ones
	Health   Health
	Replica  bool
}

// A Shard is a primary and its replicas.
type Shard struct {
	// Primary has no Addr if the address of the primary isn't known. Then
	// nobody can be asked about the shard's slots, but for what replicas know.
	Primary Node

	// Replicas are sorted by address. Among them are also, as failed, former
	// primaries that have not come back yet.
	Replicas []Node

	// Unready are the addresses of replicas that CLUSTER SLOTS or Serving has left out. They
	// are told what is published in the shard, and one may be the next primary.
	Unready []string
}

// Nodes are the addresses of all nodes that are known to be of the shard.
func (s Shard) Nodes() (addrs []string) {
	if s.Primary.Addr != "" {
		addrs = append(addrs, s.Primary.Addr)
	}
	for _, r := range s.Replicas {
		addrs = append(addrs, r.Addr)
	}
	return append(addrs, s.Unready...)
}

// A Topology says which nodes a cluster has and who owns which slot. It never
// changes, nor may what its methods return be changed; any number of goroutines
// may use it. The zero value is a cluster without nodes.
//
// Every address occurs once. A slot has one owner, or none.
type Topology struct {
	shards []Shard
	places map[string]place // by address, and by other names of the same nodes
	owner  [Slots]uint16    // index of the shard plus 1; 0 is nobody
}

// maxShards is what owner can tell apart.
const maxShards = 1<<16 - 1

// A place is where a node stands.
type place struct {
	shard   int  // -1 for a name that several nodes have
	replica int  // -1 for the primary
	isAlias bool // the name isn't the address that is dialled
}

// Shards returns all shards, those without slots too. What is made from a reply is
// sorted by first slot; [Topology.Move] adds at the end.
func (t *Topology) Shards() []Shard { return t.shards }

// Owner returns the index of the shard in [Topology.Shards] that owns slot, or -1
// if nobody does. Of a number beyond the last slot only the lower 14 bits count.
func (t *Topology) Owner(slot uint16) int { return int(t.owner[slot%Slots]) - 1 }

// Primary returns the address of the primary that owns slot, or "" if nobody does
// or it isn't known.
func (t *Topology) Primary(slot uint16) string {
	return t.primaryOf(t.Owner(slot))
}

// primaryOf returns the address of the primary of a shard, "" for shard -1.
func (t *Topology) primaryOf(shard int) string {
	if shard < 0 {
		return ""
	}
	return t.shards[shard].Primary.Addr
}

// SlotsOf returns the slots of the shard with the given index.
func (t *Topology) SlotsOf(shard int) Ranges { return t.ownedBy(shard) }

// Missing returns the slots that nobody owns.
func (t *Topology) Missing() Ranges { return t.ownedBy(-1) }

func (t *Topology) ownedBy(shard int) Ranges {
	var rs Ranges
	for slot, owner := range t.owner {
		if int(owner)-1 == shard {
			rs = rs.add(uint16(slot))
		}
	}
	return rs
}

// Find returns the node with an address and the index of its shard. If no node is
// dialled at addr, it is looked for among the announced addresses: host name or IP
// with one of the ports. A name that several nodes have finds none of them.
func (t *Topology) Find(addr string) (n Node, shard int, ok bool) {
	p, ok := t.find(addr)
	if !ok {
		return Node{}, -1, false
	}
	return *t.at(p), p.shard, true
}

func (t *Topology) find(addr string) (place, bool) {
	p, ok := t.places[addr]
	if !ok {
		if addr, err := canonicalAddr(addr); err == nil {
			p, ok = t.places[addr]
		}
	}
	return p, ok && p.shard >= 0
}

// exact is find without aliases.
func (t *Topology) exact(addr string) (place, bool) {
	p, ok := t.places[addr]
	return p, ok && !p.isAlias
}

func (t *Topology) at(p place) *Node {
	if p.replica < 0 {
		return &t.shards[p.shard].Primary
	}
	return &t.shards[p.shard].Replicas[p.replica]
}

// Nodes returns all nodes whose address is known, shard by shard, the primary
// first.
func (t *Topology) Nodes() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for p := range t.all() {
			if !yield(*t.at(p)) {
				return
			}
		}
	}
}

func (t *Topology) all() iter.Seq[place] {
	return func(yield func(place) bool) {
		for i, shard := range t.shards {
			if shard.Primary.Addr != "" && !yield(place{shard: i, replica: -1}) {
				return
			}
			for j := range shard.Replicas {
				if !yield(place{shard: i, replica: j}) {
					return
				}
			}
		}
	}
}

// index makes places from shards.
func (t *Topology) index() {
	t.places = make(map[string]place)
	for p := range t.all() {
		t.places[t.at(p).Addr] = p
	}
	for p := range t.all() {
		p.isAlias = true
		for alias := range t.at(p).aliases() {
			other, taken := t.places[alias]
			switch {
			case !taken:
				t.places[alias] = p
			case other.isAlias && other != p:
				t.places[alias] = place{shard: -1, replica: -1, isAlias: true}
			}
		}
	}
}

// aliases returns the announced addresses of a node.
func (n *Node) aliases() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, host := range []string{n.IP, n.Hostname} {
			for _, port := range []uint16{n.Port, n.TLSPort} {
				if host != "" && port != 0 && !yield(join(host, port)) {
					return
				}
			}
		}
	}
}

// With returns t with what another topology of the same cluster, which may be nil, tells
// of the nodes that t has and t does not: health and names, and replicas that are not ready.
// Who owns what and who follows whom is t's.
func (t *Topology) With(other *Topology) *Topology {
	if other == nil {
		return t
	}
	byID := make(map[string]Node)
	for n := range other.Nodes() {
		if n.ID != "" {
			byID[n.ID] = n
		}
	}
	told := func(n Node) Node {
		more, ok := byID[n.ID]
		if p, isThere := other.exact(n.Addr); !ok && isThere {
			more, ok = *other.at(p), true
		}
		if !ok {
			return n
		}
		if n.Health == HealthUnknown {
			n.Health = more.Health
		}
		n.ID, n.Hostname, n.IP = cmp.Or(n.ID, more.ID), cmp.Or(n.Hostname, more.Hostname), cmp.Or(n.IP, more.IP)
		n.Port, n.TLSPort = cmp.Or(n.Port, more.Port), cmp.Or(n.TLSPort, more.TLSPort)
		return n
	}
	next := *t
	next.shards = slices.Clone(t.shards)
	for i := range next.shards {
		s := &next.shards[i]
		s.Primary = told(s.Primary)
		s.Replicas = slices.Clone(s.Replicas)
		for j := range s.Replicas {
			s.Replicas[j] = told(s.Replicas[j])
		}
		s.Unready = other.unready(*s)
	}
	next.index()
	return &next
}

// unready gives the replicas that t has of a shard and the shard has not, and those that
// were unready before.
func (t *Topology) unready(s Shard) []string {
	all := slices.Clone(s.Unready)
	p, isThere := t.exact(s.Primary.Addr)
	if !isThere {
		return all
	}
	for _, r := range t.shards[p.shard].Replicas {
		if !slices.Contains(s.Nodes(), r.Addr) {
			all = append(all, r.Addr)
		}
	}
	return all
}

// Serving returns the topology without what serves nothing: shards without slots, which
// CLUSTER SHARDS tells of, and replicas that have failed or are not in sync yet.
func (t *Topology) Serving() *Topology {
	var next Topology
	index := make([]uint16, len(t.shards)+1) // by value of owner
	for slot, owner := range t.owner {
		if owner != 0 && index[owner] == 0 {
			s := t.shards[owner-1]
			s.Replicas = nil
			for _, r := range t.shards[owner-1].Replicas {
				if r.Health.IsUsable() {
					s.Replicas = append(s.Replicas, r)
				} else {
					s.Unready = append(slices.Clone(s.Unready), r.Addr)
				}
			}
			next.shards = append(next.shards, s)
			index[owner] = uint16(len(next.shards))
		}
		next.owner[slot] = index[owner]
	}
	next.index()
	return &next
}

// Equal tells whether both say the same: the same shards with the same nodes in all
// details, and the same slots. The order of shards doesn't matter.
func (t *Topology) Equal(other *Topology) bool {
	if t == other {
		return true
	}
	if len(t.shards) != len(other.shards) {
		return false
	}
	theirs := make([]uint16, len(t.shards)+1) // by value of owner
	for i, shard := range t.shards {
		p, ok := other.exact(shard.anyAddr())
		if !ok || !shard.equal(other.shards[p.shard]) {
			return false
		}
		theirs[i+1] = uint16(p.shard + 1)
	}
	for slot, owner := range t.owner {
		if theirs[owner] != other.owner[slot] {
			return false
		}
	}
	return true
}

// anyAddr returns the address of a node of the shard, of the primary if it is
// known. There always is one.
func (s Shard) anyAddr() string {
	if s.Primary.Addr != "" {
		return s.Primary.Addr
	}
	return s.Replicas[0].Addr
}

func (s Shard) equal(other Shard) bool {
	return s.Primary == other.Primary && slices.Equal(s.Replicas, other.Replicas)
}

func compareAddr(a, b Node) int { return cmp.Compare(a.Addr, b.Addr) }
