package capture

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/guard/oracle"
	"github.com/cbl1/cbl1/tool/internal/guard/oracle/randomcapture"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// TestL1MatchesOracle holds what Replay says of the whole L1 against a calculator that
// shares no code with it and fills every core byte by byte after every event.
func TestL1MatchesOracle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "capture.json")
	rapid.Check(t, func(t *rapid.T) {
		text := drawL1(t)
		opt := Options{
			Base: 4096, Align: 64, MaxL1: 16384, L1Small: event.Opt[uint64]{V: 256, OK: rapid.Bool().Draw(t, "L1_SMALL")},
			NoInfer: rapid.IntRange(0, 4).Draw(t, "infer") == 0,
		}
		t.Logf("%+v %s", opt, text)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		got, err := resultOf(Input{Path: path}, opt)
		require.NoError(t, err)
		small := uint64(0)
		if opt.L1Small.OK {
			small = opt.L1Small.V
		}
		want, err := oracle.L1([]byte(text), oracle.Options{
			Base: 4096, Align: 64, L1Size: 16384, L1Small: small, NoInfer: opt.NoInfer,
		})
		require.NoError(t, err)
		requireMemory(t, want, got)
	})
}

// TestUnreadableMatchesOracle spoils fields of random captures: both hide the same, and say the same of the rest.
func TestUnreadableMatchesOracle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "capture.json")
	seen := 0
	property := func(t *rapid.T) {
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
		data := randomcapture.Spoil(pick, randomcapture.Draw(pick))
		opt := Options{Base: randomcapture.Base, Align: randomcapture.Align, MaxL1: randomcapture.L1}
		require.NoError(t, os.WriteFile(path, data, 0o600))
		t.Logf("%s", data)
		got, err := resultOf(Input{Path: path}, opt)
		require.NoError(t, err)
		want, err := oracle.L1(data, oracle.Options{Base: opt.Base, Align: opt.Align, L1Size: opt.MaxL1})
		require.NoError(t, err)
		requireMemory(t, want, got)
		count := int64(0)
		for _, a := range got.Anomalies {
			if a.Code == hiddenUnreadable {
				count = a.Count
			}
		}
		require.Equal(t, want.Hidden["unreadable"], int(count))
		seen += int(count)
	}
	rapid.Check(t, property)
	seen = 0 // luck had a part in them
	defer testkit.SameDraws(1, 30)()
	rapid.Check(t, property)
	require.NotZero(t, seen)
}

// TestPersistentMatchesOracle mixes random captures with and without addresses, and lays a buffer below the CBs.
func TestPersistentMatchesOracle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "capture.json")
	seen := 0
	property := func(t *rapid.T) {
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
		data := randomcapture.Mix(pick, randomcapture.Draw(pick))
		opt := Options{Base: randomcapture.Base, Align: randomcapture.Align, MaxL1: randomcapture.L1}
		require.NoError(t, os.WriteFile(path, data, 0o600))
		t.Logf("%s", data)
		got, err := resultOf(Input{Path: path}, opt)
		require.NoError(t, err)
		want, err := oracle.L1(data, oracle.Options{Base: opt.Base, Align: opt.Align, L1Size: opt.MaxL1})
		require.NoError(t, err)
		requireLives(t, want, got)
		count := int64(0)
		for _, a := range got.Anomalies {
			if a.Code == answer.CodePersistentL1 {
				count = a.Count
			}
		}
		require.Equal(t, want.Hidden["persistent-l1"], int(count))
		seen += min(int(count), 1)
	}
	rapid.Check(t, property)
	seen = 0 // luck had a part in them
	defer testkit.SameDraws(1, 100)()
	rapid.Check(t, property)
	require.Positive(t, seen, "captures with persistent pages")
}

// TestL1FixturesMatchOracle does the same with the captures of this repository.
func TestL1FixturesMatchOracle(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	more, err := filepath.Glob("testdata/ranks/graph_capture_?_of_2.json")
	require.NoError(t, err)
	after, err := filepath.Glob(filepath.Join(traces, "*.json"))
	require.NoError(t, err)
	for _, file := range slices.Concat(files, more, after) {
		if filepath.Ext(file[:len(file)-len(".json")]) == ".expected" {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			want, err := oracle.L1(data, oracle.Options{})
			require.NoError(t, err)
			got, err := resultOf(Input{Path: file}, Options{})
			require.NoError(t, err)
			requireMemory(t, want, got)
		})
	}
}

func requireMemory(t require.TestingT, want *oracle.L1Results, got *answer.Result) {
	requireLives(t, want, got)
	requireRoom(t, want, got)
}

// requireLives compares all but the room for more.
func requireLives(t require.TestingT, want *oracle.L1Results, got *answer.Result) {
	require.Len(t, got.L1, len(want.Devices), "devices")
	for _, d := range got.L1 {
		name := nameOf(&d)
		w := want.Devices[name]
		require.NotNil(t, w, name)
		have := &oracle.L1Device{
			TotalPeak: d.TotalPeak, Total: d.TotalFinal, Addresses: string(d.Addresses),
			Small: got.SpecOf(d.ID).L1Small,
			L1:    [2]uint64{d.L1Peak, d.L1Final}, L1Small: [2]uint64{d.SmallPeak, d.SmallFinal},
			DRAM: [2]uint64{d.DRAMPeak, d.DRAMFinal}, Buffers: [2]uint64{d.BuffersPeak, d.BuffersFinal},
			Unplaced: int(d.Unplaced), Assumed: int(d.Assumed),
		}
		if p := d.Peak; p != nil {
			have.Peak, have.PeakAt, have.Kinds = p.Bytes, int64(p.At), map[string]uint64{}
			for c := range p.Cores.All() {
				have.PeakCores = append(have.PeakCores, c.String())
			}
			for k, n := range p.Kinds {
				have.Kinds[k.String()] = n
			}
			require.Equal(t, have.PeakCores[0], p.Core.String())
			requireGroups(t, have.PeakCores, p)
		}
		if e := d.Dispatched; e != nil {
			have.DispatchedPeak, have.Dispatched, have.Executions, have.Unknown = e.Peak, e.Final, int(e.Executions), int(e.Unknown)
		}
		require.Equal(t, w, have, name)
	}
	notes := map[answer.Code]int64{}
	for _, a := range got.Anomalies {
		notes[a.Code] = a.Count
	}
	require.EqualValues(t, len(want.Denied), notes[answer.CodeSmallWrong], "rows that are wrong about L1_SMALL")
	require.EqualValues(t, want.Reached, notes[answer.CodeSmallReached], "programs that end in L1_SMALL")
	require.Equal(t, want.Runs, int(got.Checks.Runs), "runs")
	require.Equal(t, want.Inferred, int(got.Checks.Inferred), "inferred runs")
	require.Equal(t, want.Failed, int(got.Checks.Failed), "failed")
	require.Equal(t, answer.Hits{Inferred: int64(want.HitsInferred), Unknown: int64(want.HitsUnknown)}, got.Hits)
	listed := int64(0)
	for _, c := range got.Checks.List {
		listed += c.Times
	}
	require.Equal(t, got.Checks.Failed, listed)
}

func nameOf(d *answer.DeviceL1) string {
	if !d.ID.OK {
		return "none"
	}
	return strconv.FormatUint(d.ID.V, 10)
}

// requireGroups says that what lay on all cores at a peak has it on its cores, and less on
// all others.
func requireGroups(t require.TestingT, cores []string, p *answer.L1Peak) {
	var full []string
	for _, g := range p.Groups {
		require.LessOrEqual(t, g.Bytes, p.Bytes)
		if g.Cores.Has(p.Core) {
			require.Equal(t, p.Residents, g.Residents)
		}
		for c := range g.Cores.All() {
			if g.Bytes == p.Bytes {
				full = append(full, c.String())
			}
		}
	}
	require.ElementsMatch(t, cores, full)
}

// requireRoom compares the room for one more buffer: on all cores of each device, and on the
// first core of each group alone.
func requireRoom(t require.TestingT, want *oracle.L1Results, got *answer.Result) {
	require.Len(t, got.Rooms.Devices, len(want.Devices))
	for _, d := range got.Rooms.Devices {
		name := "none"
		if d.Device.OK {
			name = strconv.FormatUint(d.Device.V, 10)
		}
		room, ok := want.Room(name, l1.CoreRangeSet{})
		require.True(t, ok)
		require.Equal(t, room, d.Room.Range(), "room on device %s", name)
		for _, g := range d.Groups {
			core, _ := g.Cores.First()
			room, _ := want.Room(name, l1.CoreSetOf(core).Ranges())
			require.Equal(t, room, g.Range(), "room on core %v of device %s", core, name)
		}
	}
}

// A tensorOf is a buffer as a test speaks of it.
type tensorOf struct {
	node   int
	params params
}

// An l1Drawer draws a capture in which everything that lives in L1 comes and goes.
type l1Drawer struct {
	*rapid.T
	script
	live []tensorOf
	ids  []any // of CBs
	zero bool  // no addresses
}

func drawL1(t *rapid.T) string {
	d := &l1Drawer{T: t, zero: rapid.IntRange(0, 2).Draw(t, "dispatch") == 0}
	d.nodes = []map[string]any{}
	d.ids = rapid.SampledFrom([][]any{{0}, {1}, {0, 2}, {0, 1, 2}, {nil}}).Draw(t, "ids")
	if rapid.IntRange(0, 3).Draw(t, "members first") > 0 {
		d.member(1, 0)
		d.member(1, 2)
	}
	for range rapid.IntRange(0, 16).Draw(t, "steps") {
		d.step(0)
	}
	text := d.text(t)
	if rapid.Bool().Draw(t, "report") {
		grid := func(id, cols, rows int) string {
			row := fmt.Sprintf(`{"device_id":%d,"num_x_compute_cores":%d,"num_y_compute_cores":%d`, id, cols, rows)
			if small := rapid.SampledFrom([]int{0, 256, 256, 512, -1, 1}).Draw(t, "L1_SMALL of the file"); small != 1 {
				row += fmt.Sprintf(`,"worker_l1_size":16384,"address_at_first_l1_cb_buffer":4096,"l1_bank_size":%d`, 16384-4096-small)
			}
			return row + "}"
		}
		devices := `"devices":[` + grid(0, 3, 2) + "," + grid(1, 3, 3) + "]"
		if rapid.Bool().Draw(t, "first") {
			return "{" + devices + `,"graph":` + text + "}"
		}
		return `{"graph":` + text + "," + devices + "}"
	}
	return text
}

func (d *l1Drawer) id(ids []any) any { return rapid.SampledFrom(ids).Draw(d.T, "id") }

func (d *l1Drawer) with(p params, id any) params {
	if id != nil {
		p["device_id"] = id
	}
	return p
}

func (d *l1Drawer) step(depth int) {
	switch draw := rapid.IntRange(0, 11).Draw(d.T, "step"); {
	case draw < 3:
		d.run()
	case draw < 6:
		d.allocate()
	case draw < 8:
		if len(d.live) > 0 {
			i := rapid.IntRange(0, len(d.live)-1).Draw(d.T, "which")
			d.add("buffer_deallocate", maps.Clone(d.live[i].params), d.live[i].node)
			d.live = slices.Delete(d.live, i, i+1)
		}
	case draw == 8:
		d.add("program_execution", params{"device_id": 1, "physical_device_id": rapid.SampledFrom([]int{0, 2}).Draw(d.T, "chip"), "runtime_id": 7})
	case draw == 9:
		d.member(1, rapid.SampledFrom([]int{0, 2}).Draw(d.T, "chip"))
	case depth < 2:
		d.args = rapid.SampledFrom([]any{nil, []string{"a"}}).Draw(d.T, "arguments")
		hit := rapid.SampledFrom([]any{nil, false, true}).Draw(d.T, "hit")
		d.op(rapid.SampledFrom([]string{"f", "g"}).Draw(d.T, "name"), hit, func() {
			for range rapid.IntRange(0, 4).Draw(d.T, "inner steps") {
				d.step(depth + 1)
			}
		})
	}
}

// run frees, and places the buffers of a program unless it comes from the cache.
func (d *l1Drawer) run() {
	d.add("circular_buffer_deallocate_all", d.with(params{}, d.id([]any{0, 1, 1, 1, nil})))
	address := 4096
	for range rapid.IntRange(0, 3).Draw(d.T, "CBs") {
		size := rapid.SampledFrom([]int{64, 100, 1024, 6000, 11000}).Draw(d.T, "size")
		kind := rapid.SampledFrom([]string{"circular_buffer_allocate", "circular_buffer_allocate", "dataflow_buffer_allocate", "scratchpad_allocate"}).Draw(d.T, "kind")
		p := params{"core_range_set": d.cores(), "address": address, "size": size}
		if d.zero {
			p["address"] = 0
		}
		if rapid.IntRange(0, 4).Draw(d.T, "global") == 0 {
			p["globally_allocated"], p["borrows_memory"] = "1", "1"
		} else {
			address += (size + 63) / 64 * 64
		}
		for _, id := range d.ids {
			d.add(kind, d.with(maps.Clone(p), id))
		}
	}
}

func (d *l1Drawer) cores() any {
	corner := func(x, y int) params { return params{"x": x, "y": y, "id": 9} }
	list := []params{{"start": corner(1, 0), "end": corner(2, 1)}, {"start": corner(0, 0), "end": corner(0, 0)}}
	text, _ := json.Marshal(list)
	return rapid.SampledFrom([]any{
		"{[0-0 - 0-0]}", "{[0-0 - 1-1]}", "{[1-0 - 2-1]}", "{[0-0 - 2-1]}", "{[0-0 - 0-0], [2-1 - 2-1]}", list, string(text), []params{}, "[]",
	}).Draw(d.T, "cores")
}

// allocate draws a buffer, and the tensor that says where it lies: at once, late or never.
func (d *l1Drawer) allocate() {
	each := rapid.SampledFrom([]int{16, 100, 512, 2000, 9000}).Draw(d.T, "bytes per core")
	p := d.with(params{"type": "L1", "size": each * 6, "max_size_per_bank": each, "num_cores": 0}, d.id([]any{0, 1, 1, 1, 2, nil}))
	p["address"] = 16384 - 16*rapid.IntRange((each+15)/16, 700).Draw(d.T, "address")
	switch rapid.IntRange(0, 9).Draw(d.T, "kind") {
	case 0, 1:
		p["type"] = "DRAM"
	case 2:
		if p["buffer_type"] = 3; rapid.Bool().Draw(d.T, "in L1_SMALL") {
			p["address"] = 16384 - 16*rapid.IntRange(1, 32).Draw(d.T, "small address")
		}
	case 3:
		delete(p, "max_size_per_bank")
		p["page_size"] = rapid.SampledFrom([]int{0, 16, 48, 100, 1000}).Draw(d.T, "page")
	}
	if d.zero {
		p["address"] = 0
	}
	tensor, ahead := 0, 0
	if rapid.Bool().Draw(d.T, "sharded") {
		p["num_cores"] = 2
		tensor = rapid.IntRange(1, 4).Draw(d.T, "tensor") // 1: with a tensor at once, 2: after a while, else none
		ahead = map[int]int{1: 2, 2: 4}[tensor]
	}
	node := len(d.nodes)
	if ahead > 0 {
		d.add("buffer", params{}, node+ahead)
	} else {
		d.add("buffer", params{})
	}
	d.add("buffer_allocate", p, node)
	d.live = append(d.live, tensorOf{node, p})
	if tensor == 2 {
		for range 2 {
			d.add(rapid.SampledFrom([]string{"capture_end", "buffer_deallocate"}).Draw(d.T, "between"), d.with(params{"type": "DRAM"}, d.id([]any{0, 1, nil})))
		}
	}
	if ahead > 0 {
		d.add("tensor", params{"memory_config": `MemoryConfig(shard_spec=ShardSpec{grid=[{"start":{"x":1,"y":0},"end":{"x":1,"y":1}, {"start":{"x":2,"y":1},"end":{"x":2,"y":1}}], shape=[1, 2]}`})
	}
}
