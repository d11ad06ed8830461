package capture

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
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

func (s *script) free(id int) int {
	return s.add("circular_buffer_deallocate_all", params{"device_id": id})
}

func (s *script) cb(id int, cores string, address, size int) {
	s.add("circular_buffer_allocate", params{
		"device_id": id, "core_range_set": cores, "address": address, "size": size, "globally_allocated": "0",
	})
}

func (s *script) globalCB(id int, cores string, address, size int) {
	s.add("circular_buffer_allocate", params{
		"device_id": id, "core_range_set": cores, "address": address, "size": size, "globally_allocated": "1",
	})
}

// A tensorOf is a buffer as a test speaks of it.
type tensorOf struct {
	node   int
	params params
}

// interleaved allocates an L1 buffer of some bytes on every core.
func (s *script) interleaved(id, address, perCore int) tensorOf {
	return s.buffer(params{"device_id": id, "address": address, "size": perCore * 64, "max_size_per_bank": perCore, "num_cores": 0, "type": "L1", "buffer_type": 1})
}

func (s *script) buffer(p params) tensorOf {
	node := s.add("buffer", params{"type": p["type"], "size": p["size"]})
	s.add("buffer_allocate", p, node)
	return tensorOf{node, p}
}

// sharded allocates an L1 buffer of which a tensor then says on which cores it lies.
func (s *script) sharded(id, address, perCore int, grid string) tensorOf {
	node := len(s.nodes)
	s.add("buffer", params{"type": "L1"}, node+2)
	p := params{
		"device_id": id, "address": address, "size": perCore * 64, "max_size_per_bank": perCore, "num_cores": 64, "type": "L1", "buffer_type": 1,
		"layout": "HEIGHT_SHARDED",
	}
	s.add("buffer_allocate", p, node)
	s.add("tensor", params{"memory_config": "MemoryConfig(shard_spec=ShardSpec{grid=" + grid + ", shape=[32, 32]})"})
	return tensorOf{node, p}
}

func (s *script) drop(t tensorOf) int {
	return s.add("buffer_deallocate", maps.Clone(t.params), t.node)
}

func (s *script) text(t require.TestingT) string {
	data, err := json.Marshal(s.nodes)
	require.NoError(t, err)
	return string(data)
}

// replay reads the script as a file, and as a pipe.
func (s *script) replay(t *testing.T, opt Options) *answer.Result {
	t.Helper()
	return replayFile(t, s.text(t), opt)
}

func replayFile(t *testing.T, text string, opt Options) *answer.Result {
	t.Helper()
	path := filepath.Join(t.TempDir(), "capture.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return bothWays(t, path, opt)
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

const (
	kib = 1 << 10
	mib = 1 << 20
)

// A tool showed 1.73 MiB per core here, the sum of the CBs of two cores.
func TestL1TwoCores(t *testing.T) {
	for name, bigger := range map[string]string{"one MiB": "{[0-0 - 0-0]}", "750 KiB": "{[1-0 - 1-0]}"} {
		t.Run(name, func(t *testing.T) {
			var s script
			s.sharded(0, 1572864-200*kib, 200*kib, "{[0-0 - 1-0]}")
			s.free(0)
			if name == "one MiB" {
				s.cb(0, "{[0-0 - 0-0]}", 111616, mib)
			}
			s.cb(0, "{[1-0 - 1-0]}", 111616, 750*kib)
			r := s.replay(t, Options{})
			d := l1Row(t, r, 0)
			cores, err := l1.ParseCoreRangeSet(bigger)
			require.NoError(t, err)
			require.True(t, d.Peak.Cores.Equal(cores.Cores()))
			if name == "one MiB" {
				require.Equal(t, uint64(1_253_376), d.Peak.Bytes)
				require.Equal(t, uint64(1_253_376+972_800), d.TotalPeak)
				require.Equal(t, []event.UpstreamCause{{
					Code: event.CauseCores, Figure: "peak_cb", Upstream: 1750*kib + 24*kib, Exact: mib, Count: 2,
				}}, r.Upstream.Causes)
			} else {
				require.Equal(t, uint64(972_800), d.Peak.Bytes)
			}
			require.Zero(t, r.Checks.Failed)
			require.Equal(t, int64(1), r.Checks.Runs)
		})
	}
}

// 3 CBs on 8 chips are 24 nodes: 4 KiB of the first are 4 KiB on each core, not 32.
func TestL1MeshOfEight(t *testing.T) {
	var s script
	for chip := range 8 {
		s.member(9, chip)
	}
	s.interleaved(9, 1_500_000, 1000)
	s.free(9)
	for _, size := range []int{4096, 2048} {
		for _, chip := range []int{6, 4, 5, 7, 3, 2, 0, 1} {
			s.cb(chip, "{[0-0 - 11-9]}", 111360+4096*(2048/size+1)%8192, size)
		}
	}
	for chip := range 8 {
		s.globalCB(chip, "{[0-0 - 11-9]}", 1_500_000, 500)
	}
	r := s.replay(t, Options{Base: 111360})
	require.Len(t, r.L1, 8)
	for _, d := range r.L1 {
		require.Equal(t, uint64(4096+2048+1000), d.Peak.Bytes, "the global CB lies in the tensor")
		require.Equal(t, map[fit.Kind]uint64{fit.KindCB: 6144, fit.KindL1: 1000}, d.Peak.Kinds)
		require.Equal(t, uint64(64000), d.L1Peak)
	}
	require.Equal(t, uint64(8*6144), r.Upstream.PeakCB.V)
	require.Equal(t, []event.UpstreamCause{
		{Code: event.CauseCopies, Figure: "peak_cb", Upstream: 8 * 6144, Exact: 6144, Count: 8},
	}, r.Upstream.Causes)
	require.Equal(t, int64(8), r.Checks.Runs)
}

// An operation from the cache has the CBs of its first run. A tensor that came in
// between reaches further down: tt-metal finds out at the enqueue, and so do we.
func TestL1CachedPlanThatClashes(t *testing.T) {
	var s script
	var clash int
	s.member(1, 0)
	matmul := func(hit bool) {
		s.args = []string{"MatmulParams(8)"}
		s.op("MatmulDeviceOperation", hit, func() {
			clash = s.free(1)
			if !hit {
				s.cb(0, "{[0-0 - 7-7]}", 103712, 665_792) // ends at 769,504
			}
		})
	}
	matmul(false)
	matmul(true)
	s.interleaved(1, 759_808, 1_499_136-759_808)
	matmul(true)
	end := len(s.nodes) - 1
	wormhole := Options{Arch: l1.Wormhole}

	r := s.replay(t, wormhole)
	require.Equal(t, answer.Hits{Inferred: 2}, r.Hits)
	require.Equal(t, int64(2), codes(r)[answer.CodeInferred])
	require.Zero(t, codes(r)[answer.CodeCacheHit])
	require.Empty(t, r.Undecided())
	require.Equal(t, []int64{3, 2, 1}, []int64{r.Checks.Runs, r.Checks.Inferred, r.Checks.Failed})
	require.Len(t, r.Checks.List, 1)
	c := r.Checks.List[0]
	require.Equal(t, answer.ProgramRun{Row: 0, At: uint64(clash - 1), Op: "MatmulDeviceOperation", Inferred: true}, c.Run)
	require.Equal(t, uint64(end), c.Enqueue)
	require.False(t, c.Synthesised)
	require.Equal(t, uint64(9_696), c.Verdict.Refusals[0].Over())
	require.Contains(t, c.Verdict.Refusals[0].Error(), "L1 buffer allocated at 759808 and static circular buffer region ends at 769504")
	require.Equal(t, uint64(9_696), c.Verdict.Clashes[0].Bytes)
	require.Len(t, c.Buffers, 1)
	require.Equal(t, uint64(0), r.Devices[0].ResidentFinal, "alive figures know nothing of inferred runs")

	wormhole.NoInfer = true
	r = s.replay(t, wormhole)
	require.Equal(t, answer.Hits{Unknown: 2}, r.Hits)
	require.Zero(t, r.Checks.Failed)
	require.Equal(t, []answer.Code{answer.CodeCacheHit}, r.Undecided(), "never green")
}

// Before the flag, a hit is a free in an operation that no CB follows.
func TestL1HitsOfOldCaptures(t *testing.T) {
	run := func(s *script, name, args string, places bool) {
		s.args = args
		s.op(name, nil, func() {
			s.free(0)
			if places {
				s.cb(0, "{[0-0 - 0-0]}", 111616, 64)
			}
		})
	}
	var s script
	run(&s, "add", "a", true)
	run(&s, "add", "a", false) // known
	run(&s, "add", "b", false) // other arguments
	run(&s, "mul", "a", false) // another operation
	r := s.replay(t, Options{})
	require.Equal(t, answer.Hits{Inferred: 1}, r.Hits)
	require.Equal(t, int64(2), codes(r)[answer.CodeNotShown])
	require.NotContains(t, r.Undecided(), answer.CodeFreeWithoutCBs, "one thing has one code")
	require.Equal(t, int64(1), codes(r)[answer.CodeInferred])
}

// A miss to the byte: line 17 and line 9 of the published messages.
func TestL1Misses(t *testing.T) {
	var s script
	s.interleaved(0, 1_563_072, 8192)
	s.free(0)
	s.cb(0, "{[0-0 - 10-9]}", 111616, 1_563_264-111_616)
	r := s.replay(t, Options{})
	require.Equal(t, uint64(192), r.Checks.List[0].Verdict.Refusals[0].Over())
	require.Equal(t, uint64(192), r.Checks.List[0].Verdict.Clashes[0].Over())

	s = script{}
	s.free(0)
	s.cb(0, "{[0-0 - 6-7]}", 111616, 1_574_080-111_616)
	r = s.replay(t, Options{})
	require.Equal(t, fit.RefusedGrow, r.Checks.List[0].Verdict.Refusals[0].Kind)
	require.Equal(t, uint64(1_216), r.Checks.List[0].Verdict.Refusals[0].Over())
}

// What a finished program left is in nobody's way.
func TestL1RemnantsAreNotInTheWay(t *testing.T) {
	var s script
	s.free(0)
	s.cb(0, "{[0-0 - 0-0]}", 111616, mib)
	s.free(0)
	s.interleaved(0, 500_000, 1000)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 64)
	s.free(0)
	s.cb(0, "{[0-0 - 0-0]}", 111616, mib)
	r := s.replay(t, Options{})
	require.Equal(t, int64(3), r.Checks.Runs)
	require.Equal(t, int64(1), r.Checks.Failed)
	require.Equal(t, uint64(7), r.Checks.List[0].Run.At)
	d := l1Row(t, r, 0)
	require.Equal(t, uint64(mib), d.Peak.Bytes, "the tensor on top of what is left takes no more")
	require.Equal(t, uint64(500_000-111_680), r.Checks.Tightest.Headroom.Free)
}

// A new tensor comes before the one that it replaces goes.
func TestL1Spike(t *testing.T) {
	for name, c := range map[string]struct {
		between func(*script)
		size    int
		spike   bool
	}{
		"freed at once":       {func(*script) {}, 10_000, true},
		"after a free":        {func(s *script) { s.add("buffer_deallocate", params{"device_id": 0, "type": "L1"}) }, 10_000, true},
		"of another size":     {func(*script) {}, 10_016, false},
		"after a program":     {func(s *script) { s.cb(0, "{[0-0 - 0-0]}", 111616, 64) }, 10_000, false},
		"after a DRAM one":    {func(s *script) { s.buffer(params{"device_id": 0, "type": "DRAM", "size": 4096}) }, 10_000, true},
		"after a further one": {func(s *script) { s.interleaved(0, 1_000_000, 16) }, 10_000, false},
	} {
		t.Run(name, func(t *testing.T) {
			var s script
			s.free(0)
			s.cb(0, "{[0-0 - 0-0]}", 111616, 64)
			old := s.interleaved(0, 1_500_000, 10_000)
			s.interleaved(0, 1_400_000, c.size)
			c.between(&s)
			at := s.drop(old)
			d := l1Row(t, s.replay(t, Options{}), 0)
			if !c.spike {
				require.Nil(t, d.Peak.Spike)
				return
			}
			require.Equal(t, uint64(20_064), d.Peak.Bytes)
			require.NotNil(t, d.Peak.Spike)
			require.Equal(t, uint64(10_064), d.Peak.Spike.Without)
			require.Equal(t, uint64(at), d.Peak.Spike.FreedAt)
			require.Equal(t, some(uint64(1_500_000)), d.Peak.Spike.Old.Address)
			require.Equal(t, some(uint64(1_400_000)), d.Peak.Spike.New.Address)
		})
	}
}

// Frees of what came before the capture, or was freed already, take nothing off, whatever they say.
func TestL1FreesFromBefore(t *testing.T) {
	var s script
	s.add("buffer_deallocate", params{"device_id": 0, "type": "L1", "buffer_type": 1, "address": 1_540_096, "max_size_per_bank": 32768, "size": 2097152}, 77)
	s.free(0)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 2048)
	b := s.interleaved(0, 1_568_768, 4096)
	b.params = params{"size": "0", "type": "L1", "device_id": 0} // as writers of 2024
	s.drop(b)
	s.drop(b)
	r := s.replay(t, Options{})
	require.Equal(t, int64(1), codes(r)[answer.CodeFreeUnknown])
	require.Equal(t, int64(1), codes(r)[answer.CodeFreeAgain])
	d := l1Row(t, r, 0)
	require.Equal(t, uint64(2048+4096), d.Peak.Bytes)
	require.Equal(t, [2]uint64{4096 * 64, 0}, [2]uint64{d.L1Peak, d.L1Final})
	require.Equal(t, [2]uint64{1, 0}, [2]uint64{d.BuffersPeak, d.BuffersFinal})
	require.Zero(t, r.Live.Buffers)
}

// Without addresses tensors go top-down below L1_SMALL, and nothing is compared with 0.
func TestL1WithoutAddresses(t *testing.T) {
	var s script
	small := params{"device_id": 0, "address": 0, "size": 640, "max_size_per_bank": 10, "num_cores": 0, "type": "L1", "buffer_type": 3}
	a := s.interleaved(0, 0, 1000)
	s.interleaved(0, 0, 2000)
	s.buffer(small)
	s.drop(a)
	s.interleaved(0, 0, 1025) // does not fit into the gap of a, which took 16 steps of 64
	s.interleaved(0, 0, 16)   // does
	s.free(0)
	s.cb(0, "{[0-0 - 0-0]}", 0, 64)
	r := s.replay(t, Options{L1Small: event.Some(uint64(4096))})
	d := l1Row(t, r, 0)
	require.Equal(t, answer.AddressesSynthesised, d.Addresses)
	require.Zero(t, r.Checks.Failed)
	var at []uint64
	for _, l := range r.Live.List {
		at = append(at, l.Address.V)
	}
	top := uint64(1_572_864 - 4096)
	require.Equal(t, []uint64{top - 1024 - 2048, top - 1024 - 2048 - 1088, top - 64, 1_572_864 - 64}, at)

	r = s.replay(t, Options{})
	require.Equal(t, int64(1), l1Row(t, r, 0).Unplaced, "nobody says where L1_SMALL is")
	require.Empty(t, r.Undecided())
}

// A tensor may come after its cores mattered.
func TestL1CoresThatComeLate(t *testing.T) {
	build := func(late bool) *script {
		s := &script{}
		s.free(0)
		s.cb(0, "{[5-5 - 5-5]}", 111616, 1000)
		node := len(s.nodes)
		s.add("buffer", params{"type": "L1"}, node+3)
		s.add("buffer_allocate", params{"device_id": 0, "address": 1_500_000, "size": 6400, "max_size_per_bank": 100, "num_cores": 64, "type": "L1"}, node)
		if late {
			s.add("buffer_deallocate", params{"device_id": 0, "type": "L1"})
		} else {
			s.add("function_end", params{})
		}
		s.add("tensor", params{"memory_config": `shard_spec=ShardSpec{grid=[{"start":{"x":0,"y":0},"end":{"x":3,"y":3}, {"start":{"x":4,"y":0},"end":{"x":4,"y":0}], shape`})
		return s
	}
	for _, late := range []bool{false, true} {
		d := l1Row(t, build(late).replay(t, Options{}), 0)
		require.Equal(t, uint64(1000), d.Peak.Bytes, "the tensor lies elsewhere")
		require.Zero(t, d.Assumed)
		require.Equal(t, uint64(1000+17*100), d.TotalPeak)
	}
}

// Chips that show after the first buffers of their mesh have them, and their history.
func TestL1LateChips(t *testing.T) {
	var s script
	s.member(9, 0)
	a := s.interleaved(9, 1_500_000, 3000)
	s.interleaved(9, 1_400_000, 1000)
	s.drop(a)
	s.free(9)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 64)
	d := l1Row(t, s.replay(t, Options{}), 0)
	require.Equal(t, uint64(4000), d.Peak.Bytes)
	require.Equal(t, [2]uint64{256_000, 64_000}, [2]uint64{d.L1Peak, d.L1Final})
	require.Equal(t, uint64(130*1000+64), d.TotalFinal)

	// A chip that had its row before anybody said whose it is.
	s = script{}
	s.cb(0, "{[0-0 - 0-0]}", 111616, 64)
	s.interleaved(9, 1_500_000, 3000)
	s.member(9, 0)
	d = l1Row(t, s.replay(t, Options{}), 0)
	require.Equal(t, uint64(3064), d.Peak.Bytes)
	require.Equal(t, uint64(2), d.Peak.At)
}

// Grids come from the report, whichever way it is written.
func TestL1Grid(t *testing.T) {
	var s script
	s.interleaved(0, 1_500_000, 1000)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 64)
	devices := `"devices":[{"device_id":0,"num_x_compute_cores":11,"num_y_compute_cores":10,"worker_l1_size":1572864,"address_at_first_l1_cb_buffer":111616}]`
	for _, text := range []string{"{" + devices + `,"graph":` + s.text(t) + "}", `{"graph":` + s.text(t) + "," + devices + "}"} {
		d := l1Row(t, replayFile(t, text, Options{}), 0)
		require.Equal(t, 110, d.NumCores)
		require.Equal(t, event.FromFile, d.CoresFrom)
		require.Equal(t, uint64(110*1000+64), d.TotalPeak)
	}
	d := l1Row(t, s.replay(t, Options{}), 0)
	require.Equal(t, []any{130, event.FromAssumed}, []any{d.NumCores, d.CoresFrom})

	// A core beyond every known grid.
	s.free(0)
	s.cb(0, "{[15-0 - 15-0]}", 111616, 64)
	d = l1Row(t, s.replay(t, Options{}), 0)
	require.Equal(t, []any{160, event.FromAssumed}, []any{d.NumCores, d.CoresFrom})
	require.Equal(t, uint64(160*1000+128), d.TotalFinal)
}

// Executions dispatch the last run of their chip.
func TestL1Dispatched(t *testing.T) {
	var s script
	execute := func() { s.add("program_execution", params{"device_id": 1, "physical_device_id": 0, "runtime_id": 1}) }
	execute()
	s.op("a", false, func() {
		s.free(1)
		s.cb(0, "{[0-0 - 1-0]}", 111616, 4096)
		execute()
	})
	s.op("b", false, func() {
		s.free(1)
		s.cb(0, "{[0-0 - 0-0]}", 111616, 16384) // laid out and never executed
	})
	s.op("a", true, func() {
		s.free(1)
		execute()
	})
	s.op("c", false, func() {
		s.free(1)
		s.cb(0, "{[0-0 - 0-0]}", 111616, 64)
		execute()
	})
	d := l1Row(t, s.replay(t, Options{}), 0)
	require.Equal(t, &answer.Residue{Peak: 8192, Final: 4096 + 64, CorePeak: 4096, Executions: 4, Unknown: 1}, d.Dispatched)
	require.Equal(t, uint64(16384), d.Peak.Bytes)
}

// A buffer of a mesh whose chip shows an allocation of its own is counted once.
func TestL1Backing(t *testing.T) {
	var s script
	s.member(9, 0)
	b := s.interleaved(9, 1_500_000, 1000)
	own := maps.Clone(b.params)
	own["device_id"] = 0
	s.add("buffer_allocate", own, b.node)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 64)
	s.add("buffer_deallocate", own, b.node)
	s.drop(b)
	r := s.replay(t, Options{})
	d := l1Row(t, r, 0)
	require.Equal(t, int64(1), d.Backings)
	require.Equal(t, [2]uint64{1, 0}, [2]uint64{d.BuffersPeak, d.BuffersFinal})
	require.Equal(t, [2]uint64{64_000, 0}, [2]uint64{d.L1Peak, d.L1Final})
	require.Zero(t, codes(r)[answer.CodeFreeUnknown])
}

// What may hide programs or buffers never lets a capture be green.
func TestL1Undecided(t *testing.T) {
	var s script
	s.add("tensor", params{"device_tensors": "["})
	s.cb(0, "{[0-0 - 0-0]}", 111616, 64)
	require.Equal(t, []answer.Code{answer.CodeBadDeviceTensors}, s.replay(t, Options{}).Undecided())

	s = script{} // a mesh that shows last hides nothing
	s.interleaved(9, 1_500_000, 1000)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 64)
	s.member(9, 0)
	require.Empty(t, s.replay(t, Options{}).Undecided())
}

// The same without buffer nodes: address, size and kind pair the events.
func TestL1BackingWithoutNodes(t *testing.T) {
	var s script
	s.member(9, 0)
	of := func(id int) params {
		return params{"device_id": id, "address": 1_500_000, "size": 64_000, "max_size_per_bank": 1000, "num_cores": 0, "type": "L1", "buffer_type": 1}
	}
	s.add("buffer_allocate", of(9))
	s.add("buffer_allocate", of(0))
	s.cb(0, "{[0-0 - 0-0]}", 111616, 64)
	s.add("buffer_deallocate", of(0))
	at := s.add("buffer_deallocate", of(9))
	s.add("buffer_deallocate", of(9)) // of one from before
	r := s.replay(t, Options{})
	d := l1Row(t, r, 0)
	require.Equal(t, int64(1), d.Backings)
	require.Equal(t, [2]uint64{64_000, 0}, [2]uint64{d.L1Peak, d.L1Final})
	require.Equal(t, int64(1), codes(r)[answer.CodeFreeUnknown])
	require.Equal(t, uint64(1064), d.Peak.Bytes)
	require.Equal(t, 5, at)
}

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
func TestL1OtherKinds(t *testing.T) {
	var s script
	s.free(0)
	s.add("dataflow_buffer_allocate", params{"device_id": 0, "core_range_set": "{[0-0 - 0-0]}", "address": 111616, "size": 1024, "borrows_memory": "0"})
	s.add("scratchpad_allocate", params{"device_id": 0, "core_range_set": "{[0-0 - 0-0]}", "address": 112640, "size": 512})
	s.interleaved(0, 1_572_864-100, 100)
	r := s.replay(t, Options{})
	d := l1Row(t, r, 0)
	require.Equal(t, uint64(1024+512+100), d.Peak.Bytes)
	require.Equal(t, uint64(1024+512+100+111616), d.Peak.WithKernels)
	require.Equal(t, map[fit.Kind]uint64{fit.KindDataflow: 1024, fit.KindScratchpad: 512, fit.KindL1: 100}, d.Peak.Kinds)
	require.Equal(t, l1.Range{Start: 113152, End: 1_572_736}, d.Peak.Top)
	require.Equal(t, -1, d.Peak.Residents[0].Program.Row)
	require.Equal(t, int64(1), r.Checks.Runs)
}

// What is live at the end is listed, the largest in L1 first.
func TestL1Live(t *testing.T) {
	var s script
	s.op("a", nil, func() {
		s.interleaved(0, 1_500_000, 10)
		s.interleaved(0, 1_400_000, 20)
		s.buffer(params{"device_id": 0, "type": "DRAM", "size": uint64(1 << 40), "address": uint64(1 << 33)})
	})
	r := s.replay(t, Options{})
	require.Equal(t, int64(3), r.Live.Buffers)
	require.Equal(t, []uint64{1920, 0, 1 << 40}, []uint64{r.Live.L1, r.Live.L1Small, r.Live.DRAM})
	require.Equal(t, []uint64{1280, 640, 1 << 40}, []uint64{r.Live.List[0].Size, r.Live.List[1].Size, r.Live.List[2].Size})
	require.EqualValues(t, "a", r.Live.List[0].Op)
	require.Len(t, r.L1, 1, "no CB names a device, so the buffers do")

	s = script{}
	for range answer.MaxListed + 5 {
		s.interleaved(0, 1_500_000, 1)
	}
	r = s.replay(t, Options{})
	require.Len(t, r.Live.List, answer.MaxListed)
	require.Equal(t, int64(5), r.Live.More)
}

// What ttnn's figures get wrong is said with both numbers.
func TestUpstreamCauses(t *testing.T) {
	for name, c := range map[string]struct {
		build func(*script)
		want  []event.UpstreamCause
	}{
		"one device": {func(s *script) { s.cb(0, "{[0-0 - 1-0]}", 64, 100) }, nil},
		"copies": {func(s *script) {
			s.cb(0, "{[0-0 - 1-0]}", 64, 100)
			s.cb(1, "{[0-0 - 1-0]}", 64, 100)
		}, []event.UpstreamCause{{Code: event.CauseCopies, Figure: "peak_cb", Upstream: 200, Exact: 100, Count: 2}}},
		"other CBs": {func(s *script) {
			s.cb(0, "{[0-0 - 1-0]}", 64, 100)
			s.cb(1, "{[0-0 - 1-0]}", 128, 300)
		}, []event.UpstreamCause{{Code: event.CauseDevices, Figure: "peak_cb", Upstream: 400, Exact: 300, Count: 2}}},
		"cores, of copies": {func(s *script) {
			for chip := range 2 {
				s.cb(chip, "{[0-0 - 1-0]}", 64, 100)
				s.cb(chip, "{[2-0 - 2-0]}", 64, 50)
			}
		}, []event.UpstreamCause{
			{Code: event.CauseCopies, Figure: "peak_cb", Upstream: 300, Exact: 150, Count: 2},
			{Code: event.CauseCores, Figure: "peak_cb", Upstream: 150, Exact: 100, Count: 2},
		}},
		"only the peak matters": {func(s *script) {
			s.cb(0, "{[0-0 - 1-0]}", 64, 100)
			s.cb(1, "{[0-0 - 1-0]}", 64, 100)
			s.free(0)
			s.cb(0, "{[0-0 - 1-0]}", 64, 500)
		}, nil},
		"wrapped": {func(s *script) {
			p := params{"type": "L1", "buffer_type": 1, "address": 4096, "max_size_per_bank": 32768, "size": 32768}
			s.add("buffer_deallocate", p, 99)
			s.interleaved(0, 8192, 4096)
			s.interleaved(0, 16384, 1024)
		}, []event.UpstreamCause{{Code: event.CauseWrapped, Figure: "peak_l1", Upstream: 1<<64 - 32768 + 5120, Exact: 5120, Count: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			var s script
			c.build(&s)
			require.Equal(t, c.want, s.replay(t, Options{}).Upstream.Causes)
		})
	}
}
