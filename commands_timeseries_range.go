package redis

import "context"

// TSRangeOptions are the options of TSRangeWithArgs.
type TSRangeOptions struct {
	Latest        bool  // the value of a bucket that is still open, too
	FilterByTS    []int // samples of these times only
	FilterByValue []int // the smallest and the largest value
	Count         int   // samples, or buckets; 0: all
	Align         any   // where buckets begin: "start", "end" or a timestamp; nil: the epoch
	// Aggregator is one aggregator, and Aggregators are several, whose values are
	// TSTimestampValue.Values (since Redis 8.8): one of the two, or none.
	Aggregator      Aggregator
	Aggregators     []Aggregator
	BucketDuration  int  // milliseconds
	BucketTimestamp any  // which time of a bucket is given: "start", "mid" or "end"; nil: the start
	Empty           bool // buckets without samples too
}

// TSRevRangeOptions are the options of TSRevRangeWithArgs; see TSRangeOptions.
type TSRevRangeOptions struct {
	Latest          bool
	FilterByTS      []int
	FilterByValue   []int
	Count           int
	Align           any
	Aggregator      Aggregator
	Aggregators     []Aggregator
	BucketDuration  int
	BucketTimestamp any
	Empty           bool
}

// TSMRangeOptions are the options of TSMRangeWithArgs; for those of a single series see
// TSRangeOptions.
type TSMRangeOptions struct {
	Latest          bool
	FilterByTS      []int
	FilterByValue   []int
	WithLabels      bool  // all labels of each series
	SelectedLabels  []any // these labels of each series
	Count           int
	Align           any
	Aggregator      Aggregator
	Aggregators     []Aggregator
	BucketDuration  int
	BucketTimestamp any
	Empty           bool
	// GroupByLabel makes one series of those with the same value of the label, and
	// Reducer, an Aggregator or its name, one sample of those with the same time.
	GroupByLabel any
	Reducer      any
	ExcludeEmpty bool // no series without samples; not with GroupByLabel. Since Redis 8.10
}

// TSMRevRangeOptions are the options of TSMRevRangeWithArgs; see TSMRangeOptions.
type TSMRevRangeOptions struct {
	Latest          bool
	FilterByTS      []int
	FilterByValue   []int
	WithLabels      bool
	SelectedLabels  []any
	Count           int
	Align           any
	Aggregator      Aggregator
	Aggregators     []Aggregator
	BucketDuration  int
	BucketTimestamp any
	Empty           bool
	GroupByLabel    any
	Reducer         any
	ExcludeEmpty    bool
}

// TSMGetOptions are the options of TSMGetWithArgs; see TSMRangeOptions.
type TSMGetOptions struct {
	Latest         bool
	WithLabels     bool
	SelectedLabels []any
}

// TSNRangeOptions are the options of TSNRangeWithArgs; see TSRangeOptions.
type TSNRangeOptions struct {
	Latest          bool
	FilterByTS      []int
	FilterByValue   []float64
	Count           int
	Align           any
	Aggregators     [][]Aggregator // one or more for each key
	BucketDuration  int
	BucketTimestamp any
	Empty           bool
}

// TSNRevRangeOptions are the options of TSNRevRangeWithArgs; see TSNRangeOptions.
type TSNRevRangeOptions struct {
	Latest          bool
	FilterByTS      []int
	FilterByValue   []float64
	Count           int
	Align           any
	Aggregators     [][]Aggregator
	BucketDuration  int
	BucketTimestamp any
	Empty           bool
}

// tsSamples appends which samples are wanted.
func (c *baseCmd) tsSamples(latest bool, filterByTS []int) {
	c.opt(latest, "LATEST")
	if len(filterByTS) > 0 {
		c.str("FILTER_BY_TS")
		for _, ts := range filterByTS {
			c.int(int64(ts))
		}
	}
}

// tsValues appends which values are wanted: the smallest and the largest.
func tsValues[T int | float64](c *baseCmd, bounds []T) {
	if len(bounds) == 0 {
		return
	}
	if len(bounds) != 2 {
		c.reject("redis: FilterByValue needs the smallest and the largest value")
	}
	c.str("FILTER_BY_VALUE")
	for _, v := range bounds {
		c.float(float64(v))
	}
}

// tsLabels appends which labels are wanted.
func (c *baseCmd) tsLabels(all bool, selected []any) {
	c.opt(all, "WITHLABELS")
	if len(selected) > 0 {
		c.str("SELECTED_LABELS")
		c.args(selected...)
	}
}

// tsBuckets is how samples are aggregated.
type tsBuckets struct {
	align       any
	aggregators [][]Aggregator // one argument each; none: samples as they are
	duration    int
	timestamp   any
	empty       bool
}

// tsBuckets appends how samples are aggregated.
func (c *baseCmd) tsBuckets(b tsBuckets) {
	if b.align != nil {
		c.str("ALIGN")
		c.arg(b.align)
	}
	if len(b.aggregators) > 0 {
		c.str("AGGREGATION")
		for _, list := range b.aggregators {
			if len(list) == 0 {
				c.reject("redis: a key without an aggregator")
			}
			c.tsAggregators(list)
		}
		c.int(int64(b.duration))
	}
	if b.timestamp != nil {
		c.str("BUCKETTIMESTAMP")
		c.arg(b.timestamp)
	}
	c.opt(b.empty, "EMPTY")
}

// tsOneOrMore gives the aggregators of options that have a field for one and a field for
// several.
func (c *baseCmd) tsOneOrMore(one Aggregator, several []Aggregator) [][]Aggregator {
	switch {
	case one != Invalid && len(several) > 0:
		c.reject("redis: Aggregator and Aggregators don't go together")
	case one != Invalid:
		return [][]Aggregator{{one}}
	case len(several) > 0:
		return [][]Aggregator{several}
	}
	return nil
}

// TSRange gives the samples from one timestamp to another, both included. That the key
// does not exist is an error of the server. Since RedisTimeSeries 1.0, O(n/m+k) with the
// samples of the series and of a chunk, and those between.
func (c cmdable) TSRange(ctx context.Context, key string, fromTimestamp, toTimestamp int) *TSTimestampValueSliceCmd {
	return c.tsRange(ctx, "ts.range", key, fromTimestamp, toTimestamp, nil)
}

// TSRangeWithArgs is TSRange with options. Since RedisTimeSeries 1.0, O(n/m+k) as
// TSRange.
func (c cmdable) TSRangeWithArgs(ctx context.Context, key string, fromTimestamp, toTimestamp int, options *TSRangeOptions) *TSTimestampValueSliceCmd {
	return c.tsRange(ctx, "ts.range", key, fromTimestamp, toTimestamp, options)
}

// TSRevRange is TSRange, the last sample first. Since RedisTimeSeries 1.4, O(n/m+k) as
// TSRange.
func (c cmdable) TSRevRange(ctx context.Context, key string, fromTimestamp, toTimestamp int) *TSTimestampValueSliceCmd {
	return c.tsRange(ctx, "ts.revrange", key, fromTimestamp, toTimestamp, nil)
}

// TSRevRangeWithArgs is TSRevRange with options. Since RedisTimeSeries 1.4, O(n/m+k) as
// TSRange.
func (c cmdable) TSRevRangeWithArgs(ctx context.Context, key string, fromTimestamp, toTimestamp int, options *TSRevRangeOptions) *TSTimestampValueSliceCmd {
	return c.tsRange(ctx, "ts.revrange", key, fromTimestamp, toTimestamp, (*TSRangeOptions)(options))
}

func (c cmdable) tsRange(ctx context.Context, name, key string, from, to int, o *TSRangeOptions) *TSTimestampValueSliceCmd {
	cmd := roomy[TSTimestampValueSliceCmd]()
	cmd.key(name, key)
	cmd.int(int64(from))
	cmd.int(int64(to))
	if o != nil {
		cmd.tsSamples(o.Latest, o.FilterByTS)
		tsValues(&cmd.baseCmd, o.FilterByValue)
		cmd.optInt(o.Count != 0, "COUNT", int64(o.Count))
		cmd.tsBuckets(tsBuckets{
			align: o.Align, aggregators: cmd.tsOneOrMore(o.Aggregator, o.Aggregators),
			duration: o.BucketDuration, timestamp: o.BucketTimestamp, empty: o.Empty,
		})
	}
	_ = c(ctx, cmd)
	return cmd
}

// TSMGet gives the last samples of the series that pass all filters. For each key there
// are labels and a sample. It gives none if none passes. Since RedisTimeSeries 1.0, O(N)
// with the series.
func (c cmdable) TSMGet(ctx context.Context, filters []string) *MapStringSliceInterfaceCmd {
	return c.TSMGetWithArgs(ctx, filters, nil)
}

// TSMGetWithArgs is TSMGet with options. Since RedisTimeSeries 1.0 (Latest since 1.8),
// O(N) with the series.
func (c cmdable) TSMGetWithArgs(ctx context.Context, filters []string, options *TSMGetOptions) *MapStringSliceInterfaceCmd {
	cmd := roomy[MapStringSliceInterfaceCmd]()
	cmd.begin("ts.mget")
	if options != nil {
		cmd.opt(options.Latest, "LATEST")
		cmd.tsLabels(options.WithLabels, options.SelectedLabels)
	}
	cmd.tsFilter(filters)
	_ = c(ctx, cmd)
	return cmd
}

// TSMRange is TSRange for all series that pass all filters. For each key there are, as
// the server sends them, labels and samples; with RESP3, which aggregators there were
// between these. Since RedisTimeSeries 1.0, O(n/m+k) as TSRange.
func (c cmdable) TSMRange(ctx context.Context, fromTimestamp, toTimestamp int, filterExpr []string) *MapStringSliceInterfaceCmd {
	return c.tsMRange(ctx, "ts.mrange", fromTimestamp, toTimestamp, filterExpr, nil)
}

// TSMRangeWithArgs is TSMRange with options. Since RedisTimeSeries 1.0, O(n/m+k) as
// TSRange.
func (c cmdable) TSMRangeWithArgs(ctx context.Context, fromTimestamp, toTimestamp int, filterExpr []string, options *TSMRangeOptions) *MapStringSliceInterfaceCmd {
	return c.tsMRange(ctx, "ts.mrange", fromTimestamp, toTimestamp, filterExpr, options)
}

// TSMRevRange is TSMRange, the last sample first. Since RedisTimeSeries 1.4, O(n/m+k) as
// TSRange.
func (c cmdable) TSMRevRange(ctx context.Context, fromTimestamp, toTimestamp int, filterExpr []string) *MapStringSliceInterfaceCmd {
	return c.tsMRange(ctx, "ts.mrevrange", fromTimestamp, toTimestamp, filterExpr, nil)
}

// TSMRevRangeWithArgs is TSMRevRange with options. Since RedisTimeSeries 1.4, O(n/m+k) as
// TSRange.
func (c cmdable) TSMRevRangeWithArgs(ctx context.Context, fromTimestamp, toTimestamp int, filterExpr []string, options *TSMRevRangeOptions) *MapStringSliceInterfaceCmd {
	return c.tsMRange(ctx, "ts.mrevrange", fromTimestamp, toTimestamp, filterExpr, (*TSMRangeOptions)(options))
}

func (c cmdable) tsMRange(ctx context.Context, name string, from, to int, filterExpr []string, o *TSMRangeOptions) *MapStringSliceInterfaceCmd {
	cmd := roomy[MapStringSliceInterfaceCmd]()
	cmd.begin(name)
	cmd.int(int64(from))
	cmd.int(int64(to))
	if o != nil {
		cmd.tsSamples(o.Latest, o.FilterByTS)
		tsValues(&cmd.baseCmd, o.FilterByValue)
		cmd.tsLabels(o.WithLabels, o.SelectedLabels)
		cmd.optInt(o.Count != 0, "COUNT", int64(o.Count))
		cmd.tsBuckets(tsBuckets{
			align: o.Align, aggregators: cmd.tsOneOrMore(o.Aggregator, o.Aggregators),
			duration: o.BucketDuration, timestamp: o.BucketTimestamp, empty: o.Empty,
		})
		cmd.opt(o.ExcludeEmpty, "EXCLUDEEMPTY")
	}
	cmd.tsFilter(filterExpr)
	if o != nil {
		cmd.tsGroup(o)
	}
	_ = c(ctx, cmd)
	return cmd
}

// tsGroup appends how series are put together.
func (c *baseCmd) tsGroup(o *TSMRangeOptions) {
	if o.GroupByLabel == nil && o.Reducer == nil {
		return
	}
	switch {
	case o.GroupByLabel == nil || o.Reducer == nil:
		c.reject("redis: GroupByLabel and Reducer need each other")
	case o.ExcludeEmpty:
		c.reject("redis: ExcludeEmpty and GroupByLabel don't go together")
	case len(o.Aggregators) > 1:
		c.reject("redis: several Aggregators and GroupByLabel don't go together")
	}
	c.str("GROUPBY")
	c.arg(o.GroupByLabel)
	c.str("REDUCE")
	if a, ok := o.Reducer.(Aggregator); ok {
		c.tsAggregators([]Aggregator{a})
	} else {
		c.arg(o.Reducer)
	}
}

// TSNRange gives the samples of several series from one timestamp to another, both
// included, in rows: one for each time at which any of them has a sample. "-" and "+"
// stand for the first and the last sample. In a cluster all keys must be in one slot.
// Since Redis 8.10, O(K*(n/m+k)) with the keys and as TSRange.
func (c cmdable) TSNRange(ctx context.Context, keys []string, fromTimestamp, toTimestamp any) *TSNRangePivotRowSliceCmd {
	return c.tsNRange(ctx, "ts.nrange", keys, fromTimestamp, toTimestamp, nil)
}

// TSNRangeWithArgs is TSNRange with options. Since Redis 8.10, O(K*(n/m+k)) as TSNRange.
func (c cmdable) TSNRangeWithArgs(ctx context.Context, keys []string, fromTimestamp, toTimestamp any, options *TSNRangeOptions) *TSNRangePivotRowSliceCmd {
	return c.tsNRange(ctx, "ts.nrange", keys, fromTimestamp, toTimestamp, options)
}

// TSNRevRange is TSNRange, the last row first. Since Redis 8.10, O(K*(n/m+k)) as
// TSNRange.
func (c cmdable) TSNRevRange(ctx context.Context, keys []string, fromTimestamp, toTimestamp any) *TSNRangePivotRowSliceCmd {
	return c.tsNRange(ctx, "ts.nrevrange", keys, fromTimestamp, toTimestamp, nil)
}

// TSNRevRangeWithArgs is TSNRevRange with options. Since Redis 8.10, O(K*(n/m+k)) as
// TSNRange.
func (c cmdable) TSNRevRangeWithArgs(ctx context.Context, keys []string, fromTimestamp, toTimestamp any, options *TSNRevRangeOptions) *TSNRangePivotRowSliceCmd {
	return c.tsNRange(ctx, "ts.nrevrange", keys, fromTimestamp, toTimestamp, (*TSNRangeOptions)(options))
}

func (c cmdable) tsNRange(ctx context.Context, name string, keys []string, from, to any, o *TSNRangeOptions) *TSNRangePivotRowSliceCmd {
	cmd := roomy[TSNRangePivotRowSliceCmd]()
	cmd.begin(name)
	cmd.numKeys(keys)
	cmd.args(from, to)
	if o != nil {
		cmd.tsSamples(o.Latest, o.FilterByTS)
		tsValues(&cmd.baseCmd, o.FilterByValue)
		cmd.optInt(o.Count != 0, "COUNT", int64(o.Count))
		if n := len(o.Aggregators); n != 0 && n != len(keys) {
			cmd.reject("redis: Aggregators needs a list for each key")
		}
		cmd.tsBuckets(tsBuckets{
			align: o.Align, aggregators: o.Aggregators,
			duration: o.BucketDuration, timestamp: o.BucketTimestamp, empty: o.Empty,
		})
	}
	_ = c(ctx, cmd)
	return cmd
}
