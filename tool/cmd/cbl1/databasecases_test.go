package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	sqlite "github.com/ncruces/go-sqlite3"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture"
)

// sampleRun is a run of a few operations with buffers and programs.
func sampleRun(t require.TestingT) jsonRun {
	data, err := os.ReadFile("../../capture/testdata/matmul_normal.json")
	require.NoError(t, err)
	return readRun(t, data).known()
}

// aDatabase writes one whose run was changed before.
func aDatabase(t *testing.T, version string, change func(run *madeRun)) string {
	t.Helper()
	run := sampleRun(t).sliced(t)
	if change != nil {
		change(&run)
	}
	path := filepath.Join(t.TempDir(), "db.sqlite")
	makeDatabase(t, path, version, run)
	return path
}

// execute runs statements on a database.
func execute(t *testing.T, path string, statements ...string) {
	t.Helper()
	conn, err := sqlite.Open(path)
	require.NoError(t, err)
	for _, sql := range statements {
		require.NoError(t, conn.Exec(sql), sql)
	}
	require.NoError(t, conn.Close())
}

// TestDatabasesThatAreRefused: what cannot be read, or says nothing, is refused in a line that
// says why and where.
func TestDatabasesThatAreRefused(t *testing.T) {
	statements := func(version string, sql ...string) func(t *testing.T) string {
		return func(t *testing.T) string {
			path := aDatabase(t, version, nil)
			execute(t, path, sql...)
			return path
		}
	}
	content := func(change func([]byte) []byte) func(t *testing.T) string {
		return func(t *testing.T) string {
			path := aDatabase(t, db31, nil)
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, change(data), 0o600))
			return path
		}
	}
	for name, c := range map[string]struct {
		make func(t *testing.T) string
		says []string
	}{
		"empty":     {content(func([]byte) []byte { return nil }), []string{"db.sqlite: is empty"}},
		"header":    {content(func(d []byte) []byte { return d[:60] }), []string{"is cut"}},
		"cut":       {content(func(d []byte) []byte { return d[:len(d)/4096/2*4096] }), []string{"is damaged"}},
		"damaged":   {content(func(d []byte) []byte { clear(d[4096:]); return d }), []string{"is damaged"}},
		"encrypted": {content(func(d []byte) []byte { return randomBytes(len(d)) }), []string{"does not begin like one", "encrypted"}},
		"later":     {content(func(d []byte) []byte { d[19] = 9; return d }), []string{"later format"}},
		"version":   {statements("3.2"), []string{"table report_metadata: row 1: column value: 3.2 is later than 3.1"}},
		"version 4": {statements("4.0"), []string{"4.0 is later than 3.1"}},
		"no version": {statements(db21, "UPDATE report_metadata SET value = 'new'"),
			[]string{"table report_metadata: row 1: column value: new is no version"}},
		"no tables": {func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "db.sqlite")
			execute(t, path, "CREATE TABLE x (y)", "DROP TABLE x")
			return path
		}, []string{"is an empty database"}},
		"no graphs": {statements(db2024, "DROP TABLE captured_graph"), []string{"table captured_graph: there is no such table", "September 2024"}},
		"no rows":   {statements(db30, "DELETE FROM captured_graph"), []string{"table captured_graph: has no rows"}},
		"no column": {statements(db30, "ALTER TABLE captured_graph RENAME COLUMN operation_id TO id"), []string{"table captured_graph: column operation_id: there is no such column"}},
		"other": {func(t *testing.T) string {
			p := filepath.Join(t.TempDir(), "x.db")
			execute(t, p, "CREATE TABLE songs (a)")
			return p
		}, []string{"is no report database: it has the tables songs"}},
		"tt-triage": {triage, []string{"tt-triage", "not read yet", "dump_callstacks (0 rows), dump_circular_buffers (2 rows)"}},
		"null":      {statements(db21, "UPDATE captured_graph SET captured_graph = NULL WHERE rowid = 2"), []string{"table captured_graph: row 2: column captured_graph: "}},
		"no JSON":   {statements(db21, "UPDATE captured_graph SET captured_graph = '[{\"counter\":0' WHERE rowid = 2"), []string{"table captured_graph: row 2: column captured_graph:1: byte 13: node 0: "}},
		"object":    {statements(db21, "UPDATE captured_graph SET captured_graph = '{}' WHERE rowid = 2"), []string{"row 2", "is an object, not an array of nodes"}},
		"counter":   {statements(db21, `UPDATE captured_graph SET captured_graph = '[{"counter":0,"node_type":"x"},{"counter":7,"node_type":"x"}]' WHERE rowid = 2`), []string{"row 2: column captured_graph:1: byte 42: node 1: counter: 7 is out of order: 1 belongs here"}},
		"operation": {statements(db21, "UPDATE captured_graph SET operation_id = NULL WHERE rowid = 1"), []string{"table captured_graph: row 1: column operation_id: missing"}},
		"no rowid":  {statements(db21, "DROP TABLE captured_graph", "CREATE TABLE captured_graph (operation_id int PRIMARY KEY, captured_graph text) WITHOUT ROWID"), []string{"captured_graph", "rowid"}},
		"wide texts": {func(t *testing.T) string {
			p := filepath.Join(t.TempDir(), "db.sqlite")
			execute(t, p, "PRAGMA encoding = 'UTF-16'", "CREATE TABLE captured_graph (operation_id, captured_graph)")
			return p
		}, []string{"UTF-16le", "not UTF-8"}},
		"log is lost": {func(t *testing.T) string { return withLog(t, false) }, []string{"db.sqlite-wal) is not beside it"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := c.make(t)
			for _, verb := range []string{"report", "check", "peak", "room", "convert"} {
				code, stdout, stderr := call("", verb, path)
				require.Equal(t, exitUsage, code)
				if verb != "convert" {
					require.Empty(t, stdout)
				}
				requireOneLine(t, stderr)
				require.Contains(t, stderr, filepath.Base(path))
				for _, says := range c.says {
					require.Contains(t, stderr, says)
				}
			}
		})
	}
}

func randomBytes(n int) []byte {
	out := make([]byte, n)
	x := uint32(1)
	for i := range out {
		x = x*1664525 + 1013904223
		out[i] = byte(x >> 24)
	}
	return out
}

// triage is a database as tt-triage writes it.
func triage(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "triage.sqlite")
	execute(t, path, `CREATE TABLE dump_circular_buffers (device, core, "CB", "Kind", "Address")`, "CREATE TABLE dump_callstacks (device, core)",
		"INSERT INTO dump_circular_buffers VALUES (0, '1-1', 0, 'local', 111616), (0, '1-2', 0, 'local', 111616)")
	return path
}

// withLog copies a database whose last changes are in its log, with or without the log.
func withLog(t *testing.T, keep bool) string {
	from := aDatabase(t, db31, nil)
	conn, err := sqlite.Open(from)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	for _, sql := range []string{"PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0", "UPDATE operations SET name = 'x'"} {
		require.NoError(t, conn.Exec(sql))
	}
	to := filepath.Join(t.TempDir(), "db.sqlite")
	for _, ending := range []string{"", "-wal"} {
		if ending != "" && !keep {
			continue
		}
		data, err := os.ReadFile(from + ending)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to+ending, data, 0o600))
	}
	return to
}

// TestDatabaseWithItsLog: what is in the log counts.
func TestDatabaseWithItsLog(t *testing.T) {
	code, stdout, stderr := call("", "report", withLog(t, true))
	require.Zero(t, code, stderr)
	require.NotEmpty(t, stdout)
}

// TestDatabaseThatIsWrittenTo: a writer that holds the lock is waited for, and then named.
func TestDatabaseThatIsWrittenTo(t *testing.T) {
	path := aDatabase(t, db31, nil)
	conn, err := sqlite.Open(path)
	require.NoError(t, err)
	require.NoError(t, conn.Exec("BEGIN EXCLUSIVE"))
	code, stdout, stderr := call("", "report", path)
	require.Equal(t, exitUsage, code)
	require.Empty(t, stdout)
	requireOneLine(t, stderr)
	require.Contains(t, stderr, "is locked: another program writes to it")
	require.NoError(t, conn.Exec("ROLLBACK"))
	require.NoError(t, conn.Close())
	code, _, stderr = call("", "report", path)
	require.Zero(t, code, stderr)
}

// TestDatabaseErrorsAreTyped: a program finds file, table, column and rowid in fields.
func TestDatabaseErrorsAreTyped(t *testing.T) {
	path := aDatabase(t, db31, nil)
	execute(t, path, "UPDATE captured_graph SET captured_graph = '[5]' WHERE rowid = 3")
	d, err := openDatabase(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.close()) }()
	inputs, err := capture.Databases(d, path)
	require.NoError(t, err)
	require.Len(t, inputs, 1)
	var last error
	for _, err := range inputs[0].Events(capture.Options{}) {
		last = err
	}
	var e *event.InputError
	require.ErrorAs(t, last, &e)
	require.Equal(t, []any{path, "captured_graph", "captured_graph", int64(3), int64(0), "5"}, []any{e.File, e.Table, e.Column, e.Row, e.Node, e.Value})

	execute2 := aDatabase(t, "3.2", nil)
	other, err := openDatabase(execute2)
	require.NoError(t, err)
	defer func() { require.NoError(t, other.close()) }()
	_, err = capture.Databases(other, execute2)
	require.ErrorIs(t, err, event.ErrVersion)
	_, err = openDatabase(filepath.Join(t.TempDir(), "none.sqlite"))
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestBrokenDatabases: whatever bytes of a database are other ones, there is an answer or an
// error of one line, and never a panic.
func TestBrokenDatabases(t *testing.T) {
	sameDraws(t)
	path := aDatabase(t, db31, func(run *madeRun) { run.devices = nil })
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		data := slices.Clone(whole)
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
			if rapid.IntRange(0, 3).Draw(t, "page") == 0 {
				at = at / 4096 * 4096 // where pages say what they are
			}
			switch rapid.IntRange(0, 5).Draw(t, "how") {
			case 0:
				data = data[:max(at, 1)]
			case 1:
				n := copy(data[at:], data[rapid.IntRange(0, len(data)-1).Draw(t, "from"):][:1])
				_ = n
			case 2:
				page := at / 4096 * 4096
				copy(data[page:], data[rapid.IntRange(0, len(data)/4096).Draw(t, "from")*4096:])
			default:
				for i := range rapid.IntRange(1, 4).Draw(t, "bytes") {
					if at+i < len(data) {
						data[at+i] = rapid.Byte().Draw(t, "byte")
					}
				}
			}
		}
		require.NoError(t, os.WriteFile(path, data, 0o600))
		for _, verb := range []string{"report", "check"} {
			code, stdout, stderr := call("", verb, path)
			require.Equal(t, code == exitUsage, stdout == "", "%d %s", code, stderr)
			for line := range strings.Lines(stderr) {
				require.Less(t, len(line), 320)
				require.Regexp(t, "^cbl1: [ -~]*\n$", line)
			}
		}
	})
}

// TestDatabaseParts: host processes, and files that were imported one after the other, are
// captures of their own, and everything else is one.
func TestDatabaseParts(t *testing.T) {
	files := func(path string) (files []string, ranks []any) {
		code, stdout, stderr := call("", "report", "--format", "json", path)
		require.Zero(t, code, stderr)
		for line := range strings.Lines(stdout) {
			var r map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &r))
			files, ranks = append(files, filepath.Base(r["file"].(string))), append(ranks, r["rank"])
		}
		return files, ranks
	}
	again := func(change func(*madeSlice)) func(*madeRun) {
		return func(run *madeRun) {
			for _, s := range slices.Clone(run.slices) {
				change(&s)
				run.slices = append(run.slices, s)
			}
		}
	}
	names, ranks := files(aDatabase(t, db31, again(func(s *madeSlice) { s.rank = 3 })))
	require.Equal(t, []string{"db.sqlite#rank-0-from-1", "db.sqlite#rank-3-from-1"}, names)
	require.Equal(t, []any{0.0, 3.0}, ranks)
	names, _ = files(aDatabase(t, db21, again(func(s *madeSlice) { s.operation += 10_000 })))
	require.Equal(t, []string{"db.sqlite#from-1", "db.sqlite#from-10001"}, names)
	names, _ = files(aDatabase(t, db2024, func(run *madeRun) { // which numbers its operations as it likes
		for i := range run.slices {
			run.slices[i].operation += 10_000 * i
		}
	}))
	require.Equal(t, []string{"db.sqlite"}, names)
	path := aDatabase(t, db21, again(func(s *madeSlice) { s.operation += 10_000 }))
	code, _, stderr := call("", "convert", path)
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "has 2 captures")

	code, _, stderr = call("", "report", aDatabase(t, db21, func(run *madeRun) {
		for i := range 70 {
			run.slices = append(run.slices, madeSlice{operation: 10_000*(i+1) + 1, graph: []byte("[]")})
		}
	}))
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "more than 64 captures")
}

// TestDatabaseOrder: operations are read in the order of their ids, wherever their rows stand.
func TestDatabaseOrder(t *testing.T) {
	want := aDatabase(t, db31, nil)
	got := aDatabase(t, db31, func(run *madeRun) { slices.Reverse(run.slices) })
	for _, verb := range []string{"report", "check", "peak"} {
		_, a, _ := call("", verb, "--format", "json", want)
		_, b, _ := call("", verb, "--format", "json", got)
		require.Equal(t, strings.ReplaceAll(a, want, ""), strings.ReplaceAll(b, got, ""))
	}
}

// TestDatabaseMoments: --at names a node of an operation, or one of all.
func TestDatabaseMoments(t *testing.T) {
	run := sampleRun(t)
	path := aDatabase(t, db31, nil)
	starts := run.cut()
	for i, start := range starts {
		end := len(run.nodes)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		for node := start; node < end; node++ {
			for _, question := range [][]string{{"who", path, "112000"}, {"map", path}, {"room", "--size", "1300000", path}} {
				wantCode, want, _ := call("", append(question, "--at", fmt.Sprint(node))...)
				code, got, stderr := call("", append(question, "--at", fmt.Sprintf("%d:%d", i+1, node-start))...)
				require.Equal(t, wantCode, code, stderr)
				require.Equal(t, want, got)
			}
		}
	}
	for at, says := range map[string]string{
		"99:0":   "there is no operation 99",
		"1:1000": "row 1: there is no node 1000 in operation 1",
		"1:":     "want a whole number or, in a database, operation:node",
		"a:1":    "want a whole number or",
	} {
		code, _, stderr := call("", "who", "--at", at, path, "112000")
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, says)
	}
	code, _, stderr := call("", "who", "--at", "1:0", "../../capture/testdata/repeats.json", "112000")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "has no nodes of an operation")
	code, _, stderr = call("[]", "who", "--at", "1:0", "-", "112000")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "for databases")
}

// TestFoldersWithDatabases: a database beside JSON is the same run, and one alone is read.
func TestFoldersWithDatabases(t *testing.T) {
	path := aDatabase(t, db31, nil)
	folder := filepath.Dir(path)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "config.json"), []byte("{}"), 0o600))
	code, alone, stderr := call("", "report", folder)
	require.Zero(t, code, stderr)
	require.Empty(t, stderr)
	require.Contains(t, alone, "db.sqlite")

	require.NoError(t, os.WriteFile(filepath.Join(folder, "graph_capture_0_of_1.json"), sampleRun(t).capture(t), 0o600))
	code, beside, stderr := call("", "report", folder)
	require.Zero(t, code)
	require.Contains(t, beside, "graph_capture_0_of_1.json")
	require.NotContains(t, beside, "db.sqlite")
	requireOneLine(t, stderr)
	require.Contains(t, stderr, "db.sqlite: passed over: it is the same run as the JSON beside it, which is read")

	require.NoError(t, os.WriteFile(filepath.Join(folder, "graph_capture_0_of_1.json"), nil, 0o600))
	require.NoError(t, os.Remove(filepath.Join(folder, "graph_capture_0_of_1.json")))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	code, _, stderr = call("", "report", folder)
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "is empty")
}

// TestDatabaseConverted: the log of a database is answered about as the database is.
func TestDatabaseConverted(t *testing.T) {
	for _, version := range databaseVersions() {
		path := aDatabase(t, version, nil)
		log := filepath.Join(filepath.Dir(path), "db.jsonlx") // as long a name
		code, _, stderr := call("", "convert", "-o", log, path)
		require.Zero(t, code, stderr)
		for _, q := range questions() {
			wantCode, want, _ := call("", append([]string{q[0], path}, q[1:]...)...)
			code, got, _ := call("", append([]string{q[0], log}, q[1:]...)...)
			require.Equal(t, wantCode, code)
			require.Equal(t, want, strings.ReplaceAll(got, log, path))
		}
	}
}

// counters takes the numbers of nodes out of an answer.
func counters(text string) string {
	text = regexp.MustCompile(`("(first_|last_|cb_|output_)?(freed|counter|nodes|first|last)[a-z_]*":)(\d+|null|\[[^]]*\])`).ReplaceAllString(text, `${1}0`)
	text = regexp.MustCompile(`node \d+`).ReplaceAllString(text, "node 0")
	return regexp.MustCompile(`"file":"[^"]*"`).ReplaceAllString(ranksApart(text), "")
}

// speaksOutside reports whether an error, an allocation, or a pair of a mesh and a chip stands outside of all operations.
func (r jsonRun) speaksOutside() bool {
	depth := 0
	for _, n := range r.nodes {
		switch n.kind() {
		case "function_start":
			depth++
		case "function_end":
			depth--
		case "error", "buffer_allocate", "tensor":
			if depth == 0 && (n.kind() != "tensor" || n.params()["device_tensors"] != nil) {
				return true
			}
		}
	}
	return false
}

// TestImportedDatabases: databases as ttnn's importer writes them are answered about as the
// captures they were made of, but for the numbers of nodes.
func TestImportedDatabases(t *testing.T) {
	captures := map[string][]byte{}
	for _, in := range fixtures(t) {
		if !in.log && strings.HasSuffix(in.name, ".json") {
			captures[filepath.Base(in.name)] = in.data
		}
	}
	for _, name := range []string{"conv2d.json", "matmul.json", "sharded_add.json"} {
		data, err := os.ReadFile(filepath.Join("../../capture/testdata/published", name))
		require.NoError(t, err)
		captures[name] = data
	}
	t.Chdir(t.TempDir())
	compared := 0
	for name, data := range captures {
		t.Run(name, func(t *testing.T) {
			run := readRun(t, data).known()
			if run.speaksOutside() {
				t.Skip("needs a capture whose errors, allocations and pairs of mesh and chip stand in operations: ttnn's importer leaves out what stands outside")
			}
			compared++
			const capture, db = "run.json", "b.sqlite"
			require.NoError(t, os.WriteFile(capture, run.capture(t), 0o600))
			require.NoError(t, os.RemoveAll(db))
			made := run.imported(t)
			if len(made.slices) == 0 {
				t.Skip("needs a capture with an operation: ttnn's importer makes nothing of one without")
			}
			makeDatabase(t, db, db21, made)
			for _, q := range [][]string{{"check"}, {"peak"}} {
				wantCode, want, _ := call("", q[0], "--format", "json", capture)
				code, got, stderr := call("", q[0], "--format", "json", db)
				require.Empty(t, stderr)
				requireLines(t, counters(want), counters(got), q)
				require.Equal(t, wantCode, code)
			}
		})
	}
	require.Greater(t, compared, 30)
}

// TestDatabaseThatRepeatsItself: what a few pages say again and again costs what they are, and is
// refused.
func TestDatabaseThatRepeatsItself(t *testing.T) {
	path := aDatabase(t, db31, func(run *madeRun) {
		for i := range 2_000 {
			run.slices[0].buffers = append(run.slices[0].buffers, [4]int64{0, 4096 * int64(i), 64, 0})
		}
	})
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	const page = 4096
	changed := 0
	for start := page; start < len(data); start += page {
		if p := data[start : start+page]; p[0] == 5 { // an inner page of a table
			first := int(p[12])<<8 | int(p[13])
			copy(p[8:12], p[first:first+4]) // its last child is its first one
			changed++
		}
	}
	require.NotZero(t, changed)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	code, stdout, stderr := call("", "report", path)
	require.Equal(t, exitUsage, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "is damaged: a table has the same row twice")

	path = aDatabase(t, db31, nil)
	d, err := openDatabase(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.close()) }()
	for range 3 { // the same text is read for each reading
		_, err = d.Text("captured_graph", "captured_graph", 1)
		require.NoError(t, err)
	}
	d.size = d.sum
	_, err = d.Text("captured_graph", "captured_graph", 2)
	require.ErrorIs(t, err, errLong)
}
