package cbl1_test

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The rules of this repository. Each is a function from parsed source to
// complaints, so that rules_bad_test.go can prove that it fails when it should.
// The functions read files themselves and do not run the go command or git,
// because go test caches a pass until a file that the test has read changes.

const module = "github.com/cbl1/cbl1"

// Modules outside the standard library that somebody may import.
const (
	btree     = "github.com/google/btree"
	cobra     = "github.com/spf13/cobra"
	compress  = "github.com/klauspost/compress"
	pflag     = "github.com/spf13/pflag"
	terminal  = "golang.org/x/term"
	porcupine = "github.com/anishathalye/porcupine"
	mcpSDK    = "github.com/modelcontextprotocol/go-sdk"
	rapid     = "pgregory.net/rapid"
	sqlite    = "github.com/ncruces/go-sqlite3"
	tcell     = "github.com/gdamore/tcell/v2"
	testify   = "github.com/stretchr/testify"
	xtext     = "golang.org/x/text"
)

// row says what the non-test files of one package may import.
type row struct {
	ours    []string // packages of this module
	outside []string // other modules
	never   []string // parts of the standard library, with what is below them
}

// importTable has a row per package. A package's own internal/ folders belong
// to its row and may be imported by it. Test files may import what they like.
func importTable() map[string]row {
	product := []string{"l1", "cbregion", "program", "fit", "device", "event", "tool/capture", "tool/tensor", "tool/replay", "tool/replay/answer", "tool/replay/session", "tool/replay/diff", "tool/internal/clash", "tool/internal/pictures/draw", "tool/internal/answers/render", "tool/internal/answers/sizes", "tool/internal/answers/parquet", "tool/internal/live/wire", "tool/internal/live/shm", "tool/internal/live/watch", "tool/internal/live/serve"}
	// What reads and writes text from outside.
	readers := slices.Clip([]string{"internal/asciijson", "internal/jsonobject", "internal/magic", "internal/packed", "internal/shown"})
	const layers = "device/internal/"
	silent := []string{"encoding", "os"}
	return map[string]row{
		".":        {},
		"l1":       {},
		"cbregion": {ours: []string{"l1"}, outside: []string{btree}},
		"program":  {ours: []string{"l1"}},
		"fit":      {ours: []string{"l1", "program"}, never: []string{"encoding", "os", "sync"}},
		"device":   {ours: []string{"l1", "program", "fit", "internal/corepeaks"}, never: silent},

		// The layers below a fleet, lowest first.
		"internal/corepeaks":      {ours: []string{"l1"}, never: silent},
		"device/internal/bitset":  {never: silent},
		"device/internal/lookup":  {never: silent},
		"device/internal/version": {ours: []string{layers + "lookup"}, never: silent},
		"device/internal/classes": {ours: []string{"l1", "cbregion", "program", "fit", layers + "bitset", layers + "lookup"}, outside: []string{btree}, never: silent},
		"device/internal/residue": {ours: []string{"l1", "program", layers + "lookup"}, never: silent},
		"device/internal/heap":    {ours: []string{"l1", "program", "fit", layers + "bitset", layers + "classes", layers + "lookup", layers + "residue", layers + "version"}, outside: []string{btree}, never: silent},

		// The alignment of diff knows sequences alone.
		"tool/replay/diff/internal/align": {},

		"event":                         {ours: append(readers, "l1", "program", "fit", "device")},
		"tool/dump":                     {ours: []string{"l1", "fit", "device", "event", "internal/jsonobject", "internal/shown"}, never: []string{"os", "flag"}},
		"tool/tensor":                   {ours: []string{"event", "internal/shown"}, outside: []string{btree}},
		"tool/capture/internal/graph":   {ours: []string{"l1", "fit", "device", "event", "tool/tensor", "internal/jsonobject", "internal/shown"}, never: []string{"os", "flag"}},
		"tool/capture/internal/survey":  {ours: []string{"l1", "cbregion", "fit", "device", "event", "tool/tensor", "tool/internal/clash", "tool/capture/internal/graph", "internal/jsonobject"}, outside: []string{btree}, never: []string{"os", "flag"}},
		"tool/capture":                  {ours: append(readers, "l1", "program", "fit", "device", "event", "tool/dump", "tool/tensor"), outside: []string{btree}},
		"tool/replay/answer":            {ours: []string{"l1", "program", "fit", "device", "event", "tool/tensor", "tool/internal/fold", "internal/shown"}, never: []string{"os", "flag"}},
		"tool/replay/internal/source":   {ours: []string{"l1", "program", "fit", "device", "event", "tool/replay/answer", "internal/corepeaks", "internal/shown"}, never: []string{"os", "flag"}},
		"tool/replay/session":           {ours: []string{"l1", "program", "fit", "device", "event", "tool/replay/answer", "tool/replay/internal/source", "internal/asciijson", "tool/internal/fold", "internal/shown"}, never: []string{"os", "flag"}},
		"tool/replay":                   {ours: []string{"l1", "program", "fit", "device", "event", "tool/replay/answer", "tool/replay/internal/source", "tool/tensor", "internal/corepeaks", "tool/internal/fold", "internal/shown"}, never: []string{"os", "flag"}},
		"tool/replay/internal/layered":  {},
		"tool/replay/internal/same":     {},
		"tool/replay/diff":              {ours: []string{"l1", "fit", "event", "tool/replay/answer", "tool/internal/fold"}, never: []string{"os", "flag"}},
		"tool/internal/clash":           {ours: []string{"l1", "fit", "internal/asciijson", "internal/shown"}},
		"tool/internal/pictures/draw":   {ours: []string{"l1", "internal/shown"}, never: []string{"os", "flag"}},
		"tool/internal/answers/sizes":   {ours: []string{"l1", "fit", "event", "tool/replay/answer", "tool/internal/clash"}, never: []string{"os", "flag"}},
		"tool/internal/answers/parquet": {outside: []string{compress}, never: []string{"os", "flag", "reflect"}},
		"tool/internal/answers/render":  {ours: []string{"l1", "tool/internal/pictures/draw", "program", "fit", "device", "event", "tool/replay/answer", "tool/replay/diff", "tool/internal/clash", "tool/internal/answers/sizes", "tool/internal/answers/parquet", "internal/asciijson", "tool/internal/fold", "internal/shown"}, never: []string{"os", "flag"}},
		"tool/internal/live/wire":       {ours: []string{"l1", "program", "fit", "device", "event", "internal/shown"}, outside: []string{btree}, never: []string{"os/exec", "net", "flag"}},
		"tool/internal/live/shm":        {ours: []string{"internal/shown"}, never: []string{"os/exec", "net", "flag", "encoding/json"}},
		"tool/internal/live/watch":      {ours: []string{"l1", "fit", "device", "event", "tool/internal/pictures/draw", "tool/replay/session", "tool/replay/answer", "tool/internal/live/wire", "tool/internal/live/shm", "internal/asciijson", "internal/shown"}, never: []string{"os", "net", "flag"}},
		"tool/internal/live/serve":      {ours: []string{"l1", "device", "event", "tool/replay/session", "tool/replay/answer", "tool/internal/live/wire", "tool/internal/live/shm", "tool/internal/live/watch", "internal/asciijson", "internal/shown"}, never: []string{"os/exec", "flag"}},
		"fuzz":                          {},
		"fuzz/model":                    {ours: []string{"l1", "program"}},
		"fuzz/gen":                      {ours: []string{"l1", "program", "fuzz/model"}, outside: []string{rapid}},
		"fuzz/suite":                    {ours: []string{"l1", "program", "fuzz/model", "fuzz/gen"}, outside: []string{rapid}},
		"tool/internal/pictures/page":   {ours: []string{"tool/replay/answer", "tool/replay/diff", "tool/internal/answers/render", "internal/asciijson", "internal/shown"}, never: []string{"os", "flag"}},
		"tool/cmd/cbl1":                 {ours: append(product, "tool/internal/pictures/page", "tool/internal/pictures/export", "internal/packed", "internal/shown"), outside: []string{cobra, mcpSDK, pflag, sqlite, tcell, terminal}},
		"internal/asciijson":            {},
		"tool/internal/fold":            {},
		"tool/internal/guard/attack":    {ours: []string{"tool/internal/guard/large"}, outside: []string{sqlite}},
		"tool/internal/cbl1dist":        {},
		"internal/guard/cbl1bounds":     {ours: []string{"l1", "program", "fit", "device"}},
		"tool/internal/pictures/export": {ours: []string{"l1", "fit", "event", "tool/replay/answer", "internal/shown"}},
		"internal/jsonobject":           {},
		"internal/magic":                {},
		"internal/packed":               {outside: []string{compress}},
		"internal/guard/steps":          {},
		"internal/guard/testkit":        {outside: []string{compress}},
		"internal/shown":                {ours: []string{"l1"}, outside: []string{xtext}},
		"internal/guard/baseline":       {ours: []string{"l1", "program", "fit"}, outside: []string{btree}},
		"tool/internal/guard/cbl1bench": {ours: []string{"l1", "program", "fit", "device", "tool/capture", "tool/replay", "tool/replay/answer", "internal/guard/baseline", "tool/internal/guard/large"}},
		// The byte model, and types of values: an error in the product cannot hide in the calculator that checks it.
		"tool/internal/guard/oracle":               {ours: []string{"l1", "program", "fuzz/model"}},
		"tool/internal/guard/oracle/randomcapture": {},
		"tool/internal/guard/large":                {},
		"tool/internal/guard/parquetread":          {outside: []string{compress}},

		"tool/internal/guard/planted":             {},
		"tool/internal/guard/planted/cbl1planted": {ours: []string{"tool/internal/guard/planted"}},
	}
}

// engine are the packages that other programs embed.
func engine() []string { return []string{"l1", "cbregion", "program", "fit", "device", "event"} }

// modulesOf are the modules that a package of the engine needs besides the standard library, also in everything that it
// imports. The event log is read compressed too, and its errors escape foreign text by the width and direction of
// characters.
func modulesOf(pkg string) []string {
	if pkg == "event" {
		return []string{btree, compress, xtext}
	}
	return []string{btree}
}

// folders are the top-level folders. One we do not know is a new noun, which
// wants a row above, or something that should not be here.
func folders() []string {
	return []string{
		".ci", ".github", "api", "cbregion", "cpp", "device", "docs", "event", "examples",
		"fit", "fuzz", "internal", "l1", "program", "testdata", "tool",
	}
}

// ignored reports whether .gitignore names this path, relative to the root.
func ignored(name string) bool {
	switch name {
	case ".git", ".idea", ".vscode", "bin", "dist", "cbl1", "cover.out":
		return true
	}
	ext := path.Ext(name)
	return ext == ".test" || ext == ".prof"
}

// source is one parsed Go file.
type source struct {
	path string // slashes, relative to the root of the module
	text []byte
	set  *token.FileSet
	tree *ast.File
}

func parse(name string, text []byte) (*source, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &source{path: name, text: text, set: set, tree: tree}, nil
}

func (s *source) dir() string   { return path.Dir(s.path) }
func (s *source) test() bool    { return strings.HasSuffix(s.path, "_test.go") }
func (s *source) library() bool { return s.tree.Name.Name != "main" }

// complain says what is wrong at pos, in the form that editors jump to.
func (s *source) complain(pos token.Pos, msg string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", s.path, s.set.Position(pos).Line, fmt.Sprintf(msg, args...))
}

// imports maps each imported path to its position.
func (s *source) imports() map[string]token.Pos {
	found := make(map[string]token.Pos)
	for _, spec := range s.tree.Imports {
		// The parser has accepted the literal already.
		name, _ := strconv.Unquote(spec.Path.Value)
		found[name] = spec.Pos()
	}
	return found
}

// below reports whether an import path is root or in a folder of root.
func below(name, root string) bool { return name == root || strings.HasPrefix(name, root+"/") }

func standard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".")
}

// rule is a rule that one Go file can break.
type rule struct {
	name  string
	check func(*source) []string
}

func fileRules() []rule {
	return []rule{
		{"imports", checkImports},
		{"test libraries", checkTestLibraries},
		{"doc comments", checkDocComments},
		{"first words", checkFirstWords},
		{"package variables", checkVariables},
		{"init", checkInit},
		{"goroutines", checkGoroutines},
		{"logging, clock and environment", checkAmbient},
		{"measurements", checkMeasurements},
		{"names", checkNames},
		{"gofmt", checkFormat},
	}
}

func checkImports(s *source) []string {
	if s.test() {
		return nil
	}
	table := importTable()
	home := s.dir()
	if _, ok := table[home]; !ok {
		home, _, _ = strings.Cut(home, "/internal/")
	}
	allowed, ok := table[home]
	if !ok {
		// Without the name of the file, so that a new package is reported once.
		return []string{"package " + s.dir() + " has no row in the import table of rules_test.go: decide what it may import and add one"}
	}
	var out []string
	for name, pos := range s.imports() {
		switch {
		case below(name, module):
			ours := strings.TrimPrefix(strings.TrimPrefix(name, module), "/")
			if !slices.Contains(allowed.ours, ours) && !strings.HasPrefix(ours, home+"/internal/") {
				out = append(out, s.complain(pos, "%s may not import %s (it may: %s)", home, name, list(allowed.ours)))
			}
		case standard(name):
			if slices.ContainsFunc(allowed.never, func(root string) bool { return below(name, root) }) {
				out = append(out, s.complain(pos, "%s may not import %q", home, name))
			}
		default:
			if !slices.ContainsFunc(allowed.outside, func(root string) bool { return below(name, root) }) {
				out = append(out, s.complain(pos, "%s may not import %s (other modules it may: %s)", home, name, list(allowed.outside)))
			}
		}
	}
	return out
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func checkTestLibraries(s *source) []string {
	var out []string
	for name, pos := range s.imports() {
		switch {
		case below(name, testify) && !s.test(), below(name, porcupine) && !s.test():
			out = append(out, s.complain(pos, "%s belongs in _test.go files: our users would inherit it", name))
		case below(name, rapid) && !s.test() && !below(s.dir(), "fuzz"):
			out = append(out, s.complain(pos, "%s belongs in _test.go files and below fuzz/", name))
		case below(name, testify) && name != testify+"/require":
			out = append(out, s.complain(pos, "use testify/require instead of %s: a test that goes on after a failure reports noise", name))
		}
	}
	return out
}

// checkFirstWords wants the comment of a type, function or method to begin with its name, behind an article.
func checkFirstWords(s *source) (out []string) {
	if s.test() {
		return nil
	}
	check := func(id *ast.Ident, doc *ast.CommentGroup) {
		words := strings.FieldsFunc(doc.Text(), func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		for len(words) > 0 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
			words = words[1:]
		}
		if len(words) > 0 && words[0] != id.Name {
			out = append(out, s.complain(id.Pos(), "the comment of %s begins with %s", id.Name, words[0]))
		}
	}
	for _, decl := range s.tree.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			check(decl.Name, decl.Doc)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					check(spec.Name, cmp.Or(spec.Doc, decl.Doc))
				}
			}
		}
	}
	return out
}

// checkDocComments wants a comment on every exported type, function and method,
// and on each group of exported constants and variables. Error and Unwrap are
// exempt: all there is to say is in the comment of the error type.
func checkDocComments(s *source) []string {
	if s.test() || !s.library() {
		return nil
	}
	var out []string
	for _, decl := range s.tree.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			name := decl.Name.Name
			if decl.Recv != nil {
				if name == "Error" || name == "Unwrap" {
					continue
				}
				name = receiver(decl.Recv.List[0].Type) + "." + name
			}
			if ast.IsExported(name) && decl.Name.IsExported() && decl.Doc.Text() == "" {
				out = append(out, s.complain(decl.Pos(), "exported %s has no doc comment", name))
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					// The comment of a group does not say what each of its types is.
					alone := len(decl.Specs) == 1 && decl.Doc.Text() != ""
					if spec.Name.IsExported() && spec.Doc.Text() == "" && !alone {
						out = append(out, s.complain(spec.Pos(), "exported %s has no doc comment", spec.Name.Name))
					}
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						if name.IsExported() && decl.Doc.Text()+spec.Doc.Text()+spec.Comment.Text() == "" {
							out = append(out, s.complain(name.Pos(), "exported %s has no doc comment, nor has its group", name.Name))
						}
					}
				}
			}
		}
	}
	return out
}

// receiver is the name of the type that a method belongs to.
func receiver(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return receiver(expr.X)
	case *ast.ParenExpr:
		return receiver(expr.X)
	case *ast.IndexExpr:
		return receiver(expr.X)
	case *ast.IndexListExpr:
		return receiver(expr.X)
	case *ast.Ident:
		return expr.Name
	}
	return "?"
}

func checkVariables(s *source) []string {
	if s.test() {
		return nil
	}
	var out []string
	for _, decl := range s.tree.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR {
			continue
		}
		for _, spec := range group.Specs {
			spec := spec.(*ast.ValueSpec)
			if s.assertion(spec) || s.sentinel(spec) || s.version(spec) || s.embedded(group, spec) {
				continue
			}
			out = append(out, s.complain(spec.Pos(), "package variable %s: only error sentinels (var ErrX = errors.New(...)), "+
				"var _ I = T{}, an embedded file (//go:embed x, var x string) and, in a command, var version string", spec.Names[0].Name))
		}
	}
	return out
}

// assertion is var _ I = T{}.
func (s *source) assertion(spec *ast.ValueSpec) bool {
	return len(spec.Names) == 1 && spec.Names[0].Name == "_" && spec.Type != nil
}

// sentinel is var ErrX = errors.New("..."), or another name for the sentinel of
// another package: var ErrX = scan.ErrY.
func (s *source) sentinel(spec *ast.ValueSpec) bool {
	isErr := func(name string) bool { return strings.HasPrefix(strings.ToLower(name), "err") }
	if len(spec.Names) != 1 || len(spec.Values) != 1 || !isErr(spec.Names[0].Name) {
		return false
	}
	switch value := spec.Values[0].(type) {
	case *ast.SelectorExpr:
		return isErr(value.Sel.Name)
	case *ast.CallExpr:
		fun, ok := value.Fun.(*ast.SelectorExpr)
		return ok && s.refers(fun, "errors", "New")
	}
	return false
}

// embedded is a file that the compiler puts into an unexported string: //go:embed x, then
// var x string.
func (s *source) embedded(group *ast.GenDecl, spec *ast.ValueSpec) bool {
	typ, ok := spec.Type.(*ast.Ident)
	return ok && typ.Name == "string" && len(spec.Names) == 1 && len(spec.Values) == 0 && !spec.Names[0].IsExported() &&
		group.Doc != nil && strings.HasPrefix(group.Doc.List[len(group.Doc.List)-1].Text, "//go:embed ")
}

// version is a variable that the linker fills in (-X main.version=... -X main.commit=...).
func (s *source) version(spec *ast.ValueSpec) bool {
	if s.library() || len(spec.Names) != 1 || spec.Names[0].Name != "version" && spec.Names[0].Name != "commit" {
		return false
	}
	if len(spec.Values) == 0 {
		return true
	}
	literal, ok := spec.Values[0].(*ast.BasicLit)
	return ok && literal.Kind == token.STRING
}

// refers reports whether an expression names one of these members of a package,
// under whatever name the file imports that package.
func (s *source) refers(sel *ast.SelectorExpr, pkg string, members ...string) bool {
	x, ok := sel.X.(*ast.Ident)
	if !ok || !slices.Contains(members, sel.Sel.Name) {
		return false
	}
	for _, spec := range s.tree.Imports {
		if name, _ := strconv.Unquote(spec.Path.Value); name == pkg {
			local := path.Base(pkg)
			if spec.Name != nil {
				local = spec.Name.Name
			}
			return x.Name == local
		}
	}
	return false
}

func checkInit(s *source) []string {
	var out []string
	for _, decl := range s.tree.Decls {
		if fun, ok := decl.(*ast.FuncDecl); ok && fun.Recv == nil && fun.Name.Name == "init" {
			out = append(out, s.complain(fun.Pos(), "func init runs in every program that imports us"))
		}
	}
	return out
}

func checkGoroutines(s *source) []string {
	// The command has no callers. Callers of serve expect its goroutines.
	if s.test() || s.dir() == "tool/cmd/cbl1" || s.dir() == "tool/internal/live/serve" {
		return nil
	}
	var out []string
	ast.Inspect(s.tree, func(n ast.Node) bool {
		if stmt, ok := n.(*ast.GoStmt); ok {
			out = append(out, s.complain(stmt.Pos(), "go statement: whoever calls us decides what runs at once"))
		}
		return true
	})
	return out
}

// checkAmbient keeps out what a function reads or writes without being given it.
// Commands may read clock and environment; nobody may log.
func checkAmbient(s *source) []string {
	if s.test() {
		return nil
	}
	var out []string
	for _, spec := range s.tree.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if below(name, "log") {
			out = append(out, s.complain(spec.Pos(), "import %q: facts come back as results, text goes to an io.Writer", name))
		}
		if spec.Name != nil && spec.Name.Name == "." {
			out = append(out, s.complain(spec.Pos(), "dot import of %q hides from these rules what is used", name))
		}
	}
	if !s.library() {
		return out
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if s.refers(sel, "time", "Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer") {
			out = append(out, s.complain(sel.Pos(), "time.%s: a library has no clock", sel.Sel.Name))
		}
		if s.dir() != "internal/guard/testkit" && s.refers(sel, "os", "Getenv", "LookupEnv", "Environ", "ExpandEnv") {
			out = append(out, s.complain(sel.Pos(), "os.%s: a library does not read the environment", sel.Sel.Name))
		}
		return true
	})
	return out
}

// checkMeasurements keeps out tests that fail where a machine is busy: they require a time, or
// a heap whose size the collector decides. What stands behind *hammer or testkit.Nightly() may.
func checkMeasurements(s *source) []string {
	if !s.test() {
		return nil
	}
	// names reports whether something below a node names one of these members of package time.
	names := func(n ast.Node, members ...string) (found bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			found = found || ok && s.refers(sel, "time", members...)
			return !found
		})
		return found
	}
	text := func(n ast.Node) string {
		return string(s.text[s.set.Position(n.Pos()).Offset:s.set.Position(n.End()).Offset])
	}
	// night reports whether a condition is true, or else false, only in the runs of a night.
	night := func(cond ast.Expr, want bool) bool {
		not, ok := cond.(*ast.UnaryExpr)
		return (ok && not.Op == token.NOT) != want && (strings.Contains(text(cond), "*hammer") || strings.Contains(text(cond), "testkit.Nightly()"))
	}
	var out []string
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if night(n.Cond, true) {
				if n.Else != nil {
					ast.Inspect(n.Else, visit)
				}
				return false
			}
		case *ast.FuncDecl:
			if n.Body != nil && len(n.Body.List) > 0 {
				first, ok := n.Body.List[0].(*ast.IfStmt)
				return !ok || !night(first.Cond, false) || !strings.Contains(text(first.Body), "t.Skip")
			}
		case *ast.SelectorExpr:
			switch n.Sel.Name {
			case "HeapAlloc", "HeapInuse", "HeapSys", "HeapIdle", "HeapReleased", "HeapObjects", "NextGC", "NumGC", "Maxrss":
				out = append(out, s.complain(n.Pos(), "%s: the collector decides it; testkit.Kept counts what is kept, other heaps are measured at night", n.Sel.Name))
			}
		case *ast.CallExpr:
			fun, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || !s.refers(fun, testify+"/require", fun.Sel.Name) {
				return true
			}
			for i, arg := range n.Args {
				switch name := fun.Sel.Name; {
				case strings.HasPrefix(name, "Eventually"):
					if limit, ok := arg.(*ast.SelectorExpr); i == 2 && (!ok || limit.Sel.Name != "Patience") {
						out = append(out, s.complain(arg.Pos(), "require.%s waits for testkit.Patience: a busy machine is slow", name))
					}
				case names(arg, "Since", "Until"),
					(strings.HasPrefix(name, "Less") || strings.HasPrefix(name, "Greater") || strings.HasPrefix(name, "In") || name == "WithinDuration") &&
						names(arg, "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour"):
					out = append(out, s.complain(arg.Pos(), "require.%s of a time: a busy machine is slow, so count steps, or measure at night", name))
				}
			}
		}
		return true
	}
	ast.Inspect(s.tree, visit)
	return out
}

// privateWords say nothing to a stranger: no type, function or method has one of them in its name, also with an s.
const privateWords = " herald crowd seat wake guest absentee clue sighting ground attend mute deaf blind untold told teller scarce leftover "

// checkNames finds declared names of types, functions and methods with a private word, between their capitals.
func checkNames(s *source) (out []string) {
	check := func(id *ast.Ident) {
		words := acronym.ReplaceAllString(capital.ReplaceAllString(id.Name, "$1 $2"), "$1 $2")
		for _, word := range strings.FieldsFunc(words, func(r rune) bool { return !unicode.IsLetter(r) }) {
			word = strings.ToLower(word)
			stem := strings.TrimSuffix(word, "ing")
			for _, one := range []string{word, strings.TrimSuffix(word, "s"), strings.TrimSuffix(word, "d"), strings.TrimSuffix(word, "ed"), stem, stem + "e"} {
				if strings.Contains(privateWords, " "+one+" ") {
					out = append(out, s.complain(id.Pos(), "%s: a stranger does not know the word %s", id.Name, one))
					break
				}
			}
		}
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			check(n.Name)
		case *ast.TypeSpec:
			check(n.Name)
		case *ast.InterfaceType:
			for _, method := range n.Methods.List {
				for _, name := range method.Names {
					check(name)
				}
			}
		}
		return true
	})
	return out
}

// capital and acronym are where a word of a name begins.
var capital, acronym = regexp.MustCompile(`([a-z0-9])([A-Z])`), regexp.MustCompile(`([A-Z]+)([A-Z][a-z])`)

func checkFormat(s *source) []string {
	formatted, err := format.Source(s.text)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", s.path, err)}
	}
	if !bytes.Equal(formatted, s.text) {
		return []string{s.path + ": not formatted (gofmt -w " + s.path + ")"}
	}
	return nil
}

// checkPackageComment wants a comment on the package made of these files, and a long one if others import it:
// model, invariants, cost, concurrency.
func checkPackageComment(files []*source) []string {
	const least = 5
	longest, dir := 0, files[0].dir()
	for _, s := range files {
		longest = max(longest, len(strings.Split(s.tree.Doc.Text(), "\n"))-1)
	}
	switch {
	case longest == 0:
		return []string{dir + ": the package has no package comment (doc.go)"}
	case longest < least && files[0].library() && !below(dir, "internal") && !strings.Contains(dir, "/internal/"):
		return []string{fmt.Sprintf("%s: package comment of %d lines: say model, invariants, cost and concurrency (at least %d lines)", dir, longest, least)}
	}
	return nil
}

// The patterns are put together from pieces because this file is read as well.
var (
	machinePath  = regexp.MustCompile(`(^|[^\w./-])/(` + "work|root|tmp" + `)/`)
	registryHost = regexp.MustCompile(`\b(` + strings.Join([]string{
		`(proxy|sum)\.` + `golang\.org`, `goproxy\.` + `(io|cn)`, `registry\.` + `npmjs`, `pypi\.` + `org`,
		`files\.` + `pythonhosted`, `crates\.` + `io`, `(hub|index)\.` + `docker`, `gh` + `cr\.io`, `artifact` + `ory`, `jf` + `rog`,
	}, "|") + `)\b`)
)

// checkText finds what is true on one machine only.
func checkText(name string, text []byte) []string {
	if bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
		return nil
	}
	var out []string
	for i, line := range bytes.Split(text, []byte("\n")) {
		if machinePath.Match(line) {
			out = append(out, fmt.Sprintf("%s:%d: absolute path of a machine", name, i+1))
		}
		if registryHost.Match(line) {
			out = append(out, fmt.Sprintf("%s:%d: host of a package registry", name, i+1))
		}
	}
	return out
}

func checkFolders(names []string) []string {
	var out []string
	for _, name := range names {
		if !slices.Contains(folders(), name) {
			out = append(out, fmt.Sprintf("folder %s/ is not one we know: move it, or add it to rules_test.go", name))
		}
	}
	return out
}

// checkClosure checks the dependencies of a package of the engine, indirect ones included,
// without the standard library.
func checkClosure(pkg string, deps []string) []string {
	var out []string
	for _, dep := range deps {
		ours := below(dep, module) && !below(dep, module+"/tool")
		if !ours && !slices.ContainsFunc(modulesOf(pkg), func(m string) bool { return below(dep, m) }) {
			out = append(out, fmt.Sprintf("%s depends on %s: it needs the standard library and %v alone", pkg, dep, modulesOf(pkg)))
		}
	}
	return out
}

// repository reads the files that belong to the repository, and the names of the
// top-level folders.
func repository(t *testing.T) (texts map[string][]byte, tops []string) {
	texts = make(map[string][]byte)
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case name == ".":
			return nil
		case ignored(name) && entry.IsDir():
			return fs.SkipDir
		case ignored(name) || !entry.IsDir() && !entry.Type().IsRegular():
			return nil
		case entry.IsDir():
			if !strings.Contains(name, "/") {
				tops = append(tops, name)
			}
			return nil
		}
		text, err := os.ReadFile(name)
		texts[name] = text
		return err
	})
	require.NoError(t, err)
	return texts, tops
}

// goSources parses the files that the go command would build or test.
func goSources(t *testing.T, texts map[string][]byte) []*source {
	var out []*source
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if path.Ext(name) != ".go" || slices.Contains(strings.Split(name, "/"), "testdata") {
			continue
		}
		s, err := parse(name, texts[name])
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		out = append(out, s)
	}
	return out
}

func report(t *testing.T, complaints []string) {
	t.Helper()
	slices.Sort(complaints)
	for _, c := range slices.Compact(complaints) {
		t.Error(c)
	}
}

func TestRepositoryRules(t *testing.T) {
	texts, tops := repository(t)
	sources := goSources(t, texts)
	require.NotEmpty(t, sources)

	for _, r := range fileRules() {
		t.Run(r.name, func(t *testing.T) {
			var complaints []string
			for _, s := range sources {
				complaints = append(complaints, r.check(s)...)
			}
			report(t, complaints)
		})
	}
	t.Run("package comments", func(t *testing.T) {
		packages := make(map[string][]*source)
		for _, s := range sources {
			if !s.test() {
				packages[s.dir()] = append(packages[s.dir()], s)
			}
		}
		for _, dir := range slices.Sorted(maps.Keys(packages)) {
			report(t, checkPackageComment(packages[dir]))
		}
	})
	t.Run("machine paths and registries", func(t *testing.T) {
		var complaints []string
		for name, text := range texts {
			complaints = append(complaints, checkText(name, text)...)
		}
		report(t, complaints)
	})
	t.Run("folders", func(t *testing.T) { report(t, checkFolders(tops)) })
	t.Run("closure of the engine", func(t *testing.T) {
		for _, pkg := range engine() {
			if !slices.ContainsFunc(sources, func(s *source) bool { return s.dir() == pkg && !s.test() }) {
				continue // not written yet
			}
			cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./"+pkg)
			stderr := new(bytes.Buffer)
			cmd.Stderr = stderr
			deps, err := cmd.Output()
			require.NoError(t, err, "%s", stderr)
			report(t, checkClosure(pkg, strings.Fields(string(deps))))
		}
	})
}
