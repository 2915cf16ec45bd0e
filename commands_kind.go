package redis

import (
	"bytes"
	"math/big"
	"reflect"
)

// CmdType says of which type a command is, and so its reply.
type CmdType uint8

// The types of commands. CmdTypeString is StringCmd, and so on; CmdTypeGeneric is Cmd,
// and every type that has no number of its own.
const (
	CmdTypeGeneric CmdType = iota
	CmdTypeString
	CmdTypeInt
	CmdTypeBool
	CmdTypeFloat
	CmdTypeStringSlice
	CmdTypeIntSlice
	CmdTypeFloatSlice
	CmdTypeBoolSlice
	CmdTypeMapStringString
	CmdTypeMapStringInt
	CmdTypeMapStringInterface
	CmdTypeMapStringInterfaceSlice
	CmdTypeSlice
	CmdTypeStatus
	CmdTypeDuration
	CmdTypeTime
	CmdTypeKeyValueSlice
	CmdTypeStringStructMap
	CmdTypeXMessageSlice
	CmdTypeXStreamSlice
	CmdTypeXPending
	CmdTypeXPendingExt
	CmdTypeXAutoClaim
	CmdTypeXAutoClaimWithDeleted
	CmdTypeXAutoClaimJustID
	CmdTypeXInfoConsumers
	CmdTypeXInfoGroups
	CmdTypeXInfoStream
	CmdTypeXInfoStreamFull
	CmdTypeZSlice
	CmdTypeZWithKey
	CmdTypeScan
	CmdTypeClusterSlots
	CmdTypeGeoLocation
	CmdTypeGeoSearchLocation
	CmdTypeGeoPos
	CmdTypeCommandsInfo
	CmdTypeSlowLog
	CmdTypeMapStringStringSlice
	CmdTypeMapMapStringInterface
	CmdTypeKeyValues
	CmdTypeZSliceWithKey
	CmdTypeFunctionList
	CmdTypeFunctionStats
	CmdTypeLCS
	CmdTypeKeyFlags
	CmdTypeClusterLinks
	CmdTypeClusterShards
	CmdTypeRankWithScore
	CmdTypeClientInfo
	CmdTypeACLLog
	CmdTypeInfo
	CmdTypeMonitor
	CmdTypeJSON
	CmdTypeJSONSlice
	CmdTypeIntPointerSlice
	CmdTypeScanDump
	CmdTypeBFInfo
	CmdTypeCFInfo
	CmdTypeCMSInfo
	CmdTypeTopKInfo
	CmdTypeTDigestInfo
	CmdTypeFTSynDump
	CmdTypeAggregate
	CmdTypeFTInfo
	CmdTypeFTSpellCheck
	CmdTypeFTSearch
	CmdTypeTSTimestampValue
	CmdTypeTSTimestampValueSlice
	CmdTypeTSNRangePivotRowSlice
	CmdTypeHotKeys
	CmdTypeIncrEXInt
	CmdTypeIncrEXFloat
	CmdTypeUint
	CmdTypeUintSlice
	CmdTypeAREntrySlice
)

// CmdTypeGetter is what tells its type: all commands.
type CmdTypeGetter interface {
	GetCmdType() CmdType
}

// CmdTyper is CmdTypeGetter.
type CmdTyper interface {
	GetCmdType() CmdType
}

// GetCmdType is CmdTypeGeneric for those types that have none of their own.
func (c *baseCmd) GetCmdType() CmdType { return CmdTypeGeneric }

// NoRetry tells whether the command is never sent again by itself once it was sent,
// because its reply has gone somewhere from where it can't be taken back.
func (c *baseCmd) NoRetry() bool { return c.once }

// Clone is a Cmd with the same arguments and error, for those types that have no Clone
// of their own.
func (c *baseCmd) Clone() Cmder {
	d := &Cmd{}
	d.baseCmd = *c
	d.err, d.due = c.Err(), nil
	d.detach()
	return d
}

// detach makes the encoded form the command's own.
func (c *baseCmd) detach() { c.buf = bytes.Clone(c.buf) }

// A cloneable is a command whose copy can be made independent.
type cloneable[C any] interface {
	*C
	base() *baseCmd
	detachReply()
}

// clone makes a copy of a command, with its reply and error, that shares nothing with
// it, so that both may be processed.
func clone[C any, P cloneable[C]](c P) P {
	d := P(new(C))
	*d = *settled(c)
	d.base().due = nil
	d.base().detach()
	d.detachReply()
	return d
}

func (c *result[T]) detachReply()                { c.val = deepCopy(c.val) }
func (c *KeyValuesCmd) detachReply()             { c.val = deepCopy(c.val) }
func (c *ZSliceWithKeyCmd) detachReply()         { c.val = deepCopy(c.val) }
func (c *ScanCmd) detachReply()                  { c.page = deepCopy(c.page) }
func (c *XAutoClaimCmd) detachReply()            { c.reply.detach() }
func (c *XAutoClaimWithDeletedCmd) detachReply() { c.reply.detach() }
func (c *XAutoClaimJustIDCmd) detachReply()      { c.reply.detach() }

func (a *autoClaimed[T]) detach() { a.val, a.deleted = deepCopy(a.val), deepCopy(a.deleted) }

// The buffer of a ZeroCopyStringCmd is its caller's; the copy has one of its own.
func (c *ZeroCopyStringCmd) detachReply() { c.into = bytes.Clone(c.into) }

// deepCopy copies a reply with all slices, maps and structs that it is made of.
func deepCopy[T any](v T) T {
	c, _ := copied(reflect.ValueOf(&v).Elem()).Interface().(T) // not ok: v is a nil interface
	return c
}

func copied(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return copied(v.Elem())
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		if n, ok := v.Interface().(*big.Int); ok {
			return reflect.ValueOf(new(big.Int).Set(n))
		}
		c := reflect.New(v.Type().Elem())
		c.Elem().Set(copied(v.Elem()))
		return c
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			c.Index(i).Set(copiedTo(v.Index(i)))
		}
		return c
	case reflect.Map:
		return copiedMap(v)
	case reflect.Struct:
		c := reflect.New(v.Type()).Elem()
		c.Set(v) // what can't be reached is copied as it is
		for i := range v.NumField() {
			if c.Field(i).CanSet() {
				c.Field(i).Set(copiedTo(v.Field(i)))
			}
		}
		return c
	}
	return v
}

// copiedTo is copied for something that is stored where v was.
func copiedTo(v reflect.Value) reflect.Value {
	if c := copied(v); c.IsValid() {
		return c
	}
	return reflect.Zero(v.Type())
}

func copiedMap(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return v
	}
	c := reflect.MakeMapWithSize(v.Type(), v.Len())
	for key, val := range v.Seq2() {
		c.SetMapIndex(copiedTo(key), copiedTo(val))
	}
	return c
}

//------------------------------------------------------------------------------

// The values of commands whose reply is more than one value, as ExtractCommandValue
// gives them.
type (
	// CmdTypeKeyValuesValue is the reply of a KeyValuesCmd.
	CmdTypeKeyValuesValue struct {
		key    string
		values []string
	}
	// CmdTypeZSliceWithKeyValue is the reply of a ZSliceWithKeyCmd.
	CmdTypeZSliceWithKeyValue struct {
		key  string
		list []Z
	}
	// CmdTypeScanValue is the reply of a ScanCmd.
	CmdTypeScanValue struct {
		page   []string
		cursor uint64
	}
	// CmdTypeXAutoClaimValue is the reply of an XAutoClaimCmd.
	CmdTypeXAutoClaimValue struct {
		messages []XMessage
		start    string
	}
	// CmdTypeXAutoClaimWithDeletedValue is the reply of an XAutoClaimWithDeletedCmd.
	CmdTypeXAutoClaimWithDeletedValue struct {
		messages []XMessage
		start    string
		deleted  []string
	}
	// CmdTypeXAutoClaimJustIDValue is the reply of an XAutoClaimJustIDCmd.
	CmdTypeXAutoClaimJustIDValue struct {
		ids   []string
		start string
	}
)

// ExtractCommandValue gives a command's reply, whatever its type, and its error; nil
// for what is no command of this package.
func ExtractCommandValue(cmd any) (any, error) {
	c, ok := cmd.(interface {
		extract() any
		Err() error
	})
	if !ok {
		return nil, nil
	}
	return c.extract(), c.Err()
}

func (c *result[T]) extract() any { return c.Val() }

func (c *KeyValuesCmd) extract() any {
	key, values := c.Val()
	return CmdTypeKeyValuesValue{key, values}
}

func (c *ZSliceWithKeyCmd) extract() any {
	key, list := c.Val()
	return CmdTypeZSliceWithKeyValue{key, list}
}

func (c *ScanCmd) extract() any {
	page, cursor := c.Val()
	return CmdTypeScanValue{page, cursor}
}

func (c *XAutoClaimCmd) extract() any {
	messages, start := c.Val()
	return CmdTypeXAutoClaimValue{messages, start}
}

func (c *XAutoClaimJustIDCmd) extract() any {
	ids, start := c.Val()
	return CmdTypeXAutoClaimJustIDValue{ids, start}
}

func (c *XAutoClaimWithDeletedCmd) extract() any {
	messages, start, deleted := c.Val()
	return CmdTypeXAutoClaimWithDeletedValue{messages, start, deleted}
}
