package redis

import (
	"context"
	"time"
)

// Cmdable are the commands that need no connection of their own. Client, Conn, Tx
// and Pipeline have them.
type Cmdable interface {
	// Pipeline starts to collect commands, to be sent together.
	Pipeline() Pipeliner
	// Pipelined collects the commands of fn and sends them together.
	Pipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error)
	// TxPipelined is Pipelined as a transaction.
	TxPipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error)
	// TxPipeline is Pipeline for a transaction.
	TxPipeline() Pipeliner

	BgRewriteAOF(ctx context.Context) *StatusCmd
	BgSave(ctx context.Context) *StatusCmd
	ClientGetName(ctx context.Context) *StringCmd
	ClientID(ctx context.Context) *IntCmd
	ClientInfo(ctx context.Context) *ClientInfoCmd
	ClientKill(ctx context.Context, ipPort string) *StatusCmd
	ClientKillByFilter(ctx context.Context, keys ...string) *IntCmd
	ClientList(ctx context.Context) *StringCmd
	ClientMaintNotifications(ctx context.Context, enabled bool, endpointType string) *StatusCmd
	ClientPause(ctx context.Context, dur time.Duration) *BoolCmd
	ClientTracking(ctx context.Context, on bool, opts *ClientTrackingOptions) *StatusCmd
	ClientTrackingOff(ctx context.Context) *StatusCmd
	ClientTrackingOn(ctx context.Context, opts *ClientTrackingOptions) *StatusCmd
	ClientUnblock(ctx context.Context, id int64) *IntCmd
	ClientUnblockWithError(ctx context.Context, id int64) *IntCmd
	ClientUnpause(ctx context.Context) *BoolCmd
	Command(ctx context.Context) *CommandsInfoCmd
	CommandGetKeys(ctx context.Context, commands ...any) *StringSliceCmd
	CommandGetKeysAndFlags(ctx context.Context, commands ...any) *KeyFlagsCmd
	CommandList(ctx context.Context, filter *FilterBy) *StringSliceCmd
	ConfigGet(ctx context.Context, parameter string) *MapStringStringCmd
	ConfigResetStat(ctx context.Context) *StatusCmd
	ConfigRewrite(ctx context.Context) *StatusCmd
	ConfigSet(ctx context.Context, parameter, value string) *StatusCmd
	DBSize(ctx context.Context) *IntCmd
	DebugObject(ctx context.Context, key string) *StringCmd
	Echo(ctx context.Context, message any) *StringCmd
	FlushAll(ctx context.Context) *StatusCmd
	FlushAllAsync(ctx context.Context) *StatusCmd
	FlushDB(ctx context.Context) *StatusCmd
	FlushDBAsync(ctx context.Context) *StatusCmd
	Info(ctx context.Context, sections ...string) *StringCmd
	InfoMap(ctx context.Context, sections ...string) *InfoCmd
	LastSave(ctx context.Context) *IntCmd
	Latency(ctx context.Context) *LatencyCmd
	LatencyReset(ctx context.Context, events ...any) *StatusCmd
	MemoryUsage(ctx context.Context, key string, samples ...int) *IntCmd
	ModuleLoadex(ctx context.Context, conf *ModuleLoadexConfig) *StringCmd
	Ping(ctx context.Context) *StatusCmd
	Quit(ctx context.Context) *StatusCmd
	ReplicaOf(ctx context.Context, host, port string) *StatusCmd
	Save(ctx context.Context) *StatusCmd
	Shutdown(ctx context.Context) *StatusCmd
	ShutdownNoSave(ctx context.Context) *StatusCmd
	ShutdownSave(ctx context.Context) *StatusCmd
	SlaveOf(ctx context.Context, host, port string) *StatusCmd
	SlowLogGet(ctx context.Context, num int64) *SlowLogCmd
	SlowLogLen(ctx context.Context) *IntCmd
	SlowLogReset(ctx context.Context) *StatusCmd
	Time(ctx context.Context) *TimeCmd
	Unlink(ctx context.Context, keys ...string) *IntCmd

	StringCmdable
	GenericCmdable
	BitMapCmdable
	HyperLogLogCmdable
	HashCmdable
	ListCmdable
	SetCmdable
	SortedSetCmdable
	GeoCmdable
	StreamCmdable
	ScriptingFunctionsCmdable
	PubSubCmdable
	JSONCmdable
	TimeseriesCmdable
	ProbabilisticCmdable
	VectorSetCmdable
	ACLCmdable
	ClusterCmdable
	ArrayCmdable
	SearchCmdable
}

// StatefulCmdable are all commands, those that change a connection included. Conn,
// Tx and Pipeline have them.
type StatefulCmdable interface {
	Cmdable

	Auth(ctx context.Context, password string) *StatusCmd
	AuthACL(ctx context.Context, username, password string) *StatusCmd
	ClientSetInfo(ctx context.Context, info LibraryInfo) *StatusCmd
	ClientSetName(ctx context.Context, name string) *BoolCmd
	Hello(ctx context.Context, ver int, username, password, clientName string) *MapStringInterfaceCmd
	Select(ctx context.Context, index int) *StatusCmd
	SwapDB(ctx context.Context, index1, index2 int) *StatusCmd
}

// StringCmdable are the commands for strings.
type StringCmdable interface {
	Append(ctx context.Context, key, value string) *IntCmd
	Decr(ctx context.Context, key string) *IntCmd
	DecrBy(ctx context.Context, key string, decrement int64) *IntCmd
	DelExArgs(ctx context.Context, key string, a DelExArgs) *IntCmd
	Digest(ctx context.Context, key string) *DigestCmd
	Get(ctx context.Context, key string) *StringCmd
	GetDel(ctx context.Context, key string) *StringCmd
	GetEx(ctx context.Context, key string, expiration time.Duration) *StringCmd
	GetRange(ctx context.Context, key string, start, end int64) *StringCmd
	GetSet(ctx context.Context, key string, value any) *StringCmd
	GetToBuffer(ctx context.Context, key string, buf []byte) *ZeroCopyStringCmd
	Incr(ctx context.Context, key string) *IntCmd
	IncrBy(ctx context.Context, key string, value int64) *IntCmd
	IncrByFloat(ctx context.Context, key string, value float64) *FloatCmd
	IncrEXFloat(ctx context.Context, key string, args IncrEXFloatArgs) *IncrEXFloatCmd
	IncrEXInt(ctx context.Context, key string, args IncrEXIntArgs) *IncrEXIntCmd
	LCS(ctx context.Context, q *LCSQuery) *LCSCmd
	MGet(ctx context.Context, keys ...string) *SliceCmd
	MSet(ctx context.Context, values ...any) *StatusCmd
	MSetEX(ctx context.Context, args MSetEXArgs, values ...any) *IntCmd
	MSetNX(ctx context.Context, values ...any) *BoolCmd
	Set(ctx context.Context, key string, value any, expiration time.Duration) *StatusCmd
	SetArgs(ctx context.Context, key string, value any, a SetArgs) *StatusCmd
	SetEx(ctx context.Context, key string, value any, expiration time.Duration) *StatusCmd
	SetFromBuffer(ctx context.Context, key string, buf []byte) *StatusCmd
	SetIFDEQ(ctx context.Context, key string, value any, matchDigest uint64, expiration time.Duration) *StatusCmd
	SetIFDEQGet(ctx context.Context, key string, value any, matchDigest uint64, expiration time.Duration) *StringCmd
	SetIFDNE(ctx context.Context, key string, value any, matchDigest uint64, expiration time.Duration) *StatusCmd
	SetIFDNEGet(ctx context.Context, key string, value any, matchDigest uint64, expiration time.Duration) *StringCmd
	SetIFEQ(ctx context.Context, key string, value, matchValue any, expiration time.Duration) *StatusCmd
	SetIFEQGet(ctx context.Context, key string, value, matchValue any, expiration time.Duration) *StringCmd
	SetIFNE(ctx context.Context, key string, value, matchValue any, expiration time.Duration) *StatusCmd
	SetIFNEGet(ctx context.Context, key string, value, matchValue any, expiration time.Duration) *StringCmd
	SetNX(ctx context.Context, key string, value any, expiration time.Duration) *BoolCmd
	SetRange(ctx context.Context, key string, offset int64, value string) *IntCmd
	SetXX(ctx context.Context, key string, value any, expiration time.Duration) *BoolCmd
	StrLen(ctx context.Context, key string) *IntCmd
}

// GenericCmdable are the commands for keys of all types.
type GenericCmdable interface {
	Copy(ctx context.Context, sourceKey, destKey string, db int, replace bool) *IntCmd
	Del(ctx context.Context, keys ...string) *IntCmd
	Dump(ctx context.Context, key string) *StringCmd
	Exists(ctx context.Context, keys ...string) *IntCmd
	Expire(ctx context.Context, key string, expiration time.Duration) *BoolCmd
	ExpireAt(ctx context.Context, key string, tm time.Time) *BoolCmd
	ExpireGT(ctx context.Context, key string, expiration time.Duration) *BoolCmd
	ExpireLT(ctx context.Context, key string, expiration time.Duration) *BoolCmd
	ExpireNX(ctx context.Context, key string, expiration time.Duration) *BoolCmd
	ExpireTime(ctx context.Context, key string) *DurationCmd
	ExpireXX(ctx context.Context, key string, expiration time.Duration) *BoolCmd
	Keys(ctx context.Context, pattern string) *StringSliceCmd
	Migrate(ctx context.Context, host, port, key string, db int, timeout time.Duration) *StatusCmd
	Move(ctx context.Context, key string, db int) *BoolCmd
	ObjectEncoding(ctx context.Context, key string) *StringCmd
	ObjectFreq(ctx context.Context, key string) *IntCmd
	ObjectIdleTime(ctx context.Context, key string) *DurationCmd
	ObjectRefCount(ctx context.Context, key string) *IntCmd
	PExpire(ctx context.Context, key string, expiration time.Duration) *BoolCmd
	PExpireAt(ctx context.Context, key string, tm time.Time) *BoolCmd
	PExpireTime(ctx context.Context, key string) *DurationCmd
	PTTL(ctx context.Context, key string) *DurationCmd
	Persist(ctx context.Context, key string) *BoolCmd
	RandomKey(ctx context.Context) *StringCmd
	Rename(ctx context.Context, key, newkey string) *StatusCmd
	RenameNX(ctx context.Context, key, newkey string) *BoolCmd
	Restore(ctx context.Context, key string, ttl time.Duration, value string) *StatusCmd
	RestoreReplace(ctx context.Context, key string, ttl time.Duration, value string) *StatusCmd
	Scan(ctx context.Context, cursor uint64, match string, count int64) *ScanCmd
	ScanType(ctx context.Context, cursor uint64, match string, count int64, keyType string) *ScanCmd
	Sort(ctx context.Context, key string, sort *Sort) *StringSliceCmd
	SortInterfaces(ctx context.Context, key string, sort *Sort) *SliceCmd
	SortRO(ctx context.Context, key string, sort *Sort) *StringSliceCmd
	SortStore(ctx context.Context, key, store string, sort *Sort) *IntCmd
	TTL(ctx context.Context, key string) *DurationCmd
	Touch(ctx context.Context, keys ...string) *IntCmd
	Type(ctx context.Context, key string) *StatusCmd
}

// BitMapCmdable are the commands for bits of strings.
type BitMapCmdable interface {
	BitCount(ctx context.Context, key string, bitCount *BitCount) *IntCmd
	BitField(ctx context.Context, key string, values ...any) *IntSliceCmd
	BitFieldRO(ctx context.Context, key string, values ...any) *IntSliceCmd
	BitOpAnd(ctx context.Context, destKey string, keys ...string) *IntCmd
	BitOpAndOr(ctx context.Context, destKey string, keys ...string) *IntCmd
	BitOpDiff(ctx context.Context, destKey string, keys ...string) *IntCmd
	BitOpDiff1(ctx context.Context, destKey string, keys ...string) *IntCmd
	BitOpNot(ctx context.Context, destKey, key string) *IntCmd
	BitOpOne(ctx context.Context, destKey string, keys ...string) *IntCmd
	BitOpOr(ctx context.Context, destKey string, keys ...string) *IntCmd
	BitOpXor(ctx context.Context, destKey string, keys ...string) *IntCmd
	BitPos(ctx context.Context, key string, bit int64, pos ...int64) *IntCmd
	BitPosSpan(ctx context.Context, key string, bit int8, start, end int64, span string) *IntCmd
	GetBit(ctx context.Context, key string, offset int64) *IntCmd
	SetBit(ctx context.Context, key string, offset int64, value int) *IntCmd
}

// HyperLogLogCmdable are the commands that estimate numbers of different elements.
type HyperLogLogCmdable interface {
	PFAdd(ctx context.Context, key string, els ...any) *IntCmd
	PFCount(ctx context.Context, keys ...string) *IntCmd
	PFMerge(ctx context.Context, dest string, keys ...string) *StatusCmd
}

// HashCmdable are the commands for hashes.
type HashCmdable interface {
	HDel(ctx context.Context, key string, fields ...string) *IntCmd
	HExists(ctx context.Context, key, field string) *BoolCmd
	HExpire(ctx context.Context, key string, expiration time.Duration, fields ...string) *IntSliceCmd
	HExpireAt(ctx context.Context, key string, tm time.Time, fields ...string) *IntSliceCmd
	HExpireAtWithArgs(ctx context.Context, key string, tm time.Time, expirationArgs HExpireArgs, fields ...string) *IntSliceCmd
	HExpireTime(ctx context.Context, key string, fields ...string) *IntSliceCmd
	HExpireWithArgs(ctx context.Context, key string, expiration time.Duration, expirationArgs HExpireArgs, fields ...string) *IntSliceCmd
	HGet(ctx context.Context, key, field string) *StringCmd
	HGetAll(ctx context.Context, key string) *MapStringStringCmd
	HGetDel(ctx context.Context, key string, fields ...string) *StringSliceCmd
	HGetEX(ctx context.Context, key string, fields ...string) *StringSliceCmd
	HGetEXWithArgs(ctx context.Context, key string, options *HGetEXOptions, fields ...string) *StringSliceCmd
	HImportDiscard(ctx context.Context, fieldset string) *IntCmd
	HImportDiscardAll(ctx context.Context) *IntCmd
	HImportPrepare(ctx context.Context, fieldset string, fields ...string) *StatusCmd
	HImportSet(ctx context.Context, key, fieldset string, values ...any) *StatusCmd
	HIncrBy(ctx context.Context, key, field string, incr int64) *IntCmd
	HIncrByFloat(ctx context.Context, key, field string, incr float64) *FloatCmd
	HKeys(ctx context.Context, key string) *StringSliceCmd
	HLen(ctx context.Context, key string) *IntCmd
	HMGet(ctx context.Context, key string, fields ...string) *SliceCmd
	HMSet(ctx context.Context, key string, values ...any) *BoolCmd
	HPExpire(ctx context.Context, key string, expiration time.Duration, fields ...string) *IntSliceCmd
	HPExpireAt(ctx context.Context, key string, tm time.Time, fields ...string) *IntSliceCmd
	HPExpireAtWithArgs(ctx context.Context, key string, tm time.Time, expirationArgs HExpireArgs, fields ...string) *IntSliceCmd
	HPExpireTime(ctx context.Context, key string, fields ...string) *IntSliceCmd
	HPExpireWithArgs(ctx context.Context, key string, expiration time.Duration, expirationArgs HExpireArgs, fields ...string) *IntSliceCmd
	HPTTL(ctx context.Context, key string, fields ...string) *IntSliceCmd
	HPersist(ctx context.Context, key string, fields ...string) *IntSliceCmd
	HRandField(ctx context.Context, key string, count int) *StringSliceCmd
	HRandFieldWithValues(ctx context.Context, key string, count int) *KeyValueSliceCmd
	HScan(ctx context.Context, key string, cursor uint64, match string, count int64) *ScanCmd
	HScanNoValues(ctx context.Context, key string, cursor uint64, match string, count int64) *ScanCmd
	HSet(ctx context.Context, key string, values ...any) *IntCmd
	HSetEX(ctx context.Context, key string, fieldsAndValues ...string) *IntCmd
	HSetEXWithArgs(ctx context.Context, key string, options *HSetEXOptions, fieldsAndValues ...string) *IntCmd
	HSetNX(ctx context.Context, key, field string, value any) *BoolCmd
	HStrLen(ctx context.Context, key, field string) *IntCmd
	HTTL(ctx context.Context, key string, fields ...string) *IntSliceCmd
	HVals(ctx context.Context, key string) *StringSliceCmd
}

// ListCmdable are the commands for lists.
type ListCmdable interface {
	BLMPop(ctx context.Context, timeout time.Duration, direction string, count int64, keys ...string) *KeyValuesCmd
	BLMove(ctx context.Context, source, destination, srcpos, destpos string, timeout time.Duration) *StringCmd
	BLMoveM(ctx context.Context, source, destination, srcpos, destpos string, timeout time.Duration, args LMoveMArgs) *StringSliceCmd
	BLPop(ctx context.Context, timeout time.Duration, keys ...string) *StringSliceCmd
	BRPop(ctx context.Context, timeout time.Duration, keys ...string) *StringSliceCmd
	BRPopLPush(ctx context.Context, source, destination string, timeout time.Duration) *StringCmd
	LIndex(ctx context.Context, key string, index int64) *StringCmd
	LInsert(ctx context.Context, key, op string, pivot, value any) *IntCmd
	LInsertAfter(ctx context.Context, key string, pivot, value any) *IntCmd
	LInsertBefore(ctx context.Context, key string, pivot, value any) *IntCmd
	LLen(ctx context.Context, key string) *IntCmd
	LMPop(ctx context.Context, direction string, count int64, keys ...string) *KeyValuesCmd
	LMove(ctx context.Context, source, destination, srcpos, destpos string) *StringCmd
	LMoveM(ctx context.Context, source, destination, srcpos, destpos string, args LMoveMArgs) *StringSliceCmd
	LPop(ctx context.Context, key string) *StringCmd
	LPopCount(ctx context.Context, key string, count int) *StringSliceCmd
	LPos(ctx context.Context, key, value string, args LPosArgs) *IntCmd
	LPosCount(ctx context.Context, key, value string, count int64, args LPosArgs) *IntSliceCmd
	LPush(ctx context.Context, key string, values ...any) *IntCmd
	LPushX(ctx context.Context, key string, values ...any) *IntCmd
	LRange(ctx context.Context, key string, start, stop int64) *StringSliceCmd
	LRem(ctx context.Context, key string, count int64, value any) *IntCmd
	LSet(ctx context.Context, key string, index int64, value any) *StatusCmd
	LTrim(ctx context.Context, key string, start, stop int64) *StatusCmd
	RPop(ctx context.Context, key string) *StringCmd
	RPopCount(ctx context.Context, key string, count int) *StringSliceCmd
	RPopLPush(ctx context.Context, source, destination string) *StringCmd
	RPush(ctx context.Context, key string, values ...any) *IntCmd
	RPushX(ctx context.Context, key string, values ...any) *IntCmd
}

// SetCmdable are the commands for sets.
type SetCmdable interface {
	SAdd(ctx context.Context, key string, members ...any) *IntCmd
	SCard(ctx context.Context, key string) *IntCmd
	SDiff(ctx context.Context, keys ...string) *StringSliceCmd
	SDiffCard(ctx context.Context, options *SDiffCardOptions, keys ...string) *IntCmd
	SDiffStore(ctx context.Context, destination string, keys ...string) *IntCmd
	SInter(ctx context.Context, keys ...string) *StringSliceCmd
	SInterCard(ctx context.Context, limit int64, keys ...string) *IntCmd
	SInterStore(ctx context.Context, destination string, keys ...string) *IntCmd
	SIsMember(ctx context.Context, key string, member any) *BoolCmd
	SMIsMember(ctx context.Context, key string, members ...any) *BoolSliceCmd
	SMembers(ctx context.Context, key string) *StringSliceCmd
	SMembersMap(ctx context.Context, key string) *StringStructMapCmd
	SMove(ctx context.Context, source, destination string, member any) *BoolCmd
	SPop(ctx context.Context, key string) *StringCmd
	SPopN(ctx context.Context, key string, count int64) *StringSliceCmd
	SRandMember(ctx context.Context, key string) *StringCmd
	SRandMemberN(ctx context.Context, key string, count int64) *StringSliceCmd
	SRem(ctx context.Context, key string, members ...any) *IntCmd
	SScan(ctx context.Context, key string, cursor uint64, match string, count int64) *ScanCmd
	SUnion(ctx context.Context, keys ...string) *StringSliceCmd
	SUnionCard(ctx context.Context, options *SUnionCardOptions, keys ...string) *IntCmd
	SUnionStore(ctx context.Context, destination string, keys ...string) *IntCmd
}

// SortedSetCmdable are the commands for sorted sets.
type SortedSetCmdable interface {
	BZMPop(ctx context.Context, timeout time.Duration, order string, count int64, keys ...string) *ZSliceWithKeyCmd
	BZPopMax(ctx context.Context, timeout time.Duration, keys ...string) *ZWithKeyCmd
	BZPopMin(ctx context.Context, timeout time.Duration, keys ...string) *ZWithKeyCmd
	ZAdd(ctx context.Context, key string, members ...Z) *IntCmd
	ZAddArgs(ctx context.Context, key string, args ZAddArgs) *IntCmd
	ZAddArgsIncr(ctx context.Context, key string, args ZAddArgs) *FloatCmd
	ZAddGT(ctx context.Context, key string, members ...Z) *IntCmd
	ZAddLT(ctx context.Context, key string, members ...Z) *IntCmd
	ZAddNX(ctx context.Context, key string, members ...Z) *IntCmd
	ZAddXX(ctx context.Context, key string, members ...Z) *IntCmd
	ZCard(ctx context.Context, key string) *IntCmd
	ZCount(ctx context.Context, key, min, max string) *IntCmd
	ZDiff(ctx context.Context, keys ...string) *StringSliceCmd
	ZDiffStore(ctx context.Context, destination string, keys ...string) *IntCmd
	ZDiffWithScores(ctx context.Context, keys ...string) *ZSliceCmd
	ZIncrBy(ctx context.Context, key string, increment float64, member string) *FloatCmd
	ZInter(ctx context.Context, store *ZStore) *StringSliceCmd
	ZInterCard(ctx context.Context, limit int64, keys ...string) *IntCmd
	ZInterStore(ctx context.Context, destination string, store *ZStore) *IntCmd
	ZInterWithScores(ctx context.Context, store *ZStore) *ZSliceCmd
	ZLexCount(ctx context.Context, key, min, max string) *IntCmd
	ZMPop(ctx context.Context, order string, count int64, keys ...string) *ZSliceWithKeyCmd
	ZMScore(ctx context.Context, key string, members ...string) *FloatSliceCmd
	ZPopMax(ctx context.Context, key string, count ...int64) *ZSliceCmd
	ZPopMin(ctx context.Context, key string, count ...int64) *ZSliceCmd
	ZRandMember(ctx context.Context, key string, count int) *StringSliceCmd
	ZRandMemberWithScores(ctx context.Context, key string, count int) *ZSliceCmd
	ZRange(ctx context.Context, key string, start, stop int64) *StringSliceCmd
	ZRangeArgs(ctx context.Context, z ZRangeArgs) *StringSliceCmd
	ZRangeArgsWithScores(ctx context.Context, z ZRangeArgs) *ZSliceCmd
	ZRangeByLex(ctx context.Context, key string, opt *ZRangeBy) *StringSliceCmd
	ZRangeByScore(ctx context.Context, key string, opt *ZRangeBy) *StringSliceCmd
	ZRangeByScoreWithScores(ctx context.Context, key string, opt *ZRangeBy) *ZSliceCmd
	ZRangeStore(ctx context.Context, dst string, z ZRangeArgs) *IntCmd
	ZRangeWithScores(ctx context.Context, key string, start, stop int64) *ZSliceCmd
	ZRank(ctx context.Context, key, member string) *IntCmd
	ZRankWithScore(ctx context.Context, key, member string) *RankWithScoreCmd
	ZRem(ctx context.Context, key string, members ...any) *IntCmd
	ZRemRangeByLex(ctx context.Context, key, min, max string) *IntCmd
	ZRemRangeByRank(ctx context.Context, key string, start, stop int64) *IntCmd
	ZRemRangeByScore(ctx context.Context, key, min, max string) *IntCmd
	ZRevRange(ctx context.Context, key string, start, stop int64) *StringSliceCmd
	ZRevRangeByLex(ctx context.Context, key string, opt *ZRangeBy) *StringSliceCmd
	ZRevRangeByScore(ctx context.Context, key string, opt *ZRangeBy) *StringSliceCmd
	ZRevRangeByScoreWithScores(ctx context.Context, key string, opt *ZRangeBy) *ZSliceCmd
	ZRevRangeWithScores(ctx context.Context, key string, start, stop int64) *ZSliceCmd
	ZRevRank(ctx context.Context, key, member string) *IntCmd
	ZRevRankWithScore(ctx context.Context, key, member string) *RankWithScoreCmd
	ZScan(ctx context.Context, key string, cursor uint64, match string, count int64) *ScanCmd
	ZScore(ctx context.Context, key, member string) *FloatCmd
	ZUnion(ctx context.Context, store ZStore) *StringSliceCmd
	ZUnionStore(ctx context.Context, dest string, store *ZStore) *IntCmd
	ZUnionWithScores(ctx context.Context, store ZStore) *ZSliceCmd
}

// GeoCmdable are the commands for places.
type GeoCmdable interface {
	GeoAdd(ctx context.Context, key string, geoLocation ...*GeoLocation) *IntCmd
	GeoDist(ctx context.Context, key, member1, member2, unit string) *FloatCmd
	GeoHash(ctx context.Context, key string, members ...string) *StringSliceCmd
	GeoPos(ctx context.Context, key string, members ...string) *GeoPosCmd
	GeoRadius(ctx context.Context, key string, longitude, latitude float64, query *GeoRadiusQuery) *GeoLocationCmd
	GeoRadiusByMember(ctx context.Context, key, member string, query *GeoRadiusQuery) *GeoLocationCmd
	GeoRadiusByMemberStore(ctx context.Context, key, member string, query *GeoRadiusQuery) *IntCmd
	GeoRadiusStore(ctx context.Context, key string, longitude, latitude float64, query *GeoRadiusQuery) *IntCmd
	GeoSearch(ctx context.Context, key string, q *GeoSearchQuery) *StringSliceCmd
	GeoSearchLocation(ctx context.Context, key string, q *GeoSearchLocationQuery) *GeoSearchLocationCmd
	GeoSearchStore(ctx context.Context, key, store string, q *GeoSearchStoreQuery) *IntCmd
}

// StreamCmdable are the commands for streams.
type StreamCmdable interface {
	XAck(ctx context.Context, stream, group string, ids ...string) *IntCmd
	XAckDel(ctx context.Context, stream, group, mode string, ids ...string) *SliceCmd
	XAdd(ctx context.Context, a *XAddArgs) *StringCmd
	XAutoClaim(ctx context.Context, a *XAutoClaimArgs) *XAutoClaimCmd
	XAutoClaimJustID(ctx context.Context, a *XAutoClaimArgs) *XAutoClaimJustIDCmd
	XAutoClaimWithDeleted(ctx context.Context, a *XAutoClaimArgs) *XAutoClaimWithDeletedCmd
	XCfgSet(ctx context.Context, a *XCfgSetArgs) *StatusCmd
	XClaim(ctx context.Context, a *XClaimArgs) *XMessageSliceCmd
	XClaimJustID(ctx context.Context, a *XClaimArgs) *StringSliceCmd
	XDel(ctx context.Context, stream string, ids ...string) *IntCmd
	XDelEx(ctx context.Context, stream, mode string, ids ...string) *SliceCmd
	XGroupCreate(ctx context.Context, stream, group, start string) *StatusCmd
	XGroupCreateConsumer(ctx context.Context, stream, group, consumer string) *IntCmd
	XGroupCreateMkStream(ctx context.Context, stream, group, start string) *StatusCmd
	XGroupDelConsumer(ctx context.Context, stream, group, consumer string) *IntCmd
	XGroupDestroy(ctx context.Context, stream, group string) *IntCmd
	XGroupSetID(ctx context.Context, stream, group, start string) *StatusCmd
	XInfoConsumers(ctx context.Context, key, group string) *XInfoConsumersCmd
	XInfoGroups(ctx context.Context, key string) *XInfoGroupsCmd
	XInfoStream(ctx context.Context, key string) *XInfoStreamCmd
	XInfoStreamFull(ctx context.Context, key string, count int) *XInfoStreamFullCmd
	XLen(ctx context.Context, stream string) *IntCmd
	XNack(ctx context.Context, a *XNackArgs) *IntCmd
	XPending(ctx context.Context, stream, group string) *XPendingCmd
	XPendingExt(ctx context.Context, a *XPendingExtArgs) *XPendingExtCmd
	XRange(ctx context.Context, stream, start, stop string) *XMessageSliceCmd
	XRangeN(ctx context.Context, stream, start, stop string, count int64) *XMessageSliceCmd
	XRead(ctx context.Context, a *XReadArgs) *XStreamSliceCmd
	XReadGroup(ctx context.Context, a *XReadGroupArgs) *XStreamSliceCmd
	XReadStreams(ctx context.Context, streams ...string) *XStreamSliceCmd
	XRevRange(ctx context.Context, stream, start, stop string) *XMessageSliceCmd
	XRevRangeN(ctx context.Context, stream, start, stop string, count int64) *XMessageSliceCmd
	XTrimMaxLen(ctx context.Context, key string, maxLen int64) *IntCmd
	XTrimMaxLenApprox(ctx context.Context, key string, maxLen, limit int64) *IntCmd
	XTrimMaxLenApproxMode(ctx context.Context, key string, maxLen, limit int64, mode string) *IntCmd
	XTrimMaxLenMode(ctx context.Context, key string, maxLen int64, mode string) *IntCmd
	XTrimMinID(ctx context.Context, key, minID string) *IntCmd
	XTrimMinIDApprox(ctx context.Context, key, minID string, limit int64) *IntCmd
	XTrimMinIDApproxMode(ctx context.Context, key, minID string, limit int64, mode string) *IntCmd
	XTrimMinIDMode(ctx context.Context, key, minID, mode string) *IntCmd
}

// ScriptingFunctionsCmdable are the commands for scripts and functions.
type ScriptingFunctionsCmdable interface {
	Eval(ctx context.Context, script string, keys []string, args ...any) *Cmd
	EvalRO(ctx context.Context, script string, keys []string, args ...any) *Cmd
	EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *Cmd
	EvalShaRO(ctx context.Context, sha1 string, keys []string, args ...any) *Cmd
	FCall(ctx context.Context, function string, keys []string, args ...any) *Cmd
	FCallRO(ctx context.Context, function string, keys []string, args ...any) *Cmd
	FCallRo(ctx context.Context, function string, keys []string, args ...any) *Cmd
	FunctionDelete(ctx context.Context, libName string) *StringCmd
	FunctionDump(ctx context.Context) *StringCmd
	FunctionFlush(ctx context.Context) *StringCmd
	FunctionFlushAsync(ctx context.Context) *StringCmd
	FunctionKill(ctx context.Context) *StringCmd
	FunctionList(ctx context.Context, q FunctionListQuery) *FunctionListCmd
	FunctionLoad(ctx context.Context, code string) *StringCmd
	FunctionLoadReplace(ctx context.Context, code string) *StringCmd
	FunctionRestore(ctx context.Context, libDump string) *StringCmd
	FunctionStats(ctx context.Context) *FunctionStatsCmd
	ScriptExists(ctx context.Context, hashes ...string) *BoolSliceCmd
	ScriptFlush(ctx context.Context) *StatusCmd
	ScriptKill(ctx context.Context) *StatusCmd
	ScriptLoad(ctx context.Context, script string) *StringCmd
}

// PubSubCmdable are the commands to publish, and to ask who listens.
type PubSubCmdable interface {
	PubSubChannels(ctx context.Context, pattern string) *StringSliceCmd
	PubSubNumPat(ctx context.Context) *IntCmd
	PubSubNumSub(ctx context.Context, channels ...string) *MapStringIntCmd
	PubSubShardChannels(ctx context.Context, pattern string) *StringSliceCmd
	PubSubShardNumSub(ctx context.Context, channels ...string) *MapStringIntCmd
	Publish(ctx context.Context, channel string, message any) *IntCmd
	SPublish(ctx context.Context, channel string, message any) *IntCmd
}

var (
	_ Cmdable         = (*Client)(nil)
	_ StatefulCmdable = (*Conn)(nil)
	_ StatefulCmdable = (*Tx)(nil)
	_ Scripter        = (*Client)(nil)
)
