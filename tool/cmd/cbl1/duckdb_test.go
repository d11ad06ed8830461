package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// runSQL is for node: it runs the statements of a file one by one, in the folder where it
// stands, and prints how many rows each has.
const runSQL = `
const { DuckDBInstance } = require("@duckdb/node-api");
(async () => {
  const db = await (await DuckDBInstance.create(":memory:")).connect();
  for (const sql of require("fs").readFileSync(process.argv[1], "utf8").split(";").filter((s) => s.trim())) {
    console.log((await db.runAndReadAll(sql)).getRows().length);
  }
})().catch((e) => { console.error(String(e)); process.exit(1); });
`

// duckDB returns a command that runs a file of SQL and prints how many rows each statement
// has, or nil where there is none.
func duckDB(t *testing.T) func(file string) *exec.Cmd {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil && exec.Command(node, "-e", `require("@duckdb/node-api")`).Run() == nil { // of NODE_PATH
		return func(file string) *exec.Cmd { return exec.Command(node, "-e", runSQL, file) }
	}
	return nil
}

// queriesOf returns the queries of a page.
func queriesOf(t *testing.T, page string) (queries []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, block := range strings.Split(string(text), "```sql\n")[1:] {
		sql, _, ok := strings.Cut(block, ";\n```")
		require.True(t, ok)
		queries = append(queries, sql)
	}
	return queries
}

// runQueries runs queries in a folder, and returns how many rows each has.
func runQueries(t *testing.T, duck func(file string) *exec.Cmd, dir string, queries []string) []string {
	t.Helper()
	script := filepath.Join(dir, "page.sql")
	require.NoError(t, os.WriteFile(script, []byte(strings.Join(queries, ";\n")), 0o600))
	cmd := duck(script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	rows := strings.Fields(string(out))
	require.Len(t, rows, len(queries))
	return rows
}

// The queries of the page run over the rows of every capture here, and have
// answers.
func TestDuckDBPage(t *testing.T) {
	queries := queriesOf(t, "../../docs/duckdb.md")
	require.Len(t, queries, 7)
	duck := duckDB(t)
	if duck == nil {
		t.Skipf("needs node with @duckdb/node-api (NODE_PATH): %d queries of docs/duckdb.md did not run", len(queries))
	}
	dir := t.TempDir()
	call("", append([]string{"tables", "--out", dir}, manyRuns(t)...)...)
	rows := runQueries(t, duck, dir, append(queries, counts))
	for i, n := range rows {
		require.NotEqual(t, "0", n, "query %d has no answer", i+1)
	}
	t.Logf("%d queries of docs/duckdb.md ran, with %s rows", len(queries), strings.Join(rows[:len(queries)], ", "))
}

// DuckDB finds no row that Parquet and CSV do not share, and reads a byte in a path that is not UTF-8.
func TestDuckDBReadsParquetAsCSV(t *testing.T) {
	duck := duckDB(t)
	if duck == nil {
		t.Skip("needs node with @duckdb/node-api (NODE_PATH)")
	}
	dir, runs := t.TempDir(), manyRuns(t)
	capture, err := os.ReadFile("../../capture/testdata/repeats.json")
	require.NoError(t, err)
	odd := filepath.Join(t.TempDir(), "=\xff.json")
	if os.WriteFile(odd, capture, 0o600) == nil { // some file systems want UTF-8
		runs = append(runs, odd)
	}
	for _, format := range []string{"csv", "parquet"} {
		call("", append([]string{"tables", "--format", format, "--out", dir}, runs...)...)
	}
	var queries []string
	for _, table := range []string{"devices", "programs", "checks", "peaks", "refused"} {
		rows := "(SELECT coalesce(regexp_replace(COLUMNS(*), '^''', ''), '') FROM read_csv('" + table + ".csv', all_varchar = true, header = true))"
		typed := "(SELECT coalesce(CAST(COLUMNS(*) AS VARCHAR), '') FROM '" + table + ".parquet')"
		queries = append(queries, rows+" EXCEPT ALL "+typed, typed+" EXCEPT ALL "+rows, typed)
	}
	for i, n := range runQueries(t, duck, dir, queries) {
		require.Equal(t, i%3 != 2, n == "0", "%s has %s rows", queries[i], n)
	}
}

// A run's key is its path: the queries of the page have answers over two commits of two models.
func TestTablesPage(t *testing.T) {
	queries := queriesOf(t, "../../docs/tables.md")
	require.Len(t, queries, 4)
	duck := duckDB(t)
	if duck == nil {
		t.Skipf("needs node with @duckdb/node-api (NODE_PATH): %d queries of docs/tables.md did not run", len(queries))
	}
	dir := t.TempDir()
	for commit, inputs := range map[string][]string{"1": {"old.jsonl", "small.jsonl"}, "2": {"new.jsonl", "smaller.jsonl"}} {
		for i, model := range []string{"resnet", "bert"} {
			code, _, stderr := call("", "tables", "--format", "parquet", "--out", filepath.Join(dir, "lake", "commit="+commit, "model="+model),
				"../../docs/tour/"+inputs[i], filepath.Join(dir, "none.json"))
			require.Equal(t, exitUsage, code, stderr)
		}
	}
	keys := "SELECT DISTINCT commit, model FROM read_parquet('lake/*/*/devices.parquet', hive_partitioning = true) WHERE typeof(commit) = 'BIGINT'"
	grown := "SELECT * FROM (" + queries[0] + ") WHERE growth > 0 AND commit = 2 AND model = 'resnet'"
	rows := runQueries(t, duck, dir, append(queries, keys, grown))
	require.NotContains(t, rows, "0")
	require.Equal(t, []string{"4", "4", "4", "1"}, []string{rows[0], rows[3], rows[4], rows[5]})
}

// counts has a row only if DuckDB reads the names as they are: with an apostrophe in front of a
// formula, commas, quotes and all.
const counts = `
SELECT DISTINCT failure_program_op FROM 'checks.csv'
WHERE failure_program_op LIKE '''=cmd|''/c calc''!A1, "x" > %' AND typeof(failure_over_bytes) = 'BIGINT'`

// hostileClash does not fit, in an operation with the name of a formula.
const hostileClash = `[
{"counter":0,"node_type":"capture_start","params":{},"connections":[1,4]},
{"counter":1,"node_type":"function_start","params":{"name":"=cmd|'/c calc'!A1, \"x\" > y"},"connections":[2,3]},
{"counter":2,"node_type":"circular_buffer_allocate","params":{"address":"111616","size":"2097152","core_range_set":"{[0-0 - 1-1]}","device_id":"0"}},
{"counter":3,"node_type":"function_end","params":{"name":"=cmd|'/c calc'!A1, \"x\" > y"}},
{"counter":4,"node_type":"capture_end","params":{}}]`
