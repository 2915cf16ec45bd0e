package cluster

import (
	"errors"
	"fmt"

	"github.com/baton-go/redis/internal/resp"
)

// ParseShards reads the reply to CLUSTER SHARDS (Redis since 7.0, Valkey): an array
// of maps with "slots", first and last of each range, and "nodes", maps again; what
// else there is, is skipped. In RESP2 maps are arrays of keys and values.
//
// The address to dial is the endpoint, with the meaning that it has for
// [ParseSlots], and the "port", or for a connection with TLS the "tls-port", if
// there is one. A node without an endpoint is dialled by its IP address.
//
// An error reply is returned as [resp.Error]; every other reply that isn't of that
// form is an error too, and nothing of it is used.
func ParseShards(r *resp.Reader, from Origin) (*Topology, error) {
	t, err := parseShards(r, from)
	if err != nil {
		return nil, fmt.Errorf("CLUSTER SHARDS: %w", err)
	}
	return t, nil
}

func parseShards(r *resp.Reader, from Origin) (*Topology, error) {
	shards, err := r.ArrayLen()
	if err != nil {
		return nil, err
	}
	var b builder
	for i := range shards {
		if err := shardsEntry(r, from, &b); err != nil {
			return nil, fmt.Errorf("shard %d: %w", i+1, err)
		}
	}
	return b.topology()
}

func shardsEntry(r *resp.Reader, from Origin, b *builder) error {
	var slots Ranges
	var nodes []Node
	err := eachPair(r, func(key string) (err error) {
		switch key {
		case "slots":
			slots, err = shardsSlots(r)
		case "nodes":
			nodes, err = shardsNodes(r, from)
		default:
			err = r.Skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	b.add(nodes, slots)
	return nil
}

// eachPair calls f for each key of a map; f reads the value.
func eachPair(r *resp.Reader, f func(key string) error) error {
	pairs, err := r.MapLen()
	if err != nil {
		return err
	}
	for range pairs {
		key, err := r.String()
		if err != nil {
			return fmt.Errorf("key: %w", err)
		}
		if err := f(key); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

func shardsSlots(r *resp.Reader) (Ranges, error) {
	size, err := r.ArrayLen()
	if err != nil {
		return nil, err
	}
	if size%2 != 0 {
		return nil, fmt.Errorf("%d ends of ranges", size)
	}
	var rs Ranges
	for range size / 2 {
		slots, err := slotRange(r)
		if err != nil {
			return nil, err
		}
		rs = append(rs, slots)
	}
	return rs, nil
}

func shardsNodes(r *resp.Reader, from Origin) ([]Node, error) {
	size, err := r.ArrayLen()
	if err != nil {
		return nil, err
	}
	var nodes []Node
	for i := range size {
		n, ok, err := shardsNode(r, from)
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", i+1, err)
		}
		if ok {
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// shardsNode reads one node. ok is false if its address isn't known.
func shardsNode(r *resp.Reader, from Origin) (n Node, ok bool, err error) {
	a := announcement{viaIP: true} // until an endpoint is told
	hasRole := false
	err = eachPair(r, func(key string) (err error) {
		switch key {
		case "id":
			a.ID, err = text(r)
		case "port":
			a.Port, err = port(r)
		case "tls-port":
			a.TLSPort, err = port(r)
		case "ip":
			err = a.readName(r, &a.IP)
		case "hostname":
			err = a.readName(r, &a.Hostname)
		case "endpoint":
			a.endpoint, err = text(r)
			a.viaIP = a.endpoint == "?"
		case "role":
			hasRole = true
			a.Replica, err = role(r)
		case "health":
			a.Health, err = health(r)
		default:
			err = r.Skip()
		}
		return err
	})
	switch {
	case err != nil:
		return n, false, err
	case !hasRole:
		return n, false, errors.New("no role is told")
	}
	return a.node(from)
}

// role reads a role and tells whether it is that of a replica.
func role(r *resp.Reader) (isReplica bool, err error) {
	word, err := text(r)
	if err != nil {
		return false, err
	}
	switch word {
	case "master", "primary":
		return false, nil
	case "replica", "slave":
		return true, nil
	}
	return false, fmt.Errorf("%s is no role", clip(word))
}

// health reads a state. The pages of the command say "failed", the servers "fail". A
// word that isn't known tells nothing.
func health(r *resp.Reader) (Health, error) {
	word, err := text(r)
	if err != nil {
		return HealthUnknown, err
	}
	switch word {
	case "online":
		return HealthOnline, nil
	case "loading":
		return HealthLoading, nil
	case "handshake":
		return HealthHandshake, nil
	case "fail", "failed":
		return HealthFailed, nil
	}
	return HealthUnknown, nil
}
