package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sqlite "github.com/ncruces/go-sqlite3"
	"github.com/stretchr/testify/require"
)

// foreignCapture has a node of each kind that carries text.
const foreignCapture = `{"version":1,"metadata":{"ttnn_version":"0.60"},
"devices":[{"device_id":0,"arch":"wormhole_b0","num_x_compute_cores":8,"num_y_compute_cores":8}],"graph":[
{"counter":0,"node_type":"capture_start","params":{},"connections":[1,9]},
{"counter":1,"node_type":"function_start","params":{"name":"ttnn.add","inputs":"2"},"arguments":["Tensor(a)"],"connections":[2,3,4,5]},
{"counter":2,"node_type":"buffer","params":{"size":"4096","type":"L1","layout":"INTERLEAVED","device_id":"0"},"connections":[3]},
{"counter":3,"node_type":"buffer_allocate","params":{"address":"1400000","size":"4096","layout":"INTERLEAVED","type":"L1",
 "page_size":"2048","num_cores":"0","max_size_per_bank":"4096","device_id":"0"},"connections":[2]},
{"counter":4,"node_type":"tensor","params":{"tensor_id":"1","shape":"Shape([32,32])","device_tensors":"[]"},"connections":[]},
{"counter":5,"node_type":"circular_buffer_allocate","params":{"address":"111616","size":"4096","core_range_set":"{[0-0 - 1-1]}",
 "globally_allocated":"false","device_id":"0"},"connections":[]},
{"counter":6,"node_type":"error","params":{"error_type":"exception","error_message":"TT_THROW: out","error_operation":"ttnn.add"},"connections":[]},
{"counter":7,"node_type":"something_new","params":{"text":"x"},"connections":[]},
{"counter":8,"node_type":"function_end","params":{"name":"ttnn.add"},"connections":[]},
{"counter":9,"node_type":"capture_end","params":{},"connections":[]}]}`

// foreignLog has an event of each kind that carries text.
const foreignLog = `{"event":"log","version":1,"source":"capture","process":"1","tag":"t","fleet":"training"}
{"event":"device","device":0,"spec":{"arch":"wormhole","name":"mine"},"role":"chip","from":{"arch":"file"}}
{"event":"op_start","name":"ttnn.add"}
{"event":"program","program":1,"name":"matmul","cbs":[{"cores":"{[0-0 - 1-1]}","size":4096,"kind":"cb"}]}
{"event":"allocate","buffer":1,"kind":"l1","name":"weights","parts":[{"address":1400000,"size":4096,"cores":"0-0"}],"layout":"INTERLEAVED","process":"7","t":12}
{"event":"enqueue","program":1,"devices":[0],"op":"ttnn.add > inner","id":"x"}
{"event":"run","program":1,"on":[{"device":0,"first":4,"last":9,"cb_first":5,"cb_last":5,"cb_op":"ttnn.sub"}],"op":"ttnn.mul","node":9}
{"event":"enqueue","program":7,"process":"8","tag":"u"}
{"event":"hidden","code":"cache-hit","count":2,"node":31,"detail":"ttnn::matmul"}
{"event":"anomaly","code":"free-again","count":1,"detail":"line 7"}
{"query":"who","device":0,"core":"0-0","address":111616,"id":"after"}
{"query":"anomalies","id":{"a":"b"}}
{"event":"end","nodes":40,"spec":{"arch":"wormhole","cols":8,"rows":8},"from":{"arch":"file","base":"arch"}}`

// foreignMessages are messages of tt-metal.
const foreignMessages = `Statically allocated circular buffers in program 7 clash with L1 buffers on core range [(x=0,y=0) - (x=1,y=1)]. ` +
	`L1 buffer allocated at 1400000 and static circular buffer region ends at 115712
Circular buffer core range [0-0 - 7-7] in program 11 exceeds device compute grid (8x7)
Out of Memory: Not enough space to allocate 4096 B L1 buffer across 64 banks, where each bank needs to store 64 B
`

// plantIn returns a JSON text with foreign text behind the strings at all given places.
func plantIn(t *testing.T, text string, places ...string) string {
	root, n := decoded(t, text), 0
	walkStrings("", &root, func(place string, s *any) {
		if slices.Contains(places, place) {
			*s = (*s).(string) + foreign
			n++
		}
	})
	require.Equal(t, len(places), n)
	return encoded(t, root)
}

// plantEach returns copies of a JSON text, each with foreign text in one place: behind a string, instead of
// one, or as a key.
func plantEach(t *testing.T, text string) (out []string) {
	root := decoded(t, text)
	walkStrings("", &root, func(_ string, s *any) {
		was := *s
		for _, other := range []any{fmt.Sprint(was, foreign), foreign, map[string]any{foreign: foreign}} {
			*s = other
			out = append(out, encoded(t, root))
		}
		*s = was
	})
	return out
}

func decoded(t *testing.T, text string) (v any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	return v
}

func encoded(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// walkStrings calls f with each string of a value. f may change it.
func walkStrings(place string, v *any, f func(place string, s *any)) {
	switch x := (*v).(type) {
	case string:
		f(place, v)
	case []any:
		for i := range x {
			walkStrings(fmt.Sprintf("%s/%d", place, i), &x[i], f)
		}
	case map[string]any:
		for key, member := range x {
			walkStrings(place+"/"+key, &member, f)
			x[key] = member
		}
	}
}

// plantWords returns copies of lines, each with foreign text behind another word.
func plantWords(text string) (out [][]byte) {
	words := strings.SplitAfter(text, " ")
	for i := range words {
		out = append(out, []byte(strings.Join(words[:i], "")+strings.TrimRight(words[i], " \n")+foreign+" "+strings.Join(words[i+1:], "")))
	}
	return out
}

func inCapture(t *testing.T) (out [][]byte) {
	out = [][]byte{[]byte(plantIn(t, foreignCapture, "/metadata/ttnn_version", "/graph/1/params/name", "/graph/1/arguments/0", "/graph/2/params/layout",
		"/graph/3/params/layout", "/graph/4/params/shape", "/graph/6/params/error_message", "/graph/6/params/error_operation", "/graph/7/node_type", "/graph/8/params/name"))}
	for _, text := range plantEach(t, foreignCapture) {
		out = append(out, []byte(text))
	}
	return out
}

func inLog(t *testing.T) (out [][]byte) {
	together := [][]string{{"/source", "/process", "/tag", "/fleet"}, {"/spec/name"}, {"/name"}, {"/name"}, {"/name", "/layout", "/process"}, {"/op", "/id"},
		{"/op", "/on/0/cb_op"}, {"/process", "/tag"}, {"/code", "/detail"}, {"/code", "/detail"}, {"/id"}, {"/id/a"}, {}}
	lines := strings.Split(foreignLog, "\n")
	with := func(i int, line string) {
		all := slices.Clone(lines)
		all[i] = line
		out = append(out, []byte(strings.Join(all, "\n")+"\n"))
	}
	var all []string
	for i, line := range lines {
		all = append(all, plantIn(t, line, together[i]...))
	}
	out = [][]byte{[]byte(strings.Join(all, "\n") + "\n")}
	for i, line := range lines {
		for _, one := range plantEach(t, line) {
			with(i, one)
		}
	}
	return out
}

// inDatabase has foreign text in each column of text, and in the graph of an operation.
func inDatabase(t *testing.T) (out [][]byte) {
	path := filepath.Join(t.TempDir(), "made.sqlite")
	run := readRun(t, []byte(foreignCapture)).sliced(t)
	run.more = []string{
		"INSERT INTO tensors VALUES (1, 'Shape([32])', 'BFLOAT16', 'TILE', 'L1', 0, 1400000, 1)",
		"INSERT INTO operation_arguments VALUES (1, 'arg', 'Tensor')",
		"INSERT INTO errors VALUES (1, 'ttnn.add', 'RuntimeError', 'TT_THROW', 'trace', 'now', 0)",
		"INSERT INTO nodes VALUES (1, 1, 1, 'node', 0)",
		"INSERT INTO stack_traces VALUES (1, 'trace', 1)",
	}
	makeDatabase(t, path, db31, run)
	columns := []string{"operations.name", "tensors.shape", "tensors.dtype", "tensors.layout", "tensors.memory_config", "operation_arguments.name",
		"operation_arguments.value", "errors.operation_name", "errors.error_type", "errors.error_message", "errors.stack_trace", "errors.timestamp",
		"nodes.name", "stack_traces.stack_trace", "report_metadata.value"}
	plain, err := os.ReadFile(path)
	require.NoError(t, err)
	planted := func(graph []byte, columns ...string) {
		require.NoError(t, os.WriteFile(path, plain, 0o600))
		conn, err := sqlite.Open(path)
		require.NoError(t, err)
		exec := func(statement string, value []byte) {
			s, _, err := conn.Prepare(statement)
			require.NoError(t, err)
			require.NoError(t, s.BindRawText(1, value))
			require.NoError(t, s.Exec())
			require.NoError(t, s.Close())
		}
		for _, column := range columns {
			table, name, _ := strings.Cut(column, ".")
			exec("UPDATE "+table+" SET "+name+" = "+name+" || ?", []byte(foreign))
		}
		if graph != nil {
			exec("UPDATE captured_graph SET captured_graph = ? WHERE operation_id = 2", graph)
		}
		require.NoError(t, conn.Close())
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		out = append(out, data)
	}
	graph := string(run.slices[1].graph)
	planted([]byte(plantIn(t, graph, "/0/params/name", "/5/params/error_message", "/6/node_type")), columns[:len(columns)-1]...)
	for _, column := range columns {
		planted(nil, column)
	}
	return out
}

// inSavedReport has foreign text in the JSON of a report.
func inSavedReport(t *testing.T) (out [][]byte) {
	file := filepath.Join(t.TempDir(), "capture.json")
	require.NoError(t, os.WriteFile(file, inCapture(t)[0], 0o600))
	_, report, stderr := call("", "report", "--format", "json", "--programs", file)
	require.Empty(t, stderr)
	out = [][]byte{[]byte(report)}
	require.NoError(t, os.WriteFile(file, []byte(foreignCapture), 0o600))
	_, report, _ = call("", "report", "--format", "json", "--programs", file)
	for _, text := range plantEach(t, report) {
		out = append(out, []byte(text))
	}
	return out
}

func foreignSources(t *testing.T) []foreignSource {
	budgets := "core = 90%\nop ttnn.add" + strings.NewReplacer("\n", "", "\r", "", "=", "").Replace(foreign) + " = 1 KiB\n"
	return []foreignSource{
		{"capture.json", inCapture(t), runQuestions(), 40, 60},
		{"log.jsonl", inLog(t), runQuestions(), 40, 120},
		{"base.sqlite", inDatabase(t), runQuestions(), 40, 50},
		{"report.json", inSavedReport(t), diffQuestions(), 9, 12},
		{"messages.txt", plantWords(foreignMessages), append(inFormats("explain", "FILE", "text json"), inFormats("explain", "FILE --with OTHER", "text json")...), 0, 0},
		{"budgets.txt", [][]byte{[]byte(budgets), []byte("op x = " + foreign), []byte("core" + foreign + " = 1")},
			inFormats("check --budget FILE", "OTHER", "text json csv markdown junit"), 4, 0},
		{foreign + ".json", [][]byte{[]byte(foreignCapture), []byte(foreignLog), []byte("[")}, runQuestions(), 25, 10},
	}
}
