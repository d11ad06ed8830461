package device

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Each row spoils one figure that can be seen; a check that misses it is worth nothing.
func TestCheckInvariantsFindsEachFigure(t *testing.T) {
	// Devices 0 and 1 are a mesh, and 2 stands alone. Program 2 lies over 1, reserves more than it occupies, and ran.
	setup := func() *Fleet {
		f, m, _ := fleetOf(t, 1, 2)
		_, err := f.AddDevice(2, l1.N150())
		require.NoError(t, err)
		mustRegister(t, f, programOn(t, 1, "{[0-0 - 7-7]}", 0, 4096), f.Set())
		over := program.CB{Cores: l1.MustParseCoreRangeSet("{[0-0 - 1-0]}"), Size: 4096}
		apart := program.CB{Cores: l1.MustParseCoreRangeSet("{[1-0 - 2-0]}"), Size: 6144}
		p, err := program.Place(2, "", l1.N150(), over, apart)
		require.NoError(t, err)
		mustRegister(t, f, p, m.Set())
		require.NoError(t, f.Dispatch(2, m.Set()))
		for id, kind := range []fit.Kind{fit.KindL1, fit.KindL1Small, fit.KindKernel} {
			at := uint64(1_300_000 + 64*id)
			b := fit.Buffer{ID: fit.BufferID(id), Kind: kind, Cores: l1.Rect(0, 0, 0, 0).Cores(), Range: l1.Range{Start: at, End: at + 64}}
			require.NoError(t, f.Allocate(b, m.Set()))
		}
		require.NoError(t, f.Allocate(fit.Buffer{ID: 9, Kind: fit.KindDRAM, Size: 4096}, m.Set()))
		require.NoError(t, f.CheckInvariants())
		return f
	}
	figures := func(f *Fleet) *Totals { return &f.at(0).mesh.sum }
	sums := func(f *Fleet) *fit.BufferTotals { return field[fit.BufferTotals](f.at(0).heap(), "totals") }
	for _, test := range []struct {
		want  string // in the error
		spoil func(f *Fleet)
	}{
		{"device 0: Totals: {Registered:282625", func(f *Fleet) { f.at(0).state.totals.Registered++ }},
		{"Reserved:292863", func(f *Fleet) { f.at(0).state.totals.Reserved-- }},
		{"Logical:282625", func(f *Fleet) { f.at(0).state.totals.Logical++ }},
		{"Core:0", func(f *Fleet) { f.at(0).state.totals.Core = 0 }},
		{"Programs:7", func(f *Fleet) { f.at(2).state.totals.Programs = 7 }},
		{"Tracked:20609", func(f *Fleet) { f.at(0).memory.tracked.Bytes++ }},
		{"TrackedCore:10241", func(f *Fleet) { f.at(0).memory.tracked.Core++ }},
		{"Resident:1 ", func(f *Fleet) { *field[uint64](f.at(0).left, "bytes") = 1 }},
		{"Buffers:{Count:5", func(f *Fleet) { sums(f).Count++ }},
		{"Kernels:0", func(f *Fleet) { sums(f).Kernels = 0 }},
		{"Peak:{Registered:1 ", func(f *Fleet) { f.at(0).peak.registered = 1 }},
		{"Tracked:1 ", func(f *Fleet) { f.at(0).memory.peak.Bytes = 1 }},
		{"L1Small:1 ", func(f *Fleet) { f.at(0).memory.smallPeak = 1 }},
		{"device 0: Registered and Resident: [282625 20480]", func(f *Fleet) { f.at(0).registered.Add(1) }},
		{"device 2: Registered and Resident: [262144 1]", func(f *Fleet) { f.at(2).resident.Add(1) }},
		{"device 0: mesh: Totals: {Registered:565247", func(f *Fleet) { figures(f).Registered-- }},
		{"DRAM:8193", func(f *Fleet) { figures(f).Buffers.DRAM++ }},
		{"TrackedCore:1 ", func(f *Fleet) { f.at(0).mesh.peak.TrackedCore = 1 }},
		{"device 0: mesh: Registered and Resident: [565249 40960]", func(f *Fleet) { f.at(0).mesh.registered.Add(1) }},
		{"device 0: mesh: Registered and Resident: [565248 40961]", func(f *Fleet) { f.at(0).mesh.resident.Add(1) }},

		// What lies on cores, and who has what.
		{"device 0: group of cores: {Cores:{[0-0 - 0-0]} Registered:8192 Logical:8192 Programs:2 regions:[{Start:0 End:4096}", func(f *Fleet) { f.programs[1].Program = programOn(t, 1, "{[0-0 - 7-7]}", 0, 64) }},
		{"which is {Cores:{[0-0 - 0-0]} Registered:8192 Logical:8192 Programs:2 regions:[{Start:64 End:4160}", func(f *Fleet) { f.programs[1].Program = programOn(t, 1, "{[0-0 - 7-7]}", 64, 4096) }},
		{"which is {Cores:{[0-1 - 8-7], [3-0 - 8-0]}", func(f *Fleet) { f.programs[1].Program = programOn(t, 1, "{[0-0 - 8-7]}", 0, 4096) }},
		{"number of devices like it with program 2", func(f *Fleet) { f.programs[2].on.leave(bitset.Bits{}.With(0)) }},
		{"device 0: programs: [program 1", func(f *Fleet) { delete(f.programs, 1) }},
		{"which is [program 1", func(f *Fleet) { delete(f.programs, 2) }},
	} {
		t.Run(test.want, func(t *testing.T) {
			f := setup()
			test.spoil(f)
			err := f.CheckInvariants()
			require.ErrorIs(t, err, ErrInvariant)
			require.ErrorContains(t, err, test.want)
		})
	}
}
