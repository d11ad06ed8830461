package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

const traces = "testdata/published"

// read returns the error of the first node of an input that cannot be read.
func read(text string) error {
	for n, err := range NewReader(strings.NewReader(text), "trace.json").nodes() {
		if err != nil {
			return err
		}
		if n.Unreadable != nil {
			return n.Unreadable
		}
	}
	return nil
}

// longGraph returns a graph of at least size bytes.
func longGraph(size int) []byte {
	kinds := []string{
		`"node_type":"function_start","arguments":["MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::DRAM,` +
			`shard_spec=std::nullopt,nd_shard_spec=std::nullopt,created_with_nd_shard_spec=0)","DataType::BFLOAT16"],"params":{"inputs":"5","name":"ttnn::add"}`,
		`"node_type":"tensor","arguments":[],"params":{"address":5848704,"buffer_type":0,"device_id":1,"device_tensors":` +
			`"[{\"address\":5848704,\"device_id\":0,\"mesh_device_id\":1}]","dtype":"DataType::BFLOAT16","layout":"Layout::TILE",` +
			`"memory_config":"MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::DRAM)",` +
			`"shape":"Shape([1, 1, 1024, 1024])","size":2097152,"tensor_id":1}`,
		`"node_type":"buffer","arguments":[],"params":{"buffer_type":0,"device_id":1,"layout":"INTERLEAVED","size":2097152,"type":"DRAM"}`,
		`"node_type":"circular_buffer_deallocate_all","arguments":[],"params":{"device_id":1}`,
		`"node_type":"circular_buffer_allocate","arguments":[],"params":{"address":111616,"core_range_set":"{[0-0 - 10-8], [0-9 - 3-9]}",` +
			`"device_id":0,"globally_allocated":"0","size":131072}`,
		`"node_type":"function_end","arguments":[],"duration_ns":12345,"params":{"name":"ttnn::add"}`,
	}
	var b strings.Builder
	b.WriteString("[")
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"connections":[%d,%d],"counter":%d,"input_tensors":[3,5],"stacking_level":2,%s}`, i+1, i+2, i, kinds[i%len(kinds)])
	}
	b.WriteString("]")
	return []byte(b.String())
}

func some[T any](v T) event.Opt[T] { return event.Opt[T]{V: v, OK: true} }

const (
	startNode = `{"counter":0,"node_type":"capture_start","params":{}}`
	endNode   = `{"counter":1,"node_type":"capture_end","params":{}}`
	two       = "[" + startNode + "," + endNode + "]"
	rows      = `[{"device_id":4,"arch":"blackhole","num_x_compute_cores":11,"num_y_compute_cores":10,"worker_l1_size":1572864,` +
		`"address_at_first_l1_cb_buffer":111616,"cb_limit":-1},{"device_id":5,"arch":2}]`
)

// checkError checks what all errors have in common.
func checkError(t *testing.T, err error) {
	t.Helper()
	var e *event.InputError
	require.ErrorAs(t, err, &e)
	text := err.Error()
	require.LessOrEqual(t, len(text), 300, text)
	for _, c := range []byte(text) {
		require.True(t, ' ' <= c && c <= '~', "%q", text)
	}
	require.GreaterOrEqual(t, e.Offset, int64(0))
	require.GreaterOrEqual(t, e.Node, int64(-1))
	require.NotEmpty(t, e.Reason)
}

func TestReaderIsReadOnce(t *testing.T) {
	r := NewReader(strings.NewReader(two), "trace.json")
	for n, err := range r.nodes() {
		require.NoError(t, err)
		require.Zero(t, n.Counter)
		break // the rest is not read
	}
	for n, err := range r.nodes() {
		require.Nil(t, n)
		require.EqualError(t, err, "trace.json: is read already, or closed")
	}
}

func TestInputErrorsOfTheReader(t *testing.T) {
	broken := errors.New("broken\npipe")
	for n := range len(two) + 1 {
		r := NewReader(io.MultiReader(strings.NewReader(two[:n]), iotest.ErrReader(broken)), "-")
		var last error
		for _, err := range r.nodes() {
			last = err
		}
		require.ErrorIs(t, last, broken, "after %d bytes", n)
		checkError(t, last)
	}
	for n := range len(two) {
		err := read(two[:n])
		checkError(t, err)
		if n > 0 {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "after %d bytes", n)
		}
	}
}

func TestMemory(t *testing.T) {
	const huge = 300 << 20
	times := func(pattern string) io.Reader {
		pattern = strings.Repeat(pattern, 1+4096/len(pattern))
		return testkit.Repeat(pattern, huge/int64(len(pattern))*int64(len(pattern)))
	}
	for name, parts := range map[string][3]any{
		"string in a report":  {`{"cluster_descriptor":"`, times("x"), `","graph":` + two + `}`},
		"key in a report":     {`{"`, times("k"), `":1,"graph":` + two + `}`},
		"section of a report": {`{"graph":` + two + `,"buffer_pages":[`, times(`{"address":1552384,"core_x":1},`), `{}]}`},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r := NewReader(io.MultiReader(strings.NewReader(parts[0].(string)), parts[1].(io.Reader), strings.NewReader(parts[2].(string))), name)
		count := 0
		for _, err := range r.nodes() {
			require.NoError(t, err)
			count++
		}
		require.Equal(t, 2, count)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2<<20), "bytes allocated in all for a %s", name)
	}
}

func TestOpt(t *testing.T) {
	require.Equal(t, 7, event.Opt[int]{}.Or(7))
	require.Equal(t, 0, some(0).Or(7))
	require.Equal(t, "duplicate key, malformed device_tensors", (event.AnomalyDuplicateKey | event.AnomalyDeviceTensors).String())
}

// An event log is no capture. The error names the command that reads it.
func TestReaderKnowsLogs(t *testing.T) {
	for _, c := range []struct {
		text string
		log  bool
	}{
		{`{"event":"log","version":1}` + "\n", true},
		{`{"event":"log","version":1}`, true},
		{"\xef\xbb\xbf\r\n" + `{"tag":"x","version":99,"event":"log"}` + "\r\n{", true},
		{`{"event":"device"}`, false},
		{`{"event":"log"`, false},
		{`{"graph":[]}`, false},
		{"{\n" + `"event":"log"}`, false},
	} {
		var err error
		for _, e := range NewReader(strings.NewReader(c.text), "x.json").nodes() {
			err = e
		}
		if c.log {
			require.EqualError(t, err, "x.json:1: byte 0: this is an event log, not a graph capture; cbl1 stream reads it", "%s", c.text)
			require.ErrorIs(t, err, event.ErrNotCapture)
		} else if err != nil {
			require.NotContains(t, err.Error(), "event log", "%s", c.text)
		}
	}
}

// The rows of the project's list of capture hazards, as far as the reader decides
// them. Each names the input and what must come of it.

// cb returns a graph of one circular buffer with these params.
func cb(params string) string {
	return `[{"counter":0,"node_type":"circular_buffer_allocate","params":{` + params + `}}]`
}

const (
	cores   = `"core_range_set":"{[0-0 - 1-1]}"`
	address = `"address":111616`
	size    = `"size":4096`
)

func TestHazardWholeInput(t *testing.T) {
	for _, c := range []struct {
		name, input string
		offset      int64
		line        int64
		cause       error
		want        string
	}{
		{"empty", "", 0, 1, event.ErrNotCapture, "this is empty input"},
		{"white space", "\n\n ", 3, 3, io.ErrUnexpectedEOF, "input ends where a value belongs"},
		{"only a byte order mark", "\xef\xbb\xbf", 3, 1, io.ErrUnexpectedEOF, "input ends"},
		{"cut", two[:len(two)-1], int64(len(two)) - 1, 1, io.ErrUnexpectedEOF, "input ends inside an array"},
		{"cut in a node", "[\n" + startNode[:20], 22, 2, io.ErrUnexpectedEOF, "node 0: input ends inside a string"},
		{"trailing garbage", two + "\nx", int64(len(two)) + 1, 2, nil, "'x' after the end"},
		{"two documents", two + "\n" + two, int64(len(two)) + 1, 2, nil, "a second JSON value"},
		{"NUL padding", two + "\x00\x00", int64(len(two)), 1, nil, "NUL bytes after the end"},
		{"100,000 brackets", strings.Repeat("[", 100_000), 1000, 1, event.ErrTooDeep, "node 0: arrays and objects nest more than 1000 deep"},
		{"deep in a skipped field", `{"x":` + strings.Repeat(`[`, 100_000), 1004, 1, event.ErrTooDeep, "nest more than 1000 deep"},
		{"NaN", cb(`"size":NaN`), 70, 1, nil, "node 0: unexpected 'N' where a value belongs"},
		{"Infinity", cb(`"size":-Infinity`), 71, 1, nil, "unexpected 'I' in a number"},
		{"UTF-16 with mark", "\xff\xfe[\x00]\x00", 0, 1, event.ErrNotCapture, "UTF-16"},
		{"UTF-16, big-endian", "\x00[\x00]", 0, 1, event.ErrNotCapture, "UTF-16"},
		{"UTF-16, little-endian", "[\x00]\x00", 0, 1, event.ErrNotCapture, "UTF-16"},
		{"HTML", "\n<!DOCTYPE html><html>", 0, 1, event.ErrNotCapture, "an HTML page"},
		{"XML", "<?xml version='1.0'?>", 0, 1, event.ErrNotCapture, "XML or HTML"},
		{"LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", 0, 1, event.ErrNotCapture, "git LFS pointer"},
		{"SQLite", "SQLite format 3\x00\x10\x00", 0, 1, event.ErrNotCapture, "this is a SQLite database"},
		{"zip", "PK\x03\x04rest", 0, 1, event.ErrNotCapture, "zip archive"},
		{"binary", "\x7fELF\x02\x01\x01\x00", 0, 1, event.ErrNotCapture, "binary data"},
		{"other text", "counter,node_type\n", 0, 1, nil, "unexpected 'c' where a value belongs; cbl1 explain reads tt-metal's messages in a text"},
		{"a log with times", "2026-01-02 TT_THROW: ...\n", 0, 1, event.ErrNotCapture, "an array or a report object; cbl1 explain reads"},
		{"python_io sidecar", `[{"operation":"ttnn.add"}]`, 1, 1, event.ErrNotCapture, "python_io"},
		{"levelized graph", `[{"counter":0,"name":"ttnn::add","in_edges":[1]}]`, 1, 1, event.ErrNotCapture, "levelized graph"},
		{"rows of a database", `[{"operation_id":1,"captured_graph":"[]"}]`, 1, 1, event.ErrNotCapture, "database rows"},
	} {
		err := read(c.input)
		require.Error(t, err, c.name)
		checkError(t, err)
		require.Contains(t, err.Error(), c.want, c.name)
		var e *event.InputError
		require.ErrorAs(t, err, &e)
		require.Equal(t, c.offset, e.Offset, "%s: %v", c.name, err)
		require.Equal(t, c.line, e.Line, "%s: %v", c.name, err)
		if c.cause != nil {
			require.ErrorIs(t, err, c.cause, c.name)
		}
	}
}

func TestListsOfNodesStay(t *testing.T) {
	var nodes []*graph.Node
	for n, err := range NewReader(bytes.NewReader(longGraph(2<<20)), "long.json").nodes() {
		require.NoError(t, err)
		nodes = append(nodes, new(*n))
	}
	for i, n := range nodes {
		require.EqualValues(t, i, n.Counter)
		if n.Connections != nil {
			require.Equal(t, []uint64{uint64(i) + 1, uint64(i) + 2}, n.Connections)
		}
	}
}
