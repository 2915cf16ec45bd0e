package redis

import "context"

// Eval runs a script on the server. keys and args are KEYS and ARGV in it. The reply
// is what it returns, Nil if that is nil or false. Since Redis 2.6.
func (c cmdable) Eval(ctx context.Context, script string, keys []string, args ...any) *Cmd {
	return c.eval(ctx, "eval", script, keys, args)
}

func (c cmdable) eval(ctx context.Context, name, script string, keys []string, args []any) *Cmd {
	cmd := &Cmd{}
	cmd.key(name, script)
	cmd.numKeys(keys)
	cmd.expand(args)
	_ = c(ctx, cmd)
	return cmd
}
