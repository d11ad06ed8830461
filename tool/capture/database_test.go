package capture

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
)

// tablesOf is a database without a driver: tables of rows, whose first cells name the columns.
type tablesOf map[string][][]any

func (m tablesOf) Schema() (map[string][]string, error) {
	out := map[string][]string{}
	for name, rows := range m {
		out[name] = []string{}
		for _, column := range rows[0] {
			out[name] = append(out[name], column.(string))
		}
	}
	return out, nil
}

func (m tablesOf) cell(table, column string, row int64) any {
	for i, name := range m[table][0] {
		if name == column {
			return m[table][row][i]
		}
	}
	return nil
}

var errTorn = errors.New("torn page")

func (m tablesOf) Rows(table string, columns ...string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		values := make([]any, len(columns))
		for i := range m[table][1:] {
			id := int64(i + 1)
			for j, column := range columns {
				values[j] = m.cell(table, column, id)
			}
			var err error
			if len(values) > 0 {
				err, _ = values[0].(error) // errTorn
			}
			if !yield(Row{id, values}, err) || err != nil {
				return
			}
		}
	}
}

func (m tablesOf) Text(table, column string, row int64) (io.Reader, error) {
	text, ok := m.cell(table, column, row).(string)
	if !ok {
		return nil, errTorn
	}
	return strings.NewReader(text), nil
}

// An op is an operation of such a database, with what lives at its end: addresses of device 0.
type op struct {
	nodes []string
	lives []int
}

// databaseOf returns a database. With listed, buffers has what lives.
func databaseOf(listed bool, ops ...op) tablesOf {
	m := tablesOf{
		graphTable: {{"operation_id", graphTable}},
		"devices":  {{"device_id", "worker_l1_size", "address_at_first_l1_cb_buffer", "num_x_compute_cores", "num_y_compute_cores"}, {int64(0), int64(16384), int64(4096), int64(2), int64(2)}},
	}
	if listed {
		m[buffersTable] = [][]any{{"operation_id", "device_id", "address", "max_size_per_bank", "buffer_type"}}
	}
	for i, o := range ops {
		id := int64(i + 1)
		m[graphTable] = append(m[graphTable], []any{id, graphOf(slices.Clone(o.nodes)...)})
		for _, address := range o.lives {
			if listed {
				m[buffersTable] = append(m[buffersTable], []any{id, int64(0), int64(address), int64(64), int64(1)})
			}
		}
	}
	return m
}

// Nodes of the operations below. Those of buffers name node 0 of their slice.
const (
	opStart  = `"node_type":"function_start","params":{"name":"f"}`
	opEnd    = `"node_type":"function_end","params":{"name":"f"}`
	standsIn = `"node_type":"buffer","params":{"buffer_type":1,"device_id":0,"size":256,"type":"L1"}`
	strange  = `"node_type":"buffer_deallocate","connections":[0],"params":{"buffer_type":1,"device_id":0,"size":0,"type":"L1"}`
)

func bufferAt8192(kind string) string {
	return fmt.Sprintf(`"node_type":"buffer_%s","connections":[0],"params":{"address":8192,"buffer_type":1,"device_id":0,"max_size_per_bank":64,"num_cores":0,"page_size":64,"size":256,"type":"L1"}`, kind)
}

// eventsIn returns the events of a database, as text.
func eventsIn(t *testing.T, m tablesOf) string {
	t.Helper()
	inputs, err := Databases(m, "db.sqlite")
	require.NoError(t, err)
	require.Len(t, inputs, 1)
	events, err := copied(inputs[0].Events(Options{}))
	require.NoError(t, err)
	lines := strings.Split(summary(events), "\n")
	var out []string
	for _, line := range lines {
		if f := strings.Fields(line); len(f) > 1 && (f[1] == "allocate" || f[1] == "free" || f[1] == "hidden" || f[1] == "run") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// TestDatabaseBetweenOperations: what lives when operations end says what was freed between
// them, and what came.
func TestDatabaseBetweenOperations(t *testing.T) {
	made, placed := op{[]string{standsIn, bufferAt8192("allocate")}, []int{8192}}, op{[]string{freeOf(0), placeOn(0)}, nil}
	still := op{[]string{freeOf(0), placeOn(0)}, []int{8192}}
	for name, c := range map[string]struct {
		ops  []op
		want string
	}{
		"freed before the second":      {[]op{made, placed, placed}, "1 allocate 1 l1 on [0] [8192,8256)\n2 free 1 cb on [0]\n4 run 0 on 0:3-3"},
		"freed before the third":       {[]op{made, still, placed}, "1 allocate 1 l1 on [0] [8192,8256)\n4 run 0 on 0:3-3\n4 free 1 cb on [0]"},
		"gone when its operation ends": {[]op{{made.nodes, nil}, placed}, "1 allocate 1 l1 on [0] [8192,8256)\n1 free 1 cb on [0]"},
		"there to the end":             {[]op{made, still, still}, "6 allocate 2 l1 on [0] [12288,12352)\n6 free 1 cb on [0]"},
		"came before the second":       {[]op{placed, still, still}, "2 run 0 on 0:1-1\n2 allocate 1 l1 on [0] [8192,8256)"},
		"came and went":                {[]op{placed, still, placed}, "2 allocate 1 l1 on [0] [8192,8256)\n4 run 0 on 0:3-3\n4 free 1 cb on [0]"},
		"freed in another operation":   {[]op{made, {[]string{standsIn, bufferAt8192("deallocate"), freeOf(0), placeOn(0)}, nil}, placed}, "3 free 1 cb on [0]"},
		"freed without an address":     {[]op{made, {[]string{standsIn, strange, freeOf(0), placeOn(0)}, nil}, placed}, "3 free 1 cb on [0]"},
		"came and was freed within":    {[]op{placed, {[]string{standsIn, bufferAt8192("deallocate")}, nil}, placed}, "2 allocate 1 l1 on [0] [8192,8256)"},
		"a number of another slice":    {[]op{made, {[]string{strings.Replace(bufferAt8192("deallocate"), "[0]", "[1]", 1)}, nil}}, "2 free 1 cb on [0]"},
	} {
		t.Run(name, func(t *testing.T) {
			got := eventsIn(t, databaseOf(true, append(c.ops, op{lives: []int{12288}, nodes: []string{opStart, opEnd}})...))
			require.Contains(t, got, c.want)
			require.NotContains(t, got, "hidden")
			t.Log(got)
		})
	}
	require.Contains(t, eventsIn(t, databaseOf(false, made, placed)), "hidden between-operations")
	require.NotContains(t, eventsIn(t, databaseOf(false, placed, made)), "hidden", "nothing comes after it")
	other := databaseOf(true, made, still)
	other["devices"] = append(other["devices"], append([]any{int64(3)}, other["devices"][1][1:]...)) // two chips have an L1 each
	for _, row := range other[buffersTable][1:] {
		row[1] = int64(3)
	}
	require.Contains(t, eventsIn(t, other), "hidden between-operations", "the lists are about another device")
}

// TestDatabaseLosesOperations: an operation, or an error, that has no graph is hidden.
func TestDatabaseLosesOperations(t *testing.T) {
	failed := op{nodes: []string{`"node_type":"error","params":{"error_type":"x","error_message":"m","error_operation":"f"}`}}
	placed := op{nodes: []string{placeOn(0)}}
	with := func(table string, columns string, ids ...int64) tablesOf {
		m := databaseOf(true, placed, failed)
		row := []any{}
		for column := range strings.SplitSeq(columns, " ") {
			row = append(row, column)
		}
		m[table] = [][]any{row}
		for _, id := range ids {
			m[table] = append(m[table], append([]any{id, "lost " + strconv.Itoa(int(id))}, make([]any, len(row)-2)...))
		}
		return m
	}
	for name, c := range map[string]struct {
		m    tablesOf
		want bool
	}{
		"all are there":          {with("operations", "operation_id name", 1, 2), false},
		"one has no graph":       {with("operations", "operation_id name", 1, 2, 3), true},
		"an error that is shown": {with("errors", "operation_id operation_name error_type", 0), false},
		"another one":            {with("errors", "operation_id operation_name error_type", 0, 0), true},
		"of an operation":        {with("errors", "operation_id operation_name error_type", 1, 2, 0), false},
		"no names":               {with("operations", "operation_id other", 3), true},
	} {
		require.Equal(t, c.want, strings.Contains(eventsIn(t, c.m), "hidden operation-lost"), name)
	}
}

// TestDatabaseErrors: an error of the driver gets its place, wherever it happens.
func TestDatabaseErrors(t *testing.T) {
	read := func(m tablesOf) (err error) {
		inputs, err := Databases(m, "db.sqlite")
		for _, in := range inputs {
			for _, err = range in.Events(Options{}) {
			}
		}
		return err
	}
	for _, table := range []string{graphTable, buffersTable, "devices", "operations", "errors", "report_metadata"} {
		m := databaseOf(true, op{[]string{placeOn(0)}, []int{8192}}, op{[]string{placeOn(0)}, nil})
		columns := map[string][]any{
			"operations": {"operation_id", "name"}, "errors": {"operation_id", "operation_name"}, "report_metadata": {"key", "value"},
		}
		if columns[table] != nil {
			m[table] = [][]any{columns[table], {"x", "y"}}
		}
		m[table][1][0] = errTorn
		err := read(m)
		require.ErrorIs(t, err, errTorn)
		var e *event.InputError
		require.ErrorAs(t, err, &e)
		require.Equal(t, []any{"db.sqlite", table, int64(1)}, []any{e.File, e.Table, e.Row})
		require.Contains(t, err.Error(), "table "+table+": row 1: torn page")
	}
	m := databaseOf(true, op{[]string{placeOn(0)}, []int{8192}})
	m[graphTable][1][0] = 1.5
	require.ErrorContains(t, read(m), "1.5 is not a whole number")
	m = databaseOf(true, op{[]string{placeOn(0)}, nil})
	m[graphTable][1][1] = nil
	require.ErrorContains(t, read(m), "table captured_graph: row 1: column captured_graph: torn page")
}

// TestDatabaseSlicesAreEmpty: an empty graph stands for nothing.
func TestDatabaseSlicesAreEmpty(t *testing.T) {
	m := databaseOf(true, op{nil, []int{8192}}, op{[]string{placeOn(0)}, []int{8192}}, op{nil, nil}, op{[]string{placeOn(0)}, []int{8192}})
	require.Contains(t, eventsIn(t, m), "0 allocate 1 l1 on [0] [8192,8256)")
	require.NotContains(t, eventsIn(t, m), "free")
}

// TestDatabaseSlicesShareTheirReader: the texts of all operations go through one buffer, so that
// many small ones take little.
func TestDatabaseSlicesShareTheirReader(t *testing.T) {
	few := make([]op, 2_000)
	for i := range few {
		few[i].nodes = []string{freeOf(0), placeOn(0)}
	}
	m := databaseOf(true, few...)
	inputs, err := Databases(m, "db.sqlite")
	require.NoError(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, err := range inputs[0].Events(Options{}) {
		require.NoError(t, err)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)/uint64(len(few)), uint64(16<<10), "bytes for each operation")
}

// TestDatabaseOfManyOperations: operation 10,001 begins another file only where the ids leap.
func TestDatabaseOfManyOperations(t *testing.T) {
	of := func(ids ...int64) (names []string) {
		m := tablesOf{graphTable: {{"operation_id", graphTable}}, "report_metadata": {{"key", "value"}, {"schema_version", "2.1"}}}
		for _, id := range ids {
			m[graphTable] = append(m[graphTable], []any{id, "[]"})
		}
		inputs, err := Databases(m, "db.sqlite")
		require.NoError(t, err)
		for _, in := range inputs {
			names = append(names, in.Path)
		}
		return names
	}
	require.Equal(t, []string{"db.sqlite"}, of(1, 9_999, 10_000, 10_001, 10_002))
	require.Equal(t, []string{"db.sqlite#from-1", "db.sqlite#from-10001"}, of(1, 2, 10_001, 10_002))
	require.Equal(t, []string{"db.sqlite#from-1", "db.sqlite#from-10001"}, of(1, 10_000, 10_001, 10_002, 10_001, 10_002), "of which the first one is longer")
}

// TestDatabaseRowsUnreadable: a row with a field that cannot be read is hidden.
func TestDatabaseRowsUnreadable(t *testing.T) {
	for _, c := range []struct {
		table  string
		column int
		value  any
		why    string
	}{
		{"devices", 2, 1.5, "table devices: row 1: column address_at_first_l1_cb_buffer: 1.5 is not a whole number"},
		{"devices", 0, nil, "table devices: row 1: column device_id: missing"},
		{buffersTable, 0, "x", "table buffers: row 1: column operation_id: x is not a whole number"},
		{buffersTable, 2, 1.5, "table buffers: row 1: column "},
		{"operations", 0, int64(-1), "table operations: row 1: column operation_id: -1 is not from 0 to"},
	} {
		m := databaseOf(true, op{[]string{placeOn(0)}, []int{8192}}, op{[]string{placeOn(0)}, nil})
		if c.table == "operations" {
			m[c.table] = [][]any{{"operation_id", "name"}, {int64(1), "f"}}
		}
		m[c.table][1][c.column] = c.value
		inputs, err := Databases(m, "db.sqlite")
		require.NoError(t, err)
		var hidden []event.Event
		for e, err := range inputs[0].Events(Options{}) {
			require.NoError(t, err)
			if e.Code == hiddenUnreadable {
				hidden = append(hidden, *e)
			}
		}
		require.Len(t, hidden, 1, c.why)
		require.Equal(t, int64(1), hidden[0].Count)
		require.Contains(t, hidden[0].Detail, c.why)
	}
}
