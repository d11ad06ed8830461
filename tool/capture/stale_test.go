package capture_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/tensor"
)

// A model writes a capture of operations on whole cores, and knows by itself what each buffer was used for.
type model struct {
	nodes   []map[string]any
	running []int // nodes of functions
	all     []*modelBuffer
	top     int
	cbs     int
	moments []int // what a core held
	mesh    int   // id of a mesh of chip 0, which buffers name; 0 = there is none
}

type modelBuffer struct {
	size, allocate, freed, lastUse int
	address                        int
	viewed                         bool
	from, unused, to               int // moments: lives from from, is used up to before unused, and is gone at to
}

func (m *model) node(kind string, params map[string]any, connections ...int) int {
	if connections == nil {
		connections = []int{}
	}
	m.nodes = append(m.nodes, map[string]any{"counter": len(m.nodes), "node_type": kind, "params": params, "connections": connections})
	return len(m.nodes) - 1
}

func (m *model) start(name string) int {
	at := m.node("function_start", map[string]any{"name": name})
	m.running = append(m.running, at)
	return at
}

func (m *model) end() int {
	last := len(m.running) - 1
	name := m.nodes[m.running[last]]["params"].(map[string]any)["name"]
	m.running = m.running[:last]
	return m.node("function_end", map[string]any{"name": name})
}

func (m *model) connect(from, to int) {
	m.nodes[from]["connections"] = append(m.nodes[from]["connections"].([]int), to)
}

func (m *model) moment() {
	held := m.cbs
	for _, b := range m.all {
		if b.freed == 0 {
			held += b.size
		}
	}
	m.moments = append(m.moments, held)
}

// tensor writes a tensor of a buffer, or of nil a view that has no address.
func (m *model) tensor(b *modelBuffer) int {
	params := map[string]any{"shape": "Shape([1, 1])"}
	if b != nil {
		params = map[string]any{"shape": fmt.Sprintf("Shape([1, %d])", b.size), "address": b.address, "buffer_type": 1, "device_id": m.mesh}
		if m.mesh > 0 { // of which the tensor names the chip, or nothing
			params["device_tensors"] = fmt.Sprintf(`[{"address": %d, "device_id": 0, "mesh_device_id": %d}]`, b.address, m.mesh)
			switch len(m.nodes) % 3 {
			case 0:
				params["device_id"] = 0
			case 1:
				delete(params, "device_id")
			}
		}
	}
	return m.node("tensor", params)
}

// operation writes a function with inputs and an output of so many bytes; of 0 it works in place.
func (m *model) operation(inputs []*modelBuffer, size, cbs int, view bool) {
	outer := m.start("ttnn.op")
	for _, b := range inputs {
		m.connect(m.tensor(b), outer)
	}
	m.start("DeviceOperation")
	var out *modelBuffer
	if size > 0 {
		m.top -= size
		params := map[string]any{"device_id": m.mesh, "type": "L1", "buffer_type": 1, "layout": "INTERLEAVED", "size": 64 * size}
		node := m.node("buffer", params)
		params = map[string]any{"device_id": m.mesh, "type": "L1", "buffer_type": 1, "layout": "INTERLEAVED", "size": 64 * size, "max_size_per_bank": size, "address": m.top}
		out = &modelBuffer{size: size, address: m.top, from: len(m.moments), allocate: m.node("buffer_allocate", params, node)}
		m.all = append(m.all, out)
		m.moment()
	} else if len(inputs) > 0 && !view {
		out = inputs[0]
	}
	if cbs > 0 {
		m.node("circular_buffer_deallocate_all", map[string]any{"device_id": m.mesh})
		m.node("circular_buffer_allocate", map[string]any{"device_id": 0, "address": 103_712, "size": cbs, "core_range_set": "{[0-0 - 7-7]}", "globally_allocated": "0"})
		m.node("program_execution", map[string]any{"device_id": m.mesh, "physical_device_id": 0})
		m.cbs = cbs
		m.moment()
	}
	m.end()
	end := m.end()
	if out != nil || view {
		m.connect(end, m.tensor(out))
	}
	for _, b := range append(inputs, out) {
		if b != nil {
			b.lastUse, b.unused, b.viewed = end, len(m.moments), b.viewed || view
		}
	}
}

func (m *model) free(b *modelBuffer) {
	m.start("Tensor::deallocate")
	b.freed, b.to = m.node("buffer_deallocate", map[string]any{"device_id": m.mesh, "type": "L1", "buffer_type": 1, "address": b.address, "size": 64 * b.size}, b.allocate-1), len(m.moments)
	m.end()
}

func (m *model) text(t require.TestingT) string {
	graph, err := json.Marshal(m.nodes)
	require.NoError(t, err)
	return `{"devices":[{"device_id":0,"num_x_compute_cores":8,"num_y_compute_cores":8,"worker_l1_size":1499136,"l1_bank_size":1395424,` +
		`"address_at_first_l1_cb_buffer":103712}],"graph":` + string(graph) + `}`
}

// Random operations, frees and views: FindStale finds what a count of bytes by moments finds.
func TestStaleAgreesWithModel(t *testing.T) {
	found, several := 0, 0
	defer testkit.SameDraws(1, 100)()
	rapid.Check(t, func(t *rapid.T) {
		m := &model{top: 1_499_136, mesh: rapid.IntRange(0, 1).Draw(t, "mesh")}
		m.node("capture_start", nil)
		for range rapid.IntRange(8, 40).Draw(t, "steps") {
			var live []*modelBuffer
			for _, b := range m.all {
				if b.freed == 0 {
					live = append(live, b)
				}
			}
			var inputs []*modelBuffer
			for range min(len(live), rapid.IntRange(0, 2).Draw(t, "inputs")) {
				b := live[rapid.IntRange(0, len(live)-1).Draw(t, "input")]
				if !slices.Contains(inputs, b) {
					inputs = append(inputs, b)
				}
			}
			cbs := 32 * rapid.IntRange(0, 1000).Draw(t, "cbs")
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0:
				m.operation(inputs, 0, cbs, false)
			case 1:
				m.operation(inputs, 0, 0, true)
			case 2, 3:
				if len(live) > 0 {
					m.free(live[rapid.IntRange(0, len(live)-1).Draw(t, "gone")])
				}
			default:
				m.operation(inputs, 32*rapid.IntRange(1, 600).Draw(t, "size"), cbs, false)
			}
		}
		named := slices.ContainsFunc(m.nodes, func(n map[string]any) bool {
			return n["node_type"] == "tensor" && len(n["connections"].([]int)) > 0
		})
		text := m.text(t)
		run := func(to *tensor.Table) *answer.Result {
			r, err := replay.Run("x", capture.NewReader(strings.NewReader(text), "x").Events(capture.Options{Tensors: to}), replay.Options{Tensors: to})
			require.NoError(t, err)
			return r
		}
		r := run(&tensor.Table{})
		require.NoError(t, replay.FindStale(r, capture.NewReader(strings.NewReader(text), "x").Events(capture.Options{}), replay.Options{}))
		var got, want []string
		for _, s := range r.Stale {
			got = append(got, fmt.Sprint(s.Buffer.At, s.Bytes, s.LastUse, s.Freed, s.Lower))
		}
		if found += len(got); slices.ContainsFunc(r.Stale[min(1, len(r.Stale)):], func(s answer.Stale) bool { return s.Lower.OK }) {
			several++
		}
		if len(m.moments) > 0 {
			require.Equal(t, uint64(slices.Max(m.moments)), r.Fullest().Peak.Bytes)
			want = m.stale(named)
		}
		require.Equal(t, want, got, text)
	})
	require.Positive(t, found)
	require.Positive(t, several)
}

// stale lists the buffers that lay at the peak after their last use.
func (m *model) stale(named bool) (out []string) {
	peak := slices.Index(m.moments, slices.Max(m.moments))
	slices.SortStableFunc(m.all, func(a, b *modelBuffer) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.address, b.address))
	})
	sooner := 0
	for _, b := range m.all {
		if !named || b.viewed || b.from > peak || b.unused > peak || b.freed > 0 && b.to <= peak {
			continue
		}
		freed, lower := "{0 false}", "{0 false}"
		if b.freed > 0 {
			freed = fmt.Sprintf("{%d true}", b.freed)
			if sooner++; sooner <= 4 {
				most := 0
				for i, held := range m.moments {
					if b.unused <= i && i < b.to {
						held -= b.size
					}
					most = max(most, held)
				}
				lower = fmt.Sprintf("{%d true}", slices.Max(m.moments)-most)
			}
		}
		out = append(out, fmt.Sprintf("%d %d %d %s %s", b.allocate, b.size, b.lastUse, freed, lower))
	}
	return out
}
