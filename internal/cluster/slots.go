package cluster

import (
	"fmt"

	"github.com/baton-go/redis/internal/resp"
)

// ParseSlots reads the reply to CLUSTER SLOTS, in any of its forms:
//
//   - each entry is first slot, last slot, primary, replicas...
//   - a node is [endpoint, port] (Redis 3), with the node id (since 4), with
//     metadata, a map of "ip" and "hostname" (since 7); more is skipped
//   - an endpoint of NULL or "" means the host that was asked, from; so does "?",
//     if the metadata has no IP address
//
// The port is the one for the kind of connection that asked, or 0 if there is none;
// then it is the port that was asked.
//
// Shards without slots, and replicas that don't serve, are not in the reply. An
// error reply is returned as [resp.Error]; every other reply that isn't of that form
// is an error too, and nothing of it is used.
func ParseSlots(r *resp.Reader, from Origin) (*Topology, error) {
	t, err := parseSlots(r, from)
	if err != nil {
		return nil, fmt.Errorf("CLUSTER SLOTS: %w", err)
	}
	return t, nil
}

func parseSlots(r *resp.Reader, from Origin) (*Topology, error) {
	entries, err := r.ArrayLen()
	if err != nil {
		return nil, err
	}
	var b builder
	for i := range entries {
		if err := slotsEntry(r, from, &b); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
	}
	return b.topology()
}

func slotsEntry(r *resp.Reader, from Origin, b *builder) error {
	size, err := r.ArrayLen()
	if err != nil {
		return err
	}
	if size < 3 {
		return fmt.Errorf("%d elements, want at least two slots and a node", size)
	}
	slots, err := slotRange(r)
	if err != nil {
		return err
	}
	var nodes []Node
	for i := range size - 2 {
		n, ok, err := slotsNode(r, from)
		if err != nil {
			return fmt.Errorf("node %d: %w", i+1, err)
		}
		n.Replica = i > 0
		if ok {
			nodes = append(nodes, n)
		}
	}
	b.add(nodes, Ranges{slots})
	return nil
}

// slotsNode reads one node. ok is false if its address isn't known.
func slotsNode(r *resp.Reader, from Origin) (n Node, ok bool, err error) {
	size, err := r.ArrayLen()
	if err != nil {
		return n, false, err
	}
	if size < 2 {
		return n, false, fmt.Errorf("%d elements, want at least an endpoint and a port", size)
	}
	var a announcement
	if a.endpoint, err = text(r); err != nil {
		return n, false, fmt.Errorf("endpoint: %w", err)
	}
	a.viaIP = a.endpoint == "?"
	if from.TLS {
		a.TLSPort, err = port(r)
	} else {
		a.Port, err = port(r)
	}
	if err != nil {
		return n, false, fmt.Errorf("port: %w", err)
	}
	for i := range size - 2 {
		switch i {
		case 0:
			a.ID, err = text(r)
		case 1:
			err = a.readMetadata(r)
		default:
			err = r.Skip()
		}
		if err != nil {
			return n, false, err
		}
	}
	a.nameFromEndpoint()
	return a.node(from)
}

// readMetadata reads what a node has for addresses besides its endpoint.
func (a *announcement) readMetadata(r *resp.Reader) error {
	if r.Null() {
		return nil
	}
	pairs, err := r.MapLen()
	if err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	for range pairs {
		key, err := r.Bytes()
		if err != nil {
			return fmt.Errorf("key of metadata: %w", err)
		}
		switch string(key) {
		case "ip":
			err = a.readName(r, &a.IP)
		case "hostname":
			err = a.readName(r, &a.Hostname)
		default:
			err = r.Skip()
		}
		if err != nil {
			return fmt.Errorf("metadata: %w", err)
		}
	}
	return nil
}

func (a *announcement) readName(r *resp.Reader, dst *string) error {
	s, err := text(r)
	setName(dst, s)
	return err
}

// nameFromEndpoint fills in what the metadata leaves out because the endpoint has
// it.
func (a *announcement) nameFromEndpoint() {
	switch {
	case isNoHost(a.endpoint):
	case isIP(a.endpoint):
		if a.IP == "" {
			setName(&a.IP, a.endpoint)
		}
	case a.Hostname == "":
		setName(&a.Hostname, a.endpoint)
	}
}
