package render_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/internal/oracle"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// TestReplayMatchesOracle holds the JSON report of random captures against the
// brute-force calculator that TestExpected has the answers of. What can be equal has
// few values, so that it often is.
func TestReplayMatchesOracle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "capture.json")
	rapid.Check(t, func(t *rapid.T) {
		data, opt := drawCapture(t), drawOptions(t)
		t.Logf("%+v %s", opt, data)
		expected, err := oracle.File(data, oracle.Options{
			Arch: string(opt.Arch), Base: opt.Base, Align: opt.Align, Rules: rightRules(),
		})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		inputs, err := capture.Inputs(path)
		require.NoError(t, err)
		require.Len(t, inputs, 1)
		result, err := replay.Run(path, inputs[0].Events(opt), replay.Options{})
		require.NoError(t, err)

		text, err := json.Marshal(expected)
		require.NoError(t, err)
		want := exactly(t, text)
		for _, key := range factsOfTheFile() {
			delete(want, key)
		}
		requireShared(t, "", want, exactly(t, jsonText(t, result)))
	})
}

// rightRules are the right answers that reports are made by.
func rightRules() oracle.Rules {
	return oracle.AllRules()
}

// exactly decodes an object and keeps every digit of its numbers.
func exactly(t *rapid.T, text []byte) map[string]any {
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&object))
	return object
}

func drawOptions(t *rapid.T) (opt capture.Options) {
	if rapid.IntRange(0, 3).Draw(t, "options") == 0 {
		opt.Arch = rapid.SampledFrom([]l1.Arch{"", l1.Wormhole, l1.Blackhole, l1.Grayskull}).Draw(t, "arch")
		opt.Base = rapid.SampledFrom([]uint64{0, 4096, 4100}).Draw(t, "base")
		opt.Align = rapid.SampledFrom([]uint64{0, 16, 128}).Draw(t, "align")
	}
	return opt
}

type object = map[string]any

// A drawer draws one capture. What is fixed for a capture is what one writer would
// keep to; the rest may differ from node to node.
type drawer struct {
	*rapid.T
	nodes     []object
	ids       []any // of devices on nodes that place something; nil: no id
	addresses []int
	quoted    bool // numbers are strings of digits, now and then
}

func drawCapture(t *rapid.T) []byte {
	d := &drawer{T: t, quoted: rapid.Bool().Draw(t, "quoted")}
	// 1 is a mesh in most captures, and a chip of itself or of mesh 5 in some.
	d.ids = rapid.SampledFrom([][]any{{0}, {1}, {nil}, {0, 1}, {0, 1, 2}, {0, nil}, {0, 1, 5, nil}}).Draw(t, "ids")
	d.addresses = rapid.SampledFrom([][]int{
		{0}, {4096, 4160, 4196}, {111616, 111680, 111780}, {0, 111616}, {0, 4096, 111616, 111744}, {0, 103712, 111680},
	}).Draw(t, "addresses")
	for steps := rapid.IntRange(0, 20).Draw(t, "steps"); steps > 0 && len(d.nodes) < 34; steps-- { // the calculator is slow
		d.step()
	}
	for i, n := range d.nodes {
		n["counter"] = i
	}
	graph := d.json(d.nodes)
	if d.nodes == nil {
		graph = "[]"
	}
	switch rapid.IntRange(0, 6).Draw(t, "wrapper") {
	case 0:
		return []byte(`{"graph":` + graph + `}`)
	case 1:
		return []byte(`{"schema_version":1,"raw_graph":` + graph + `}`)
	case 2:
		return []byte(`{"devices":` + d.devices() + `,"graph":` + graph + `,"version":1}`)
	case 3, 4:
		return []byte(`{"graph":` + graph + `,"metadata":{},"devices":` + d.devices() + `}`)
	}
	return []byte(graph)
}

// step adds one node or a few that belong together.
func (d *drawer) step() {
	draw := rapid.IntRange(0, 18).Draw(d.T, "step")
	switch {
	case draw < 6:
		kind := "circular_buffer_allocate"
		for range rapid.IntRange(1, 4).Draw(d.T, "CBs") {
			d.place(kind)
		}
	case draw < 8:
		for range rapid.IntRange(1, 3).Draw(d.T, "others") {
			d.place(rapid.SampledFrom([]string{"dataflow_buffer_allocate", "scratchpad_allocate"}).Draw(d.T, "kind"))
		}
	case draw < 11:
		d.add("circular_buffer_deallocate_all", d.withID(object{}, []any{0, 1, 1, 5, 9, nil}))
	case draw < 12:
		tensors := []object{}
		for range rapid.IntRange(0, 3).Draw(d.T, "device tensors") {
			tensors = append(tensors, object{
				"address": 64, "device_id": rapid.IntRange(0, 2).Draw(d.T, "chip"),
				"mesh_device_id": rapid.SampledFrom([]int{1, 1, 5, 0}).Draw(d.T, "mesh"),
			})
		}
		d.add("tensor", object{"tensor_id": d.number(7), "device_tensors": d.json(tensors)})
	case draw < 13:
		params := d.withID(object{}, []any{1, 5, nil})
		params["physical_device_id"] = d.number(rapid.IntRange(0, 2).Draw(d.T, "chip"))
		d.add("program_execution", params)
	case draw < 15:
		params := object{"type": rapid.SampledFrom([]string{"L1", "L1", "DRAM"}).Draw(d.T, "type"), "size": d.number(4096)}
		if rapid.IntRange(0, 9).Draw(d.T, "per bank") > 0 {
			params["max_size_per_bank"] = d.number(rapid.SampledFrom([]int64{64, 128, 1 << 40}).Draw(d.T, "size per bank"))
		}
		d.add(rapid.SampledFrom([]string{"buffer_allocate", "buffer_deallocate"}).Draw(d.T, "kind"), params)
	case draw < 18:
		d.again()
	default:
		d.add(rapid.SampledFrom([]string{"function_start", "function_end", "capture_end", "later"}).Draw(d.T, "kind"), object{"name": "f"})
	}
}

// again repeats what was placed last, after a free or right behind it, with one
// parameter or the kind of one node changed now and then: programs are recognised by
// their content.
func (d *drawer) again() {
	var run []object
	for i := len(d.nodes) - 1; i >= 0 && len(run) < 6; i-- {
		kind := d.nodes[i]["node_type"].(string)
		if kind == "circular_buffer_deallocate_all" && len(run) > 0 {
			break
		}
		if _, placed := d.nodes[i]["params"].(object)["core_range_set"]; placed {
			run = append(run, d.nodes[i])
		}
	}
	slices.Reverse(run)
	if rapid.IntRange(0, 4).Draw(d.T, "free") > 0 {
		d.add("circular_buffer_deallocate_all", object{})
	}
	changed := rapid.IntRange(0, 2*len(run)).Draw(d.T, "changed")
	for i, n := range run {
		kind, params := n["node_type"].(string), maps.Clone(n["params"].(object))
		if i == changed {
			switch rapid.IntRange(0, 3).Draw(d.T, "change") {
			case 0:
				kind = "scratchpad_allocate"
			case 1:
				params["globally_allocated"], params["borrows_memory"] = "1", "1"
			case 2:
				params["address"] = rapid.SampledFrom(d.addresses).Draw(d.T, "address")
			default:
				params["core_range_set"] = d.cores()
			}
		}
		d.add(kind, params)
	}
}

// place adds a CB, dataflow buffer or scratchpad.
func (d *drawer) place(kind string) {
	params := d.withID(object{
		"address":        d.number(rapid.SampledFrom(d.addresses).Draw(d.T, "address")),
		"size":           d.number(rapid.SampledFrom([]int{64, 100, 128, 1, 0}).Draw(d.T, "size")),
		"core_range_set": d.cores(),
	}, d.ids)
	key := map[string]string{"circular_buffer_allocate": "globally_allocated", "dataflow_buffer_allocate": "borrows_memory"}[kind]
	if flag := rapid.SampledFrom([]any{"0", "1", nil, false, true, 0, 1, "false", "true"}).Draw(d.T, "flag"); key != "" && flag != nil {
		params[key] = flag
	}
	d.add(kind, params)
}

// cores draws ranges on 3x3 cores, which may meet inside the set.
func (d *drawer) cores() string {
	var parts []string
	for range rapid.SampledFrom([]int{1, 1, 1, 2, 3, 0}).Draw(d.T, "ranges") {
		x, y := rapid.IntRange(0, 2).Draw(d.T, "x"), rapid.IntRange(0, 2).Draw(d.T, "y")
		spelling := rapid.SampledFrom([]string{"[%d-%d - %d-%d]", "[(x=%d,y=%d) - (x=%d,y=%d)]"}).Draw(d.T, "spelling")
		parts = append(parts, fmt.Sprintf(spelling, x, y,
			rapid.IntRange(x, 2).Draw(d.T, "to x"), rapid.IntRange(y, 2).Draw(d.T, "to y")))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// devices draws what a report object says of its devices.
func (d *drawer) devices() string {
	out := []object{}
	for i := range rapid.IntRange(0, 2).Draw(d.T, "devices") {
		o := object{"device_id": i}
		if size := rapid.SampledFrom([]int{1499136, 1572864, 1048576, 12345, 0}).Draw(d.T, "L1 size"); size != 0 {
			o["worker_l1_size"] = size
		}
		if base := rapid.SampledFrom([]int{103840, 111360, 4096, 0}).Draw(d.T, "base"); base != 0 {
			o["address_at_first_l1_cb_buffer"] = base
		}
		out = append(out, o)
	}
	return d.json(out)
}

func (d *drawer) add(kind string, params object) {
	d.nodes = append(d.nodes, object{"node_type": kind, "params": params, "connections": []int{}})
}

func (d *drawer) withID(params object, ids []any) object {
	if id, ok := rapid.SampledFrom(ids).Draw(d.T, "id").(int); ok {
		params["device_id"] = d.number(id)
	}
	return params
}

// number spells a number in one of the ways of writers.
func (d *drawer) number(n any) any {
	if d.quoted && rapid.Bool().Draw(d.T, "quote") {
		return fmt.Sprint(n)
	}
	return n
}

func (d *drawer) json(v any) string {
	text, err := json.Marshal(v)
	require.NoError(d.T, err)
	return string(text)
}
