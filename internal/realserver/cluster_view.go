package realserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A sight is what one node knows of another, or of itself: a line of CLUSTER NODES.
type sight struct {
	addr    string // announced, with bus port and name
	flags   []string
	primary string // its primary's id; "-": none
	slots   []SlotRange
}

// isUnsure tells whether the node is not known well enough to be relied on.
func (s sight) isUnsure() bool {
	return slices.ContainsFunc(s.flags, func(flag string) bool {
		return flag == "handshake" || flag == "noaddr" || flag == "fail" || flag == "fail?"
	})
}

// owns tells whether the node owns all slots of a range.
func (s sight) owns(r SlotRange) bool {
	return slices.ContainsFunc(s.slots, func(own SlotRange) bool { return own.Start <= r.Start && r.End <= own.End })
}

func (s sight) isPrimary() bool { return slices.Contains(s.flags, "master") }

// agrees tells whether two nodes know the same of a third.
func (s sight) agrees(other sight) bool {
	return s.addr == other.addr && s.isPrimary() == other.isPrimary() && s.primary == other.primary && slices.Equal(s.slots, other.slots)
}

// view asks a node for all nodes that it knows, by id.
func (c *Cluster) view(ctx context.Context, n *node) (map[string]sight, error) {
	reply, err := c.Do(ctx, n.server().Addr(), "CLUSTER", "NODES")
	if err != nil {
		return nil, err
	}
	text, _ := reply.(string)
	seen := map[string]sight{}
	for line := range strings.Lines(text) {
		// id, address, flags, primary, ping, pong, epoch, link, slots
		words := strings.Fields(line)
		if len(words) < 8 {
			return nil, fmt.Errorf("%s: CLUSTER NODES: %q", n.server().Addr(), line)
		}
		slots, err := parseSlots(words[8:])
		if err != nil {
			return nil, fmt.Errorf("%s: CLUSTER NODES: %q: %w", n.server().Addr(), line, err)
		}
		seen[words[0]] = sight{
			addr:    words[1],
			flags:   strings.Split(words[2], ","),
			primary: words[3],
			slots:   slots,
		}
	}
	return seen, nil
}

// parseSlots reads words such as "0-5" and "7"; "[8->-...]" is a slot on the move, which
// is among the others if it is still the node's.
func parseSlots(words []string) ([]SlotRange, error) {
	var slots []SlotRange
	for _, word := range words {
		if strings.HasPrefix(word, "[") {
			continue
		}
		startText, endText, isRange := strings.Cut(word, "-")
		start, err := strconv.Atoi(startText)
		if err != nil {
			return nil, err
		}
		end := start
		if isRange {
			if end, err = strconv.Atoi(endText); err != nil {
				return nil, err
			}
		}
		slots = append(slots, SlotRange{start, end})
	}
	return slots, nil
}

// self returns what a node knows of itself.
func (c *Cluster) self(ctx context.Context, n *node) (sight, error) {
	seen, err := c.view(ctx, n)
	if err != nil {
		return sight{}, err
	}
	own, ok := seen[n.id()]
	if !ok {
		return sight{}, fmt.Errorf("%s does not know itself", n.server().Addr())
	}
	return own, nil
}

// Primaries returns the addresses of the living nodes that are primaries, with slots
// or without, in the order of Addrs.
func (c *Cluster) Primaries(ctx context.Context) ([]string, error) {
	return c.which(ctx, sight.isPrimary)
}

// Replicas returns the addresses of the living nodes that are replicas of the node at
// addr, or of any if addr is "", in the order of Addrs.
func (c *Cluster) Replicas(ctx context.Context, addr string) ([]string, error) {
	if addr == "" {
		return c.which(ctx, func(own sight) bool { return !own.isPrimary() })
	}
	n, err := c.at(addr)
	if err != nil {
		return nil, err
	}
	return c.which(ctx, func(own sight) bool { return !own.isPrimary() && own.primary == n.id() })
}

// which returns the addresses of the living nodes that say of themselves what is
// asked.
func (c *Cluster) which(ctx context.Context, is func(own sight) bool) ([]string, error) {
	var addrs []string
	for _, n := range c.living() {
		own, err := c.self(ctx, n)
		if err != nil {
			return nil, err
		}
		if is(own) {
			addrs = append(addrs, n.server().Addr())
		}
	}
	return addrs, nil
}

// Owner returns the address of the living primary that owns a slot.
func (c *Cluster) Owner(ctx context.Context, slot int) (string, error) {
	owners, err := c.which(ctx, func(own sight) bool { return own.isPrimary() && own.owns(SlotRange{slot, slot}) })
	if err != nil {
		return "", err
	}
	if len(owners) != 1 {
		return "", fmt.Errorf("slot %d is owned by %q", slot, owners)
	}
	return owners[0], nil
}

// Describe returns the living nodes as the first of them sees them, by the address they
// listen on.
func (c *Cluster) Describe(ctx context.Context) (map[string]NodeState, error) {
	living := c.living()
	if len(living) == 0 {
		return nil, errors.New("no node of the cluster lives")
	}
	seen, err := c.view(ctx, living[0])
	if err != nil {
		return nil, err
	}
	states := make(map[string]NodeState)
	for _, n := range living {
		if of, ok := seen[n.id()]; ok {
			states[n.server().Addr()] = NodeState{ID: n.id(), Primary: of.isPrimary(), Slots: of.slots}
		}
	}
	return states, nil
}

// A NodeState is what a node is.
type NodeState struct {
	ID      string
	Primary bool
	Slots   []SlotRange
}

// Settle waits until the cluster is whole: the living nodes agree on who is what and
// owns which slots, ended and paused nodes own none, all say that the cluster serves, and
// the replicas are in sync.
func (c *Cluster) Settle(ctx context.Context) error {
	return c.until(ctx, c.unsettled)
}

// unsettled tells one thing that Settle waits for.
func (c *Cluster) unsettled(ctx context.Context) error {
	living := c.living()
	var first map[string]sight
	for i, n := range living {
		seen, err := c.view(ctx, n)
		if err != nil {
			return err
		}
		if i == 0 {
			first = seen
		}
		if err := c.disagreement(n, first, seen); err != nil {
			return err
		}
	}
	for _, n := range living {
		if err := c.unfit(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// disagreement tells what a node sees otherwise than the first one, or where both see
// something that is not final.
func (c *Cluster) disagreement(n *node, first, seen map[string]sight) error {
	for _, other := range c.nodes {
		of := seen[other.id()]
		switch {
		case other.stranger.Load():
		case !other.lives():
			if len(of.slots) > 0 {
				return fmt.Errorf("%s holds %s, which is gone, to own slots", n.server().Addr(), other.server().Addr())
			}
		case of.flags == nil || of.isUnsure():
			return fmt.Errorf("%s is unsure of %s", n.server().Addr(), other.server().Addr())
		case !of.agrees(first[other.id()]):
			return fmt.Errorf("%s sees %s as %+v, others as %+v", n.server().Addr(), other.server().Addr(), of, first[other.id()])
		}
	}
	return nil
}

// unfit tells why a node can't serve.
func (c *Cluster) unfit(ctx context.Context, n *node) error {
	state, err := c.Do(ctx, n.server().Addr(), "CLUSTER", "INFO")
	if err != nil {
		return err
	}
	if text, _ := state.(string); !strings.Contains(text, "cluster_state:ok") {
		return fmt.Errorf("%s: the cluster is not ok", n.server().Addr())
	}
	replication, err := c.Do(ctx, n.server().Addr(), "INFO", "replication")
	if err != nil {
		return err
	}
	text, _ := replication.(string)
	if strings.Contains(text, "role:slave") && !strings.Contains(text, "master_link_status:up") {
		return fmt.Errorf("%s is not in sync with its primary", n.server().Addr())
	}
	return nil
}
