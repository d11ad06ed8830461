package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	safe "github.com/cbl1/cbl1/internal/shown" // tests have a function of its name
)

// A pipe is a source that cannot seek.
type pipe struct{ io.Reader }

// run runs the command in this process, without a limit of memory.
func run(args []string, in io.Reader, out, errw io.Writer) int {
	return runIn(streams{in: in, out: out, err: errw}, args)
}

// call runs the command in this process, with a pipe as standard input.
func call(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errw bytes.Buffer
	code = run(args, pipe{strings.NewReader(stdin)}, &out, &errw)
	return code, out.String(), errw.String()
}

// graph is a capture with one circular buffer inside a function.
func graph(op, params string) string {
	return `[{"counter":0,"node_type":"function_start","params":{"name":"` + op + `"},"connections":[]},` +
		"\n" + `{"counter":1,"node_type":"circular_buffer_allocate","params":{` + params + `},"connections":[]},` +
		"\n" + `{"counter":2,"node_type":"function_end","params":{"name":"` + op + `"},"connections":[]}]`
}

const goodCB = `"address":111616,"size":4096,"core_range_set":"{[0-0 - 1-1]}"`

// readers are the commands that read a capture from standard input.
func readers() [][]string {
	return [][]string{{"-"}, {"check", "-"}, {"peak", "-"}, {"room", "-"}, {"who", "-", "111616"}}
}

// TestBrokenInput has one row per way in which an input is broken. Each gives one
// line on standard error, which says where, and nothing on standard output, for any
// question.
func TestBrokenInput(t *testing.T) {
	good := graph("ttnn.add", goodCB)
	code, stdout, stderr := call(good, "-")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "fits  stdin  4,096 of ")

	for _, c := range []struct{ name, input, want string }{
		{"empty", "", "stdin:1: byte 0: this is empty input"},
		{"cut", good[:len(good)-1], fmt.Sprintf("stdin:3: byte %d: input ends inside an array", len(good)-1)},
		{"cut in a node", good[:100], "stdin:2: byte 100: node 1: input ends inside"},
		{"trailing garbage", good + "\nx", fmt.Sprintf("stdin:4: byte %d: 'x' after the end", len(good)+1)},
		{"NaN", graph("a", `"size":NaN`), "stdin:2: byte 153: node 1: unexpected 'N' where a value belongs"},
		{"counters out of order", `[{"counter":1,"node_type":"capture_start"}]`, "stdin:1: byte 12: node 0: counter: 1 is out of order"},
		{"raw escape in a value", graph("a", "\"size\":\"\x1b[2J\""), "unexpected byte 0x1b inside a string"},
		{"HTML", "<!doctype html><html>", "this is an HTML page, not JSON"},
		{"SQLite", "SQLite format 3\x00", "this is a SQLite database"},
		{"LFS", "version https://git-lfs.github.com/spec/v1\n", "this is a git LFS pointer"},
		{"UTF-16", "\xff\xfe[\x00", "this is UTF-16 text"},
		{"binary", "\x7fELF\x02", "this is binary data"},
		{"cut gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00", "gzip data is cut"},
		{"other JSON", `{"rows":[]}`, "object without graph"},
		{"a number", "7", "a number is not a capture"},
		{"brackets", strings.Repeat("[", 100_000), "nest more than 1000 deep"},
	} {
		for _, args := range readers() {
			code, stdout, stderr := call(c.input, args...)
			require.Equal(t, exitUsage, code, "%s: %s", args, c.name)
			require.Empty(t, stdout, c.name)
			require.Contains(t, stderr, c.want, c.name)
			requireOneLine(t, stderr)
		}
	}
}

// TestUnreadableInput: a field that cannot be read hides its node. check answers "cannot tell", and names the field.
func TestUnreadableInput(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"no size", graph("a", `"address":1,"core_range_set":"{}"`), "size: missing"},
		{"negative size", graph("a", `"size":-1`), "size: -1 is negative"},
		{"text for a size", graph("a", `"size":"4 KiB"`), `size: "4 KiB" is not a whole number`},
		{"reversed rectangle", graph("a", `"address":1,"size":1,"core_range_set":"{[3-0 - 1-1]}"`), `core_range_set: "{[3-0 - 1-1]}" is not`},
		{"escape in a value", graph("a", `"size":"\u001b[2J"`), `size: "\u001b[2J" is not a whole number`},
	} {
		code, stdout, stderr := call(c.input, "check", "--format", "json", "-")
		require.Equal(t, 3, code, c.name)
		require.Empty(t, stderr)
		require.Contains(t, stdout, `"unreadable"`, c.name)
		code, stdout, stderr = call(c.input, "-")
		require.Zero(t, code)
		require.Empty(t, stderr)
		require.Contains(t, strings.Join(strings.Fields(stdout), " "), c.want, c.name)
	}
}

func requireOneLine(t *testing.T, stderr string) {
	t.Helper()
	require.True(t, strings.HasPrefix(stderr, "cbl1: "), stderr)
	require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	require.Less(t, len(stderr), 330)
	requirePlain(t, stderr)
}

// requirePlain wants nothing but what a terminal shows as it stands.
func requirePlain(t *testing.T, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		require.Equal(t, safe.Visible(line), line)
	}
}

// requireASCII wants one line of printable ASCII.
func requireASCII(t *testing.T, text string) {
	t.Helper()
	require.Equal(t, strings.TrimSuffix(text, "\n")+`\n`, safe.Escape(text))
}

// Text from files and arguments never reaches a terminal as it is.
func TestHostileText(t *testing.T) {
	long := strings.Repeat("x", 64<<10)
	for _, op := range []string{`\u001b[2J`, `\u009b31m`, `\u202egnp`, `a\nb`, `\u0000`, `\ud800`, "\u009b31m", "\u202e", long} {
		code, stdout, stderr := call(graph(op, goodCB), "--programs", "--cores", "-")
		require.Zero(t, code, stderr)
		requirePlain(t, stdout)
		require.Less(t, len(stdout), 4000)

		code, stdout, stderr = call(graph(op, goodCB), "--format", "json", "-")
		require.Zero(t, code, stderr)
		requireASCII(t, stdout)
		require.NotContains(t, stdout, long[:2<<10])
		require.Equal(t, op == long, strings.Contains(stdout, `x... (65,536 bytes)"`), "with its length in JSON")

		for _, args := range append(readers(), []string{"check", "--budget", "1B", "-"}) {
			code, stdout, stderr = call(graph(op, goodCB), args...)
			require.Contains(t, []int{exitOK, exitNo}, code, stderr)
			requirePlain(t, stdout)
			require.Less(t, len(stdout), 4000)
			_, stdout, stderr = call(graph(op, goodCB), append(args, "--format", "json")...)
			require.Empty(t, stderr)
			requireASCII(t, stdout)
		}
	}
	evil := "\x1b[2J\u202e\n"
	for _, args := range [][]string{{evil}, {"--arch", evil, "x"}, {"--" + evil}, {"--format", evil, "x"}, {"explain", evil}, {"report", evil + long},
		{"check", evil}, {"check", "--budget", evil, "x"}, {"peak", evil}, {"room", evil}, {"room", "--sharded", evil, "x"}, {"room", "--size", evil, "x"}, {"who", evil, "1"}, {"who", "x", evil + long},
		{"who", "x", "1", "--core", evil}, {"who", "x", "1", "--at", evil}} {
		code, stdout, stderr := call("", args...)
		require.Equal(t, exitUsage, code)
		require.Empty(t, stdout)
		require.Equal(t, 1, strings.Count(stderr, "\n"), "%q", stderr)
		requirePlain(t, stderr)
	}
	// A file with such a name is read, and its name shown escaped.
	path := filepath.Join(t.TempDir(), "\x1b[2J.json")
	require.NoError(t, os.WriteFile(path, []byte(graph("a", goodCB)), 0o600))
	code, stdout, stderr := call("", path)
	require.Zero(t, code, stderr)
	requirePlain(t, stdout)
	require.Contains(t, stdout, `\x1b[2J.json  4,096 of `)
	// One in another script is shown as it is.
	_, stdout, _ = call(graph("größe.加法", goodCB), "-")
	require.Contains(t, stdout, "größe.加法 (node 1)")
	_, _, stderr = call("", "größe.json")
	require.Equal(t, "cbl1: größe.json: no such file or folder\n", stderr)
}

// As in: cbl1 run.json | head -1
func TestClosedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	defer func() { require.NoError(t, w.Close()) }()
	var stderr bytes.Buffer
	for _, args := range readers() {
		require.Zero(t, run(args, strings.NewReader(graph("a", goodCB)), w, &stderr))
		require.Empty(t, stderr.String())
	}
	// The exit code says whether it fits, also where nobody reads the text.
	require.Equal(t, exitNo, run([]string{"check", "--budget", "1B", "-"}, strings.NewReader(graph("a", goodCB)), w, &stderr))
	require.Equal(t, exitNo, run([]string{"room", "--size", "2MiB", "-"}, strings.NewReader(graph("a", goodCB)), w, &stderr))
	require.Equal(t, exitTell, run([]string{"check", "-"}, strings.NewReader("[]"), w, &stderr))
	require.Empty(t, stderr.String())
}

func TestWriteError(t *testing.T) {
	for _, args := range append(readers(), []string{"--format", "json", "-"}, []string{"check", "--format", "json", "-"},
		[]string{"peak", "--format", "json", "-"}, []string{"room", "--format", "json", "-"}, []string{"who", "-", "111616", "--format", "json"}) {
		var stderr bytes.Buffer
		code := run(args, strings.NewReader(graph("a", goodCB)), failing{}, &stderr)
		require.Equal(t, exitUsage, code)
		require.Equal(t, "cbl1: no space left on device\n", stderr.String())
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// What a log says before reading fails is not explained: it may be half the truth.
func TestExplainReadError(t *testing.T) {
	const message = "Statically allocated circular buffers on core range [0-0 - 7-7] grow to 1500160 B which is beyond max L1 size of 1499136 B\n"
	in := io.MultiReader(strings.NewReader(message), iotest.ErrReader(errors.New("cable pulled")))
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitUsage, run([]string{"explain"}, in, &stdout, &stderr))
	require.Empty(t, stdout.String())
	require.Equal(t, "cbl1: stdin: cable pulled\n", stderr.String())
}

func TestWithVerb(t *testing.T) {
	root := newRoot(streams{})
	for _, c := range []struct{ args, want string }{
		{"x.json", "report x.json"},
		{"-", "report -"},
		{"--programs x.json", "report --programs x.json"},
		{"./report", "report ./report"},
		{"report x.json", "report x.json"},
		{"explain x.log", "explain x.log"},
		{"check x.json", "check x.json"},
		{"peak x.json", "peak x.json"},
		{"who x.json 1", "who x.json 1"},
		{"help report", "help report"},
		{"--help", "--help"},
		{"--version", "--version"},
		{"__complete re", "__complete re"},
	} {
		require.Equal(t, strings.Fields(c.want), withVerb(root, strings.Fields(c.args)), c.args)
	}
	require.Empty(t, withVerb(root, nil))
}

func TestVersion(t *testing.T) {
	defer func(old, of string) { version, commit = old, of }(version, commit)
	version, commit = "0.1.0", "0123456789ab"
	code, stdout, _ := call("", "--version")
	require.Zero(t, code)
	require.Equal(t, "cbl1 0.1.0 (0123456789ab)\n", stdout)
	code, stdout, _ = call("", "version")
	require.Zero(t, code)
	require.Regexp(t, `^cbl1 0\.1\.0 \(0123456789ab\), go1\.\S+ \w+/\w+\n$`, stdout)
	version, commit = "", ""
	require.Regexp(t, `^0\.1\.0-dev( \([0-9a-f]{12}(-dirty)?\))?$`, versionText())

	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef"}
	require.Equal(t, "0123456789ab", commitOf([]debug.BuildSetting{revision}))
	require.Equal(t, "0123456789ab-dirty", commitOf([]debug.BuildSetting{revision, {Key: "vcs.modified", Value: "true"}}))
	require.Empty(t, commitOf(nil))

	for module, want := range map[string]string{
		"v0.2.1": "0.2.1", "(devel)": next, "": next, "v0.1.0+dirty": next, "v0.0.0-20261128183559-ad04855f0000": next,
		"v0.2.0-rc.1": next,
	} {
		require.Equal(t, want, numberOf(module), module)
	}
}

func TestProgress(t *testing.T) {
	require.Nil(t, newProgress(&bytes.Buffer{}), "not a terminal")
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	require.Nil(t, newProgress(file), "not a terminal")
	var none *progress
	require.Nil(t, none.reads(&job{name: "x"}))
	none.watch(nil)
	none.done()

	var b bytes.Buffer
	p := &progress{w: &b}
	j := &job{name: "run\x1b.json" + strings.Repeat("x", 100)}
	step := p.reads(j)
	p.watch(j)
	step(event.Pos{Node: 4096})
	p.done()
	require.Empty(t, b.String(), "too quick to be worth a line")
	step(event.Pos{Node: 4096})
	require.Empty(t, b.String(), "it is not waited for")
	p.watch(j)
	p.next = p.next.Add(-quiet)
	step(event.Pos{Node: 8192})
	step(event.Pos{Node: 12288})
	p.done()
	p.done()
	require.Equal(t, "\r\x1b[K..."+strings.Repeat("x", 57)+": 8192 nodes read\r\x1b[K", b.String())
}

// Progress is a share of the bytes of a file. For a compressed file or a pipe it names the bytes alone.
func TestProgressHasAShare(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.json")
	require.NoError(t, os.WriteFile(name, make([]byte, 4096), 0o600))
	for _, c := range []struct {
		file, want string
		offset     int64
	}{{name, ": 1.0 KiB of 4.0 KiB (25%) read", 1024}, {name, ": 8.0 KiB read", 8192}, {"stdin", ": 1.0 KiB read", 1024}} {
		var b bytes.Buffer
		p, j := &progress{w: &b}, &job{name: c.file}
		p.watch(j)
		p.next = p.next.Add(-quiet)
		p.reads(j)(event.Pos{Offset: c.offset})
		require.True(t, strings.HasSuffix(b.String(), c.want), b.String())
	}
}
