package redis

import (
	"context"
	"strings"

	"github.com/baton-go/redis/internal/resp"
)

// FTInfoResult describes an index. What the server does not tell is the zero value.
type FTInfoResult struct {
	IndexErrors              IndexErrors
	Attributes               []FTAttribute
	BytesPerRecordAvg        string
	Cleaning                 int
	CursorStats              CursorStats
	DialectStats             map[string]int // queries by dialect: "dialect_2"
	DocTableSizeMB           float64
	FieldStatistics          []FieldStatistic
	GCStats                  GCStats
	GeoshapesSzMB            float64
	HashIndexingFailures     int
	IndexDefinition          IndexDefinition
	IndexName                string
	IndexOptions             []string
	Indexing                 int // 1: documents are being indexed
	InvertedSzMB             float64
	KeyTableSizeMB           float64
	MaxDocID                 int
	NumDocs                  int
	NumRecords               int
	NumTerms                 int
	NumberOfUses             int
	OffsetBitsPerRecordAvg   string
	OffsetVectorsSzMB        float64
	OffsetsPerTermAvg        string
	PercentIndexed           float64 // 1: all
	RecordsPerDocAvg         string
	SortableValuesSizeMB     float64
	TagOverheadSzMB          float64
	TextOverheadSzMB         float64
	TotalIndexMemorySzMB     float64
	TotalIndexingTime        int // without its fraction
	TotalInvertedIndexBlocks int
	VectorIndexSzMB          float64
}

// IndexErrors are errors that documents had while they were indexed.
type IndexErrors struct {
	IndexingFailures     int
	LastIndexingError    string // N/A: none
	LastIndexingErrorKey string
}

// FTAttribute describes a field of an index; see FieldSchema.
type FTAttribute struct {
	Identifier      string
	Attribute       string
	Type            string
	Weight          float64
	Sortable        bool
	NoStem          bool
	NoIndex         bool
	UNF             bool
	PhoneticMatcher string
	CaseSensitive   bool
	WithSuffixtrie  bool

	// Of a VECTOR field.
	Algorithm      string
	DataType       string
	Dim            int
	DistanceMetric string
	M              int
	EFConstruction int
}

// CursorStats are numbers of cursors.
type CursorStats struct {
	GlobalIdle    int
	GlobalTotal   int
	IndexCapacity int // most that this index can have
	IndexTotal    int
}

// FieldStatistic is what there is to tell of a field.
type FieldStatistic struct {
	Identifier  string
	Attribute   string
	IndexErrors IndexErrors
}

// GCStats are numbers of the index's garbage collection.
type GCStats struct {
	BytesCollected       int
	TotalMsRun           int
	TotalCycles          int
	AverageCycleTimeMs   string // nan: there was none
	LastRunTimeMs        int
	GCNumericTreesMissed int
	GCBlocksDenied       int
}

// IndexDefinition is what FTCreateOptions said.
type IndexDefinition struct {
	KeyType      string // HASH or JSON
	Prefixes     []string
	DefaultScore float64
}

// FTInfo describes an index. An error of the server says that there is none. Since Search
// 1.0, O(1).
func (c cmdable) FTInfo(ctx context.Context, index string) *FTInfoCmd {
	cmd := roomy[FTInfoCmd]()
	cmd.begin("ft.info")
	cmd.str(index)
	_ = c(ctx, cmd)
	return cmd
}

// FTInfoCmd is the command of FTInfo.
type FTInfoCmd struct{ keptReply[FTInfoResult] }

func (c *FTInfoCmd) readReply(r *resp.Reader) error {
	c.keep(*r)
	c.val = FTInfoResult{}
	var info FTInfoResult
	err := readFields(r, func(name string) error { return info.read(r, name) })
	if err == nil {
		c.val = info
	}
	return err
}

// read reads what a reply has under a name.
func (i *FTInfoResult) read(r *resp.Reader, name string) (err error) {
	if r.Null() {
		return nil // not known
	}
	if n := i.number(name); n != nil {
		*n, err = readWhole(r)
		return err
	}
	if f := i.float(name); f != nil {
		*f, err = r.Float()
		return err
	}
	if s := i.text(name); s != nil {
		*s, err = r.String()
		return err
	}
	switch name {
	case "index_options":
		i.IndexOptions, err = readSlice(r, readStringOrEmpty)
	case "index_definition":
		err = readFields(r, func(name string) error { return i.IndexDefinition.read(r, name) })
	case "attributes":
		i.Attributes, err = readSlice(r, readAttribute)
	case "gc_stats":
		err = readFields(r, func(name string) error { return i.GCStats.read(r, name) })
	case "cursor_stats":
		err = readFields(r, func(name string) error { return i.CursorStats.read(r, name) })
	case "dialect_stats":
		i.DialectStats, err = readMap(r, readWhole)
	case "Index Errors":
		i.IndexErrors, err = readIndexErrors(r)
	case "field statistics":
		i.FieldStatistics, err = readSlice(r, readFieldStatistic)
	default:
		err = r.Skip()
	}
	return err
}

// number is where a whole number goes, nil if it is none.
func (i *FTInfoResult) number(name string) *int {
	switch name {
	case "cleaning":
		return &i.Cleaning
	case "hash_indexing_failures":
		return &i.HashIndexingFailures
	case "indexing":
		return &i.Indexing
	case "max_doc_id":
		return &i.MaxDocID
	case "num_docs":
		return &i.NumDocs
	case "num_records":
		return &i.NumRecords
	case "num_terms":
		return &i.NumTerms
	case "number_of_uses":
		return &i.NumberOfUses
	case "total_indexing_time":
		return &i.TotalIndexingTime
	case "total_inverted_index_blocks":
		return &i.TotalInvertedIndexBlocks
	}
	return nil
}

// float is where a number goes, nil if it is none.
func (i *FTInfoResult) float(name string) *float64 {
	switch name {
	case "doc_table_size_mb":
		return &i.DocTableSizeMB
	case "geoshapes_sz_mb":
		return &i.GeoshapesSzMB
	case "inverted_sz_mb":
		return &i.InvertedSzMB
	case "key_table_size_mb":
		return &i.KeyTableSizeMB
	case "offset_vectors_sz_mb":
		return &i.OffsetVectorsSzMB
	case "percent_indexed":
		return &i.PercentIndexed
	case "sortable_values_size_mb":
		return &i.SortableValuesSizeMB
	case "tag_overhead_sz_mb":
		return &i.TagOverheadSzMB
	case "text_overhead_sz_mb":
		return &i.TextOverheadSzMB
	case "total_index_memory_sz_mb":
		return &i.TotalIndexMemorySzMB
	case "vector_index_sz_mb":
		return &i.VectorIndexSzMB
	}
	return nil
}

// text is where a text goes, nil if it is none. Averages are texts because they are nan
// for an empty index.
func (i *FTInfoResult) text(name string) *string {
	switch name {
	case "index_name":
		return &i.IndexName
	case "bytes_per_record_avg":
		return &i.BytesPerRecordAvg
	case "offset_bits_per_record_avg":
		return &i.OffsetBitsPerRecordAvg
	case "offsets_per_term_avg":
		return &i.OffsetsPerTermAvg
	case "records_per_doc_avg":
		return &i.RecordsPerDocAvg
	}
	return nil
}

func (d *IndexDefinition) read(r *resp.Reader, name string) (err error) {
	switch name {
	case "key_type":
		d.KeyType, err = r.String()
	case "prefixes":
		d.Prefixes, err = readSlice(r, readStringOrEmpty)
	case "default_score":
		d.DefaultScore, err = r.Float()
	default:
		err = r.Skip()
	}
	return err
}

func (g *GCStats) read(r *resp.Reader, name string) (err error) {
	switch name {
	case "bytes_collected":
		g.BytesCollected, err = readWhole(r)
	case "total_ms_run":
		g.TotalMsRun, err = readWhole(r)
	case "total_cycles":
		g.TotalCycles, err = readWhole(r)
	case "average_cycle_time_ms":
		g.AverageCycleTimeMs, err = readStringOrEmpty(r)
	case "last_run_time_ms":
		g.LastRunTimeMs, err = readWhole(r)
	case "gc_numeric_trees_missed":
		g.GCNumericTreesMissed, err = readWhole(r)
	case "gc_blocks_denied":
		g.GCBlocksDenied, err = readWhole(r)
	default:
		err = r.Skip()
	}
	return err
}

func (s *CursorStats) read(r *resp.Reader, name string) (err error) {
	switch name {
	case "global_idle":
		s.GlobalIdle, err = readWhole(r)
	case "global_total":
		s.GlobalTotal, err = readWhole(r)
	case "index_capacity":
		s.IndexCapacity, err = readWhole(r)
	case "index_total":
		s.IndexTotal, err = readWhole(r)
	default:
		err = r.Skip()
	}
	return err
}

// readIndexErrors reads the errors of an index or a field.
func readIndexErrors(r *resp.Reader) (e IndexErrors, err error) {
	err = readFields(r, func(name string) (err error) {
		switch name {
		case "indexing failures":
			e.IndexingFailures, err = readWhole(r)
		case "last indexing error":
			e.LastIndexingError, err = readStringOrEmpty(r)
		case "last indexing error key":
			e.LastIndexingErrorKey, err = readStringOrEmpty(r)
		default:
			err = r.Skip()
		}
		return err
	})
	return e, err
}

// readFieldStatistic reads what there is to tell of a field.
func readFieldStatistic(r *resp.Reader) (s FieldStatistic, err error) {
	err = readFields(r, func(name string) (err error) {
		switch name {
		case "identifier":
			s.Identifier, err = r.String()
		case "attribute":
			s.Attribute, err = r.String()
		case "Index Errors":
			s.IndexErrors, err = readIndexErrors(r)
		default:
			err = r.Skip()
		}
		return err
	})
	return s, err
}

// readAttribute reads a field. RESP2 has names and values and then flags, which have no
// values, in one array; RESP3 has the flags as a list under "flags".
func readAttribute(r *resp.Reader) (a FTAttribute, err error) {
	if r.Kind() == resp.KindMap {
		err = readFields(r, func(name string) error { return a.read(r, name) })
		return a, err
	}
	n, err := r.ArrayLen()
	if err != nil {
		return a, err
	}
	for n > 0 {
		n--
		name, err := r.String()
		if err != nil {
			return a, err
		}
		if a.flag(name) || isFlag(name) || n == 0 {
			continue
		}
		n--
		if err := a.read(r, name); err != nil {
			return a, err
		}
	}
	return a, nil
}

// isFlag tells whether a word of an attribute that is none of those of FTAttribute.flag
// is one without a value. Names of values are in small letters but for these.
func isFlag(word string) bool {
	switch word {
	case "WEIGHT", "SEPARATOR", "PHONETIC", "M":
		return false
	}
	return word == strings.ToUpper(word)
}

// flag sets what a flag stands for; false: it is none that is known.
func (a *FTAttribute) flag(word string) bool {
	switch word {
	case "SORTABLE":
		a.Sortable = true
	case "UNF":
		a.UNF = true
	case "NOSTEM":
		a.NoStem = true
	case "NOINDEX":
		a.NoIndex = true
	case "CASESENSITIVE":
		a.CaseSensitive = true
	case "WITHSUFFIXTRIE":
		a.WithSuffixtrie = true
	default:
		return false
	}
	return true
}

// read reads what there is of a field under a name.
func (a *FTAttribute) read(r *resp.Reader, name string) (err error) {
	switch name {
	case "identifier":
		a.Identifier, err = r.String()
	case "attribute":
		a.Attribute, err = r.String()
	case "type":
		a.Type, err = r.String()
	case "WEIGHT":
		a.Weight, err = r.Float()
	case "PHONETIC":
		a.PhoneticMatcher, err = r.String()
	case "algorithm":
		a.Algorithm, err = r.String()
	case "data_type":
		a.DataType, err = r.String()
	case "dim":
		a.Dim, err = readWhole(r)
	case "distance_metric":
		a.DistanceMetric, err = r.String()
	case "M":
		a.M, err = readWhole(r)
	case "ef_construction":
		a.EFConstruction, err = readWhole(r)
	case "flags":
		var flags []string
		flags, err = readSlice(r, readString)
		for _, word := range flags {
			a.flag(word)
		}
	default:
		err = r.Skip()
	}
	return err
}
