package sheet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Outputs are the files that a program writes beside its text. They are opened before
// it begins to measure, so that a wrong path is found out at once.
type Outputs struct {
	files []output
	json  io.Writer // nil: not wanted
	html  io.Writer // nil: not wanted
	text  io.Writer
}

// output is a file, and what is in it.
type output struct {
	*os.File
	what string
}

// Open opens the files at these paths, which are those of the flags -json and -html; ""
// is none, and "-" as jsonPath is stdout, whereupon the text goes to stderr.
func Open(jsonPath, htmlPath string, stdout, stderr io.Writer) (*Outputs, error) {
	o := &Outputs{text: stdout}
	create := func(to *io.Writer, path, flag, what string) error {
		if path == "" {
			return nil
		}
		f, err := os.Create(path)
		if err != nil {
			return fmt.Errorf("-%s: %w", flag, err)
		}
		o.files = append(o.files, output{f, what})
		*to = f
		return nil
	}
	var err error
	if jsonPath == "-" {
		o.json, o.text, jsonPath = stdout, stderr, ""
	}
	if htmlPath == "-" {
		err = errors.New("-html: the page goes to a file only")
		htmlPath = ""
	}
	err = errors.Join(err, create(&o.json, jsonPath, "json", "JSON"), create(&o.html, htmlPath, "html", "Page"))
	if err != nil {
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

// Write writes everything that is wanted, and tells in the text which files there are.
// page is called only for a page.
func (o *Outputs) Write(result any, text, page func(io.Writer) error) error {
	errs := []error{text(o.text)}
	if o.json != nil {
		errs = append(errs, writeJSON(o.json, result))
	}
	if o.html != nil {
		errs = append(errs, page(o.html))
	}
	for _, f := range o.files {
		errs = append(errs, f.Close())
		fmt.Fprintf(o.text, "\n%s: %s\n", f.what, f.Name())
	}
	o.files = nil
	return errors.Join(errs...)
}

func writeJSON(w io.Writer, result any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(result)
}
