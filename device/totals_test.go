package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// The examples in which tt-metal's bookkeeping and the truth differ.
func differing() []struct {
	name                        string
	cbs                         []program.CB
	reserved, occupied, logical uint64
	onCore                      map[l1.Core][2]uint64 // reserved, occupied
} {
	return []struct {
		name                        string
		cbs                         []program.CB
		reserved, occupied, logical uint64
		onCore                      map[l1.Core][2]uint64
	}{
		{
			"C", []program.CB{
				cb("{[0-0 - 0-0]}", 2048), cb("{[0-0 - 0-0]}", 2048), cb("{[0-0 - 0-0]}", 2048),
				cb("{[0-2 - 0-2]}", 2048), cb("{[0-2 - 0-2]}", 2048), cb("{[0-2 - 0-2]}", 2048), cb("{[0-2 - 0-2]}", 2048), cb("{[0-2 - 0-2]}", 2048),
				cb("{[0-0 - 0-2]}", 2048),
			},
			36_864, 22_528, 22_528,
			map[l1.Core][2]uint64{core(0, 0): {12_288, 8_192}, core(0, 1): {12_288, 2_048}, core(0, 2): {12_288, 12_288}},
		},
		{
			"D", []program.CB{cb("{[0-0 - 1-0]}", 4096), cb("{[1-0 - 2-0]}", 6144)},
			30_720, 20_480, 20_480,
			map[l1.Core][2]uint64{core(0, 0): {10_240, 4_096}, core(1, 0): {10_240, 10_240}, core(2, 0): {10_240, 6_144}},
		},
		{
			"E", []program.CB{cb("{[0-0 - 0-0]}", 4096), cb("{[1-0 - 1-0]}", 2048), cb("{[0-0 - 1-0]}", 1024)},
			10_240, 8_192, 8_192,
			map[l1.Core][2]uint64{core(0, 0): {5_120, 5_120}, core(1, 0): {5_120, 3_072}},
		},
		{
			"F", []program.CB{cb("{[0-0 - 0-0]}", 2048), cb("{[1-0 - 1-0]}", 6144), cb("{[0-0 - 1-0]}", 1024)},
			9_216, 9_216, 10_240,
			map[l1.Core][2]uint64{core(0, 0): {3_072, 3_072}, core(1, 0): {6_144, 6_144}},
		},
		{
			"G2", []program.CB{global(cb("{[0-0 - 7-7]}", 65_536)), cb("{[0-0 - 0-0]}", 4096)},
			262_144, 4_096, 4_096,
			map[l1.Core][2]uint64{core(0, 0): {4_096, 4_096}, core(7, 7): {4_096, 0}},
		},
	}
}

func TestReservedAndOccupied(t *testing.T) {
	for _, e := range differing() {
		t.Run(e.name, func(t *testing.T) {
			f := device.NewFleet()
			m := addMesh(t, f, 0, 1, 2, l1.N150())
			p := build(t, m.Spec(), 1, e.cbs...)
			register(t, f, p, m.Set())
			for d := range m.All() {
				got := d.Totals()
				require.Equal(t, []uint64{e.reserved, e.occupied, e.logical}, []uint64{got.Reserved, got.Registered, got.Logical})
				for c, want := range e.onCore {
					on := d.Core(c)
					require.Equal(t, want, [2]uint64{on.Reserved, on.Registered}, "core %v", c)
				}
			}
			require.Equal(t, 2*e.reserved, m.Totals().Reserved)
			intact(t, f)
			f.UnregisterAll(p.ID())
			require.Zero(t, m.Totals().Reserved)
		})
	}
}

// The reserved figures are kept apart only while they differ from the occupied
// ones; that must not show.
func TestReservedComesAndGoes(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	wide := build(t, d.Spec(), 1, cb("{[0-0 - 7-7]}", 8192))
	d1 := build(t, d.Spec(), 2, cb("{[0-0 - 1-0]}", 4096), cb("{[1-0 - 2-0]}", 6144)) // example D: reserves 10,240 on 3 cores
	g2 := build(t, d.Spec(), 3, global(cb("{[0-0 - 7-7]}", 64)), cb("{[0-0 - 0-0]}", 16_384))
	check := func(registered, reserved uint64) {
		t.Helper()
		require.Equal(t, [2]uint64{registered, reserved}, [2]uint64{d.Totals().Registered, d.Totals().Reserved})
		intact(t, f)
	}
	const all = 64 * 8192
	register(t, f, wide, d.Set())
	check(all, all)
	register(t, f, d1, d.Set()) // 1-0 grows to 10,240; 2-0 has [4096,10240) above
	check(all+2*2048, all+3*2048)
	register(t, f, g2, d.Set())
	check(all+8192+2*2048, 64*16_384)
	require.EqualValues(t, 16_384, d.Core(core(5, 5)).Reserved)
	require.EqualValues(t, 8192, d.Core(core(5, 5)).Registered)
	f.UnregisterAll(d1.ID()) // g2 still differs
	check(all+8192, 64*16_384)
	f.UnregisterAll(g2.ID()) // none does
	check(all, all)
	require.EqualValues(t, 8192, d.Core(core(5, 5)).Reserved)
	register(t, f, g2, d.Set())
	check(all+8192, 64*16_384)
	f.UnregisterAll(wide.ID()) // the differing one is left alone
	check(16_384, 64*16_384)
	replace(t, f, g2, build(t, d.Spec(), 3, cb("{[0-0 - 0-0]}", 1024))) // by one that does not differ
	check(1024, 1024)
	replace(t, f, build(t, d.Spec(), 3), d1)
	check(20_480, 30_720)
	f.UnregisterAll(d1.ID())
	check(0, 0)
	require.EqualValues(t, 64*16_384, d.Totals().Peak.Reserved)
}

// Two programs may reserve and occupy the same ranges in differently cut groups.
func TestReservedGroupsAreCutDifferently(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	// Core 0-0 has the range twice, so that it counts twice as much as 1-0 but
	// takes no more: two groups occupied, one group reserved.
	p := build(t, d.Spec(), 1, at(200_000, cb("{[0-0 - 1-0]}", 64)), at(200_000, cb("{[0-0 - 0-0]}", 64)))
	require.Equal(t, 2, p.Occupied(program.CircularBuffer).NumGroups())
	require.Equal(t, 1, p.Reserved(program.CircularBuffer).NumGroups())
	g2 := build(t, d.Spec(), 2, global(cb("{[0-0 - 7-7]}", 64)), cb("{[0-0 - 0-0]}", 4096))
	register(t, f, p, d.Set())
	register(t, f, g2, d.Set())
	require.EqualValues(t, 64*4096+2*64, d.Totals().Reserved)
	intact(t, f)
	f.UnregisterAll(p.ID())
	require.EqualValues(t, 64*4096, d.Totals().Reserved)
	register(t, f, p, d.Set())
	f.UnregisterAll(g2.ID())
	require.EqualValues(t, 2*64, d.Totals().Reserved)
	require.EqualValues(t, 3*64, d.Totals().Logical)
	f.UnregisterAll(p.ID())
	intact(t, f)
}

func TestTotalsRow(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.N150())
	a, _ := f.Device(0)
	b, _ := f.Device(1)
	p := build(t, m.Spec(), 1, cb("{[0-0 - 1-0]}", 4096), cb("{[1-0 - 2-0]}", 6144))
	q := build(t, m.Spec(), 2, cb("{[0-0 - 0-0]}", 8192))
	register(t, f, p, m.Set())
	register(t, f, q, a.Set())

	onA := device.Totals{Registered: 24_576, Reserved: 30_720, Logical: 28_672, Core: 10_240, Programs: 2}
	onA.Peak = device.Peaks{Registered: 24_576, Reserved: 30_720, Logical: 28_672, Core: 10_240}
	onB := device.Totals{Registered: 20_480, Reserved: 30_720, Logical: 20_480, Core: 10_240, Programs: 1}
	onB.Peak = device.Peaks{Registered: 20_480, Reserved: 30_720, Logical: 20_480, Core: 10_240}
	require.Equal(t, onA, a.Totals())
	require.Equal(t, onB, b.Totals())
	sum := device.Totals{Registered: 45_056, Reserved: 61_440, Logical: 49_152, Core: 10_240, Programs: 3}
	sum.Peak = device.Peaks{Registered: 45_056, Reserved: 61_440, Logical: 49_152, Core: 10_240}
	require.Equal(t, sum, m.Totals())
	require.Equal(t, device.CoreTotals{Registered: 8192, Reserved: 10_240, Logical: 12_288, Programs: 2, Peak: 8192}, a.Core(core(0, 0)))
	require.Equal(t, device.CoreTotals{Registered: 6144, Reserved: 10_240, Logical: 6144, Programs: 1, Peak: 6144}, a.Core(core(2, 0)))
	require.Zero(t, a.Core(core(3, 0)))
	require.Zero(t, a.Core(core(255, 255)))
	require.Zero(t, b.Core(core(0, 1)))

	require.NoError(t, f.Unregister(p.ID(), a.Set()))
	require.EqualValues(t, 8192, a.Totals().Core)
	require.EqualValues(t, 10_240, m.Totals().Core) // still on b
	require.NoError(t, f.Unregister(p.ID(), b.Set()))
	require.EqualValues(t, 8192, m.Totals().Core)
	require.EqualValues(t, 10_240, m.Totals().Peak.Core)
}

// Dataflow buffers and scratchpads are not circular buffers: upstream's CB total
// does not have them either.
func TestOtherKindsAreNotInCBTotals(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	p := build(t, d.Spec(), 1,
		program.CB{Kind: program.DataflowBuffer, Cores: cores("{[0-0 - 7-7]}"), Size: 4096},
		program.CB{Kind: program.Scratchpad, Cores: cores("{[0-0 - 7-7]}"), Size: 512})
	require.Len(t, register(t, f, p, d.Set()), 1)
	require.Equal(t, device.Totals{Programs: 1}, d.Totals())
	require.Empty(t, programIDs(d.Owners(core(0, 0), 103_712)))
}

func TestPeaks(t *testing.T) {
	setup := func(t *testing.T) (*device.Fleet, device.Mesh, device.Device) {
		f := device.NewFleet()
		m := addMesh(t, f, 0, 1, 2, l1.N150())
		d, err := f.Device(0)
		require.NoError(t, err)
		return f, m, d
	}
	t.Run("rise and stay", func(t *testing.T) {
		f, m, d := setup(t)
		p := build(t, m.Spec(), 1, cb("{[0-0 - 3-3]}", 4096))
		q := build(t, m.Spec(), 2, cb("{[0-0 - 0-0]}", 65_536))
		register(t, f, p, m.Set())
		register(t, f, q, d.Set())
		f.UnregisterAll(p.ID())
		f.UnregisterAll(q.ID())
		want := device.Peaks{Registered: 16*4096 + 61_440, Reserved: 16*4096 + 61_440, Logical: 16*4096 + 65_536, Core: 65_536}
		require.Equal(t, device.Totals{Peak: want}, d.Totals())
		want.Registered, want.Reserved, want.Logical = want.Registered+16*4096, want.Reserved+16*4096, want.Logical+16*4096
		require.Equal(t, device.Totals{Peak: want}, m.Totals())
		require.EqualValues(t, 65_536, d.Core(core(0, 0)).Peak)
		require.EqualValues(t, 4096, d.Core(core(3, 3)).Peak)
		require.Zero(t, d.Core(core(4, 4)).Peak)
		intact(t, f)
	})
	t.Run("of a mesh is the peak of the sum, not the sum of peaks", func(t *testing.T) {
		f, m, _ := setup(t)
		p := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 4096))
		for id := range device.ID(2) {
			register(t, f, p, of(t, f, id))
			f.UnregisterAll(p.ID())
		}
		require.EqualValues(t, 4096, m.Totals().Peak.Registered)
		register(t, f, p, m.Set())
		require.EqualValues(t, 8192, m.Totals().Peak.Registered)
	})
	t.Run("see committed states only: Replace shows no transient", func(t *testing.T) {
		f, m, d := setup(t)
		// Old and new side by side would be twice as much; neither is 0 in between.
		low := build(t, m.Spec(), 1, at(200_000, cb("{[0-0 - 7-7]}", 4096)))
		high := build(t, m.Spec(), 1, at(300_000, cb("{[0-0 - 7-7]}", 4096)))
		register(t, f, low, m.Set())
		for range 3 {
			replace(t, f, low, high)
			replace(t, f, high, low)
		}
		want := device.Peaks{Registered: 64 * 4096, Reserved: 64 * 4096, Logical: 64 * 4096, Core: 4096}
		require.Equal(t, want, d.Totals().Peak)
		require.EqualValues(t, 4096, d.Core(core(7, 7)).Peak)
		want.Registered, want.Reserved, want.Logical = 2*want.Registered, 2*want.Reserved, 2*want.Logical
		require.Equal(t, want, m.Totals().Peak)
		intact(t, f)
	})
	t.Run("a whole operation at once: a mesh never shows a part of one", func(t *testing.T) {
		f, m, _ := setup(t)
		big, small := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 65_536)), build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 64))
		other := build(t, m.Spec(), 2, at(500_000, cb("{[0-0 - 0-0]}", 60_000)))
		register(t, f, big, of(t, f, 0))
		replace(t, f, big, small)
		register(t, f, other, of(t, f, 1))
		require.EqualValues(t, 65_536, m.Totals().Peak.Registered)
	})
	t.Run("a core's peak survives its class being dropped and split", func(t *testing.T) {
		f, m, d := setup(t)
		peak := func(x, y uint8) uint64 { return d.Core(core(x, y)).Peak }
		all := build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 8192))
		register(t, f, all, d.Set())
		f.UnregisterAll(all.ID()) // the class is dropped
		require.EqualValues(t, 8192, peak(0, 0))
		require.EqualValues(t, 8192, peak(7, 7))

		left := build(t, m.Spec(), 2, cb("{[0-0 - 3-7]}", 4096))
		top := build(t, m.Spec(), 3, cb("{[0-0 - 7-3]}", 16_384))
		register(t, f, left, d.Set())
		register(t, f, top, d.Set()) // splits the left half
		f.UnregisterAll(top.ID())
		require.EqualValues(t, 16_384, peak(0, 0))
		require.EqualValues(t, 16_384, peak(7, 0))
		require.EqualValues(t, 8192, peak(0, 7))
		require.EqualValues(t, 8192, peak(7, 7))
		f.UnregisterAll(left.ID())
		corner := build(t, m.Spec(), 4, cb("{[0-0 - 0-0]}", 32_768))
		register(t, f, corner, d.Set())
		require.EqualValues(t, 32_768, peak(0, 0)) // not folded yet
		require.EqualValues(t, 16_384, peak(1, 0))
		f.UnregisterAll(corner.ID())
		require.EqualValues(t, 32_768, peak(0, 0))
		intact(t, f)
	})
	t.Run("lower heights after a fold do not lower a peak", func(t *testing.T) {
		f, m, d := setup(t)
		stays := build(t, m.Spec(), 1, cb("{[0-0 - 1-0]}", 64))
		register(t, f, stays, d.Set())
		for i, size := range []uint64{4096, 1024, 8192, 2048} {
			p := build(t, m.Spec(), program.ID(10+i), at(500_000, cb("{[0-0 - 0-0]}", size)))
			register(t, f, p, d.Set())
			f.UnregisterAll(p.ID())
		}
		require.EqualValues(t, 64+8192, d.Core(core(0, 0)).Peak)
		require.EqualValues(t, 64, d.Core(core(1, 0)).Peak)
	})
	t.Run("ResetPeaks: to the bytes registered now, of this device alone", func(t *testing.T) {
		f, m, d := setup(t)
		p := build(t, m.Spec(), 1, cb("{[0-0 - 1-0]}", 4096), cb("{[1-0 - 2-0]}", 6144))
		q := build(t, m.Spec(), 2, cb("{[0-0 - 0-0]}", 65_536))
		register(t, f, p, m.Set())
		register(t, f, q, m.Set())
		f.UnregisterAll(q.ID())
		before := m.Totals()
		d.ResetPeaks()
		intact(t, f)
		require.Equal(t, device.Peaks{Registered: 20_480, Reserved: 30_720, Logical: 20_480, Core: 10_240}, d.Totals().Peak)
		require.EqualValues(t, 4096, d.Core(core(0, 0)).Peak)
		other, _ := f.Device(1)
		require.EqualValues(t, 65_536, other.Totals().Peak.Core)
		require.EqualValues(t, 65_536, other.Core(core(0, 0)).Peak)
		require.Equal(t, before, m.Totals())

		// Marks go on from there.
		register(t, f, build(t, m.Spec(), 3, cb("{[0-0 - 0-0]}", 8192)), d.Set())
		f.UnregisterAll(build(t, m.Spec(), 3).ID())
		require.EqualValues(t, 8192, d.Core(core(0, 0)).Peak)
		f.UnregisterAll(p.ID())
		require.EqualValues(t, 10_240, d.Core(core(1, 0)).Peak)
		d.ResetPeaks()
		require.Zero(t, d.Totals())
		require.Zero(t, d.Core(core(1, 0)))
		intact(t, f)
	})
	t.Run("refused calls raise nothing", func(t *testing.T) {
		f, m, _ := setup(t)
		addDevice(t, f, 9, l1.P150())
		unchanged(t, f, func() {
			_, err := f.Register(build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 4096)), f.Set())
			require.Error(t, err)
		})
		require.Zero(t, m.Totals())
	})
}

func TestOwners(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.N150())
	d, _ := f.Device(0)
	for id, p := range []*program.Program{
		build(t, m.Spec(), 30, at(1000, cb("{[0-0 - 1-0]}", 100))),
		build(t, m.Spec(), 20, at(1050, cb("{[1-0 - 1-0]}", 100))),
		build(t, m.Spec(), 10, at(1000, cb("{[1-0 - 1-0]}", 10)), at(1090, cb("{[1-0 - 1-0]}", 20)), at(1095, cb("{[1-0 - 1-0]}", 2))),
		build(t, m.Spec(), 40, at(1000, global(cb("{[1-0 - 1-0]}", 100)))), // bytes of a tensor
	} {
		register(t, f, p, d.Set())
		require.Equal(t, id+1, d.Totals().Programs)
	}
	for _, test := range []struct {
		core l1.Core
		addr uint64
		want []program.ID
	}{
		{core(1, 0), 999, nil},
		{core(1, 0), 1000, []program.ID{10, 30}},
		{core(1, 0), 1009, []program.ID{10, 30}},
		{core(1, 0), 1010, []program.ID{30}},
		{core(1, 0), 1095, []program.ID{10, 20, 30}}, // 10 holds it twice
		{core(1, 0), 1100, []program.ID{10, 20}},
		{core(1, 0), 1149, []program.ID{20}},
		{core(1, 0), 1150, nil},
		{core(0, 0), 1000, []program.ID{30}},
		{core(0, 0), 1095, []program.ID{30}},
		{core(2, 0), 1000, nil},
		{core(255, 255), 1000, nil},
	} {
		require.Equal(t, test.want, programIDs(d.Owners(test.core, test.addr)), "core %v, byte %d", test.core, test.addr)
	}
	other, _ := f.Device(1)
	require.Empty(t, programIDs(other.Owners(core(1, 0), 1000)))
}

// An iterator yields the content at the time of its call.
func TestIteratorsAreSnapshots(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	p := build(t, d.Spec(), 1, at(0, cb("{[0-0 - 0-0]}", 64)))
	register(t, f, p, d.Set())
	programs, onDevice, owners := f.Programs(), d.Programs(), d.Owners(core(0, 0), 0)
	taken, devices, all := d.Regions(core(0, 0)), f.Devices(), f.Snapshot().All()

	for r := range d.Regions(core(0, 0)) { // may change the fleet inside the loop
		require.Equal(t, l1.Range{End: 64}, r)
		register(t, f, build(t, d.Spec(), 2, at(128, cb("{[0-0 - 0-0]}", 64))), d.Set())
	}
	addDevice(t, f, 1, l1.N150())
	f.UnregisterAll(p.ID())

	require.Equal(t, []program.ID{1}, programIDs(programs))
	require.Equal(t, []program.ID{1}, programIDs(onDevice))
	require.Equal(t, []program.ID{1}, programIDs(owners))
	for range 2 { // and may be read again
		require.Equal(t, []l1.Range{{End: 64}}, regions(taken))
	}
	n := 0
	for range devices {
		n++
	}
	for range all {
		n++
	}
	require.Equal(t, 2, n)
	require.Equal(t, []l1.Range{{Start: 128, End: 192}}, regions(d.Regions(core(0, 0))))
}

// Register then Unregister restores every total exactly, and the order in which
// programs were registered does not matter.
func TestOrderDoesNotMatter(t *testing.T) {
	spec := l1.N150()
	var programs []*program.Program
	for _, e := range differing() {
		programs = append(programs, build(t, spec, program.ID(len(programs)), e.cbs...))
	}
	orders := permutations(len(programs))
	var want []row
	for _, order := range orders {
		f := device.NewFleet()
		d := addDevice(t, f, 0, spec)
		noise := build(t, spec, 99, cb("{[1-1 - 5-5]}", 1_000_000))
		for i, k := range order {
			if i == 2 {
				register(t, f, noise, d.Set())
			}
			register(t, f, programs[k], d.Set())
			before := d.Totals()
			again := build(t, spec, 98, cb("{[0-0 - 3-0]}", 500))
			register(t, f, again, d.Set())
			f.UnregisterAll(again.ID())
			after := d.Totals()
			before.Peak, after.Peak = device.Peaks{}, device.Peaks{}
			require.Equal(t, before, after)
		}
		f.UnregisterAll(noise.ID())
		d.ResetPeaks()
		if want == nil {
			want = picture(f)
		}
		require.Equal(t, want, picture(f), "order %v", order)
		intact(t, f)
		for _, k := range order {
			require.NoError(t, f.Unregister(programs[k].ID(), d.Set()))
		}
		require.Zero(t, d.Registered())
		intact(t, f)
	}
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for _, p := range permutations(n - 1) {
		for i := range n {
			q := append(append(append([]int{}, p[:i]...), n-1), p[i:]...)
			out = append(out, q)
		}
	}
	return out
}

// How full the fullest core ever was, of everything: the largest of one core at one
// moment, not the sum of the largest things.
func TestTrackedCore(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.Spec{Cols: 3, Rows: 1, L1Size: 1000, L1Small: 100})
	d := firstOf(m)
	both := func(now, peak uint64) {
		t.Helper()
		require.Equal(t, []uint64{now, peak}, []uint64{d.Totals().TrackedCore, d.Totals().Peak.TrackedCore})
	}
	p := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 300))
	q := build(t, m.Spec(), 2, cb("{[1-0 - 1-0]}", 200))
	register(t, f, p, m.Set())
	register(t, f, q, m.Set())
	both(0, 0)
	dispatch(t, f, p, d.Set())
	both(300, 300)
	allocate(t, f, d.Set(), buffer(1, fit.KindL1, "{[1-0 - 1-0]}", 600, 250))
	both(300, 300)
	dispatch(t, f, q, d.Set())
	both(450, 450)
	allocate(t, f, d.Set(), buffer(2, fit.KindL1, "{[0-0 - 1-0]}", 150, 100), buffer(3, fit.KindKernel, "{[1-0 - 1-0]}", 0, 90))
	both(500, 500) // 200 and 250, and 50 that are not under the CB
	allocate(t, f, d.Set(), buffer(4, fit.KindL1Small, "{[2-0 - 2-0]}", 900, 60))
	free(t, f, d.Set(), 1)
	both(300, 500) // core 0-0: a tensor under the CB
	free(t, f, d.Set(), 4)
	require.EqualValues(t, 60, d.Totals().Peak.L1Small)
	require.EqualValues(t, 60, m.Totals().Peak.L1Small)
	require.Equal(t, []uint64{300, 500}, []uint64{m.Totals().TrackedCore, m.Totals().Peak.TrackedCore})
	d.ResetPeaks()
	both(300, 300)
	require.Zero(t, d.Totals().Peak.L1Small)
	require.EqualValues(t, 500, m.Totals().Peak.TrackedCore, "that of the mesh stays")
	evict(t, f, 1, d.Set())
	both(250, 300)
	intact(t, f)
}

func evict(t require.TestingT, f *device.Fleet, id program.ID, s device.Set) {
	_, err := f.Evict(id, s)
	require.NoError(t, err)
}
