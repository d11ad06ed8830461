package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/guard/parquetread"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// verbsOfTables are the commands whose CSV has the rows of a table.
func verbsOfTables() map[string][]string {
	return map[string][]string{
		"devices": {"report"}, "programs": {"report", "--programs"}, "checks": {"check"}, "peaks": {"peak"},
	}
}

// manyRuns are captures of all kinds, one whose program does not fit, and one that cannot be read.
func manyRuns(t *testing.T) []string {
	dir := t.TempDir()
	clash, broken := filepath.Join(dir, "clash.json"), filepath.Join(dir, "broken.json")
	require.NoError(t, os.WriteFile(clash, []byte(hostileClash), 0o600))
	require.NoError(t, os.WriteFile(broken, []byte(`[{"counter":0`), 0o600))
	return []string{"../../capture/testdata", broken, "../../../examples", clash, filepath.Join(dir, "none.json")}
}

// readTables returns the files of a folder by name.
func readTables(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		require.NoError(t, err)
		out[e.Name()] = string(data)
	}
	return out
}

// Four tables have the rows of four commands, and the fifth what cannot be read, as standard error says it.
func TestTablesAreTheRowsOfTheVerbs(t *testing.T) {
	runs, dir := manyRuns(t), t.TempDir()
	code, stdout, stderr := call("", append([]string{"tables", "--out", dir}, runs...)...)
	require.Equal(t, exitUsage, code)
	require.Empty(t, stdout)
	tables := readTables(t, dir)
	require.Equal(t, []string{"checks.csv", "devices.csv", "peaks.csv", "programs.csv", "refused.csv"}, slices.Sorted(maps.Keys(tables)))
	for name, verb := range verbsOfTables() {
		code, want, said := call("", slices.Concat(verb, []string{"--format", "csv"}, runs)...)
		require.Equal(t, exitUsage, code)
		require.Greater(t, strings.Count(want, "\n"), 20)
		require.Equal(t, want, tables[name+".csv"], name)
		require.Equal(t, said, stderr)
	}
	rows, err := csv.NewReader(strings.NewReader(tables["refused.csv"])).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"file", "reason"}, rows[0])
	require.Equal(t, []string{runs[1], runs[4]}, []string{rows[1][0], rows[2][0]})
	require.True(t, strings.HasSuffix(stderr, "expects\ncbl1: "+rows[1][1]+"\ncbl1: "+rows[2][1]+"\n"), stderr)
}

// Options mean what they mean for each verb, and one input may be standard input, which is read once.
func TestTablesFollowOptions(t *testing.T) {
	log, err := os.ReadFile("../../../examples/events.jsonl")
	require.NoError(t, err)
	for _, options := range [][]string{{"--budget", "10%", "--accept", "cache-hit"}, {"--base", "120000", "--l1-small", "4096"}} {
		dir := t.TempDir()
		args := slices.Concat([]string{"tables", "--out", dir}, options, []string{"-", "../../capture/testdata/repeats.json"})
		code, _, stderr := call(string(log), args...)
		require.Equal(t, exitOK, code, "%s: also if programs do not fit", stderr)
		for name, verb := range verbsOfTables() {
			mine := options
			if name != "checks" && options[0] == "--budget" {
				mine = nil
			}
			_, want, _ := call(string(log), slices.Concat(verb, []string{"--format", "csv"}, mine, []string{"-", "../../capture/testdata/repeats.json"})...)
			require.Equal(t, want, readTables(t, dir)[name+".csv"], name)
		}
	}
}

// requireSameRows holds the Parquet of one folder to the CSV of another one: numbers as INT64, nothing as NULL, text
// without the apostrophe for spreadsheets. It returns the types of columns, and counts cells by their kind.
func requireSameRows(t *testing.T, csvs, typed string) (types map[string]map[string]string, kinds map[string]int) {
	t.Helper()
	types, kinds = map[string]map[string]string{}, map[string]int{}
	for name, data := range readTables(t, typed) {
		file, err := parquetread.Read([]byte(data))
		require.NoError(t, err, name)
		table := strings.TrimSuffix(name, ".parquet")
		text, err := os.ReadFile(filepath.Join(csvs, table+".csv"))
		require.NoError(t, err)
		rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
		require.NoError(t, err)
		require.Equal(t, rows[0], file.Names, name)
		require.Len(t, file.Rows, len(rows)-1, name)
		types[table] = map[string]string{}
		for i, column := range file.Names {
			types[table][column] = file.Types[i]
			for k, row := range file.Rows {
				cell := rows[k+1][i]
				kinds[fmt.Sprintf("%T", row[i])]++
				if file.Types[i] == "UTF8" {
					cell = strings.TrimPrefix(cell, "'")
				}
				if is := fmt.Sprint(row[i]); row[i] != nil && is != cell || row[i] == nil && cell != "" { // require is slow
					require.Equal(t, cell, row[i], "%s, row %d, %s", name, k, column)
				}
			}
		}
	}
	return types, kinds
}

// Parquet has the columns of CSV in every file, and the same rows.
func TestParquetHasTheRowsOfCSV(t *testing.T) {
	runs, csvs, typed := manyRuns(t), t.TempDir(), t.TempDir()
	call("", append([]string{"tables", "--out", csvs}, runs...)...)
	code, _, _ := call("", append([]string{"tables", "--format", "parquet", "--out", typed}, runs...)...)
	require.Equal(t, exitUsage, code)
	types, kinds := requireSameRows(t, csvs, typed)
	for _, kind := range []string{"<nil>", "bool", "int64", "float64", "string"} {
		require.Greater(t, kinds[kind], 20, kind)
	}
	require.Equal(t, "INT64", types["devices"]["l1_device"])
	require.Equal(t, "DOUBLE", types["peaks"]["peak_percent_of_l1"])
	require.Equal(t, "BOOLEAN", types["programs"]["cbs_overlap"])
	require.Equal(t, "UTF8", types["programs"]["t"], "the time of a simulator may have more digits than a float")
	require.Equal(t, map[string]string{"file": "UTF8", "reason": "UTF8"}, types["refused"])

	// Without any row it has the same columns.
	empty := t.TempDir()
	code, _, _ = call("", "tables", "--format", "parquet", "--out", empty, runs[1])
	require.Equal(t, exitUsage, code)
	for name, data := range readTables(t, empty) {
		file, err := parquetread.Read([]byte(data))
		require.NoError(t, err)
		for i, column := range file.Names {
			require.Equal(t, types[strings.TrimSuffix(name, ".parquet")][column], file.Types[i], column)
		}
		require.Equal(t, name == "refused.parquet", len(file.Rows) > 0, name)
	}
}

// Figures beyond reason are the same in all forms.
func TestTablesOfExtremes(t *testing.T) {
	dir := t.TempDir()
	var runs []string
	for seed := range uint64(60) {
		_, input := extreme(seed)
		runs = append(runs, filepath.Join(dir, fmt.Sprint(seed)))
		require.NoError(t, os.WriteFile(runs[seed], input, 0o600))
	}
	csvs, typed := filepath.Join(dir, "csv"), filepath.Join(dir, "parquet")
	call("", append([]string{"tables", "--format", "parquet", "--out", typed}, runs...)...)
	call("", append([]string{"tables", "--out", csvs}, runs...)...)
	_, kinds := requireSameRows(t, csvs, typed)
	require.Greater(t, kinds["int64"], 1000)
	for name, verb := range verbsOfTables() {
		_, want, _ := call("", slices.Concat(verb, []string{"--format", "csv"}, runs)...)
		require.True(t, want == readTables(t, csvs)[name+".csv"], name)
	}
}

// An id of 2^63 has no place in INT64: Parquet refuses that input in all tables, and CSV has it.
func TestTablesRefuseWhatINT64DoesNotHold(t *testing.T) {
	log := `{"event":"log","version":1}
{"event":"device","device":%d,"spec":{"board":"n150"}}
{"event":"program","program":1,"name":"p","cbs":[{"cores":"0-0","size":2048}]}
{"event":"enqueue","program":1,"device":%[1]d}
`
	dir := t.TempDir()
	large, fits := filepath.Join(dir, "large.jsonl"), filepath.Join(dir, "fits.jsonl")
	require.NoError(t, os.WriteFile(large, fmt.Appendf(nil, log, uint64(1<<63)), 0o600))
	require.NoError(t, os.WriteFile(fits, fmt.Appendf(nil, log, uint64(1<<63-1)), 0o600))
	out := filepath.Join(dir, "out")
	code, _, stderr := call("", "tables", "--format", "parquet", "--out", out, large, fits)
	require.Equal(t, exitUsage, code)
	require.Equal(t, "cbl1: "+large+": a number above 9223372036854775807, which INT64 does not hold\n", stderr)
	for name, data := range readTables(t, out) {
		file, err := parquetread.Read([]byte(data))
		require.NoError(t, err)
		require.NotEmpty(t, file.Rows)
		for _, row := range file.Rows {
			require.Equal(t, map[bool]string{false: fits, true: large}[name == "refused.parquet"], row[0], name)
		}
	}
	code, _, _ = call("", "tables", "--out", out, large, fits)
	require.Equal(t, exitOK, code)
	require.Contains(t, readTables(t, out)["devices.csv"], large+",9223372036854775808,fits,")
}

// A path with a byte that is not UTF-8 is a text that engines read, and one with the sign of a formula stands as it is.
func TestParquetPaths(t *testing.T) {
	capture, err := os.ReadFile("../../capture/testdata/repeats.json")
	require.NoError(t, err)
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"=a\xff.json", "é.json"} {
		if os.WriteFile(name, capture, 0o600) != nil {
			t.Skip("this file system wants UTF-8")
		}
	}
	code, _, stderr := call("", "tables", "--format", "parquet", "--out", "out", "=a\xff.json", "é.json")
	require.Equal(t, exitOK, code, stderr)
	file, err := parquetread.Read([]byte(readTables(t, "out")["devices.parquet"]))
	require.NoError(t, err)
	require.Equal(t, []any{`=a\xff.json`, "é.json"}, []any{file.Rows[0][0], file.Rows[1][0]})
}

// Tables appear when all inputs are read, and replace older ones then; an error leaves the older ones.
func TestTablesAppearWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "commit=abc", "model=x")
	names := func() (out []string) {
		entries, _ := os.ReadDir(dir) // none before it is made
		for _, e := range entries {
			out = append(out, e.Name())
		}
		return out
	}
	whole := []string{"checks.csv", "devices.csv", "peaks.csv", "programs.csv", "refused.csv"}
	in, feed := io.Pipe()
	ended := make(chan int)
	go func() {
		ended <- run([]string{"tables", "--out", dir, "-"}, in, io.Discard, io.Discard)
	}()
	_, err := io.WriteString(feed, `{"event":"log","version":1}`+"\n")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(names()) == 1 && strings.HasPrefix(names()[0], ".cbl1-") }, testkit.Patience, time.Millisecond)
	require.NoError(t, feed.Close())
	require.Equal(t, exitOK, <-ended)
	require.Equal(t, whole, names())
	before := readTables(t, dir)

	code, _, _ := call("", "tables", "--out", dir, "../../../examples")
	require.Equal(t, exitOK, code)
	require.Equal(t, whole, names())
	require.NotEqual(t, before["devices.csv"], readTables(t, dir)["devices.csv"])

	code, _, stderr := call("", "tables", "--out", filepath.Join(dir, "devices.csv"), "../../../examples")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "not a directory")
	code, _, stderr = call("", "tables", "../../../examples")
	require.Equal(t, exitUsage, code)
	require.Equal(t, "cbl1: name the folder to write into with --out\n", stderr)
}

// One database is open at a time: memory does not grow with their number.
func TestDatabasesAreOpenOneAtATime(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile("../../capture/testdata/repeats.json")
	require.NoError(t, err)
	for i := range 3 {
		makeDatabase(t, filepath.Join(dir, fmt.Sprintf("%d.sqlite", i)), db31, readRun(t, data).sliced(t))
	}
	c := newRequest(streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard}, verb{})
	require.NoError(t, c.start([]string{dir, filepath.Join(dir, "0.sqlite")}))
	read := map[string]bool{}
	require.NoError(t, c.each([]string{dir, filepath.Join(dir, "0.sqlite"), "../../capture/testdata/repeats.json"}, func(r *answer.Result) error {
		require.LessOrEqual(t, len(c.open), 1)
		read[filepath.Base(r.File)] = true
		return nil
	}))
	require.Len(t, read, 4)
	require.Empty(t, c.open)
}
