package main

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// The outcomes of a comparison.
const (
	missing   = "missing"
	different = "different"
)

// A finding is an item of go-redis that we don't have, or have differently.
type finding struct {
	Key    string `json:"key"`
	Group  string `json:"group"`
	Status string `json:"status"`
	Kind   string `json:"kind"`
	Theirs string `json:"theirs"`
	Ours   string `json:"ours,omitempty"`
	Reason string `json:"reason,omitempty"` // why it is meant, if it is

	owner string
	name  string
}

// A group is a part of the surface, with what was found there.
type group struct {
	Name      string `json:"name"`
	Complete  bool   `json:"complete"` // it is to have nothing missing or different but for exceptions
	Items     int    `json:"items"`
	Present   int    `json:"present"`
	Missing   int    `json:"missing"`
	Different int    `json:"different"`
	Excepted  int    `json:"excepted"` // of those missing or different
}

// percent is how much is there, exceptions included.
func (g *group) percent() float64 {
	if g.Items == 0 {
		return 100
	}
	return 100 * float64(g.Present+g.Excepted) / float64(g.Items)
}

// A report is the result of the program.
type report struct {
	Groups   []*group  `json:"groups"`
	Findings []finding `json:"findings"`
	Unneeded []string  `json:"unneeded,omitempty"` // exceptions that nothing needs
	rules    *exceptions
}

// compare looks for each item of theirs among ours.
func compare(theirs, ours *surface, g *grouping, rules *exceptions) (*report, error) {
	r := &report{rules: rules, Findings: []finding{}}
	groups := make(map[string]*group)
	for _, key := range theirs.order {
		want := theirs.items[key]
		name := g.groupOf(want)
		gr := groups[name]
		if gr == nil {
			gr = &group{Name: name, Complete: rules.isComplete(name)}
			groups[name] = gr
		}
		gr.Items++
		got, ok := ours.items[key]
		f := finding{Key: key, Group: name, Kind: want.kind, Theirs: want.text, owner: want.owner, name: want.name}
		switch {
		case !ok:
			gr.Missing++
			f.Status = missing
		case differ(want, got) != "":
			gr.Different++
			f.Status, f.Ours = different, differ(want, got)
		default:
			gr.Present++
			continue
		}
		if f.Reason = rules.reason(f); f.Reason != "" {
			gr.Excepted++
		}
		r.Findings = append(r.Findings, f)
	}
	r.Groups = slices.SortedFunc(maps.Values(groups), func(a, b *group) int {
		return cmp.Or(cmp.Compare(groupRank(a.Name), groupRank(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	for name := range rules.complete {
		if groups[name] == nil {
			return nil, fmt.Errorf("exceptions.txt: unknown group %q", name)
		}
	}
	r.Unneeded = rules.unneeded()
	return r, nil
}

// groupRank puts groups of commands first, in their order.
func groupRank(name string) int {
	for i, cg := range commandGroups {
		if cg.group == name {
			return i
		}
	}
	return len(commandGroups)
}

// differ says what ours is if it is not what theirs is; "" if it is.
func differ(want, got item) string {
	switch {
	case want.kind != got.kind:
		return got.kind + " " + got.text
	case want.text != got.text:
		return got.text
	case want.onValue && !got.onValue:
		return got.text + ", of pointers only"
	case want.comparable && !got.comparable:
		return got.text + ", not comparable"
	case !want.isInterface || want.sealed:
		return ""
	case got.sealed:
		return "interface that users can't implement"
	}
	var extra []string
	for _, m := range got.methods {
		if !slices.Contains(want.methods, m) {
			extra = append(extra, m)
		}
	}
	if len(extra) > 0 {
		return "interface with more methods: " + strings.Join(extra, ", ")
	}
	return ""
}

// faults says what -check finds wrong.
func (r *report) faults() []string {
	var faults []string
	for _, f := range r.Findings {
		if f.Reason == "" && r.rules.isComplete(f.Group) {
			faults = append(faults, fmt.Sprintf("%s: %s is %s: %s", f.Group, f.Key, f.Status, f.wantGot()))
		}
	}
	for _, pattern := range r.Unneeded {
		faults = append(faults, "exceptions.txt: nothing needs "+pattern)
	}
	return faults
}

// wantGot shows both sides.
func (f finding) wantGot() string {
	if f.Status == missing {
		return f.Theirs
	}
	return "theirs " + f.Theirs + ", ours " + f.Ours
}

// exceptions are the rules of exceptions.txt.
type exceptions struct {
	complete map[string]bool
	rules    []rule
}

// A rule excepts the items whose keys match, for a reason.
type rule struct {
	pattern string // of package path; it may match several keys
	reason  string
	used    bool
}

// parseExceptions reads lines: "complete: GROUP ...", or a pattern of keys, a colon
// and the reason; # starts a comment.
func parseExceptions(text string) (*exceptions, error) {
	e := &exceptions{complete: make(map[string]bool)}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, reason, ok := strings.Cut(line, ": ")
		if !ok || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("exceptions.txt: line %d: want a pattern, a colon and a reason", number)
		}
		if pattern == "complete" {
			for name := range strings.FieldsSeq(reason) {
				e.complete[name] = true
			}
			continue
		}
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("exceptions.txt: line %d: %w", number, err)
		}
		e.rules = append(e.rules, rule{pattern: pattern, reason: strings.TrimSpace(reason)})
	}
	return e, nil
}

func (e *exceptions) isComplete(group string) bool { return e.complete[group] }

// reason gives the reason for which a finding is meant; "": none.
func (e *exceptions) reason(f finding) string {
	for i := range e.rules {
		if ok, _ := path.Match(e.rules[i].pattern, f.Key); ok {
			e.rules[i].used = true
			return e.rules[i].reason
		}
	}
	return ""
}

// unneeded lists the rules that no finding needed.
func (e *exceptions) unneeded() []string {
	var patterns []string
	for _, r := range e.rules {
		if !r.used {
			patterns = append(patterns, r.pattern)
		}
	}
	return patterns
}
