package redis

import (
	"context"
	"slices"

	"github.com/baton-go/redis/internal/resp"
)

// Command gives what the server knows about each command, by its name in lower case.
// Since Redis 2.8.13, O(N) with the commands.
func (c cmdable) Command(ctx context.Context) *CommandsInfoCmd {
	cmd := roomy[CommandsInfoCmd]()
	cmd.begin("command")
	_ = c(ctx, cmd)
	return cmd
}

// FilterBy says which commands CommandList gives: those of a module, of an ACL category,
// or whose names match a glob pattern. If several are set, the first of these counts.
type FilterBy struct {
	Module  string
	ACLCat  string
	Pattern string
}

// CommandList gives the names of the commands, or of some; a nil filter means all. Since
// Redis 7.0, O(N) with the commands.
func (c cmdable) CommandList(ctx context.Context, filter *FilterBy) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.sub("command", "list")
	switch {
	case filter == nil:
	case filter.Module != "":
		cmd.strs("filterby", "module", filter.Module)
	case filter.ACLCat != "":
		cmd.strs("filterby", "aclcat", filter.ACLCat)
	case filter.Pattern != "":
		cmd.strs("filterby", "pattern", filter.Pattern)
	}
	_ = c(ctx, cmd)
	return cmd
}

// CommandGetKeys gives the keys of a command, given by its arguments, the name first. An
// error of the server says that it has none, or is no command. Since Redis 2.8.13, O(N)
// with the arguments.
func (c cmdable) CommandGetKeys(ctx context.Context, commands ...any) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.sub("command", "getkeys")
	cmd.args(commands...)
	_ = c(ctx, cmd)
	return cmd
}

// CommandGetKeysAndFlags is CommandGetKeys, with what becomes of each key. Since Redis
// 7.0, O(N) with the arguments.
func (c cmdable) CommandGetKeysAndFlags(ctx context.Context, commands ...any) *KeyFlagsCmd {
	cmd := roomy[KeyFlagsCmd]()
	cmd.sub("command", "getkeysandflags")
	cmd.args(commands...)
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// CommandInfo is what a server knows about a command.
type CommandInfo struct {
	Name        string
	Arity       int8     // of arguments, the name among them; negative: so many or more
	Flags       []string // such as readonly, write, admin
	ACLFlags    []string // the ACL categories
	FirstKeyPos int8     // which argument is the first key; 0: none
	LastKeyPos  int8     // and the last; negative: from the end
	StepCount   int8     // each so many-th argument in between is a key
	ReadOnly    bool     // it has the flag readonly
}

// CommandsInfoCmd is the command of Command.
type CommandsInfoCmd struct {
	result[map[string]*CommandInfo]
}

// NewCommandsInfoCmd makes a command of its arguments, the name first.
func NewCommandsInfoCmd(_ context.Context, args ...any) *CommandsInfoCmd {
	c := roomy[CommandsInfoCmd]()
	c.beginArgs(args)
	return c
}

// NewCommandsInfoCmdResult makes a command that is answered already; see NewCmdResult.
func NewCommandsInfoCmdResult(val map[string]*CommandInfo, err error) *CommandsInfoCmd {
	return answered(&CommandsInfoCmd{}, val, err)
}

func (c *CommandsInfoCmd) readReply(r *resp.Reader) error {
	c.val = nil
	n, err := r.ArrayLen()
	if err != nil {
		return err
	}
	infos := make(map[string]*CommandInfo)
	for range n {
		if r.Null() { // COMMAND INFO of an unknown one
			continue
		}
		info, err := readCommandInfo(r)
		if err != nil {
			return err
		}
		infos[info.Name] = info
	}
	c.val = infos
	return nil
}

// readCommandInfo reads an entry of COMMAND: 6 values, since Redis 6.0 one more, since 7.0
// another three.
func readCommandInfo(r *resp.Reader) (*CommandInfo, error) {
	at := *r
	n, err := r.ArrayLen()
	if err != nil {
		return nil, err
	}
	if n < 6 {
		return nil, badShape(at, "command's description")
	}
	info := &CommandInfo{}
	for i := range n {
		switch i {
		case 0:
			info.Name, err = r.String()
		case 1:
			info.Arity, err = readTinyInt(r)
		case 2:
			info.Flags, err = readSlice(r, readString)
		case 3:
			info.FirstKeyPos, err = readTinyInt(r)
		case 4:
			info.LastKeyPos, err = readTinyInt(r)
		case 5:
			info.StepCount, err = readTinyInt(r)
		case 6:
			info.ACLFlags, err = readSlice(r, readString)
		default:
			err = r.Skip()
		}
		if err != nil {
			return nil, err
		}
	}
	info.ReadOnly = slices.Contains(info.Flags, "readonly")
	return info, nil
}

// readTinyInt reads an integer as an int8.
func readTinyInt(r *resp.Reader) (int8, error) {
	n, err := r.Int()
	return int8(n), err
}

// KeyFlags is a key of a command, and what becomes of it, such as RW or access.
type KeyFlags struct {
	Key   string
	Flags []string
}

// KeyFlagsCmd is the command of CommandGetKeysAndFlags.
type KeyFlagsCmd struct{ result[[]KeyFlags] }

// NewKeyFlagsCmd makes a command of its arguments, the name first.
func NewKeyFlagsCmd(_ context.Context, args ...any) *KeyFlagsCmd {
	c := roomy[KeyFlagsCmd]()
	c.beginArgs(args)
	return c
}

func (c *KeyFlagsCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (k KeyFlags, err error) {
		if err := expectLen(r, 2, "a key and its flags"); err != nil {
			return k, err
		}
		if k.Key, err = r.String(); err != nil {
			return k, err
		}
		k.Flags, err = readSlice(r, readString)
		return k, err
	})
	return err
}
