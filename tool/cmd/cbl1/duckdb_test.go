package main

import (
	"bytes"
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

// The queries of the page run over the rows of every capture here, and have
// answers.
func TestDuckDBPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/duckdb.md")
	require.NoError(t, err)
	var queries []string
	for _, block := range strings.Split(string(page), "```sql\n")[1:] {
		sql, _, ok := strings.Cut(block, "```")
		require.True(t, ok)
		queries = append(queries, sql)
	}
	require.Len(t, queries, 7)
	duck := duckDB(t)
	if duck == nil {
		t.Skipf("needs node with @duckdb/node-api (NODE_PATH): %d queries of docs/duckdb.md did not run", len(queries))
	}

	dir := t.TempDir()
	clash := filepath.Join(dir, "clash.json")
	require.NoError(t, os.WriteFile(clash, []byte(hostileClash), 0o600))
	captures := []string{"../../capture/testdata", "../../../examples", clash}
	for file, args := range map[string][]string{
		"devices.csv": {"report"}, "programs.csv": {"report", "--programs"}, "checks.csv": {"check"}, "peaks.csv": {"peak"},
	} {
		var out, errs bytes.Buffer
		run(append(append(args, "--format", "csv"), captures...), strings.NewReader(""), &out, &errs)
		require.Positive(t, out.Len(), "%s", errs.String())
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), out.Bytes(), 0o600))
	}
	script := filepath.Join(dir, "page.sql")
	require.NoError(t, os.WriteFile(script, []byte(strings.Join(queries, "\n")+counts), 0o600))
	cmd := duck(script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	rows := strings.Fields(string(out))
	require.Len(t, rows, len(queries)+1)
	for i, n := range rows {
		require.NotEqual(t, "0", n, "query %d has no answer", i+1)
	}
	t.Logf("%d queries of docs/duckdb.md ran, with %s rows", len(queries), strings.Join(rows[:len(queries)], ", "))
}

// counts has a row only if DuckDB reads the names as they are: with an apostrophe in front of a
// formula, commas, quotes and all.
const counts = `
SELECT DISTINCT failure_program_op FROM 'checks.csv'
WHERE failure_program_op LIKE '''=cmd|''/c calc''!A1, "x" > %' AND typeof(failure_over_bytes) = 'BIGINT';`

// hostileClash does not fit, in an operation with the name of a formula.
const hostileClash = `[
{"counter":0,"node_type":"capture_start","params":{},"connections":[1,4]},
{"counter":1,"node_type":"function_start","params":{"name":"=cmd|'/c calc'!A1, \"x\" > y"},"connections":[2,3]},
{"counter":2,"node_type":"circular_buffer_allocate","params":{"address":"111616","size":"2097152","core_range_set":"{[0-0 - 1-1]}","device_id":"0"}},
{"counter":3,"node_type":"function_end","params":{"name":"=cmd|'/c calc'!A1, \"x\" > y"}},
{"counter":4,"node_type":"capture_end","params":{}}]`
