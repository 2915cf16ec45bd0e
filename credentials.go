package redis

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/baton-go/redis/auth"
)

// liveCredentials are those of a StreamingCredentialsProvider: subscribed to with the
// first connection, used by each handshake, and when they change, every connection is
// replaced by one that has the new ones. It is the provider's listener.
type liveCredentials struct {
	provider auth.StreamingCredentialsProvider
	replace  func() error  // replaces the connections
	logger   *slog.Logger  // never nil
	turn     chan struct{} // held by who subscribes
	done     chan struct{} // closed by end
	work     sync.WaitGroup

	mu         sync.Mutex // guards the fields below
	now        auth.Credentials
	subscribed bool
	stop       auth.UnsubscribeFunc
	ended      bool
	replacing  bool // a goroutine does
	again      bool // and they have changed since it began
}

func newLiveCredentials(p auth.StreamingCredentialsProvider, replace func() error, logger *slog.Logger) *liveCredentials {
	return &liveCredentials{
		provider: p, replace: replace, logger: logger,
		turn: make(chan struct{}, 1), done: make(chan struct{}),
	}
}

// current gives user and password for a new connection.
func (l *liveCredentials) current(ctx context.Context) (username, password string, err error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return "", "", context.Cause(ctx)
	}
	c, ok := l.known()
	if !ok {
		if c, err = l.subscribe(); err != nil {
			return "", "", err
		}
	}
	username, password = c.BasicAuth()
	return username, password, nil
}

func (l *liveCredentials) known() (auth.Credentials, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now, l.subscribed && l.now != nil
}

func (l *liveCredentials) subscribe() (auth.Credentials, error) {
	c, stop, err := l.provider.Subscribe(l)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.stop, l.subscribed = stop, true
	if l.now == nil { // else OnNext was faster
		l.now = c
	}
	c = l.now
	ended := l.ended
	l.mu.Unlock()
	switch {
	case ended:
		if stop != nil {
			_ = stop()
		}
		return nil, ErrClosed
	case c == nil:
		return nil, errNoCredentials
	}
	return c, nil
}

// OnNext takes new credentials over.
func (l *liveCredentials) OnNext(c auth.Credentials) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c == nil || l.ended {
		return
	}
	l.now = c
	switch {
	case !l.subscribed: // no connection has any yet
	case l.replacing:
		l.again = true
	default:
		l.replacing = true
		l.work.Go(l.replaceAll)
	}
}

// OnError logs that there are no new credentials; the old ones still count.
func (l *liveCredentials) OnError(err error) {
	l.logger.Warn("the provider of credentials has failed", "error", err)
}

// replaceLater is the pause after connections that could not be replaced.
const replaceLater = 10 * time.Second

// replaceAll replaces connections until all have the newest credentials.
func (l *liveCredentials) replaceAll() {
	for {
		err := l.replace()
		l.mu.Lock()
		if err == nil && !l.again || l.ended {
			l.replacing = false
			l.mu.Unlock()
			return
		}
		wait := err != nil && !l.again
		l.again = false
		l.mu.Unlock()
		if !wait {
			continue
		}
		l.logger.Warn("connections could not be replaced by some with the new credentials yet", "error", err)
		select {
		case <-time.After(replaceLater):
		case <-l.done:
		}
	}
}

// end ends the subscription; nil-safe, as is wait.
func (l *liveCredentials) end() {
	if l == nil {
		return
	}
	l.mu.Lock()
	stop := l.stop
	if !l.ended {
		l.ended = true
		close(l.done)
	}
	l.mu.Unlock()
	if stop != nil {
		if err := stop(); err != nil {
			l.logger.Debug("unsubscribing from credentials", "error", err)
		}
	}
}

// wait returns when no connection is being replaced any more; end was called before.
func (l *liveCredentials) wait() {
	if l != nil {
		l.work.Wait()
	}
}
