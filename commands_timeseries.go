package redis

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/baton-go/redis/internal/resp"
)

// TimeseriesCmdable are the commands for time series, of the module RedisTimeSeries,
// which Redis 8 brings along. Timestamps are Unix times in milliseconds. Commands that
// find series by their labels are for any node of a cluster.
type TimeseriesCmdable interface {
	TSAdd(ctx context.Context, key string, timestamp any, value float64) *IntCmd
	TSAddWithArgs(ctx context.Context, key string, timestamp any, value float64, options *TSOptions) *IntCmd
	TSAlter(ctx context.Context, key string, options *TSAlterOptions) *StatusCmd
	TSCreate(ctx context.Context, key string) *StatusCmd
	TSCreateRule(ctx context.Context, sourceKey, destKey string, aggregator Aggregator, bucketDuration int) *StatusCmd
	TSCreateRuleWithArgs(ctx context.Context, sourceKey, destKey string, aggregator Aggregator, bucketDuration int, options *TSCreateRuleOptions) *StatusCmd
	TSCreateWithArgs(ctx context.Context, key string, options *TSOptions) *StatusCmd
	TSDecrBy(ctx context.Context, key string, value float64) *IntCmd
	TSDecrByWithArgs(ctx context.Context, key string, value float64, options *TSIncrDecrOptions) *IntCmd
	TSDel(ctx context.Context, key string, fromTimestamp, toTimestamp int) *IntCmd
	TSDeleteRule(ctx context.Context, sourceKey, destKey string) *StatusCmd
	TSGet(ctx context.Context, key string) *TSTimestampValueCmd
	TSGetWithArgs(ctx context.Context, key string, options *TSGetOptions) *TSTimestampValueCmd
	TSIncrBy(ctx context.Context, key string, value float64) *IntCmd
	TSIncrByWithArgs(ctx context.Context, key string, value float64, options *TSIncrDecrOptions) *IntCmd
	TSInfo(ctx context.Context, key string) *MapStringInterfaceCmd
	TSInfoWithArgs(ctx context.Context, key string, options *TSInfoOptions) *MapStringInterfaceCmd
	TSMAdd(ctx context.Context, ktvSlices [][]any) *IntSliceCmd
	TSMGet(ctx context.Context, filters []string) *MapStringSliceInterfaceCmd
	TSMGetWithArgs(ctx context.Context, filters []string, options *TSMGetOptions) *MapStringSliceInterfaceCmd
	TSMRange(ctx context.Context, fromTimestamp, toTimestamp int, filterExpr []string) *MapStringSliceInterfaceCmd
	TSMRangeWithArgs(ctx context.Context, fromTimestamp, toTimestamp int, filterExpr []string, options *TSMRangeOptions) *MapStringSliceInterfaceCmd
	TSMRevRange(ctx context.Context, fromTimestamp, toTimestamp int, filterExpr []string) *MapStringSliceInterfaceCmd
	TSMRevRangeWithArgs(ctx context.Context, fromTimestamp, toTimestamp int, filterExpr []string, options *TSMRevRangeOptions) *MapStringSliceInterfaceCmd
	TSNRange(ctx context.Context, keys []string, fromTimestamp, toTimestamp any) *TSNRangePivotRowSliceCmd
	TSNRangeWithArgs(ctx context.Context, keys []string, fromTimestamp, toTimestamp any, options *TSNRangeOptions) *TSNRangePivotRowSliceCmd
	TSNRevRange(ctx context.Context, keys []string, fromTimestamp, toTimestamp any) *TSNRangePivotRowSliceCmd
	TSNRevRangeWithArgs(ctx context.Context, keys []string, fromTimestamp, toTimestamp any, options *TSNRevRangeOptions) *TSNRangePivotRowSliceCmd
	TSQueryIndex(ctx context.Context, filterExpr []string) *StringSliceCmd
	TSQueryLabelValues(ctx context.Context, label string, filterExpr []string) *StringSliceCmd
	TSQueryLabels(ctx context.Context, filterExpr []string) *StringSliceCmd
	TSRange(ctx context.Context, key string, fromTimestamp, toTimestamp int) *TSTimestampValueSliceCmd
	TSRangeWithArgs(ctx context.Context, key string, fromTimestamp, toTimestamp int, options *TSRangeOptions) *TSTimestampValueSliceCmd
	TSRead(ctx context.Context, key string, timestamp any) *TSTimestampValueSliceCmd
	TSReadWithArgs(ctx context.Context, key string, timestamp any, options *TSReadOptions) *TSTimestampValueSliceCmd
	TSRevRange(ctx context.Context, key string, fromTimestamp, toTimestamp int) *TSTimestampValueSliceCmd
	TSRevRangeWithArgs(ctx context.Context, key string, fromTimestamp, toTimestamp int, options *TSRevRangeOptions) *TSTimestampValueSliceCmd
}

// TSOptions describe a series. Zero values are the server's defaults.
type TSOptions struct {
	Retention         int    // milliseconds that samples are kept
	ChunkSize         int    // bytes of a chunk
	Encoding          string // COMPRESSED or UNCOMPRESSED
	DuplicatePolicy   string // BLOCK, FIRST, LAST, MIN, MAX or SUM
	Labels            map[string]string
	IgnoreMaxTimeDiff int64   // with IgnoreMaxValDiff: a sample so close to the last one is left out
	IgnoreMaxValDiff  float64 // see IgnoreMaxTimeDiff
}

// TSAlterOptions say what changes in a series. Zero values change nothing.
type TSAlterOptions struct {
	Retention         int
	ChunkSize         int
	DuplicatePolicy   string
	Labels            map[string]string // nil: they stay, empty: they go
	IgnoreMaxTimeDiff int64
	IgnoreMaxValDiff  float64
}

// TSIncrDecrOptions are the options of TSIncrByWithArgs and TSDecrByWithArgs: when, and
// what the series is like if it is new. Zero values are the server's defaults.
type TSIncrDecrOptions struct {
	Timestamp         int64 // 0: now
	Retention         int
	ChunkSize         int
	Uncompressed      bool
	DuplicatePolicy   string
	Labels            map[string]string
	IgnoreMaxTimeDiff int64
	IgnoreMaxValDiff  float64
}

// TSCreateRuleOptions are the options of TSCreateRuleWithArgs.
type TSCreateRuleOptions struct {
	AlignTimestamp int64 // a point in time at which a bucket begins; 0: the epoch
}

// TSGetOptions are the options of TSGetWithArgs.
type TSGetOptions struct {
	Latest bool // the value of a bucket that is still open, too
}

// TSInfoOptions are the options of TSInfoWithArgs.
type TSInfoOptions struct {
	Debug bool // the chunks too
}

// tsSeries is what a series may be created with.
type tsSeries struct {
	retention, chunkSize      int
	encoding, duplicatePolicy string
	ignoreTime                int64
	ignoreValue               float64
	labels                    map[string]string
}

// tsSeries appends what a series is like. Labels come last, because they take what
// follows for more labels.
func (c *baseCmd) tsSeries(s tsSeries) {
	c.optInt(s.retention != 0, "RETENTION", int64(s.retention))
	if s.encoding != "" {
		c.strs("ENCODING", s.encoding)
	}
	c.optInt(s.chunkSize != 0, "CHUNK_SIZE", int64(s.chunkSize))
	if s.duplicatePolicy != "" {
		c.strs("DUPLICATE_POLICY", s.duplicatePolicy)
	}
	if s.ignoreTime != 0 || s.ignoreValue != 0 {
		c.optInt(true, "IGNORE", s.ignoreTime)
		c.float(s.ignoreValue)
	}
	if s.labels == nil {
		return
	}
	c.str("LABELS")
	for _, name := range slices.Sorted(maps.Keys(s.labels)) {
		c.strs(name, s.labels[name])
	}
}

// series are the options in the form for encoding. Empty labels are none.
func (o *TSOptions) series() tsSeries {
	if o == nil {
		return tsSeries{}
	}
	s := tsSeries{
		retention: o.Retention, chunkSize: o.ChunkSize, encoding: o.Encoding, duplicatePolicy: o.DuplicatePolicy,
		ignoreTime: o.IgnoreMaxTimeDiff, ignoreValue: o.IgnoreMaxValDiff,
	}
	if len(o.Labels) > 0 {
		s.labels = o.Labels
	}
	return s
}

// TSCreate makes an empty series. If the key exists, that is an error of the server.
// Since RedisTimeSeries 1.0, O(1).
func (c cmdable) TSCreate(ctx context.Context, key string) *StatusCmd {
	return c.TSCreateWithArgs(ctx, key, nil)
}

// TSCreateWithArgs is TSCreate with options. Since RedisTimeSeries 1.0, O(1).
func (c cmdable) TSCreateWithArgs(ctx context.Context, key string, options *TSOptions) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("ts.create", key)
	cmd.tsSeries(options.series())
	_ = c(ctx, cmd)
	return cmd
}

// TSAlter changes a series. That the key does not exist is an error of the server. Since
// RedisTimeSeries 1.0, O(N) with the labels.
func (c cmdable) TSAlter(ctx context.Context, key string, options *TSAlterOptions) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("ts.alter", key)
	if o := options; o != nil {
		cmd.tsSeries(tsSeries{
			retention: o.Retention, chunkSize: o.ChunkSize, duplicatePolicy: o.DuplicatePolicy,
			ignoreTime: o.IgnoreMaxTimeDiff, ignoreValue: o.IgnoreMaxValDiff, labels: o.Labels,
		})
	}
	_ = c(ctx, cmd)
	return cmd
}

// TSAdd adds a sample to a series, which is made if there is none, and gives its
// timestamp. "*" stands for the server's time. That there is a sample already is an error
// of the server, unless the series has a policy for that. Since RedisTimeSeries 1.0, O(M)
// with the compaction rules, or O(N) in the midst of other samples.
func (c cmdable) TSAdd(ctx context.Context, key string, timestamp any, value float64) *IntCmd {
	return c.TSAddWithArgs(ctx, key, timestamp, value, nil)
}

// TSAddWithArgs is TSAdd that says what the series is like if it is new. Since
// RedisTimeSeries 1.0, O(M) as TSAdd.
func (c cmdable) TSAddWithArgs(ctx context.Context, key string, timestamp any, value float64, options *TSOptions) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("ts.add", key)
	cmd.arg(timestamp)
	cmd.float(value)
	cmd.tsSeries(options.series())
	_ = c(ctx, cmd)
	return cmd
}

// TSMAdd adds samples to several series, which must exist: each of ktvSlices is a key, a
// timestamp and a value. It gives the timestamps; if any sample is refused, the server's
// error for it. In a cluster all keys must be in one slot. Since RedisTimeSeries 1.0,
// O(N*M) with the samples and the compaction rules.
func (c cmdable) TSMAdd(ctx context.Context, ktvSlices [][]any) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.begin("ts.madd")
	for _, ktv := range ktvSlices {
		cmd.args(ktv...)
		if len(ktv) == 0 || len(ktv)%3 != 0 {
			cmd.reject("redis: TSMAdd needs a key, a timestamp and a value for each sample")
		}
	}
	if len(ktvSlices) == 0 {
		cmd.reject("redis: TSMAdd needs a sample")
	}
	_ = c(ctx, cmd)
	return cmd
}

// TSIncrBy adds a sample that is the last value and value to a series, which is made if
// there is none, and gives its timestamp. That this is before the last one's is an error
// of the server. Since RedisTimeSeries 1.0, O(M) with the compaction rules.
func (c cmdable) TSIncrBy(ctx context.Context, key string, value float64) *IntCmd {
	return c.tsIncr(ctx, "ts.incrby", key, value, nil)
}

// TSIncrByWithArgs is TSIncrBy with options. Since RedisTimeSeries 1.0, O(M) with the
// compaction rules.
func (c cmdable) TSIncrByWithArgs(ctx context.Context, key string, value float64, options *TSIncrDecrOptions) *IntCmd {
	return c.tsIncr(ctx, "ts.incrby", key, value, options)
}

// TSDecrBy is TSIncrBy that subtracts. Since RedisTimeSeries 1.0, O(M) with the
// compaction rules.
func (c cmdable) TSDecrBy(ctx context.Context, key string, value float64) *IntCmd {
	return c.tsIncr(ctx, "ts.decrby", key, value, nil)
}

// TSDecrByWithArgs is TSDecrBy with options. Since RedisTimeSeries 1.0, O(M) with the
// compaction rules.
func (c cmdable) TSDecrByWithArgs(ctx context.Context, key string, value float64, options *TSIncrDecrOptions) *IntCmd {
	return c.tsIncr(ctx, "ts.decrby", key, value, options)
}

func (c cmdable) tsIncr(ctx context.Context, name, key string, value float64, o *TSIncrDecrOptions) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key(name, key)
	cmd.float(value)
	if o != nil {
		cmd.optInt(o.Timestamp != 0, "TIMESTAMP", o.Timestamp)
		cmd.opt(o.Uncompressed, "UNCOMPRESSED")
		create := TSOptions{
			Retention: o.Retention, ChunkSize: o.ChunkSize, DuplicatePolicy: o.DuplicatePolicy, Labels: o.Labels,
			IgnoreMaxTimeDiff: o.IgnoreMaxTimeDiff, IgnoreMaxValDiff: o.IgnoreMaxValDiff,
		}
		cmd.tsSeries(create.series())
	}
	_ = c(ctx, cmd)
	return cmd
}

// TSDel deletes the samples from one timestamp to another, both included, and gives how
// many there were. That the key does not exist is an error of the server. Since
// RedisTimeSeries 1.6, O(N) with the samples.
func (c cmdable) TSDel(ctx context.Context, key string, fromTimestamp, toTimestamp int) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("ts.del", key)
	cmd.int(int64(fromTimestamp))
	cmd.int(int64(toTimestamp))
	_ = c(ctx, cmd)
	return cmd
}

// TSCreateRule makes that new samples of a series are compacted into another one, which
// must exist, one for each bucket of so many milliseconds. That one does not exist, or
// has a rule in the way, is an error of the server. Since RedisTimeSeries 1.0, O(1).
func (c cmdable) TSCreateRule(ctx context.Context, sourceKey, destKey string, aggregator Aggregator, bucketDuration int) *StatusCmd {
	return c.TSCreateRuleWithArgs(ctx, sourceKey, destKey, aggregator, bucketDuration, nil)
}

// TSCreateRuleWithArgs is TSCreateRule with options. Since RedisTimeSeries 1.0, O(1).
func (c cmdable) TSCreateRuleWithArgs(ctx context.Context, sourceKey, destKey string, aggregator Aggregator, bucketDuration int, options *TSCreateRuleOptions) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("ts.createrule", sourceKey)
	cmd.strs(destKey, "AGGREGATION")
	cmd.tsAggregators([]Aggregator{aggregator})
	cmd.int(int64(bucketDuration))
	if options != nil && options.AlignTimestamp != 0 {
		cmd.int(options.AlignTimestamp)
	}
	_ = c(ctx, cmd)
	return cmd
}

// TSDeleteRule ends a compaction. That there is none is an error of the server. Since
// RedisTimeSeries 1.0, O(1).
func (c cmdable) TSDeleteRule(ctx context.Context, sourceKey, destKey string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("ts.deleterule", sourceKey)
	cmd.str(destKey)
	_ = c(ctx, cmd)
	return cmd
}

// TSGet gives the last sample, the zero value of a series that has none. That the key
// does not exist is an error of the server. Since RedisTimeSeries 1.0, O(1).
func (c cmdable) TSGet(ctx context.Context, key string) *TSTimestampValueCmd {
	return c.TSGetWithArgs(ctx, key, nil)
}

// TSGetWithArgs is TSGet with options. Since RedisTimeSeries 1.0 (Latest since 1.8),
// O(1).
func (c cmdable) TSGetWithArgs(ctx context.Context, key string, options *TSGetOptions) *TSTimestampValueCmd {
	cmd := roomy[TSTimestampValueCmd]()
	cmd.key("ts.get", key)
	cmd.opt(options != nil && options.Latest, "LATEST")
	_ = c(ctx, cmd)
	return cmd
}

// TSInfo describes a series. That the key does not exist is an error of the server. Since
// RedisTimeSeries 1.0, O(1).
func (c cmdable) TSInfo(ctx context.Context, key string) *MapStringInterfaceCmd {
	return c.TSInfoWithArgs(ctx, key, nil)
}

// TSInfoWithArgs is TSInfo with options. Since RedisTimeSeries 1.0, O(1).
func (c cmdable) TSInfoWithArgs(ctx context.Context, key string, options *TSInfoOptions) *MapStringInterfaceCmd {
	cmd := roomy[MapStringInterfaceCmd]()
	cmd.key("ts.info", key)
	cmd.opt(options != nil && options.Debug, "DEBUG")
	_ = c(ctx, cmd)
	return cmd
}

// TSQueryIndex gives the keys of the series that pass all filters, which are expressions
// such as label=value and label!=. Since RedisTimeSeries 1.0, O(N) with the series.
func (c cmdable) TSQueryIndex(ctx context.Context, filterExpr []string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.keys("ts.queryindex", filterExpr)
	_ = c(ctx, cmd)
	return cmd
}

// TSQueryLabels gives the names of the labels of the series that pass all filters, in no
// order; of all series if there is no filter. Since Redis 8.10, O(N) with the series.
func (c cmdable) TSQueryLabels(ctx context.Context, filterExpr []string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.sub("ts.querylabels", "LABELS")
	cmd.tsFilter(filterExpr)
	_ = c(ctx, cmd)
	return cmd
}

// TSQueryLabelValues gives the values of one label; see TSQueryLabels. Since Redis 8.10,
// O(N) with the series.
func (c cmdable) TSQueryLabelValues(ctx context.Context, label string, filterExpr []string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.sub("ts.querylabels", "VALUES")
	cmd.str(label)
	cmd.tsFilter(filterExpr)
	_ = c(ctx, cmd)
	return cmd
}

// tsFilter appends filters.
func (c *baseCmd) tsFilter(filterExpr []string) {
	if len(filterExpr) > 0 {
		c.str("FILTER")
		c.strs(filterExpr...)
	}
}

// TSReadOptions are the options of TSReadWithArgs.
type TSReadOptions struct {
	Block    bool          // wait for samples
	Timeout  time.Duration // how long; 0: for ever
	MinCount int           // for how many samples to wait; 0: one
	MaxCount int           // samples; 0: all
}

// Timestamps of TSRead that the server knows.
const (
	TSReadEarliest = "-" // the first sample
	TSReadLatest   = "+" // the last sample, which is one of those read
	TSReadNew      = "$" // what comes after the last sample
)

// TSRead gives the samples from a timestamp on, the oldest first. Since Redis 8.10,
// O(log N + K) with the samples of the series and those given.
func (c cmdable) TSRead(ctx context.Context, key string, timestamp any) *TSTimestampValueSliceCmd {
	return c.TSReadWithArgs(ctx, key, timestamp, nil)
}

// TSReadWithArgs is TSRead that may wait; when the time is over, it gives what there is.
// If it waits, it has a connection of its own. Since Redis 8.10, O(log N + K) as TSRead.
func (c cmdable) TSReadWithArgs(ctx context.Context, key string, timestamp any, options *TSReadOptions) *TSTimestampValueSliceCmd {
	cmd := roomy[TSTimestampValueSliceCmd]()
	cmd.key("ts.read", key)
	cmd.arg(timestamp)
	if o := options; o != nil {
		if o.Block {
			cmd.optInt(true, "BLOCK", milliseconds(o.Timeout))
			cmd.int(int64(max(1, o.MinCount)))
			cmd.blocks(o.Timeout)
		}
		cmd.optInt(o.MaxCount > 0, "MAX_COUNT", int64(o.MaxCount))
	}
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// TSTimestampValue is a sample.
type TSTimestampValue struct {
	Timestamp int64
	Value     float64 // the first, if there are several
	// Values are the values of several aggregators, in their order; nil with one.
	Values []float64
}

// String shows the timestamp and the value, or the values: {1000 2.5}.
func (v TSTimestampValue) String() string {
	if len(v.Values) > 0 {
		return fmt.Sprintf("{%d %v}", v.Timestamp, v.Values)
	}
	return fmt.Sprintf("{%d %v}", v.Timestamp, v.Value)
}

// readSample reads a sample: a timestamp and one value or more.
func readSample(r *resp.Reader) (v TSTimestampValue, err error) {
	at := *r
	n, err := r.ArrayLen()
	if err != nil {
		return v, err
	}
	if n < 2 {
		return v, badShape(at, "timestamp and value")
	}
	if v.Timestamp, err = r.Int(); err != nil {
		return v, err
	}
	if v.Value, err = r.Float(); err != nil || n == 2 {
		return v, err
	}
	v.Values = make([]float64, n-1)
	v.Values[0] = v.Value
	for i := 1; i < n-1; i++ {
		if v.Values[i], err = r.Float(); err != nil {
			return v, err
		}
	}
	return v, nil
}

// TSTimestampValueCmd is a command whose reply is a sample.
type TSTimestampValueCmd struct{ result[TSTimestampValue] }

func (c *TSTimestampValueCmd) readReply(r *resp.Reader) (err error) {
	c.val = TSTimestampValue{}
	at := *r
	n, err := at.ArrayLen()
	if err != nil {
		*r = at
		return err
	}
	if n == 0 { // an empty series
		return nil
	}
	v, err := readSample(r)
	if err == nil {
		c.val = v
	}
	return err
}

// TSTimestampValueSliceCmd is a command whose reply is samples.
type TSTimestampValueSliceCmd struct{ result[[]TSTimestampValue] }

func (c *TSTimestampValueSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, readSample)
	return err
}

// TSNRangePivotRow is the values of several series at one time: those of the first key,
// one for each of its aggregators, then those of the second, and so on. NaN stands where
// a series has none.
type TSNRangePivotRow struct {
	Timestamp int64
	Values    []float64
}

// TSNRangePivotRowSliceCmd is a command whose reply is rows of values.
type TSNRangePivotRowSliceCmd struct{ result[[]TSNRangePivotRow] }

func (c *TSNRangePivotRowSliceCmd) readReply(r *resp.Reader) (err error) {
	c.val, err = readSlice(r, func(r *resp.Reader) (row TSNRangePivotRow, err error) {
		if err := expectLen(r, 2, "timestamp and values"); err != nil {
			return row, err
		}
		if row.Timestamp, err = r.Int(); err != nil {
			return row, err
		}
		row.Values, err = readSlice(r, readFloatOrNaN)
		return row, err
	})
	return err
}

// readFloatOrNaN reads a number, and a null as NaN.
func readFloatOrNaN(r *resp.Reader) (float64, error) {
	if r.Null() {
		return math.NaN(), nil
	}
	return r.Float()
}

// MapStringSliceInterfaceCmd is a command whose reply is a map of lists with values of any
// type.
type MapStringSliceInterfaceCmd struct{ result[map[string][]any] }

// NewMapStringSliceInterfaceCmd makes a command of its arguments, the name first.
func NewMapStringSliceInterfaceCmd(_ context.Context, args ...any) *MapStringSliceInterfaceCmd {
	c := roomy[MapStringSliceInterfaceCmd]()
	c.beginArgs(args)
	return c
}

// readReply reads a map of lists, or, with RESP2, a list of lists that begin with the
// key.
func (c *MapStringSliceInterfaceCmd) readReply(r *resp.Reader) (err error) {
	readList := func(r *resp.Reader) ([]any, error) { return readSlice(r, readElement) }
	if r.Kind() == resp.KindMap {
		c.val, err = readMap(r, readList)
		return err
	}
	c.val = nil
	n, err := r.ArrayLen()
	if err != nil {
		return err
	}
	m := make(map[string][]any, n)
	for range n {
		at := *r
		size, err := r.ArrayLen()
		if err != nil {
			return err
		}
		if size == 0 {
			return badShape(at, "list that begins with a key")
		}
		key, err := r.String()
		if err != nil {
			return err
		}
		list := make([]any, size-1)
		for i := range list {
			if list[i], err = readElement(r); err != nil {
				return err
			}
		}
		m[key] = list
	}
	c.val = m
	return nil
}

//------------------------------------------------------------------------------

// An Aggregator makes one value of those of a bucket.
type Aggregator int

// The aggregators. Invalid stands for none.
const (
	Invalid Aggregator = iota
	Avg
	Sum
	Min
	Max
	Range // the largest less the smallest
	Count
	First
	Last
	StdP
	StdS
	VarP
	VarS
	Twa      // the average, weighted with time
	CountNaN // since Redis 8.6
	CountAll // since Redis 8.6
)

// String is the aggregator's name for the server, empty for Invalid.
func (a Aggregator) String() string {
	names := [...]string{
		"", "AVG", "SUM", "MIN", "MAX", "RANGE", "COUNT", "FIRST", "LAST", "STD.P", "STD.S", "VAR.P", "VAR.S", "TWA",
		"COUNTNAN", "COUNTALL",
	}
	if a < 0 || int(a) >= len(names) {
		return ""
	}
	return names[a]
}

// tsAggregators appends aggregators as one argument.
func (c *baseCmd) tsAggregators(list []Aggregator) {
	names := make([]string, len(list))
	for i, a := range list {
		if names[i] = a.String(); names[i] == "" {
			c.reject(fmt.Sprintf("redis: %d is no aggregator", int(a)))
		}
	}
	c.str(strings.Join(names, ","))
}
