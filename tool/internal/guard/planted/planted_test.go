package planted

import (
	"fmt"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func files(texts map[string]string) fs.FS {
	out := make(fstest.MapFS)
	for name, text := range texts {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func TestRead(t *testing.T) {
	got, err := Read(files(map[string]string{
		"a.txt": `# the bugs of a

one-thing
one thing is lost
in: f
- x
- 	y
+ z
- last()
in: T.m
- 1
+ 2
+
+ 3
`,
		"a/b.txt": `other-2
another thing
tests: ./a/b ./c
race: TestA|TestB
file: page.js
- x
+ y
file: docs/x.json
- x
+ y

third
and a third
in: T
- x
`,
	}))
	require.NoError(t, err)
	require.Equal(t, []Bug{
		{Name: "other-2", Breaks: "another thing", Tests: []string{"./a/b", "./c"}, Race: "TestA|TestB", Edits: []Edit{
			{File: "a/b/page.js", Old: "x", New: "y"},
			{File: "docs/x.json", Old: "x", New: "y"},
		}},
		{Name: "third", Breaks: "and a third", Tests: []string{"./a/b"}, Edits: []Edit{{Folder: "a/b", Name: "T", Old: "x"}}},
		{Name: "one-thing", Breaks: "one thing is lost", Tests: []string{"./a"}, Edits: []Edit{
			{Folder: "a", Name: "f", Old: "x\n\ty", New: "z"},
			{Folder: "a", Name: "f", Old: "last()"},
			{Folder: "a", Name: "T.m", Old: "1", New: "2\n\n3"},
		}},
	}, got)
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.txt", "A Name\nwords\nin: f\n- x\n", `a.txt:1: not a name of a bug: "A Name"`},
		{"a.txt", "a\nwords\nin: f\n- x\n\na\n", "a.txt:6: a second bug is named a"},
		{"a.txt", "a\nwords\n- x\n", "a.txt:3: an edit before in: or file:"},
		{"a.txt", "a\nwords\nin: f\n+ x\n", "a.txt:4: a replacement without a searched text"},
		{"a.txt", "a\nwords\nin: f\n- x\nin: g\n+ x\n", "a.txt:6: a replacement without a searched text"},
		{"a.txt", "a\nwords\nat: f\n- x\n", `a.txt:3: unknown key "at"`},
		{"a.txt", "a\nwords\nin:\n- x\n", `a.txt:3: neither key: value nor a line of an edit: "in:"`},
		{"a.txt", "a\nwords\ntests: ./a b\nin: f\n- x\n", "a.txt:3: packages begin with ./: ./a b"},
		{"a.txt", "a\nwords\nin: f\n", "a.txt:3: a: wants a line of plain words, a place and an edit"},
		{"a.txt", "a\n", "a.txt:1: a: wants a line of plain words, a place and an edit"},
		{"a.txt", "a\nwords\nin: f\n- x + 1\n+   x+1 // comment\n", "a.txt:5: a: an edit of f in a changes nothing"},
		{"a.txt", "a\nwords\nfile: f_test.go\n- x\n", "a.txt:4: a: changes a test"},
		{"a.go", "", "a.go:1: not a .txt file"},
	} {
		_, err := Read(files(map[string]string{c.name: c.text}))
		var syntax *SyntaxError
		require.ErrorAs(t, err, &syntax, c.text)
		require.EqualError(t, err, c.want)
	}
}

const source = `package a

import (
	"fmt"
	"strings"
)

const (
	one = 1
	two = 2
)

type table[K comparable] struct{ keys []K }

// add says a+b twice: a+b.
func add(a, b int) int { return a + b }

func (t *table[K]) String() string {
	if len(t.keys) == 0 { // none
		// nothing to say
		return "none"
	}
	say := strings.ToUpper
	return say(fmt.Sprint(t.keys))
}
`

func TestPlant(t *testing.T) {
	const other = "package a\n\nimport \"os\"\n\nfunc exit() { os.Exit(1) }\n"
	tree := NewTree(files(map[string]string{"a/a.go": source, "a/b.go": other, "a/a_test.go": source, "a/page.js": "let a = 'x' + 1\n"}))
	for _, c := range []struct {
		name  string
		edits []Edit
		file  string
		want  string // replaces the text "from" of the file
		from  string
	}{
		{"a function", []Edit{{Name: "add", Old: "a+b", New: "a-b"}}, "a/a.go", "return a - b", "return a + b"},
		{"a method of a generic type", []Edit{{Name: "table.String", Old: "len(t.keys)==0", New: "false"}}, "a/a.go", "if false {", "if len(t.keys) == 0 {"},
		{"one constant of several", []Edit{{Name: "two", Old: "2", New: "3"}}, "a/a.go", "two = 3", "two = 2"},
		{"a type", []Edit{{Name: "table", Old: "[]K", New: "[]any"}}, "a/a.go", "keys []any", "keys []K"},
		{"in another file", []Edit{{Name: "exit", Old: "Exit(1)", New: "Exit(0)"}}, "a/b.go", "Exit(0)", "Exit(1)"},
		{"a file", []Edit{{File: "a/page.js", Old: "'x'+1", New: "'y'"}}, "a/page.js", "'y'", "'x' + 1"},
		{"lines go", []Edit{{Name: "table.String", Old: "if len(t.keys) == 0 {\n\treturn \"none\"\n}"}}, "a/a.go", "",
			"\tif len(t.keys) == 0 { // none\n\t\t// nothing to say\n\t\treturn \"none\"\n\t}\n"},
		{"an edit after an edit", []Edit{{Name: "add", Old: "a + b", New: "a - b"}, {Name: "add", Old: "a - b", New: "b\n\treturn a - b"}},
			"a/a.go", "{\n\treturn b\n\treturn a - b\n}", "{ return a + b }"},
		{"an import without a use goes", []Edit{{Name: "table.String", Old: "say := strings.ToUpper"}, {Name: "table.String", Old: "say(fmt.Sprint(t.keys))", New: `fmt.Sprint("x")`}},
			"a/a.go", "import (\n\t\"fmt\"\n)", "import (\n\t\"fmt\"\n\t\"strings\"\n)"},
		{"the only import goes", []Edit{{Name: "exit", Old: "os.Exit(1)"}}, "a/b.go", "package a\n\nfunc exit() {}", "package a\n\nimport \"os\"\n\nfunc exit() { os.Exit(1) }"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bug := Bug{Name: "bug", Edits: c.edits}
			for i := range bug.Edits {
				bug.Edits[i].Folder = "a"
			}
			got, err := tree.Plant(bug)
			require.NoError(t, err)
			require.Len(t, got, 1)
			require.Contains(t, string(got[c.file]), c.want)
			require.NotContains(t, string(got[c.file]), c.from)
		})
	}
}

func TestPlantRefuses(t *testing.T) {
	tree := NewTree(files(map[string]string{"a/a.go": source, "a/b.go": "//go:build other\n\npackage a\n\nfunc add(a, b int) int { return b + b }\n"}))
	for _, c := range []struct {
		edit  Edit
		found int
	}{
		{Edit{Name: "gone", Old: "x"}, -1},
		{Edit{Name: "add", Old: "a - b"}, 0},
		{Edit{Name: "add", Old: "says"}, 0}, // a comment
		{Edit{Name: "add", Old: "int"}, 4},  // in the files of all builds
		{Edit{File: "a/a.go", Old: "return"}, 3},
	} {
		c.edit.Folder = "a"
		_, err := tree.Plant(Bug{Name: "bug", Edits: []Edit{c.edit}})
		var stale *StaleError
		require.ErrorAs(t, err, &stale, "%v", c.edit)
		require.Equal(t, &StaleError{"bug", c.edit, c.found}, stale)
	}
	_, err := tree.Plant(Bug{Name: "bug", Edits: []Edit{{Folder: "a", Name: "add", Old: "a + b", New: "a +"}}})
	require.ErrorContains(t, err, "bug: add in a after the edit: ")
	_, err = tree.Plant(Bug{Name: "bug", Edits: []Edit{{Folder: "b", Name: "add", Old: "a + b", New: "a"}}})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// Every bug has its place in the source of today. A bug that has lost it is rewritten for the
// new code, not deleted: its tests would be lost without a sign.
func TestBugsHaveTheirPlace(t *testing.T) {
	root := os.DirFS("../../../..")
	bugs, err := Read(os.DirFS("bugs"))
	require.NoError(t, err)
	require.Greater(t, len(bugs), 500)
	tree := NewTree(root)
	for _, b := range bugs {
		_, err := tree.Plant(b)
		if err != nil {
			t.Error(err)
		}
		for _, p := range b.Tests {
			if _, err := fs.Stat(root, p[len("./"):]); err != nil {
				t.Error(fmt.Errorf("%s: %w", b.Name, err))
			}
		}
	}
}
