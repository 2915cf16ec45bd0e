package redis

// Clone and GetCmdType of every type of command, in the order of the alphabet.

// Clone is a copy of the command that shares nothing with it.
func (c *ACLLogCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeACLLog.
func (c *ACLLogCmd) GetCmdType() CmdType { return CmdTypeACLLog }

// Clone is a copy of the command that shares nothing with it.
func (c *AggregateCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeAggregate.
func (c *AggregateCmd) GetCmdType() CmdType { return CmdTypeAggregate }

// Clone is a copy of the command that shares nothing with it.
func (c *AREntrySliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeAREntrySlice.
func (c *AREntrySliceCmd) GetCmdType() CmdType { return CmdTypeAREntrySlice }

// Clone is a copy of the command that shares nothing with it.
func (c *BFInfoCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeBFInfo.
func (c *BFInfoCmd) GetCmdType() CmdType { return CmdTypeBFInfo }

// Clone is a copy of the command that shares nothing with it.
func (c *BoolCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeBool.
func (c *BoolCmd) GetCmdType() CmdType { return CmdTypeBool }

// Clone is a copy of the command that shares nothing with it.
func (c *BoolSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeBoolSlice.
func (c *BoolSliceCmd) GetCmdType() CmdType { return CmdTypeBoolSlice }

// Clone is a copy of the command that shares nothing with it.
func (c *CFInfoCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeCFInfo.
func (c *CFInfoCmd) GetCmdType() CmdType { return CmdTypeCFInfo }

// Clone is a copy of the command that shares nothing with it.
func (c *ClientInfoCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeClientInfo.
func (c *ClientInfoCmd) GetCmdType() CmdType { return CmdTypeClientInfo }

// Clone is a copy of the command that shares nothing with it.
func (c *ClusterLinksCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeClusterLinks.
func (c *ClusterLinksCmd) GetCmdType() CmdType { return CmdTypeClusterLinks }

// Clone is a copy of the command that shares nothing with it.
func (c *ClusterShardsCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeClusterShards.
func (c *ClusterShardsCmd) GetCmdType() CmdType { return CmdTypeClusterShards }

// Clone is a copy of the command that shares nothing with it.
func (c *ClusterSlotsCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeClusterSlots.
func (c *ClusterSlotsCmd) GetCmdType() CmdType { return CmdTypeClusterSlots }

// Clone is a copy of the command that shares nothing with it.
func (c *Cmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeGeneric.
func (c *Cmd) GetCmdType() CmdType { return CmdTypeGeneric }

// Clone is a copy of the command that shares nothing with it.
func (c *CMSInfoCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeCMSInfo.
func (c *CMSInfoCmd) GetCmdType() CmdType { return CmdTypeCMSInfo }

// Clone is a copy of the command that shares nothing with it.
func (c *CommandsInfoCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeCommandsInfo.
func (c *CommandsInfoCmd) GetCmdType() CmdType { return CmdTypeCommandsInfo }

// Clone is a copy of the command that shares nothing with it.
func (c *DigestCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeGeneric.
func (c *DigestCmd) GetCmdType() CmdType { return CmdTypeGeneric }

// Clone is a copy of the command that shares nothing with it.
func (c *DurationCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeDuration.
func (c *DurationCmd) GetCmdType() CmdType { return CmdTypeDuration }

// Clone is a copy of the command that shares nothing with it.
func (c *FloatCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeFloat.
func (c *FloatCmd) GetCmdType() CmdType { return CmdTypeFloat }

// Clone is a copy of the command that shares nothing with it.
func (c *FloatSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeFloatSlice.
func (c *FloatSliceCmd) GetCmdType() CmdType { return CmdTypeFloatSlice }

// Clone is a copy of the command that shares nothing with it.
func (c *FTHybridCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeGeneric.
func (c *FTHybridCmd) GetCmdType() CmdType { return CmdTypeGeneric }

// Clone is a copy of the command that shares nothing with it.
func (c *FTInfoCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeFTInfo.
func (c *FTInfoCmd) GetCmdType() CmdType { return CmdTypeFTInfo }

// Clone is a copy of the command that shares nothing with it.
func (c *FTSearchCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeFTSearch.
func (c *FTSearchCmd) GetCmdType() CmdType { return CmdTypeFTSearch }

// Clone is a copy of the command that shares nothing with it.
func (c *FTSpellCheckCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeFTSpellCheck.
func (c *FTSpellCheckCmd) GetCmdType() CmdType { return CmdTypeFTSpellCheck }

// Clone is a copy of the command that shares nothing with it.
func (c *FTSynDumpCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeFTSynDump.
func (c *FTSynDumpCmd) GetCmdType() CmdType { return CmdTypeFTSynDump }

// Clone is a copy of the command that shares nothing with it.
func (c *FunctionListCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeFunctionList.
func (c *FunctionListCmd) GetCmdType() CmdType { return CmdTypeFunctionList }

// Clone is a copy of the command that shares nothing with it.
func (c *FunctionStatsCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeFunctionStats.
func (c *FunctionStatsCmd) GetCmdType() CmdType { return CmdTypeFunctionStats }

// Clone is a copy of the command that shares nothing with it.
func (c *GeoLocationCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeGeoLocation.
func (c *GeoLocationCmd) GetCmdType() CmdType { return CmdTypeGeoLocation }

// Clone is a copy of the command that shares nothing with it.
func (c *GeoPosCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeGeoPos.
func (c *GeoPosCmd) GetCmdType() CmdType { return CmdTypeGeoPos }

// Clone is a copy of the command that shares nothing with it.
func (c *GeoSearchLocationCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeGeoSearchLocation.
func (c *GeoSearchLocationCmd) GetCmdType() CmdType { return CmdTypeGeoSearchLocation }

// Clone is a copy of the command that shares nothing with it.
func (c *HImportDiscardAllCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeInt.
func (c *HImportDiscardAllCmd) GetCmdType() CmdType { return CmdTypeInt }

// Clone is a copy of the command that shares nothing with it.
func (c *HImportDiscardCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeInt.
func (c *HImportDiscardCmd) GetCmdType() CmdType { return CmdTypeInt }

// Clone is a copy of the command that shares nothing with it.
func (c *HImportPrepareCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeStatus.
func (c *HImportPrepareCmd) GetCmdType() CmdType { return CmdTypeStatus }

// Clone is a copy of the command that shares nothing with it.
func (c *HImportSetCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeStatus.
func (c *HImportSetCmd) GetCmdType() CmdType { return CmdTypeStatus }

// Clone is a copy of the command that shares nothing with it.
func (c *HotKeysCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeHotKeys.
func (c *HotKeysCmd) GetCmdType() CmdType { return CmdTypeHotKeys }

// Clone is a copy of the command that shares nothing with it.
func (c *IncrEXFloatCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeIncrEXFloat.
func (c *IncrEXFloatCmd) GetCmdType() CmdType { return CmdTypeIncrEXFloat }

// Clone is a copy of the command that shares nothing with it.
func (c *IncrEXIntCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeIncrEXInt.
func (c *IncrEXIntCmd) GetCmdType() CmdType { return CmdTypeIncrEXInt }

// Clone is a copy of the command that shares nothing with it.
func (c *InfoCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeInfo.
func (c *InfoCmd) GetCmdType() CmdType { return CmdTypeInfo }

// Clone is a copy of the command that shares nothing with it.
func (c *IntCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeInt.
func (c *IntCmd) GetCmdType() CmdType { return CmdTypeInt }

// Clone is a copy of the command that shares nothing with it.
func (c *IntPointerSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeIntPointerSlice.
func (c *IntPointerSliceCmd) GetCmdType() CmdType { return CmdTypeIntPointerSlice }

// Clone is a copy of the command that shares nothing with it.
func (c *IntSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeIntSlice.
func (c *IntSliceCmd) GetCmdType() CmdType { return CmdTypeIntSlice }

// Clone is a copy of the command that shares nothing with it.
func (c *JSONCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeJSON.
func (c *JSONCmd) GetCmdType() CmdType { return CmdTypeJSON }

// Clone is a copy of the command that shares nothing with it.
func (c *JSONSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeJSONSlice.
func (c *JSONSliceCmd) GetCmdType() CmdType { return CmdTypeJSONSlice }

// Clone is a copy of the command that shares nothing with it.
func (c *KeyFlagsCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeKeyFlags.
func (c *KeyFlagsCmd) GetCmdType() CmdType { return CmdTypeKeyFlags }

// Clone is a copy of the command that shares nothing with it.
func (c *KeyValuesCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeKeyValues.
func (c *KeyValuesCmd) GetCmdType() CmdType { return CmdTypeKeyValues }

// Clone is a copy of the command that shares nothing with it.
func (c *KeyValueSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeKeyValueSlice.
func (c *KeyValueSliceCmd) GetCmdType() CmdType { return CmdTypeKeyValueSlice }

// Clone is a copy of the command that shares nothing with it.
func (c *LatencyCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeGeneric.
func (c *LatencyCmd) GetCmdType() CmdType { return CmdTypeGeneric }

// Clone is a copy of the command that shares nothing with it.
func (c *LCSCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeLCS.
func (c *LCSCmd) GetCmdType() CmdType { return CmdTypeLCS }

// Clone is a copy of the command that shares nothing with it.
func (c *MapMapStringInterfaceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeMapMapStringInterface.
func (c *MapMapStringInterfaceCmd) GetCmdType() CmdType { return CmdTypeMapMapStringInterface }

// Clone is a copy of the command that shares nothing with it.
func (c *MapStringIntCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeMapStringInt.
func (c *MapStringIntCmd) GetCmdType() CmdType { return CmdTypeMapStringInt }

// Clone is a copy of the command that shares nothing with it.
func (c *MapStringInterfaceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeMapStringInterface.
func (c *MapStringInterfaceCmd) GetCmdType() CmdType { return CmdTypeMapStringInterface }

// Clone is a copy of the command that shares nothing with it.
func (c *MapStringInterfaceSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeMapStringInterfaceSlice.
func (c *MapStringInterfaceSliceCmd) GetCmdType() CmdType { return CmdTypeMapStringInterfaceSlice }

// Clone is a copy of the command that shares nothing with it.
func (c *MapStringSliceInterfaceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeGeneric.
func (c *MapStringSliceInterfaceCmd) GetCmdType() CmdType { return CmdTypeGeneric }

// Clone is a copy of the command that shares nothing with it.
func (c *MapStringStringCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeMapStringString.
func (c *MapStringStringCmd) GetCmdType() CmdType { return CmdTypeMapStringString }

// Clone is a copy of the command that shares nothing with it.
func (c *MapStringStringSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeMapStringStringSlice.
func (c *MapStringStringSliceCmd) GetCmdType() CmdType { return CmdTypeMapStringStringSlice }

// Clone is another MONITOR, which has not begun, for the same channel.
func (c *MonitorCmd) Clone() Cmder { return newMonitorCmd(c.ch) }

// GetCmdType is CmdTypeMonitor.
func (c *MonitorCmd) GetCmdType() CmdType { return CmdTypeMonitor }

// Clone is a copy of the command that shares nothing with it.
func (c *RankWithScoreCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeRankWithScore.
func (c *RankWithScoreCmd) GetCmdType() CmdType { return CmdTypeRankWithScore }

// Clone is a copy of the command that shares nothing with it.
func (c *RawCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeGeneric.
func (c *RawCmd) GetCmdType() CmdType { return CmdTypeGeneric }

// Clone is a copy of the command that shares nothing with it.
func (c *RawWriteToCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeGeneric.
func (c *RawWriteToCmd) GetCmdType() CmdType { return CmdTypeGeneric }

// Clone is a copy of the command that shares nothing with it.
func (c *ReusableCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeGeneric.
func (c *ReusableCmd) GetCmdType() CmdType { return CmdTypeGeneric }

// Clone is a copy of the command that shares nothing with it.
func (c *ScanCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeScan.
func (c *ScanCmd) GetCmdType() CmdType { return CmdTypeScan }

// Clone is a copy of the command that shares nothing with it.
func (c *ScanDumpCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeScanDump.
func (c *ScanDumpCmd) GetCmdType() CmdType { return CmdTypeScanDump }

// Clone is a copy of the command that shares nothing with it.
func (c *SliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeSlice.
func (c *SliceCmd) GetCmdType() CmdType { return CmdTypeSlice }

// Clone is a copy of the command that shares nothing with it.
func (c *SlowLogCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeSlowLog.
func (c *SlowLogCmd) GetCmdType() CmdType { return CmdTypeSlowLog }

// Clone is a copy of the command that shares nothing with it.
func (c *StatusCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeStatus.
func (c *StatusCmd) GetCmdType() CmdType { return CmdTypeStatus }

// Clone is a copy of the command that shares nothing with it.
func (c *StringCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeString.
func (c *StringCmd) GetCmdType() CmdType { return CmdTypeString }

// Clone is a copy of the command that shares nothing with it.
func (c *StringSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeStringSlice.
func (c *StringSliceCmd) GetCmdType() CmdType { return CmdTypeStringSlice }

// Clone is a copy of the command that shares nothing with it.
func (c *StringSliceSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeGeneric.
func (c *StringSliceSliceCmd) GetCmdType() CmdType { return CmdTypeGeneric }

// Clone is a copy of the command that shares nothing with it.
func (c *StringStructMapCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeStringStructMap.
func (c *StringStructMapCmd) GetCmdType() CmdType { return CmdTypeStringStructMap }

// Clone is a copy of the command that shares nothing with it.
func (c *TDigestInfoCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeTDigestInfo.
func (c *TDigestInfoCmd) GetCmdType() CmdType { return CmdTypeTDigestInfo }

// Clone is a copy of the command that shares nothing with it.
func (c *TimeCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeTime.
func (c *TimeCmd) GetCmdType() CmdType { return CmdTypeTime }

// Clone is a copy of the command that shares nothing with it.
func (c *TopKInfoCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeTopKInfo.
func (c *TopKInfoCmd) GetCmdType() CmdType { return CmdTypeTopKInfo }

// Clone is a copy of the command that shares nothing with it.
func (c *TSNRangePivotRowSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeTSNRangePivotRowSlice.
func (c *TSNRangePivotRowSliceCmd) GetCmdType() CmdType { return CmdTypeTSNRangePivotRowSlice }

// Clone is a copy of the command that shares nothing with it.
func (c *TSTimestampValueCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeTSTimestampValue.
func (c *TSTimestampValueCmd) GetCmdType() CmdType { return CmdTypeTSTimestampValue }

// Clone is a copy of the command that shares nothing with it.
func (c *TSTimestampValueSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeTSTimestampValueSlice.
func (c *TSTimestampValueSliceCmd) GetCmdType() CmdType { return CmdTypeTSTimestampValueSlice }

// Clone is a copy of the command that shares nothing with it.
func (c *UintCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeUint.
func (c *UintCmd) GetCmdType() CmdType { return CmdTypeUint }

// Clone is a copy of the command that shares nothing with it.
func (c *UintSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeUintSlice.
func (c *UintSliceCmd) GetCmdType() CmdType { return CmdTypeUintSlice }

// Clone is a copy of the command that shares nothing with it.
func (c *VectorAttribSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeGeneric.
func (c *VectorAttribSliceCmd) GetCmdType() CmdType { return CmdTypeGeneric }

// Clone is a copy of the command that shares nothing with it.
func (c *VectorScoreAttribSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeGeneric.
func (c *VectorScoreAttribSliceCmd) GetCmdType() CmdType { return CmdTypeGeneric }

// Clone is a copy of the command that shares nothing with it.
func (c *VectorScoreSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeGeneric.
func (c *VectorScoreSliceCmd) GetCmdType() CmdType { return CmdTypeGeneric }

// Clone is a copy of the command that shares nothing with it.
func (c *VectorScoreSliceSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeGeneric.
func (c *VectorScoreSliceSliceCmd) GetCmdType() CmdType { return CmdTypeGeneric }

// Clone is a copy of the command that shares nothing with it.
func (c *XAutoClaimCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeXAutoClaim.
func (c *XAutoClaimCmd) GetCmdType() CmdType { return CmdTypeXAutoClaim }

// Clone is a copy of the command that shares nothing with it.
func (c *XAutoClaimJustIDCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeXAutoClaimJustID.
func (c *XAutoClaimJustIDCmd) GetCmdType() CmdType { return CmdTypeXAutoClaimJustID }

// Clone is a copy of the command that shares nothing with it.
func (c *XAutoClaimWithDeletedCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeXAutoClaimWithDeleted.
func (c *XAutoClaimWithDeletedCmd) GetCmdType() CmdType { return CmdTypeXAutoClaimWithDeleted }

// Clone is a copy of the command that shares nothing with it.
func (c *XInfoConsumersCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeXInfoConsumers.
func (c *XInfoConsumersCmd) GetCmdType() CmdType { return CmdTypeXInfoConsumers }

// Clone is a copy of the command that shares nothing with it.
func (c *XInfoGroupsCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeXInfoGroups.
func (c *XInfoGroupsCmd) GetCmdType() CmdType { return CmdTypeXInfoGroups }

// Clone is a copy of the command that shares nothing with it.
func (c *XInfoStreamCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeXInfoStream.
func (c *XInfoStreamCmd) GetCmdType() CmdType { return CmdTypeXInfoStream }

// Clone is a copy of the command that shares nothing with it.
func (c *XInfoStreamFullCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeXInfoStreamFull.
func (c *XInfoStreamFullCmd) GetCmdType() CmdType { return CmdTypeXInfoStreamFull }

// Clone is a copy of the command that shares nothing with it.
func (c *XMessageSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeXMessageSlice.
func (c *XMessageSliceCmd) GetCmdType() CmdType { return CmdTypeXMessageSlice }

// Clone is a copy of the command that shares nothing with it.
func (c *XPendingCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeXPending.
func (c *XPendingCmd) GetCmdType() CmdType { return CmdTypeXPending }

// Clone is a copy of the command that shares nothing with it.
func (c *XPendingExtCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeXPendingExt.
func (c *XPendingExtCmd) GetCmdType() CmdType { return CmdTypeXPendingExt }

// Clone is a copy of the command that shares nothing with it.
func (c *XStreamSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeXStreamSlice.
func (c *XStreamSliceCmd) GetCmdType() CmdType { return CmdTypeXStreamSlice }

// Clone is a copy of the command that shares nothing with it.
func (c *ZeroCopyStringCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeString.
func (c *ZeroCopyStringCmd) GetCmdType() CmdType { return CmdTypeString }

// Clone is a copy of the command that shares nothing with it.
func (c *ZSliceCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeZSlice.
func (c *ZSliceCmd) GetCmdType() CmdType { return CmdTypeZSlice }

// Clone is a copy of the command that shares nothing with it.
func (c *ZSliceWithKeyCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeZSliceWithKey.
func (c *ZSliceWithKeyCmd) GetCmdType() CmdType { return CmdTypeZSliceWithKey }

// Clone is a copy of the command that shares nothing with it.
func (c *ZWithKeyCmd) Clone() Cmder { return clone(c) }

// GetCmdType is CmdTypeZWithKey.
func (c *ZWithKeyCmd) GetCmdType() CmdType { return CmdTypeZWithKey }
