package maintsim

import (
	"strconv"
)

// All nodes of an embedded cluster have the same server. What this file answers makes it
// look as if each had keys of its own.

// exists tells whether a key exists on any node.
func (c *Cluster) exists(key string) bool { return c.sim.engine.embedded.m.Exists(key) }

// keysOf are the keys of a node.
func (c *Cluster) keysOf(node int) []string {
	shard := c.cfg.shardOf(node)
	var own []string
	for _, k := range c.sim.engine.embedded.m.Keys() {
		if c.table.has(shard, k) {
			own = append(own, k)
		}
	}
	return own
}

// answerKeyspace answers DBSIZE and RANDOMKEY.
func (c *Cluster) answerKeyspace(s *session, name string) []byte {
	keys := c.keysOf(s.proxy.index)
	switch {
	case name == "DBSIZE":
		return appendInt(nil, int64(len(keys)))
	case len(keys) == 0:
		return appendNull(nil, s.proto.Load())
	}
	return appendBulk(nil, keys[0])
}

// flush answers FLUSHALL and FLUSHDB.
func (c *Cluster) flush(node int) []byte {
	if !c.isPrimary(node) {
		return appendError(nil, "READONLY You can't write against a read only replica.")
	}
	for _, k := range c.keysOf(node) {
		c.sim.engine.embedded.m.Del(k)
	}
	return appendSimple(nil, "OK")
}

// isPrimary tells whether a node is the primary of its shard.
func (c *Cluster) isPrimary(node int) bool { return c.table.primary(c.cfg.shardOf(node)) == node }

// ownKeys takes the keys of other nodes out of the reply to KEYS or SCAN.
func (c *Cluster) ownKeys(node int) func(out, reply []byte) []byte {
	shard := c.cfg.shardOf(node)
	return func(out, reply []byte) []byte {
		elems, pos, err := requestHead(reply, 0, '*')
		if err != nil || pos == 0 {
			return append(out, reply...)
		}
		if elems == 2 { // SCAN: the cursor, and the keys; or KEYS with two of them
			if size, start, err := requestHead(reply, pos, '$'); err == nil && start > 0 {
				if n, keys, err := requestHead(reply, start+size+2, '*'); err == nil && keys > 0 {
					out = append(out, reply[:start+size+2]...)
					return c.appendOwn(out, shard, reply, n, keys)
				}
			}
		}
		return c.appendOwn(out, shard, reply, elems, pos)
	}
}

// appendOwn appends an array of those of the n keys at pos of reply that a shard has.
func (c *Cluster) appendOwn(out []byte, shard int, reply []byte, n, pos int) []byte {
	var own []string
	for range n {
		size, start, err := requestHead(reply, pos, '$')
		if err != nil || start == 0 {
			return append(out, "*0\r\n"...)
		}
		if key := string(reply[start : start+size]); c.table.has(shard, key) {
			own = append(own, key)
		}
		pos = start + size + 2
	}
	out = append(append(out, '*'), strconv.Itoa(len(own))...)
	out = append(out, '\r', '\n')
	for _, k := range own {
		out = appendBulk(out, k)
	}
	return out
}
