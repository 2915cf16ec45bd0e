package redis

import (
	"context"
	"iter"

	"github.com/baton-go/redis/internal/resp"
)

// ScanCmd is a command whose reply is a page of a listing, and the cursor of the
// next one, 0 after the last.
type ScanCmd struct {
	baseCmd
	page    []string
	cursor  uint64
	process cmdable
}

// NewScanCmd makes a command of its arguments, the name first. The cursor is
// argument 1 of SCAN and argument 2 of HSCAN, SSCAN and ZSCAN. What process does is
// used by Iterator to get the next pages.
func NewScanCmd(_ context.Context, process cmdable, args ...any) *ScanCmd {
	c := &ScanCmd{process: process}
	c.beginArgs(args)
	return c
}

// SetVal sets the reply.
func (c *ScanCmd) SetVal(page []string, cursor uint64) { c.page, c.cursor = page, cursor }

// Val is the page and the next cursor.
func (c *ScanCmd) Val() (keys []string, cursor uint64) {
	c = settled(c)
	return c.page, c.cursor
}

// Result is the page, the next cursor and the error.
func (c *ScanCmd) Result() (keys []string, cursor uint64, err error) {
	c = settled(c)
	return c.page, c.cursor, c.err
}

// String shows the command and its reply or error.
func (c *ScanCmd) String() string {
	c = settled(c)
	return c.show(c.page)
}

func (c *ScanCmd) readReply(r *resp.Reader) (err error) {
	c.page, c.cursor = nil, 0
	if err := expectLen(r, 2, "cursor and page"); err != nil {
		return err
	}
	if c.cursor, err = r.Uint(); err != nil {
		return err
	}
	c.page, err = readScanPage(r)
	return err
}

// readScanPage reads the page of a scan; pairs become two values.
func readScanPage(r *resp.Reader) ([]string, error) {
	n, err := r.ArrayLen()
	if err != nil {
		return nil, err
	}
	page := make([]string, 0, n)
	for range n {
		m := 1
		if isList(r) {
			if m, err = r.ArrayLen(); err != nil {
				return nil, err
			}
		}
		for range m {
			s, err := r.String()
			if err != nil {
				return nil, err
			}
			page = append(page, s)
		}
	}
	return page, nil
}

// next makes the command for the next page.
func (c *ScanCmd) next() *ScanCmd {
	next := &ScanCmd{process: c.process}
	args := c.Args()
	at := 1
	switch c.Name() {
	case "hscan", "sscan", "zscan":
		at = 2
	}
	if at < len(args) {
		args[at] = c.cursor
	}
	next.beginArgs(args)
	next.keyPos = c.keyPos
	return next
}

// Iterator goes over the values from this page on, and gets further pages as
// needed. It is used by one goroutine at a time.
func (c *ScanCmd) Iterator() *ScanIterator { return &ScanIterator{cmd: c} }

// ScanIterator goes over the values of a scan:
//
//	for it := rdb.Scan(ctx, 0, "user:*", 0).Iterator(); it.Next(ctx); {
//		use(it.Val())
//	}
//
// Err tells afterwards whether it came to the end. A value that was added or removed
// meanwhile may be missed, and a value may come twice.
type ScanIterator struct {
	cmd *ScanCmd
	pos int // of the value after the current one
}

// Err is the error that stopped the iteration.
func (it *ScanIterator) Err() error { return it.cmd.Err() }

// Next goes to the next value and tells whether there is one.
func (it *ScanIterator) Next(ctx context.Context) bool {
	for {
		it.cmd = settled(it.cmd)
		if it.cmd.err != nil {
			return false
		}
		if it.pos < len(it.cmd.page) {
			it.pos++
			return true
		}
		if it.cmd.cursor == 0 || it.cmd.process == nil {
			return false
		}
		it.cmd, it.pos = it.cmd.next(), 0
		_ = it.cmd.process(ctx, it.cmd)
	}
}

// Val is the current value.
func (it *ScanIterator) Val() string {
	if it.pos == 0 || it.pos > len(it.cmd.page) || it.cmd.err != nil {
		return ""
	}
	return it.cmd.page[it.pos-1]
}

// All goes over the values that are left. An error comes as the last pair, with an
// empty value:
//
//	for key, err := range rdb.Scan(ctx, 0, "user:*", 0).Iterator().All(ctx) {
//		if err != nil {
//			return err
//		}
//		use(key)
//	}
func (it *ScanIterator) All(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for it.Next(ctx) {
			if !yield(it.Val(), nil) {
				return
			}
		}
		if err := it.Err(); err != nil {
			yield("", err)
		}
	}
}

// Pairs goes over the names and values of an HSCAN, or the members and scores of a ZSCAN,
// that are left. Err tells afterwards whether it came to the end. What a page has beyond
// whole pairs, as the pages of SCAN may, is left out.
//
//	it := rdb.HScan(ctx, "user:1", 0, "", 0).Iterator()
//	for field, value := range it.Pairs(ctx) {
//		use(field, value)
//	}
//	return it.Err()
func (it *ScanIterator) Pairs(ctx context.Context) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for it.Next(ctx) {
			name := it.Val()
			if !it.Next(ctx) || !yield(name, it.Val()) {
				return
			}
		}
	}
}

// scanArgs appends the cursor and the options of a scan.
func (c *baseCmd) scanArgs(cursor uint64, match string, count int64) {
	c.uint(cursor)
	if match != "" {
		c.strs("match", match)
	}
	c.optInt(count > 0, "count", count)
}
