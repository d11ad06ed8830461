package planted

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// StaleError is an edit that does not fit the source any more.
type StaleError struct {
	Bug   string
	Edit  Edit
	Found int // how often the text occurs in its place, not 1; or -1: there is no such place
}

func (e *StaleError) Error() string {
	if e.Found < 0 {
		return fmt.Sprintf("%s: there is no %s", e.Bug, e.Edit.where())
	}
	return fmt.Sprintf("%s: found %d times in %s, not once: %q", e.Bug, e.Found, e.Edit.where(), e.Edit.Old)
}

// Tree is the source of a repository. It reads each file once.
type Tree struct {
	root    fs.FS
	folders map[string][]*file
}

// NewTree returns the tree below root.
func NewTree(root fs.FS) *Tree { return &Tree{root, make(map[string][]*file)} }

// file is one file of the tree.
type file struct {
	path  string // from the root
	text  []byte
	decls map[string][]span // of Go source, by name
	uses  map[string]bool   // names before a dot in Go source: packages and others
}

// span is the bytes [start, end) of a file.
type span struct{ start, end int }

// Plant returns the files that the bug changes, by path from the root, with the bug in them.
// The tree stays as it is. A *StaleError says that an edit has lost its place.
func (t *Tree) Plant(b Bug) (map[string][]byte, error) {
	before, changed := make(map[string]*file), make(map[string]*file)
	for _, e := range b.Edits {
		was, is, err := t.edit(changed, b.Name, e)
		if err != nil {
			return nil, err
		}
		if before[is.path] == nil {
			before[is.path] = was
		}
		changed[is.path] = is
	}
	texts := make(map[string][]byte)
	for name, f := range changed {
		text, err := f.tidy(before[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", b.Name, name, err)
		}
		texts[name] = text
	}
	return texts, nil
}

// edit returns the file that the edit changes, before and after. The files in changed have
// earlier changes of the same bug.
func (t *Tree) edit(changed map[string]*file, bug string, e Edit) (was, is *file, err error) {
	files, err := t.candidates(e)
	if err != nil {
		return nil, nil, err
	}
	stale := &StaleError{Bug: bug, Edit: e, Found: -1}
	var at span
	for _, f := range files {
		if c := changed[f.path]; c != nil {
			f = c
		}
		places := f.decls[e.Name]
		if e.Name == "" {
			places = []span{{0, len(f.text)}}
		}
		for _, place := range places {
			found := occurrences(f.text, place, e.Old)
			stale.Found = max(stale.Found, 0) + len(found)
			if len(found) > 0 {
				was, at = f, found[0]
			}
		}
	}
	if stale.Found != 1 {
		return nil, nil, stale
	}
	text := cut(was.text, at)
	if e.New != "" {
		text = slices.Concat(was.text[:at.start], []byte(e.New), was.text[at.end:])
	}
	if is, err = parse(was.path, text); err != nil {
		return nil, nil, fmt.Errorf("%s: %s after the edit: %w", bug, e.where(), err)
	}
	return was, is, nil
}

// candidates returns the files that may have the place of an edit.
func (t *Tree) candidates(e Edit) ([]*file, error) {
	if e.Name != "" {
		return t.folder(e.Folder)
	}
	text, err := fs.ReadFile(t.root, e.File)
	if err != nil {
		return nil, err
	}
	f, err := parse(e.File, text)
	return []*file{f}, err
}

// folder returns the Go files of a folder, without tests.
func (t *Tree) folder(folder string) ([]*file, error) {
	if files, ok := t.folders[folder]; ok {
		return files, nil
	}
	entries, err := fs.ReadDir(t.root, folder)
	if err != nil {
		return nil, err
	}
	var files []*file
	for _, entry := range entries {
		name := path.Join(folder, entry.Name())
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(t.root, name)
		if err != nil {
			return nil, err
		}
		f, err := parse(name, text)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	t.folders[folder] = files
	return files, nil
}

// parse returns a file with its declarations. A file that is not Go has none.
func parse(name string, text []byte) (*file, error) {
	f := &file{path: name, text: text, decls: make(map[string][]span), uses: make(map[string]bool)}
	if path.Ext(name) != ".go" {
		return f, nil
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	place := func(node ast.Node) span {
		return span{set.Position(node.Pos()).Offset, set.Position(node.End()).Offset}
	}
	add := func(name string, node ast.Node) { f.decls[name] = append(f.decls[name], place(node)) }
	firstWord := regexp.MustCompile(`\w+`)
	for _, decl := range tree.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			name := decl.Name.Name
			if decl.Recv != nil && len(decl.Recv.List) == 1 {
				at := place(decl.Recv.List[0].Type) // *Type, or *Type[K]
				name = string(firstWord.Find(text[at.start:at.end])) + "." + name
			}
			add(name, decl)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name.Name, spec)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add(name.Name, spec)
					}
				}
			}
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				f.uses[x.Name] = true
			}
		}
		return true
	})
	return f, nil
}

// lexeme is one token of a text. Equal tokens have equal texts. A byte that is no Go is a
// token too.
type lexeme struct {
	text string
	at   int // its first byte; 0 where it does not count
}

// lex splits a text into tokens, without comments and without the ends of lines.
func lex(text []byte) []lexeme {
	set := token.NewFileSet()
	in := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(in, text, func(token.Position, string) {}, 0)
	var out []lexeme
	for {
		pos, tok, literal := s.Scan()
		switch {
		case tok == token.EOF:
			return out
		case tok == token.SEMICOLON && literal != ";":
			continue
		case literal == "":
			literal = tok.String()
		}
		out = append(out, lexeme{literal, in.Offset(pos)})
	}
}

// tokens returns the texts of the tokens of a text.
func tokens(text []byte) []string {
	var out []string
	for _, l := range lex(text) {
		out = append(out, l.text)
	}
	return out
}

// occurrences returns where a text is in a part of another, compared by tokens. Occurrences
// may overlap.
func occurrences(text []byte, in span, old string) []span {
	have, want := lex(text[in.start:in.end]), tokens([]byte(old))
	if len(want) == 0 {
		return nil
	}
	var out []span
next:
	for i := 0; i+len(want) <= len(have); i++ {
		for k, w := range want {
			if have[i+k].text != w {
				continue next
			}
		}
		last := have[i+len(want)-1]
		out = append(out, span{in.start + have[i].at, in.start + last.at + len(last.text)})
	}
	return out
}

// tidy returns the text of a file as gofmt writes it. It leaves out imports that were used
// before and are not used now.
func (f *file) tidy(before *file) ([]byte, error) {
	if path.Ext(f.path) != ".go" {
		return f.text, nil
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, f.path, f.text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	text := bytes.Clone(f.text)
	for _, decl := range slices.Backward(tree.Decls) {
		decl := decl.(*ast.GenDecl)
		for _, spec := range slices.Backward(decl.Specs) {
			name := importName(spec.(*ast.ImportSpec))
			if !before.uses[name] || f.uses[name] {
				continue
			}
			var out ast.Node = spec
			if !decl.Lparen.IsValid() {
				out = decl
			}
			text = cut(text, span{set.Position(out.Pos()).Offset, set.Position(out.End()).Offset})
		}
	}
	return format.Source(text)
}

// importName returns the name by which a file uses an import, as far as the import shows it.
func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	full, _ := strconv.Unquote(spec.Path.Value) // the parser has accepted it
	return path.Base(full)
}

// cut returns a text without a part, and without the line of the part if it has nothing else.
func cut(text []byte, part span) []byte {
	text = slices.Concat(text[:part.start], text[part.end:])
	start := bytes.LastIndexByte(text[:part.start], '\n') + 1
	length := bytes.IndexByte(text[part.start:], '\n')
	if length < 0 || len(bytes.TrimSpace(text[start:part.start+length])) > 0 {
		return text
	}
	return slices.Delete(text, start, part.start+length+1)
}
