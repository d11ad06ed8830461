package planted

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Bug is one known bug.
type Bug struct {
	Name   string
	Breaks string   // the damage, in plain words
	Tests  []string // packages as the go command spells them, the cheapest first
	Race   string   // the tests to run under the race detector, or ""
	Edits  []Edit
}

// Edit replaces a text that occurs once in a declaration or in a file.
type Edit struct {
	Folder string // of the declaration, from the root of the repository
	Name   string // of the declaration, or ""
	File   string // without a declaration: the file, from the root of the repository
	Old    string
	New    string
}

// where names the place of the edit for people.
func (e Edit) where() string {
	if e.Name == "" {
		return e.File
	}
	return e.Name + " in " + e.Folder
}

// SyntaxError is a line of a file of bugs that cannot be read.
type SyntaxError struct {
	File   string
	Line   int // from 1
	Reason string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

// Read reads all files of bugs below the root of bugs, in the order of their names. It returns
// a *SyntaxError or an error of fs.
func Read(bugs fs.FS) ([]Bug, error) {
	var all []Bug
	lines := make(map[string]int)
	err := fs.WalkDir(bugs, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(bugs, name)
		if err != nil {
			return err
		}
		folder, ok := strings.CutSuffix(name, ".txt")
		if !ok {
			return &SyntaxError{name, 1, "not a .txt file"}
		}
		r := reader{file: name, folder: folder, seen: lines}
		for line := range strings.Lines(string(text)) {
			r.line++
			if err := r.take(strings.TrimSuffix(line, "\n")); err != nil {
				return err
			}
		}
		if err := r.end(); err != nil {
			return err
		}
		all = append(all, r.bugs...)
		return nil
	})
	return all, err
}

// reader reads one file of bugs.
type reader struct {
	file, folder string
	line         int
	seen         map[string]int // the names of bugs in all files
	bugs         []Bug

	bug   *Bug // the block that is being read, or nil
	place Edit // of the next edits, without texts
	mark  byte // of the line before: '-', '+', or 0
}

func (r *reader) fail(reason string, args ...any) error {
	return &SyntaxError{r.file, r.line, fmt.Sprintf(reason, args...)}
}

// take reads the next line.
func (r *reader) take(line string) error {
	switch {
	case line == "":
		return r.end()
	case line[0] == '#':
		return nil
	case r.bug == nil:
		return r.begin(line)
	case r.bug.Breaks == "":
		r.bug.Breaks = line
		return nil
	case line[0] == '-', line[0] == '+':
		return r.edit(line[0], strings.TrimPrefix(line[1:], " "))
	}
	r.mark = 0
	key, value, _ := strings.Cut(line, ": ")
	switch {
	case value == "":
		return r.fail("neither key: value nor a line of an edit: %q", line)
	case key == "tests":
		r.bug.Tests = strings.Fields(value)
		if slices.ContainsFunc(r.bug.Tests, func(p string) bool { return !strings.HasPrefix(p, "./") }) {
			return r.fail("packages begin with ./: %s", value)
		}
	case key == "race":
		r.bug.Race = value
	case key == "in":
		r.place = Edit{Folder: r.folder, Name: value}
	case key == "file" && strings.Contains(value, "/"):
		r.place = Edit{File: path.Clean(value)}
	case key == "file":
		r.place = Edit{File: path.Join(r.folder, value)}
	default:
		return r.fail("unknown key %q", key)
	}
	return nil
}

// begin starts a block.
func (r *reader) begin(name string) error {
	if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(name) {
		return r.fail("not a name of a bug: %q", name)
	}
	if r.seen[name]++; r.seen[name] > 1 {
		return r.fail("a second bug is named %s", name)
	}
	r.bug, r.place, r.mark = &Bug{Name: name}, Edit{}, 0
	return nil
}

// edit adds a line to an edit.
func (r *reader) edit(mark byte, text string) error {
	if r.place == (Edit{}) {
		return r.fail("an edit before in: or file:")
	}
	if mark == '+' && r.mark == 0 {
		return r.fail("a replacement without a searched text")
	}
	if mark == '-' && r.mark != '-' {
		r.bug.Edits = append(r.bug.Edits, r.place)
	}
	edit := &r.bug.Edits[len(r.bug.Edits)-1]
	to := &edit.Old
	if mark == '+' {
		to = &edit.New
	}
	if mark == r.mark {
		*to += "\n"
	}
	*to += text
	r.mark = mark
	return nil
}

// end ends a block.
func (r *reader) end() error {
	b := r.bug
	if b == nil {
		return nil
	}
	r.bug = nil
	if b.Breaks == "" || len(b.Edits) == 0 {
		return r.fail("%s: wants a line of plain words, a place and an edit", b.Name)
	}
	for _, e := range b.Edits {
		if slices.Equal(tokens([]byte(e.Old)), tokens([]byte(e.New))) {
			return r.fail("%s: an edit of %s changes nothing", b.Name, e.where())
		}
		if strings.HasSuffix(e.File, "_test.go") {
			return r.fail("%s: changes a test", b.Name)
		}
	}
	if b.Tests == nil {
		b.Tests = []string{"./" + r.folder}
	}
	r.bugs = append(r.bugs, *b)
	return nil
}
