package redis

import (
	"context"
	"crypto/sha1" //nolint:gosec // the server's name for a script, no protection
	"encoding/hex"
	"errors"
	"sync"

	"github.com/baton-go/redis/internal/resp"
)

// ErrNoScript is the error of Redis where it does not know the hash of a script. Other
// servers use other words after NOSCRIPT: HasErrorPrefix finds all.
var ErrNoScript = resp.Error("NOSCRIPT No matching script. Please use EVAL.")

// Eval runs a script on the server. keys and args are KEYS and ARGV in it; a single slice
// as args stands for its values. The reply is what the script returns, Nil if that is nil
// or false. Since Redis 2.6; its complexity is that of the script.
func (c cmdable) Eval(ctx context.Context, script string, keys []string, args ...any) *Cmd {
	return c.eval(ctx, "eval", script, keys, args)
}

// EvalSha is Eval of a script that the server knows, by its hash; ErrNoScript if it does
// not. Since Redis 2.6; its complexity is that of the script.
func (c cmdable) EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *Cmd {
	return c.eval(ctx, "evalsha", sha1, keys, args)
}

// EvalRO is Eval of a script that only reads, which may run on a replica. That the script
// writes is an error of the server. Since Redis 7.0; its complexity is that of the
// script.
func (c cmdable) EvalRO(ctx context.Context, script string, keys []string, args ...any) *Cmd {
	return c.eval(ctx, "eval_ro", script, keys, args)
}

// EvalShaRO is EvalRO of a script that the server knows, by its hash; ErrNoScript if it
// does not. Since Redis 7.0; its complexity is that of the script.
func (c cmdable) EvalShaRO(ctx context.Context, sha1 string, keys []string, args ...any) *Cmd {
	return c.eval(ctx, "evalsha_ro", sha1, keys, args)
}

func (c cmdable) eval(ctx context.Context, name, script string, keys []string, args []any) *Cmd {
	cmd := roomy[Cmd]()
	cmd.key(name, script)
	cmd.numKeys(keys)
	cmd.expand(args)
	_ = c(ctx, cmd)
	return cmd
}

// ScriptLoad makes the server know a script, and gives its hash. That it can't be
// compiled is an error of the server. Since Redis 2.6, O(N) with the script's length.
func (c cmdable) ScriptLoad(ctx context.Context, script string) *StringCmd {
	cmd := roomy[StringCmd]()
	cmd.sub("script", "load")
	cmd.str(script)
	_ = c(ctx, cmd)
	return cmd
}

// ScriptExists tells for each hash whether the server knows the script. Since Redis
// 2.6, O(N) with the hashes.
func (c cmdable) ScriptExists(ctx context.Context, hashes ...string) *BoolSliceCmd {
	cmd := roomy[BoolSliceCmd]()
	cmd.sub("script", "exists")
	cmd.strs(hashes...)
	_ = c(ctx, cmd)
	return cmd
}

// ScriptFlush makes the server forget all scripts. Since Redis 2.6, O(N) with the
// scripts.
func (c cmdable) ScriptFlush(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("script", "flush")
	_ = c(ctx, cmd)
	return cmd
}

// ScriptKill ends the script that runs, unless it has written. An error of the server
// says that none runs, or that it has written. Since Redis 2.6, O(1).
func (c cmdable) ScriptKill(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("script", "kill")
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// Scripter is what a Script is run by: a client, a Conn, a Tx or a pipeline.
type Scripter interface {
	Eval(ctx context.Context, script string, keys []string, args ...any) *Cmd
	EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *Cmd
	EvalRO(ctx context.Context, script string, keys []string, args ...any) *Cmd
	EvalShaRO(ctx context.Context, sha1 string, keys []string, args ...any) *Cmd
	ScriptExists(ctx context.Context, hashes ...string) *BoolSliceCmd
	ScriptLoad(ctx context.Context, script string) *StringCmd
}

// Script is a script and its hash, made once and used by any number of goroutines.
type Script struct {
	src        string
	fromServer bool // the hash is the server's word

	mu   sync.Mutex // guards hash
	hash string     // empty: not known yet
}

// NewScript makes a Script.
func NewScript(src string) *Script {
	sum := sha1.Sum([]byte(src)) //nolint:gosec // see the import
	return &Script{src: src, hash: hex.EncodeToString(sum[:])}
}

// NewScriptServerSHA makes a Script whose hash is what the server answers to the
// first Load, for programs that must not compute a SHA-1 themselves. Run loads it when
// it is first used.
func NewScriptServerSHA(src string) *Script { return &Script{src: src, fromServer: true} }

// Hash is the SHA-1 by which servers know the script; empty with NewScriptServerSHA
// before the first Load.
func (s *Script) Hash() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hash
}

// Load makes the server know the script, and gives its hash. Since Redis 2.6, O(N) with
// the script's length.
func (s *Script) Load(ctx context.Context, c Scripter) *StringCmd {
	cmd := c.ScriptLoad(ctx, s.src)
	if hash, err := cmd.Result(); s.fromServer && err == nil && hash != "" {
		s.mu.Lock()
		s.hash = hash
		s.mu.Unlock()
	}
	return cmd
}

// Exists tells whether the server knows the script. Since Redis 2.6, O(1).
func (s *Script) Exists(ctx context.Context, c Scripter) *BoolSliceCmd {
	return c.ScriptExists(ctx, s.Hash())
}

// Eval sends the script and runs it. The reply is what it returns, Nil if that is nil or
// false. Since Redis 2.6; its complexity is that of the script.
func (s *Script) Eval(ctx context.Context, c Scripter, keys []string, args ...any) *Cmd {
	return c.Eval(ctx, s.src, keys, args...)
}

// EvalRO is Eval for a script that only reads, which may run on a replica. Since Redis
// 7.0; its complexity is that of the script.
func (s *Script) EvalRO(ctx context.Context, c Scripter, keys []string, args ...any) *Cmd {
	return c.EvalRO(ctx, s.src, keys, args...)
}

// EvalSha runs the script by its hash; ErrNoScript if the server does not know it. Since
// Redis 2.6; its complexity is that of the script.
func (s *Script) EvalSha(ctx context.Context, c Scripter, keys []string, args ...any) *Cmd {
	return c.EvalSha(ctx, s.Hash(), keys, args...)
}

// EvalShaRO is EvalSha for a script that only reads, which may run on a replica. Since
// Redis 7.0; its complexity is that of the script.
func (s *Script) EvalShaRO(ctx context.Context, c Scripter, keys []string, args ...any) *Cmd {
	return c.EvalShaRO(ctx, s.Hash(), keys, args...)
}

// Run runs the script by its hash, and sends it if the server does not know it. In a
// pipeline, where the reply comes later, use Eval, or Load before. Since Redis 2.6; its
// complexity is that of the script.
func (s *Script) Run(ctx context.Context, c Scripter, keys []string, args ...any) *Cmd {
	if cmd := s.ready(ctx, c); cmd != nil {
		return cmd
	}
	cmd := s.EvalSha(ctx, c, keys, args...)
	if isNoScript(cmd.Err()) {
		return s.Eval(ctx, c, keys, args...)
	}
	return cmd
}

// RunRO is Run for a script that only reads, which may run on a replica. Since Redis 7.0;
// its complexity is that of the script.
func (s *Script) RunRO(ctx context.Context, c Scripter, keys []string, args ...any) *Cmd {
	if cmd := s.ready(ctx, c); cmd != nil {
		return cmd
	}
	cmd := s.EvalShaRO(ctx, c, keys, args...)
	if isNoScript(cmd.Err()) {
		return s.EvalRO(ctx, c, keys, args...)
	}
	return cmd
}

// ready makes sure that the hash is known. If it can't be, it gives a command with
// the reason.
func (s *Script) ready(ctx context.Context, c Scripter) *Cmd {
	if s.Hash() != "" {
		return nil
	}
	err := s.Load(ctx, c).Err()
	if err == nil && s.Hash() == "" {
		err = errors.New("redis: the script's hash is not known yet; Load it before it is used in a pipeline")
	}
	if err == nil {
		return nil
	}
	cmd := NewCmd(ctx, "evalsha")
	cmd.SetErr(err)
	return cmd
}

// isNoScript tells whether the server does not know the script.
func isNoScript(err error) bool { return HasErrorPrefix(err, "NOSCRIPT") }
