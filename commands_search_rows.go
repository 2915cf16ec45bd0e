package redis

import (
	"context"
	"errors"
	"fmt"

	"github.com/baton-go/redis/internal/resp"
)

// AggregateRow is a row of an aggregation: its properties. Values are strings and lists
// of them; COLLECT has a list of rows, for which there is Collect.
type AggregateRow struct {
	Fields map[string]any
}

// FTAggregateResult is what an aggregation gives.
type FTAggregateResult struct {
	Total    int // the server's number, which is not reliable
	Rows     []AggregateRow
	Warnings []string // such as a timeout; RESP3 only
}

// AggregateCmd is the command of FTAggregateWithArgs.
type AggregateCmd struct {
	keptReply[*FTAggregateResult]

	cursor int64
}

// NewAggregateCmd makes a command of its arguments, the name first.
func NewAggregateCmd(_ context.Context, args ...any) *AggregateCmd {
	c := roomy[AggregateCmd]()
	c.beginArgs(args)
	return c
}

// CursorID is the cursor with which FTCursorRead gives more rows; 0: these are all, or
// no cursor was asked for.
func (c *AggregateCmd) CursorID() int { return int(settled(c).cursor) }

func (c *AggregateCmd) readReply(r *resp.Reader) (err error) {
	c.keep(*r)
	c.val, c.cursor = nil, 0
	got := &FTAggregateResult{}
	c.cursor, _, err = readWithCursor(r, got.read)
	if err == nil {
		c.val = got
	}
	return err
}

// readWithCursor reads a reply with read, and the cursor that a reply with one has beside
// it; ok false: it has none.
func readWithCursor(r *resp.Reader, read func(*resp.Reader) error) (cursor int64, ok bool, err error) {
	if in := *r; isList(&in) {
		if n, err := in.ArrayLen(); err == nil && n == 2 && (isList(&in) || in.Kind() == resp.KindMap) {
			*r = in
			if err := read(r); err != nil {
				return 0, false, err
			}
			cursor, err := r.Int()
			return cursor, err == nil, err
		}
	}
	return 0, false, read(r)
}

// read reads a reply: in RESP2 a number and rows, in RESP3 a map.
func (a *FTAggregateResult) read(r *resp.Reader) (err error) {
	a.Rows = []AggregateRow{}
	if r.Kind() != resp.KindMap {
		total, n, err := readTotal(r)
		if err != nil {
			return err
		}
		a.Total = total
		a.Rows, err = readRows(r, n, func(r *resp.Reader) (map[string]any, error) { return readMap(r, readElement) })
		return err
	}
	return readFields(r, func(name string) (err error) {
		switch name {
		case "total_results":
			a.Total, err = readWhole(r)
		case "results":
			var n int
			if n, err = r.ArrayLen(); err == nil {
				a.Rows, err = readRows(r, n, readProperties)
			}
		case "warning", "warnings":
			a.Warnings, err = readWarnings(r)
		default:
			err = r.Skip()
		}
		return err
	})
}

// readTotal reads the head of a reply of RESP2: the number of results, and how many rows
// there are after it.
func readTotal(r *resp.Reader) (total, rows int, err error) {
	at := *r
	n, err := r.ArrayLen()
	if err != nil {
		return 0, 0, err
	}
	if n == 0 {
		return 0, 0, badShape(at, "a number and rows")
	}
	total, err = readWhole(r)
	return total, n - 1, err
}

// minRow is how many bytes a row takes at least.
const minRow = 4

// readRows reads n rows with read, without the nulls that are there for documents that
// expired meanwhile.
func readRows(r *resp.Reader, n int, read func(*resp.Reader) (map[string]any, error)) ([]AggregateRow, error) {
	rows := make([]AggregateRow, 0, min(n, r.Len()/minRow))
	for range n {
		if r.Null() {
			continue
		}
		fields, err := read(r)
		if err != nil {
			return nil, err
		}
		rows = append(rows, AggregateRow{Fields: fields})
	}
	return rows, nil
}

// readProperties reads a row of RESP3.
func readProperties(r *resp.Reader) (fields map[string]any, err error) {
	fields = map[string]any{}
	err = readFields(r, func(name string) (err error) {
		if name != "extra_attributes" {
			return r.Skip()
		}
		if !r.Null() {
			fields, err = readMap(r, readElement)
		}
		return err
	})
	return fields, err
}

// readRowMap reads the reply of an aggregation in the form that RESP3 has, whatever the
// protocol, with the cursor as "cursor" if there is one.
func readRowMap(r *resp.Reader) (m map[string]any, err error) {
	cursor, ok, err := readWithCursor(r, func(r *resp.Reader) (err error) {
		m, err = readOneRowMap(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	if ok {
		m["cursor"] = cursor
	}
	return m, nil
}

// readOneRowMap is readRowMap without a cursor.
func readOneRowMap(r *resp.Reader) (map[string]any, error) {
	if r.Kind() == resp.KindMap {
		return readMap(r, readElement)
	}
	total, n, err := readTotal(r)
	if err != nil {
		return nil, err
	}
	rows := make([]any, 0, min(n, r.Len()/minRow))
	for range n {
		if r.Null() {
			continue
		}
		fields, err := readMap(r, readElement)
		if err != nil {
			return nil, err
		}
		properties := make(map[any]any, len(fields))
		for name, v := range fields {
			properties[name] = v
		}
		rows = append(rows, map[any]any{"extra_attributes": properties, "values": []any{}})
	}
	return map[string]any{
		"attributes": []any{}, "format": "STRING", "results": rows, "total_results": int64(total), "warning": []any{},
	}, nil
}

// ProcessAggregateResult makes a typed result of a reply of FT.AGGREGATE in RESP2, as Cmd
// gives it: a number and rows, which are names and values in turn. A reply with a cursor
// is that in front of it.
func ProcessAggregateResult(data []any) (*FTAggregateResult, error) {
	if len(data) == 2 {
		if inner, ok := data[0].([]any); ok {
			data = inner
		}
	}
	if len(data) == 0 {
		return nil, errors.New("redis: FT.AGGREGATE: want a number and rows, got nothing")
	}
	total, err := toInt64(data[0])
	if err != nil {
		return nil, fmt.Errorf("redis: FT.AGGREGATE: want the number of results first: %w", err)
	}
	got := &FTAggregateResult{Total: int(total), Rows: make([]AggregateRow, 0, len(data)-1)}
	for i, v := range data[1:] {
		if v == nil {
			continue // the document expired meanwhile
		}
		fields, err := toProperties(v)
		if err != nil {
			return nil, fmt.Errorf("redis: FT.AGGREGATE: row %d: %w", i, err)
		}
		got.Rows = append(got.Rows, AggregateRow{Fields: fields})
	}
	return got, nil
}
