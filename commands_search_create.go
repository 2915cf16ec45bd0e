package redis

import "context"

// SearchFieldType is the type of a field of an index.
type SearchFieldType int

// The types of fields.
const (
	SearchFieldTypeInvalid SearchFieldType = iota
	SearchFieldTypeNumeric
	SearchFieldTypeTag
	SearchFieldTypeText
	SearchFieldTypeGeo
	SearchFieldTypeVector
	SearchFieldTypeGeoShape
)

// String is the type's word; that of an unknown type is TEXT, as in go-redis, and that of
// SearchFieldTypeInvalid empty.
func (t SearchFieldType) String() string {
	switch t {
	case SearchFieldTypeInvalid:
		return ""
	case SearchFieldTypeNumeric:
		return "NUMERIC"
	case SearchFieldTypeTag:
		return "TAG"
	case SearchFieldTypeText:
		return "TEXT"
	case SearchFieldTypeGeo:
		return "GEO"
	case SearchFieldTypeVector:
		return "VECTOR"
	case SearchFieldTypeGeoShape:
		return "GEOSHAPE"
	}
	return "TEXT"
}

// FTCreateOptions are the options of FTCreate.
type FTCreateOptions struct {
	OnHash bool // of hashes, which is the default
	OnJSON bool // of JSON documents
	// Prefix are what the keys of the documents begin with; none: all keys.
	Prefix          []any
	Filter          string // an expression that documents must fulfil
	DefaultLanguage string
	LanguageField   string  // the field with the document's language
	Score           float64 // that documents have without ScoreField; 0: 1
	ScoreField      string  // the field with the document's score, 0 to 1
	PayloadField    string  // the field with a payload for custom scorers
	// MaxTextFields, if it is not 0, lets more than 32 TEXT fields be added later. What
	// number it is does not matter: the server takes none.
	MaxTextFields int
	NoOffsets     bool // no positions of terms: no exact phrases, no highlighting
	Temporary     int  // seconds without a query after which the index goes; 0: it stays
	NoHL          bool // no highlighting
	NoFields      bool // not in which field a term is: no queries of one field
	NoFreqs       bool // not how often a term is there
	// StopWords are words that are not indexed; nil: the server's, empty: none.
	StopWords       []any
	SkipInitialScan bool // do not index the documents that exist
}

// FieldSchema describes a field of an index.
type FieldSchema struct {
	FieldName string // of the hash, or a JSON path
	As        string // what queries call it; empty: FieldName
	FieldType SearchFieldType
	Sortable  bool // sorting by it is quick
	UNF       bool // with Sortable: letters and accents are kept as they are
	NoStem    bool // TEXT: no stems of words
	NoIndex   bool // it is kept for sorting only

	PhoneticMatcher string  // TEXT: words that sound alike match: dm:en, dm:fr, dm:pt, dm:es
	Weight          float64 // TEXT: of a match in this field; 0: 1
	Separator       string  // TAG: between tags, one character; empty: a comma
	CaseSensitive   bool    // TAG
	WithSuffixtrie  bool    // TEXT, TAG: quick search for parts of words
	VectorArgs      *FTVectorArgs
	// GeoShapeFieldType is, for GEOSHAPE only, SPHERICAL for degrees or FLAT for
	// coordinates; empty: SPHERICAL.
	GeoShapeFieldType string
	IndexEmpty        bool // TEXT, TAG: empty values can be found
	IndexMissing      bool // documents without the field can be found
}

// FTVectorArgs is the algorithm of a VECTOR field: exactly one is not nil.
type FTVectorArgs struct {
	FlatOptions   *FTFlatOptions
	HNSWOptions   *FTHNSWOptions
	VamanaOptions *FTVamanaOptions
}

// FTFlatOptions is a vector index that compares with all vectors. The first three are
// required.
type FTFlatOptions struct {
	Type            string // FLOAT32, FLOAT64, FLOAT16, BFLOAT16, INT8 or UINT8
	Dim             int    // numbers in a vector
	DistanceMetric  string // L2, IP or COSINE
	InitialCapacity int
	BlockSize       int
}

// FTHNSWOptions is a vector index that is a graph of several layers. The first three are
// required; what is 0 of the others is the server's default.
type FTHNSWOptions struct {
	Type                   string // see FTFlatOptions
	Dim                    int
	DistanceMetric         string
	InitialCapacity        int
	MaxEdgesPerNode        int     // M
	MaxAllowedEdgesPerNode int     // EF_CONSTRUCTION: candidates while the graph is built
	EFRunTime              int     // candidates of a query
	Epsilon                float64 // how far beyond its range a range query looks
	// HasRerank says that Rerank counts although it is false: whether results of an
	// index on disk are ranked again with the exact vectors.
	HasRerank bool
	Rerank    bool
}

// FTVamanaOptions is a vector index that is a graph of one layer, SVS-VAMANA. The first
// three are required; what is zero of the others is the server's default. Since Redis
// 8.2.
type FTVamanaOptions struct {
	Type                   string // FLOAT32 or FLOAT16
	Dim                    int
	DistanceMetric         string // see FTFlatOptions
	Compression            string // such as LVQ8 or LeanVec4x8
	ConstructionWindowSize int    // candidates while the graph is built
	GraphMaxDegree         int
	SearchWindowSize       int // candidates of a query
	Epsilon                float64
	TrainingThreshold      int // vectors to learn the compression from
	ReduceDim              int // with LeanVec: numbers that are kept of a vector
}

// FTCreate makes an index of the documents whose keys have a prefix, and indexes those
// that exist in the background. An error of the server says that there is such an index
// already. Since Search 1.0, O(K) with the fields, and O(N) with the keys for the
// documents that exist.
func (c cmdable) FTCreate(ctx context.Context, index string, options *FTCreateOptions, schema ...*FieldSchema) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("ft.create")
	cmd.str(index)
	if options != nil {
		cmd.createOptions(options)
	}
	if len(schema) == 0 {
		cmd.reject("FTCreate needs at least one field")
	}
	cmd.str("SCHEMA")
	for _, field := range schema {
		cmd.field(field)
	}
	_ = c(ctx, cmd)
	return cmd
}

// createOptions appends the options of an index.
func (c *baseCmd) createOptions(o *FTCreateOptions) {
	if o.OnHash && o.OnJSON {
		c.reject("an index is OnHash or OnJSON, not both")
	}
	if o.OnHash {
		c.strs("ON", "HASH")
	}
	if o.OnJSON {
		c.strs("ON", "JSON")
	}
	c.optList("PREFIX", o.Prefix)
	c.optStr("FILTER", o.Filter)
	c.optStr("LANGUAGE", o.DefaultLanguage)
	c.optStr("LANGUAGE_FIELD", o.LanguageField)
	c.optFloat(o.Score > 0, "SCORE", o.Score)
	c.optStr("SCORE_FIELD", o.ScoreField)
	c.optStr("PAYLOAD_FIELD", o.PayloadField)
	c.opt(o.MaxTextFields > 0, "MAXTEXTFIELDS")
	c.opt(o.NoOffsets, "NOOFFSETS")
	c.optInt(o.Temporary > 0, "TEMPORARY", int64(o.Temporary))
	c.opt(o.NoHL, "NOHL")
	c.opt(o.NoFields, "NOFIELDS")
	c.opt(o.NoFreqs, "NOFREQS")
	if o.StopWords != nil {
		c.list("STOPWORDS", o.StopWords)
	}
	c.opt(o.SkipInitialScan, "SKIPINITIALSCAN")
}

// field appends the description of a field. What belongs to its type comes before what
// all types have, which is how the server reads it.
func (c *baseCmd) field(f *FieldSchema) {
	if f == nil || f.FieldName == "" || f.FieldType == SearchFieldTypeInvalid {
		c.reject("a field of an index needs FieldName and FieldType")
		return
	}
	c.str(f.FieldName)
	c.optStr("AS", f.As)
	c.str(f.FieldType.String())
	if f.FieldType == SearchFieldTypeVector {
		c.vectorIndex(f.VectorArgs)
	} else if f.VectorArgs != nil {
		c.reject("VectorArgs are for fields of the type VECTOR")
	}
	if f.GeoShapeFieldType != "" && f.FieldType != SearchFieldTypeGeoShape {
		c.reject("GeoShapeFieldType is for fields of the type GEOSHAPE")
	}
	c.opt(f.GeoShapeFieldType != "", f.GeoShapeFieldType)
	c.opt(f.NoStem, "NOSTEM")
	c.optStr("PHONETIC", f.PhoneticMatcher)
	c.optFloat(f.Weight > 0, "WEIGHT", f.Weight)
	c.optStr("SEPARATOR", f.Separator)
	c.opt(f.CaseSensitive, "CASESENSITIVE")
	c.opt(f.WithSuffixtrie, "WITHSUFFIXTRIE")
	c.opt(f.IndexEmpty, "INDEXEMPTY")
	c.opt(f.IndexMissing, "INDEXMISSING")
	if f.UNF && !f.Sortable {
		c.reject("UNF is for fields that are Sortable")
	}
	c.opt(f.Sortable, "SORTABLE")
	c.opt(f.UNF, "UNF")
	c.opt(f.NoIndex, "NOINDEX")
}

// vectorIndex appends the algorithm of a VECTOR field.
func (c *baseCmd) vectorIndex(a *FTVectorArgs) {
	given := 0
	if a != nil {
		for _, is := range []bool{a.FlatOptions != nil, a.HNSWOptions != nil, a.VamanaOptions != nil} {
			if is {
				given++
			}
		}
	}
	switch {
	case given != 1:
		c.reject("a field of the type VECTOR needs exactly one of FlatOptions, HNSWOptions and VamanaOptions")
	case a.FlatOptions != nil:
		o := a.FlatOptions
		attrs := c.vectorBasics(o.Type, o.Dim, o.DistanceMetric)
		attrs.int("INITIAL_CAP", o.InitialCapacity)
		attrs.int("BLOCK_SIZE", o.BlockSize)
		c.list("FLAT", attrs)
	case a.HNSWOptions != nil:
		o := a.HNSWOptions
		attrs := c.vectorBasics(o.Type, o.Dim, o.DistanceMetric)
		attrs.int("INITIAL_CAP", o.InitialCapacity)
		attrs.int("M", o.MaxEdgesPerNode)
		attrs.int("EF_CONSTRUCTION", o.MaxAllowedEdgesPerNode)
		attrs.int("EF_RUNTIME", o.EFRunTime)
		attrs.float("EPSILON", o.Epsilon)
		switch {
		case o.Rerank:
			attrs = append(attrs, "RERANK", "TRUE")
		case o.HasRerank:
			attrs = append(attrs, "RERANK", "FALSE")
		}
		c.list("HNSW", attrs)
	case a.VamanaOptions != nil:
		o := a.VamanaOptions
		attrs := c.vectorBasics(o.Type, o.Dim, o.DistanceMetric)
		if o.Compression != "" {
			attrs = append(attrs, "COMPRESSION", o.Compression)
		}
		attrs.int("CONSTRUCTION_WINDOW_SIZE", o.ConstructionWindowSize)
		attrs.int("GRAPH_MAX_DEGREE", o.GraphMaxDegree)
		attrs.int("SEARCH_WINDOW_SIZE", o.SearchWindowSize)
		attrs.float("EPSILON", o.Epsilon)
		attrs.int("TRAINING_THRESHOLD", o.TrainingThreshold)
		attrs.int("REDUCE", o.ReduceDim)
		c.list("SVS-VAMANA", attrs)
	}
}

// vectorAttrs are the attributes of a vector index, names and values in turn. Their
// number comes before them, so they are collected first.
type vectorAttrs []any

// vectorBasics are the attributes that every vector index needs.
func (c *baseCmd) vectorBasics(kind string, dim int, metric string) vectorAttrs {
	if kind == "" || dim <= 0 || metric == "" {
		c.reject("a vector index needs Type, Dim and DistanceMetric")
	}
	return vectorAttrs{"TYPE", kind, "DIM", dim, "DISTANCE_METRIC", metric}
}

// int appends a number that is above 0.
func (a *vectorAttrs) int(name string, v int) {
	if v > 0 {
		*a = append(*a, name, v)
	}
}

// float appends a number that is above 0.
func (a *vectorAttrs) float(name string, v float64) {
	if v > 0 {
		*a = append(*a, name, v)
	}
}
