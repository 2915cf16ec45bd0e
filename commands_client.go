package redis

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// ClientList gives a line about each connection of the server. Since Redis 2.4, O(N)
// with the connections.
func (c cmdable) ClientList(ctx context.Context) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("client", "list")
	_ = c(ctx, cmd)
	return cmd
}

// ClientInfo gives what the server knows about the connection that the command goes
// over. Since Redis 6.2, O(1).
func (c cmdable) ClientInfo(ctx context.Context) *ClientInfoCmd {
	cmd := roomy[ClientInfoCmd]()
	cmd.sub("client", "info")
	_ = c(ctx, cmd)
	return cmd
}

// ClientID gives the number of the connection that the command goes over. Since Redis
// 5.0, O(1).
func (c cmdable) ClientID(ctx context.Context) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("client", "id")
	_ = c(ctx, cmd)
	return cmd
}

// ClientGetName gives the name of the connection that the command goes over; the
// empty string or Nil where it has none. Since Redis 2.6.9, O(1).
func (c cmdable) ClientGetName(ctx context.Context) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("client", "getname")
	_ = c(ctx, cmd)
	return cmd
}

// ClientKill closes the connection that comes from an address "ip:port". That there is
// none is an error of the server. Since Redis 2.4, O(N) with the connections.
func (c cmdable) ClientKill(ctx context.Context, ipPort string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("client", "kill")
	cmd.str(ipPort)
	_ = c(ctx, cmd)
	return cmd
}

// ClientKillByFilter closes the connections that have all of some properties, given
// as names and values in turn, such as "TYPE", "pubsub", and gives how many there were.
// Since Redis 2.8.12, O(N) with the connections.
func (c cmdable) ClientKillByFilter(ctx context.Context, keys ...string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("client", "kill")
	cmd.strs(keys...)
	_ = c(ctx, cmd)
	return cmd
}

// ClientPause makes the server take no commands for a while, in whole milliseconds.
// Since Redis 3.0, O(1).
func (c cmdable) ClientPause(ctx context.Context, dur time.Duration) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.sub("client", "pause")
	cmd.int(milliseconds(dur))
	_ = c(ctx, cmd)
	return cmd
}

// ClientUnpause ends a ClientPause. Since Redis 6.2, O(N) with the connections.
func (c cmdable) ClientUnpause(ctx context.Context) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.sub("client", "unpause")
	_ = c(ctx, cmd)
	return cmd
}

// ClientUnblock ends the wait of a blocking command on the connection with a number,
// as if its time had run out, and gives 1 if it waited, else 0. Since Redis 5.0,
// O(log N) with the connections.
func (c cmdable) ClientUnblock(ctx context.Context, id int64) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("client", "unblock")
	cmd.int(id)
	_ = c(ctx, cmd)
	return cmd
}

// ClientUnblockWithError is ClientUnblock with an error for the one that waited. Since
// Redis 5.0, O(log N) with the connections.
func (c cmdable) ClientUnblockWithError(ctx context.Context, id int64) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("client", "unblock")
	cmd.int(id)
	cmd.str("error")
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// ClientFlags are what the server notes about a connection, as bits.
type ClientFlags uint64

// The flags. CLIENT INFO shows only some of them.
const (
	ClientSlave               ClientFlags = 1 << iota // a replica
	ClientMaster                                      // the primary
	ClientMonitor                                     // it monitors
	ClientMulti                                       // in a transaction
	ClientBlocked                                     // in a blocking command
	ClientDirtyCAS                                    // a watched key has changed
	ClientCloseAfterReply                             // it is closed after its last reply
	ClientUnBlocked                                   // unblocked just now
	ClientScript                                      // not a connection: a script's
	ClientAsking                                      // it has said ASKING
	ClientCloseASAP                                   // it is closed as soon as possible
	ClientUnixSocket                                  // it came over a Unix socket
	ClientDirtyExec                                   // EXEC will fail
	ClientMasterForceReply                            // replies are queued though it is the primary
	ClientForceAOF                                    // the command goes to the append-only file
	ClientForceRepl                                   // the command goes to the replicas
	ClientPrePSync                                    // a replica that knows no PSYNC
	ClientReadOnly                                    // it has said READONLY
	ClientPubSub                                      // it has subscribed
	ClientPreventAOFProp                              // the command does not go to the append-only file
	ClientPreventReplProp                             // the command does not go to the replicas
	ClientPendingWrite                                // it has output that is not written
	ClientReplyOff                                    // it wants no replies
	ClientReplySkipNext                               // it wants no reply to the next command
	ClientReplySkip                                   // it wants no reply to this command
	ClientLuaDebug                                    // it debugs a script
	ClientLuaDebugSync                                // it debugs a script without a fork
	ClientModule                                      // not a connection: a module's
	ClientProtected                                   // it is not to be freed now
	ClientExecutingCommand                            // it executes a command
	ClientPendingCommand                              // it has a command that is not executed
	ClientTracking                                    // it tracks keys
	ClientTrackingBrokenRedir                         // the one it sends tracking to is gone
	ClientTrackingBCAST                               // it tracks prefixes
	ClientTrackingOptIn                               // it tracks keys on request
	ClientTrackingOptOut                              // it tracks keys unless asked not to
	ClientTrackingCaching                             // it has said CLIENT CACHING
	ClientTrackingNoLoop                              // it is not told of its own changes
	ClientInTimeoutTable                              // it waits with a timeout
	ClientProtocolError                               // it has not spoken the protocol
	ClientCloseAfterCommand                           // it is closed after the command
	ClientDenyBlocking                                // it may not block
	ClientReplRDBOnly                                 // a replica that wants the snapshot only
	ClientNoEvict                                     // it is not closed to save memory
	ClientAllowOOM                                    // it may use more memory than allowed
	ClientNoTouch                                     // its reads are not counted as uses
	ClientPushing                                     // a push is being written

	ClientPreventProp = ClientPreventAOFProp | ClientPreventReplProp
)

// clientFlagOf is the flag that a letter of CLIENT INFO stands for.
func clientFlagOf(letter rune) ClientFlags {
	switch letter {
	case 'A':
		return ClientCloseASAP
	case 'b':
		return ClientBlocked
	case 'B':
		return ClientTrackingBCAST
	case 'c':
		return ClientCloseAfterReply
	case 'd':
		return ClientDirtyCAS
	case 'e':
		return ClientNoEvict
	case 'M':
		return ClientMaster
	case 'O':
		return ClientSlave | ClientMonitor
	case 'P':
		return ClientPubSub
	case 'r':
		return ClientReadOnly
	case 'R':
		return ClientTrackingBrokenRedir
	case 'S':
		return ClientSlave
	case 't':
		return ClientTracking
	case 'T':
		return ClientNoTouch
	case 'u':
		return ClientUnBlocked
	case 'U':
		return ClientUnixSocket
	case 'x':
		return ClientMulti
	}
	return 0 // N: none, and what newer servers have
}

// ClientInfo is what the server knows about a connection. What it does not tell is
// the zero value.
type ClientInfo struct {
	ID                 int64
	Addr               string // the other end's
	LAddr              string // the server's end
	FD                 int64  // the server's file descriptor
	Name               string
	Age                time.Duration // whole seconds
	Idle               time.Duration // whole seconds
	Flags              ClientFlags
	DB                 int
	Sub                int // channels subscribed
	PSub               int // patterns subscribed
	SSub               int // sharded channels subscribed
	Multi              int // commands in the transaction; -1: none
	Watch              int // keys watched
	QueryBuf           int // bytes of the command so far
	QueryBufFree       int // bytes left for it
	ArgvMem            int // bytes of the command's arguments
	MultiMem           int // bytes of the transaction
	BufferSize         int // bytes of the read buffer
	BufferPeak         int // most bytes in it lately
	OutputBufferLength int
	OutputListLength   int
	OutputMemory       int
	TotalMemory        int
	TotalNetIn         int
	TotalNetOut        int
	TotalCmds          int
	IoThread           int
	Events             string // r: readable, w: writable
	LastCmd            string
	User               string
	Redir              int64 // the connection that tracking goes to; -1: none
	Resp               int   // the protocol, 2 or 3
	LibName            string
	LibVer             string
	ReadEvents         uint64
	AvgPipelineLenSum  uint64
	AvgPipelineLenCnt  uint64
}

// ClientInfoCmd is the command of ClientInfo.
type ClientInfoCmd struct{ result[*ClientInfo] }

// NewClientInfoCmd makes a command of its arguments, the name first.
func NewClientInfoCmd(_ context.Context, args ...any) *ClientInfoCmd {
	c := roomy[ClientInfoCmd]()
	c.beginArgs(args)
	return c
}

func (c *ClientInfoCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readClientInfo(r)
	return err
}

// readClientInfo reads a line about a connection.
func readClientInfo(r *resp.Reader) (*ClientInfo, error) {
	line, err := r.String()
	if err != nil {
		return nil, err
	}
	info := &ClientInfo{}
	for field := range strings.FieldsSeq(line) {
		name, val, ok := strings.Cut(field, "=")
		if !ok {
			return nil, errors.New("a field of the connection without a value: " + strconv.Quote(field))
		}
		if err := info.set(name, val); err != nil {
			return nil, errors.New("a bad value of the connection: " + strconv.Quote(field))
		}
	}
	return info, nil
}

// set stores a field; one that is not known is left out.
func (i *ClientInfo) set(name, val string) error {
	switch name {
	case "addr":
		i.Addr = val
	case "laddr":
		i.LAddr = val
	case "name":
		i.Name = val
	case "events":
		i.Events = val
	case "cmd":
		i.LastCmd = val
	case "user":
		i.User = val
	case "lib-name":
		i.LibName = val
	case "lib-ver":
		i.LibVer = val
	case "flags":
		for _, letter := range val {
			i.Flags |= clientFlagOf(letter)
		}
	case "age":
		return parseSeconds(val, &i.Age)
	case "idle":
		return parseSeconds(val, &i.Idle)
	default:
		if p := i.number(name); p != nil {
			return scanInto([]byte(val), p)
		}
	}
	return nil
}

// number is where a field that is a number goes; nil: nowhere.
func (i *ClientInfo) number(name string) any {
	switch name {
	case "id":
		return &i.ID
	case "fd":
		return &i.FD
	case "db":
		return &i.DB
	case "sub":
		return &i.Sub
	case "psub":
		return &i.PSub
	case "ssub":
		return &i.SSub
	case "multi":
		return &i.Multi
	case "watch":
		return &i.Watch
	case "qbuf":
		return &i.QueryBuf
	case "qbuf-free":
		return &i.QueryBufFree
	case "argv-mem":
		return &i.ArgvMem
	case "multi-mem":
		return &i.MultiMem
	case "rbs":
		return &i.BufferSize
	case "rbp":
		return &i.BufferPeak
	case "obl":
		return &i.OutputBufferLength
	case "oll":
		return &i.OutputListLength
	case "omem":
		return &i.OutputMemory
	case "tot-mem":
		return &i.TotalMemory
	case "tot-net-in":
		return &i.TotalNetIn
	case "tot-net-out":
		return &i.TotalNetOut
	case "tot-cmds":
		return &i.TotalCmds
	case "io-thread":
		return &i.IoThread
	case "redir":
		return &i.Redir
	case "resp":
		return &i.Resp
	case "read-events":
		return &i.ReadEvents
	case "avg-pipeline-len-sum":
		return &i.AvgPipelineLenSum
	case "avg-pipeline-len-cnt":
		return &i.AvgPipelineLenCnt
	}
	return nil
}

// parseSeconds stores a number of seconds.
func parseSeconds(s string, d *time.Duration) error {
	n, err := strconv.ParseInt(s, 10, 64)
	*d = times(n, time.Second)
	return err
}

//------------------------------------------------------------------------------

// statefulCmdable gives the methods that change a connection to whatever has one of
// its own: it is embedded in Conn, Tx and Pipeline.
type statefulCmdable func(ctx context.Context, cmd Cmder) error

// Auth logs in with the password of the default user. Since Redis 1.0, O(N) with the
// passwords.
func (c statefulCmdable) Auth(ctx context.Context, password string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("auth")
	cmd.str(password)
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

// AuthACL logs in as a user. Since Redis 6.0, O(N) with the user's passwords.
func (c statefulCmdable) AuthACL(ctx context.Context, username, password string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("auth")
	cmd.strs(username, password)
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

// Select changes to another database. Since Redis 1.0, O(1).
func (c statefulCmdable) Select(ctx context.Context, index int) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("select")
	cmd.int(int64(index))
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

// SwapDB makes two databases change places, for all connections. Since Redis 4.0,
// O(N) with those that watch or block on keys.
func (c statefulCmdable) SwapDB(ctx context.Context, index1, index2 int) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("swapdb")
	cmd.int(int64(index1))
	cmd.int(int64(index2))
	_ = c(ctx, cmd)
	return cmd
}

// ClientSetName gives the connection a name. Since Redis 2.6.9, O(1).
func (c statefulCmdable) ClientSetName(ctx context.Context, name string) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.sub("client", "setname")
	cmd.str(name)
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

// LibraryInfo is the name or the version of a library, for ClientSetInfo: one of the
// two.
type LibraryInfo struct {
	LibName *string
	LibVer  *string
}

// WithLibraryName makes a LibraryInfo of a name.
func WithLibraryName(libName string) LibraryInfo { return LibraryInfo{LibName: &libName} }

// WithLibraryVersion makes a LibraryInfo of a version.
func WithLibraryVersion(libVer string) LibraryInfo { return LibraryInfo{LibVer: &libVer} }

// Validate tells what is wrong: exactly one of the two must be there.
func (i LibraryInfo) Validate() error {
	switch {
	case i.LibName != nil && i.LibVer != nil:
		return errors.New("redis: LibraryInfo takes a name or a version, not both")
	case i.LibName == nil && i.LibVer == nil:
		return errors.New("redis: LibraryInfo needs a name or a version")
	}
	return nil
}

// ClientSetInfo tells the server the library's name or version. An info that is not
// valid is the command's error. Since Redis 7.2, O(1).
func (c statefulCmdable) ClientSetInfo(ctx context.Context, info LibraryInfo) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("client", "setinfo")
	switch err := info.Validate(); {
	case err != nil:
		cmd.reject(err.Error())
	case info.LibName != nil:
		cmd.strs("lib-name", *info.LibName)
	default:
		cmd.strs("lib-ver", *info.LibVer)
	}
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

// Hello changes the protocol to version ver, 2 or 3, and logs in and names the
// connection where these are not empty. The reply describes the server. Since Redis
// 6.0, O(1).
func (c statefulCmdable) Hello(ctx context.Context, ver int, username, password, clientName string) *MapStringInterfaceCmd {
	cmd := roomy[MapStringInterfaceCmd]()
	cmd.begin("hello")
	cmd.int(int64(ver))
	if password != "" {
		if username == "" {
			username = "default"
		}
		cmd.strs("auth", username, password)
	}
	if clientName != "" {
		cmd.strs("setname", clientName)
	}
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}
