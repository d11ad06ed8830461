package capture

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A script writes a capture node by node.
type script struct {
	nodes []map[string]any
	args  any
}

type params = map[string]any

func (s *script) add(kind string, p params, connections ...int) (counter int) {
	counter = len(s.nodes)
	n := map[string]any{"counter": counter, "node_type": kind, "params": p, "connections": connections}
	if s.args != nil {
		n["arguments"], s.args = s.args, nil
	}
	s.nodes = append(s.nodes, n)
	return counter
}

// op runs body as a device operation; hit says whether its program was cached, nil nothing.
func (s *script) op(name string, hit any, body func()) {
	p := params{"name": name}
	if hit != nil {
		p["program_cache_hit"] = hit
	}
	s.add("function_start", p)
	body()
	s.add("function_end", params{"name": name})
}

func (s *script) member(mesh, chip int) {
	s.add("tensor", params{"device_tensors": fmt.Sprintf(`[{"device_id":%d,"mesh_device_id":%d}]`, chip, mesh)})
}

func (s *script) free(id int) {
	s.add("circular_buffer_deallocate_all", params{"device_id": id})
}

func (s *script) cb(id int, cores string, address, size int) {
	s.add("circular_buffer_allocate", params{
		"device_id": id, "core_range_set": cores, "address": address, "size": size, "globally_allocated": "0",
	})
}

// interleaved allocates an L1 buffer of some bytes on every core.
func (s *script) interleaved(id, address, perCore int) {
	s.buffer(params{"device_id": id, "address": address, "size": perCore * 64, "max_size_per_bank": perCore, "num_cores": 0, "type": "L1", "buffer_type": 1})
}

func (s *script) buffer(p params) {
	s.add("buffer_allocate", p, s.add("buffer", params{"type": p["type"], "size": p["size"]}))
}

// sharded allocates an L1 buffer of which a tensor then says on which cores it lies.
func (s *script) sharded(id, address, perCore int, grid string) {
	node := len(s.nodes)
	s.add("buffer", params{"type": "L1"}, node+2)
	s.add("buffer_allocate", params{
		"device_id": id, "address": address, "size": perCore * 64, "max_size_per_bank": perCore, "num_cores": 64, "type": "L1", "buffer_type": 1,
		"layout": "HEIGHT_SHARDED",
	}, node)
	s.add("tensor", params{"memory_config": "MemoryConfig(shard_spec=ShardSpec{grid=" + grid + ", shape=[32, 32]})"})
}

func (s *script) text(t require.TestingT) string {
	data, err := json.Marshal(s.nodes)
	require.NoError(t, err)
	return string(data)
}

// replay reads the script as a file, and as a pipe.
func (s *script) replay(t *testing.T) *answer.Result {
	t.Helper()
	return replayFile(t, s.text(t))
}

func replayFile(t *testing.T, text string) *answer.Result {
	t.Helper()
	path := filepath.Join(t.TempDir(), "capture.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return bothWays(t, path, Options{})
}

func l1Row(t *testing.T, r *answer.Result, id uint64) answer.DeviceL1 {
	t.Helper()
	for _, d := range r.L1 {
		if d.ID.OK && d.ID.V == id {
			return d
		}
	}
	t.Fatalf("no row of device %d", id)
	return answer.DeviceL1{}
}

func codes(r *answer.Result) map[answer.Code]int64 {
	out := map[answer.Code]int64{}
	for _, a := range r.Anomalies {
		out[a.Code] = a.Count
	}
	return out
}

// A tool showed 1.73 MiB per core here, the sum of the CBs of two cores.
// 3 CBs on 8 chips are 24 nodes: 4 KiB of the first are 4 KiB on each core, not 32.
// An operation from the cache has the CBs of its first run. A tensor that came in
// between reaches further down: tt-metal finds out at the enqueue, and so do we.
// Before the flag, a hit is a free in an operation that no CB follows.
// A miss to the byte: line 17 and line 9 of the published messages.
// What a finished program left is in nobody's way.
// A new tensor comes before the one that it replaces goes.
// Frees of what came before the capture, or was freed already, take nothing off, whatever they say.
// Without addresses tensors go top-down below L1_SMALL, and nothing is compared with 0.
// A tensor may come after its cores mattered.
// Chips that show after the first buffers of their mesh have them, and their history.
// Grids come from the report, whichever way it is written.
// Executions dispatch the last run of their chip.
// A buffer of a mesh whose chip shows an allocation of its own is counted once.
// What may hide programs or buffers never lets a capture be green.
// The same without buffer nodes: address, size and kind pair the events.
// Captures of 2024 have no size per bank: pages go round the banks, if the grid is known.
func TestL1SizePerBankFromPages(t *testing.T) {
	for _, c := range []struct {
		size, page, want uint64
	}{
		{64 * 2048, 2048, 2048},
		{64*2048 + 1, 2048, 4096},
		{2048, 2048, 2048},
		{100, 64, 64},
		{64 * 100, 100, 112}, // a page begins at a multiple of 16
		{129 * 40, 40, 3 * 48},
	} {
		var s script
		s.cb(0, "{[0-0 - 0-0]}", 111616, 64)
		s.buffer(params{"device_id": 0, "address": 1_000_000, "size": c.size, "page_size": c.page, "layout": "INTERLEAVED", "type": "L1"})
		report := `{"devices":[{"device_id":0,"num_x_compute_cores":8,"num_y_compute_cores":8,"worker_l1_size":1572864}],"graph":` + s.text(t) + `}`
		r, err := replay.Run("pages.json", NewReader(strings.NewReader(report), "pages.json").Events(Options{}), replay.Options{})
		require.NoError(t, err)
		require.Equal(t, 64+c.want, l1Row(t, r, 0).Peak.Bytes, "%+v", c)
		require.Zero(t, codes(r)[answer.CodeBufferUnplaced])
	}
}

// Dataflow buffers and scratchpads are in L1 too.
// What is live at the end is listed, the largest in L1 first.
// The list of live buffers has a limit.
func TestL1Live(t *testing.T) {
	var s script
	for range answer.MaxListed + 5 {
		s.interleaved(0, 1_500_000, 1)
	}
	r := s.replay(t)
	require.Len(t, r.Live.List, answer.MaxListed)
	require.Equal(t, int64(5), r.Live.More)
}

// What ttnn's figures get wrong is said with both numbers.
