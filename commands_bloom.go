package redis

import (
	"context"
	"strings"

	"github.com/baton-go/redis/internal/resp"
)

// ProbabilisticCmdable are the commands for filters and sketches, of the module
// RedisBloom, which Redis 8 brings along: Bloom filters (BF), cuckoo filters (CF),
// count-min sketches (CMS), Top-K sketches (TopK) and t-digests (TDigest). Where a key
// does not exist, the server answers with an error, unless a method says otherwise.
type ProbabilisticCmdable interface {
	BFAdd(ctx context.Context, key string, element any) *BoolCmd
	BFCard(ctx context.Context, key string) *IntCmd
	BFExists(ctx context.Context, key string, element any) *BoolCmd
	BFInfo(ctx context.Context, key string) *BFInfoCmd
	BFInfoArg(ctx context.Context, key, option string) *BFInfoCmd
	BFInfoCapacity(ctx context.Context, key string) *BFInfoCmd
	BFInfoExpansion(ctx context.Context, key string) *BFInfoCmd
	BFInfoFilters(ctx context.Context, key string) *BFInfoCmd
	BFInfoItems(ctx context.Context, key string) *BFInfoCmd
	BFInfoSize(ctx context.Context, key string) *BFInfoCmd
	BFInsert(ctx context.Context, key string, options *BFInsertOptions, elements ...any) *BoolSliceCmd
	BFLoadChunk(ctx context.Context, key string, iterator int64, data any) *StatusCmd
	BFMAdd(ctx context.Context, key string, elements ...any) *BoolSliceCmd
	BFMExists(ctx context.Context, key string, elements ...any) *BoolSliceCmd
	BFReserve(ctx context.Context, key string, errorRate float64, capacity int64) *StatusCmd
	BFReserveExpansion(ctx context.Context, key string, errorRate float64, capacity, expansion int64) *StatusCmd
	BFReserveNonScaling(ctx context.Context, key string, errorRate float64, capacity int64) *StatusCmd
	BFReserveWithArgs(ctx context.Context, key string, options *BFReserveOptions) *StatusCmd
	BFScanDump(ctx context.Context, key string, iterator int64) *ScanDumpCmd

	CFAdd(ctx context.Context, key string, element any) *BoolCmd
	CFAddNX(ctx context.Context, key string, element any) *BoolCmd
	CFCount(ctx context.Context, key string, element any) *IntCmd
	CFDel(ctx context.Context, key string, element any) *BoolCmd
	CFExists(ctx context.Context, key string, element any) *BoolCmd
	CFInfo(ctx context.Context, key string) *CFInfoCmd
	CFInsert(ctx context.Context, key string, options *CFInsertOptions, elements ...any) *BoolSliceCmd
	CFInsertNX(ctx context.Context, key string, options *CFInsertOptions, elements ...any) *IntSliceCmd
	CFLoadChunk(ctx context.Context, key string, iterator int64, data any) *StatusCmd
	CFMExists(ctx context.Context, key string, elements ...any) *BoolSliceCmd
	CFReserve(ctx context.Context, key string, capacity int64) *StatusCmd
	CFReserveBucketSize(ctx context.Context, key string, capacity, bucketsize int64) *StatusCmd
	CFReserveExpansion(ctx context.Context, key string, capacity, expansion int64) *StatusCmd
	CFReserveMaxIterations(ctx context.Context, key string, capacity, maxiterations int64) *StatusCmd
	CFReserveWithArgs(ctx context.Context, key string, options *CFReserveOptions) *StatusCmd
	CFScanDump(ctx context.Context, key string, iterator int64) *ScanDumpCmd

	CMSIncrBy(ctx context.Context, key string, elements ...any) *IntSliceCmd
	CMSInfo(ctx context.Context, key string) *CMSInfoCmd
	CMSInitByDim(ctx context.Context, key string, width, depth int64) *StatusCmd
	CMSInitByProb(ctx context.Context, key string, errorRate, probability float64) *StatusCmd
	CMSMerge(ctx context.Context, destKey string, sourceKeys ...string) *StatusCmd
	CMSMergeWithWeight(ctx context.Context, destKey string, sourceKeys map[string]int64) *StatusCmd
	CMSQuery(ctx context.Context, key string, elements ...any) *IntSliceCmd

	TDigestAdd(ctx context.Context, key string, elements ...float64) *StatusCmd
	TDigestByRank(ctx context.Context, key string, rank ...uint64) *FloatSliceCmd
	TDigestByRevRank(ctx context.Context, key string, rank ...uint64) *FloatSliceCmd
	TDigestCDF(ctx context.Context, key string, elements ...float64) *FloatSliceCmd
	TDigestCreate(ctx context.Context, key string) *StatusCmd
	TDigestCreateWithCompression(ctx context.Context, key string, compression int64) *StatusCmd
	TDigestInfo(ctx context.Context, key string) *TDigestInfoCmd
	TDigestMax(ctx context.Context, key string) *FloatCmd
	TDigestMerge(ctx context.Context, destKey string, options *TDigestMergeOptions, sourceKeys ...string) *StatusCmd
	TDigestMin(ctx context.Context, key string) *FloatCmd
	TDigestQuantile(ctx context.Context, key string, elements ...float64) *FloatSliceCmd
	TDigestRank(ctx context.Context, key string, values ...float64) *IntSliceCmd
	TDigestReset(ctx context.Context, key string) *StatusCmd
	TDigestRevRank(ctx context.Context, key string, values ...float64) *IntSliceCmd
	TDigestTrimmedMean(ctx context.Context, key string, lowCutQuantile, highCutQuantile float64) *FloatCmd

	TopKAdd(ctx context.Context, key string, elements ...any) *StringSliceCmd
	TopKCount(ctx context.Context, key string, elements ...any) *IntSliceCmd
	TopKIncrBy(ctx context.Context, key string, elements ...any) *StringSliceCmd
	TopKInfo(ctx context.Context, key string) *TopKInfoCmd
	TopKList(ctx context.Context, key string) *StringSliceCmd
	TopKListWithCount(ctx context.Context, key string) *MapStringIntCmd
	TopKQuery(ctx context.Context, key string, elements ...any) *BoolSliceCmd
	TopKReserve(ctx context.Context, key string, k int64) *StatusCmd
	TopKReserveWithOptions(ctx context.Context, key string, k, width, depth int64, decay float64) *StatusCmd
}

// BFReserveOptions describe a Bloom filter.
type BFReserveOptions struct {
	Capacity   int64   // elements that it is made for
	Error      float64 // how often it may find what was not added: 0.01 is one in a hundred
	Expansion  int64   // how many times larger the next filter is when this one is full; 0: twice
	NonScaling bool    // no more filters; what is added when it is full is an error
}

// BFInsertOptions describe the Bloom filter that BFInsert makes if there is none. Zero
// values are the server's defaults.
type BFInsertOptions struct {
	Capacity   int64
	Error      float64
	Expansion  int64
	NonScaling bool
	NoCreate   bool // an error if there is no filter; not with Capacity and Error
}

// CFReserveOptions describe a cuckoo filter. Zero values, but for Capacity, are the
// server's defaults.
type CFReserveOptions struct {
	Capacity      int64 // elements that it is made for
	BucketSize    int64 // elements of a bucket
	MaxIterations int64 // attempts to find room before the filter is full
	Expansion     int64 // how many times larger the next filter is when this one is full
}

// CFInsertOptions describe the cuckoo filter that CFInsert makes if there is none.
type CFInsertOptions struct {
	Capacity int64 // 0: the server's default
	NoCreate bool  // an error if there is no filter
}

// element begins a command for an element of a key.
func (c *baseCmd) element(name, key string, element any) {
	c.key(name, key)
	c.arg(element)
}

// elements begins a command for elements of a key.
func (c *baseCmd) elements(name, key string, elements []any) {
	c.key(name, key)
	c.args(elements...)
}

// BFReserve makes a Bloom filter for so many elements, which finds what was not added in
// so many cases: 0.01 is one in a hundred. If the key exists, that is an error of the
// server. Since RedisBloom 1.0, O(1).
func (c cmdable) BFReserve(ctx context.Context, key string, errorRate float64, capacity int64) *StatusCmd {
	return c.BFReserveWithArgs(ctx, key, &BFReserveOptions{Error: errorRate, Capacity: capacity})
}

// BFReserveExpansion is BFReserve with an Expansion. Since RedisBloom 1.0, O(1).
func (c cmdable) BFReserveExpansion(ctx context.Context, key string, errorRate float64, capacity, expansion int64) *StatusCmd {
	return c.BFReserveWithArgs(ctx, key, &BFReserveOptions{Error: errorRate, Capacity: capacity, Expansion: expansion})
}

// BFReserveNonScaling is BFReserve for a filter that does not grow. Since RedisBloom 1.0,
// O(1).
func (c cmdable) BFReserveNonScaling(ctx context.Context, key string, errorRate float64, capacity int64) *StatusCmd {
	return c.BFReserveWithArgs(ctx, key, &BFReserveOptions{Error: errorRate, Capacity: capacity, NonScaling: true})
}

// BFReserveWithArgs is BFReserve with options. Since RedisBloom 1.0, O(1).
func (c cmdable) BFReserveWithArgs(ctx context.Context, key string, options *BFReserveOptions) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("bf.reserve", key)
	if options == nil {
		cmd.reject("redis: BFReserveWithArgs needs options")
		options = &BFReserveOptions{}
	}
	cmd.float(options.Error)
	cmd.int(options.Capacity)
	cmd.optInt(options.Expansion != 0, "EXPANSION", options.Expansion)
	cmd.opt(options.NonScaling, "NONSCALING")
	_ = c(ctx, cmd)
	return cmd
}

// BFAdd adds an element to a Bloom filter, which is made if there is none, and tells
// whether it was not found before. That a filter that does not grow is full is an error
// of the server. Since RedisBloom 1.0, O(K) with the hash functions.
func (c cmdable) BFAdd(ctx context.Context, key string, element any) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.element("bf.add", key, element)
	_ = c(ctx, cmd)
	return cmd
}

// BFMAdd is BFAdd for several elements. If the filter is full, the error of the server is
// the command's. Since RedisBloom 1.0, O(K*N) with the hash functions and the elements.
func (c cmdable) BFMAdd(ctx context.Context, key string, elements ...any) *BoolSliceCmd {
	cmd := roomy[BoolSliceCmd]()
	cmd.elements("bf.madd", key, elements)
	_ = c(ctx, cmd)
	return cmd
}

// BFInsert is BFMAdd that says what the filter is like if there is none. That there is
// none and NoCreate is set, or that it is full, is an error of the server. Since
// RedisBloom 1.0, O(K*N) with the hash functions and the elements.
func (c cmdable) BFInsert(ctx context.Context, key string, options *BFInsertOptions, elements ...any) *BoolSliceCmd {
	cmd := roomy[BoolSliceCmd]()
	cmd.key("bf.insert", key)
	if o := options; o != nil {
		cmd.optInt(o.Capacity != 0, "CAPACITY", o.Capacity)
		cmd.optFloat(o.Error != 0, "ERROR", o.Error)
		cmd.optInt(o.Expansion != 0, "EXPANSION", o.Expansion)
		cmd.opt(o.NoCreate, "NOCREATE")
		cmd.opt(o.NonScaling, "NONSCALING")
	}
	cmd.str("ITEMS")
	cmd.args(elements...)
	_ = c(ctx, cmd)
	return cmd
}

// BFExists tells whether an element may have been added; false is certain. It is false
// where the key does not exist. Since RedisBloom 1.0, O(K) with the hash functions.
func (c cmdable) BFExists(ctx context.Context, key string, element any) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.element("bf.exists", key, element)
	_ = c(ctx, cmd)
	return cmd
}

// BFMExists is BFExists for several elements. Since RedisBloom 1.0, O(K*N) with the hash
// functions and the elements.
func (c cmdable) BFMExists(ctx context.Context, key string, elements ...any) *BoolSliceCmd {
	cmd := roomy[BoolSliceCmd]()
	cmd.elements("bf.mexists", key, elements)
	_ = c(ctx, cmd)
	return cmd
}

// BFCard gives how many elements were added that were not found before, 0 where the key
// does not exist. Since RedisBloom 2.4.4, O(1).
func (c cmdable) BFCard(ctx context.Context, key string) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.key("bf.card", key)
	_ = c(ctx, cmd)
	return cmd
}

// BFInfo describes a Bloom filter. That the key does not exist is an error of the server.
// Since RedisBloom 1.0, O(1).
func (c cmdable) BFInfo(ctx context.Context, key string) *BFInfoCmd {
	cmd := roomy[BFInfoCmd]()
	cmd.key("bf.info", key)
	_ = c(ctx, cmd)
	return cmd
}

// BFInfoArg is BFInfo for one thing: CAPACITY, SIZE, FILTERS, ITEMS or EXPANSION. The
// others are 0. That the key does not exist is an error of the server. Since RedisBloom
// 1.0, O(1).
func (c cmdable) BFInfoArg(ctx context.Context, key, option string) *BFInfoCmd {
	cmd := roomy[BFInfoCmd]()
	cmd.key("bf.info", key)
	cmd.str(option)
	_ = c(ctx, cmd)
	return cmd
}

// BFInfoCapacity is BFInfo for the capacity. Since RedisBloom 1.0, O(1).
func (c cmdable) BFInfoCapacity(ctx context.Context, key string) *BFInfoCmd {
	return c.BFInfoArg(ctx, key, "CAPACITY")
}

// BFInfoSize is BFInfo for the bytes. Since RedisBloom 1.0, O(1).
func (c cmdable) BFInfoSize(ctx context.Context, key string) *BFInfoCmd {
	return c.BFInfoArg(ctx, key, "SIZE")
}

// BFInfoFilters is BFInfo for how many filters there are. Since RedisBloom 1.0, O(1).
func (c cmdable) BFInfoFilters(ctx context.Context, key string) *BFInfoCmd {
	return c.BFInfoArg(ctx, key, "FILTERS")
}

// BFInfoItems is BFInfo for how many elements there are. Since RedisBloom 1.0, O(1).
func (c cmdable) BFInfoItems(ctx context.Context, key string) *BFInfoCmd {
	return c.BFInfoArg(ctx, key, "ITEMS")
}

// BFInfoExpansion is BFInfo for the expansion rate. Since RedisBloom 1.0, O(1).
func (c cmdable) BFInfoExpansion(ctx context.Context, key string) *BFInfoCmd {
	return c.BFInfoArg(ctx, key, "EXPANSION")
}

// BFScanDump gives a part of a Bloom filter: the first for iterator 0, then the one for
// the iterator given with the last, until that is 0. That the key does not exist is an
// error of the server. Since RedisBloom 1.0, O(N) with the capacity.
func (c cmdable) BFScanDump(ctx context.Context, key string, iterator int64) *ScanDumpCmd {
	return c.scanDump(ctx, "bf.scandump", key, iterator)
}

// BFLoadChunk restores a part that BFScanDump gave, with the iterator given with it. That
// the part does not fit what is there is an error of the server. Since RedisBloom 1.0,
// O(N) with the capacity.
func (c cmdable) BFLoadChunk(ctx context.Context, key string, iterator int64, data any) *StatusCmd {
	return c.loadChunk(ctx, "bf.loadchunk", key, iterator, data)
}

func (c cmdable) scanDump(ctx context.Context, name, key string, iterator int64) *ScanDumpCmd {
	cmd := roomy[ScanDumpCmd]()
	cmd.key(name, key)
	cmd.int(iterator)
	_ = c(ctx, cmd)
	return cmd
}

func (c cmdable) loadChunk(ctx context.Context, name, key string, iterator int64, data any) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key(name, key)
	cmd.int(iterator)
	cmd.arg(data)
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------

// CFReserve makes a cuckoo filter for so many elements. If the key exists, that is an
// error of the server. Since RedisBloom 1.0, O(1).
func (c cmdable) CFReserve(ctx context.Context, key string, capacity int64) *StatusCmd {
	return c.CFReserveWithArgs(ctx, key, &CFReserveOptions{Capacity: capacity})
}

// CFReserveBucketSize is CFReserve with a BucketSize. Since RedisBloom 1.0, O(1).
func (c cmdable) CFReserveBucketSize(ctx context.Context, key string, capacity, bucketsize int64) *StatusCmd {
	return c.CFReserveWithArgs(ctx, key, &CFReserveOptions{Capacity: capacity, BucketSize: bucketsize})
}

// CFReserveMaxIterations is CFReserve with MaxIterations. Since RedisBloom 1.0, O(1).
func (c cmdable) CFReserveMaxIterations(ctx context.Context, key string, capacity, maxiterations int64) *StatusCmd {
	return c.CFReserveWithArgs(ctx, key, &CFReserveOptions{Capacity: capacity, MaxIterations: maxiterations})
}

// CFReserveExpansion is CFReserve with an Expansion. Since RedisBloom 1.0, O(1).
func (c cmdable) CFReserveExpansion(ctx context.Context, key string, capacity, expansion int64) *StatusCmd {
	return c.CFReserveWithArgs(ctx, key, &CFReserveOptions{Capacity: capacity, Expansion: expansion})
}

// CFReserveWithArgs is CFReserve with options. Since RedisBloom 1.0, O(1).
func (c cmdable) CFReserveWithArgs(ctx context.Context, key string, options *CFReserveOptions) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.key("cf.reserve", key)
	if options == nil {
		cmd.reject("redis: CFReserveWithArgs needs options")
		options = &CFReserveOptions{}
	}
	cmd.int(options.Capacity)
	cmd.optInt(options.BucketSize != 0, "BUCKETSIZE", options.BucketSize)
	cmd.optInt(options.MaxIterations != 0, "MAXITERATIONS", options.MaxIterations)
	cmd.optInt(options.Expansion != 0, "EXPANSION", options.Expansion)
	_ = c(ctx, cmd)
	return cmd
}

// CFAdd adds an element to a cuckoo filter, which is made if there is none. It may be in
// it several times. That the filter is full is an error of the server. Since RedisBloom
// 1.0, O(K+I) with the filters and MaxIterations.
func (c cmdable) CFAdd(ctx context.Context, key string, element any) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.element("cf.add", key, element)
	_ = c(ctx, cmd)
	return cmd
}

// CFAddNX is CFAdd if the element is not found, and tells whether that was so. Since
// RedisBloom 1.0, O(K+I) as CFAdd.
func (c cmdable) CFAddNX(ctx context.Context, key string, element any) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.element("cf.addnx", key, element)
	_ = c(ctx, cmd)
	return cmd
}

// CFInsert is CFAdd for several elements, false for those for which there was no room.
// That there is no filter and NoCreate is set is an error of the server. Since RedisBloom
// 1.0, O(N*(K+I)) with the elements, the filters and MaxIterations.
func (c cmdable) CFInsert(ctx context.Context, key string, options *CFInsertOptions, elements ...any) *BoolSliceCmd {
	cmd := roomy[BoolSliceCmd]()
	cmd.cfInsert("cf.insert", key, options, elements)
	_ = c(ctx, cmd)
	return cmd
}

// CFInsertNX is CFAddNX for several elements: 1 for those added, 0 for those found, -1
// for those for which there was no room. Since RedisBloom 1.0, O(N*(K+I)) as CFInsert.
func (c cmdable) CFInsertNX(ctx context.Context, key string, options *CFInsertOptions, elements ...any) *IntSliceCmd {
	cmd := roomy[IntSliceCmd]()
	cmd.cfInsert("cf.insertnx", key, options, elements)
	_ = c(ctx, cmd)
	return cmd
}

// cfInsert appends what both forms have.
func (c *baseCmd) cfInsert(name, key string, o *CFInsertOptions, elements []any) {
	c.key(name, key)
	if o != nil {
		c.optInt(o.Capacity != 0, "CAPACITY", o.Capacity)
		c.opt(o.NoCreate, "NOCREATE")
	}
	c.str("ITEMS")
	c.args(elements...)
}

// CFExists tells whether an element may be in a cuckoo filter; false is certain. It is
// false where the key does not exist. Since RedisBloom 1.0, O(K) with the filters.
func (c cmdable) CFExists(ctx context.Context, key string, element any) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.element("cf.exists", key, element)
	_ = c(ctx, cmd)
	return cmd
}

// CFMExists is CFExists for several elements. Since RedisBloom 1.0, O(K*N) with the
// filters and the elements.
func (c cmdable) CFMExists(ctx context.Context, key string, elements ...any) *BoolSliceCmd {
	cmd := roomy[BoolSliceCmd]()
	cmd.elements("cf.mexists", key, elements)
	_ = c(ctx, cmd)
	return cmd
}

// CFCount gives how many times an element may be in a cuckoo filter, 0 where the key does
// not exist. Since RedisBloom 1.0, O(K) with the filters.
func (c cmdable) CFCount(ctx context.Context, key string, element any) *IntCmd {
	cmd := roomy[IntCmd]()
	cmd.element("cf.count", key, element)
	_ = c(ctx, cmd)
	return cmd
}

// CFDel takes an element out once, and tells whether it was found. One that was never
// added must not be taken out: another one may go. That the key does not exist is an
// error of the server. Since RedisBloom 1.0, O(K) with the filters.
func (c cmdable) CFDel(ctx context.Context, key string, element any) *BoolCmd {
	cmd := roomy[BoolCmd]()
	cmd.element("cf.del", key, element)
	_ = c(ctx, cmd)
	return cmd
}

// CFInfo describes a cuckoo filter. That the key does not exist is an error of the
// server. Since RedisBloom 1.0, O(1).
func (c cmdable) CFInfo(ctx context.Context, key string) *CFInfoCmd {
	cmd := roomy[CFInfoCmd]()
	cmd.key("cf.info", key)
	_ = c(ctx, cmd)
	return cmd
}

// CFScanDump is BFScanDump for a cuckoo filter. Since RedisBloom 1.0, O(N) with the
// capacity.
func (c cmdable) CFScanDump(ctx context.Context, key string, iterator int64) *ScanDumpCmd {
	return c.scanDump(ctx, "cf.scandump", key, iterator)
}

// CFLoadChunk is BFLoadChunk for a cuckoo filter. Since RedisBloom 1.0, O(N) with the
// capacity.
func (c cmdable) CFLoadChunk(ctx context.Context, key string, iterator int64, data any) *StatusCmd {
	return c.loadChunk(ctx, "cf.loadchunk", key, iterator, data)
}

//------------------------------------------------------------------------------

// ScanDump is a part of a filter, and the iterator of the next part. 0 says that there is
// none, and that this is no part.
type ScanDump struct {
	Iter int64
	Data string
}

// ScanDumpCmd is a command whose reply is a part of a filter.
type ScanDumpCmd struct{ result[ScanDump] }

func (c *ScanDumpCmd) readReply(r *resp.Reader) error {
	c.val = ScanDump{}
	if err := expectLen(r, 2, "iterator and data"); err != nil {
		return err
	}
	iter, err := r.Int()
	if err != nil {
		return err
	}
	data, err := readStringOrEmpty(r)
	if err != nil {
		return err
	}
	c.val = ScanDump{Iter: iter, Data: data}
	return nil
}

// readNumbers reads a map of names and numbers; field gives where a number goes, nil if
// it is not wanted. Names are in lower case; a null is 0.
func readNumbers(r *resp.Reader, field func(name string) *int64) error {
	return readFields(r, func(name string) (err error) {
		to := field(strings.ToLower(name))
		if to == nil {
			return r.Skip()
		}
		*to, err = readIntOrZero(r)
		return err
	})
}

// BFInfo describes a Bloom filter.
type BFInfo struct {
	Capacity      int64 // elements that it is made for
	Size          int64 // bytes
	Filters       int64
	ItemsInserted int64 // elements added that were not found before
	ExpansionRate int64 // 0: it does not grow
}

// BFInfoCmd is a command whose reply is a BFInfo.
type BFInfoCmd struct{ result[BFInfo] }

// NewBFInfoCmd makes a command of its arguments, the name first.
func NewBFInfoCmd(_ context.Context, args ...any) *BFInfoCmd {
	c := roomy[BFInfoCmd]()
	c.beginArgs(args)
	return c
}

// field is where the number goes that the server calls name.
func (i *BFInfo) field(name string) *int64 {
	switch name {
	case "capacity":
		return &i.Capacity
	case "size":
		return &i.Size
	case "number of filters", "filters":
		return &i.Filters
	case "number of items inserted", "items":
		return &i.ItemsInserted
	case "expansion rate", "expansion":
		return &i.ExpansionRate
	}
	return nil
}

// readReply reads all numbers, or, if the command asks for one, a list of that.
func (c *BFInfoCmd) readReply(r *resp.Reader) error {
	c.val = BFInfo{}
	var info BFInfo
	at := *r
	if n, err := at.ArrayLen(); err == nil && n == 1 {
		asked, _ := c.argAt(2)
		to := info.field(strings.ToLower(string(asked)))
		if to == nil {
			return badShape(*r, "map of names and numbers")
		}
		*r = at
		if *to, err = readIntOrZero(r); err != nil {
			return err
		}
	} else if err := readNumbers(r, info.field); err != nil {
		return err
	}
	c.val = info
	return nil
}

// CFInfo describes a cuckoo filter.
type CFInfo struct {
	Size             int64 // bytes
	NumBuckets       int64
	NumFilters       int64
	NumItemsInserted int64
	NumItemsDeleted  int64
	BucketSize       int64
	ExpansionRate    int64
	MaxIteration     int64
}

// CFInfoCmd is a command whose reply is a CFInfo.
type CFInfoCmd struct{ result[CFInfo] }

// NewCFInfoCmd makes a command of its arguments, the name first.
func NewCFInfoCmd(_ context.Context, args ...any) *CFInfoCmd {
	c := roomy[CFInfoCmd]()
	c.beginArgs(args)
	return c
}

func (c *CFInfoCmd) readReply(r *resp.Reader) error {
	c.val = CFInfo{}
	var info CFInfo
	err := readNumbers(r, func(name string) *int64 {
		switch name {
		case "size":
			return &info.Size
		case "number of buckets":
			return &info.NumBuckets
		case "number of filters", "number of filter":
			return &info.NumFilters
		case "number of items inserted":
			return &info.NumItemsInserted
		case "number of items deleted":
			return &info.NumItemsDeleted
		case "bucket size":
			return &info.BucketSize
		case "expansion rate":
			return &info.ExpansionRate
		case "max iterations", "max iteration":
			return &info.MaxIteration
		}
		return nil
	})
	if err == nil {
		c.val = info
	}
	return err
}
