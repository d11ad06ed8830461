package device_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Two cores hold the same bytes, of different CBs: each core has its own.
func TestResidentsOfCoresThatHoldTheSameBytes(t *testing.T) {
	spec := l1.Spec{Name: "toy", Cols: 2, Rows: 1, L1Size: 64}
	set := l1.MustParseCoreRangeSet
	p, err := program.NewBuilder(1).
		Range(set("{[0-0 - 0-0]}"), l1.Range{End: 16}).
		Range(set("{[1-0 - 1-0]}"), l1.Range{End: 16}).Build(spec)
	require.NoError(t, err)
	f := device.NewFleet()
	d, err := f.AddDevice(0, spec)
	require.NoError(t, err)
	_, err = f.Enqueue(p, d.Set())
	require.NoError(t, err)
	for _, basis := range []device.Basis{device.BasisResident, device.BasisRegistered} {
		for x := range uint8(2) {
			here := slices.Collect(groupOn(d, l1.Core{X: x}, basis).Residents())
			require.Len(t, here, 1)
			require.EqualValues(t, x, here[0].CB)
		}
	}
	blocks := fit.Buffer{ID: 1, Kind: fit.KindKernel, Parts: []fit.Part{{Cores: set("{[0-0 - 1-0]}").Cores(), Range: l1.Range{End: 1}}}}
	require.NoError(t, f.Allocate(blocks, d.Set()))
	v, err := f.Check(p, d.Set())
	require.NoError(t, err)
	for _, c := range v.Clashes {
		own := v.Own(c)
		require.Len(t, own, 1)
		require.True(t, c.Cores.Has(l1.Core{X: uint8(own[0].CB)}), "CB %d on %v", own[0].CB, c.Cores)
	}
}

// Devices may have different buffers of one id: Free returns the buffer of the lowest device, in
// whatever order the devices were added.
func TestFreeReturnsTheBufferOfTheFirstDevice(t *testing.T) {
	f := device.NewFleet()
	for _, id := range []device.ID{7, 2} {
		d, err := f.AddDevice(id, l1.Spec{})
		require.NoError(t, err)
		require.NoError(t, f.Allocate(fit.Buffer{ID: 1, Kind: fit.KindDRAM, Size: uint64(id)}, d.Set()))
	}
	b, err := f.Free(1, f.Set())
	require.NoError(t, err)
	require.EqualValues(t, 2, b.Size)
}

// Two programs that count the same are one program to Register, but tt-metal's check goes
// by core ranges. Enqueue judges the one that runs, whether it looked before or not.
func TestEnqueueJudgesTheRegisteredProgram(t *testing.T) {
	spec := l1.Spec{Name: "toy", Cols: 3, Rows: 1, L1Size: 64}
	set := l1.MustParseCoreRangeSet
	one, err := program.NewBuilder(1).Range(set("{[0-0 - 1-0]}"), l1.Range{End: 16}).Build(spec)
	require.NoError(t, err)
	two, err := program.NewBuilder(1).
		Range(set("{[0-0 - 0-0]}"), l1.Range{End: 16}).
		Range(set("{[1-0 - 1-0]}"), l1.Range{End: 16}).Build(spec)
	require.NoError(t, err)
	require.True(t, one.Equal(two))
	for _, look := range []bool{true, false} {
		f := device.NewFleet()
		d, err := f.AddDevice(0, spec)
		require.NoError(t, err)
		// For a range that starts on a service core tensors do not matter, wherever they lie.
		require.NoError(t, f.Allocate(fit.Buffer{ID: 1, Kind: fit.KindService, Parts: []fit.Part{
			{Cores: set("{[0-0 - 0-0]}").Cores(), Range: l1.Range{Start: 48, End: 64}},
		}}, d.Set()))
		require.NoError(t, f.Allocate(fit.Buffer{ID: 2, Kind: fit.KindL1, Parts: []fit.Part{
			{Cores: set("{[2-0 - 2-0]}").Cores(), Range: l1.Range{Start: 8, End: 16}},
		}}, d.Set()))
		if look {
			_, err = f.Enqueue(one, d.Set())
		} else {
			_, err = f.Register(one, d.Set())
		}
		require.NoError(t, err)
		_, err = f.Enqueue(two, d.Set())
		require.NoError(t, err, "looked before: %v", look)
	}
}

// An allocation that backs another one claims no core: its bytes are the other one's.
func TestBackingServiceBufferClaimsNothing(t *testing.T) {
	spec := l1.Spec{Name: "toy", Cols: 1, Rows: 1, L1Size: 64}
	cores := l1.MustParseCoreRangeSet("{[0-0 - 0-0]}")
	p, err := program.NewBuilder(1).Range(cores, l1.Range{End: 16}).Build(spec)
	require.NoError(t, err)
	f := device.NewFleet()
	d, err := f.AddDevice(0, spec)
	require.NoError(t, err)
	part := fit.Part{Cores: cores.Cores(), Range: l1.Range{Start: 8, End: 24}}
	require.NoError(t, f.Allocate(fit.Buffer{ID: 1, Kind: fit.KindService, Parts: []fit.Part{part}, Backing: true}, d.Set()))
	require.NoError(t, f.Allocate(fit.Buffer{ID: 2, Kind: fit.KindL1, Parts: []fit.Part{part}}, d.Set()))
	v, err := f.Check(p, d.Set())
	require.NoError(t, err)
	require.Len(t, v.Refusals, 1)
	require.Equal(t, fit.RefusedClash, v.Refusals[0].Kind)
}
