package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// show writes the table and the findings as text.
func (r *report) show(o options, w io.Writer) error {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "group\titems\tpresent\tmissing\tdifferent\texcepted\t%\t")
	var all group
	for _, g := range r.Groups {
		row(table, g)
		all.Items += g.Items
		all.Present += g.Present
		all.Missing += g.Missing
		all.Different += g.Different
		all.Excepted += g.Excepted
	}
	all.Name = "all"
	row(table, &all)
	if err := table.Flush(); err != nil {
		return err
	}
	if !o.quiet {
		r.list(o, &b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func row(w io.Writer, g *group) {
	name := g.Name
	if g.Complete {
		name = "* " + name
	}
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%.1f\t\n", name, g.Items, g.Present, g.Missing, g.Different, g.Excepted, g.percent())
}

// A line stands for findings that say the same: the members of a missing type, or a
// method that several types miss.
type line struct {
	finding
	owners  []string
	members int
}

// list writes the findings, group by group.
func (r *report) list(o options, b *strings.Builder) {
	for _, g := range r.Groups {
		if g.Missing+g.Different == 0 || len(o.groups) > 0 && !slices.Contains(o.groups, g.Name) {
			continue
		}
		fmt.Fprintf(b, "\n%s\n", g.Name)
		for _, l := range r.lines(g.Name) {
			name := l.Key
			if l.owner != "" {
				name = strings.Join(l.owners, ",") + "." + l.name
			}
			fmt.Fprintf(b, "  %-9s %s %s", l.Status, l.Kind, name)
			if l.members > 0 {
				fmt.Fprintf(b, " (and %d members)", l.members)
			}
			fmt.Fprintln(b)
			fmt.Fprintf(b, "            theirs %s\n", l.Theirs)
			if l.Ours != "" {
				fmt.Fprintf(b, "            ours   %s\n", l.Ours)
			}
			if l.Reason != "" {
				fmt.Fprintf(b, "            meant: %s\n", l.Reason)
			}
		}
	}
}

// lines gathers a group's findings.
func (r *report) lines(group string) []*line {
	var lines []*line
	absent := make(map[string]*line) // missing types
	for _, f := range r.Findings {
		if f.Kind == kindType && f.Status == missing {
			absent[f.Key] = &line{finding: f}
		}
	}
	same := make(map[string]*line)
	for _, f := range r.Findings {
		if f.Group != group {
			continue
		}
		if l := absent[f.owner]; l != nil {
			if l.members++; l.members == 1 && l.Group != group {
				lines = append(lines, l)
			}
			continue
		}
		if l := absent[f.Key]; l != nil {
			lines = append(lines, l)
			continue
		}
		id := strings.Join([]string{f.Status, f.Kind, f.name, f.Theirs, f.Ours, f.Reason}, "\x00")
		if l := same[id]; l != nil && f.owner != "" {
			l.owners = append(l.owners, ownerName(f.owner))
			continue
		}
		l := &line{finding: f}
		if f.owner != "" {
			l.owners = []string{ownerName(f.owner)}
			same[id] = l
		}
		lines = append(lines, l)
	}
	return lines
}
