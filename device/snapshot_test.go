package device_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

func TestSnapshot(t *testing.T) {
	f := device.NewFleet()
	b := addDevice(t, f, 9, l1.P150())
	a := addDevice(t, f, 2, l1.N150())
	p := build(t, a.Spec(), 7, at(1000, cb("{[0-0 - 1-1]}", 100)), at(2000, cb("{[1-1 - 1-1]}", 50)))
	q := build(t, a.Spec(), 3, at(1050, cb("{[1-0 - 2-0]}", 100)))
	register(t, f, p, a.Set())
	register(t, f, q, a.Set())

	s := f.Snapshot()
	devices := slices.Collect(s.All())
	require.Len(t, devices, 2)
	require.Equal(t, []device.ID{2, 9}, []device.ID{devices[0].ID(), devices[1].ID()})
	got, ok := s.Device(2)
	require.True(t, ok)
	require.Same(t, devices[0], got)
	_, ok = s.Device(3)
	require.False(t, ok)
	_, ok = s.Device(10)
	require.False(t, ok)

	require.Equal(t, a.Spec(), got.Spec())
	require.Equal(t, a.Totals(), got.Totals())
	require.Equal(t, []program.ID{3, 7}, programIDs(got.Programs()))
	var groups []group
	for g := range got.Groups() {
		groups = append(groups, spell(g))
	}
	require.Equal(t, []group{
		{"{[0-0 - 0-1]}", 100, 100, 1, []l1.Range{{Start: 1000, End: 1100}}},
		{"{[1-0 - 1-0]}", 150, 200, 2, []l1.Range{{Start: 1000, End: 1150}}},
		{"{[1-1 - 1-1]}", 150, 150, 1, []l1.Range{{Start: 1000, End: 1100}, {Start: 2000, End: 2050}}},
		{"{[2-0 - 2-0]}", 100, 100, 1, []l1.Range{{Start: 1050, End: 1150}}},
	}, groups)
	sum := uint64(0)
	for g := range got.Groups() {
		sum += g.Registered * uint64(g.Cores.Len())
		for c := range g.Cores.All() {
			require.Equal(t, regions(a.Regions(c)), regions(g.Regions()))
		}
	}
	require.Equal(t, got.Totals().Registered, sum)

	empty := devices[1]
	require.Equal(t, b.Spec(), empty.Spec())
	require.Zero(t, empty.Totals())
	require.Empty(t, slices.Collect(empty.Groups()))
	require.Empty(t, programIDs(empty.Programs()))
}

// A snapshot never changes, whatever happens to the fleet.
func TestSnapshotIsImmutable(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.N150())
	p := build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 4096))
	q := build(t, m.Spec(), 2, cb("{[2-2 - 3-3]}", 8192))
	register(t, f, p, m.Set())
	register(t, f, q, of(t, f, 1))
	show := func(s *device.Snapshot) (out []row) {
		for d := range s.All() {
			r := row{ID: d.ID(), Totals: d.Totals(), Programs: programIDs(d.Programs())}
			for g := range d.Groups() {
				r.Groups = append(r.Groups, spell(g))
			}
			out = append(out, r)
		}
		return out
	}
	s := f.Snapshot()
	before := show(s)

	register(t, f, build(t, m.Spec(), 3, cb("{[0-0 - 4-4]}", 1000)), m.Set())
	require.Equal(t, before, show(s))
	replace(t, f, p, resize(t, p, 0, 64))
	require.Equal(t, before, show(s))
	f.UnregisterAll(p.ID())
	f.UnregisterAll(q.ID())
	require.Equal(t, before, show(s))
	addDevice(t, f, 5, l1.P150())
	require.NoError(t, f.Remove(m.Set()))
	require.Equal(t, before, show(s))

	// Nor does a reader who writes into its results.
	d, _ := s.Device(0)
	for g := range d.Groups() {
		g.Registered, g.Cores = 0, l1.CoreSet{}
	}
	require.Equal(t, before, show(s))
}

// A snapshot does not show on which way its state was reached.
func TestSnapshotJoinsEqualGroups(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	p := build(t, d.Spec(), 1, cb("{[0-0 - 7-7]}", 4096))
	register(t, f, p, d.Set())
	want := picture(f)[0].Groups
	require.Len(t, want, 1)

	corner, middle := build(t, d.Spec(), 2, cb("{[0-0 - 1-1]}", 8192)), build(t, d.Spec(), 3, cb("{[1-1 - 5-5]}", 64))
	register(t, f, corner, d.Set())
	register(t, f, middle, d.Set())
	require.Len(t, picture(f)[0].Groups, 4) // the small one is inside the others but is one more program
	f.UnregisterAll(corner.ID())
	f.UnregisterAll(middle.ID())
	require.Equal(t, want, picture(f)[0].Groups)

	// The same in two programs of one half each: equal groups, other programs.
	f.UnregisterAll(p.ID())
	register(t, f, build(t, d.Spec(), 4, cb("{[0-0 - 3-7]}", 4096)), d.Set())
	register(t, f, build(t, d.Spec(), 5, cb("{[4-0 - 7-7]}", 4096)), d.Set())
	require.Equal(t, want, picture(f)[0].Groups)
}
