// Command cbl1planted plants known bugs, one at a time, into a copy of this repository, and
// runs the quick tests that have to find them. It starts in the root of the repository:
//
//	cbl1planted              every bug: one that no test finds fails the run
//	cbl1planted NAME...      these bugs only
//	cbl1planted -sample N    N of them; -seed chooses which
//	cbl1planted -check       only whether every bug still has its place in the source, and compiles
//
// Package planted says how bugs are written down. Exit 1: a bug was not found, is stale, or
// does not compile; or tests fail without any bug. Exit 2: wrong usage. Exit 3: all is well,
// but bugs for the race detector were skipped, for want of a C compiler.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cbl1/cbl1/tool/internal/guard/planted"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, ".", os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, root string, args []string, out, errw io.Writer) int {
	flags := flag.NewFlagSet("cbl1planted", flag.ContinueOnError)
	flags.SetOutput(errw)
	check := flags.Bool("check", false, "run no test, only look whether every bug has its place and compiles")
	sample := flags.Int("sample", 0, "plant only so many bugs; every bug must have its place")
	seed := flags.String("seed", "", "a `text` that chooses the bugs of a sample")
	if flags.Parse(args) != nil {
		return 2
	}
	bugs, err := planted.Read(os.DirFS(filepath.Join(root, "tool/internal/guard/planted/bugs")))
	if err == nil {
		bugs, err = choose(bugs, flags.Args())
	}
	if err != nil {
		fmt.Fprintln(errw, "planted:", err)
		return 2
	}
	compiler, err := newCompiler(ctx, root)
	if err != nil {
		fmt.Fprintln(errw, "planted:", err)
		return 1
	}
	if err := compiler.fit(bugs); err != nil {
		fmt.Fprintf(errw, "planted: write these anew for today's code:\n%v\n", err)
		return 1
	}
	if *check {
		fmt.Fprintf(out, "planted: %d bugs have their place, and compile\n", len(bugs))
		return 0
	}
	if *sample > 0 {
		bugs = draw(bugs, *sample, *seed)
	}
	temp, err := os.MkdirTemp("", "planted")
	if err != nil {
		fmt.Fprintln(errw, "planted:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(temp) }()
	// The tests of packages read other files too, so that an overlay of the build is not enough.
	if err := os.CopyFS(temp, source{os.DirFS(root)}); err != nil {
		fmt.Fprintln(errw, "planted:", err)
		return 1
	}
	l := lab{ctx: ctx, root: temp, out: out}
	lost, skipped, err := l.all(bugs)
	switch {
	case err != nil:
		fmt.Fprintln(errw, "planted:", err)
	case len(lost) > 0:
		fmt.Fprintln(errw, "planted: not found:", strings.Join(lost, " "))
	case skipped > 0:
		fmt.Fprintf(out, "planted: all but %d, which were skipped, of %d were found\n", skipped, len(bugs))
		return 3
	default:
		fmt.Fprintf(out, "planted: all %d were found\n", len(bugs))
		return 0
	}
	return 1
}

// choose returns the bugs of these names, or all without a name.
func choose(bugs []planted.Bug, names []string) ([]planted.Bug, error) {
	if len(bugs) == 0 {
		return nil, errors.New("no bugs")
	}
	if len(names) == 0 {
		return bugs, nil
	}
	var out []planted.Bug
	for _, name := range names {
		at := slices.IndexFunc(bugs, func(b planted.Bug) bool { return b.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("no bug has the name %q", name)
		}
		out = append(out, bugs[at])
	}
	return out, nil
}

// draw returns n of the bugs, in their order. The same seed draws the same bugs, and a new or
// a lost bug changes little of the sample.
func draw(bugs []planted.Bug, n int, seed string) []planted.Bug {
	rank := func(b planted.Bug) string {
		hash := sha256.Sum256([]byte(seed + "\x00" + b.Name))
		return string(hash[:])
	}
	ranks := make([]string, len(bugs))
	for i, b := range bugs {
		ranks[i] = rank(b)
	}
	slices.Sort(ranks)
	last := ranks[min(n, len(ranks))-1]
	return slices.DeleteFunc(slices.Clone(bugs), func(b planted.Bug) bool { return rank(b) > last })
}

// fit says why bugs cannot be planted, a line for each: they have no place, or do not compile.
func (c *compiler) fit(bugs []planted.Bug) error {
	tree := planted.NewTree(os.DirFS(c.root))
	var all []error
	for _, b := range bugs {
		texts, err := tree.Plant(b)
		if err == nil {
			err = c.check(b.Name, texts)
		}
		all = append(all, err)
		for _, p := range b.Tests {
			if info, err := os.Stat(filepath.Join(c.root, p)); err != nil || !info.IsDir() {
				all = append(all, fmt.Errorf("%s: no such package: %s", b.Name, p))
			}
		}
	}
	return errors.Join(all...)
}

// A compiler checks the types of packages with bugs in them.
type compiler struct {
	root     string
	files    map[string][]string    // of packages, by folder
	syntax   map[string][]*ast.File // without bugs, by folder
	fset     *token.FileSet
	importer types.Importer
}

// newCompiler builds all packages, whose names and types the go command then knows.
func newCompiler(ctx context.Context, root string) (*compiler, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-f", "{{.ImportPath}}|{{.Export}}|{{.Dir}}|{{join .GoFiles \" \"}}", "./...")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	list, err := cmd.Output()
	if err != nil {
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("go list: %w", err))
	}
	c, exports := &compiler{root, map[string][]string{}, map[string][]*ast.File{}, token.NewFileSet(), nil}, map[string]string{}
	for line := range strings.Lines(string(list)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		exports[f[0]], c.files[f[2]] = f[1], strings.Fields(f[3])
	}
	c.importer = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c, nil
}

// check says why a bug does not compile. Files with build constraints that do not hold here are passed over.
func (c *compiler) check(name string, texts map[string][]byte) error {
	for path := range texts {
		folder, err := filepath.Abs(filepath.Join(c.root, filepath.FromSlash(path), ".."))
		if err != nil || !slices.Contains(c.files[folder], filepath.Base(path)) {
			continue
		}
		var all []*ast.File
		for i, file := range c.files[folder] {
			if len(c.syntax[folder]) <= i {
				one, err := parser.ParseFile(c.fset, filepath.Join(folder, file), nil, parser.SkipObjectResolution)
				if err != nil {
					return err
				}
				c.syntax[folder] = append(c.syntax[folder], one)
			}
			one := c.syntax[folder][i]
			if text, changed := texts[filepath.ToSlash(filepath.Join(filepath.Dir(path), file))]; changed {
				if one, err = parser.ParseFile(c.fset, filepath.Join(folder, file), text, parser.SkipObjectResolution); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			all = append(all, one)
		}
		of := types.Config{Importer: c.importer, Sizes: types.SizesFor("gc", runtime.GOARCH)}
		if _, err := of.Check(folder, c.fset, all, nil); err != nil {
			return fmt.Errorf("%s does not compile: %w", name, err)
		}
	}
	return nil
}

// source is a repository without its history and without the binaries that it built.
type source struct{ fs.FS }

// ReadDir returns the entries of a folder.
func (s source) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(s.FS, name)
	if name == "." {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
			return slices.Contains([]string{".git", "bin", "build", "dist"}, e.Name())
		})
	}
	return entries, err
}

// lab is a copy of the repository in which bugs are planted.
type lab struct {
	ctx  context.Context
	root string
	out  io.Writer
}

// all plants each bug. It returns the names of the bugs that no test found or that do not
// compile, and how many were skipped.
func (l lab) all(bugs []planted.Bug) (lost []string, skipped int, err error) {
	races := l.compiles()
	skips := func(b planted.Bug) bool { return b.Race != "" && !races }
	// Tests that fail without a bug find nothing.
	green := make(map[[2]string]bool)
	for _, b := range bugs {
		for _, p := range b.Tests {
			if key := [2]string{p, b.Race}; !skips(b) && !green[key] {
				output, err := l.test(p, b.Race)
				if err != nil {
					return nil, 0, err
				}
				if output != nil {
					return nil, 0, fmt.Errorf("%s%s fails without any bug", output, p)
				}
				green[key] = true
			}
		}
	}
	tree := planted.NewTree(os.DirFS(l.root))
	fmt.Fprintf(l.out, "%-48s %3s  %s\n", "planted", "s", "found by")
	for _, b := range bugs {
		if skips(b) {
			skipped++
			fmt.Fprintf(l.out, "%-48s %3s  %s\n", b.Name, "-", "skipped: the race detector needs a C compiler")
			continue
		}
		begun := time.Now()
		output, err := l.plant(tree, b)
		if err != nil {
			return nil, 0, err
		}
		found := failure(output)
		switch {
		case output == nil:
			found = "NOBODY: " + b.Breaks
			lost = append(lost, b.Name)
		case found == broken:
			fmt.Fprintf(l.out, "%s", output)
			lost = append(lost, b.Name)
		}
		fmt.Fprintf(l.out, "%-48s %3.0f  %s\n", b.Name, time.Since(begun).Seconds(), found)
	}
	return lost, skipped, nil
}

// plant returns the output of the first tests that fail with the bug in the source, or nil.
func (l lab) plant(tree *planted.Tree, b planted.Bug) (output []byte, err error) {
	texts, err := tree.Plant(b)
	if err != nil {
		return nil, err
	}
	for name, text := range texts {
		name = filepath.Join(l.root, filepath.FromSlash(name))
		before, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.WriteFile(name, before, 0o666)) }()
		if err := os.WriteFile(name, text, 0o666); err != nil {
			return nil, err
		}
	}
	for _, p := range b.Tests {
		if output, err = l.test(p, b.Race); output != nil || err != nil {
			return output, err
		}
	}
	return nil, nil
}

// test runs the quick tests of a package. It returns nil if they pass, or their output. With a
// pattern it runs these tests under the race detector. It fails if the user interrupts it.
func (l lab) test(pkg, race string) ([]byte, error) {
	args := []string{"test", "-short", "-count=1", "-timeout", "6m", "-failfast", pkg}
	if race != "" {
		args = append(args[:len(args)-2], "-race", "-run", race, pkg)
	}
	cmd := exec.CommandContext(l.ctx, "go", args...)
	cmd.Dir = l.root
	cmd.Env = append(os.Environ(), "GOWORK=off", "RAPID_SHRINKTIME=0s", "RAPID_NOFAILFILE=true")
	if race != "" {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
	}
	output, err := cmd.CombinedOutput()
	if err == nil || l.ctx.Err() != nil {
		return nil, l.ctx.Err()
	}
	return append(output, "\n"+err.Error()+"\n"...), nil
}

// compiles reports whether there is a C compiler. Its setting may have flags: "gcc -m64".
func (l lab) compiles() bool {
	cc, err := exec.CommandContext(l.ctx, "go", "env", "CC").Output()
	words := strings.Fields(string(cc))
	if err != nil || len(words) == 0 {
		return false
	}
	_, err = exec.LookPath(words[0])
	return err == nil
}

const broken = "does not compile"

// failure returns the first test that failed, with its innermost subtest, or a few words about
// another failure.
func failure(output []byte) string {
	name, deep := "", -1
	for _, m := range regexp.MustCompile(`(?m)^( *)--- FAIL: (\S+)`).FindAllSubmatch(output, -1) {
		if len(m[1]) <= deep {
			break
		}
		name, deep = string(m[2]), len(m[1])
	}
	has := func(pattern string) bool { return regexp.MustCompile(pattern).Match(output) }
	switch {
	case has(`\[(build|setup) failed\]`):
		return broken
	case name != "":
		return name
	case has(`(?m)^panic: test timed out`):
		return "(timed out)"
	case bytes.Contains(output, []byte("WARNING: DATA RACE")):
		return "(data race)"
	}
	return "(failed without a test)"
}
