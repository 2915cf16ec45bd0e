package redis

import "context"

// Ping asks the server for a sign of life, which is PONG. Since Redis 1.0, O(1).
func (c cmdable) Ping(ctx context.Context) *StatusCmd {
	cmd := &StatusCmd{}
	cmd.begin("ping")
	_ = c(ctx, cmd)
	return cmd
}

// Echo gives message back. Since Redis 1.0, O(1).
func (c cmdable) Echo(ctx context.Context, message any) *StringCmd {
	cmd := &StringCmd{}
	cmd.begin("echo")
	cmd.arg(message)
	_ = c(ctx, cmd)
	return cmd
}

// Time gives the server's time. Since Redis 2.6, O(1).
func (c cmdable) Time(ctx context.Context) *TimeCmd {
	cmd := &TimeCmd{}
	cmd.begin("time")
	_ = c(ctx, cmd)
	return cmd
}

// DBSize gives the number of keys of the database. Since Redis 1.0, O(1).
func (c cmdable) DBSize(ctx context.Context) *IntCmd {
	cmd := &IntCmd{}
	cmd.begin("dbsize")
	_ = c(ctx, cmd)
	return cmd
}

// FlushAll removes all keys of all databases. Since Redis 1.0, O(N) with the keys.
func (c cmdable) FlushAll(ctx context.Context) *StatusCmd {
	cmd := &StatusCmd{}
	cmd.begin("flushall")
	_ = c(ctx, cmd)
	return cmd
}

// FlushAllAsync is FlushAll, with the memory freed later. Since Redis 4.0.
func (c cmdable) FlushAllAsync(ctx context.Context) *StatusCmd {
	cmd := &StatusCmd{}
	cmd.sub("flushall", "async")
	_ = c(ctx, cmd)
	return cmd
}

// FlushDB removes all keys of the database. Since Redis 1.0, O(N) with the keys.
func (c cmdable) FlushDB(ctx context.Context) *StatusCmd {
	cmd := &StatusCmd{}
	cmd.begin("flushdb")
	_ = c(ctx, cmd)
	return cmd
}

// FlushDBAsync is FlushDB, with the memory freed later. Since Redis 4.0.
func (c cmdable) FlushDBAsync(ctx context.Context) *StatusCmd {
	cmd := &StatusCmd{}
	cmd.sub("flushdb", "async")
	_ = c(ctx, cmd)
	return cmd
}

// Info gives what the server says about itself, or some sections of it, as text:
// lines "name:value" under headings "# Section". Since Redis 1.0, O(1).
func (c cmdable) Info(ctx context.Context, sections ...string) *StringCmd {
	cmd := &StringCmd{}
	cmd.keys("info", sections)
	_ = c(ctx, cmd)
	return cmd
}

// ClientList gives a line about each connection of the server. Since Redis 2.4, O(N)
// with the connections.
func (c cmdable) ClientList(ctx context.Context) *StringCmd {
	cmd := &StringCmd{}
	cmd.sub("client", "list")
	_ = c(ctx, cmd)
	return cmd
}
