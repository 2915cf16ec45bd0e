package redis

import "context"

// Get gives the value of key; Nil where there is none. An error of the server says
// that the key holds no string. Since Redis 1.0, O(1).
func (c cmdable) Get(ctx context.Context, key string) *StringCmd {
	cmd := &StringCmd{}
	cmd.begin("get")
	cmd.str(key)
	_ = c(ctx, cmd)
	return cmd
}
