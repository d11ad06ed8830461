package cbl1_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A rule that cannot fail is worse than none. Every rule is shown code that
// breaks it (want is part of the complaint) and code that does not (want is "").
func TestRulesCanFail(t *testing.T) {
	const (
		library = "package p\n"
		command = "package main\n"
		test    = library + "import (\"time\"; \"github.com/stretchr/testify/require\")\n"
	)
	cases := []struct {
		rule, path, text, want string
	}{
		{"imports", "l1/a.go", library + `import "github.com/cbl1/cbl1/program"`, "l1 may not import github.com/cbl1/cbl1/program"},
		{"imports", "l1/a.go", library + `import "github.com/google/btree"`, "l1 may not import github.com/google/btree"},
		{"imports", "l1/a_test.go", library + `import "github.com/cbl1/cbl1/program"`, ""},
		{"imports", "cbregion/a.go", library + `import "github.com/cbl1/cbl1/device"`, "cbregion may not import"},
		{"imports", "cbregion/a.go", library + `import "github.com/google/btree"`, ""},
		{"imports", "program/a.go", library + `import "github.com/cbl1/cbl1/cbregion"`, "program may not import"},
		{"imports", "device/internal/heap/a.go", library + `import "github.com/google/btree"`, ""},
		{"imports", "fit/a.go", library + `import "github.com/google/btree"`, "fit may not import github.com/google/btree"},
		{"imports", "device/a.go", library + `import "encoding/json"`, `device may not import "encoding/json"`},
		{"imports", "device/a.go", library + `import "os"`, `device may not import "os"`},
		{"imports", "device/a.go", library + `import "os/signal"`, `device may not import "os/signal"`},
		{"imports", "device/internal/classes/a.go", library + `import "github.com/cbl1/cbl1/cbregion"`, ""},
		{"imports", "tool/capture/a.go", library + `import "github.com/cbl1/cbl1/tool/internal/live/serve"`, "capture may not import"},
		{"imports", "tool/capture/a.go", library + `import "github.com/cbl1/cbl1/tool/internal/answers/render"`, "capture may not import"},
		{"imports", "internal/packed/a.go", library + `import "github.com/klauspost/compress/zstd"`, ""},
		{"imports", "tool/capture/a.go", library + `import "github.com/cbl1/cbl1/tool/capture/internal/scan"`, ""},
		{"imports", "tool/internal/answers/render/a.go", library + `import "github.com/cbl1/cbl1/tool/capture/internal/scan"`, "tool/internal/answers/render may not import"},
		{"imports", "tool/capture/internal/scan/a.go", library + `import "github.com/cbl1/cbl1/device"`, ""},
		{"imports", "tool/capture/internal/scan/a.go", library + `import "github.com/cbl1/cbl1/tool/internal/answers/render"`, "capture may not import"},
		{"imports", "tool/internal/clash/a.go", library + `import "github.com/cbl1/cbl1/l1"`, ""},
		{"imports", "tool/internal/clash/a.go", library + `import "github.com/cbl1/cbl1/device"`, "tool/internal/clash may not import"},
		{"imports", "tool/internal/answers/render/a.go", library + `import "os"`, `tool/internal/answers/render may not import "os"`},
		{"imports", "tool/internal/answers/render/a.go", library + `import "flag"`, `tool/internal/answers/render may not import "flag"`},
		{"imports", "tool/internal/answers/render/a.go", library + `import "github.com/spf13/cobra"`, "tool/internal/answers/render may not import"},
		{"imports", "tool/internal/answers/render/a.go", library + `import "encoding/json"`, ""},
		{"imports", "fuzz/model/a.go", library + `import "github.com/cbl1/cbl1/cbregion"`, "fuzz/model may not import"},
		{"imports", "fuzz/model/a.go", library + `import "pgregory.net/rapid"`, "fuzz/model may not import"},
		{"imports", "fuzz/gen/a.go", library + `import "github.com/cbl1/cbl1/device"`, "fuzz/gen may not import"},
		{"imports", "fuzz/gen/a.go", library + `import "pgregory.net/rapid"`, ""},
		{"imports", "fuzz/suite/a.go", library + `import "github.com/cbl1/cbl1/fuzz/gen"`, ""},
		{"imports", "fuzz/suite/a.go", library + `import "github.com/cbl1/cbl1/tool/capture"`, "fuzz/suite may not import"},
		{"imports", "tool/cmd/cbl1/a.go", command + `import "github.com/cbl1/cbl1/fuzz/gen"`, "tool/cmd/cbl1 may not import"},
		{"imports", "tool/cmd/cbl1/a.go", command + `import "pgregory.net/rapid"`, "tool/cmd/cbl1 may not import"},
		{"imports", "tool/cmd/cbl1/a.go", command + `import "github.com/spf13/cobra"`, ""},
		{"imports", "internal/guard/baseline/a.go", library + `import "github.com/google/btree"`, ""},
		{"imports", "tool/internal/guard/oracle/a.go", library + `import "github.com/cbl1/cbl1/fit"`, "tool/internal/guard/oracle may not import"},
		{"imports", "tool/cmd/cbl1/a.go", command + `import "github.com/cbl1/cbl1/tool/internal/guard/oracle"`, "tool/cmd/cbl1 may not import"},
		{"imports", "util/a.go", library, "package util has no row in the import table"},
		{"imports", "internal/other/a.go", library, "package internal/other has no row"},
		{"imports", "a.go", library + `import "github.com/cbl1/cbl1/l1"`, ". may not import"},

		{"test libraries", "l1/a.go", library + `import "github.com/stretchr/testify/require"`, "belongs in _test.go"},
		{"test libraries", "l1/a_test.go", library + `import "github.com/stretchr/testify/require"`, ""},
		{"test libraries", "l1/a_test.go", library + `import "github.com/stretchr/testify/assert"`, "use testify/require"},
		{"test libraries", "fuzz/suite/a.go", library + `import "github.com/anishathalye/porcupine"`, "belongs in _test.go"},
		{"test libraries", "device/a.go", library + `import "pgregory.net/rapid"`, "below fuzz/"},
		{"test libraries", "fuzz/gen/a.go", library + `import "pgregory.net/rapid"`, ""},

		{"doc comments", "l1/a.go", library + "func F() {}", "exported F has no doc comment"},
		{"doc comments", "l1/a.go", library + "// F does.\nfunc F() {}\nfunc g() {}", ""},
		{"doc comments", "l1/a.go", library + "//go:noinline\nfunc F() {}", "exported F has no"},
		{"doc comments", "l1/a.go", library + "type T int", "exported T has no"},
		{"first words", "l1/a.go", library + "// Old does.\nfunc F() {}", "the comment of F begins with Old"},
		{"first words", "l1/a.go", library + "// old does.\nfunc (t T) f() {}", "the comment of f begins with old"},
		{"first words", "l1/a.go", library + "// A U is.\ntype T int", "the comment of T begins with U"},
		{"first words", "l1/a.go", library + "type (\n\t// U is.\n\tT int\n)", "the comment of T begins with U"},
		{"first words", "l1/a.go", library + "// A T is.\ntype T int\n\n// The f does.\nfunc f() {}\n\nfunc g() {}", ""},
		{"doc comments", "l1/a.go", library + "// Both.\ntype (\n\tT int\n\tu int\n)", "exported T has no"},
		{"doc comments", "l1/a.go", library + "type (\n\t// T is.\n\tT int\n\tu int\n)", ""},
		{"doc comments", "l1/a.go", library + "// T is.\ntype T[K any] struct{}\nfunc (t *T[K]) M() {}", "exported T.M has no"},
		{"doc comments", "l1/a.go", library + "type t struct{}\nfunc (t) M() {}", ""},
		{"doc comments", "l1/a.go", library + "// E is.\ntype E struct{}\nfunc (E) Error() string { return \"\" }", ""},
		{"doc comments", "l1/a.go", library + "func Error() string { return \"\" }", "exported Error has no"},
		{"doc comments", "l1/a.go", library + "const C = 1", "exported C has no"},
		{"doc comments", "l1/a.go", library + "// Sizes.\nconst (\n\tC = 1\n\tD = 2\n)", ""},
		{"doc comments", "l1/a.go", library + "const (\n\tC = 1 // one\n\tD = 2\n)", "exported D has no"},
		{"doc comments", "l1/a_test.go", library + "func F() {}", ""},
		{"doc comments", "tool/cmd/cbl1/a.go", command + "func F() {}", ""},

		{"package variables", "l1/a.go", library + "var n int", "package variable n"},
		{"package variables", "l1/a.go", library + "var ErrTable = map[int]int{}", "package variable ErrTable"},
		{"package variables", "l1/a.go", library + "import \"fmt\"\nvar ErrX = fmt.Errorf(\"x\")", "package variable ErrX"},
		{"package variables", "l1/a.go", library + "import \"errors\"\nvar boards = errors.New(\"x\")", "package variable boards"},
		{"package variables", "l1/a.go", library + "import \"errors\"\nvar (\n\tErrX = errors.New(\"x\")\n\terrY = errors.New(\"y\")\n)", ""},
		{"package variables", "tool/capture/a.go", library + "import \"io\"\nvar ErrX = io.ErrUnexpectedEOF", ""},
		{"package variables", "tool/capture/a.go", library + "import \"os\"\nvar errOut = os.Stderr", "package variable errOut"},
		{"package variables", "l1/a.go", library + "var _ error = (*E)(nil)", ""},
		{"package variables", "tool/internal/pictures/page/a.go", library + "//go:embed a.css\nvar style string", ""},
		{"package variables", "tool/internal/pictures/page/a.go", library + "//go:embed a.css\nvar Style string", "package variable Style"},
		{"package variables", "tool/internal/pictures/page/a.go", library + "//go:embed a.css\nvar style []byte", "package variable style"},
		{"package variables", "tool/internal/pictures/page/a.go", library + "var style string", "package variable style"},
		{"package variables", "l1/a.go", library + "var _ = register()", "package variable _"},
		{"package variables", "l1/a.go", library + "func f() { var n int; _ = n }", ""},
		{"package variables", "l1/a_test.go", library + "var n int", ""},
		{"package variables", "l1/a.go", library + "var version string", "package variable version"},
		{"package variables", "tool/cmd/cbl1/a.go", command + "var version string", ""},
		{"package variables", "tool/cmd/cbl1/a.go", command + "var version = compute()", "package variable version"},
		{"package variables", "tool/cmd/cbl1/a.go", command + "var verbose bool", "package variable verbose"},

		{"init", "l1/a.go", library + "func init() {}", "func init"},
		{"init", "l1/a_test.go", library + "func init() {}", "func init"},
		{"init", "l1/a.go", library + "func (t T) init() {}", ""},

		{"goroutines", "device/a.go", library + "func f() { go f() }", "go statement"},
		{"goroutines", "tool/capture/a.go", library + "func f() { func() { go f() }() }", "go statement"},
		{"goroutines", "tool/internal/guard/cbl1bench/a.go", command + "func f() { go f() }", "go statement"},
		{"goroutines", "tool/cmd/cbl1/a.go", command + "func f() { go f() }", ""},
		{"goroutines", "device/a_test.go", library + "func f() { go f() }", ""},

		{"logging, clock and environment", "l1/a.go", library + `import "log"`, `import "log"`},
		{"logging, clock and environment", "l1/a.go", library + `import "log/slog"`, `import "log/slog"`},
		{"logging, clock and environment", "tool/cmd/cbl1/a.go", command + `import "log"`, `import "log"`},
		{"logging, clock and environment", "l1/a.go", library + "import \"time\"\nfunc f() { time.Now() }", "time.Now"},
		{"logging, clock and environment", "l1/a.go", library + "import clock \"time\"\nfunc f() { now(clock.Now) }", "time.Now"},
		{"logging, clock and environment", "l1/a.go", library + `import . "time"`, "dot import"},
		{"logging, clock and environment", "l1/a.go", library + "import \"time\"\nfunc f(d time.Duration) {}", ""},
		{"logging, clock and environment", "tool/capture/a.go", library + "import \"os\"\nfunc f() { os.Getenv(\"X\") }", "os.Getenv"},
		{"logging, clock and environment", "tool/capture/a.go", library + "import \"os\"\nfunc f() { os.Open(\"x\") }", ""},
		{"logging, clock and environment", "tool/cmd/cbl1/a.go", command + "import \"time\"\nfunc f() { time.Now() }", ""},
		{"logging, clock and environment", "l1/a_test.go", library + "import \"time\"\nfunc f() { time.Now() }", ""},

		{"measurements", "l1/a_test.go", test + "func f() { require.Less(t, time.Since(begun), most) }", "require.Less of a time"},
		{"measurements", "l1/a_test.go", test + "func f() { require.True(t, time.Until(end) > 0) }", "require.True of a time"},
		{"measurements", "l1/a_test.go", test + "func f() { require.LessOrEqual(t, took, 10*time.Second) }", "require.LessOrEqual of a time"},
		{"measurements", "l1/a_test.go", test + "func f() { require.Equal(t, time.Second, delay) }", ""},
		{"measurements", "l1/a_test.go", test + "func f() { if *hammer { require.Less(t, took, time.Second) } }", ""},
		{"measurements", "l1/a_test.go", test + "func f() { if !*hammer { require.Less(t, took, time.Second) } }", "require.Less of a time"},
		{"measurements", "l1/a_test.go", test + "func f() { if testkit.Nightly() { } else { require.Less(t, took, time.Second) } }", "require.Less of a time"},
		{"measurements", "l1/a_test.go", test + "func f() { if !*hammer { t.Skip() }; require.Less(t, took, time.Second) }", ""},
		{"measurements", "l1/a_test.go", test + "func f() { require.Eventually(t, is, 20*time.Second, time.Millisecond) }", "waits for testkit.Patience"},
		{"measurements", "l1/a_test.go", test + "func f() { require.Eventually(t, is, testkit.Patience, time.Millisecond) }", ""},
		{"measurements", "l1/a_test.go", test + "func f() { n = m.HeapAlloc }", "the collector decides"},
		{"measurements", "l1/a_test.go", test + "func f() { n = m.TotalAlloc }", ""},

		{"names", "l1/a.go", library + "type guest int", "guest: a stranger does not know the word guest"},
		{"names", "l1/a.go", library + "func newGuests() {}", "the word guest"},
		{"names", "l1/a.go", library + "func (t T) isTold() {}", "the word told"},
		{"names", "l1/a_test.go", test + "func TestL1Untold(t *testing.T) {}", "the word untold"},
		{"names", "l1/a.go", library + "func wakes() {}", "the word wake"},
		{"names", "l1/a.go", library + "func waking() {}", "the word wake"},
		{"names", "l1/a.go", library + "func HTTPSeat2() {}", "the word seat"},
		{"names", "l1/a.go", library + "func f() { type muted int }", "the word mute"},
		{"names", "l1/a.go", library + "type T interface{ crowd() }", "the word crowd"},
		{"names", "l1/a.go", library + "func Background() { told := 1; _ = told }", ""},

		{"gofmt", "l1/a.go", "package p\n\nfunc  f() {}\n", "not formatted"},
		{"gofmt", "l1/a.go", "package p\n\nfunc f() {}\n", ""},
	}

	proved := make(map[string]bool)
	for _, c := range cases {
		t.Run(c.rule+"/"+c.path, func(t *testing.T) {
			i := slices.IndexFunc(fileRules(), func(r rule) bool { return r.name == c.rule })
			require.GreaterOrEqual(t, i, 0, "no rule %q", c.rule)
			s, err := parse(c.path, []byte(c.text))
			require.NoError(t, err)
			expect(t, fileRules()[i].check(s), c.want, c.text)
		})
		proved[c.rule] = proved[c.rule] || c.want != ""
	}
	for _, r := range fileRules() {
		require.True(t, proved[r.name], "nothing shows that rule %q can fail", r.name)
	}
}

// expect wants one complaint that contains want, or none if want is empty.
func expect(t *testing.T, complaints []string, want, input string) {
	t.Helper()
	if want == "" {
		require.Empty(t, complaints, "%s", input)
		return
	}
	require.Len(t, complaints, 1, "%s", input)
	require.Contains(t, complaints[0], want, "%s", input)
}

func TestComplaintNamesLine(t *testing.T) {
	s, err := parse("l1/a.go", []byte("package p\n\nfunc init() {}\n"))
	require.NoError(t, err)
	complaints := checkInit(s)
	require.Len(t, complaints, 1)
	require.True(t, strings.HasPrefix(complaints[0], "l1/a.go:3: "), "%s", complaints[0])
}

func TestPackageCommentRule(t *testing.T) {
	five := strings.Repeat("// Words.\n", 5)
	for _, c := range []struct {
		path  string
		texts []string
		want  string
	}{
		{"l1/a.go", []string{"package p\n"}, "no package comment"},
		{"l1/a.go", []string{"//go:build linux\n\npackage p\n"}, "no package comment"},
		{"l1/a.go", []string{"// Package p is.\npackage p\n"}, "package comment of 1 lines"},
		{"l1/a.go", []string{"package p\n", five + "package p\n"}, ""},
		{"tool/capture/internal/scan/a.go", []string{"// Package p is.\npackage p\n"}, ""},
		{"tool/cmd/cbl1/a.go", []string{"// Command cbl1 is.\npackage main\n"}, ""},
		{"tool/cmd/cbl1/a.go", []string{"package main\n"}, "no package comment"},
		{"internal/magic/a.go", []string{"// Package p is.\npackage p\ntype Core int\n"}, ""},
	} {
		var files []*source
		for _, text := range c.texts {
			s, err := parse(c.path, []byte(text))
			require.NoError(t, err)
			files = append(files, s)
		}
		expect(t, checkPackageComment(files), c.want, strings.Join(c.texts, "---\n"))
	}
}

// The bad texts are put together from pieces, because this file is checked too.
func TestTextRule(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"cd /wo" + "rk/main", "a.md:1: absolute path"},
		{"ok\nopen(\"/ro" + "ot/x\")", "a.md:2: absolute path"},
		{"/tm" + "p/x", "a.md:1: absolute path"},
		{"GOPROXY=https://proxy" + ".golang.org", "host of a package registry"},
		{"pip -i https://pypi" + ".org/simple", "host of a package registry"},
		{"see https://example.com/wo" + "rk/x and frame/wo" + "rk/y", ""},
		{"https://pkg.go.dev/github.com/google/btree", ""},
		{"binary \x00 /tm" + "p/x", ""},
	} {
		expect(t, checkText("a.md", []byte(c.text)), c.want, c.text)
	}
}

func TestFolderRule(t *testing.T) {
	expect(t, checkFolders([]string{"l1", "util"}), "folder util/", "util")
	expect(t, checkFolders([]string{"l1", ".ci", "fuzz"}), "", "")
}

func TestClosureRule(t *testing.T) {
	expect(t, checkClosure("device", []string{module + "/device", module + "/l1", btree}), "", "")
	expect(t, checkClosure("device", []string{module + "/device", "golang.org/x/sys/unix"}), "golang.org/x/sys/unix", "")
	expect(t, checkClosure("program", []string{module + "/tool/capture"}), module+"/tool/capture", "")
	expect(t, checkClosure("event", []string{btree, compress, xtext, cobra}), cobra, "")
}

// What .gitignore hides from git is hidden from the rules too, and nothing else.
func TestIgnored(t *testing.T) {
	for _, name := range []string{"dist", "bin", "cbl1", "cover.out", "l1/cpu.prof", "l1.test"} {
		require.True(t, ignored(name), name)
	}
	for _, name := range []string{"tool/cmd/cbl1", "l1", "doc.go", "l1/bin"} {
		require.False(t, ignored(name), name)
	}
}
