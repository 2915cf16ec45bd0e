package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	redis "github.com/baton-go/redis"
)

// A cursor is used at the node that opened it; searches without one go to any primary.
func TestClusterCursorsStayWithTheirNode(t *testing.T) {
	n := newThreeNodes(t, 10*time.Second, nil, func(node int, args []string) string {
		switch args[0] {
		case "ft.cursor":
			return fmt.Sprintf("*2\r\n*1\r\n:0\r\n:%d\r\n", node)
		case "ft.hybrid":
			return fmt.Sprintf("*4\r\n+SEARCH\r\n:%d\r\n+VSIM\r\n:%d\r\n", node, node)
		}
		return fmt.Sprintf("*2\r\n*1\r\n:0\r\n:%d\r\n", node)
	})
	ctx := soon(t)
	used, anywhere := map[int]bool{}, map[int]bool{}
	for i := range 30 {
		index := fmt.Sprint("index", i)
		opened := n.c.FTAggregateWithArgs(ctx, index, "*", &redis.FTAggregateOptions{WithCursor: true})
		if opened.Err() != nil {
			t.Fatal(opened.Err())
		}
		node := opened.CursorID()
		used[node] = true
		read := n.c.FTCursorRead(ctx, index, node, 0).Val()["cursor"]
		hybrid := n.c.FTHybridWithArgs(ctx, index, &redis.FTHybridOptions{WithCursor: true}).CursorVal()
		piped, err := n.c.Pipelined(ctx, func(p redis.Pipeliner) error {
			p.FTCursorRead(ctx, index, 1, 5)
			return nil
		})
		if err != nil || hybrid == nil {
			t.Fatalf("%v, %v", err, hybrid)
		}
		inPipe := piped[0].(*redis.MapStringInterfaceCmd).Val()["cursor"]
		if read != int64(node) || hybrid.SearchCursorID != node || inPipe != int64(node) {
			t.Errorf("%s: opened at node %d, read at %v, in a pipeline at %v, a hybrid one opened at %d", index, node, read, inPipe, hybrid.SearchCursorID)
		}
		anywhere[n.c.FTAggregateWithArgs(ctx, "index", "*", nil).CursorID()] = true
	}
	if len(used) != 3 || len(anywhere) != 3 {
		t.Errorf("cursors were opened at nodes %v, and searches without one at %v, want all 3", used, anywhere)
	}
}

// Replicas may answer what only reads, but then a cursor would be at one of several nodes.
func TestClusterCursorsStayAtThePrimary(t *testing.T) {
	var nodes [3]*script
	for i := range nodes {
		nodes[i] = newScript(t, func(_ *peer, args []string) string {
			if strings.EqualFold(args[0], "readonly") {
				return "+OK\r\n"
			}
			return fmt.Sprintf("*2\r\n*1\r\n:0\r\n:%d\r\n", i+1)
		})
	}
	c := redis.NewClusterClient(&redis.ClusterOptions{
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
			return []redis.ClusterSlot{{End: 16383, Nodes: []redis.ClusterNode{{Addr: nodes[0].addr}, {Addr: nodes[1].addr}, {Addr: nodes[2].addr}}}}, nil
		},
		ReadOnly: true, Logger: testLogger(t),
	})
	t.Cleanup(func() { _ = c.Close() })
	for range 10 {
		cmd := c.FTAggregateWithArgs(soon(t), "i", "*", &redis.FTAggregateOptions{WithCursor: true})
		if got := cmd.CursorID(); got != 1 || cmd.Err() != nil {
			t.Fatalf("node %d, %v, want the primary", got, cmd.Err())
		}
	}
}

// A setting is one of each node.
func TestClusterSearchSettings(t *testing.T) {
	n := newThreeNodes(t, 10*time.Second, nil, func(node int, _ []string) string {
		return "+OK\r\n"
	})
	want(t, "FT.CONFIG SET", n.c.FTConfigSet(soon(t), "TIMEOUT", 5).Result, "OK")
	for i, s := range n.nodes {
		if got := s.commands(); strings.Count(got, "ft.config SET TIMEOUT 5") != 1 {
			t.Errorf("node %d got %q", i, got)
		}
	}
}

// A reply that is not understood, whatever its shape, leaves the link in step.
func TestSearchRepliesKeepTheLinkInStep(t *testing.T) {
	replies := map[string]string{
		"odd": "*3\r\n:1\r\n$1\r\nd\r\n*1\r\n$1\r\na\r\n", "deep": "*3\r\n:1\r\n*1\r\n*1\r\n*0\r\n*0\r\n", "short": "*1\r\n$1\r\nx\r\n", "map": "%1\r\n$7\r\nresults\r\n:1\r\n",
		"null": "*-1\r\n", "error": "-ERR no such index\r\n", "inside": "*3\r\n:1\r\n-ERR x\r\n*0\r\n", "good": "*1\r\n:0\r\n", "long": "*4\r\n:1\r\n$1\r\nd\r\n*0\r\n$1\r\ne\r\n",
	}
	var conns atomic.Int64
	s := newScript(t, func(p *peer, args []string) string {
		conns.Store(max(conns.Load(), int64(p.n)))
		if args[0] == "echo" {
			return fmt.Sprintf("$%d\r\n%s\r\n", len(args[1]), args[1])
		}
		return replies[args[2]]
	})
	c := newClient(t, &redis.Options{Addr: s.addr})
	ctx := soon(t)
	for name := range replies {
		cmds, _ := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			p.FTSearch(ctx, "i", name)
			p.FTAggregateWithArgs(ctx, "i", name, nil)
			p.FTAggregate(ctx, "i", name)
			p.FTSpellCheck(ctx, "i", name)
			p.Echo(ctx, name)
			return nil
		})
		if got := cmds[len(cmds)-1].(*redis.StringCmd); got.Val() != name {
			t.Errorf("%s: the next command: %v", name, got)
		}
		err := c.FTSearch(ctx, "i", name).Err()
		if (err == nil) != (name == "good") || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v", name, err)
		}
		if got, err := c.Echo(ctx, name).Result(); got != name {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if got := conns.Load(); got != 1 {
		t.Errorf("%d connections, want that none was given up", got)
	}
}
