package capture

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
)

// rowsOf is a table: the names of its columns, and rows.
func rowsOf(columns string, rows ...[]any) [][]any {
	var head []any
	for column := range strings.SplitSeq(columns, " ") {
		head = append(head, column)
	}
	return append([][]any{head}, rows...)
}

// manyRows is a table with one column and some rows.
func manyRows(n int) [][]any {
	rows := rowsOf("a")
	for range n {
		rows = append(rows, []any{int64(0)})
	}
	return rows
}

// TestDatabaseRefusals: a database that is none, or a later one, with the whole message.
func TestDatabaseRefusals(t *testing.T) {
	const graphs = "operation_id captured_graph"
	version := func(text any) tablesOf {
		return tablesOf{graphTable: rowsOf(graphs, []any{int64(1), "[]"}), "report_metadata": rowsOf("key value", []any{"x", "9"}, []any{"schema_version", text})}
	}
	nine := tablesOf{}
	for i := range 9 {
		nine[fmt.Sprintf("t%d", i)] = rowsOf("a")
	}
	eight := tablesOf{}
	for i := range 8 {
		eight[fmt.Sprintf("t%d", i)] = rowsOf("a")
	}
	ranks := func(n int) tablesOf {
		m := tablesOf{graphTable: rowsOf(graphs + " rank")}
		for i := range n {
			m[graphTable] = append(m[graphTable], []any{int64(1), "[]", int64(i)})
		}
		return m
	}
	for _, c := range []struct {
		name string
		m    tablesOf
		want string // "" is taken
		is   error
	}{
		{"nothing", tablesOf{}, "db: is an empty database: it has no tables", event.ErrNotCapture},
		{"no operation_id", tablesOf{graphTable: rowsOf(graphTable)}, "db: table captured_graph: column operation_id: there is no such column", event.ErrNotCapture},
		{"no graph", tablesOf{graphTable: rowsOf("operation_id")}, "db: table captured_graph: column captured_graph: there is no such column", event.ErrNotCapture},
		{"no rows", tablesOf{graphTable: rowsOf(graphs)}, "db: table captured_graph: has no rows: the report was recorded without graphs", event.ErrNotCapture},
		{"old", tablesOf{"operations": rowsOf("a"), "devices": rowsOf("a")}, "db: table captured_graph: there is no such table: the report was written before September 2024, and says nothing of circular buffers", event.ErrNotCapture},
		{"operations alone", tablesOf{"operations": rowsOf("a")}, "db: is no report database: it has the tables operations", event.ErrNotCapture},
		{"devices alone", tablesOf{"devices": rowsOf("a")}, "db: is no report database: it has the tables devices", event.ErrNotCapture},
		{"eight tables", eight, "db: is no report database: it has the tables t0, t1, t2, t3, t4, t5, t6, t7", event.ErrNotCapture},
		{"nine tables", nine, "db: is no report database: it has the tables t0, t1, t2, t3, t4, t5, t6, t7, ...", event.ErrNotCapture},
		{"tt-triage", tablesOf{"dump_b": manyRows(2), "check_a": manyRows(0), "other": manyRows(1)}, "db: is a database of tt-triage, which is not read yet; it holds check_a (0 rows), dump_b (2 rows)", event.ErrNotCapture},
		{"a long table of tt-triage", tablesOf{"dump_b": manyRows(1005)}, "db: is a database of tt-triage, which is not read yet; it holds dump_b (1001 rows)", event.ErrNotCapture},
		{"3.1", version("3.1"), "", nil},
		{"3.1.9", version("3.1.9"), "", nil},
		{"3", version("3"), "", nil},
		{"2.7", version("2.7"), "", nil},
		{"3.2", version("3.2"), "db: table report_metadata: row 2: column value: 3.2 is later than 3.1, the newest version of report databases that is known here", event.ErrVersion},
		{"4.0", version("4.0"), "db: table report_metadata: row 2: column value: 4.0 is later than 3.1, the newest version of report databases that is known here", event.ErrVersion},
		{"3.x", version("3.x"), "db: table report_metadata: row 2: column value: 3.x is no version", nil},
		{"no text", version(int64(3)), "db: table report_metadata: row 2: column value: is no version", nil},
		{"64 ranks", ranks(64), "", nil},
		{"65 ranks", ranks(65), "db: table captured_graph: row 65: there are more than 64 captures in this database", nil},
	} {
		inputs, err := Databases(c.m, "db")
		if c.want == "" {
			require.NoError(t, err, c.name)
			require.NotEmpty(t, inputs)
			continue
		}
		require.EqualError(t, err, c.want, c.name)
		if c.is != nil {
			require.ErrorIs(t, err, c.is, c.name)
		}
	}
}

// TestDatabaseNumbers: what a cell says where a whole number belongs, one on each side of each limit.
func TestDatabaseNumbers(t *testing.T) {
	for _, c := range []struct {
		value any
		most  uint64
		want  uint64
		err   string
	}{
		{int64(0), 5, 0, ""}, {int64(5), 5, 5, ""}, {int64(6), 5, 0, "6 is not from 0 to 5"}, {int64(-1), 5, 0, "-1 is not from 0 to 5"},
		{0.0, 5, 0, ""}, {5.0, 5, 5, ""}, {6.0, 5, 0, "6 is not a whole number"}, {4.5, 5, 0, "4.5 is not a whole number"}, {-1.0, 5, 0, "-1 is not a whole number"},
		{float64(1 << 53), 1 << 60, 1 << 53, ""}, {float64(1<<53 + 2), 1 << 60, 0, "9.007199254740994e+15 is not a whole number"},
		{"5", 5, 0, "5 is not a whole number"}, {[]byte("5"), 5, 0, "[53] is not a whole number"},
	} {
		row := cells{table{&database{file: "db"}, "t", []string{"a", "b"}}, Row{3, []any{nil, c.value}}, nil}
		got := row.number("b", c.most)
		if c.err != "" {
			require.EqualError(t, row.err, "db: table t: row 3: column b: "+c.err)
			require.False(t, got.OK)
			require.False(t, row.number("b", 1<<60).OK, "the first error stays")
			continue
		}
		require.Nil(t, row.err)
		require.Equal(t, event.Some(c.want), got)
		for _, absent := range []string{"a", "other"} {
			require.False(t, row.number(absent, c.most).OK)
			require.Nil(t, row.err)
		}
	}
	row := cells{table{&database{}, "t", []string{"a", "b", "c"}}, Row{3, []any{"x", []byte("y"), 1.5}}, nil}
	require.Equal(t, []string{"x", "y", "", ""}, []string{row.text("a"), row.text("b"), row.text("c"), row.text("d")})
}

// TestDatabaseOfRanks: each host process is a capture, and each leap of ids begins another file of it.
func TestDatabaseOfRanks(t *testing.T) {
	rank := func(n int64) any { return n }
	m := tablesOf{
		graphTable: rowsOf("operation_id captured_graph rank", []any{int64(2), graphOf(placeOn(1)), rank(1)}, []any{int64(1), graphOf(freeOf(1), placeOn(1)), rank(1)},
			[]any{int64(2), graphOf(freeOf(0)), rank(0)}, []any{int64(1), graphOf(placeOn(0)), rank(0)}, []any{int64(10_001), graphOf(placeOn(3)), rank(1)}),
		"report_metadata": rowsOf("key value", []any{"schema_version", "3.1"}, []any{"rank", "7"}),
		"devices": rowsOf("device_id worker_l1_size address_at_first_l1_cb_buffer rank", []any{int64(0), int64(16384), int64(4096), rank(0)},
			[]any{int64(1), int64(16384), int64(4096), rank(1)}, []any{int64(1), int64(16384), int64(4096), rank(1)}),
		buffersTable: rowsOf("operation_id device_id address max_size_per_bank buffer_type rank", []any{int64(1), int64(1), int64(8192), int64(64), int64(1), rank(1)},
			[]any{int64(1), int64(1), int64(8256), int64(64), int64(1), rank(1)}, []any{int64(2), int64(1), int64(8192), int64(64), int64(1), rank(1)},
			[]any{int64(2), int64(0), int64(8320), int64(64), int64(1), rank(0)}),
		"operations": rowsOf("operation_id name rank", []any{int64(3), "lost of 1", rank(1)}, []any{int64(3), "lost of 0", rank(0)}, []any{int64(4), "also of 0", rank(0)}, []any{int64(10_002), "of the second file", rank(1)}),
	}
	inputs, err := Databases(m, "db")
	require.NoError(t, err)
	var got strings.Builder
	for _, in := range inputs {
		fmt.Fprintf(&got, "%s of %v:", in.Path, in.Rank)
		for _, at := range [][2]uint64{{1, 0}, {1, 1}, {2, 0}, {10_001, 0}, {2, 1}} {
			n, err := in.Counter(at[0], at[1])
			if err != nil {
				var e *event.InputError
				require.True(t, errors.As(err, &e))
				require.Equal(t, []any{in.Path, graphTable, int64(-1)}, []any{e.File, e.Table, e.Node})
				fmt.Fprintf(&got, " no (%s)", e.Reason)
				continue
			}
			fmt.Fprintf(&got, " %d", n)
		}
		got.WriteString("\n")
		events, err := copied(in.Events(Options{}))
		require.NoError(t, err)
		got.WriteString(summary(events))
	}
	require.Equal(t, strings.TrimLeft(wantOfRanks, "\n"), got.String())
}

const wantOfRanks = `
db#rank-0-from-1 of {0 true}: 0 no (there is no node 1 in operation 1: it has 1 of them, counted from 0) 1 no (there is no operation 10001) no (there is no node 1 in operation 2: it has 1 of them, counted from 0)
0 log
0 device 0 chip []
0 program 0: 111616+64
1 run 0 on 0:0-0
1 allocate 1 l1 on [0] [8320,8384)
1 cbs_freed [0]
2 upstream
0 hidden operation-lost x2 lost of 0
2 end
db#rank-1-from-1 of {1 true}: 0 1 2 no (there is no operation 10001) no (there is no node 1 in operation 2: it has 1 of them, counted from 0)
0 log
0 device 1 chip []
0 allocate 1 l1 on [1] [8192,8256)
0 allocate 2 l1 on [1] [8256,8320)
1 program 0: 111616+64 111616+64
2 run 0 on 1:1-2
2 free 2 cb on [1]
3 upstream
0 hidden operation-lost x1 lost of 1
3 end
db#rank-1-from-10001 of {1 true}: no (there is no operation 1) no (there is no operation 1) no (there is no operation 2) 0 no (there is no operation 2)
0 log
0 device 3 chip []
0 program 0: 111616+64
0 run 0 on 3:0-0
1 upstream
0 hidden operation-lost x1 of the second file
1 end
`

// TestDatabaseSaysItsRank: tables without ranks are those of the rank that the metadata names, if any. Since version 2 a leap
// of ids begins another file.
func TestDatabaseSaysItsRank(t *testing.T) {
	for _, c := range []struct {
		version, rank, want string
	}{{"1.9", "7", "7"}, {"1.9", "0", "0"}, {"1.9", "x", "none"}, {"2.0", "7", "7 7"}} {
		m := tablesOf{
			graphTable:        rowsOf("operation_id captured_graph", []any{int64(1), graphOf(placeOn(0))}, []any{int64(10_001), graphOf(placeOn(0))}),
			"report_metadata": rowsOf("key value", []any{"schema_version", c.version}, []any{"rank", c.rank}),
		}
		inputs, err := Databases(m, "db")
		require.NoError(t, err)
		var got []string
		for _, in := range inputs {
			for e, err := range in.Events(Options{}) {
				require.NoError(t, err)
				if e.Kind == event.KindEnd {
					got = append(got, map[bool]string{true: fmt.Sprint(e.Rank.V), false: "none"}[e.Rank.OK])
				}
			}
		}
		require.Equal(t, c.want, strings.Join(got, " "), "%v", c)
	}
}
