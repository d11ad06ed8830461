package capture

import (
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/tensor"
)

func TestPlaceIn(t *testing.T) {
	for trace, want := range map[string]string{
		"  File \"/home/a/model.py\", line 12, in forward\n    x = f()\n  File \"run.py\", line 3, in <module>": "model.py:12",
		"/home/a/model.py:12":           "model.py:12",
		"Traceback:\n model.py:12:5\nx": "model.py:12",
		`C:\a\model.py", line 7, in f`:  "model.py:7",
		"model.py":                      "",
		"model.py:x":                    "",
		"model.py:12 and more":          "",
		"12:30:05 started\nmodel.py:4":  "model.py:4",
		"":                              "",
		"a\x1b.py:1":                    `a\x1b.py:1`,
	} {
		require.Equal(t, want, placeIn(trace), "%q", trace)
	}
}

// named is an operation that returns a buffer at an address.
func named(name string, address string) string {
	return graphOf(
		`"node_type":"function_start","params":{"name":"`+name+`"}`,
		`"node_type":"buffer","params":{"size":64,"type":"L1","device_id":0},"connections":[4]`,
		`"node_type":"buffer_allocate","params":{"device_id":0,"address":`+address+`,"size":64,"max_size_per_bank":64,"type":"L1"},"connections":[1]`,
		`"node_type":"function_end","params":{"name":"`+name+`"},"connections":[4]`,
		`"node_type":"tensor","params":{"shape":"Shape([1])","device_id":0,"address":`+address+`,"buffer_type":1}`)
}

// callersIn returns the names of the buffers of a capture.
func callersIn(t *testing.T, events func(Options) iter.Seq2[*event.Event, error]) (out []string) {
	var table tensor.Table
	for e, err := range events(Options{Tensors: &table}) {
		require.NoError(t, err)
		if x := table.Of(e); e.Kind == event.KindAllocate && x != nil {
			out = append(out, x.Output+" "+x.Caller)
		}
	}
	return out
}

// The calls of one name have the records of that name in their order. What cannot be read says nothing.
func TestCallersOfASidecar(t *testing.T) {
	for _, c := range []struct{ beside, want string }{
		{`[{"name":"ttnn.b","python_stack_trace":["b.py:1"]},{"name":"ttnn.a","python_stack_trace":["File \"/x/a.py\", line 2, in f\n","z.py:9"]}]`, "ttnn.a a.py:2"},
		{`[{"name":"ttnn.a"}]`, "ttnn.a "},
		{`[{"name":"ttnn.a","python_stack_trace":7}]`, "ttnn.a "},
		{`{`, "ttnn.a "},
		{``, "ttnn.a "},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "run.json")
		require.NoError(t, os.WriteFile(file, []byte(named("ttnn.a", "1000000")), 0o600))
		if c.beside != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "run.python_io.json"), []byte(c.beside), 0o600))
		}
		require.Equal(t, []string{c.want}, callersIn(t, Input{Path: file}.Events), c.beside)
	}
	one := strings.TrimSuffix(named("ttnn.a", "1000000"), "]")
	two := one + strings.NewReplacer(`"counter":4`, `"counter":9`, `"counter":3`, `"counter":8`, `"counter":2`, `"counter":7`, `"counter":1,`, `"counter":6,`,
		`"counter":0`, `"counter":5`, "1000000", "900000", "[4]", "[9]", "[1]}", "[6]}").Replace(","+strings.TrimPrefix(named("ttnn.a", "1000000"), "["))
	dir := t.TempDir()
	file := filepath.Join(dir, "run.json")
	require.NoError(t, os.WriteFile(file, []byte(two), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.python_io.json"),
		[]byte(`[{"name":"ttnn.a","python_stack_trace":["a.py:1"]},{"name":"ttnn.a","python_stack_trace":["a.py:2"]}]`), 0o600))
	require.Equal(t, []string{"ttnn.a a.py:1", "ttnn.a a.py:2"}, callersIn(t, Input{Path: file}.Events))
}

// The operations of a database have its stack traces, by their ids.
func TestCallersOfADatabase(t *testing.T) {
	m := tablesOf{
		graphTable:     rowsOf("operation_id captured_graph", []any{int64(4), named("ttnn.a", "1000000")}, []any{int64(7), named("ttnn.b", "900000")}, []any{int64(9), named("ttnn.c", "800000")}),
		"stack_traces": rowsOf("operation_id stack_trace", []any{int64(7), "b.py:2"}, []any{int64(4), "File \"a.py\", line 1, in f"}),
	}
	inputs, err := Databases(m, "db")
	require.NoError(t, err)
	require.Len(t, inputs, 1)
	require.Equal(t, []string{"ttnn.a a.py:1", "ttnn.b b.py:2", "ttnn.c "}, callersIn(t, inputs[0].Events))
	m["stack_traces"] = append(m["stack_traces"], []any{"x", "c.py:3"}) // without a number
	require.Equal(t, []string{"ttnn.a a.py:1", "ttnn.b b.py:2", "ttnn.c "}, callersIn(t, inputs[0].Events))
	delete(m, "stack_traces")
	inputs, err = Databases(m, "db")
	require.NoError(t, err)
	require.Equal(t, []string{"ttnn.a ", "ttnn.b ", "ttnn.c "}, callersIn(t, inputs[0].Events))
}
