package redis

import (
	"context"

	"github.com/baton-go/redis/internal/resp"
)

// SpellCheckTerms names a dictionary that is looked into, or whose terms are not
// suggested. It is here because go-redis has it; FTSpellCheckOptions has
// FTSpellCheckTerms.
type SpellCheckTerms struct {
	Include    bool
	Exclude    bool
	Dictionary string
}

// FTSpellCheckTerms names a dictionary; see FTDictAdd.
type FTSpellCheckTerms struct {
	Inclusion  string // INCLUDE: suggest its terms, EXCLUDE: don't; empty: INCLUDE
	Dictionary string
	Terms      []any // more of them; Redis up to now does not use them
}

// FTSpellCheckOptions are the options of FTSpellCheckWithArgs.
type FTSpellCheckOptions struct {
	Distance int // most letters that may differ, up to 4; 0: 1
	Terms    *FTSpellCheckTerms
	Dialect  int // 0: 2
}

// FTSpellCheck suggests terms of the index for those of a query that it does not have, in
// the server's default dialect. An error of the server says that there is no such index.
// Since Search 1.4, O(1).
func (c cmdable) FTSpellCheck(ctx context.Context, index, query string) *FTSpellCheckCmd {
	return c.FTSpellCheckWithArgs(ctx, index, query, nil)
}

// FTSpellCheckWithArgs is FTSpellCheck with options. Since Search 1.4, O(1).
func (c cmdable) FTSpellCheckWithArgs(ctx context.Context, index, query string, options *FTSpellCheckOptions) *FTSpellCheckCmd {
	cmd := roomy[FTSpellCheckCmd]()
	cmd.begin("ft.spellcheck")
	cmd.strs(index, query)
	if o := options; o != nil {
		cmd.optInt(o.Distance > 0, "DISTANCE", int64(o.Distance))
		if t := o.Terms; t != nil {
			inclusion := t.Inclusion
			if inclusion == "" {
				inclusion = "INCLUDE"
			}
			cmd.strs("TERMS", inclusion, t.Dictionary)
			cmd.args(t.Terms...)
		}
		cmd.dialect(o.Dialect)
	}
	_ = c(ctx, cmd)
	return cmd
}

// SpellCheckResult is a term that the index does not have, with what it may be.
type SpellCheckResult struct {
	Term        string
	Suggestions []SpellCheckSuggestion // the best first
}

// SpellCheckSuggestion is what a term may be.
type SpellCheckSuggestion struct {
	Score      float64 // in which part of the documents it is
	Suggestion string
}

// FTSpellCheckCmd is the command of FTSpellCheck.
type FTSpellCheckCmd struct{ keptReply[[]SpellCheckResult] }

func (c *FTSpellCheckCmd) readReply(r *resp.Reader) (err error) {
	c.keep(*r)
	c.val = nil
	if r.Kind() != resp.KindMap {
		c.val, err = readSlice(r, readMisspelled)
		return err
	}
	var terms []SpellCheckResult
	err = readFields(r, func(name string) (err error) {
		if name != "results" {
			return r.Skip()
		}
		terms, err = readMisspelledMap(r)
		return err
	})
	if err == nil {
		c.val = terms
	}
	return err
}

// readMisspelled reads a term of RESP2: the word TERM, the term, and pairs of a score and
// a suggestion.
func readMisspelled(r *resp.Reader) (t SpellCheckResult, err error) {
	if err := expectLen(r, 3, "TERM, a term and suggestions"); err != nil {
		return t, err
	}
	if err := r.Skip(); err != nil {
		return t, err
	}
	if t.Term, err = r.String(); err != nil {
		return t, err
	}
	t.Suggestions, err = readSlice(r, func(r *resp.Reader) (s SpellCheckSuggestion, err error) {
		if err := expectLen(r, 2, "score and suggestion"); err != nil {
			return s, err
		}
		if s.Score, err = r.Float(); err != nil {
			return s, err
		}
		s.Suggestion, err = r.String()
		return s, err
	})
	return t, err
}

// readMisspelledMap reads the terms of RESP3, in their order: a map of lists of maps of
// suggestions and scores.
func readMisspelledMap(r *resp.Reader) ([]SpellCheckResult, error) {
	terms := []SpellCheckResult{}
	err := readFields(r, func(name string) error {
		n, err := r.ArrayLen()
		if err != nil {
			return err
		}
		t := SpellCheckResult{Term: name, Suggestions: []SpellCheckSuggestion{}}
		for range n {
			err := readFields(r, func(suggestion string) error {
				score, err := r.Float()
				t.Suggestions = append(t.Suggestions, SpellCheckSuggestion{Score: score, Suggestion: suggestion})
				return err
			})
			if err != nil {
				return err
			}
		}
		terms = append(terms, t)
		return nil
	})
	return terms, err
}

//------------------------------------------------------------------------------

// FTSynUpdateOptions are the options of FTSynUpdateWithArgs.
type FTSynUpdateOptions struct {
	SkipInitialScan bool // for documents that are added later only
}

// FTSynUpdate adds terms to a group of synonyms, and makes the group if there is none:
// who searches for one of them finds all. Documents that exist are indexed again. An
// error of the server says that there is no such index. Since Search 1.2, O(1).
func (c cmdable) FTSynUpdate(ctx context.Context, index string, synGroupID any, terms []any) *StatusCmd {
	return c.FTSynUpdateWithArgs(ctx, index, synGroupID, nil, terms)
}

// FTSynUpdateWithArgs is FTSynUpdate with options. Since Search 2.0, O(1).
func (c cmdable) FTSynUpdateWithArgs(ctx context.Context, index string, synGroupID any, options *FTSynUpdateOptions, terms []any) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("ft.synupdate")
	cmd.str(index)
	cmd.arg(synGroupID)
	cmd.opt(options != nil && options.SkipInitialScan, "SKIPINITIALSCAN")
	cmd.args(terms...)
	_ = c(ctx, cmd)
	return cmd
}

// FTSynDump gives the terms of an index that have synonyms. An error of the server says
// that there is no such index. Since Search 1.2, O(1).
func (c cmdable) FTSynDump(ctx context.Context, index string) *FTSynDumpCmd {
	cmd := roomy[FTSynDumpCmd]()
	cmd.begin("ft.syndump")
	cmd.str(index)
	_ = c(ctx, cmd)
	return cmd
}

// FTSynDumpResult is a term with the groups that it belongs to.
type FTSynDumpResult struct {
	Term     string
	Synonyms []string // the groups
}

// FTSynDumpCmd is the command of FTSynDump.
type FTSynDumpCmd struct{ keptReply[[]FTSynDumpResult] }

// NewFTSynDumpCmd makes a command of its arguments, the name first.
func NewFTSynDumpCmd(_ context.Context, args ...any) *FTSynDumpCmd {
	c := roomy[FTSynDumpCmd]()
	c.beginArgs(args)
	return c
}

func (c *FTSynDumpCmd) readReply(r *resp.Reader) error {
	c.keep(*r)
	c.val = nil
	terms := []FTSynDumpResult{}
	err := readFields(r, func(name string) error {
		groups, err := readSlice(r, readString)
		terms = append(terms, FTSynDumpResult{Term: name, Synonyms: groups})
		return err
	})
	if err == nil {
		c.val = terms
	}
	return err
}
