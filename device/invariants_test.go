package device

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/device/internal/version"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// field returns a field of what something points to, also one that only its package sees.
func field[T any](of any, path ...string) *T {
	v := reflect.ValueOf(of).Elem()
	for _, name := range path {
		v = v.FieldByNameFunc(func(s string) bool { return strings.EqualFold(s, name) })
	}
	return (*T)(v.Addr().UnsafePointer())
}

// A heapStore has the sets of buffers of a fleet.
type heapStore = version.Store[heap.State, heap.Heap, heap.Allocation]

func heapsOf(f *Fleet) *heapStore { return field[heapStore](&f.heaps, "states") }

// Each row plants one corruption; a check that misses it is worth nothing.
func TestCheckInvariantsFindsEachCorruption(t *testing.T) {
	spec := l1.N150()
	build := func(id program.ID, cbs ...program.CB) *program.Program {
		b := program.NewBuilder(id)
		for _, c := range cbs {
			b.CB(c)
		}
		p, err := b.Build(spec)
		require.NoError(t, err)
		return p
	}
	cb := func(cores string, size uint64) program.CB {
		return program.CB{Cores: l1.MustParseCoreRangeSet(cores), Size: size}
	}
	// Devices 0 and 1 are a mesh, 2 stands alone and reserves what it occupies.
	setup := func() *Fleet {
		f := NewFleet()
		m, err := f.AddMesh(0, 1, 2, spec)
		require.NoError(t, err)
		_, err = f.AddDevice(2, spec)
		require.NoError(t, err)
		for _, p := range []*program.Program{
			build(1, cb("{[0-0 - 7-7]}", 4096)),
			build(2, cb("{[0-0 - 3-3]}", 8192)),
			build(3, program.CB{Cores: l1.MustParseCoreRangeSet("{[0-0 - 0-0]}"), Size: 64, Address: 500_000, Fixed: true}),
		} {
			_, err = f.Register(p, f.Set())
			require.NoError(t, err)
		}
		_, err = f.Register(build(4, cb("{[0-0 - 1-0]}", 4096), cb("{[1-0 - 2-0]}", 6144)), m.Set())
		require.NoError(t, err)
		gone := build(5, cb("{[0-0 - 7-7]}", 100_000))
		_, err = f.Register(gone, m.Set())
		require.NoError(t, err)
		f.UnregisterAll(gone.ID())
		for _, id := range []program.ID{1, 2} { // 2 over 1, so that both are resident
			require.NoError(t, f.Dispatch(f.programs[id].Program.ID(), f.Set()))
		}
		// Buffers: some on the mesh, one more on device 1, a kernel on 2; dataflow buffers ran
		// there.
		part := func(cores string, addr, size uint64) []Part {
			return []Part{{Cores: l1.MustParseCoreRangeSet(cores).Cores(), Range: l1.Range{Start: addr, End: addr + size}}}
		}
		for _, b := range []Buffer{
			{ID: 1, Kind: KindL1, Parts: part("{[0-0 - 7-7]}", 1_000_000, 64)},
			{ID: 2, Kind: KindL1, Parts: part("{[0-0 - 3-3]}", 900_000, 64)},
			{ID: 3, Kind: KindDRAM, Size: 4096},
			{ID: 4, Kind: KindGlobalCB, Parts: part("{[0-0 - 0-0]}", 800_000, 64), Backing: true},
		} {
			require.NoError(t, f.Allocate(b, m.Set()))
		}
		require.NoError(t, f.Allocate(Buffer{ID: 5, Kind: KindL1Small, Parts: part("{[1-1 - 1-1]}", 1_400_000, 64)}, Device{f.slots[1]}.Set()))
		require.NoError(t, f.Allocate(Buffer{ID: 6, Kind: KindKernel, Parts: part("{[1-1 - 1-1]}", 64, 64)}, Device{f.slots[2]}.Set()))
		flow := cb("{[4-4 - 5-5]}", 12_000)
		flow.Kind = program.DataflowBuffer
		_, err = f.Enqueue(build(60, flow), Device{f.slots[2]}.Set())
		require.NoError(t, err)
		require.NoError(t, f.CheckInvariants())
		for _, c := range f.slots {
			f.fill(c.state) // so that the content can be spoilt
		}
		return f
	}
	held := func(f *Fleet, slot int) *classes.Content { return f.slots[slot].state.Content }
	of := func(f *Fleet, x, y uint8) *classes.Class { return held(f, 0).Occupied.On(l1.Core{X: x, Y: y}) }
	// All buffers by id.
	live := func(f *Fleet) map[BufferID][]*heap.Allocation {
		return *field[map[BufferID][]*heap.Allocation](&f.heaps, "live")
	}
	// between returns a state that device 0 passed, while device 1 leans on it.
	between := func(f *Fleet) *state {
		for id := program.ID(6); id < 8; id++ {
			_, err := f.Register(build(id, cb("{[0-0 - 0-0]}", 64)), Device{f.slots[0]}.Set())
			require.NoError(t, err)
		}
		require.NoError(t, f.CheckInvariants())
		to, _ := f.slots[1].state.Leans()
		return to
	}
	// another swaps the coverage of a class for one that has a range instead.
	another := func(k *classes.Class, r l1.Range) {
		k.Covered = new(cbregion.Coverage)
		k.Covered.Add(r)
	}

	for _, test := range []struct {
		want  string // in the error
		plant func(f *Fleet)
	}{
		// What is shown.
		{"device registered", func(f *Fleet) { f.slots[0].state.totals.Registered++ }},
		{"device reserved", func(f *Fleet) { f.slots[0].state.totals.Reserved-- }},
		{"device logical", func(f *Fleet) { f.slots[0].state.totals.Logical += 8 }},
		{"device fullest core", func(f *Fleet) { f.slots[0].state.totals.Core = 0 }},
		{"device number of programs", func(f *Fleet) { f.slots[2].state.totals.Programs = -1 }},
		{"published total", func(f *Fleet) { f.slots[1].registered.Store(math.MaxUint64) }},
		{"device peak of registered", func(f *Fleet) { f.slots[0].peak.registered = 1 }},
		{"device peak of reserved", func(f *Fleet) { f.slots[0].peak.reserved = 1 }},
		{"device peak of logical", func(f *Fleet) { f.slots[0].peak.logical = 1 }},
		{"device peak of fullest core", func(f *Fleet) { f.slots[0].peak.core = 1 }},
		{"mesh registered", func(f *Fleet) { f.slots[1].mesh.sum.Registered-- }},
		{"mesh reserved", func(f *Fleet) { f.slots[1].mesh.sum.Reserved-- }},
		{"mesh logical", func(f *Fleet) { f.slots[1].mesh.sum.Logical-- }},
		{"mesh number of programs", func(f *Fleet) { f.slots[1].mesh.sum.Programs-- }},
		{"mesh published total", func(f *Fleet) { f.slots[1].mesh.registered.Add(1) }},
		{"mesh peak of registered", func(f *Fleet) { f.slots[1].mesh.peak.Registered = 0 }},
		{"mesh peak of reserved", func(f *Fleet) { f.slots[1].mesh.peak.Reserved = 0 }},
		{"mesh peak of logical", func(f *Fleet) { f.slots[1].mesh.peak.Logical = 0 }},
		{"mesh peak of fullest core", func(f *Fleet) { f.slots[1].mesh.peak.Core = 0 }},
		{"charge", func(f *Fleet) { f.slots[2].state.charge++ }},
		{"charge of the content", func(f *Fleet) { held(f, 2).Charge++ }},
		{"number of programs of the content", func(f *Fleet) { *field[int](held(f, 0).Live, "n")++ }},
		{"charge of the fleet", func(f *Fleet) { f.charge.add(1, 1) }},
		{"mesh charge", func(f *Fleet) { f.slots[1].mesh.charge-- }},
		{"number of separate counts of what", func(f *Fleet) { *field[*classes.Partition](held(f, 0), "reserved") = nil }},
		{"number of programs that reserve otherwise", func(f *Fleet) { *field[int](held(f, 0), "differ")++ }},
		{"occupied sum of the classes", func(f *Fleet) { held(f, 0).Occupied.Bytes++ }},
		{"occupied logical sum of the classes", func(f *Fleet) { *field[uint64](&held(f, 0).Occupied, "logical")++ }},
		{"reserved sum of the classes", func(f *Fleet) { held(f, 0).Reservation().Bytes++ }},
		{"reserved logical sum of the classes", func(f *Fleet) { *field[uint64](held(f, 0).Reservation(), "logical")++ }},
		{"occupied class: number of cores", func(f *Fleet) { of(f, 0, 0).N = 2 }},
		{"occupied class: number of cores", func(f *Fleet) { k := of(f, 0, 0); k.Cores, k.N = l1.CoreSet{}, 0 }},
		{"occupied classes: cores in two", func(f *Fleet) {
			k := of(f, 0, 0)
			p := &held(f, 0).Occupied
			p.Classes = append(p.Classes, classes.Seat{Class: k})
		}},
		{"occupied class: programs, at least 1", func(f *Fleet) { of(f, 0, 0).Programs = -1 }}, // a count that fell below zero
		{"occupied programs on [0-0 - 0-0]", func(f *Fleet) { of(f, 0, 0).Programs++ }},
		{"occupied logical bytes on [0-0 - 0-0]", func(f *Fleet) { of(f, 0, 0).Logical-- }},
		{"occupied bytes on [0-0 - 0-0]", func(f *Fleet) { of(f, 0, 0).Covered.Add(l1.Range{Start: 0, End: 8}) }},
		{"occupied boundaries on [0-0 - 0-0]", func(f *Fleet) { of(f, 0, 0).Covered.Add(l1.Range{Start: spec.CBBase + 64, End: spec.CBBase + 128}) }},
		{"occupied counted programs that are not registered", func(f *Fleet) {
			k := field[[]*classes.Holder](of(f, 7, 7), "counted")
			*k = append(*k, &classes.Holder{})
		}},
		{"occupied counted programs that are not registered", func(f *Fleet) { k := field[[]*classes.Holder](of(f, 7, 7), "counted"); *k = append(*k, (*k)[0]) }},
		{"occupied counted programs of a class that counts all", func(f *Fleet) { *field[bool](of(f, 7, 7), "plain") = true }},
		{"occupied reach of the hidden programs on [0-0 - 0-0]", func(f *Fleet) { *field[uint64](of(f, 0, 0), "reach")-- }},
		{"occupied boundaries on [0-4 - 7-7] (+1 more)", func(f *Fleet) { *field[[]*classes.Holder](of(f, 7, 7), "counted") = nil }},
		{"occupied number of the class of core 7-7", func(f *Fleet) { in := *field[[]int32](&held(f, 0).Occupied, "grid", "in"); in[len(in)-1]++ }},
		{"occupied number of the class of core 7-7", func(f *Fleet) { in := *field[[]int32](&held(f, 0).Occupied, "grid", "in"); in[len(in)-1] = 0 }},
		{"occupied bytes of the fullest core", func(f *Fleet) { held(f, 0).Occupied.Fullest++ }},
		{"occupied bytes that a peak has at least, on", func(f *Fleet) {
			p := &held(f, 0).Occupied
			for i := range p.Classes {
				p.Classes[i].Peaks, p.Classes[i].Held = f.slots[0].cores.ID(), 1<<20
			}
		}},
		{"occupied number of times that the first core is known on [0-4 - 7-7]", func(f *Fleet) { *field[l1.Core](of(f, 7, 7), "first") = l1.Core{X: 7, Y: 7} }},
		{"occupied hash of the groups on [0-0 - 0-0]", func(f *Fleet) { *field[lookup.Hash](of(f, 0, 0), "groups", "hash")++ }},
		{"occupied number of times that a class names its groups on [0-0 - 0-0]", func(f *Fleet) { field[bitset.Set](of(f, 0, 0), "groups", "bits").Flip(7) }},
		{"occupied start of a region", func(f *Fleet) {
			k := of(f, 7, 7)
			another(k, l1.Range{Start: 0, End: k.Covered.Bytes()})
		}},
		{"occupied end of a region", func(f *Fleet) {
			k := of(f, 0, 0) // as many bytes, divided otherwise
			n := k.Covered.Bytes()
			another(k, l1.Range{Start: spec.CBBase, End: spec.CBBase + n - 8})
			k.Covered.Add(l1.Range{Start: 500_000, End: 500_008})
		}},
		{"occupied cores with programs in no class", func(f *Fleet) { // a class is lost, and the sums with it
			p := &held(f, 0).Occupied
			k := p.On(l1.Core{X: 7, Y: 7})
			p.Bytes -= k.Covered.Bytes() * k.N
			p.Logical -= k.Logical * k.N
			for i := range p.Classes {
				if p.Classes[i].Class == k {
					p.Classes = append(p.Classes[:i], p.Classes[i+1:]...)
					break
				}
			}
		}},

		// What is resident.
		{"device published resident total", func(f *Fleet) { f.slots[1].left = nil }},
		{"device resident", func(f *Fleet) { w := f.slots[1].left.Written()[0]; w.Program = f.programs[3].Program }},
		{"device published resident total", func(f *Fleet) { f.slots[1].resident.Add(8) }},
		{"device peak of resident", func(f *Fleet) { f.slots[2].residentPeak-- }},
		{"devices with the same resident", func(f *Fleet) { f.slots[0].left.Users++ }},
		{"number of times that a known residue stays", func(f *Fleet) { *field[bool](f.slots[0].left, "loose") = true }},
		{"mesh resident", func(f *Fleet) { f.slots[1].mesh.sum.Resident-- }},
		{"mesh published resident total", func(f *Fleet) { f.slots[1].mesh.resident.Store(0) }},
		{"mesh peak of resident", func(f *Fleet) { f.slots[1].mesh.peak.Resident = 1 }},

		{"charge of the fleet over 2^64", func(f *Fleet) { f.charge.hi++ }},

		// Buffers, and what is tracked.
		{"devices with the buffers", func(f *Fleet) { f.slots[0].buffers().Users++ }},
		{"id of L1 buffer 77", func(f *Fleet) { f.slots[0].heap().Find(1).ID = 77 }},
		{"charge of the buffers", func(f *Fleet) { *field[uint64](f.slots[0].heap(), "charge")++ }},
		{"end of the kernels", func(f *Fleet) { field[l1.Range](f.slots[2].heap(), "free").Start = 0 }},
		{"lowest of all that is not a kernel", func(f *Fleet) { field[l1.Range](f.slots[1].heap(), "free").End-- }},
		{"sum of the buffers' classes", func(f *Fleet) { field[classes.Partition](f.slots[0].heap(), "placed").Bytes++ }},
		{"buffers' bytes on [0-4 - 7-7]", func(f *Fleet) {
			field[classes.Partition](f.slots[0].heap(), "placed").Classes[0].Covered.Add(l1.Range{End: 8})
		}},
		{"remembered answer of what is tracked", func(f *Fleet) {
			*field[map[*residue.Residue]residue.Tracked](f.slots[1].heap(), "tracked") = map[*residue.Residue]residue.Tracked{f.slots[2].left: {Bytes: 1, Core: 1}}
		}},
		{"device number of buffers", func(f *Fleet) { field[BufferTotals](f.slots[0].heap(), "totals").Count-- }},
		{"device bytes of L1 buffers", func(f *Fleet) { field[BufferTotals](f.slots[0].heap(), "totals").L1 = 0 }},
		{"device bytes of L1_SMALL buffers", func(f *Fleet) { field[BufferTotals](f.slots[1].heap(), "totals").L1Small++ }},
		{"device bytes of DRAM buffers", func(f *Fleet) { field[BufferTotals](f.slots[0].heap(), "totals").DRAM++ }},
		{"device bytes of trace buffers", func(f *Fleet) { field[BufferTotals](f.slots[0].heap(), "totals").Trace++ }},
		{"device bytes of system buffers", func(f *Fleet) { field[BufferTotals](f.slots[0].heap(), "totals").System++ }},
		{"device bytes of kernels", func(f *Fleet) { field[BufferTotals](f.slots[2].heap(), "totals").Kernels++ }},
		{"device number of backing allocations", func(f *Fleet) { field[BufferTotals](f.slots[0].heap(), "totals").Backings++ }},
		{"device bytes of backing allocations", func(f *Fleet) { field[BufferTotals](f.slots[0].heap(), "totals").Backing++ }},
		{"number of times that the number is that of L1 buffer 1", func(f *Fleet) { f.roster.Retire(*field[*classes.Holder](f.slots[0].heap().Find(1), "placed")) }},
		{"charge of L1 buffer 1", func(f *Fleet) { f.slots[0].heap().Find(1).Charge++ }},
		{"bytes of L1 buffer 1", func(f *Fleet) { *field[*classes.Holder](f.slots[0].heap().Find(1), "placed") = nil }},
		{"bytes of global CB buffer 4", func(f *Fleet) {
			h := f.slots[0].heap()
			*field[*classes.Holder](h.Find(4), "placed") = *field[*classes.Holder](h.Find(1), "placed")
		}},
		{"place of L1 buffer 2", func(f *Fleet) { *field[int](f.slots[0].heap().Find(2), "at")++ }},
		{"devices of L1 buffer 2", func(f *Fleet) { *field[int](f.slots[0].heap().Find(2), "users")++ }},
		{"id of L1 buffer 2", func(f *Fleet) { live(f)[77] = []*heap.Allocation{f.slots[0].heap().Find(2)} }},
		{"number of live buffers that can be found", func(f *Fleet) { delete(live(f), 3) }},
		{"device tracked", func(f *Fleet) { f.slots[0].memory.tracked.Bytes++ }},
		{"resident dataflow buffers and scratchpads, without a place", func(f *Fleet) {
			c := f.slots[2] // as if nothing but circular buffers was ever there
			delete(live(f), 6)
			c.memory = nil
		}},
		{"device tracked on the fullest core", func(f *Fleet) { f.slots[0].memory.tracked.Core++ }},
		{"device peak of tracked on the fullest core", func(f *Fleet) { f.slots[0].memory.peak.Core = 1 }},
		{"device peak of L1_SMALL buffers", func(f *Fleet) { f.slots[1].memory.smallPeak = 0 }},
		{"mesh peak of tracked on the fullest core", func(f *Fleet) { f.slots[1].mesh.peak.TrackedCore = 1 }},
		{"bytes of buffers on the fullest core", func(f *Fleet) { field[classes.Partition](f.slots[0].heap(), "placed").Fullest++ }},
		{"last answer of what is tracked", func(f *Fleet) {
			h := f.slots[1].heap()
			*field[*residue.Residue](h, "last"), *field[residue.Tracked](h, "known") = f.slots[2].left, residue.Tracked{Bytes: 1, Core: 1}
		}},
		{"device peak of tracked", func(f *Fleet) { f.slots[0].memory.peak.Bytes = 1 }},
		{"device peak of L1 buffers", func(f *Fleet) { f.slots[0].memory.l1Peak = 1 }},
		{"device peak of DRAM buffers", func(f *Fleet) { f.slots[0].memory.dramPeak = 1 }},
		{"mesh tracked", func(f *Fleet) { f.slots[1].mesh.sum.Tracked-- }},
		{"mesh number of buffers", func(f *Fleet) { f.slots[1].mesh.sum.Buffers.Count-- }},
		{"mesh bytes of DRAM buffers", func(f *Fleet) { f.slots[1].mesh.sum.Buffers.DRAM++ }},
		{"mesh load", func(f *Fleet) { f.slots[1].mesh.load++ }},
		{"mesh peak of tracked", func(f *Fleet) { f.slots[1].mesh.peak.Tracked = 1 }},
		{"mesh peak of L1 buffers", func(f *Fleet) { f.slots[1].mesh.peak.L1 = 1 }},
		{"mesh peak of DRAM buffers", func(f *Fleet) { f.slots[1].mesh.peak.DRAM = 1 }},

		// How things are found.
		{"number of ids", func(f *Fleet) { f.ids = f.ids[:2] }},
		{"number of live marks of the slot", func(f *Fleet) { f.live.Drop(bitset.Set{}.With(0)) }},
		{"slot ", func(f *Fleet) { f.slots[2].slot = 1 }},
		{"slot found by its id", func(f *Fleet) { f.lone[1] = 2 }},
		{"number of ids in use", func(f *Fleet) { f.lone[77] = 1 }},
		{"number of times that nothing took the place of program 3", func(f *Fleet) { f.programs[3].heirs = &lineage{last: f.programs[1]} }},
		{"number of times that the number is that of program 3", func(f *Fleet) { f.programs[3].Number = f.programs[1].Number }},
		{"id of program 1", func(f *Fleet) { f.programs[9] = f.programs[1] }},
		{"number of times that the device is in a state", func(f *Fleet) { f.slots[2].state = nil }},
		{"number of devices in a state", func(f *Fleet) { f.slots[0].state.Users++ }},
		{"number of devices of one state of program 3", func(f *Fleet) { f.programs[3].on.leave(bitset.Set{}.With(0)) }},
		{"hash of the content", func(f *Fleet) { held(f, 0).Live.Hash++ }},
		{"number of times that the content names its programs", func(f *Fleet) { held(f, 0).Live.Bits.Flip(9) }},
		{"number of states with the same programs", func(f *Fleet) {
			s, same := f.slots[0].state, newState() // device 1 gets a state of its own, with the same
			same.Content = (*programs)(f).Copy(s.Content)
			same.Hash, same.totals, same.charge = s.Hash, s.totals, s.charge
			f.states.Put(&same.Version)
			s.Users--
			same.Users++
			f.slots[1].state = same
		}},
		{"hash of the state", func(f *Fleet) {
			s := f.slots[0].state
			shelf := field[lookup.Shelf[version.Version[state, classes.Content, registration]]](&f.states, "found")
			shelf.Drop(s.Hash, &s.Version)
			s.Hash++
			f.states.Put(&s.Version)
		}},
		{"a state is found by its hash", func(f *Fleet) { f.slots[0].state.Hash++ }},
		{"a state serves a device", func(f *Fleet) {
			s := newState()
			s.Content = f.newContent()
			f.states.Put(&s.Version)
		}},
		{"a state leads to the right one", func(f *Fleet) {
			between(f)
			f.fill(f.slots[1].state)
			by := field[step](f.slots[1].state, "by")
			*by = step{New: f.programs[7]}
		}},
		{"number of steps of program 6", func(f *Fleet) { between(f); f.programs[6].steps++ }},
		{"number of times that the number is that of program 9", func(f *Fleet) {
			f.programs[9] = &registration{Holder: classes.Holder{Program: build(9, cb("{[0-0 - 0-0]}", 1))}}
		}},
		{"number of times that there are devices of program 3", func(f *Fleet) { f.programs[3].on.leave(f.live) }},
		{"number of removed devices of program 1", func(f *Fleet) { f.programs[1].on.enter(bitset.Set{}.With(100)) }},
		{"device registered", func(f *Fleet) { delete(f.programs, 1) }},
		{"device registered", func(f *Fleet) { f.programs[3].Program = build(3, cb("{[5-5 - 7-7]}", 1<<20)) }},
	} {
		t.Run(test.want, func(t *testing.T) {
			f := setup()
			test.plant(f)
			err := f.CheckInvariants()
			require.ErrorContains(t, err, test.want)
			var broken *InvariantError
			require.ErrorAs(t, err, &broken)
			require.NotEqual(t, broken.Have, broken.Want, "names what differs: %v", err)
			require.LessOrEqual(t, len(err.Error()), 300)
		})
	}

	// A corrupt region tree is named with the device and the cores.
	t.Run("region tree", func(t *testing.T) {
		for view, p := range map[string]func(f *Fleet) *classes.Partition{
			"occupied": func(f *Fleet) *classes.Partition { return &held(f, 1).Occupied },
			"reserved": func(f *Fleet) *classes.Partition { return held(f, 1).Reservation() },
		} {
			f := setup()
			*field[int](p(f).Classes[0].Covered, "boundaries") += 2
			err := f.CheckInvariants()
			var broken *cbregion.InvariantError
			require.ErrorAs(t, err, &broken)
			require.ErrorContains(t, err, "device 0: "+view+" on [")
		}
	})
}

// Which of several corruptions is reported does not depend on the order of a map.
func TestCheckInvariantsIsDeterministic(t *testing.T) {
	f := NewFleet()
	for i := range ID(20) {
		m, err := f.AddMesh(2*i, 1, 2, l1.N150())
		require.NoError(t, err)
		m.m.charge++
	}
	for range 20 {
		require.EqualError(t, f.CheckInvariants(), "device 0: mesh charge is 1, recounted 0")
	}
}
