package maintsim

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// What this file answers, the nodes of a real cluster answer themselves.

// answer answers a CLUSTER command.
func (c *Cluster) answer(s *session, args []string) []byte {
	proto, node := s.proto.Load(), s.proxy.index
	if len(args) < 2 {
		return appendError(nil, "ERR wrong number of arguments for 'cluster' command")
	}
	switch sub := strings.ToUpper(args[1]); sub {
	case "SLOTS":
		return c.appendSlots(nil, proto)
	case "SHARDS":
		return c.appendShards(nil, proto)
	case "NODES":
		return appendText(nil, c.describe(node), proto)
	case "INFO":
		return appendText(nil, c.info(), proto)
	case "MYID":
		return appendBulk(nil, c.table.ids[node])
	case "MYSHARDID":
		return appendBulk(nil, fmt.Sprintf("%040x", 0x5a0000+c.cfg.shardOf(node)))
	case "KEYSLOT", "COUNTKEYSINSLOT", "GETKEYSINSLOT":
		return c.answerSlot(node, sub, args)
	case "FAILOVER":
		return c.answerFailover(node)
	}
	return appendError(nil, "ERR unknown subcommand '"+args[1]+"'. Try CLUSTER HELP.")
}

// answerSlot answers the subcommands about one slot.
func (c *Cluster) answerSlot(node int, sub string, args []string) []byte {
	want := 3
	if sub == "GETKEYSINSLOT" {
		want = 4
	}
	if len(args) != want {
		return appendError(nil, "ERR wrong number of arguments for 'cluster|"+strings.ToLower(sub)+"' command")
	}
	if sub == "KEYSLOT" {
		return appendInt(nil, int64(slotOfString(args[2])))
	}
	slot, err := strconv.Atoi(args[2])
	if err != nil || slot < 0 || slot >= slotCount {
		return appendError(nil, "ERR Invalid slot")
	}
	var keys []string
	for _, k := range c.keysOf(node) {
		if slotOfString(k) == slot {
			keys = append(keys, k)
		}
	}
	if sub == "COUNTKEYSINSLOT" {
		return appendInt(nil, int64(len(keys)))
	}
	limit, err := strconv.Atoi(args[3])
	if err != nil || limit < 0 {
		return appendError(nil, "ERR Invalid number of keys")
	}
	keys = keys[:min(limit, len(keys))]
	b := appendArrayLen(nil, len(keys))
	for _, k := range keys {
		b = appendBulk(b, k)
	}
	return b
}

// answerFailover answers CLUSTER FAILOVER: a replica takes over at once.
func (c *Cluster) answerFailover(node int) []byte {
	if c.isPrimary(node) {
		return appendError(nil, "ERR You should send CLUSTER FAILOVER to a replica")
	}
	c.promote(c.cfg.shardOf(node), node)
	return appendSimple(nil, "OK")
}

// A listed is a shard as replies list it: its primary first, then the replicas that live.
type listed struct {
	shard int
	nodes []int
	slots []SlotRange
}

// list copies what there is to tell of the shards of the cluster.
func (c *Cluster) list() []listed {
	t := c.table
	t.mu.RLock()
	defer t.mu.RUnlock()
	var out []listed
	for s, sh := range t.shards {
		if !sh.member {
			continue
		}
		l := listed{shard: s, nodes: []int{sh.primary}, slots: ranges(t.slotsOfLocked(s))}
		for _, n := range sh.nodes {
			if n != sh.primary && t.alive[n] {
				l.nodes = append(l.nodes, n)
			}
		}
		out = append(out, l)
	}
	return out
}

// endpoint splits the announced address of a node. ip is that of its proxy if a name is
// announced.
func (c *Cluster) endpoint(node int) (host, ip string, port int) {
	host, port, _ = splitAddr(c.table.addrs[node]) // checked at the start
	ip = host
	if net.ParseIP(host) == nil {
		ip = c.sim.proxies[node].host
	}
	return host, ip, port
}

// appendSlots appends the reply to CLUSTER SLOTS.
func (c *Cluster) appendSlots(b []byte, proto int32) []byte {
	shards := c.list()
	n := 0
	for _, sh := range shards {
		n += len(sh.slots)
	}
	b = appendArrayLen(b, n)
	for _, sh := range shards {
		for _, r := range sh.slots {
			b = appendArrayLen(b, 2+len(sh.nodes))
			b = appendInt(appendInt(b, int64(r.First)), int64(r.Last))
			for _, node := range sh.nodes {
				host, ip, port := c.endpoint(node)
				b = appendArrayLen(b, 4)
				b = appendInt(appendBulk(b, host), int64(port))
				b = appendBulk(b, c.table.ids[node])
				if ip == host {
					b = appendMapLen(b, 0, proto)
					continue
				}
				b = appendMapLen(b, 1, proto)
				b = appendBulk(appendBulk(b, "ip"), ip)
			}
		}
	}
	return b
}

// appendShards appends the reply to CLUSTER SHARDS.
func (c *Cluster) appendShards(b []byte, proto int32) []byte {
	shards := c.list()
	b = appendArrayLen(b, len(shards))
	for _, sh := range shards {
		b = appendMapLen(b, 2, proto)
		b = appendArrayLen(appendBulk(b, "slots"), 2*len(sh.slots))
		for _, r := range sh.slots {
			b = appendInt(appendInt(b, int64(r.First)), int64(r.Last))
		}
		b = appendArrayLen(appendBulk(b, "nodes"), len(sh.nodes))
		for i, node := range sh.nodes {
			b = c.appendShardNode(b, node, i > 0, proto)
		}
	}
	return b
}

func (c *Cluster) appendShardNode(b []byte, node int, replica bool, proto int32) []byte {
	host, ip, port := c.endpoint(node)
	role, portName, elems := "master", "port", 7
	if replica {
		role = "replica"
	}
	if c.cfg.TLS != nil {
		portName = "tls-port"
	}
	if host != ip {
		elems++
	}
	b = appendMapLen(b, elems, proto)
	b = appendBulk(appendBulk(b, "id"), c.table.ids[node])
	b = appendInt(appendBulk(b, portName), int64(port))
	b = appendBulk(appendBulk(b, "ip"), ip)
	b = appendBulk(appendBulk(b, "endpoint"), host)
	if host != ip {
		b = appendBulk(appendBulk(b, "hostname"), host)
	}
	b = appendBulk(appendBulk(b, "role"), role)
	b = appendInt(appendBulk(b, "replication-offset"), 0)
	return appendBulk(appendBulk(b, "health"), "online")
}

// describe is the text of CLUSTER NODES as a node gives it.
func (c *Cluster) describe(self int) string {
	t := c.table
	var text strings.Builder
	for _, sh := range c.list() {
		for i, node := range sh.nodes {
			host, ip, port := c.endpoint(node)
			addr := fmt.Sprintf("%s@%d", net.JoinHostPort(ip, strconv.Itoa(port)), port+10000)
			if host != ip {
				addr += "," + host
			}
			flags, primary := "master", "-"
			if i > 0 {
				flags, primary = "slave", t.ids[sh.nodes[0]]
			}
			if node == self {
				flags = "myself," + flags
			}
			fmt.Fprintf(&text, "%s %s %s %s 0 0 %d connected", t.ids[node], addr, flags, primary, sh.shard+1)
			if i == 0 {
				for _, r := range sh.slots {
					text.WriteString(" " + r.String())
				}
			}
			if node == self {
				text.WriteString(c.wandering(node))
			}
			text.WriteString("\n")
		}
	}
	return text.String()
}

// wandering are the slots on the move, as their two ends show them.
func (c *Cluster) wandering(node int) string {
	t := c.table
	t.mu.RLock()
	defer t.mu.RUnlock()
	var text strings.Builder
	for slot := range slotCount {
		m := t.moving[slot]
		switch {
		case m == nil:
		case t.shards[m.from].primary == node:
			fmt.Fprintf(&text, " [%d->-%s]", slot, t.ids[t.shards[m.to].primary])
		case t.shards[m.to].primary == node:
			fmt.Fprintf(&text, " [%d-<-%s]", slot, t.ids[t.shards[m.from].primary])
		}
	}
	return text.String()
}

// info is the text of CLUSTER INFO.
func (c *Cluster) info() string {
	t := c.table
	t.mu.RLock()
	defer t.mu.RUnlock()
	known, size, failed := 0, 0, 0
	state := "ok"
	for s, sh := range t.shards {
		if !sh.member {
			continue
		}
		known += len(sh.nodes)
		n := len(t.slotsOfLocked(s))
		if n > 0 {
			size++
		}
		if sh.failed {
			failed, state = failed+n, "fail"
		}
	}
	return fmt.Sprintf("cluster_state:%s\r\ncluster_slots_assigned:%d\r\ncluster_slots_ok:%d\r\ncluster_slots_pfail:0\r\n"+
		"cluster_slots_fail:%d\r\ncluster_known_nodes:%d\r\ncluster_size:%d\r\ncluster_current_epoch:%d\r\n",
		state, slotCount, slotCount-failed, failed, known, size, t.epoch)
}

// appendRole appends the reply to ROLE.
func (c *Cluster) appendRole(b []byte, node int) []byte {
	primary := c.table.primary(c.cfg.shardOf(node))
	if primary == node {
		return appendMasterRole(b)
	}
	host, _, port := c.endpoint(primary)
	return appendReplicaRole(b, host, port)
}
