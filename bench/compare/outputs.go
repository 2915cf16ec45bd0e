package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/baton-go/redis/bench/compare/internal/report"
	"github.com/baton-go/redis/bench/compare/internal/result"
)

// outputs are the files the program writes. They are opened before it starts, so
// that a wrong path is found out at once.
type outputs struct {
	json, html *os.File // nil: not wanted
	stdout     bool     // JSON goes there
	written    bool
}

func openOutputs(opts options) (*outputs, error) {
	o := &outputs{stdout: opts.json == "-"}
	open := func(to **os.File, path, flag string) error {
		if path == "" || path == "-" {
			return nil
		}
		file, err := os.Create(path)
		if err != nil {
			return fmt.Errorf("-%s: %w", flag, err)
		}
		*to = file
		return nil
	}
	if opts.html == "-" {
		return nil, errors.New("-html wants a file")
	}
	if err := errors.Join(open(&o.json, opts.json, "json"), open(&o.html, opts.html, "html")); err != nil {
		o.discard()
		return nil, err
	}
	return o, nil
}

// discard closes files that nothing was written to.
func (o *outputs) discard() {
	if o.written {
		return
	}
	for _, f := range []*os.File{o.json, o.html} {
		if f != nil {
			_ = f.Close()           // nothing was written
			_ = os.Remove(f.Name()) // an empty file helps nobody
		}
	}
}

// write writes what was asked for, and tells where.
func (o *outputs) write(res *result.Result, stdout, tell io.Writer) error {
	o.written = true
	if o.stdout {
		if err := res.WriteJSON(stdout); err != nil {
			return err
		}
	}
	into := func(f *os.File, name string, write func(io.Writer) error) error {
		if f == nil {
			return nil
		}
		if err := errors.Join(write(f), f.Close()); err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		fmt.Fprintf(tell, "\n%s: %s\n", name, f.Name())
		return nil
	}
	return errors.Join(
		into(o.json, "JSON", res.WriteJSON),
		into(o.html, "Page", func(w io.Writer) error { return report.WritePage(w, res) }),
	)
}
