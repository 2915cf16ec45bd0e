package redis

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/baton-go/redis/internal/realserver"
)

// noCommand are the methods that stand for no command of their own, with the reason.
var noCommand = map[string]string{
	"cmdable.DoRaw":        "any command",
	"cmdable.DoRawWriteTo": "any command",
	"cmdable.FTExplainCli": "sends nothing",
	"cmdable.Monitor":      "always refused",
	"*Client.Do":           "any command",
	"*ClusterClient.Do":    "any command",
	"*Ring.Do":             "any command",
	"*Conn.Do":             "any command",
	"*Tx.Do":               "any command",
	"*Pipeline.Do":         "any command",
	"*AutoPipeliner.Do":    "any command",
	"*AutoPipeliner.DoRaw": "any command",

	"*AutoPipeliner.DoRawWriteTo": "any command",
}

// untold are versions that the server does not tell of options that it has.
var untold = map[string]string{"HScanNoValues": "7.4"}

// dearer are methods that cost more than O(1), with options of which the server does not
// tell that.
var dearer = map[string]bool{"SetIFDEQ": true, "SetIFDEQGet": true, "SetIFDNE": true, "SetIFDNEGet": true, "XInfoStreamFull": true}

var (
	sinceText      = regexp.MustCompile(`[Ss]ince (Redis Software|Redis|RedisBloom|RedisJSON|RedisTimeSeries|Search) (\d+\.\d+(?:\.\d+)?)`)
	laterText      = regexp.MustCompile(`since (\d+\.\d+(?:\.\d+)?)`)
	complexityText = regexp.MustCompile(`O\(|complexity`)
	sameText       = regexp.MustCompile(`(O\([^.;]*\)) as ([A-Z]\w+)`)
)

// commandDocs are the comments of the methods that make a command, by receiver and name,
// each as one line.
func commandDocs(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	docs, fset := map[string]string{}, token.NewFileSet()
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && makesCommand(fn) {
				docs[receiver(fn)+"."+fn.Name.Name] = strings.Join(strings.Fields(fn.Doc.Text()), " ")
			}
		}
	}
	return docs
}

// makesCommand tells whether a function is a method for users that sends a command: its
// first argument is a context, and its result a command or a subscription.
func makesCommand(fn *ast.FuncDecl) bool {
	if fn.Recv == nil || !fn.Name.IsExported() || fn.Type.Results == nil || len(fn.Type.Params.List) == 0 {
		return false
	}
	first, ok := fn.Type.Params.List[0].Type.(*ast.SelectorExpr)
	if !ok || first.Sel.Name != "Context" {
		return false
	}
	if receiver(fn) == "cmdable" {
		return true
	}
	ptr, ok := fn.Type.Results.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	typ, ok := ptr.X.(*ast.Ident)
	return ok && (strings.HasSuffix(typ.Name, "Cmd") || typ.Name == "PubSub")
}

func receiver(fn *ast.FuncDecl) string {
	switch typ := fn.Recv.List[0].Type.(type) {
	case *ast.Ident:
		return typ.Name
	case *ast.StarExpr:
		if id, ok := typ.X.(*ast.Ident); ok {
			return "*" + id.Name
		}
	}
	return ""
}

// TestCommandsTellSinceAndComplexity: the comment of a command's method says since when
// servers have it, and what it costs them.
func TestCommandsTellSinceAndComplexity(t *testing.T) {
	docs := commandDocs(t)
	if len(docs) < 600 {
		t.Fatalf("found %d methods only", len(docs))
	}
	for _, method := range slices.Sorted(maps.Keys(docs)) {
		if noCommand[method] != "" {
			continue
		}
		doc := docs[method]
		if !sinceText.MatchString(doc) {
			t.Errorf("%s does not tell since which version there is the command", method)
		}
		if !complexityText.MatchString(doc) {
			t.Errorf("%s does not tell the complexity", method)
		}
		if m := sameText.FindStringSubmatch(doc); m != nil && !strings.Contains(docs["cmdable."+m[2]], m[1]) {
			t.Errorf("%s is %s as %s, which is not", method, m[1], m[2])
		}
	}
}

// commandsOf are the names of the commands that each method sends, as its cases tell.
func commandsOf(t *testing.T) map[string][]string {
	t.Helper()
	names := map[string][]string{}
	for _, tc := range commandCases() {
		method, _, _ := strings.Cut(tc.name, "/")
		args := captured(t, tc).base().Args()
		name := strings.ToLower(fmt.Sprint(args[0]))
		if hasSubcommands(name) && len(args) > 1 {
			name += " " + strings.ToLower(fmt.Sprint(args[1]))
		}
		if !slices.Contains(names[method], name) {
			names[method] = append(names[method], name)
		}
	}
	return names
}

// TestCommandsTellTheServersVersions compares the versions in comments with those that
// a server tells about the command and its arguments. Of later ones it knows nothing.
func TestCommandsTellTheServersVersions(t *testing.T) {
	srv := realserver.Start(t, realserver.Redis8)
	c := NewClient(&Options{Addr: srv.Addr(), Protocol: 2})
	defer c.Close()
	reply, err := c.Do(bg, "command", "docs").Slice()
	if err != nil {
		t.Fatal(err)
	}
	info, err := c.InfoMap(bg, "server").Result()
	if err != nil {
		t.Fatal(err)
	}
	newest := version(info["Server"]["redis_version"])
	told, docs := map[string]commandDoc{}, commandDocs(t)
	readVersions(reply, told)
	for method, names := range commandsOf(t) {
		doc, ok := docs["cmdable."+method]
		if !ok {
			doc = docs["statefulCmdable."+method]
		}
		about := told[names[0]]
		for _, name := range names[1:] {
			about = about.or(told[name])
		}
		if about.versions == nil || noCommand["cmdable."+method] != "" {
			continue
		}
		if about.complexity == "O(1)" && !dearer[method] && !strings.Contains(doc, "O(1)") {
			t.Errorf("%s: %q is O(1)", method, names)
		}
		for _, v := range versionsIn(doc) {
			if !slices.Contains(append(about.versions, untold[method]), v) && version(v) <= newest {
				t.Errorf("%s: %q: got since %s, want one of %q", method, names, v, about.versions)
			}
		}
	}
}

// versionsIn are the versions of Redis in a comment: "Since Redis 1.0 (several since 2.4)".
func versionsIn(doc string) []string {
	var versions []string
	for _, m := range sinceText.FindAllStringSubmatch(doc, -1) {
		if m[1] == "Redis" {
			versions = append(versions, m[2])
		}
	}
	for _, m := range laterText.FindAllStringSubmatch(doc, -1) {
		versions = append(versions, m[1])
	}
	return versions
}

func TestVersionsInComments(t *testing.T) {
	for doc, want := range map[string][]string{
		"Since Redis 1.0 (several since 2.4), O(N).":        {"1.0", "2.4"},
		"That is since Redis 2.8.13.":                       {"2.8.13"},
		"Since RedisTimeSeries 1.0 (Latest since 1.8).":     {"1.8"},
		"Since Search 1.0, O(1). Since Redis 8.0 HGetAll.":  {"8.0"},
		"Since Redis Software 8.0.2; the others have none.": nil,
		"In seconds since 1970.":                            nil,
	} {
		if got := versionsIn(doc); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", doc, got, want)
		}
	}
}

// A commandDoc is what a server tells about a command with COMMAND DOCS.
type commandDoc struct {
	versions   []string // of the command, of its arguments, and of changes
	complexity string
}

// readVersions reads a reply of COMMAND DOCS, in RESP2.
func readVersions(docs []any, told map[string]commandDoc) {
	for name, entry := range pairs(docs) {
		fields := maps.Collect(pairs(entry.([]any)))
		var doc commandDoc
		doc.addVersions(fields)
		doc.complexity, _ = fields["complexity"].(string)
		doc.complexity = strings.TrimSuffix(doc.complexity, ".")
		if changes, ok := fields["history"].([]any); ok {
			for _, change := range changes {
				doc.add(change.([]any)[0])
			}
		}
		if doc.versions != nil {
			told[strings.ReplaceAll(name, "|", " ")] = doc
		}
		if subs, ok := fields["subcommands"].([]any); ok {
			readVersions(subs, told)
		}
	}
}

// or is what counts where a method sends one of two commands.
func (d commandDoc) or(other commandDoc) commandDoc {
	d.versions = slices.Concat(d.versions, other.versions)
	if other.complexity != d.complexity {
		d.complexity = ""
	}
	return d
}

func (d *commandDoc) addVersions(fields map[string]any) {
	d.add(fields["since"])
	args, _ := fields["arguments"].([]any)
	for _, arg := range args {
		d.addVersions(maps.Collect(pairs(arg.([]any))))
	}
}

// add adds a version as comments have it: 2.8.13, and 7.0 for 7.0.0.
func (d *commandDoc) add(v any) {
	if text, ok := v.(string); ok {
		d.versions = append(d.versions, strings.TrimSuffix(text, ".0"))
	}
}

// TestCommandsTellNil: where a command can be answered with nil, the comment says when.
// Commands are sent to a server that has nothing of what they need.
func TestCommandsTellNil(t *testing.T) {
	docs := commandDocs(t)
	srv := realserver.Start(t, realserver.Redis8)
	c := NewClient(&Options{Addr: srv.Addr()})
	defer c.Close()
	info, err := c.InfoMap(bg, "server").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range commandCases() {
		method, _, _ := strings.Cut(tc.name, "/")
		if strings.Contains(docs["cmdable."+method], "Nil") {
			continue
		}
		if tc.want == error(Nil) || !tc.cluster && tc.knows(info["Server"]) && isNilOf(t, c, tc) {
			t.Errorf("%s does not tell when it is Nil, as in the case %s", method, tc.name)
		}
	}
}

// isNilOf tells whether the server answers a case with nil if nothing is prepared.
func isNilOf(t *testing.T, c *Client, tc commandCase) bool {
	t.Helper()
	cmd := captured(t, tc)
	if cmd.base().lane == laneSession {
		return false // of the connection, not of data
	}
	if err := c.FlushAll(bg).Err(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(bg, time.Second)
	defer cancel()
	isNil := errors.Is(c.Process(ctx, cmd), Nil)
	for _, line := range tc.undo {
		_ = c.Do(bg, words(line)...).Err()
	}
	return isNil
}
