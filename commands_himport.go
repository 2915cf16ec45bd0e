package redis

import "context"

// HImportPrepareCmd is the command of HImportPrepare, for Process.
type HImportPrepareCmd struct{ StatusCmd }

// NewHImportPrepareCmd makes the command.
func NewHImportPrepareCmd(_ context.Context, fieldsetName string, fields ...string) *HImportPrepareCmd {
	c := roomy[HImportPrepareCmd]()
	c.himport("prepare", fieldsetName)
	c.strs(fields...)
	return c
}

// HImportSetCmd is the command of HImportSet, for Process.
type HImportSetCmd struct{ StatusCmd }

// NewHImportSetCmd makes the command.
func NewHImportSetCmd(_ context.Context, key, fieldsetName string, values ...any) *HImportSetCmd {
	c := roomy[HImportSetCmd]()
	c.himport("set", key, fieldsetName)
	c.expand(values)
	return c
}

// HImportDiscardCmd is the command of HImportDiscard, for Process.
type HImportDiscardCmd struct{ IntCmd }

// NewHImportDiscardCmd makes the command.
func NewHImportDiscardCmd(_ context.Context, fieldsetName string) *HImportDiscardCmd {
	c := roomy[HImportDiscardCmd]()
	c.himport("discard", fieldsetName)
	return c
}

// HImportDiscardAllCmd is the command of HImportDiscardAll, for Process.
type HImportDiscardAllCmd struct{ IntCmd }

// NewHImportDiscardAllCmd makes the command.
func NewHImportDiscardAllCmd(_ context.Context) *HImportDiscardAllCmd {
	c := roomy[HImportDiscardAllCmd]()
	c.himport("discardall")
	return c
}

// himport starts a command about what the connection remembers.
func (c *baseCmd) himport(subcommand string, args ...string) {
	c.sub("himport", subcommand)
	c.strs(args...)
	c.lane = laneSession
}

// HImportPrepare tells the connection the names of fields, for HImportSet to leave
// them out. The server forgets them with the connection, so this works on a Conn,
// a Tx or in a pipeline that does all of it. Since Redis 8.10, O(N*log(N)) with the
// fields.
func (c cmdable) HImportPrepare(ctx context.Context, fieldset string, fields ...string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.himport("prepare", fieldset)
	cmd.strs(fields...)
	_ = c(ctx, cmd)
	return cmd
}

// HImportSet makes key a hash with values for the fields of a fieldset that the
// connection knows from HImportPrepare, in their order. An error of the server says that
// the connection does not know the fieldset. Since Redis 8.10, O(N) with the fields.
func (c cmdable) HImportSet(ctx context.Context, key, fieldset string, values ...any) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.himport("set", key, fieldset)
	cmd.expand(values)
	_ = c(ctx, cmd)
	return cmd
}

// HImportDiscard makes the connection forget a fieldset, and gives 1 if there was one,
// else 0. Since Redis 8.10, O(N) with the fieldsets of the connection.
func (c cmdable) HImportDiscard(ctx context.Context, fieldset string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.himport("discard", fieldset)
	_ = c(ctx, cmd)
	return cmd
}

// HImportDiscardAll makes the connection forget all fieldsets, and gives how many there
// were. Since Redis 8.10, O(N) with the fieldsets of the connection.
func (c cmdable) HImportDiscardAll(ctx context.Context) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.himport("discardall")
	_ = c(ctx, cmd)
	return cmd
}
