package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/baton-go/redis/internal/link"
	"github.com/baton-go/redis/maintnotifications"
)

// An endpoint may have a directory in place of an address: sentinels, which know where
// the server is. Each dial asks it (Config.Locate), and what it tells by itself becomes a
// notice, a MOVING with a target whose time is up, so that all links are handed over
// before the old server ends them (design, decision 4).

// errReplica is why a link to what the directory takes for a primary is not used.
var errReplica = errors.New("the server is a replica, so a failover is going on, or what the sentinels say of it is out of date")

// locateEvery is how often answers of READONLY make the endpoint ask where the primary
// is: with every second of them it would be asked a thousand times.
const locateEvery = 100 * time.Millisecond

// Moved tells the endpoint that its server is at the address to from now on: links
// to another one are handed over. With from, only links to that address are.
func (e *Endpoint) Moved(from, to string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.post(event{kind: eventMoved, peer: from, addr: to})
}

// moved makes a notice for the links that are elsewhere. Only the owner calls it.
func (e *Endpoint) moved(at time.Time, from, to string) (actions []maintnotifications.Action) {
	e.mu.Lock()
	var away []uint64
	for id, en := range e.links {
		if !isAt(en.l, to) && (from == "" || isAt(en.l, from)) {
			away = append(away, id)
		}
	}
	e.mu.Unlock()
	if len(away) == 0 {
		return nil
	}
	e.silent.seq--
	e.cfg.Logger.Debug("the server has moved; the endpoint's links are handed over", "endpoint", e.cfg.Addr, "from", from, "to", to)
	n := maintnotifications.Notice{Kind: maintnotifications.KindMoving, Seq: e.silent.seq, Endpoint: to, HasTime: true}
	for _, id := range away {
		actions = append(actions, e.machine.Notice(at, maintnotifications.LinkID(id), n)...)
	}
	return actions
}

// isAt tells whether a link leads to an address, as it was dialled or as the socket
// knows it.
func isAt(l *link.Link, addr string) bool { return l.Endpoint() == addr || l.Peer() == addr }

// locate finds out where the server is now.
func (e *Endpoint) locate(ctx context.Context) (string, error) {
	addr, err := e.cfg.Locate(ctx)
	if err != nil {
		return "", fmt.Errorf("where %s is: %w", e.cfg.Addr, err)
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return "", fmt.Errorf("where %s is: %w", e.cfg.Addr, err)
	}
	return addr, nil
}

// relocate asks where the server is, since the one that l leads to is a replica now; at most
// once in locateEvery. Who still names that one does not know yet. mu is held.
func (e *Endpoint) relocate(l *link.Link) {
	now := time.Now()
	if e.closed || now.Sub(e.locatedAt) < locateEvery {
		return
	}
	e.locatedAt = now
	e.work.Go(func() {
		ctx, cancel := context.WithTimeout(e.run, max(e.cfg.DialTimeout, time.Second))
		defer cancel()
		addr, err := e.locate(ctx)
		if err != nil {
			e.cfg.Logger.Debug("the server answers as a replica", "endpoint", e.cfg.Addr, "cause", err)
			return
		}
		if !isAt(l, addr) {
			e.Moved("", addr)
		}
	})
}
