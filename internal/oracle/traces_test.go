package oracle_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/oracle"
)

// traces is a folder with real captures that lies beside the project in some workplaces and is no part of it.
const traces = "../../../shared/traces"

func trace(t *testing.T, name string) []byte {
	t.Helper()
	if _, err := os.Stat(traces); err != nil {
		t.Skipf("needs the real captures: %v", err)
	}
	data, err := os.ReadFile(filepath.Join(traces, name))
	require.NoError(t, err)
	return data
}

// TestTraces compares with values that somebody else computed: every field that they have must be equal.
func TestTraces(t *testing.T) {
	for _, name := range []string{"conv2d", "matmul_normal_mode", "sharded_add"} {
		t.Run(name, func(t *testing.T) {
			r, err := oracle.File(trace(t, name+".json"), oracle.Options{})
			require.NoError(t, err)
			var want, got any
			decode(t, trace(t, name+".expected.json"), &want)
			decode(t, encode(t, r), &got)
			requireContains(t, want, got, "")
		})
	}
}

func decode(t *testing.T, data []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	require.NoError(t, d.Decode(v))
}

// requireContains wants every field of want in got, equal. Objects may have more fields (dataflow buffers came later),
// but not "devices" and "mesh_members", whose keys are data.
func requireContains(t *testing.T, want, got any, at string) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		have, ok := got.(map[string]any)
		require.True(t, ok, at)
		if at == "/devices" || at == "/mesh_members" {
			require.Len(t, have, len(want), at)
		}
		for key, v := range want {
			require.Contains(t, have, key, at)
			requireContains(t, v, have[key], at+"/"+key)
		}
	case []any:
		have, ok := got.([]any)
		require.True(t, ok, at)
		require.Len(t, have, len(want), at)
		for i := range want {
			requireContains(t, want[i], have[i], at)
		}
	default:
		require.Equal(t, want, got, at)
	}
}

// TestOldTraces has numbers worked out by hand from the CB nodes of the captures of 2024.
func TestOldTraces(t *testing.T) {
	t.Run("matmul", func(t *testing.T) {
		// Three CBs on 4x4 = 16 cores: 131,072 at 107,360; 131,072 at 238,432; 524,288 at 369,504. Each starts where the one
		// before ends: 786,432 per core, 12,582,912 together, end 893,792. Nothing frees them.
		r, err := oracle.File(trace(t, "visualizer_matmul_2024.json"), oracle.Options{Arch: "wormhole"})
		require.NoError(t, err)
		require.Equal(t, "recorded", r.Addresses)
		require.Nil(t, r.Layout)
		require.Empty(t, r.MeshMembers)
		require.Len(t, r.Devices, 1)
		requireFigures(t, r.Devices["none"], figures{
			"cb_nodes": 3, "local_cbs": 3, "global_cbs": 0, "programs": 1, "cores": 16,
			"logical_peak_bytes": 12582912, "logical_sizes_peak_bytes": 786432, "resident_peak_bytes": 12582912,
			"resident_final_bytes": 12582912, "core_peak_bytes": 786432, "highest_end": 893792, "registered_union_bytes": 12582912,
			"registered_core_peak_bytes": 786432, "registered_logical_bytes": 12582912, "registered_range_granular_bytes": 12582912,
		})
		require.Equal(t, uint64(786432), *r.Upstream.PeakCB)
		require.Nil(t, r.Upstream.PeakL1, "an L1 buffer without max_size_per_bank")
		require.Nil(t, r.Upstream.PeakTotal)
	})
	t.Run("concat", func(t *testing.T) {
		// Twice two CBs of 16,384 on core 0-0: [107616, 140384), 32,768 bytes. Then 4,096 on 64 cores: 262,144, ends at
		// 111,712. Each program frees the one before. If none ended: 32,768 on 0-0 and 63 x 4,096 = 258,048 elsewhere, together
		// 290,816; logical 2 x 32,768 + 262,144 = 327,680. One range per program, so the charge is the union.
		r, err := oracle.File(trace(t, "visualizer_concat_2024.json"), oracle.Options{Arch: "wormhole"})
		require.NoError(t, err)
		require.Equal(t, "recorded", r.Addresses)
		require.Len(t, r.Devices, 1)
		d := r.Devices["none"]
		requireFigures(t, d, figures{
			"cb_nodes": 5, "local_cbs": 5, "programs": 3, "cores": 64,
			"logical_peak_bytes": 262144, "logical_sizes_peak_bytes": 32768, "resident_peak_bytes": 262144,
			"resident_final_bytes": 262144, "core_peak_bytes": 32768, "highest_end": 140384, "registered_union_bytes": 290816,
			"registered_core_peak_bytes": 32768, "registered_logical_bytes": 327680, "registered_range_granular_bytes": 290816,
		})
		require.Equal(t, []oracle.Program{
			{FirstCounter: 15, LastCounter: 16, LocalCBs: 2, Cores: 1, LogicalBytes: 32768, Resident: 32768, CoreMax: 32768, HighestEnd: 140384},
			{FirstCounter: 34, LastCounter: 35, LocalCBs: 2, Cores: 1, LogicalBytes: 32768, Resident: 32768, CoreMax: 32768, HighestEnd: 140384},
			{FirstCounter: 50, LastCounter: 50, LocalCBs: 1, Cores: 64, LogicalBytes: 262144, Resident: 262144, CoreMax: 4096, HighestEnd: 111712},
		}, d.ProgramsDetail)
		require.Equal(t, uint64(32768), *r.Upstream.PeakCB)
		require.Nil(t, r.Upstream.PeakL1)
	})
	t.Run("cached add", func(t *testing.T) {
		// A cache hit: a free and no CB node, so no device to speak of. No buffer is allocated or freed either.
		r, err := oracle.File(trace(t, "visualizer_add_cached_2024.json"), oracle.Options{Arch: "wormhole"})
		require.NoError(t, err)
		require.Equal(t, 14, r.Nodes)
		require.Equal(t, "none", r.Addresses)
		require.Empty(t, r.Devices)
		require.Zero(t, *r.Upstream.PeakCB)
		require.Zero(t, *r.Upstream.PeakTotal)
	})
}
