package device

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// fans registers n programs on all devices, on rectangles that cross: the k-th has column k and row
// n-1-k, so that whatever the order is in which they ran shows.
func fans(t *testing.T, f *Fleet, n int) {
	for k := range n {
		cores := fmt.Sprintf("{[%d-0 - %d-7], [0-%d - 7-%d]}", k, k, 7-k, 7-k)
		mustRegister(t, f, programOn(t, program.ID(k), cores, 0, uint64(64*(k+1))), f.Set())
	}
}

// One device after the other goes the same long way, on which nothing comes twice.
func TestScatteredInTurn(t *testing.T) {
	if allMeet() {
		t.Skip("needs hashes that differ: a run without -tags cbl1meets")
	}
	f, _, each := fleetOf(t, 1, 8)
	fans(t, f, 8)
	shared := 0
	for d, s := range each {
		order := uint64(7)
		for range 500 {
			order = order*6364136223846793005 + 1442695040888963407
			require.NoError(t, f.Dispatch(program.ID(order>>61), s))
		}
		if d > 0 && f.at(d).left == f.at(d-1).left {
			shared++
		}
		require.NoError(t, f.CheckInvariants())
	}
	require.Equal(t, 7, shared, "the first has made the way")
	for k := range program.ID(8) {
		f.UnregisterAll(k)
	}
	require.Zero(t, f.residues)
}

// Dispatches in random order, against a map from cores to bytes. Most programs are small, so that the
// largest is often gone.
func TestScatteredIsCounted(t *testing.T) {
	f, m, _ := fleetOf(t, 1, 2)
	fans(t, f, 6)
	for id, size := range []uint64{4096, 8192, 64 << 10} {
		mustRegister(t, f, programOn(t, program.ID(6+id), fmt.Sprintf("{[%d-7 - 7-7]}", 5+id), uint64(1<<20-id), size), f.Set())
	}
	mustRegister(t, f, programOn(t, 9, "{[0-0 - 7-7]}", 0, 32), f.Set()) // leaves nothing of others
	model, order, peak, fallen := map[l1.Core]uint64{}, uint64(1), uint64(0), 0
	for range 500 {
		order = order*6364136223846793005 + 1442695040888963407
		p := f.programs[program.ID((order>>32)%10)].Program
		require.NoError(t, f.Dispatch(p.ID(), f.Set()))
		for _, cb := range p.CBs() {
			for c := range cb.Cores.Cores().All() {
				model[c] = cb.Range.Len()
			}
		}
		sum, core := uint64(0), uint64(0)
		for _, n := range model {
			sum, core = sum+n, max(core, n)
		}
		now := Device{f.slots[1]}.Totals()
		if peak = max(peak, sum); now.TrackedCore < now.Peak.TrackedCore {
			fallen++
		}
		require.Equal(t, []uint64{sum, core, sum, peak}, []uint64{now.Resident, now.TrackedCore, now.Tracked, now.Peak.Resident})
		require.Equal(t, 2*sum, m.Resident())
		require.NoError(t, f.CheckInvariants())
	}
	require.Greater(t, fallen, 20)
}

// A sum that may overflow is checked before anything changes.
func TestDispatchesOverflow(t *testing.T) {
	spec := l1.Spec{Name: "huge", Cols: 2, Rows: 1}
	f := NewFleet()
	m, err := f.AddMesh(0, 1, 2, spec)
	require.NoError(t, err)
	run := func(id program.ID, x uint8, size uint64) error {
		p, err := program.NewBuilder(id).Range(l1.Rect(x, 0, x, 0), l1.Range{End: size}).Build(spec)
		require.NoError(t, err)
		mustRegister(t, f, p, m.Set())
		err = f.Dispatch(id, m.Set())
		f.UnregisterAll(id)
		require.NoError(t, f.CheckInvariants())
		return err
	}
	require.NoError(t, run(1, 0, 8))
	require.NoError(t, run(2, 1, 8))
	for id, size := range []uint64{l1.MaxAddr / 2, l1.MaxAddr/2 - 7} {
		require.ErrorIs(t, run(program.ID(10+id), 0, size), ErrOverflow)
		require.EqualValues(t, 32, m.Resident())
	}
	require.NoError(t, run(20, 0, l1.MaxAddr/2-8))
	require.EqualValues(t, uint64(l1.MaxAddr)-1, m.Resident())
	require.NoError(t, run(21, 0, l1.MaxAddr/2-8))
	require.ErrorIs(t, run(22, 1, 9), ErrOverflow)
	require.NoError(t, run(23, 0, 8))
	require.EqualValues(t, 32, m.Resident())
}
