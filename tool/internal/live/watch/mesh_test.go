package watch_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// The row of a mesh: sums, the fullest core, the least headroom. What a chip does not show is not known of the mesh.
func TestMeshOf(t *testing.T) {
	n := func(n uint64) *uint64 { return &n }
	chip := func(cores int, all, core, headroom uint64) answer.LiveDevice {
		return answer.LiveDevice{
			Board: "n150", Cores: cores, Usable: 1000 + all, Bound: true, Registered: n(all), Core: n(core), Headroom: n(headroom), Logical: n(2 * all), Sum: n(3 * all),
			Peak: &answer.LivePeak{Registered: n(all), Core: core + 1}, Programs: new(int(all)), L1: all, L1Small: 1, DRAM: 2, Trace: 3, Kernels: n(4),
		}
	}
	a, b, c := chip(64, 10, 5, 300), chip(64, 20, 7, 100), chip(56, 30, 6, 200)
	require.Equal(t, answer.LiveDevice{
		Device: 32, Board: "mesh n150", Cores: 184, Usable: 1010, Bound: true, Registered: n(60), Core: n(7), Headroom: n(100), Logical: n(120), Sum: n(180),
		Peak: &answer.LivePeak{Core: 8}, Programs: new(60), L1: 60, L1Small: 3, DRAM: 6, Trace: 9, Kernels: n(12),
	}, answer.MeshOf(32, "mesh n150", []answer.LiveDevice{a, b, c}))

	b.Headroom, b.Logical, b.Incomplete = nil, n(math.MaxUint64), true
	got := answer.MeshOf(32, "mesh n150", []answer.LiveDevice{a, b, c})
	require.Nil(t, got.Headroom)
	require.Nil(t, got.Logical, "it is beyond 2^64")
	require.True(t, got.Incomplete)
	require.Equal(t, n(60), got.Registered)

	b.DRAM = math.MaxUint64
	require.Equal(t, answer.LiveDevice{Device: 32, Board: "mesh n150", Bound: true, Incomplete: true}, answer.MeshOf(32, "mesh n150", []answer.LiveDevice{a, b, c}))
}

// The contents of a mesh are the contents of the chip that has the core with most CBs.
func TestFullest(t *testing.T) {
	var fleet device.Fleet
	_, err := fleet.AddMesh(0, 1, 4, l1.N150())
	require.NoError(t, err)
	for i, size := range []uint64{0, 64, 128, 128} {
		d, err := fleet.Device(device.ID(i))
		require.NoError(t, err)
		p, err := program.Place(program.ID(i), "p", d.Spec(), program.CB{Cores: l1.Rect(0, 0, 0, 0), Size: size + 32})
		require.NoError(t, err)
		_, err = fleet.Register(p, d.Set())
		require.NoError(t, err)
	}
	first, err := fleet.Device(0)
	require.NoError(t, err)
	require.EqualValues(t, 0, watch.Fullest[device.ID](&fleet, first, nil).ID())
	require.EqualValues(t, 2, watch.Fullest(&fleet, first, []device.ID{0, 1, 2, 3}).ID())
	require.EqualValues(t, 1, watch.Fullest(&fleet, first, []int32{1, 9}).ID())
}
