package graph

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
)

const traces = "../../testdata/published"

// reading returns the nodes of a text.
func reading(d *Document, in io.Reader) iter.Seq2[*Node, error] {
	return func(yield func(*Node, error) bool) {
		d.Yield = func(n *Node) bool { return yield(n, nil) }
		if err := ScanError(d.File, -1, d.Read(in)); err != nil && !errors.Is(err, ErrStop) {
			yield(nil, err)
		}
	}
}

// read returns the nodes of an input up to the first one that cannot be read, and the error of that.
func read(text string) ([]*Node, Report, error) {
	d := Document{File: "trace.json"}
	var nodes []*Node
	for n, err := range reading(&d, strings.NewReader(text)) {
		if err != nil {
			return nodes, d.Info, err
		}
		if n.Unreadable != nil {
			return nodes, d.Info, n.Unreadable
		}
		nodes = append(nodes, new(*n))
	}
	return nodes, d.Info, nil
}

func some[T any](v T) event.Opt[T] { return event.Opt[T]{V: v, OK: true} }

// single reads a graph of one node.
func single(t *testing.T, node string) *Node {
	t.Helper()
	nodes, _, err := read("[" + node + "]")
	require.NoError(t, err, node)
	require.Len(t, nodes, 1)
	return nodes[0]
}

const (
	startNode = `{"counter":0,"node_type":"capture_start","params":{}}`
	endNode   = `{"counter":1,"node_type":"capture_end","params":{}}`
	two       = "[" + startNode + "," + endNode + "]"
	rows      = `[{"device_id":4,"arch":"blackhole","num_x_compute_cores":11,"num_y_compute_cores":10,"worker_l1_size":1572864,` +
		`"address_at_first_l1_cb_buffer":111616,"cb_limit":-1},{"device_id":5,"arch":2}]`
)

func TestNodeFields(t *testing.T) {
	at := event.Pos{Offset: 1, Line: 1}
	for _, c := range []struct {
		node string
		want Node
	}{
		{
			`{"connections":[1],"counter":0,"node_type":"capture_start","params":null,"stacking_level":0}`,
			Node{Type: TypeCaptureStart},
		},
		{
			`{"connections":[1],"counter":0,"node_type":"capture_end","params":{}}`,
			Node{Type: TypeCaptureEnd},
		},
		{
			`{"counter":0,"node_type":"function_start","params":{"name":"ttnn::add","inputs":"2","program_cache_hit":true},"stacking_level":3}`,
			Node{Type: TypeFunctionStart, Function: FunctionNode{Name: "ttnn::add", CacheHit: some(true)}},
		},
		{
			`{"counter":0,"node_type":"function_end","params":{"name":"ttnn::add"},"duration_ns":1.5}`,
			Node{Type: TypeFunctionEnd, Function: FunctionNode{Name: "ttnn::add"}},
		},
		{
			`{"counter":0,"connections":[4,7],"node_type":"tensor","params":{"address":4278185984,"buffer_type":0,"device_id":1,"layout":"Layout::TILE",` +
				`"device_tensors":"[{\"address\":4278185984,\"device_id\":0,\"mesh_device_id\":1},{\"device_id\":5}]","size":2097152,"tensor_id":8}}`,
			Node{
				Type: TypeTensor, Connections: []uint64{4, 7}, Address: some[uint64](4278185984), Buffer: BufferNode{BufferType: some[uint64](0)},
				DeviceID: some[uint64](1),
				Tensor: TensorNode{DeviceTensors: []DeviceTensor{
					{Address: some[uint64](4278185984), DeviceID: 0, MeshDeviceID: some[uint64](1)},
					{DeviceID: 5},
				}},
			},
		},
		{
			`{"counter":0,"connections":[],"node_type":"buffer","params":{"size":"4096","type":"L1"}}`,
			Node{Type: TypeBuffer, Size: some[uint64](4096), Buffer: BufferNode{TypeName: "L1"}},
		},
		{
			`{"counter":0,"connections":[3],"node_type":"buffer_allocate","params":{"address":1552384,"buffer_type":1,"device_id":1,` +
				`"layout":"INTERLEAVED","max_size_per_bank":20480,"num_cores":0,"page_size":2048,"size":2097152,"type":"L1"}}`,
			Node{
				Type: TypeBufferAllocate, Connections: []uint64{3}, Address: some[uint64](1552384), Buffer: BufferNode{BufferType: some[uint64](1), Layout: "INTERLEAVED", MaxSizePerBank: some[uint64](20480), NumCores: some[uint64](0), PageSize: some[uint64](2048), TypeName: "L1"},
				DeviceID: some[uint64](1), Size: some[uint64](2097152),
			},
		},
		{
			`{"counter":0,"connections":["14"],"node_type":"buffer_deallocate","params":{"layout":"INTERLEAVED","size":"0","type":"DRAM"}}`,
			Node{
				Type: TypeBufferDeallocate, Connections: []uint64{14}, Buffer: BufferNode{Layout: "INTERLEAVED", TypeName: "DRAM"}, Size: some[uint64](0),
			},
		},
		{
			`{"counter":0,"connections":[],"node_type":"circular_buffer_allocate","params":{"address":111616,` +
				`"core_range_set":"{[0-0 - 1-1]}","device_id":0,"globally_allocated":"1","size":131072}}`,
			Node{
				Type: TypeCircularBufferAllocate, Address: some[uint64](111616), Size: some[uint64](131072),
				Placed: PlacedNode{Cores: l1.MustParseCoreRangeSet("{[0-0 - 1-1]}"), Global: true}, DeviceID: some[uint64](0),
			},
		},
		{
			`{"counter":0,"node_type":"dataflow_buffer_allocate","params":{"address":0,"core_range_set":"{}","borrows_memory":"1","size":1,` +
				`"globally_allocated":"what"}}`,
			Node{Type: TypeDataflowBufferAllocate, Address: some[uint64](0), Size: some[uint64](1), Placed: PlacedNode{Global: true}},
		},
		{
			`{"counter":0,"node_type":"scratchpad_allocate","params":{"address":64,"core_range_set":"{[0-0 - 0-0]}","size":32,"device_id":2}}`,
			Node{
				Type: TypeScratchpadAllocate, Address: some[uint64](64), Size: some[uint64](32),
				Placed: PlacedNode{Cores: l1.MustParseCoreRangeSet("{[0-0 - 0-0]}")}, DeviceID: some[uint64](2),
			},
		},
		{
			`{"counter":0,"node_type":"circular_buffer_deallocate_all","params":{"device_id":"2147483647"}}`,
			Node{Type: TypeCircularBufferDeallocateAll, DeviceID: some[uint64](1<<31 - 1)},
		},
		{
			`{"counter":0,"node_type":"circular_buffer_deallocate_all"}`,
			Node{Type: TypeCircularBufferDeallocateAll},
		},
		{
			`{"counter":0,"node_type":"program_execution","params":{"device_id":1,"physical_device_id":6,"runtime_id":77,"worker_core_ranges":[{}]}}`,
			Node{
				Type: TypeProgramExecution, DeviceID: some[uint64](1), PhysicalDeviceID: some[uint64](6),
			},
		},
		{
			`{"counter":0,"node_type":"sub_device_manager","params":{"device_id":1,"sub_devices":"[]"}}`,
			Node{Type: TypeSubDeviceManager},
		},
		{
			`{"counter":0,"node_type":"error","params":{"error_type":"RuntimeError","error_message":"a\nb","error_operation":"op"}}`,
			Node{Type: TypeError, Error: ErrorNode{Message: "a\nb", Operation: "op"}},
		},
		{ // nothing else is read of an unknown kind
			`{"counter":0,"node_type":"quantum_buffer","params":[1],"connections":"x","stacking_level":-1}`,
			Node{Type: "quantum_buffer"},
		},
	} {
		c.want.Pos = at
		require.Equal(t, &c.want, single(t, c.node), c.node)
		_, known := newDecoder("").byType[c.want.Type]
		require.Equal(t, c.want.Type != "quantum_buffer", known)
	}
}

func TestArguments(t *testing.T) {
	start := func(arguments string) uint64 {
		return single(t, `{"counter":0,"node_type":"function_start","params":{"name":"f"}`+arguments+`}`).Function.Arguments
	}
	require.Zero(t, start(""))
	require.Zero(t, start(`,"arguments":null`))
	require.Zero(t, start(`,"arguments":[ ]`)) // which says as much as nothing
	require.NotZero(t, start(`,"arguments":[[]]`))
	require.Equal(t, start(`,"arguments":["a"]`), start(`,"stacking_level":3,"arguments":["a"]`))
	require.NotEqual(t, start(`,"arguments":["a"]`), start(`,"arguments":["b"]`))
}

// TestDialect2024 reads the oldest dialect as its documentation prints it: the kind
// under name, tensors numbered, numbers and flags as text.
func TestDialect2024(t *testing.T) {
	nodes, _, err := read(`[
    {"connections": [1], "counter": 0, "node_type": "capture_start", "params": {}},
    {"connections": [2], "counter": 1, "name": "function_start", "params": {"inputs": "2", "name": "ttnn::repeat"}},
    {"connections": [3], "counter": 2, "name": "tensor[2]", "params": {"shape": "ttnn.Shape([4, 3, 32, 32])"}},
    {"connections": [2], "counter": 3, "name": "buffer", "params": {"layout": "INTERLEAVED", "size": "24576", "type": "L1"}},
    {"connections": [3], "counter": 4, "name": "buffer_allocate", "params": {"address": "1953396066", "layout": "INTERLEAVED", "size": "24576", "type": "L1"}},
    {"connections": [], "counter": 5, "name": "circular_buffer_allocate", "params":
        {"addr": "0", "core_range_set": "{[(x=0,y=0) - (x=0,y=7)], [(x=1,y=0) - (x=1,y=3)]}", "size": "4096", "globally_allocated": "false"}},
    {"connections": [], "counter": 6, "name": "tensor[x]", "params": {}},
    {"connections": [], "counter": 7, "name": "capture_end", "params": {}}
]`)
	require.NoError(t, err)
	var kinds []Type
	for _, n := range nodes {
		kinds = append(kinds, n.Type)
	}
	require.Equal(t, []Type{
		"capture_start", "function_start", "tensor", "buffer", "buffer_allocate", "circular_buffer_allocate", "tensor[x]", "capture_end",
	}, kinds)
	require.Equal(t, "ttnn::repeat", nodes[1].Function.Name)
	cb := nodes[5]
	require.Equal(t, some[uint64](0), cb.Address)
	require.Equal(t, some[uint64](4096), cb.Size)
	require.Equal(t, "{[0-0 - 0-7], [1-0 - 1-3]}", cb.Placed.Cores.String())
	require.False(t, cb.Placed.Global)
	require.False(t, cb.DeviceID.OK)
	require.Equal(t, event.Pos{Offset: cb.Pos.Offset, Line: 7, Node: 5}, cb.Pos)
}

func TestReport(t *testing.T) {
	info := Report{
		Version: some[uint64](1), Rank: some[uint64](3), WorldSize: some[uint64](8),
		Devices: []Device{
			{
				ID: 4, GridX: some[uint64](11), GridY: some[uint64](10), WorkerL1Size: some[uint64](1572864),
				CBBase: some[uint64](111616),
			},
			{ID: 5},
		},
	}
	const metadata = `{"rank":3,"world_size":"8","build":[{"rank":9}]}`
	text := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }
	for _, c := range []struct {
		report string
		want   Report
	}{
		{`{"version":1,"graph":` + two + `,"devices":` + rows + `,"metadata":` + metadata + `}`, info},
		{`{"version":1,"devices":` + rows + `,"metadata":` + metadata + `,"graph":` + two + `,"buffer_pages":[{"graph":1}]}`, info},
		{`{"schema_version":"2","raw_graph":` + two + `}`, Report{}},
		{`{"captured_graph":` + two + `,"version":"2.1","devices":null,"metadata":null}`, Report{}},
		{`{"captured_graph":` + text(two) + `,"operation_id":17}`, Report{}},
		{`{"captured_graph":` + text(" \\n"+two+" ") + `}`, Report{}},
		{`{"gr\u0061ph":` + two + `,"Graph":1,"GRAPH":2}`, Report{}},
		{"\xef\xbb\xbf\r\n{\r\n\"graph\"\r\n:" + two + "}\r", Report{}},
	} {
		nodes, got, err := read(c.report)
		require.NoError(t, err, c.report)
		require.Len(t, nodes, 2)
		require.Equal(t, c.want, got, c.report)
	}

	// The same section twice.
	_, got, err := read(`{"devices":` + rows + `,"devices": ` + rows + `,"graph":[]}`)
	require.NoError(t, err)
	require.Equal(t, event.AnomalyDuplicateKey, got.Anomaly)
}

func TestReportRefused(t *testing.T) {
	long := strings.Repeat("k", 300)
	for report, want := range map[string]string{
		`{}`:                            `trace.json:1: byte 2: object without graph, raw_graph or captured_graph: it has no keys`,
		`{"nodes":[],"edges":[]}`:       `trace.json:1: byte 23: object without graph, raw_graph or captured_graph: it has nodes, edges`,
		`{"` + long + `":1,"\u202e":2}`: `trace.json:1: byte 317: object without graph, raw_graph or captured_graph: it has kkkkkkkkkkkkkkkkk..., \u202e`,
		`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}`: `trace.json:1: byte 55: object without graph, raw_graph or captured_graph: it has a, b, c, d, e, f, g, h, ...`,
		`{"graph":null}`:                      `trace.json:1: byte 9: graph: is null, not an array of nodes`,
		`{"graph":{}}`:                        `trace.json:1: byte 9: graph: is an object, not an array of nodes`,
		`{"captured_graph":"{}"}`:             `trace.json#captured_graph:1: byte 0: an object is not an array of nodes`,
		`{"captured_graph":""}`:               `trace.json#captured_graph:1: byte 0: input ends where a value belongs`,
		`{"captured_graph":"[]x"}`:            `trace.json#captured_graph:1: byte 2: 'x' after the end of the JSON value`,
		`{"captured_graph":"[`:                `trace.json:1: byte 20: input ends inside a string`,
		`{"captured_graph":"[\n7]"}`:          `trace.json#captured_graph:2: byte 2: node 0: 7 is not a node, which is an object`,
		`{"graph":[],` + "\n" + `"graph":[]}`: `trace.json:2: byte 13: graph: is a second graph beside "graph"`,
		`{"graph":[],"raw_graph":[]}`:         `trace.json:1: byte 12: raw_graph: is a second graph beside "graph"`,
		`7`:                                   `trace.json:1: byte 0: a number is not a capture, which is an array or a report object; cbl1 explain reads tt-metal's messages in a text`,
		` "[]"`:                               `trace.json:1: byte 1: a string is not a capture, which is an array or a report object; cbl1 explain reads tt-metal's messages in a text`,
		`{"x":1`:                              `trace.json:1: byte 6: input ends inside an object`,
	} {
		_, _, err := read(report)
		require.EqualError(t, err, want, report)
		checkError(t, err)
	}
}

// TestReportUnreadable: a section with a field that cannot be read is counted, and says no more than its other
// devices do.
func TestReportUnreadable(t *testing.T) {
	same := "is the second value of this key, and not equal to the first"
	for _, c := range []struct {
		section, why string
		devices      []Device
	}{
		{`"devices":7`, `devices: 7 is not an array`, []Device{{Unreadable: true}}},
		{`"devices":[7]`, `devices[0]: 7 is not an object`, []Device{{Unreadable: true}}},
		{`"devices":[{}]`, `devices[0].device_id: missing`, []Device{{Unreadable: true}}},
		{`"devices":[{"device_id":null}]`, `devices[0].device_id: missing`, []Device{{Unreadable: true}}},
		{`"devices":[{"device_id":2147483648}]`, `devices[0].device_id: 2147483648 is above 2^31-1`, []Device{{Unreadable: true}}},
		{
			`"devices":[{"device_id":3},{"device_id":0,"worker_l1_size":"1 MiB"},{"device_id":4}]`,
			`devices[1].worker_l1_size: "1 MiB" is not a whole number`, []Device{{ID: 3}, {Unreadable: true}, {ID: 4}},
		},
		{`"devices":[{"device_id":0,"device_id":1}]`, `devices[0].device_id: 1 ` + same, []Device{{Unreadable: true}}},
		{
			`"devices":[{"device_id":1}],"devices":[{"device_id":2}]`, `devices: comes a second time, and is not equal to the first`,
			[]Device{{Unreadable: true}},
		},
		{`"metadata":[]`, `metadata: [] is not an object`, nil},
		{`"metadata":{"rank":-1}`, `metadata.rank: -1 is negative`, nil},
		{`"metadata":{"rank":1},"metadata":{"rank":2}`, `metadata: comes a second time, and is not equal to the first`, nil},
	} {
		for _, report := range []string{`{` + c.section + `,"graph":` + two + `}`, `{"graph":` + two + `,` + c.section + `}`} {
			_, info, err := read(report)
			require.NoError(t, err)
			require.Equal(t, UnreadRows{1, c.why}, info.Unread, report)
			require.Equal(t, c.devices, info.Devices, report)
			require.False(t, info.Rank.OK)
		}
	}
}

func TestTraces(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(traces, "*.json"))
	require.NoError(t, err)
	counts := map[string]map[Type]int{
		"conv2d.json":          {"": 186, "circular_buffer_allocate": 20, "circular_buffer_deallocate_all": 4, "dataflow_buffer_allocate": 1},
		"matmul.json":          {"": 24, "circular_buffer_allocate": 3, "circular_buffer_deallocate_all": 1},
		"sharded_add.json":     {"": 23, "circular_buffer_allocate": 3, "circular_buffer_deallocate_all": 1},
		"add_cached_2024.json": {"": 14, "circular_buffer_allocate": 0, "circular_buffer_deallocate_all": 1},
		"concat_2024.json":     {"": 59, "circular_buffer_allocate": 5, "circular_buffer_deallocate_all": 3},
		"matmul_2024.json":     {"": 25, "circular_buffer_allocate": 3, "circular_buffer_deallocate_all": 1},
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		want, ok := counts[filepath.Base(file)]
		if !ok {
			_, _, err := read(string(text))
			checkError(t, err) // our own expected values
			continue
		}
		got := make(map[Type]int)
		for n, err := range reading(&Document{File: file}, bytes.NewReader(text)) {
			require.NoError(t, err, file)
			require.Contains(t, newDecoder("").byType, n.Type, file)
			require.Zero(t, n.Anomaly)
			require.Equal(t, byte('{'), text[n.Pos.Offset])
			require.EqualValues(t, 1+strings.Count(string(text[:n.Pos.Offset]), "\n"), n.Pos.Line)
			got[""]++
			got[n.Type]++
		}
		for kind, count := range want {
			require.Equal(t, count, got[kind], "%s: %s", file, kind)
		}
	}
}

func TestNodeLimit(t *testing.T) {
	node := func(size int64) error {
		const start, end = `[{"counter":0,"node_type":"x","params":"`, `"}]`
		in := io.MultiReader(strings.NewReader(start), testkit.Repeat(strings.Repeat("x", 4096), size-int64(len(start)+len(end))+2), strings.NewReader(end))
		for _, err := range reading(&Document{File: "trace.json"}, in) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	require.NoError(t, node(maxNode))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := node(1 << 30)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, event.ErrTooLarge)
	require.EqualError(t, err, "trace.json:1: byte 1: node 0: value of more than 16777216 bytes")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), "doubling up to the limit, and half of it garbage")
	require.ErrorIs(t, node(maxNode+1), event.ErrTooLarge)
}

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
