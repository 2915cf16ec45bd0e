package redis

import (
	"context"
	"net"
	"strconv"

	"github.com/baton-go/redis/internal/resp"
)

// ClusterCmdable are the commands about a cluster. Those that change the view of one node
// are for a client of that node: a ClusterClient refuses them, see ForEachMaster and
// ForEachShard. Against a server that is no node of a cluster, they give its error.
type ClusterCmdable interface {
	ClusterAddSlots(ctx context.Context, slots ...int) *StatusCmd
	ClusterAddSlotsRange(ctx context.Context, min, max int) *StatusCmd
	ClusterCountFailureReports(ctx context.Context, nodeID string) *IntCmd
	ClusterCountKeysInSlot(ctx context.Context, slot int) *IntCmd
	ClusterDelSlots(ctx context.Context, slots ...int) *StatusCmd
	ClusterDelSlotsRange(ctx context.Context, min, max int) *StatusCmd
	ClusterFailover(ctx context.Context) *StatusCmd
	ClusterForget(ctx context.Context, nodeID string) *StatusCmd
	ClusterGetKeysInSlot(ctx context.Context, slot, count int) *StringSliceCmd
	ClusterInfo(ctx context.Context) *StringCmd
	ClusterKeySlot(ctx context.Context, key string) *IntCmd
	ClusterLinks(ctx context.Context) *ClusterLinksCmd
	ClusterMeet(ctx context.Context, host, port string) *StatusCmd
	ClusterMyID(ctx context.Context) *StringCmd
	ClusterMyShardID(ctx context.Context) *StringCmd
	ClusterNodes(ctx context.Context) *StringCmd
	ClusterReplicate(ctx context.Context, nodeID string) *StatusCmd
	ClusterResetHard(ctx context.Context) *StatusCmd
	ClusterResetSoft(ctx context.Context) *StatusCmd
	ClusterSaveConfig(ctx context.Context) *StatusCmd
	ClusterShards(ctx context.Context) *ClusterShardsCmd
	ClusterSlaves(ctx context.Context, nodeID string) *StringSliceCmd
	ClusterSlots(ctx context.Context) *ClusterSlotsCmd
	ReadOnly(ctx context.Context) *StatusCmd
	ReadWrite(ctx context.Context) *StatusCmd
}

// ClusterMyID gives the ID of the node. As for all commands of this kind, that the server
// is none of a cluster is an error of the server. Since Redis 3.0, O(1).
func (c cmdable) ClusterMyID(ctx context.Context) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("cluster", "myid")
	_ = c(ctx, cmd)
	return cmd
}

// ClusterMyShardID gives the ID of the node's shard: of a primary and its replicas. Since
// Redis 7.2, O(1).
func (c cmdable) ClusterMyShardID(ctx context.Context) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("cluster", "myshardid")
	_ = c(ctx, cmd)
	return cmd
}

// ClusterSlots gives the ranges of slots with their nodes, the primary first. Since Redis
// 3.0, O(N) with the nodes.
func (c cmdable) ClusterSlots(ctx context.Context) *ClusterSlotsCmd {
	cmd := roomy[ClusterSlotsCmd]()
	cmd.sub("cluster", "slots")
	_ = c(ctx, cmd)
	return cmd
}

// ClusterShards gives the shards: primaries with their slots and replicas. Since Redis
// 7.0, O(N) with the nodes.
func (c cmdable) ClusterShards(ctx context.Context) *ClusterShardsCmd {
	cmd := roomy[ClusterShardsCmd]()
	cmd.sub("cluster", "shards")
	_ = c(ctx, cmd)
	return cmd
}

// ClusterLinks gives the node's connections to other nodes. Since Redis 7.0, O(N) with
// the nodes.
func (c cmdable) ClusterLinks(ctx context.Context) *ClusterLinksCmd {
	cmd := roomy[ClusterLinksCmd]()
	cmd.sub("cluster", "links")
	_ = c(ctx, cmd)
	return cmd
}

// ClusterNodes gives what the node knows about all nodes as text, one line each. Since
// Redis 3.0, O(N) with the nodes.
func (c cmdable) ClusterNodes(ctx context.Context) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("cluster", "nodes")
	_ = c(ctx, cmd)
	return cmd
}

// ClusterInfo gives the state of the cluster in the eyes of the node as text, with lines
// "name:value". Since Redis 3.0, O(1).
func (c cmdable) ClusterInfo(ctx context.Context) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("cluster", "info")
	_ = c(ctx, cmd)
	return cmd
}

// ClusterKeySlot gives the slot of a key. Since Redis 3.0, O(N) with the length of key.
func (c cmdable) ClusterKeySlot(ctx context.Context, key string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("cluster", "keyslot")
	cmd.str(key)
	_ = c(ctx, cmd)
	return cmd
}

// ClusterCountKeysInSlot gives how many keys of a slot the node has. Since Redis 3.0,
// O(1).
func (c cmdable) ClusterCountKeysInSlot(ctx context.Context, slot int) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("cluster", "countkeysinslot")
	cmd.int(int64(slot))
	_ = c(ctx, cmd)
	return cmd
}

// ClusterGetKeysInSlot gives at most count keys of a slot that the node has. Since Redis
// 3.0, O(N) with the keys given.
func (c cmdable) ClusterGetKeysInSlot(ctx context.Context, slot, count int) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.sub("cluster", "getkeysinslot")
	cmd.int(int64(slot))
	cmd.int(int64(count))
	_ = c(ctx, cmd)
	return cmd
}

// ClusterCountFailureReports gives how many nodes have lately reported that a node is
// down. Since Redis 3.0, O(N) with the reports.
func (c cmdable) ClusterCountFailureReports(ctx context.Context, nodeID string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("cluster", "count-failure-reports")
	cmd.str(nodeID)
	_ = c(ctx, cmd)
	return cmd
}

// ClusterSlaves gives the replicas of a primary, one line each as by ClusterNodes. That
// the node is not known, or is a replica, is an error of the server. Since Redis 3.0,
// O(N) with the replicas.
func (c cmdable) ClusterSlaves(ctx context.Context, nodeID string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.sub("cluster", "slaves")
	cmd.str(nodeID)
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// ClusterMeet makes the node know another one, and both clusters one. The nodes get to
// know each other after the reply. Since Redis 3.0, O(1).
func (c cmdable) ClusterMeet(ctx context.Context, host, port string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("cluster", "meet")
	cmd.strs(host, port)
	_ = c(ctx, cmd)
	return cmd
}

// ClusterForget makes the node forget another one for a minute, so that all nodes can be
// told in this time. That it is not known, or is the node itself or its primary, is an
// error of the server. Since Redis 3.0, O(1).
func (c cmdable) ClusterForget(ctx context.Context, nodeID string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("cluster", "forget")
	cmd.str(nodeID)
	_ = c(ctx, cmd)
	return cmd
}

// ClusterReplicate makes the node a replica of another one. That this is not known, or
// that the node has slots, is an error of the server. Since Redis 3.0, O(1).
func (c cmdable) ClusterReplicate(ctx context.Context, nodeID string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("cluster", "replicate")
	cmd.str(nodeID)
	_ = c(ctx, cmd)
	return cmd
}

// ClusterFailover makes the node, a replica, take the place of its primary, which must
// agree to it. It is done after the reply. That the node is a primary is an error of the
// server. Since Redis 3.0, O(1).
func (c cmdable) ClusterFailover(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("cluster", "failover")
	_ = c(ctx, cmd)
	return cmd
}

// ClusterResetSoft makes the node, which must not have keys if it is a primary, forget the
// cluster. Since Redis 3.0, O(N) with the nodes.
func (c cmdable) ClusterResetSoft(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("cluster", "reset")
	cmd.str("soft")
	_ = c(ctx, cmd)
	return cmd
}

// ClusterResetHard is ClusterResetSoft, and gives the node a new ID. Since Redis 3.0,
// O(N) with the nodes.
func (c cmdable) ClusterResetHard(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("cluster", "reset")
	cmd.str("hard")
	_ = c(ctx, cmd)
	return cmd
}

// ClusterSaveConfig writes the node's view of the cluster to its file. Since Redis 3.0,
// O(1).
func (c cmdable) ClusterSaveConfig(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("cluster", "saveconfig")
	_ = c(ctx, cmd)
	return cmd
}

// ClusterAddSlots gives the node slots that no node has. That one is taken is an error of
// the server; none is added then. Since Redis 3.0, O(N) with the slots.
func (c cmdable) ClusterAddSlots(ctx context.Context, slots ...int) *StatusCmd {
	return c.clusterSlots(ctx, "addslots", slots)
}

// ClusterDelSlots makes the node forget who has slots. That it does not know it of one is
// an error of the server; none is forgotten then. Since Redis 3.0, O(N) with the slots.
func (c cmdable) ClusterDelSlots(ctx context.Context, slots ...int) *StatusCmd {
	return c.clusterSlots(ctx, "delslots", slots)
}

func (c cmdable) clusterSlots(ctx context.Context, subcommand string, slots []int) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("cluster", subcommand)
	for _, slot := range slots {
		cmd.int(int64(slot))
	}
	_ = c(ctx, cmd)
	return cmd
}

// ClusterAddSlotsRange is ClusterAddSlots for the slots from min to max, which are sent
// one by one, so that servers of all versions understand it. Since Redis 3.0, O(N) with
// the slots.
func (c cmdable) ClusterAddSlotsRange(ctx context.Context, min, max int) *StatusCmd {
	return c.clusterSlotRange(ctx, "addslots", min, max)
}

// ClusterDelSlotsRange is ClusterDelSlots for the slots from min to max, which are sent
// one by one, so that servers of all versions understand it. Since Redis 3.0, O(N) with
// the slots.
func (c cmdable) ClusterDelSlotsRange(ctx context.Context, min, max int) *StatusCmd {
	return c.clusterSlotRange(ctx, "delslots", min, max)
}

func (c cmdable) clusterSlotRange(ctx context.Context, subcommand string, first, last int) *StatusCmd {
	const highest = 1<<14 - 1
	cmd := roomy[StatusCmd]()
	cmd.sub("cluster", subcommand)
	if first < 0 || first > last || last > highest {
		cmd.reject("redis: a range of slots goes up, from 0 to 16383 at most")
	} else {
		for slot := first; slot <= last; slot++ {
			cmd.int(int64(slot))
		}
	}
	_ = c(ctx, cmd)
	return cmd
}

// ReadOnly lets a connection to a replica read what the replica's primary has. It changes
// the connection, so it is for a Conn or a pipeline. Since Redis 3.0, O(1).
func (c cmdable) ReadOnly(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("readonly")
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

// ReadWrite ends ReadOnly. Since Redis 3.0, O(1).
func (c cmdable) ReadWrite(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("readwrite")
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// ClusterSlotsCmd is the command of ClusterSlots.
type ClusterSlotsCmd struct{ result[[]ClusterSlot] }

// NewClusterSlotsCmd makes a command of its arguments, the name first.
func NewClusterSlotsCmd(_ context.Context, args ...any) *ClusterSlotsCmd {
	c := roomy[ClusterSlotsCmd]()
	c.beginArgs(args)
	return c
}

// NewClusterSlotsCmdResult makes a command that is answered already; see NewCmdResult.
func NewClusterSlotsCmdResult(val []ClusterSlot, err error) *ClusterSlotsCmd {
	return answered(&ClusterSlotsCmd{}, val, err)
}

func (c *ClusterSlotsCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (s ClusterSlot, err error) {
		at := *r
		n, err := r.ArrayLen()
		if err != nil {
			return s, err
		}
		if n < 2 {
			return s, badShape(at, "range of slots")
		}
		if s.Start, err = readSmallInt(r); err != nil {
			return s, err
		}
		if s.End, err = readSmallInt(r); err != nil {
			return s, err
		}
		s.Nodes = make([]ClusterNode, n-2)
		for i := range s.Nodes {
			if s.Nodes[i], err = readClusterNode(r); err != nil {
				return s, err
			}
		}
		return s, nil
	})
	return err
}

// readSmallInt reads an integer as an int.
func readSmallInt(r *resp.Reader) (int, error) {
	n, err := r.Int()
	return int(n), err
}

// readClusterNode reads a node of a range of slots: host, port, and from later versions
// its ID, then more addresses.
func readClusterNode(r *resp.Reader) (node ClusterNode, err error) {
	at := *r
	n, err := r.ArrayLen()
	if err != nil {
		return node, err
	}
	if n < 2 {
		return node, badShape(at, "node of a cluster")
	}
	host, err := readStringOrEmpty(r)
	if err != nil {
		return node, err
	}
	port, err := r.Int()
	if err != nil {
		return node, err
	}
	node.Addr = net.JoinHostPort(host, strconv.FormatInt(port, 10))
	if n > 2 {
		if node.ID, err = r.String(); err != nil {
			return node, err
		}
	}
	if n > 3 {
		if node.NetworkingMetadata, err = orZero(readMap(r, readStringOrEmpty)); err != nil {
			return node, err
		}
	}
	for range n - 4 {
		if err := r.Skip(); err != nil {
			return node, err
		}
	}
	return node, nil
}

//------------------------------------------------------------------------------

// SlotRange is the slots from Start to End, both included.
type SlotRange struct {
	Start int64
	End   int64
}

// Node is a node of a shard. What the cluster does not tell is the zero value.
type Node struct {
	ID                string
	Endpoint          string // how clients are to reach it
	IP                string
	Hostname          string
	Port              int64
	TLSPort           int64
	Role              string // master or replica
	ReplicationOffset int64
	Health            string // online, failed or loading
}

// ClusterShard is a primary and its replicas, with their slots.
type ClusterShard struct {
	Slots []SlotRange
	Nodes []Node
}

// ClusterShardsCmd is the command of ClusterShards.
type ClusterShardsCmd struct{ result[[]ClusterShard] }

// NewClusterShardsCmd makes a command of its arguments, the name first.
func NewClusterShardsCmd(_ context.Context, args ...any) *ClusterShardsCmd {
	c := roomy[ClusterShardsCmd]()
	c.beginArgs(args)
	return c
}

func (c *ClusterShardsCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (s ClusterShard, err error) {
		err = readFields(r, func(name string) (err error) {
			switch name {
			case "slots":
				s.Slots, err = readPairs(r, "ranges of slots", readSlotRange)
			case "nodes":
				s.Nodes, err = readSlice(r, readShardNode)
			default:
				err = r.Skip()
			}
			return err
		})
		return s, err
	})
	return err
}

func readSlotRange(r *resp.Reader) (s SlotRange, err error) {
	if s.Start, err = r.Int(); err != nil {
		return s, err
	}
	s.End, err = r.Int()
	return s, err
}

func readShardNode(r *resp.Reader) (n Node, err error) {
	err = readFields(r, func(name string) (err error) {
		switch name {
		case "id":
			n.ID, err = r.String()
		case "endpoint":
			n.Endpoint, err = readStringOrEmpty(r)
		case "ip":
			n.IP, err = readStringOrEmpty(r)
		case "hostname":
			n.Hostname, err = readStringOrEmpty(r)
		case "port":
			n.Port, err = r.Int()
		case "tls-port":
			n.TLSPort, err = r.Int()
		case "role":
			n.Role, err = r.String()
		case "replication-offset":
			n.ReplicationOffset, err = r.Int()
		case "health":
			n.Health, err = r.String()
		default:
			err = r.Skip()
		}
		return err
	})
	return n, err
}

//------------------------------------------------------------------------------

// ClusterLink is a node's connection to another one.
type ClusterLink struct {
	Direction           string // to or from the other one
	Node                string // the other one's ID
	CreateTime          int64  // in milliseconds since 1970
	Events              string // r: readable, w: writable
	SendBufferAllocated int64  // bytes
	SendBufferUsed      int64  // bytes
}

// ClusterLinksCmd is the command of ClusterLinks.
type ClusterLinksCmd struct{ result[[]ClusterLink] }

// NewClusterLinksCmd makes a command of its arguments, the name first.
func NewClusterLinksCmd(_ context.Context, args ...any) *ClusterLinksCmd {
	c := roomy[ClusterLinksCmd]()
	c.beginArgs(args)
	return c
}

func (c *ClusterLinksCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (l ClusterLink, err error) {
		err = readFields(r, func(name string) (err error) {
			switch name {
			case "direction":
				l.Direction, err = r.String()
			case "node":
				l.Node, err = r.String()
			case "create-time":
				l.CreateTime, err = r.Int()
			case "events":
				l.Events, err = r.String()
			case "send-buffer-allocated":
				l.SendBufferAllocated, err = r.Int()
			case "send-buffer-used":
				l.SendBufferUsed, err = r.Int()
			default:
				err = r.Skip()
			}
			return err
		})
		return l, err
	})
	return err
}
