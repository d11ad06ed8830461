package device

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/device/internal/version"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Two sets of programs may have the same hash. Here all have the same one, and every answer is
// still right: values with equal hashes are compared. With -tags cbl1meets that is so in every
// test.

// field returns a field of the struct behind a pointer, also an unexported one.
func field[T any](of any, path ...string) *T {
	v := reflect.ValueOf(of).Elem()
	for _, name := range path {
		v = v.FieldByNameFunc(func(s string) bool { return strings.EqualFold(s, name) })
	}
	return (*T)(v.Addr().UnsafePointer())
}

// A heapStore has the sets of buffers of a fleet.
type heapStore = version.Store[heap.BufferSet, heap.Heap, heap.Allocation]

func heapsOf(f *Fleet) *heapStore { return field[heapStore](&f.heaps, "states") }

// ZeroHashes makes every hash of a fleet, which must be empty, 0.
func ZeroHashes(f *Fleet) { f.numbers.Blind, f.heaps.Numbers.Blind = true, true }

// allMeet reports whether all hashes are the same: see make meets.
func allMeet() bool {
	var h lookup.Hashes
	return h.Of(1) == h.Of(2)
}

func TestNothingIsLeftWithOneHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { nothingIsLeft(t, ZeroHashes) })
}

// Each device has programs of its own, all with one hash.
func TestStatesWithOneHash(t *testing.T) {
	f, m, each := fleetOf(t, 4, 8)
	ZeroHashes(f)
	for d, s := range each {
		for i := range 3 {
			mustRegister(t, f, programOn(t, program.ID(10*d+i), "{[0-0 - 1-0]}", uint64(4096*i), uint64(d+1)), s)
		}
	}
	require.NoError(t, f.CheckInvariants())
	want := uint64(0)
	for d := range m.All() {
		require.EqualValues(t, 2*3*(d.ID()+1), d.Registered())
		want += d.Registered()
	}
	require.Equal(t, want, m.Registered())
	for d, s := range each {
		for i := range program.ID(3) {
			require.NoError(t, f.Unregister(program.ID(10*d)+i, s))
		}
		require.NoError(t, f.CheckInvariants())
	}
	requireEmpty(t, f)
}

// Two halves of the cores hold as many ranges of other programs: sweeps join nothing.
func TestClassesWithOneHash(t *testing.T) {
	f, m, _ := fleetOf(t, 1, 1)
	ZeroHashes(f)
	mustRegister(t, f, programOn(t, 1, "{[0-0 - 3-7]}", 0, 64), m.Set())
	mustRegister(t, f, programOn(t, 2, "{[4-0 - 7-7]}", 64, 128), m.Set())
	for i := range program.ID(5) {
		mustRegister(t, f, programOn(t, 10+i, "{[0-0 - 7-7]}", 4096, 64), m.Set())
		f.UnregisterAll(10 + i)
		require.NoError(t, f.CheckInvariants())
	}
	require.EqualValues(t, 32*64+32*128, m.Registered())
	f.UnregisterAll(1)
	require.EqualValues(t, 32*128, m.Registered())
}

// Devices hold other buffers, and other programs ran there last.
func TestHeapsAndResiduesWithOneHash(t *testing.T) {
	f, m, each := fleetOf(t, 2, 2)
	ZeroHashes(f)
	cores := l1.MustParseCoreRangeSet("{[0-0 - 1-0]}").Cores()
	for d, s := range each {
		for i := range 3 {
			b := fit.Buffer{ID: fit.BufferID(10*d + i), Kind: fit.KindL1, Cores: cores, Range: l1.Range{Start: 1 << 20, End: 1<<20 + uint64(d+1)}}
			require.NoError(t, f.Allocate(b, s))
		}
		p := programOn(t, program.ID(d), "{[0-0 - 1-0]}", 0, uint64(d+1))
		mustRegister(t, f, p, s)
		require.NoError(t, f.Dispatch(p.ID(), s))
		require.NoError(t, f.CheckInvariants())
	}
	for d := range m.All() {
		n := uint64(d.ID() + 1)
		require.Equal(t, 2*n, d.Resident())
		require.Equal(t, 4*n, d.Totals().Tracked)
		require.Len(t, slices.Collect(d.Buffers()), 3)
	}
	for d, s := range each {
		for i := range 3 {
			_, err := f.Free(fit.BufferID(10*d+i), s)
			require.NoError(t, err)
			require.NoError(t, f.CheckInvariants())
		}
	}
	require.Zero(t, heapsOf(f).Len())
}

// The same programs ran on two devices, in another order.
func TestResiduesOfOtherCoresWithOneHash(t *testing.T) {
	f, m, each := fleetOf(t, 1, 2)
	ZeroHashes(f)
	p, q := programOn(t, 1, "{[0-0 - 5-7]}", 0, 64), programOn(t, 2, "{[3-0 - 7-7]}", 0, 64)
	for d, s := range each {
		mustRegister(t, f, p, s)
		mustRegister(t, f, q, s)
		order := []program.ID{1, 2, 1, 2}[d : d+2]
		require.NoError(t, f.Dispatch(order[0], s))
		require.NoError(t, f.Dispatch(order[1], s))
	}
	var last []program.ID
	for d := range m.All() {
		require.EqualValues(t, 64*64, d.Resident())
		p, _, ok := d.ResidentOn(l1.Core{X: 4, Y: 0})
		require.True(t, ok)
		last = append(last, p.ID())
	}
	require.Equal(t, []program.ID{2, 1}, last)
	require.NoError(t, f.CheckInvariants())
}

// Two fleets give the same things other hashes, so that an attacker cannot choose programs that
// collide.
func TestHashesAreSeeded(t *testing.T) {
	if allMeet() {
		t.Skip("needs hashes that differ: a run without -tags cbl1meets")
	}
	var of [2]lookup.Hash
	for i := range of {
		f, m, _ := fleetOf(t, 1, 1)
		mustRegister(t, f, programOn(t, 1, "{[0-0 - 1-0]}", 0, 64), m.Set())
		of[i] = f.programs[1].Hash
		require.NotZero(t, of[i])
		require.Equal(t, of[i], f.at(0).state.Hash)
	}
	require.NotEqual(t, of[0], of[1])
}

// The device that goes first makes the way. Devices that follow make no search by hash.
func TestDevicesFollowWays(t *testing.T) {
	f, m, each := fleetOf(t, 4, 8)
	p, q := programOn(t, 1, "{[0-0 - 7-7]}", 0, 128), programOn(t, 2, "{[0-0 - 3-3]}", 8192, 128)
	mustRegister(t, f, programOn(t, 3, "{[0-0 - 7-7]}", 4096, 64), m.Set())
	b := fit.Buffer{ID: 1, Kind: fit.KindL1, Cores: p.Occupied(program.CircularBuffer).Cores(), Range: l1.Range{Start: 1 << 20, End: 1<<20 + 64}}
	require.NoError(t, f.Allocate(fit.Buffer{ID: 2, Kind: fit.KindDRAM, Size: 64}, m.Set()))
	var states version.Store[state, classes.Content, registration]
	var heaps heapStore
	found := heapsOf(f)
	for d, s := range each[:31] {
		if d == 1 { // from here on nothing is found by hash
			states, heaps = f.states, *found
			f.states, *found = version.Store[state, classes.Content, registration]{}, heapStore{}
		}
		mustRegister(t, f, p, s)
		mustRegister(t, f, q, s)
		require.NoError(t, f.Allocate(b, s))
	}
	require.Zero(t, f.states.Len())
	require.Zero(t, found.Len())
	f.states, *found = states, heaps
	require.NoError(t, f.CheckInvariants())
}

// Devices get neighbouring programs in swapped order: they meet in one state.
func TestSwappedOrder(t *testing.T) {
	f, m, each := fleetOf(t, 4, 8)
	for i := range program.ID(100) {
		mustRegister(t, f, programOn(t, 1000+i, "{[0-0 - 7-7]}", uint64(64*i), 64), m.Set())
	}
	for i := range program.ID(20) {
		p, q := programOn(t, 2*i, "{[0-0 - 7-7]}", 0, 128), programOn(t, 2*i+1, "{[0-0 - 3-3]}", 8192, 128)
		for _, s := range each {
			mustRegister(t, f, p, s)
			mustRegister(t, f, q, s)
			p, q = q, p
		}
		require.NoError(t, f.CheckInvariants())
		require.Equal(t, counts{states: 1, contents: 1, numbers: 102 + 2*int(i)}, count(f))
	}
}
