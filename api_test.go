package cbl1_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/constant"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The snapshot of what other modules can name: api/<package>.txt has a line for
// every exported constant, variable, function, type, field and method. A change
// of the surface is then a change of a file that a reviewer reads. The listing
// is made from the source alone, the same on every machine and GOARCH.

const (
	apiFolder  = "api"
	apiCommand = "go test -run TestAPI -update ."
)

var update = flag.Bool("update", false, "TestAPI: write api/*.txt instead of comparing")

func TestAPI(t *testing.T) {
	surface, err := publicSurface()
	require.NoError(t, err)
	require.NotEmpty(t, surface)
	old, err := readAPI()
	require.NoError(t, err)
	if *update {
		require.NoError(t, writeAPI(surface, old))
		return
	}
	names := 0
	for _, file := range slices.Sorted(maps.Keys(surface)) {
		names += len(surface[file])
		if diff := lineDiff(old[file], surface[file]); len(diff) > 0 {
			t.Errorf("the exported names changed:\n%s: (- was, + is)\n%s\nif this is meant: %s (or make api)", file, strings.Join(diff, "\n"), apiCommand)
		}
	}
	for file := range old {
		if surface[file] == nil {
			t.Errorf("%s: no such package, or it exports nothing; if this is meant: %s (or make api)", file, apiCommand)
		}
	}
	t.Logf("%d lines in %d packages", names, len(surface))
}

// A line for everything that somebody else can write down, and none for the rest.
func TestAPILines(t *testing.T) {
	s, err := parse("x/x.go", []byte(`package x

import "io"

const (
	One Size = 1 << iota
	Two
	hidden
	Name = "x" + "y"
)

const Far = io.Unknown

var ErrX, errY = io.EOF, io.EOF

type (
	Size   uint8
	Box[T any, U comparable] struct {
		A, B  T
		c     U
		inner
		*io.PipeReader
	}
	inner  struct{ Deep, deep map[string]struct{ N int } }
	Do     interface { io.Closer; Do(n int) (ok bool); do() }
	Same   = io.Writer
	Fun    func(...int) error
)

func Make[T any](a, b T, rest ...Size) (*Box[T, int], error) { return nil, nil }
func make2() {}
func (b *Box[T, U]) Put(v T) {}
func (b Box[T, U]) put() {}
func (inner) Promoted() {}
func (inner) not() {}
func (s Size) String() string { return "" }
`))
	require.NoError(t, err)
	p := &apiPackage{name: "x", set: s.set, files: []*ast.File{s.tree}}
	p.check("x", new(apiWorld))
	require.Equal(t, []string{
		`const Far = io.Unknown`,
		`const Name = "xy"`,
		`const One Size = 1`,
		`const Two Size = 2`,
		`field Box.A T`,
		`field Box.B T`,
		`field Box.Deep map[string]struct{ N int }`,
		`field Box.PipeReader embedded *io.PipeReader`,
		`func Make[T any](a, b T, rest ...Size) (*Box[T, int], error)`,
		`method (*Box) Put(v T)`,
		`method (Box) Promoted()`,
		`method (Do) Do(n int) (ok bool)`,
		`method (Do) embeds io.Closer`,
		`method (Do) unexported`,
		`method (Size) String() string`,
		`type Box[T any, U comparable] struct`,
		`type Do interface`,
		`type Fun func(...int) error`,
		`type Same = io.Writer`,
		`type Size uint8`,
		`var ErrX = io.EOF`,
	}, p.lines())
	require.Equal(t, []string{"- b", "+ c"}, lineDiff([]string{"a", "b"}, []string{"a", "c"}))
}

// publicSurface maps the name of each file of the snapshot to its lines. The
// packages are found by walking the module; one without exported names has none.
func publicSurface() (map[string][]string, error) {
	world := &apiWorld{set: token.NewFileSet(), done: make(map[string]*apiPackage)}
	surface := make(map[string][]string)
	err := filepath.WalkDir(".", func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		dir = filepath.ToSlash(dir)
		if dir != "." && !publicFolder(dir) {
			return fs.SkipDir
		}
		p, err := world.load(dir)
		if err != nil || p == nil || p.name == "main" {
			return err
		}
		if lines := p.lines(); len(lines) > 0 {
			surface[apiFile(dir)] = lines
		}
		return nil
	})
	return surface, err
}

// publicFolder reports whether other modules can import what is in a folder.
func publicFolder(dir string) bool {
	switch base := path.Base(dir); {
	case base == "internal", base == "testdata", base == "vendor", dir == "tool/cmd", dir == "examples":
		return false
	case base[0] == '.', base[0] == '_', ignored(dir):
		return false
	}
	// Another module has a go.mod of its own.
	_, err := os.Stat(path.Join(dir, "go.mod"))
	return err != nil
}

func apiFile(dir string) string {
	return apiFolder + "/" + strings.ReplaceAll(dir, "/", "-") + ".txt"
}

func readAPI() (map[string][]string, error) {
	names, err := filepath.Glob(apiFolder + "/*.txt")
	if err != nil {
		return nil, err
	}
	old := make(map[string][]string)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		// A clone with CRLF line ends is the same text.
		lines := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
		old[filepath.ToSlash(name)] = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	}
	return old, nil
}

func writeAPI(surface, old map[string][]string) error {
	if err := os.MkdirAll(apiFolder, 0o777); err != nil {
		return err
	}
	for name := range old {
		if surface[name] == nil {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	for name, lines := range surface {
		if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// lineDiff compares two sorted lists, in which no line is there twice.
func lineDiff(was, is []string) []string {
	var out []string
	for _, line := range was {
		if !slices.Contains(is, line) {
			out = append(out, "- "+line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			out = append(out, "+ "+line)
		}
	}
	return out
}

// apiWorld loads packages of this module. Types are checked for the values of
// constants only, so what comes from other modules may be unknown.
type apiWorld struct {
	set  *token.FileSet
	done map[string]*apiPackage // by folder; nil: no Go files
}

type apiPackage struct {
	name  string
	set   *token.FileSet
	files []*ast.File
	types *types.Package
	specs map[string]*ast.TypeSpec
}

func (w *apiWorld) load(dir string) (*apiPackage, error) {
	if p, ok := w.done[dir]; ok {
		return p, nil
	}
	w.done[dir] = nil
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	// One platform, whichever runs the test, and no build tags.
	where := build.Default
	where.GOOS, where.GOARCH, where.BuildTags = "linux", "amd64", nil
	p := &apiPackage{set: w.set}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if ok, err := where.MatchFile(dir, name); err != nil || !ok {
			if err != nil {
				return nil, err
			}
			continue
		}
		file, err := parser.ParseFile(w.set, path.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.files, p.name = append(p.files, file), file.Name.Name
	}
	if len(p.files) == 0 {
		return nil, nil
	}
	p.check(path.Join(module, dir), w)
	w.done[dir] = p
	return p, nil
}

// Import makes an apiWorld a types.Importer.
func (w *apiWorld) Import(name string) (*types.Package, error) {
	if below(name, module) {
		p, err := w.load(strings.TrimPrefix(strings.TrimPrefix(name, module), "/"))
		if err == nil && p == nil {
			err = fmt.Errorf("no package %s", name)
		}
		if err != nil {
			return nil, err
		}
		return p.types, nil
	}
	return nil, fmt.Errorf("%s is not loaded", name)
}

// check fills in types and specs. Errors are expected and nobody's business
// here: other modules are not loaded.
func (p *apiPackage) check(name string, from types.Importer) {
	config := types.Config{
		Importer:         from,
		IgnoreFuncBodies: true,
		Sizes:            types.SizesFor("gc", "amd64"),
		Error:            func(error) {},
	}
	p.types, _ = config.Check(name, p.set, p.files, nil)
	p.specs = make(map[string]*ast.TypeSpec)
	p.eachDecl(func(decl ast.Decl) {
		if group, ok := decl.(*ast.GenDecl); ok && group.Tok == token.TYPE {
			for _, spec := range group.Specs {
				spec := spec.(*ast.TypeSpec)
				p.specs[spec.Name.Name] = spec
			}
		}
	})
}

func (p *apiPackage) eachDecl(do func(ast.Decl)) {
	for _, file := range p.files {
		for _, decl := range file.Decls {
			do(decl)
		}
	}
}

// lines is everything exported, sorted.
func (p *apiPackage) lines() []string {
	var out []string
	p.eachDecl(func(decl ast.Decl) {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil && decl.Name.IsExported() {
				out = append(out, "func "+p.function(decl))
			}
		case *ast.GenDecl:
			switch decl.Tok {
			case token.CONST, token.VAR:
				out = append(out, p.values(decl)...)
			case token.TYPE:
				for _, spec := range decl.Specs {
					if spec := spec.(*ast.TypeSpec); spec.Name.IsExported() {
						out = append(out, p.typeLines(spec)...)
					}
				}
			}
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// function is the name and signature of a function or method.
func (p *apiPackage) function(decl *ast.FuncDecl) string {
	return decl.Name.Name + strings.TrimPrefix(p.print(decl.Type), "func")
}

// values has a line for each exported constant or variable of a group. In a
// group of constants, one without type and value repeats the one before.
func (p *apiPackage) values(group *ast.GenDecl) []string {
	var out []string
	last := new(ast.ValueSpec)
	for _, spec := range group.Specs {
		spec := spec.(*ast.ValueSpec)
		if group.Tok == token.VAR || spec.Type != nil || len(spec.Values) > 0 {
			last = spec
		}
		for i, name := range spec.Names {
			if name.IsExported() {
				out = append(out, group.Tok.String()+" "+name.Name+p.valueText(name.Name, last, i))
			}
		}
	}
	return out
}

func (p *apiPackage) valueText(name string, spec *ast.ValueSpec, i int) string {
	text := ""
	if spec.Type != nil {
		text = " " + p.print(spec.Type)
	}
	if c, ok := p.types.Scope().Lookup(name).(*types.Const); ok && c.Val().Kind() != constant.Unknown {
		// Spelled out, in a group without types: the first one has a conversion.
		if named, ok := c.Type().(*types.Named); ok && text == "" && named.Obj().Pkg() == p.types {
			text = " " + named.Obj().Name()
		}
		return text + " = " + c.Val().ExactString()
	}
	if spec.Type == nil && i < len(spec.Values) {
		text += " = " + p.print(spec.Values[i])
	}
	return text
}

// typeLines is a type, its exported fields and its methods.
func (p *apiPackage) typeLines(spec *ast.TypeSpec) []string {
	name := spec.Name.Name
	head := "type " + name + p.typeParameters(spec)
	switch under := spec.Type.(type) {
	case *ast.StructType:
		out := append(p.methods(name, name), head+" struct")
		return append(out, p.fields(name, under)...)
	case *ast.InterfaceType:
		return append(p.interfaceMethods(name, under), head+" interface")
	}
	if spec.Assign.IsValid() {
		return []string{head + " = " + p.print(spec.Type)}
	}
	return append(p.methods(name, name), head+" "+p.print(spec.Type))
}

func (p *apiPackage) typeParameters(spec *ast.TypeSpec) string {
	if spec.TypeParams == nil {
		return ""
	}
	text := p.print(&ast.FuncType{Params: spec.TypeParams})
	return "[" + strings.TrimSuffix(strings.TrimPrefix(text, "func("), ")") + "]"
}

// fields are the exported fields of a struct, also those that it has from an
// unexported type of the package that is embedded in it.
func (p *apiPackage) fields(name string, st *ast.StructType) []string {
	var out []string
	for _, field := range st.Fields.List {
		for _, ident := range field.Names {
			if ident.IsExported() {
				out = append(out, "field "+name+"."+ident.Name+" "+p.print(field.Type))
			}
		}
		if len(field.Names) > 0 {
			continue
		}
		embedded := receiver(field.Type)
		if i := strings.LastIndexByte(p.print(field.Type), '.'); i >= 0 {
			embedded = p.print(field.Type)[i+1:]
		}
		if ast.IsExported(embedded) {
			out = append(out, "field "+name+"."+embedded+" embedded "+p.print(field.Type))
			continue
		}
		out = append(out, p.methods(embedded, name)...)
		if inner := p.specs[embedded]; inner != nil {
			if st, ok := inner.Type.(*ast.StructType); ok {
				out = append(out, p.fields(name, st)...)
			}
		}
	}
	return out
}

// methods are the exported methods declared on a type, written as those of the
// type that has them.
func (p *apiPackage) methods(declared, has string) []string {
	var out []string
	p.eachDecl(func(decl ast.Decl) {
		fun, ok := decl.(*ast.FuncDecl)
		if !ok || fun.Recv == nil || !fun.Name.IsExported() || receiver(fun.Recv.List[0].Type) != declared {
			return
		}
		star := ""
		if _, ok := fun.Recv.List[0].Type.(*ast.StarExpr); ok {
			star = "*"
		}
		out = append(out, "method ("+star+has+") "+p.function(fun))
	})
	return out
}

func (p *apiPackage) interfaceMethods(name string, in *ast.InterfaceType) []string {
	var out []string
	for _, field := range in.Methods.List {
		if len(field.Names) == 0 {
			out = append(out, "method ("+name+") embeds "+p.print(field.Type))
			continue
		}
		// Nobody outside can implement one with an unexported method.
		if !field.Names[0].IsExported() {
			out = append(out, "method ("+name+") unexported")
			continue
		}
		out = append(out, "method ("+name+") "+field.Names[0].Name+strings.TrimPrefix(p.print(field.Type), "func"))
	}
	return out
}

// print is an expression on one line, without comments.
func (p *apiPackage) print(node ast.Node) string {
	var buf bytes.Buffer
	if err := (&printer.Config{Mode: printer.RawFormat}).Fprint(&buf, p.set, node); err != nil {
		return "?" + err.Error()
	}
	return strings.Join(strings.Fields(buf.String()), " ")
}
