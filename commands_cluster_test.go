package redis

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/internal/realserver"
)

// nobody is an ID that no node has.
const nobody = "0123456789012345678901234567890123456789"

func clusterCases() []commandCase {
	starts := func(word string) func(any) bool {
		return func(v any) bool { s, _ := v.(string); return strings.HasPrefix(s, word) }
	}
	isID := func(v any) bool { s, _ := v.(string); return len(s) == 40 }
	cases := []commandCase{
		{name: "ClusterMyID", call: func(c commander) Cmder { return c.ClusterMyID(bg) }, args: "cluster myid", want: isID},
		{name: "ClusterMyShardID", call: func(c commander) Cmder { return c.ClusterMyShardID(bg) }, args: "cluster myshardid", want: isID, since: "7.2"},
		{name: "ClusterInfo", call: func(c commander) Cmder { return c.ClusterInfo(bg) }, args: "cluster info", want: starts("cluster_state:")},
		{name: "ClusterNodes", call: func(c commander) Cmder { return c.ClusterNodes(bg) }, args: "cluster nodes", want: func(v any) bool {
			s, _ := v.(string)
			return strings.Contains(s, "myself,master") && strings.Contains(s, "8192-16383")
		}},
		{name: "ClusterKeySlot", call: func(c commander) Cmder { return c.ClusterKeySlot(bg, "somekey") }, args: "cluster keyslot somekey", want: int64(11058)},
		{name: "ClusterCountKeysInSlot", setup: []string{"set b 1"}, call: func(c commander) Cmder { return c.ClusterCountKeysInSlot(bg, 3300) }, args: "cluster countkeysinslot 3300", want: int64(1)},
		{name: "ClusterGetKeysInSlot", setup: []string{"set b 1"}, call: func(c commander) Cmder { return c.ClusterGetKeysInSlot(bg, 3300, 7) }, args: "cluster getkeysinslot 3300 7", want: []string{"b"}},
		{name: "ClusterSlots", call: func(c commander) Cmder { return c.ClusterSlots(bg) }, args: "cluster slots", want: func(v any) bool {
			list, _ := v.([]ClusterSlot)
			return len(list) == 2 && list[0].End-list[0].Start == 8191 && isID(list[0].Nodes[0].ID) && isAddr(list[1].Nodes[0].Addr)
		}},
		{
			name: "ClusterSlots/old", call: func(c commander) Cmder { return c.ClusterSlots(bg) }, args: "cluster slots",
			unfit: true, r2: "*1\r\n*4\r\n:0\r\n:9\r\n*2\r\n$-1\r\n:6379\r\n*3\r\n$3\r\n::1\r\n:6380\r\n$2\r\nid\r\n",
			want: []ClusterSlot{{Start: 0, End: 9, Nodes: []ClusterNode{{Addr: ":6379"}, {Addr: "[::1]:6380", ID: "id"}}}},
		},
		{
			name: "ClusterSlots/metadata", call: func(c commander) Cmder { return c.ClusterSlots(bg) }, args: "cluster slots",
			unfit: true, r2: "*1\r\n*3\r\n:0\r\n:9\r\n*4\r\n$1\r\na\r\n:1\r\n$2\r\nid\r\n*2\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n",
			r3:   "*1\r\n*3\r\n:0\r\n:9\r\n*5\r\n$1\r\na\r\n:1\r\n$2\r\nid\r\n%1\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$4\r\nmore\r\n",
			want: []ClusterSlot{{End: 9, Nodes: []ClusterNode{{Addr: "a:1", ID: "id", NetworkingMetadata: map[string]string{"ip": "127.0.0.1"}}}}},
		},
		{name: "ClusterShards", call: func(c commander) Cmder { return c.ClusterShards(bg) }, args: "cluster shards", want: func(v any) bool {
			list, _ := v.([]ClusterShard)
			if len(list) != 2 || len(list[0].Slots) != 1 || len(list[0].Nodes) != 1 {
				return false
			}
			s, n := list[0].Slots[0], list[0].Nodes[0]
			return s.End-s.Start == 8191 && isID(n.ID) && n.Role == "master" && n.Health == "online" && n.Port > 0 && n.Endpoint == "127.0.0.1"
		}},
		{name: "ClusterLinks", call: func(c commander) Cmder { return c.ClusterLinks(bg) }, args: "cluster links", want: func(v any) bool {
			list, _ := v.([]ClusterLink)
			return len(list) == 2 && isID(list[0].Node) && list[0].CreateTime > 0 && list[0].Events != "" && list[0].Direction != list[1].Direction
		}},
		{name: "ClusterCountFailureReports", call: func(c commander) Cmder { return c.ClusterCountFailureReports(bg, nobody) }, args: "cluster count-failure-reports " + nobody, want: errors.New("ERR Unknown node")},
		{name: "ClusterSlaves", call: func(c commander) Cmder { return c.ClusterSlaves(bg, nobody) }, args: "cluster slaves " + nobody, want: errors.New("ERR Unknown node")},
		{name: "ClusterMeet", call: func(c commander) Cmder { return c.ClusterMeet(bg, "nowhere", "1") }, args: "cluster meet nowhere 1", want: errors.New("ERR Invalid node address")},
		{name: "ClusterForget", call: func(c commander) Cmder { return c.ClusterForget(bg, nobody) }, args: "cluster forget " + nobody, want: errors.New("ERR Unknown node")},
		{name: "ClusterReplicate", call: func(c commander) Cmder { return c.ClusterReplicate(bg, nobody) }, args: "cluster replicate " + nobody, want: errors.New("ERR Unknown node")},
		{name: "ClusterFailover", call: func(c commander) Cmder { return c.ClusterFailover(bg) }, args: "cluster failover", want: errors.New("ERR You should send CLUSTER FAILOVER to a replica")},
		{name: "ClusterResetSoft", setup: []string{"set b 1"}, call: func(c commander) Cmder { return c.ClusterResetSoft(bg) }, args: "cluster reset soft", want: errors.New("ERR CLUSTER RESET can't be called")},
		{name: "ClusterResetHard", setup: []string{"set b 1"}, call: func(c commander) Cmder { return c.ClusterResetHard(bg) }, args: "cluster reset hard", want: errors.New("ERR CLUSTER RESET can't be called")},
		{name: "ClusterSaveConfig", call: func(c commander) Cmder { return c.ClusterSaveConfig(bg) }, args: "cluster saveconfig", want: "OK"},
		{name: "ClusterDelSlots", call: func(c commander) Cmder { return c.ClusterDelSlots(bg, 5, 7) }, args: "cluster delslots 5 7", want: "OK", undo: []string{"cluster addslots 5 7"}},
		{name: "ClusterDelSlotsRange", call: func(c commander) Cmder { return c.ClusterDelSlotsRange(bg, 5, 7) }, args: "cluster delslots 5 6 7", want: "OK", undo: []string{"cluster addslots 5 6 7"}},
		{name: "ClusterAddSlots", setup: []string{"cluster delslots 5 7"}, call: func(c commander) Cmder { return c.ClusterAddSlots(bg, 5, 7) }, args: "cluster addslots 5 7", want: "OK"},
		{name: "ClusterAddSlotsRange", setup: []string{"cluster delslots 5"}, call: func(c commander) Cmder { return c.ClusterAddSlotsRange(bg, 5, 5) }, args: "cluster addslots 5", want: "OK"},
		{name: "ReadOnly", call: func(c commander) Cmder { return c.ReadOnly(bg) }, args: "readonly", want: "OK"},
		{name: "ReadWrite", call: func(c commander) Cmder { return c.ReadWrite(bg) }, args: "readwrite", want: "OK"},
	}
	for i := range cases {
		cases[i].cluster = true
	}
	return cases
}

func isAddr(s string) bool {
	host, port, err := net.SplitHostPort(s)
	return err == nil && host == "127.0.0.1" && port != ""
}

// A range of slots that goes down, or beyond the slots, is refused before it is sent.
func TestClusterSlotRangesAreChecked(t *testing.T) {
	c := cmdable(none)
	for _, r := range [][2]int{{-1, 3}, {3, 2}, {16383, 16384}, {0, 1 << 40}} {
		for _, cmd := range []*StatusCmd{c.ClusterAddSlotsRange(bg, r[0], r[1]), c.ClusterDelSlotsRange(bg, r[0], r[1])} {
			if err := cmd.Err(); err == nil || DeliveryOf(err) != NotSent {
				t.Errorf("%v: got error %v, want one that says that nothing was sent", r, err)
			}
		}
	}
	if n := len(c.ClusterAddSlotsRange(bg, 0, 16383).Args()); n != 16386 {
		t.Errorf("all slots: %d arguments", n)
	}
}

// A cluster's own client asks any node about the cluster, the slot's owner about its
// keys, and refuses what means one node.
func TestClusterClientRoutesClusterCommands(t *testing.T) {
	t.Parallel()
	nodes := realserver.StartCluster(t, realserver.Redis8, realserver.ClusterConfig{Primaries: 2, Replicas: 1})
	c := NewClusterClient(&ClusterOptions{Addrs: nodes.Addrs()})
	defer c.Close()
	if slots, err := c.ClusterSlots(bg).Result(); err != nil || len(slots) != 2 {
		t.Errorf("ClusterSlots: %+v, %v", slots, err)
	}
	shards, err := c.ClusterShards(bg).Result()
	if err != nil || len(shards) != 2 || len(shards[0].Nodes) != 2 {
		t.Fatalf("ClusterShards: %+v, %v", shards, err)
	}
	primary, replica := shards[0].Nodes[0], shards[0].Nodes[1]
	if primary.Role == "replica" {
		primary, replica = replica, primary
	}
	replicas, err := c.ClusterSlaves(bg, primary.ID).Result()
	if err != nil || len(replicas) != 1 || !strings.HasPrefix(replicas[0], replica.ID) {
		t.Errorf("ClusterSlaves: %q, %v", replicas, err)
	}
	for _, key := range []string{"a", "b"} {
		c.Set(bg, key, 1, 0)
		slot := int(c.ClusterKeySlot(bg, key).Val())
		if keys, err := c.ClusterGetKeysInSlot(bg, slot, 5).Result(); err != nil || !cmp.Equal(keys, []string{key}) {
			t.Errorf("ClusterGetKeysInSlot: %q, %v", keys, err)
		}
		if n, err := c.ClusterCountKeysInSlot(bg, slot).Result(); err != nil || n != 1 {
			t.Errorf("ClusterCountKeysInSlot: %d, %v", n, err)
		}
	}
	for name, err := range map[string]error{
		"ClusterFailover": c.ClusterFailover(bg).Err(), "ClusterResetHard": c.ClusterResetHard(bg).Err(),
		"ClusterAddSlots": c.ClusterAddSlots(bg, 1).Err(), "ReadOnly": c.ReadOnly(bg).Err(),
	} {
		if err == nil || DeliveryOf(err) != NotSent {
			t.Errorf("%s: got %v, want an error that says that nothing was sent", name, err)
		}
	}
	rc := NewClient(&Options{Addr: net.JoinHostPort(replica.IP, strconv.FormatInt(replica.Port, 10))})
	defer rc.Close()
	cn := rc.Conn()
	defer cn.Close()
	key := "a" // of one shard, b of the other
	if slot := c.ClusterKeySlot(bg, key).Val(); slot < shards[0].Slots[0].Start || slot > shards[0].Slots[0].End {
		key = "b"
	}
	if _, moved := IsMovedError(cn.Get(bg, key).Err()); !moved {
		t.Error("a replica answers a read without READONLY")
	}
	if err := cn.ReadOnly(bg).Err(); err != nil {
		t.Error(err)
	}
	if err := cn.Get(bg, key).Err(); err != nil && !errors.Is(err, Nil) && !IsMasterDownError(err) {
		t.Errorf("a read from a replica: %v", err)
	}
	if err := cn.ReadWrite(bg).Err(); err != nil {
		t.Error(err)
	}
	if _, moved := IsMovedError(cn.Get(bg, key).Err()); !moved {
		t.Error("READWRITE has not ended READONLY")
	}
}
