package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
)

// load type-checks the public packages of both modules, those that there are, by
// import path. The compiler does the checking: what is read is its export data, which
// the go command builds or has in its cache. Packages that both import are the same.
func load(ctx context.Context) (map[string]*types.Package, error) {
	var wanted []string
	for _, module := range []string{theirModule, ourModule} {
		for _, folder := range packages {
			wanted = append(wanted, path.Join(module, folder))
		}
	}
	exports, err := listExports(ctx, wanted)
	if err != nil {
		return nil, err
	}
	compiled := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		file, ok := exports[path]
		if !ok || file == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(file)
	})
	loaded := make(map[string]*types.Package)
	for _, path := range wanted {
		if exports[path] == "" {
			continue
		}
		pkg, err := compiled.Import(path)
		if err != nil {
			return nil, fmt.Errorf("loading %s: %w", path, err)
		}
		loaded[path] = pkg
	}
	for _, module := range []string{theirModule, ourModule} {
		if loaded[module] == nil {
			return nil, fmt.Errorf("loading %s: no such package", module)
		}
	}
	return loaded, nil
}

// listExports asks the go command for the export data of packages and of all that
// they import.
func listExports(ctx context.Context, wanted []string) (map[string]string, error) {
	args := append([]string{"list", "-e", "-export", "-deps", "-json=ImportPath,Export"}, wanted...)
	cmd := exec.CommandContext(ctx, "go", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.Bytes())
	}
	exports := make(map[string]string)
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg struct{ ImportPath, Export string }
		switch err := dec.Decode(&pkg); {
		case errors.Is(err, io.EOF):
			return exports, nil
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		}
		exports[pkg.ImportPath] = pkg.Export
	}
}
