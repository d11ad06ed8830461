package graph

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
)

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

func TestHazardNumbers(t *testing.T) {
	zeros := strings.Repeat("0", 1000)
	for value, want := range map[string]uint64{
		`0`: 0, `"0"`: 0, `4096`: 4096, `"4096"`: 4096, `"004096"`: 4096, `4096.0`: 4096, `4.096e3`: 4096, `4096E+0`: 4096, `40960e-1`: 4096,
		`0.4096e4`: 4096, `4294967295`: 4294967295, `"4294967295"`: 4294967295, `-0`: 0, `0e1000000000`: 0, `"40\u00396"`: 4096,
	} {
		nodes, _, err := read(cb(`"size":` + value + `,` + address + `,` + cores))
		require.NoError(t, err, value)
		require.Equal(t, some(want), nodes[0].Size, value)
	}
	for value, want := range map[string]string{
		`"4096 bytes"`:         `size: "4096 bytes" is not a whole number`,
		`""`:                   `size: "" is not a whole number`,
		`" 4096"`:              `is not a whole number`,
		`"-1"`:                 `is not a whole number`,
		`"+1"`:                 `is not a whole number`,
		`"1e3"`:                `is not a whole number`,
		`"4096.0"`:             `is not a whole number`,
		`"0x1000"`:             `is not a whole number`,
		`"４０９６"`:               `size: "\uff14\uff10\uff19\uff16" is not a whole number`,
		`-1`:                   `size: -1 is negative`,
		`-1e1000`:              `is negative`,
		`0.5`:                  `size: 0.5 is not a whole number`,
		`4096.5`:               `is not a whole number`,
		`1e-1`:                 `is not a whole number`,
		`4294967296`:           `size: 4294967296 is above 2^32-1, the largest L1 address`,
		`"4294967296"`:         `is above 2^32-1`,
		`9223372036854775807`:  `is above 2^32-1`,
		`9223372036854775808`:  `is above 2^63-1`,
		`18446744073709551616`: `is above 2^63-1`,
		`99999999999999999999`: `is above 2^63-1`,
		`1e1000000000`:         `size: 1e1000000000 is above 2^63-1`,
		`1e19`:                 `is above 2^63-1`,
		`1` + zeros:            `is not a number of at most 64 characters`,
		`"1` + zeros + `"`:     `is not a number of at most 64 characters`,
		`1e` + zeros:           `is not a number of at most 64 characters`,
		`true`:                 `size: true is not a number`,
		`{}`:                   `size: {} is not a number`,
		`[4096]`:               `is not a number`,
		`null`:                 `node 0: size: missing`,
	} {
		_, _, err := read(cb(address + `,` + cores + `,"size":` + value))
		require.ErrorContains(t, err, want, value)
		checkError(t, err)
	}
	// Buffers live in DRAM too, where addresses are larger.
	for value, ok := range map[string]bool{`4294967296`: true, `9223372036854775807`: true, `9223372036854775808`: false} {
		_, _, err := read(`[{"counter":0,"node_type":"buffer_allocate","params":{"address":` + value + `}}]`)
		require.Equal(t, ok, err == nil, value)
	}
}

func TestHazardMissing(t *testing.T) {
	for _, kind := range []string{"circular_buffer_allocate", "dataflow_buffer_allocate", "scratchpad_allocate"} {
		node := func(params ...string) string {
			return `[{"counter":0,"node_type":"` + kind + `","params":{` + strings.Join(params, ",") + `}}]`
		}
		_, _, err := read(node(address, size, cores))
		require.NoError(t, err)
		for want, input := range map[string]string{
			"address: missing":        node(size, cores),
			"size: missing":           node(address, cores),
			"core_range_set: missing": node(address, size),
		} {
			_, _, err := read(input)
			require.EqualError(t, err, "trace.json:1: byte 1: node 0: "+want)
		}
		for want, input := range map[string]string{
			"address: missing":        node(size, cores, `"address":null`),
			"size: missing":           node(address, cores, `"size":null`),
			"core_range_set: missing": node(address, size, `"core_range_set":null`),
		} {
			_, _, err := read(input)
			require.EqualError(t, err, "trace.json:1: byte 1: node 0: "+want)
		}
		for _, params := range []string{`,"params":null`, `,"params":{}`, ``} {
			_, _, err := read(`[{"counter":0,"node_type":"` + kind + `"` + params + `}]`)
			require.EqualError(t, err, "trace.json:1: byte 1: node 0: address: missing")
		}
	}
}

func TestHazardKeys(t *testing.T) {
	same := `is the second value of this key, and not equal to the first`
	for input, want := range map[string]string{
		cb(address + `,` + cores + `,"size":4096,"size":8192`):                    `size: 8192 ` + same,
		cb(address + `,` + cores + `,"size":4096,"s\u0069ze":8192`):               `size: 8192 ` + same,
		cb(address + `,` + cores + `,"size":4096,"size":null`):                    `size: null ` + same,
		cb(address + `,` + cores + `,"size":4096,"size":"4096"`):                  `size: "4096" ` + same,
		`[{"counter":0,"counter":1,"node_type":"x"}]`:                             `counter: 1 ` + same,
		`[{"counter":0,"node_type":"x","node_type":"buffer"}]`:                    `node_type: "buffer" ` + same,
		`[{"counter":0,"node_type":"x","params":{},"params":{"size":1}}]`:         `params: {"size":1} ` + same,
		`[{"counter":0,"node_type":"tensor","connections":[],"connections":[1]}]`: `connections: [1] ` + same,
	} {
		_, _, err := read(input)
		require.ErrorContains(t, err, want, input)
		checkError(t, err)
	}
	for _, input := range []string{
		cb(address + `,` + cores + `,"size":4096,"size":4096`),
		cb(address + `,` + cores + `,"size":4096,"size":4096.0`),
		cb(address + `,` + size + `,` + cores + `,"core_range_set":"{\u005b0-0 - 1-1]}"`),
		`[{"counter":0,"node_type":"x","params":{"a":[1]},"params": { "a" : [1]}}]`,
	} {
		nodes, _, err := read(input)
		require.NoError(t, err, input)
		require.Equal(t, event.AnomalyDuplicateKey, nodes[0].Anomaly, input)
	}
	// A key that differs in case is another key, and escapes spell the same one.
	nodes, _, err := read(cb(address + `,` + cores + `,"SIZE":999,"Size":999,"\u0073ize":4096,"sizE":999`))
	require.NoError(t, err)
	require.Equal(t, some[uint64](4096), nodes[0].Size)
	require.Zero(t, nodes[0].Anomaly)
	_, _, err = read(cb(address + `,` + cores + `,"SIZE":999`))
	require.ErrorContains(t, err, "size: missing")
	// A key nobody reads may do as it likes.
	_, _, err = read(cb(address + `,` + cores + `,` + size + `,"colour":1,"colour":2`))
	require.NoError(t, err)
}

func TestHazardLayout(t *testing.T) {
	for _, input := range []string{
		"\xef\xbb\xbf" + two, strings.ReplaceAll(two, ",", ",\r\n"), strings.ReplaceAll(two, ",", ",\r"), strings.ReplaceAll(two, ",", "\t, \n"),
		two + "\r\n", " " + two, strings.ReplaceAll(two, "node_type", `node\u005ftype`),
		strings.ReplaceAll(two, "capture_start", `capture\u005fstart`),
	} {
		nodes, _, err := read(input)
		require.NoError(t, err, input)
		require.Len(t, nodes, 2)
		require.Equal(t, TypeCaptureStart, nodes[0].Type)
	}
	nodes, _, err := read("[]")
	require.NoError(t, err)
	require.Empty(t, nodes)
}

func TestHazardNodes(t *testing.T) {
	for input, want := range map[string]string{
		`[{"counter":1,"node_type":"x"}]`:                      `trace.json:1: byte 12: node 0: counter: 1 is out of order: 0 belongs here`,
		`[` + startNode + `,` + startNode + `]`:                `node 1: counter: 0 is out of order: 1 belongs here`,
		`[` + startNode + `,{"counter":2,"node_type":"x"}]`:    `node 1: counter: 2 is out of order: 1 belongs here`,
		`[` + startNode + `,{"node_type":"x"}]`:                `node 1: counter: missing`,
		`[` + startNode + `,{"counter":null,"node_type":"x"}]`: `node 1: counter: missing`,
		`[` + startNode + `,{"counter":-1,"node_type":"x"}]`:   `node 1: counter: -1 is negative`,
		`[{"counter":0}]`:               `node 0: node_type: missing`,
		`[{"counter":0,"node_type":7}]`: `node 0: node_type: 7 is not a string`,
		`[7]`:                           `node 0: 7 is not a node, which is an object`,
		`[null]`:                        `node 0: null is not a node`,
		`[[]]`:                          `node 0: [] is not a node`,
		`[{"counter":0,"node_type":"tensor","params":[]}]`:                                   `params: [] is not an object`,
		`[{"counter":0,"node_type":"tensor","connections":{}}]`:                              `connections: {} is not an array`,
		`[{"counter":0,"node_type":"tensor","connections":[1,-2]}]`:                          `connections: -2 is negative`,
		`[{"counter":0,"node_type":"function_start","params":{"name":7}}]`:                   `name: 7 is not a string`,
		`[{"counter":0,"node_type":"tensor","params":{"device_id":2147483648}}]`:             `device_id: 2147483648 is above 2^31-1`,
		`[{"counter":0,"node_type":"tensor","params":{"device_id":-1}}]`:                     `device_id: -1 is negative`,
		cb(address + `,` + size + `,"core_range_set":7`):                                     `core_range_set: 7 is not a string`,
		cb(address + `,` + size + `,"core_range_set":"{[0-0 - 1-1]"`):                        `core_range_set: "{[0-0 - 1-1]" is not a core range set: position 12: `,
		cb(address + `,` + size + `,"core_range_set":"{[3-0 - 1-1]}"`):                       `core_range_set: "{[3-0 - 1-1]}" is not a core range set: position 1: start lies beyond end`,
		cb(address + `,` + size + `,"core_range_set":"{[0-0 - 4294967295-0]}"`):              `coordinate above 255`,
		cb(address + `,` + size + `,` + cores + `,"globally_allocated":"yes"`):               `globally_allocated: "yes" is not a flag: 0, 1, true or false`,
		cb(address + `,` + size + `,` + cores + `,"globally_allocated":2`):                   `is not a flag`,
		cb(address + `,` + size + `,` + cores + `,"globally_allocated":"\u202e\""`):          `globally_allocated: "\u202e\"" is not a flag`,
		cb(address + `,` + size + `,` + cores + `,"device_id":"` + "\u202e\x7f\u0085" + `"`): `device_id: "\u202e\x7f\u0085" is not a whole number`,
	} {
		_, _, err := read(input)
		require.ErrorContains(t, err, want, input)
		checkError(t, err)
	}
	// The position is that of the value, on its own line.
	_, _, err := read("[\r\n{\"counter\":0,\r\"node_type\":\"buffer\",\n\"params\":{\r\n\"size\": \"4096 bytes\"}}]")
	require.EqualError(t, err, `trace.json:5: byte 59: node 0: size: "4096 bytes" is not a whole number`)
}

func TestHazardFlags(t *testing.T) {
	for value, want := range map[string]bool{
		`"0"`: false, `"1"`: true, `0`: false, `1`: true, `true`: true, `false`: false, `"true"`: true, `"false"`: false, `null`: false,
	} {
		nodes, _, err := read(cb(address + `,` + size + `,` + cores + `,"globally_allocated":` + value))
		require.NoError(t, err, value)
		require.Equal(t, want, nodes[0].Placed.Global, value)
		nodes, _, err = read(`[{"counter":0,"node_type":"function_start","params":{"program_cache_hit":` + value + `}}]`)
		require.NoError(t, err)
		require.Equal(t, event.Opt[bool]{V: want, OK: value != "null"}, nodes[0].Function.CacheHit, value)
	}
	nodes, _, err := read(cb(address + `,` + size + `,` + cores))
	require.NoError(t, err)
	require.False(t, nodes[0].Placed.Global, "a missing flag means local")
}

func TestHazardDeviceTensors(t *testing.T) {
	tensor := func(value string) *Node {
		return single(t, `{"counter":0,"node_type":"tensor","params":{"device_tensors":`+value+`}}`)
	}
	for _, value := range []string{
		`""`, `"x"`, `"["`, `"[{}]"`, `"[7]"`, `"{}"`, `"null"`, `"[{\"device_id\":-1}]"`, `"[{\"device_id\":2147483648}]"`, `7`, `true`, `{}`,
		`"[{\"device_id\":1,\"mesh_device_id\":\"x\"}]"`, `"[{\"device_id\":1,\"device_id\":2}]"`, `"` + strings.Repeat("[", 100_000) + `"`,
		`"[{\"device_id\":null}]"`, `"[{\"device_id\":1}]]"`,
	} {
		n := tensor(value)
		require.Equal(t, event.AnomalyDeviceTensors, n.Anomaly, value)
		require.Empty(t, n.Tensor.DeviceTensors, value)
	}
	for value, want := range map[string][]DeviceTensor{
		`null`: nil,
		`"[]"`: nil,
		`"[{\"device_id\":1,\"mesh_device_id\":\"2\",\"x\":[]}]"`: {{DeviceID: 1, MeshDeviceID: some[uint64](2)}},
		`[{"device_id":1,"mesh_device_id":null,"address":3}]`:     {{DeviceID: 1, Address: some[uint64](3)}},
	} {
		n := tensor(value)
		require.Zero(t, n.Anomaly, value)
		require.Equal(t, want, n.Tensor.DeviceTensors, value)
	}
}

func TestHazardText(t *testing.T) {
	for value, want := range map[string]string{
		`"a\ud800b"`:                            "a\ufffdb",
		"\"a\xffb\"":                            "a\ufffdb",
		`"\u0000\u001b[m"`:                      "\x00\x1b[m",
		`"\ud83d\ude00"`:                        "\U0001f600",
		"\"\\n\xff\"":                           "\n\ufffd",
		`"` + strings.Repeat("n", 64<<10) + `"`: strings.Repeat("n", 64<<10),
		`null`:                                  "",
	} {
		n := single(t, `{"counter":0,"node_type":"function_start","params":{"name":`+value+`}}`)
		require.Equal(t, want, n.Function.Name)
	}
}

func TestHazardErrorText(t *testing.T) {
	long := strings.Repeat("\u202e", 5000)
	in := strings.NewReader(cb(`"size":"` + long + `",` + address + `,` + cores))
	for _, err := range reading(&Document{File: "dir/\x1b[31m\n" + long + "/trace.json"}, in) {
		if err != nil {
			checkError(t, err)
			require.Contains(t, err.Error(), "/trace.json:1: byte 70: node 0: size: ")
		}
	}
	require.Equal(t, "x: y", (&event.InputError{File: "x", Node: -1, Reason: "y"}).Error())
	require.Equal(t, "y", (&event.InputError{Node: -1, Reason: "y"}).Error())
	require.Equal(t, `a\xffbé: \ufffd`, (&event.InputError{File: "a\xffb\u00e9", Node: -1, Reason: "\ufffd"}).Error())
}

// TestCoreSetSpellings: a set of cores is the same in each spelling, also with fields that nothing here reads.
func TestCoreSetSpellings(t *testing.T) {
	const want = "{[0-0 - 7-6], [0-7 - 3-7]}"
	list := `[{"start":{"x":0,"y":0},"end":{"x":7,"y":6}},{"end":{"y":7,"z":1,"x":3},"id":300,"start":{"x":0,"y":7}}]`
	for value, want := range map[string]string{
		`"` + want + `"`: want,
		`"{[(x=0,y=0) - (x=7,y=6)], [(x=0,y=7) - (x=3,y=7)]}"`: want,
		list: want,
		`"` + strings.ReplaceAll(list, `"`, `\"`) + `"`:     want,
		`" \n` + strings.ReplaceAll(list, `"`, `\"`) + ` "`: want,
		`"{}"`: "{}", `[]`: "{}", `"[]"`: "{}", `[ ]`: "{}",
	} {
		nodes, _, err := read(cb(address + `,` + size + `,"core_range_set":` + value))
		require.NoError(t, err, value)
		require.Equal(t, want, nodes[0].Placed.Cores.String(), value)
		require.Equal(t, value[0] == '[', nodes[0].Placed.CoreArray)
	}
	for value, want := range map[string]string{
		`[7]`:                       `core_range_set[0]: 7 is not an object`,
		`[{"start":{"x":0,"y":0}}]`: `core_range_set[0].end: missing`,
		`[{"start":{"x":0},"end":{"x":0,"y":0}}]`:         `core_range_set[0].start.y: missing`,
		`[{"start":{"x":0,"y":0},"end":{"x":256,"y":0}}]`: `core_range_set[0].end.x: 256 is above 255`,
		`[{"start":{"x":3,"y":0},"end":{"x":2,"y":0}}]`:   `start lies beyond end`,
		`"[7]"`:                             `is not a core range set: [0]: 7 is not an object`,
		`"[{\"start\":{\"x\":0,\"y\":0}}]"`: `is not a core range set: [0].end: missing`,
		`"[] []"`:                           `is not a core range set: position 0`,
	} {
		_, _, err := read(cb(address + `,` + size + `,"core_range_set":` + value))
		require.ErrorContains(t, err, want, value)
		checkError(t, err)
	}
}

// TestShardGridSpellings: the cores of a sharded tensor, as releases print them.
func TestShardGridSpellings(t *testing.T) {
	const want = "{[1-0 - 2-3], [4-0 - 4-1]}"
	for config, want := range map[string]string{
		`"ShardSpec{grid={[1-0 - 2-3], [4-0 - 4-1]}, shape=[1, 2]}"`:                                                                                want,
		`"ShardSpec{grid=[{\"start\":{\"x\":1,\"y\":0},\"end\":{\"x\":2,\"y\":3}, {\"start\":{\"x\":4,\"y\":0},\"end\":{\"x\":4,\"y\":1}}], shape"`: want,
		`"{\"grid\":[{\"start\":{\"x\":1,\"y\":0},\"end\":{\"x\":2,\"y\":3},\"max\":9},{\"start\":{\"x\":4,\"y\":0},\"end\":{\"x\":4,\"y\":1}}]}"`:  want,
		`"{\"grid\":\"[{\\\"start\\\":{\\\"x\\\":1,\\\"y\\\":0},\\\"end\\\":{\\\"x\\\":2,\\\"y\\\":3}}]\"}"`:                                        "{[1-0 - 2-3]}",
		`{"grid":[{"start":{"x":1,"y":0},"end":{"x":2,"y":3}},{"start":{"x":4,"y":0},"end":{"x":4,"y":1}}]}`:                                        want,
		`{"grid":"{[1-0 - 2-3], [4-0 - 4-1]}"}`:                                           want,
		`"ShardSpec{grid=[{\"start\":{\"y\":1,\"x\":0}}]}"`:                               "{}",
		`"ShardSpec{grid=[{\"start\":{\"x\":256,\"y\":0},\"end\":{\"x\":300,\"y\":3}}]}"`: "{}",
	} {
		n := single(t, `{"counter":0,"node_type":"tensor","params":{"memory_config":`+config+`}}`)
		require.Equal(t, want, n.Tensor.ShardGrid.String(), config)
	}
}
