package link

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// Handshake is what a link tells the server before it serves.
type Handshake struct {
	Protocol           int    // 3, or 2 to speak RESP2 without asking
	Username, Password string // Password "" and Username "": no authentication
	ClientName         string // "": none
	DB                 int
	LibName, LibVer    string // "": not told
	ReadOnly           bool   // READONLY, for replicas of a cluster
	// Tracking asks the server, where it speaks RESP3, to tell which keys that were read
	// on the link have changed: CLIENT TRACKING. A refusal fails nothing.
	Tracking bool
	// OptIn asks for maintenance notifications with this endpoint type, one of
	// those of CLIENT MAINT_NOTIFICATIONS; "" does not ask.
	OptIn string
	// OptInRequired fails the link where the server refuses, or does not speak RESP3.
	OptInRequired bool
	// RefusedBy is the identity (Info.Identity) of a server that has refused lately.
	// It is not asked again; any other server is, after its HELLO has told who it is.
	RefusedBy string
}

// Info is what the handshake has found out.
type Info struct {
	Protocol int    // 2 or 3, as granted by the server
	Server   string // "redis", "valkey", ...; "" with RESP2
	Version  string // "" with RESP2
	Role     string
	ConnID   int64 // the server's number for the connection; 0: not told
	OptedIn  bool  // maintenance notifications will come
	Tracking bool  // the server tracks what is read on the link
	// TrackingRefused is the server's error where it was asked to and would not.
	TrackingRefused error
	// OptInRefused is the server's error where it was asked for notifications and
	// would not.
	OptInRefused error
}

// Identity names a server's software and version, for what is to be remembered
// about it until it is upgraded.
func (i Info) Identity() string { return i.Server + "/" + i.Version }

// HandshakeError says at which step a server would not take the link.
type HandshakeError struct {
	Step string // the command, without its arguments
	Err  error
}

func (e *HandshakeError) Error() string { return "handshake, " + e.Step + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *HandshakeError) Unwrap() error { return e.Err }

// Permanent tells whether trying again is in vain: wrong credentials, missing
// permissions, a database that does not exist, a peer that is no Redis server or
// too old for what is required.
func (e *HandshakeError) Permanent() bool {
	if errors.Is(e.Err, resp.ErrProtocol) || errors.Is(e.Err, ErrNeedsRESP3) {
		return true
	}
	s, ok := errors.AsType[resp.Error](e.Err)
	return ok && !transient(s)
}

// transient tells whether an error reply is about the server's state of the moment.
func transient(e resp.Error) bool {
	for _, p := range []string{"LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "ERR max number of clients"} {
		if strings.HasPrefix(string(e), p) {
			return true
		}
	}
	return false
}

// authError tells whether an error reply is about who we are.
func authError(e resp.Error) bool {
	for _, p := range []string{"NOAUTH", "WRONGPASS", "NOPERM", "ERR invalid password", "ERR AUTH"} {
		if strings.HasPrefix(string(e), p) {
			return true
		}
	}
	return false
}

// ErrNeedsRESP3 says that maintenance notifications were required on a connection
// that does not speak RESP3.
var ErrNeedsRESP3 = errors.New("maintenance notifications need RESP3, which the server does not speak")

var linkIDs atomic.Uint64

// StepOptIn is the HandshakeError.Step of the opt-in to maintenance notifications.
const StepOptIn = "CLIENT MAINT_NOTIFICATIONS"

// step is one command of the handshake and what its failure means.
type step struct {
	name     string
	args     []string
	optional bool
	hello    bool
	optIn    bool
	tracking bool
}

func (h *Handshake) hello() step {
	args := []string{"HELLO", "3"}
	if h.Password != "" {
		args = append(args, "AUTH", h.user(), h.Password)
	}
	if h.ClientName != "" {
		args = append(args, "SETNAME", h.ClientName)
	}
	return step{name: "HELLO", args: args, hello: true}
}

func (h *Handshake) user() string {
	if h.Username == "" {
		return "default"
	}
	return h.Username
}

// legacy says by single commands what HELLO would have said at once.
func (h *Handshake) legacy() (s []step) {
	if h.Password != "" {
		args := []string{"AUTH", h.Password}
		if h.Username != "" {
			args = []string{"AUTH", h.Username, h.Password}
		}
		s = append(s, step{name: "AUTH", args: args})
	}
	if h.ClientName != "" {
		s = append(s, step{name: "CLIENT SETNAME", args: []string{"CLIENT", "SETNAME", h.ClientName}})
	}
	return s
}

// common is what follows in either case.
func (h *Handshake) common() (s []step) {
	if h.DB != 0 {
		s = append(s, step{name: "SELECT", args: []string{"SELECT", fmt.Sprint(h.DB)}})
	}
	if h.ReadOnly {
		s = append(s, step{name: "READONLY", args: []string{"READONLY"}})
	}
	if h.LibName != "" {
		s = append(s, step{name: "CLIENT SETINFO", args: []string{"CLIENT", "SETINFO", "LIB-NAME", h.LibName}, optional: true})
	}
	if h.LibVer != "" {
		s = append(s, step{name: "CLIENT SETINFO", args: []string{"CLIENT", "SETINFO", "LIB-VER", h.LibVer}, optional: true})
	}
	return s
}

func (h *Handshake) tracking() []step {
	if !h.Tracking {
		return nil
	}
	return []step{{name: "CLIENT TRACKING", args: []string{"CLIENT", "TRACKING", "ON"}, optional: true, tracking: true}}
}

func (h *Handshake) optIn() []step {
	if h.OptIn == "" {
		return nil
	}
	return []step{{
		name: StepOptIn, optional: !h.OptInRequired, optIn: true,
		args: []string{"CLIENT", "MAINT_NOTIFICATIONS", "ON", "moving-endpoint-type", h.OptIn},
	}}
}

// Open shakes hands on nc and makes a link of it, which nobody reads until Start.
// The commands are written at once, so that it takes one round trip, or two where
// HELLO is refused. On an error nc is closed. The end of ctx ends it.
func Open(ctx context.Context, nc net.Conn, cfg Config, h Handshake) (*Link, error) {
	l := &Link{
		cfg: cfg, nc: nc, id: linkIDs.Add(1), down: make(chan struct{}), gone: make(chan struct{}), flushAt: 1,
		reading: true, turn: make(chan struct{}, 1), away: new(atomic.Bool),
	}
	switch {
	case cfg.KeepReading:
		l.cfg.soloAfter = math.MaxInt
	case cfg.soloAfter == 0:
		l.cfg.soloAfter = soloAfter
	}
	l.bornAt = cfg.Timeouts.now()
	l.calls.New = newCall
	l.wrote.L = &l.mu
	l.scanner.SetLimits(cfg.Limits)
	l.rbuf = make([]byte, l.readBuffer())
	l.timer = time.AfterFunc(time.Hour, l.tick)
	l.timer.Stop()

	// Not at the deadline of ctx: the socket would be earlier than ctx to say so, and
	// the cause be lost.
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	err := l.shake(&h)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("handshake: %w", context.Cause(ctx))
		}
		_ = nc.Close()
		return nil, err
	}
	_ = nc.SetDeadline(time.Time{})
	l.gate = gateOf(nc)
	l.writer.use(nc)
	switch {
	case cfg.NoPolling:
	case l.gate != nil:
		l.poller.use(l.gate.Conn)
	default:
		l.poller.use(nc)
	}
	return l, nil
}

func (l *Link) shake(h *Handshake) error {
	l.info.Protocol = 2
	if h.Protocol != 2 {
		steps := append([]step{h.hello()}, h.common()...)
		steps = append(steps, h.tracking()...)
		if h.RefusedBy == "" {
			steps = append(steps, h.optIn()...)
		}
		err := l.run(steps)
		if err == nil {
			if h.RefusedBy != "" && h.RefusedBy != l.info.Identity() {
				return l.run(h.optIn())
			}
			return nil
		}
		var he *HandshakeError
		e, isReply := errors.AsType[resp.Error](err)
		if !errors.As(err, &he) || he.Step != "HELLO" || !isReply || transient(e) || authError(e) {
			return err
		}
	}
	if h.OptInRequired && h.OptIn != "" {
		return &HandshakeError{Step: "HELLO", Err: ErrNeedsRESP3}
	}
	l.info.OptedIn, l.info.OptInRefused = false, nil
	l.info.Tracking, l.info.TrackingRefused = false, nil
	return l.run(append(h.legacy(), h.common()...))
}

// run writes all steps at once and reads a reply for each. The first failure of a
// step that is not optional is its error; all replies are read nevertheless, or
// the next ones would be taken for others.
func (l *Link) run(steps []step) error {
	if len(steps) == 0 {
		return nil
	}
	var out []byte
	for _, s := range steps {
		out = resp.AppendArrayLen(out, len(s.args))
		for _, a := range s.args {
			out = resp.AppendBulk(out, a)
		}
	}
	if _, err := l.nc.Write(out); err != nil {
		return &HandshakeError{Step: steps[0].name, Err: err}
	}
	var first error
	for _, s := range steps {
		frame, err := l.nextReply()
		if err != nil {
			if first != nil {
				return first
			}
			return &HandshakeError{Step: s.name, Err: err}
		}
		if err := l.settle(s, frame); err != nil && first == nil {
			first = &HandshakeError{Step: s.name, Err: err}
		}
	}
	return first
}

// settle takes the reply to one step.
func (l *Link) settle(s step, frame []byte) error {
	r := resp.NewReader(frame)
	switch {
	case s.hello:
		return l.readHello(&r)
	case s.optIn:
		_, err := r.Bytes()
		if err == nil && l.info.Protocol == 3 {
			l.info.OptedIn = true
			return nil
		}
		if e, ok := errors.AsType[resp.Error](err); !ok || !transient(e) {
			l.info.OptInRefused = err // else it says nothing about the server's software
		}
		if s.optional {
			return nil
		}
		return err
	}
	_, err := r.Bytes()
	if s.tracking {
		l.info.Tracking, l.info.TrackingRefused = err == nil && l.info.Protocol == 3, err
	}
	if s.optional {
		return nil
	}
	return err
}

func (l *Link) readHello(r *resp.Reader) error {
	n, err := r.MapLen()
	if err != nil {
		return err
	}
	proto := 0
	for range n {
		key, err := r.String()
		if err != nil {
			return err
		}
		switch key {
		case "proto":
			v, err := r.Int()
			if err != nil {
				return err
			}
			proto = int(v)
		case "id":
			if l.info.ConnID, err = r.Int(); err != nil {
				return err
			}
		case "server":
			l.info.Server, err = r.String()
		case "version":
			l.info.Version, err = r.String()
		case "role":
			l.info.Role, err = r.String()
		default:
			err = r.Skip()
		}
		if err != nil {
			return err
		}
	}
	if proto != 3 {
		return fmt.Errorf("the server answers HELLO 3 with protocol %d", proto)
	}
	l.info.Protocol = 3
	return nil
}

// nextReply reads a frame that is no push; pushes are kept for Start.
func (l *Link) nextReply() ([]byte, error) {
	for {
		n, err := l.scanner.Next(l.rbuf[l.r:l.w])
		if err != nil {
			return nil, fmt.Errorf("the peer does not speak RESP; is it a Redis server, and is TLS on at both ends or at none? %w", err)
		}
		if n > 0 {
			frame := l.rbuf[l.r : l.r+n]
			l.r += n
			if !isPush(frame) {
				return frame, nil
			}
			l.early = append(l.early, append([]byte(nil), frame...))
			continue
		}
		l.makeSpace()
		n, err = l.nc.Read(l.rbuf[l.w:])
		l.w += n
		if n == 0 && err != nil {
			return nil, err
		}
	}
}
