package redis

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/baton-go/redis/internal/resp"
)

// CMSInitByDim makes a count-min sketch with so many counters in so many rows: width is
// for small errors, depth for small probabilities of larger ones. If the key exists, that
// is an error of the server. Since RedisBloom 2.0, O(1).
func (c cmdable) CMSInitByDim(ctx context.Context, key string, width, depth int64) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("cms.initbydim", key)
	cmd.int(width)
	cmd.int(depth)
	_ = c(ctx, cmd)
	return cmd
}

// CMSInitByProb is CMSInitByDim that finds the dimensions: counts are too high by more
// than errorRate of all that was counted with the probability. Since RedisBloom 2.0,
// O(1).
func (c cmdable) CMSInitByProb(ctx context.Context, key string, errorRate, probability float64) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("cms.initbyprob", key)
	cmd.float(errorRate)
	cmd.float(probability)
	_ = c(ctx, cmd)
	return cmd
}

// CMSIncrBy adds to the counts of elements, each followed by its increment, and gives the
// new counts. That the key does not exist is an error of the server. Since RedisBloom
// 2.0, O(N) with the elements.
func (c cmdable) CMSIncrBy(ctx context.Context, key string, elements ...any) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.elements("cms.incrby", key, elements)
	_ = c(ctx, cmd)
	return cmd
}

// CMSQuery gives the counts of elements, which may be too high. That the key does not
// exist is an error of the server. Since RedisBloom 2.0, O(N) with the elements.
func (c cmdable) CMSQuery(ctx context.Context, key string, elements ...any) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.elements("cms.query", key, elements)
	_ = c(ctx, cmd)
	return cmd
}

// CMSMerge makes of one sketch the sum of others; all must exist and have the same
// dimensions, or else that is an error of the server. In a cluster all keys must be in
// one slot. Since RedisBloom 2.0, O(N) with the sketches.
func (c cmdable) CMSMerge(ctx context.Context, destKey string, sourceKeys ...string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("cms.merge", destKey)
	cmd.numKeys(sourceKeys)
	_ = c(ctx, cmd)
	return cmd
}

// CMSMergeWithWeight is CMSMerge that multiplies the counts of each sketch. Since
// RedisBloom 2.0, O(N) with the sketches.
func (c cmdable) CMSMergeWithWeight(ctx context.Context, destKey string, sourceKeys map[string]int64) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("cms.merge", destKey)
	keys := slices.Sorted(maps.Keys(sourceKeys))
	cmd.numKeys(keys)
	cmd.str("WEIGHTS")
	for _, key := range keys {
		cmd.int(sourceKeys[key])
	}
	_ = c(ctx, cmd)
	return cmd
}

// CMSInfo describes a count-min sketch. That the key does not exist is an error of the
// server. Since RedisBloom 2.0, O(1).
func (c cmdable) CMSInfo(ctx context.Context, key string) *CMSInfoCmd {
	cmd := roomy[CMSInfoCmd]()
	cmd.key("cms.info", key)
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// TopKReserve makes a sketch that keeps the k most frequent elements. If the key exists,
// that is an error of the server. Since RedisBloom 2.0, O(1).
func (c cmdable) TopKReserve(ctx context.Context, key string, k int64) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("topk.reserve", key)
	cmd.int(k)
	_ = c(ctx, cmd)
	return cmd
}

// TopKReserveWithOptions is TopKReserve with the counters of a row (8 by default), the
// rows (7), and the probability with which the count of another element is lowered (0.9),
// to the power of that count. Since RedisBloom 2.0, O(1).
func (c cmdable) TopKReserveWithOptions(ctx context.Context, key string, k, width, depth int64, decay float64) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("topk.reserve", key)
	cmd.int(k)
	cmd.int(width)
	cmd.int(depth)
	cmd.float(decay)
	_ = c(ctx, cmd)
	return cmd
}

// TopKAdd counts elements, and gives, for each, the one that it drove out; empty if it
// drove out none. That the key does not exist is an error of the server. Since RedisBloom
// 2.0, O(N*K) with the rows.
func (c cmdable) TopKAdd(ctx context.Context, key string, elements ...any) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.elements("topk.add", key, elements)
	_ = c(ctx, cmd)
	return cmd
}

// TopKIncrBy is TopKAdd for elements that are each followed by an increment. That the key
// does not exist is an error of the server. Since RedisBloom 2.0, O(N*K*I) with the rows
// and the increments.
func (c cmdable) TopKIncrBy(ctx context.Context, key string, elements ...any) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.elements("topk.incrby", key, elements)
	_ = c(ctx, cmd)
	return cmd
}

// TopKQuery tells which elements are among the most frequent. That the key does not exist
// is an error of the server. Since RedisBloom 2.0, O(N) with the elements.
func (c cmdable) TopKQuery(ctx context.Context, key string, elements ...any) *BoolSliceCmd {
	cmd := roomy[BoolSliceCmd]()
	cmd.elements("topk.query", key, elements)
	_ = c(ctx, cmd)
	return cmd
}

// TopKCount gives the counts of elements, which may be too low. That the key does not
// exist is an error of the server. Since RedisBloom 2.0, O(N) with the elements; servers
// call it obsolete.
func (c cmdable) TopKCount(ctx context.Context, key string, elements ...any) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.elements("topk.count", key, elements)
	_ = c(ctx, cmd)
	return cmd
}

// TopKList gives the most frequent elements, the most frequent first. That the key does
// not exist is an error of the server. Since RedisBloom 2.0, O(K log K).
func (c cmdable) TopKList(ctx context.Context, key string) *StringSliceCmd {
	cmd := roomy[StringSliceCmd]()
	cmd.key("topk.list", key)
	_ = c(ctx, cmd)
	return cmd
}

// TopKListWithCount is TopKList with the counts. Since RedisBloom 2.0, O(K log K) as
// TopKList.
func (c cmdable) TopKListWithCount(ctx context.Context, key string) *MapStringIntCmd {
	cmd := roomy[MapStringIntCmd]()
	cmd.key("topk.list", key)
	cmd.str("WITHCOUNT")
	_ = c(ctx, cmd)
	return cmd
}

// TopKInfo describes a Top-K sketch. That the key does not exist is an error of the
// server. Since RedisBloom 2.0, O(1).
func (c cmdable) TopKInfo(ctx context.Context, key string) *TopKInfoCmd {
	cmd := roomy[TopKInfoCmd]()
	cmd.key("topk.info", key)
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// TDigestMergeOptions are the options of TDigestMerge.
type TDigestMergeOptions struct {
	Compression int64 // 0: the largest of all sketches
	Override    bool  // what the target held before is left out
}

// floats begins a command for numbers.
func (c *baseCmd) floats(name, key string, values []float64) {
	c.key(name, key)
	for _, v := range values {
		c.float(v)
	}
}

// ranks begins a command for ranks.
func (c *baseCmd) ranks(name, key string, ranks []uint64) {
	c.key(name, key)
	for _, v := range ranks {
		c.uint(v)
	}
}

// TDigestCreate makes a t-digest: a sketch of how numbers are distributed. If the key
// exists, that is an error of the server. Since RedisBloom 2.4, O(1).
func (c cmdable) TDigestCreate(ctx context.Context, key string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("tdigest.create", key)
	_ = c(ctx, cmd)
	return cmd
}

// TDigestCreateWithCompression is TDigestCreate for another size than 100: a larger one
// is more precise. Since RedisBloom 2.4, O(1).
func (c cmdable) TDigestCreateWithCompression(ctx context.Context, key string, compression int64) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("tdigest.create", key)
	cmd.optInt(true, "COMPRESSION", compression)
	_ = c(ctx, cmd)
	return cmd
}

// TDigestAdd adds numbers. That the key does not exist is an error of the server. Since
// RedisBloom 2.4, O(N) with the numbers.
func (c cmdable) TDigestAdd(ctx context.Context, key string, elements ...float64) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.floats("tdigest.add", key, elements)
	_ = c(ctx, cmd)
	return cmd
}

// TDigestReset takes all numbers out. That the key does not exist is an error of the
// server. Since RedisBloom 2.4, O(1).
func (c cmdable) TDigestReset(ctx context.Context, key string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("tdigest.reset", key)
	_ = c(ctx, cmd)
	return cmd
}

// TDigestMerge adds what others hold to a t-digest, which is made if there is none. That
// one of the others does not exist is an error of the server. In a cluster all keys must
// be in one slot. Since RedisBloom 2.4, O(N*K) with the sketches and their sizes.
func (c cmdable) TDigestMerge(ctx context.Context, destKey string, options *TDigestMergeOptions, sourceKeys ...string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("tdigest.merge", destKey)
	cmd.numKeys(sourceKeys)
	if options != nil {
		cmd.optInt(options.Compression != 0, "COMPRESSION", options.Compression)
		cmd.opt(options.Override, "OVERRIDE")
	}
	_ = c(ctx, cmd)
	return cmd
}

// TDigestMin gives the smallest number, NaN if there is none. That the key does not exist
// is an error of the server. Since RedisBloom 2.4, O(1).
func (c cmdable) TDigestMin(ctx context.Context, key string) *FloatCmd {
	cmd := roomy[FloatCmd]()
	cmd.key("tdigest.min", key)
	_ = c(ctx, cmd)
	return cmd
}

// TDigestMax gives the largest number, NaN if there is none. That the key does not exist
// is an error of the server. Since RedisBloom 2.4, O(1).
func (c cmdable) TDigestMax(ctx context.Context, key string) *FloatCmd {
	cmd := roomy[FloatCmd]()
	cmd.key("tdigest.max", key)
	_ = c(ctx, cmd)
	return cmd
}

// TDigestQuantile estimates below which numbers so much of all numbers is: 0.5 asks for
// the median. NaN if there are none. That the key does not exist is an error of the
// server. Since RedisBloom 2.4, O(1) for each.
func (c cmdable) TDigestQuantile(ctx context.Context, key string, elements ...float64) *FloatSliceCmd {
	cmd := roomy[FloatSliceCmd]()
	cmd.floats("tdigest.quantile", key, elements)
	_ = c(ctx, cmd)
	return cmd
}

// TDigestCDF estimates how much of all numbers is below some numbers, 0.5 being the half.
// NaN if there are none. That the key does not exist is an error of the server. Since
// RedisBloom 2.4, O(1) for each.
func (c cmdable) TDigestCDF(ctx context.Context, key string, elements ...float64) *FloatSliceCmd {
	cmd := roomy[FloatSliceCmd]()
	cmd.floats("tdigest.cdf", key, elements)
	_ = c(ctx, cmd)
	return cmd
}

// TDigestRank estimates how many numbers are smaller than some numbers: -1 says that all
// are larger, -2 that there are none. That the key does not exist is an error of the
// server. Since RedisBloom 2.4, O(1) for each.
func (c cmdable) TDigestRank(ctx context.Context, key string, values ...float64) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.floats("tdigest.rank", key, values)
	_ = c(ctx, cmd)
	return cmd
}

// TDigestRevRank is TDigestRank for larger numbers: -1 says that all are smaller. Since
// RedisBloom 2.4, O(1) for each.
func (c cmdable) TDigestRevRank(ctx context.Context, key string, values ...float64) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.floats("tdigest.revrank", key, values)
	_ = c(ctx, cmd)
	return cmd
}

// TDigestByRank estimates the numbers with some ranks, which count from 0, the smallest:
// +Inf for what is beyond the last, NaN if there are none. That the key does not exist is
// an error of the server. Since RedisBloom 2.4, O(1) for each.
func (c cmdable) TDigestByRank(ctx context.Context, key string, rank ...uint64) *FloatSliceCmd {
	cmd := roomy[FloatSliceCmd]()
	cmd.ranks("tdigest.byrank", key, rank)
	_ = c(ctx, cmd)
	return cmd
}

// TDigestByRevRank is TDigestByRank from the largest on: -Inf for what is beyond the
// last. Since RedisBloom 2.4, O(1) for each.
func (c cmdable) TDigestByRevRank(ctx context.Context, key string, rank ...uint64) *FloatSliceCmd {
	cmd := roomy[FloatSliceCmd]()
	cmd.ranks("tdigest.byrevrank", key, rank)
	_ = c(ctx, cmd)
	return cmd
}

// TDigestTrimmedMean estimates the mean of the numbers between two quantiles, NaN if
// there are none. That the key does not exist is an error of the server. Since RedisBloom
// 2.4, O(N) with the size of the sketch.
func (c cmdable) TDigestTrimmedMean(ctx context.Context, key string, lowCutQuantile, highCutQuantile float64) *FloatCmd {
	cmd := roomy[FloatCmd]()
	cmd.key("tdigest.trimmed_mean", key)
	cmd.float(lowCutQuantile)
	cmd.float(highCutQuantile)
	_ = c(ctx, cmd)
	return cmd
}

// TDigestInfo describes a t-digest. That the key does not exist is an error of the
// server. Since RedisBloom 2.4, O(1).
func (c cmdable) TDigestInfo(ctx context.Context, key string) *TDigestInfoCmd {
	cmd := roomy[TDigestInfoCmd]()
	cmd.key("tdigest.info", key)
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// CMSInfo describes a count-min sketch.
type CMSInfo struct {
	Width    int64
	Depth    int64
	Count    int64 // the sum of all increments
	CellSize int64 // bytes of a counter; 0 where the server does not tell
}

// CMSInfoCmd is a command whose reply is a CMSInfo.
type CMSInfoCmd struct{ result[CMSInfo] }

// NewCMSInfoCmd makes a command of its arguments, the name first.
func NewCMSInfoCmd(_ context.Context, args ...any) *CMSInfoCmd {
	c := roomy[CMSInfoCmd]()
	c.beginArgs(args)
	return c
}

func (c *CMSInfoCmd) readReply(r *resp.Reader) error {
	c.val = CMSInfo{}
	var info CMSInfo
	err := readNumbers(r, func(name string) *int64 {
		switch name {
		case "width":
			return &info.Width
		case "depth":
			return &info.Depth
		case "count":
			return &info.Count
		case "cell size":
			return &info.CellSize
		}
		return nil
	})
	if err == nil {
		c.val = info
	}
	return err
}

// TopKInfo describes a Top-K sketch.
type TopKInfo struct {
	K     int64
	Width int64
	Depth int64
	Decay float64
}

// TopKInfoCmd is a command whose reply is a TopKInfo.
type TopKInfoCmd struct{ result[TopKInfo] }

// NewTopKInfoCmd makes a command of its arguments, the name first.
func NewTopKInfoCmd(_ context.Context, args ...any) *TopKInfoCmd {
	c := roomy[TopKInfoCmd]()
	c.beginArgs(args)
	return c
}

func (c *TopKInfoCmd) readReply(r *resp.Reader) error {
	c.val = TopKInfo{}
	var info TopKInfo
	err := readFields(r, func(name string) (err error) {
		switch strings.ToLower(name) {
		case "k":
			info.K, err = r.Int()
		case "width":
			info.Width, err = r.Int()
		case "depth":
			info.Depth, err = r.Int()
		case "decay":
			info.Decay, err = r.Float()
		default:
			err = r.Skip()
		}
		return err
	})
	if err == nil {
		c.val = info
	}
	return err
}

// TDigestInfo describes a t-digest.
type TDigestInfo struct {
	Compression       int64
	Capacity          int64
	MergedNodes       int64
	UnmergedNodes     int64
	MergedWeight      int64
	UnmergedWeight    int64
	Observations      int64 // numbers that were added
	TotalCompressions int64
	MemoryUsage       int64 // bytes
}

// TDigestInfoCmd is a command whose reply is a TDigestInfo.
type TDigestInfoCmd struct{ result[TDigestInfo] }

// NewTDigestInfoCmd makes a command of its arguments, the name first.
func NewTDigestInfoCmd(_ context.Context, args ...any) *TDigestInfoCmd {
	c := roomy[TDigestInfoCmd]()
	c.beginArgs(args)
	return c
}

func (c *TDigestInfoCmd) readReply(r *resp.Reader) error {
	c.val = TDigestInfo{}
	var info TDigestInfo
	err := readNumbers(r, func(name string) *int64 {
		switch name {
		case "compression":
			return &info.Compression
		case "capacity":
			return &info.Capacity
		case "merged nodes":
			return &info.MergedNodes
		case "unmerged nodes":
			return &info.UnmergedNodes
		case "merged weight":
			return &info.MergedWeight
		case "unmerged weight":
			return &info.UnmergedWeight
		case "observations":
			return &info.Observations
		case "total compressions":
			return &info.TotalCompressions
		case "memory usage":
			return &info.MemoryUsage
		}
		return nil
	})
	if err == nil {
		c.val = info
	}
	return err
}
