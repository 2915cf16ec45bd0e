package sheet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Outputs are the files that a program writes beside its tables. They are opened
// before it begins to measure, so that a wrong path is found out at once.
type Outputs struct {
	files  []*os.File
	json   io.Writer // nil: not wanted
	html   io.Writer // nil: not wanted
	tables io.Writer
}

// Open opens the files at these paths; "" is none, and "-" as jsonPath is stdout,
// whereupon the tables go to stderr.
func Open(jsonPath, htmlPath string, stdout, stderr io.Writer) (*Outputs, error) {
	o := &Outputs{tables: stdout}
	create := func(to *io.Writer, path string) error {
		if path == "" {
			return nil
		}
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		o.files = append(o.files, f)
		*to = f
		return nil
	}
	var err error
	if jsonPath == "-" {
		o.json, o.tables, jsonPath = stdout, stderr, ""
	}
	if htmlPath == "-" {
		err = errors.New("the page goes to a file only")
		htmlPath = ""
	}
	if err = errors.Join(err, create(&o.json, jsonPath), create(&o.html, htmlPath)); err != nil {
		o.Discard()
		return nil, err
	}
	return o, nil
}

// Discard removes the files of a run that has not come to its end.
func (o *Outputs) Discard() {
	for _, f := range o.files {
		_ = f.Close()
		_ = os.Remove(f.Name()) // an empty file helps nobody
	}
	o.files = nil
}

// Write writes everything that is wanted. page is called only for a page.
func (o *Outputs) Write(result any, tables []*Table, page func(io.Writer) error) error {
	var errs []error
	for i, t := range tables {
		if i > 0 {
			fmt.Fprintln(o.tables)
		}
		errs = append(errs, t.Write(o.tables))
	}
	if o.json != nil {
		e := json.NewEncoder(o.json)
		e.SetIndent("", "  ")
		errs = append(errs, e.Encode(result))
	}
	if o.html != nil {
		errs = append(errs, page(o.html))
	}
	for _, f := range o.files {
		errs = append(errs, f.Close())
	}
	o.files = nil
	return errors.Join(errs...)
}
