package redis

import (
	"context"

	"github.com/baton-go/redis/internal/resp"
)

// ACLCmdable are the commands for users and what they may do. In a cluster, those that
// change something go to all nodes.
type ACLCmdable interface {
	ACLCat(ctx context.Context) *StringSliceCmd
	ACLCatArgs(ctx context.Context, options *ACLCatArgs) *StringSliceCmd
	ACLDelUser(ctx context.Context, username string) *IntCmd
	ACLDryRun(ctx context.Context, username string, command ...any) *StringCmd
	ACLGenPass(ctx context.Context, bit int) *StringCmd
	ACLList(ctx context.Context) *StringSliceCmd
	ACLLog(ctx context.Context, count int64) *ACLLogCmd
	ACLLogReset(ctx context.Context) *StatusCmd
	ACLSetUser(ctx context.Context, username string, rules ...string) *StatusCmd
	ACLUsers(ctx context.Context) *StringSliceCmd
	ACLWhoAmI(ctx context.Context) *StringCmd
}

// ACLCat gives the categories of commands. Since Redis 6.0, O(1).
func (c cmdable) ACLCat(ctx context.Context) *StringSliceCmd { return c.ACLCatArgs(ctx, nil) }

// ACLCatArgs says what ACLCatArgs gives.
type ACLCatArgs struct {
	Category string // the commands of this one; empty: the categories
}

// ACLCatArgs gives the commands of a category, or the categories. An error of the server
// says that there is no such category. Since Redis 6.0, O(1), or O(N) with the commands.
func (c cmdable) ACLCatArgs(ctx context.Context, options *ACLCatArgs) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.sub("acl", "cat")
	if options != nil {
		cmd.opt(options.Category != "", options.Category)
	}
	_ = c(ctx, cmd)
	return cmd
}

// ACLDelUser removes a user and closes the user's connections, and gives how many users
// were removed. That the user is "default" is an error of the server. Since Redis 6.0,
// O(1).
func (c cmdable) ACLDelUser(ctx context.Context, username string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.sub("acl", "deluser")
	cmd.str(username)
	_ = c(ctx, cmd)
	return cmd
}

// ACLDryRun tells whether a user may execute a command, given by its arguments, the name
// first, without executing it: OK, or the reason why not. Since Redis 7.0, O(1).
func (c cmdable) ACLDryRun(ctx context.Context, username string, command ...any) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("acl", "dryrun")
	cmd.str(username)
	cmd.args(command...)
	_ = c(ctx, cmd)
	return cmd
}

// ACLGenPass gives a password made of so many random bits, 256 where bit is 0, in
// hexadecimal digits. Since Redis 6.0, O(1).
func (c cmdable) ACLGenPass(ctx context.Context, bit int) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("acl", "genpass")
	if bit > 0 {
		cmd.int(int64(bit))
	}
	_ = c(ctx, cmd)
	return cmd
}

// ACLList gives the users with their rules, one line each; passwords are hashed. Since
// Redis 6.0, O(N) with the users.
func (c cmdable) ACLList(ctx context.Context) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.sub("acl", "list")
	_ = c(ctx, cmd)
	return cmd
}

// ACLLog gives what was refused for lack of permissions, the newest first: at most count
// entries, or as many as the server gives by itself where count is 0. Since Redis 6.0,
// O(N) with the entries.
func (c cmdable) ACLLog(ctx context.Context, count int64) *ACLLogCmd {
	cmd := roomy[ACLLogCmd]()
	cmd.sub("acl", "log")
	if count > 0 {
		cmd.int(count)
	}
	_ = c(ctx, cmd)
	return cmd
}

// ACLLogReset forgets what ACLLog gives. Since Redis 6.0, O(N) with the entries.
func (c cmdable) ACLLogReset(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("acl", "log")
	cmd.str("reset")
	_ = c(ctx, cmd)
	return cmd
}

// ACLSetUser makes a user or changes one, by rules such as "on", ">password", "~key:*" or
// "+@read", which are applied in order. An error of the server tells which rule is wrong;
// none is applied then. Since Redis 6.0, O(N) with the rules.
func (c cmdable) ACLSetUser(ctx context.Context, username string, rules ...string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("acl", "setuser")
	cmd.str(username)
	cmd.strs(rules...)
	_ = c(ctx, cmd)
	return cmd
}

// ACLUsers gives the names of the users. Since Redis 6.0, O(N) with the users.
func (c cmdable) ACLUsers(ctx context.Context) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.sub("acl", "users")
	_ = c(ctx, cmd)
	return cmd
}

// ACLWhoAmI gives the name of the user that the connection has logged in as. Since Redis
// 6.0, O(1).
func (c cmdable) ACLWhoAmI(ctx context.Context) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("acl", "whoami")
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// ACLLogEntry is something that was refused. Equal ones that follow one another soon are
// one entry.
type ACLLogEntry struct {
	Count                int64   // how often
	Reason               string  // command, key, channel or auth
	Context              string  // toplevel, multi, lua or module
	Object               string  // the command, key or channel; with auth, the command that logs in
	Username             string  // who tried
	AgeSeconds           float64 // since the last time
	ClientInfo           *ClientInfo
	EntryID              int64 // since Redis 7.2
	TimestampCreated     int64 // the first time, in milliseconds since 1970; since Redis 7.2
	TimestampLastUpdated int64 // the last time, likewise
}

// ACLLogCmd is the command of ACLLog.
type ACLLogCmd struct{ result[[]*ACLLogEntry] }

// NewACLLogCmd makes a command of its arguments, the name first.
func NewACLLogCmd(_ context.Context, args ...any) *ACLLogCmd {
	c := roomy[ACLLogCmd]()
	c.beginArgs(args)
	return c
}

func (c *ACLLogCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, readACLLogEntry)
	return err
}

func readACLLogEntry(r *resp.Reader) (*ACLLogEntry, error) {
	e := &ACLLogEntry{}
	return e, readFields(r, func(name string) (err error) {
		switch name {
		case "count":
			e.Count, err = r.Int()
		case "reason":
			e.Reason, err = r.String()
		case "context":
			e.Context, err = r.String()
		case "object":
			e.Object, err = r.String()
		case "username":
			e.Username, err = r.String()
		case "age-seconds":
			e.AgeSeconds, err = r.Float()
		case "client-info":
			e.ClientInfo, err = readClientInfo(r)
		case "entry-id":
			e.EntryID, err = r.Int()
		case "timestamp-created":
			e.TimestampCreated, err = r.Int()
		case "timestamp-last-updated":
			e.TimestampLastUpdated, err = r.Int()
		default:
			err = r.Skip()
		}
		return err
	})
}
