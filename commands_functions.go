package redis

import (
	"context"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// FCall calls a function of a library on the server. keys and args are its arguments; a
// single slice as args stands for its values. The reply is what the function returns, Nil
// if that is nil or false. An error of the server says that there is no such function.
// Since Redis 7.0; its complexity is that of the function.
func (c cmdable) FCall(ctx context.Context, function string, keys []string, args ...any) *Cmd {
	return c.eval(ctx, "fcall", function, keys, args)
}

// FCallRO is FCall of a function that only reads, which may run on a replica. That the
// function writes is an error of the server. Since Redis 7.0; its complexity is that of
// the function.
func (c cmdable) FCallRO(ctx context.Context, function string, keys []string, args ...any) *Cmd {
	return c.eval(ctx, "fcall_ro", function, keys, args)
}

// FCallRo is FCallRO under another name. Since Redis 7.0; its complexity is that of the
// function.
func (c cmdable) FCallRo(ctx context.Context, function string, keys []string, args ...any) *Cmd {
	return c.FCallRO(ctx, function, keys, args...)
}

// FunctionLoad makes a library of its code, and gives its name. An error of the server
// says that there is one of that name. In a cluster, it goes to all primaries. Since
// Redis 7.0, O(1).
func (c cmdable) FunctionLoad(ctx context.Context, code string) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("function", "load")
	cmd.str(code)
	_ = c(ctx, cmd)
	return cmd
}

// FunctionLoadReplace is FunctionLoad, and replaces a library of the same name. Since
// Redis 7.0, O(1).
func (c cmdable) FunctionLoadReplace(ctx context.Context, code string) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("function", "load")
	cmd.strs("replace", code)
	_ = c(ctx, cmd)
	return cmd
}

// FunctionDelete removes a library. An error of the server says that there is none. In a
// cluster, it goes to all primaries. Since Redis 7.0, O(1).
func (c cmdable) FunctionDelete(ctx context.Context, libName string) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("function", "delete")
	cmd.str(libName)
	_ = c(ctx, cmd)
	return cmd
}

// FunctionFlush removes all libraries. In a cluster, it goes to all primaries. Since Redis
// 7.0, O(N) with the functions.
func (c cmdable) FunctionFlush(ctx context.Context) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("function", "flush")
	_ = c(ctx, cmd)
	return cmd
}

// FunctionFlushAsync is FunctionFlush, with the memory freed later. Since Redis 7.0, O(1).
func (c cmdable) FunctionFlushAsync(ctx context.Context) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("function", "flush")
	cmd.str("async")
	_ = c(ctx, cmd)
	return cmd
}

// FunctionKill ends the function that runs, unless it has written. An error of the server
// says that none runs, or that it has written. Since Redis 7.0, O(1).
func (c cmdable) FunctionKill(ctx context.Context) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("function", "kill")
	_ = c(ctx, cmd)
	return cmd
}

// FunctionDump gives all libraries in a form for FunctionRestore. Since Redis 7.0, O(N)
// with the functions.
func (c cmdable) FunctionDump(ctx context.Context) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("function", "dump")
	_ = c(ctx, cmd)
	return cmd
}

// FunctionRestore adds the libraries of a FunctionDump. An error of the server says that
// there is one of the same name. In a cluster, it goes to all primaries. Since Redis 7.0,
// O(N) with the functions.
func (c cmdable) FunctionRestore(ctx context.Context, libDump string) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("function", "restore")
	cmd.str(libDump)
	_ = c(ctx, cmd)
	return cmd
}

// FunctionListQuery says what FunctionList gives.
type FunctionListQuery struct {
	LibraryNamePattern string // a glob pattern; empty: all
	WithCode           bool   // the code too
}

// FunctionList gives the libraries with their functions, none where there are none. Since
// Redis 7.0, O(N) with the functions.
func (c cmdable) FunctionList(ctx context.Context, q FunctionListQuery) *FunctionListCmd {
	cmd := roomy[FunctionListCmd]()
	cmd.sub("function", "list")
	if q.LibraryNamePattern != "" {
		cmd.strs("libraryname", q.LibraryNamePattern)
	}
	cmd.opt(q.WithCode, "withcode")
	_ = c(ctx, cmd)
	return cmd
}

// FunctionStats tells which function runs, and how many there are, at one server. Since
// Redis 7.0, O(1).
func (c cmdable) FunctionStats(ctx context.Context) *FunctionStatsCmd {
	cmd := roomy[FunctionStatsCmd]()
	cmd.sub("function", "stats")
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// Library is a library of functions.
type Library struct {
	Name      string
	Engine    string // such as LUA
	Functions []Function
	Code      string // if it was asked for
}

// Function is a function of a library.
type Function struct {
	Name        string
	Description string // may be empty
	Flags       []string
}

// FunctionListCmd is the command of FunctionList.
type FunctionListCmd struct{ result[[]Library] }

// NewFunctionListCmd makes a command of its arguments, the name first.
func NewFunctionListCmd(_ context.Context, args ...any) *FunctionListCmd {
	c := roomy[FunctionListCmd]()
	c.beginArgs(args)
	return c
}

// First is the first library; the error is Nil where there is none.
func (c *FunctionListCmd) First() (*Library, error) {
	r := c.settled()
	switch {
	case r.err != nil:
		return nil, r.err
	case len(r.val) == 0:
		return nil, Nil
	}
	return &r.val[0], nil
}

func (c *FunctionListCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (l Library, err error) {
		err = readFields(r, func(name string) (err error) {
			switch name {
			case "library_name":
				l.Name, err = r.String()
			case "engine":
				l.Engine, err = r.String()
			case "functions":
				l.Functions, err = readSlice(r, readFunction)
			case "library_code":
				l.Code, err = r.String()
			default:
				err = r.Skip()
			}
			return err
		})
		return l, err
	})
	return err
}

func readFunction(r *resp.Reader) (f Function, err error) {
	err = readFields(r, func(name string) (err error) {
		switch name {
		case "name":
			f.Name, err = r.String()
		case "description":
			f.Description, err = readStringOrEmpty(r)
		case "flags":
			f.Flags, err = readSlice(r, readString)
		default:
			err = r.Skip()
		}
		return err
	})
	return f, err
}

// RunningScript is a function that runs.
type RunningScript struct {
	Name     string
	Command  []string      // what called it
	Duration time.Duration // so far, in whole milliseconds
}

// Engine is what runs functions, and how many of them there are.
type Engine struct {
	Language       string
	LibrariesCount int64
	FunctionsCount int64
}

// FunctionStats tells which functions run, and how many there are.
type FunctionStats struct {
	Engines []Engine

	running bool
	script  RunningScript
	all     []RunningScript
}

// Running tells whether a function runs.
func (s *FunctionStats) Running() bool { return s.running }

// RunningScript is the function that runs, if any.
func (s *FunctionStats) RunningScript() (RunningScript, bool) { return s.script, s.running }

// AllRunningScripts are the functions that run, where the server runs several at a time;
// elsewhere it is empty.
func (s *FunctionStats) AllRunningScripts() []RunningScript { return s.all }

// FunctionStatsCmd is the command of FunctionStats.
type FunctionStatsCmd struct{ result[FunctionStats] }

// NewFunctionStatsCmd makes a command of its arguments, the name first.
func NewFunctionStatsCmd(_ context.Context, args ...any) *FunctionStatsCmd {
	c := roomy[FunctionStatsCmd]()
	c.beginArgs(args)
	return c
}

func (c *FunctionStatsCmd) readReply(r *resp.Reader) error {
	c.val = FunctionStats{}
	var s FunctionStats
	err := readFields(r, func(name string) (err error) {
		switch name {
		case "running_script":
			if !r.Null() {
				s.running = true
				s.script, err = readRunningScript(r)
			}
		case "all_running_scripts":
			s.all, err = orZero(readSlice(r, readRunningScript))
		case "engines":
			s.Engines, err = readEngines(r)
		default:
			err = r.Skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	if !s.running && len(s.all) > 0 {
		s.running, s.script = true, s.all[0]
	}
	c.val = s
	return nil
}

func readRunningScript(r *resp.Reader) (s RunningScript, err error) {
	err = readFields(r, func(name string) (err error) {
		switch name {
		case "name":
			s.Name, err = r.String()
		case "command":
			s.Command, err = readSlice(r, readString)
		case "duration_ms":
			s.Duration, err = readMillis(r)
		default:
			err = r.Skip()
		}
		return err
	})
	return s, err
}

// readEngines reads a map of engines, whose order it keeps.
func readEngines(r *resp.Reader) ([]Engine, error) {
	var list []Engine
	err := readFields(r, func(language string) error {
		e := Engine{Language: language}
		err := readFields(r, func(name string) (err error) {
			switch name {
			case "libraries_count":
				e.LibrariesCount, err = r.Int()
			case "functions_count":
				e.FunctionsCount, err = r.Int()
			default:
				err = r.Skip()
			}
			return err
		})
		list = append(list, e)
		return err
	})
	return list, err
}
