package device

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// comesBack requires that a life of a fleet, which ends with nothing registered, leaves
// less than 1 MiB on the heap. One run of three will do: others use the heap as well.
func comesBack(t *testing.T, prepare func() *Fleet, life func(f *Fleet)) {
	t.Helper()
	const most = 1 << 20
	grew := int64(most)
	for run := 0; run < 3 && grew >= most; run++ {
		f := prepare()
		before := testkit.Kept()
		life(f)
		grew = testkit.Kept() - before
		requireEmpty(t, f)
	}
	t.Logf("heap: %+d bytes", grew)
	require.Less(t, grew, int64(most), "bytes")
}

func skipIfShort(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: needs a run without -short")
	}
}

func oneDevice(t *testing.T) func() *Fleet {
	return func() *Fleet {
		f := NewFleet()
		_, err := f.AddDevice(0, l1.N150())
		require.NoError(t, err)
		return f
	}
}

// recount returns the union of the occupied bytes of programs, core by core, from their CBs alone:
// ranges that are sorted and merged. Cores in the same CBs are counted once.
func recount(programs []*program.Program) (total uint64) {
	held := map[string][]l1.Range{} // by CoreRangeSet
	sets := map[string]l1.CoreSet{}
	for _, p := range programs {
		for _, cb := range p.CBs() {
			name := cb.Cores.String()
			held[name] = append(held[name], cb.Range)
			sets[name] = cb.Cores.Cores()
		}
	}
	cells := map[string]uint64{} // names of the sets that a core is in -> number of cores
	for core := range l1.N150().Grid().Cores().All() {
		cells[fmt.Sprint(names(sets, core))]++
	}
	for core := range l1.N150().Grid().Cores().All() {
		in := names(sets, core)
		n := cells[fmt.Sprint(in)]
		if n == 0 {
			continue
		}
		cells[fmt.Sprint(in)] = 0
		var all []l1.Range
		for _, name := range in {
			all = append(all, held[name]...)
		}
		slices.SortFunc(all, func(a, b l1.Range) int { return cmp.Compare(a.Start, b.Start) })
		end := uint64(0)
		for _, r := range all {
			if r.End > end {
				total += n * (r.End - max(r.Start, end))
				end = r.End
			}
		}
	}
	return total
}

func names(sets map[string]l1.CoreSet, core l1.Core) (in []string) {
	for name, set := range sets {
		if set.Has(core) {
			in = append(in, name)
		}
	}
	slices.Sort(in)
	return in
}

// churn registers programs on device 0 in random order and takes them off in another
// one, with random returns on the way; at sample points the total is recounted.
func churn(t *testing.T, f *Fleet, rnd *rand.Rand, programs []*program.Program) {
	d, err := f.Device(0)
	require.NoError(t, err)
	s := d.Set()
	shuffle := func(p []*program.Program) {
		rnd.Shuffle(len(p), func(i, k int) { p[i], p[k] = p[k], p[i] })
	}
	order := slices.Clone(programs)
	shuffle(order)
	sample := len(order) / 8
	for i, p := range order {
		mustRegister(t, f, p, s)
		if i%sample == sample-1 {
			require.Equal(t, recount(order[:i+1]), d.Registered(), "%d live", i+1)
			require.Equal(t, i+1, d.Totals().Programs)
		}
	}
	for range len(order) / 8 { // out and in again
		p := order[rnd.IntN(len(order))]
		require.NoError(t, f.Unregister(p.ID(), s))
		mustRegister(t, f, p, s)
	}
	require.Equal(t, recount(order), d.Registered())
	shuffle(order)
	for i, p := range slices.Backward(order) {
		require.NoError(t, f.Unregister(p.ID(), s))
		if i%sample == 0 {
			require.Equal(t, recount(order[:i]), d.Registered(), "%d live", i)
		}
	}
}

// A cache of 65,536 programs on one device, most from the base, on four rectangles.
func TestScaleLivePrograms(t *testing.T) {
	skipIfShort(t)
	rnd := rand.New(rand.NewPCG(3, 1))
	spec := l1.N150()
	on := []string{"{[0-0 - 7-7]}", "{[0-0 - 4-4]}", "{[2-1 - 7-6]}", "{[0-5 - 6-7]}"}
	programs := make([]*program.Program, 65_536/slower)
	for i := range programs {
		addr := spec.CBBase
		if i%16 == 0 {
			addr += 32 * rnd.Uint64N(30_000)
		}
		programs[i] = programOn(t, program.ID(i), on[rnd.IntN(len(on))], addr, 32*(1+rnd.Uint64N(10_000)))
	}
	comesBack(t, oneDevice(t), func(f *Fleet) { churn(t, f, rnd, programs) })
	runtime.KeepAlive(programs)
}

// 100,000 ranges on one core: short and long, nested, in stairs and apart.
func TestScaleRangesOnOneCore(t *testing.T) {
	skipIfShort(t)
	rnd := rand.New(rand.NewPCG(3, 2))
	n := 100_000 / slower
	programs := make([]*program.Program, n)
	for i := range programs {
		addr, size := 8*uint64(i), uint64(8)
		switch i % 4 {
		case 1:
			size = 8 * (1 + rnd.Uint64N(4)) // stairs
		case 2:
			addr, size = 8*rnd.Uint64N(uint64(n)), 8*(1+rnd.Uint64N(1000))
		case 3:
			size = 4
			if i%100 == 3 { // few long ones, or they hide all others
				addr, size = 8*uint64(i/4), 8*uint64(n-i/2) // nested
			}
		}
		programs[i] = programOn(t, program.ID(i), "{[3-3 - 3-3]}", addr, size)
	}
	comesBack(t, oneDevice(t), func(f *Fleet) { churn(t, f, rnd, programs) })
	runtime.KeepAlive(programs)
}

// 10,000 devices part into 50 states, in one call each and device by device, and meet
// again in one state.
func TestScaleDevices(t *testing.T) {
	skipIfShort(t)
	const devices, states = 10_000, 50
	spec := l1.N150()
	common := programOn(t, 1, "{[0-0 - 7-7]}", 0, 4096)
	var own []*program.Program
	for s := range states {
		own = append(own, programOn(t, program.ID(100+s), "{[0-0 - 3-3]}", uint64(8192*(1+s)), 4096))
	}
	prepare := func() *Fleet {
		f := NewFleet()
		_, err := f.AddMesh(0, 100, devices/100, spec)
		require.NoError(t, err)
		for slot := range devices { // a cohort of one device takes 144 bytes, for good
			f.cut(share{f.at(slot), slot, 1})
		}
		return f
	}
	one := func(f *Fleet, programs int) {
		require.Equal(t, 1, used(f))
		// The last one that came may have left a way.
		within(t, count(f), counts{states: 2, contents: 2, numbers: programs + 1})
		require.NoError(t, f.CheckInvariants())
	}
	comesBack(t, prepare, func(f *Fleet) {
		all := f.Set()
		mesh := Mesh{f.at(0).mesh}
		mustRegister(t, f, common, all)
		one(f, 1)
		for s, p := range own {
			var on []ID
			for d := s; d < devices; d += states {
				on = append(on, ID(d))
			}
			some, err := f.Of(on...)
			require.NoError(t, err)
			mustRegister(t, f, p, some)
		}
		require.Equal(t, states, used(f))
		within(t, count(f), counts{states: states + 1, contents: states, numbers: 1 + states})
		require.EqualValues(t, uint64(devices*(64*4096+16*4096)), mesh.Registered())
		for _, p := range own {
			require.Equal(t, devices/states, f.UnregisterAll(p.ID()).Len())
		}
		one(f, 1)

		for d := range mesh.All() { // the same, in a call for each device
			mustRegister(t, f, own[int(d.ID())%states], d.Set())
		}
		require.Equal(t, states, used(f))
		for d := range mesh.All() {
			require.NoError(t, f.Unregister(own[int(d.ID())%states].ID(), d.Set()))
		}
		one(f, 1)
		require.EqualValues(t, uint64(devices*64*4096), mesh.Registered())
		f.UnregisterAll(common.ID())
		one(f, 0)
		for d := range mesh.All() { // one after the other, all alone
			mustRegister(t, f, common, d.Set())
			require.NoError(t, f.Unregister(common.ID(), d.Set()))
		}
		one(f, 0)
	})
}

// Programs on the same devices share the memory that says so, also when a device has
// been removed.
func TestScaleRemoveKeepsSharing(t *testing.T) {
	skipIfShort(t)
	const devices, live = 10_000, 2000 / slower
	spec := l1.N150()
	var programs []*program.Program
	for i := range live {
		programs = append(programs, programOn(t, program.ID(i), "{[0-0 - 7-7]}", 0, uint64(64+i)))
	}
	f := NewFleet()
	_, err := f.AddMesh(0, 100, devices/100, spec)
	require.NoError(t, err)
	for _, p := range programs {
		mustRegister(t, f, p, f.Set())
	}
	bits := func() int {
		arrays := map[*uint64]bool{}
		for _, r := range f.programs {
			arrays[&(*field[[]uint64](&r.on, "words"))[0]] = true
		}
		return len(arrays)
	}
	require.Equal(t, 1, bits())
	d, err := f.Device(77)
	require.NoError(t, err)
	require.NoError(t, f.Remove(d.Set()))
	require.Equal(t, 1, bits())
	require.NoError(t, f.CheckInvariants())
}
