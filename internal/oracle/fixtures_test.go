package oracle_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/oracle"
	"github.com/cbl1/cbl1/internal/oracle/fixture"
)

var update = flag.Bool("update", false, "rewrite the sample captures and their expected values")

// root is the module's root as seen from here.
const root = "../.."

// files are the generated captures; making them once is enough.
var files = sync.OnceValue(fixture.Files)

// reports are the oracle's answers to all captures, without options. They must not be changed.
var reports = sync.OnceValues(func() (map[string]*oracle.Report, error) {
	all := map[string]*oracle.Report{}
	for _, name := range fixture.Captures() {
		r, err := oracle.File(files()[name], oracle.Options{Rules: oracle.AllRules()})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[name] = r
	}
	return all, nil
})

// expectedName says where the expected values of a capture lie: next to it, except for a report folder, which
// must hold nothing but what ttnn puts there.
func expectedName(capture string) string {
	name := strings.TrimSuffix(capture, ".json") + ".expected.json"
	if dir, file := path.Split(name); strings.HasSuffix(dir, "ranks/") {
		return strings.TrimSuffix(dir, "/") + "_expected/" + file
	}
	return name
}

func encode(t *testing.T, r *oracle.Report) []byte {
	t.Helper()
	data, err := json.MarshalIndent(r, "", "  ")
	require.NoError(t, err)
	return append(data, '\n')
}

// TestFixtures keeps the committed files equal to what the generator writes and the oracle says.
func TestFixtures(t *testing.T) {
	want := maps.Clone(files())
	all, err := reports()
	require.NoError(t, err)
	for name, r := range all {
		want[expectedName(name)] = encode(t, r)
	}
	for name, data := range want {
		file := filepath.Join(root, filepath.FromSlash(name))
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, data, 0o644))
			continue
		}
		got, err := os.ReadFile(file)
		require.NoError(t, err, "run: go test ./internal/oracle -update")
		require.True(t, bytes.Equal(data, got), "%s is not what the generator or the oracle says; run: go test ./internal/oracle -update", name)
	}
}

// TestFixtureSizes: the files are meant to be read by people.
func TestFixtureSizes(t *testing.T) {
	for name, data := range files() {
		limit := 60_000
		if strings.HasPrefix(name, "examples/") {
			limit = 400_000
		}
		require.Less(t, len(data), limit, name)
	}
}

// figures are the fields of one device that a test looks at, by their JSON names.
type figures map[string]uint64

// open returns the oracle's report of one fixture.
func open(t *testing.T, name string) *oracle.Report {
	t.Helper()
	all, err := reports()
	require.NoError(t, err)
	require.Contains(t, all, name)
	return all[name]
}

// requireFigures compares one device with numbers made by hand.
func requireFigures(t *testing.T, d *oracle.Device, want figures) {
	t.Helper()
	require.NotNil(t, d)
	data, err := json.Marshal(d)
	require.NoError(t, err)
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(data, &fields))
	for name, n := range want {
		var got uint64
		require.NoError(t, json.Unmarshal(fields[name], &got), name)
		require.Equal(t, n, got, name)
	}
}

// TestByHand checks the oracle with numbers that were worked out on paper.
func TestByHand(t *testing.T) {
	const dir = "capture/testdata/"
	tests := []struct {
		file      string
		addresses string
		devices   []string
		want      figures
	}{
		// 65,536 + 131,072 + 262,144 = 458,752 on 64 cores = 29,360,128, and 4,096 on a column of 8 = 32,768 on top of
		// that. The column's CB is marked in the entry of all 64 cores too: reserved 64 x 462,848 = 29,622,272.
		{dir + "matmul_normal.json", "recorded", []string{"0"}, figures{
			"local_cbs": 4, "programs": 1, "cores": 64, "resident_peak_bytes": 29392896, "resident_final_bytes": 29392896,
			"logical_peak_bytes": 29392896, "core_peak_bytes": 462848, "highest_end": 103712 + 462848,
			"registered_union_bytes": 29392896, "registered_range_granular_bytes": 29622272,
		}},

		// Offsets from the base, cores as x-y. Local CBs of the six programs:
		//   C   0-0 [0,6144) [10240,12288)   0-1 [10240,12288)   0-2 [0,12288)                      22,528
		//   D   0-0 [0,4096)   1-0 [0,10240)   2-0 [4096,10240)                                     20,480
		//   E   0-0 [0,5120)   1-0 [0,2048) [4096,5120)                                              8,192
		//   F   0-0 [0,3072)   1-0 [0,6144), with [2048,3072) twice: 9,216 bytes, logical        10,240
		//   G   0-0, 1-0, 3-0 [0,6144)   2-0 [0,2048)                                               20,480
		//   G2  0-0 [0,4096)                                                                         4,096
		// Logical: the last column, 86,016. Union: 0-0 8,192; 0-1 2,048; 0-2 12,288; 1-0 10,240;
		// 2-0 [0,2048) [4096,10240) 8,192; 3-0 6,144: together 47,104.
		// Charged by range: C three cores [0,12288); D 0-0..2-0 [0,10240); E both [0,5120); F 0-0 [0,3072),
		// 1-0 [0,6144); G four cores [0,6144); G2 64 cores [0,4096). Union: 0-0, 0-1, 0-2 12,288 each; 1-0 and 2-0
		// 10,240 each; 3-0 6,144; 58 others 4,096 each: 36,864 + 20,480 + 6,144 + 237,568 = 301,056.
		{dir + "composite_no_dispatch.json", "synthesised", []string{"1"}, figures{
			"cb_nodes": 21, "local_cbs": 20, "global_cbs": 1, "programs": 6, "cores": 6,
			"logical_peak_bytes": 22528, "resident_peak_bytes": 22528, "resident_final_bytes": 4096, "core_peak_bytes": 12288,
			"logical_sizes_peak_bytes": 18432, "highest_end": 111616 + 12288,
			"registered_logical_bytes": 86016, "registered_union_bytes": 47104, "registered_core_peak_bytes": 12288,
			"registered_range_granular_bytes": 301056,
		}},

		// Per chip: A 8,192 x 120 = 983,040, then B (16,384 + 2,048) x 64 = 1,179,648, then C 6,144 x 16 = 98,304. B covers
		// A on its 64 cores, so the union is B and 8,192 on the other 56: 1,638,400. All chips alike and nothing times
		// eight; had the free of mesh 3 reached chip 3 only, the others would have held A and B at once.
		{dir + "mesh8_fanout.json", "recorded", []string{"0", "1", "2", "3", "5", "7"}, figures{
			"cb_nodes": 7, "local_cbs": 6, "global_cbs": 1, "programs": 3, "cores": 120, "logical_peak_bytes": 1179648,
			"resident_peak_bytes": 1179648, "resident_final_bytes": 98304, "core_peak_bytes": 18432, "highest_end": 111360 + 18432,
			"registered_logical_bytes": 2260992, "registered_union_bytes": 1638400,
		}},
		// Chips 6 and 4 were freed by their own ids in the end.
		{dir + "mesh8_fanout.json", "recorded", []string{"6", "4"}, figures{
			"programs": 3, "resident_peak_bytes": 1179648, "resident_final_bytes": 0, "registered_union_bytes": 1638400,
		}},

		// 8,192 x 56 = 458,752, freed by the mesh, then 4,096 x 56 = 229,376 at the same base.
		{dir + "late_mesh.json", "recorded", []string{"0", "1"}, figures{
			"programs": 2, "logical_peak_bytes": 458752, "resident_peak_bytes": 458752, "resident_final_bytes": 229376,
			"registered_logical_bytes": 688128, "registered_union_bytes": 458752,
		}},
		// The same on one chip of a mesh that is not introduced: nothing is ever freed.
		{dir + "unknown_mesh.json", "recorded", []string{"0"}, figures{
			"programs": 1, "logical_peak_bytes": 688128, "resident_peak_bytes": 458752, "resident_final_bytes": 458752,
		}},

		// 16,384 on one core; 67,584 on 56 + 4 = 60 cores = 4,055,040, which covers it; 2,048 on 64
		// cores = 131,072, with 4 new cores: union 4,055,040 + 8,192.
		{dir + "dialect_2024.json", "recorded", []string{"none"}, figures{
			"programs": 3, "cores": 64, "resident_peak_bytes": 4055040, "resident_final_bytes": 131072, "core_peak_bytes": 67584,
			"registered_union_bytes": 4063232, "registered_logical_bytes": 4202496,
		}},
		// One program, for nothing is ever freed: 4,096 on 8 + 4 = 12 cores, and above it 6,144 on 64: 49,152 + 393,216.
		// The wide range is charged with all 10,240: 655,360.
		{dir + "dialect_2024_08.json", "synthesised", []string{"none"}, figures{
			"local_cbs": 4, "programs": 1, "resident_peak_bytes": 442368, "resident_final_bytes": 442368, "logical_peak_bytes": 442368,
			"core_peak_bytes": 10240, "highest_end": 111616 + 10240, "registered_range_granular_bytes": 655360,
		}},

		// 2,048 at 103,840; 2,056 at 105,888; 1,000 at 107,968 (107,944 rounded up to 32): 5,104 bytes on 56 cores. Then
		// 4,096 on one core, inside [103840, 107944).
		{dir + "report_v1.json", "synthesised", []string{"1"}, figures{
			"cb_nodes": 5, "global_cbs": 1, "programs": 2, "resident_peak_bytes": 285824, "resident_final_bytes": 4096,
			"core_peak_bytes": 5104, "highest_end": 108968, "registered_union_bytes": 285824, "registered_logical_bytes": 289920,
		}},
		// The same on Blackhole: 111,360; 113,408; 115,520 (115,464 rounded up to 64).
		{dir + "report_devices_last.json", "synthesised", []string{"1"}, figures{
			"resident_peak_bytes": 285824, "highest_end": 116520, "registered_union_bytes": 285824, "registered_logical_bytes": 289920,
		}},
		// 16,384 x 110; the CB in the tensor takes nothing.
		{dir + "raw_graph.json", "recorded", []string{"0"}, figures{
			"local_cbs": 1, "global_cbs": 1, "resident_final_bytes": 1802240, "highest_end": 128000,
		}},

		// 8,192 x 64 and 14,336 x 64 at the same base. The cache hits show no CBs, so the end of the file looks empty.
		{dir + "repeats.json", "recorded", []string{"0"}, figures{
			"programs": 2, "resident_peak_bytes": 917504, "resident_final_bytes": 0,
			"registered_union_bytes": 917504, "registered_logical_bytes": 1441792,
		}},

		// 8,192 nowhere and 4,096 on two cores; then 2,048 and 1,024 nowhere, and a global one.
		{dir + "unattributed.json", "recorded", []string{"0"}, figures{
			"cb_nodes": 5, "local_cbs": 4, "global_cbs": 1, "programs": 2, "cores": 2, "logical_peak_bytes": 8192,
			"logical_sizes_peak_bytes": 12288, "unattributed_peak_bytes": 8192, "resident_peak_bytes": 8192,
			"resident_final_bytes": 0, "highest_end": 103712 + 4096, "registered_logical_bytes": 8192,
		}},

		{dir + "wrapped.json", "recorded", []string{"0"}, figures{"resident_final_bytes": 2048}},

		// 8,192 on 16 cores recorded at 111,616; 6,144 + 1,024 on 64 cores placed there too. Union 16 x 8,192 + 48 x 7,168.
		{dir + "mixed_addresses.json", "mixed", []string{"0"}, figures{
			"programs": 2, "resident_peak_bytes": 458752, "registered_union_bytes": 475136, "registered_logical_bytes": 589824,
			"highest_end": 111616 + 8192,
		}},
		// The recorded 4,096 lies at the base, so 2,048 follows at +4,096 on both cores, and 1,024 at +6,144 on one:
		// 7,168 + 6,144. The entry of both cores is charged with the last one too.
		{dir + "mixed_in_program.json", "mixed", []string{"0"}, figures{
			"programs": 1, "resident_peak_bytes": 13312, "core_peak_bytes": 7168, "highest_end": 111616 + 7168,
			"registered_range_granular_bytes": 14336,
		}},

		// Buffers of the second program: [0,4096) on 0-0..1-0; [4096,6144) on 1-0..2-0; the borrowed one takes nothing but makes an
		// entry of 0-0..3-0, which both mark. So 4,096 + 6,144 + 2,048 = 12,288. Scratchpads: 1,024 on three cores above all
		// that, [6144,7168), which the borrowed entry carries over to 3-0, hence 512 at 7,168: 3,584. The third program
		// covers [0,6144) on 0-0: union 6,144 + 6,144 + 2,048 = 14,336.
		{dir + "dataflow.json", "synthesised", []string{"1"}, figures{
			"cb_nodes": 1, "programs": 1, "resident_peak_bytes": 8192, "resident_final_bytes": 0,
			"dataflow_buffers": 4, "dataflow_local": 3, "dataflow_borrowed": 1, "dataflow_resident_peak_bytes": 12288,
			"dataflow_core_peak_bytes": 6144, "dataflow_registered_union_bytes": 14336,
			"scratchpads": 2, "scratchpad_resident_peak_bytes": 3584, "scratchpad_core_peak_bytes": 1024,
			"scratchpad_registered_union_bytes": 3584,
		}},

		// Buffers of the first program: [0,4096) on both cores, [4096,6144) on 1-0: 10,240. The scratchpad lies above them,
		// [6144,6656) on both: 1,024. The second program covers [0,8192) on 0-0, so there 8,192 and on 1-0 6,144 are
		// registered: 14,336. The third is a cache hit.
		{dir + "dataflow_only.json", "none", []string{"1"}, figures{
			"cb_nodes": 0, "local_cbs": 0, "global_cbs": 0, "programs": 0, "cores": 0, "logical_peak_bytes": 0,
			"resident_peak_bytes": 0, "highest_end": 0, "registered_union_bytes": 0, "registered_range_granular_bytes": 0,
			"dataflow_buffers": 3, "dataflow_local": 3, "dataflow_borrowed": 0, "dataflow_resident_peak_bytes": 10240,
			"dataflow_core_peak_bytes": 8192, "dataflow_registered_union_bytes": 14336,
			"scratchpads": 1, "scratchpad_resident_peak_bytes": 1024, "scratchpad_core_peak_bytes": 512,
			"scratchpad_registered_union_bytes": 1024,
		}},

		// Offsets. 4,096 on 9 + 9 - 4 = 14 cores [0,4096): 57,344. 4,096 on 4 of them [2048,6144): logical 16,384, new
		// 8,192. 1,024 on 16 cores [8192,9216): 16,384. 1,024 on 3-3 [9216,10240). Logical 91,136, covered 82,944.
		// The second program: 8,192 on 9 cores [4096,12288): 73,728. On four cores it meets the first, which held 5,120,
		// 5,120, 5,120 and 6,144 there, and fills each to 12,288: 82,944 - 21,504 + 49,152 + 5 x 8,192 = 151,552.
		// By range: the 4x4 square is charged [0,4096) [8192,10240) on all cores = 98,304, 0-0..1-1 in addition
		// [4096,6144) = 8,192; with the second program 106,496 + 4 x 6,144 + 40,960 = 172,032.
		{dir + "overlap.json", "recorded", []string{"0"}, figures{
			"programs": 2, "cores": 21, "logical_peak_bytes": 91136, "resident_peak_bytes": 82944, "resident_final_bytes": 73728,
			"core_peak_bytes": 8192, "registered_logical_bytes": 164864, "registered_union_bytes": 151552,
			"registered_core_peak_bytes": 12288, "registered_range_granular_bytes": 172032,
		}},

		// 18,432 x 56; the second rank also 114,688 x 32 at the same base: 3,670,016 + 24 x 18,432.
		{dir + "ranks/graph_capture_0_of_2.json", "recorded", []string{"0", "1"}, figures{
			"programs": 1, "resident_final_bytes": 1032192, "registered_union_bytes": 1032192, "dataflow_buffers": 0,
		}},
		{dir + "ranks/graph_capture_1_of_2.json", "recorded", []string{"0", "1"}, figures{
			"programs": 2, "resident_peak_bytes": 3670016, "resident_final_bytes": 0, "registered_union_bytes": 4112384,
			"dataflow_registered_union_bytes": 229376, "scratchpad_registered_union_bytes": 512,
		}},
	}
	for _, tt := range tests {
		t.Run(path.Base(tt.file)+"/"+strings.Join(tt.devices, "+"), func(t *testing.T) {
			r := open(t, tt.file)
			require.Equal(t, tt.addresses, r.Addresses)
			require.True(t, r.CountersSequential)
			for _, name := range tt.devices {
				requireFigures(t, r.Devices[name], tt.want)
			}
		})
	}
}

func TestMeshMembers(t *testing.T) {
	// The pair (3, 3) says nothing: chip 3 is reached by its own id.
	require.Equal(t, map[string][]int64{"3": {0, 1, 2, 4, 5, 6, 7}}, open(t, "capture/testdata/mesh8_fanout.json").MeshMembers)
	require.Equal(t, map[string][]int64{"2": {0, 1}}, open(t, "capture/testdata/late_mesh.json").MeshMembers)
	require.Empty(t, open(t, "capture/testdata/unknown_mesh.json").MeshMembers)
	require.Equal(t, map[string][]int64{"1": {0}}, open(t, "capture/testdata/repeats.json").MeshMembers, "from program_execution alone")
}

func TestUpstreamByHand(t *testing.T) {
	t.Run("wrapped", func(t *testing.T) {
		// 32,768 freed before anything was allocated; 2,048 of CB; 4,096 allocated. Maxima on additions only.
		u := open(t, "capture/testdata/wrapped.json").Upstream
		require.True(t, u.Wrapped)
		require.Equal(t, uint64(2048), *u.PeakCB)
		require.Equal(t, uint64(1<<64-32768+4096), *u.PeakL1)
		require.Equal(t, uint64(1<<64-32768+4096+2048), *u.PeakTotal)
	})
	t.Run("eight chips are added up", func(t *testing.T) {
		u := open(t, "capture/testdata/mesh8_fanout.json").Upstream
		require.Equal(t, uint64(8*18432), *u.PeakCB)
	})
	t.Run("no figures per bank", func(t *testing.T) {
		for _, name := range []string{"dialect_2024", "dialect_2024_08"} {
			u := open(t, "capture/testdata/"+name+".json").Upstream
			require.Nil(t, u.PeakL1)
			require.Nil(t, u.PeakTotal)
			require.NotNil(t, u.PeakCB)
		}
	})
	t.Run("dataflow", func(t *testing.T) {
		// 4,096 + 2,048 of dataflow buffers without the borrowed one, 1,024 + 512 of scratchpads, all cores as one.
		u := open(t, "capture/testdata/dataflow.json").Upstream
		require.Equal(t, uint64(6144), *u.PeakDataflow)
		require.Equal(t, uint64(1536), *u.PeakScratchpad)
		require.Equal(t, uint64(7680), *u.PeakTotal)
	})
	t.Run("dataflow only", func(t *testing.T) {
		u := open(t, "capture/testdata/dataflow_only.json").Upstream
		require.Zero(t, *u.PeakCB)
		require.Equal(t, uint64(8192), *u.PeakDataflow)
		require.Equal(t, uint64(512), *u.PeakScratchpad)
		require.Equal(t, uint64(8192), *u.PeakTotal)
	})
}

func TestLayout(t *testing.T) {
	require.Nil(t, open(t, "capture/testdata/matmul_normal.json").Layout, "nothing had to be placed")
	require.Equal(t, &oracle.Layout{Arch: "blackhole", Base: 111616, Align: 64}, open(t, "capture/testdata/dataflow.json").Layout)
	require.Equal(t, &oracle.Layout{Arch: "blackhole", Base: 111616, Align: 64}, open(t, "capture/testdata/dataflow_only.json").Layout)
	require.Equal(t, &oracle.Layout{Arch: "wormhole", Base: 103840, Align: 32}, open(t, "capture/testdata/report_v1.json").Layout)
	require.Equal(t, &oracle.Layout{Arch: "blackhole", Base: 111360, Align: 64}, open(t, "capture/testdata/report_devices_last.json").Layout)

	data := files()["capture/testdata/report_v1.json"]
	r, err := oracle.File(data, oracle.Options{Base: 4096, Align: 128, Arch: "blackhole"})
	require.NoError(t, err)
	require.Equal(t, &oracle.Layout{Arch: "blackhole", Base: 4096, Align: 128}, r.Layout)
	// 2,048 at 4,096; 2,056 at 6,144; 8,200 rounded up to 8,320, then 1,000.
	require.Equal(t, uint64(8320+1000), r.Devices["1"].HighestEnd)
}

// TestPlacedAgain wipes the addresses of NORMAL captures and lets the oracle place the programs: the generator's addresses have to
// come back, or the captures show what tt-metal would not do.
func TestPlacedAgain(t *testing.T) {
	bases := map[string]uint64{
		"capture/testdata/matmul_normal.json":              103712,
		"capture/testdata/late_mesh.json":                  103712,
		"capture/testdata/repeats.json":                    103712,
		"capture/testdata/mesh8_fanout.json":               111360,
		"capture/testdata/ranks/graph_capture_1_of_2.json": 103712,
		"examples/cached_ops.json":                         103712,
	}
	for name, base := range bases {
		t.Run(path.Base(name), func(t *testing.T) {
			arch, align := "wormhole", uint64(32)
			if base == 111360 {
				arch, align = "blackhole", 64
			}
			want := open(t, name)
			r, err := oracle.File(wipeAddresses(t, files()[name]), oracle.Options{Base: base, Align: align, Arch: arch, Rules: oracle.AllRules()})
			require.NoError(t, err)
			require.Equal(t, "recorded", want.Addresses)
			require.Equal(t, "synthesised", r.Addresses)
			require.Equal(t, want.Devices, r.Devices)
		})
	}
}

// wipeAddresses sets the address of every local CB to 0.
func wipeAddresses(t *testing.T, data []byte) []byte {
	t.Helper()
	var file any
	require.NoError(t, json.Unmarshal(data, &file))
	nodes, ok := file.([]any)
	if !ok {
		nodes = file.(map[string]any)["graph"].([]any)
	}
	for _, n := range nodes {
		n := n.(map[string]any)
		if params, ok := n["params"].(map[string]any); ok && n["node_type"] == "circular_buffer_allocate" && params["globally_allocated"] == "0" {
			params["address"] = 0
		}
	}
	out, err := json.Marshal(file)
	require.NoError(t, err)
	return out
}

// TestRightFixtures keeps the captures of the right answers equal to what the generator writes.
func TestRightFixtures(t *testing.T) {
	for name, data := range fixture.Right() {
		require.Less(t, len(data), 60_000, name)
		file := filepath.Join(root, filepath.FromSlash(name))
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, data, 0o644))
			continue
		}
		got, err := os.ReadFile(file)
		require.NoError(t, err, "run: go test ./internal/oracle -update")
		require.True(t, bytes.Equal(data, got), "%s is not what the generator writes; run: go test ./internal/oracle -update", name)
	}
}
