package device_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

func TestUnknownDevices(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 4, 1, 2, l1.N150())

	_, err := f.Device(3)
	require.EqualError(t, err, "device 3: no such device")
	require.ErrorIs(t, err, device.ErrNoDevice)

	_, err = f.Of(4, 9, 5, 7, 9)
	require.ErrorIs(t, err, device.ErrNoDevice)
	require.EqualError(t, err, "device 9 (+1 more): no such device") // 9 and 7
	var unknown *device.Error
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, device.Error{Op: "Of", About: device.AboutDevice, Device: 9, Err: device.ErrNoDevice, More: 1}, *unknown)

	require.Equal(t, []device.ID{4, 5}, ids(of(t, f, 5, 4, 5)))
	require.Equal(t, 2, m.Set().Len())
}

func TestDeviceExists(t *testing.T) {
	f := device.NewFleet()
	addDevice(t, f, 6, l1.N150())
	unchanged(t, f, func() {
		_, err := f.AddDevice(6, l1.P150())
		require.ErrorIs(t, err, device.ErrDeviceExists)
		_, err = f.AddMesh(4, 2, 2, l1.N150()) // 4 to 7: not even 4 is there afterwards
		require.ErrorIs(t, err, device.ErrDeviceExists)
		require.EqualError(t, err, "device 6: device exists already")
	})
	addDevice(t, f, 4, l1.N150())
	_, err := f.AddMesh(4, 2, 2, l1.N150())
	require.EqualError(t, err, "device 4 (+1 more): device exists already")
}

func TestAddMeshRefuses(t *testing.T) {
	f := device.NewFleet()
	for _, test := range []struct {
		first      device.ID
		rows, cols int
		reason     string
	}{
		{0, 0, 8, "needs at least one row and one column"},
		{0, 4, -1, "needs at least one row and one column"},
		{0, math.MinInt, math.MinInt, "needs at least one row and one column"},
		{0, 1 << 12, 1 << 12, "too many devices"},
		{0, math.MaxInt, math.MaxInt, "too many devices"},
		{0, 1, math.MaxInt, "too many devices"},
		{math.MaxUint64 - 2, 2, 2, "ids beyond 2^64-1"},
	} {
		_, err := f.AddMesh(test.first, test.rows, test.cols, l1.N150())
		var wrong *device.Error
		require.ErrorAs(t, err, &wrong)
		require.ErrorIs(t, err, device.ErrMesh)
		require.EqualError(t, err, fmt.Sprintf("device %d: no such mesh: %dx%d devices: %s", test.first, test.rows, test.cols, test.reason))
	}
	bad := l1.N150()
	bad.Cols = 257
	var spec *l1.SpecError
	_, err := f.AddMesh(0, 2, 2, bad)
	require.ErrorAs(t, err, &spec)
	_, err = f.AddDevice(0, bad)
	require.ErrorAs(t, err, &spec)
	require.Zero(t, f.Set().Len())
	require.Empty(t, slices.Collect(f.Devices()))

	last := addMesh(t, f, math.MaxUint64-3, 2, 2, l1.N150())
	require.Equal(t, []device.ID{math.MaxUint64 - 3, math.MaxUint64 - 2, math.MaxUint64 - 1, math.MaxUint64}, ids(last.Set()))
}

func TestMeshAndSub(t *testing.T) {
	f := device.NewFleet()
	addDevice(t, f, 99, l1.P150())
	m := addMesh(t, f, 10, 3, 4, l1.N150())
	rows, cols := m.Shape()
	require.Equal(t, []int{3, 4}, []int{rows, cols})
	require.Equal(t, l1.N150(), m.Spec())
	require.Equal(t, []device.ID{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}, ids(m.Set()))
	i := device.ID(10)
	for d := range m.All() {
		require.Equal(t, i, d.ID())
		i++
	}
	for d := range m.All() { // a reader may stop
		require.EqualValues(t, 10, d.ID())
		break
	}
	require.Equal(t, []device.ID{15, 16, 19, 20}, ids(sub(t, m, 1, 1, 2, 2)))
	require.Equal(t, []device.ID{21}, ids(sub(t, m, 2, 3, 1, 1)))
	require.Equal(t, ids(m.Set()), ids(sub(t, m, 0, 0, 3, 4)))
	require.Equal(t, device.Set{}, sub(t, m, 1, 1, 0, 0))
	require.Equal(t, device.Set{}, sub(t, m, 3, 4, 0, 0))

	for _, r := range [][4]int{
		{0, 0, 4, 1}, {0, 0, 1, 5}, {3, 0, 1, 1}, {0, 4, 1, 1}, {-1, 0, 1, 1}, {0, -1, 1, 1}, {0, 0, -1, 1}, {0, 0, 1, -1},
		{1, 0, math.MaxInt, 1}, {0, 1, 1, math.MaxInt}, {math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt},
	} {
		_, err := m.Sub(r[0], r[1], r[2], r[3])
		require.ErrorIs(t, err, device.ErrMesh, "%v", r)
	}
	_, err := m.Sub(2, 3, 1, 2)
	require.EqualError(t, err, "device 10: no such mesh: 3x4 devices: has no 1x2 devices at row 2, column 3")
}

func TestSetString(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 4, 8, l1.N150())
	require.Equal(t, "{}", device.Set{}.String())
	require.Equal(t, "{3}", of(t, f, 3).String())
	require.Equal(t, "{0 1 2 3 4 5 6 7}", sub(t, m, 0, 0, 1, 8).String())
	require.Equal(t, "{0 1 2 3 4 5 6 7 ... 9 devices}", of(t, f, 8, 7, 6, 5, 4, 3, 2, 1, 0).String())
	require.Equal(t, "{0 1 2 3 4 5 6 7 ... 32 devices}", m.Set().String())
}

// Sets are ordered by id whatever the order in which devices were added.
func TestSetOrder(t *testing.T) {
	f := device.NewFleet()
	for _, id := range []device.ID{70, 3, 1 << 40, 0, 12} {
		addDevice(t, f, id, l1.N150())
	}
	want := []device.ID{0, 3, 12, 70, 1 << 40}
	all := f.Set()
	require.Equal(t, want, ids(all))
	require.Equal(t, want, ids(all)) // may be read again
	for id := range all.All() {
		require.Zero(t, id)
		break
	}
	for _, id := range want {
		require.True(t, all.Has(id))
	}
	require.False(t, all.Has(4))
	require.False(t, of(t, f, 3).Has(70))
	var devices []device.ID
	for d := range f.Devices() {
		devices = append(devices, d.ID())
	}
	require.Equal(t, want, devices)

	p := build(t, l1.N150(), 1, cb("{[0-0 - 0-0]}", 64))
	require.Equal(t, want, register(t, f, p, all))
	require.Equal(t, want, ids(f.Where(1)))
	for d := range f.Snapshot().All() {
		require.Equal(t, want[0], d.ID())
		want = want[1:]
	}
}

// A Set never changes after it is made.
func TestSetsDoNotChange(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 4, l1.N150())
	p := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 64))
	all, one := f.Set(), of(t, f, 2)
	added, err := f.Register(p, one)
	require.NoError(t, err)
	where := f.Where(1)
	rest, err := f.Register(p, all)
	require.NoError(t, err)
	more := f.Where(1)
	for id := range device.ID(200) { // grows every bit set
		addDevice(t, f, 1000+id, l1.N150())
	}
	register(t, f, p, f.Set())
	require.NoError(t, f.Unregister(p.ID(), of(t, f, 0, 3)))
	removed := f.UnregisterAll(p.ID())
	require.NoError(t, f.Remove(of(t, f, 1)))

	require.Equal(t, []device.ID{0, 1, 2, 3}, ids(all))
	require.Equal(t, []device.ID{2}, ids(one))
	require.Equal(t, []device.ID{2}, ids(added))
	require.Equal(t, []device.ID{2}, ids(where))
	require.Equal(t, []device.ID{0, 1, 3}, ids(rest))
	require.Equal(t, []device.ID{0, 1, 2, 3}, ids(more))
	require.Equal(t, 202, removed.Len())
	require.Equal(t, []device.ID{0, 1, 2, 3}, ids(m.Set()))
}

func TestForeignSets(t *testing.T) {
	f, other := device.NewFleet(), device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	strange := addDevice(t, other, 0, l1.N150()).Set()
	p := build(t, l1.N150(), 1, cb("{[0-0 - 0-0]}", 64))
	register(t, f, p, d.Set())
	unchanged(t, f, func() {
		_, err := f.Register(p, strange)
		require.ErrorIs(t, err, device.ErrForeignSet)
		require.ErrorIs(t, f.Unregister(p.ID(), strange), device.ErrForeignSet)
		require.ErrorIs(t, f.Remove(strange), device.ErrForeignSet)
	})
}

func TestDeviceAddedMidLife(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.N150())
	p := build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 4096))
	register(t, f, p, f.Set())
	d := addDevice(t, f, 2, l1.N150())
	require.Zero(t, d.Totals())
	require.Empty(t, programIDs(d.Programs()))
	require.Equal(t, []device.ID{0, 1}, ids(f.Where(1)))
	require.Equal(t, []device.ID{2}, register(t, f, p, f.Set()))
	require.EqualValues(t, 64*4096, d.Registered())
	require.EqualValues(t, 2*64*4096, m.Registered()) // not of the mesh
	intact(t, f)
}

func TestDeviceRemovedMidLife(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 3, l1.N150())
	p := build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 4096))
	only := build(t, m.Spec(), 2, cb("{[0-0 - 0-0]}", 8192)) // on device 1 alone
	register(t, f, p, m.Set())
	register(t, f, only, of(t, f, 1))
	gone, err := f.Device(1)
	require.NoError(t, err)
	before := m.Totals()
	set := gone.Set()
	snapshot := f.Snapshot()

	require.NoError(t, f.Remove(set))
	intact(t, f)

	// Its registrations end with it, other devices are untouched.
	require.EqualValues(t, 2*64*4096, m.Registered())
	require.Equal(t, 2, m.Totals().Programs)
	require.Equal(t, []device.ID{0, 2}, ids(f.Where(1)))
	require.Zero(t, f.Where(2).Len())
	require.Equal(t, []program.ID{1}, programIDs(f.Programs()))
	require.Equal(t, []device.ID{0, 2}, ids(f.Set()))
	require.Equal(t, before.Peak, m.Totals().Peak) // a high-water mark remembers

	// The handle counts nothing and still knows its name.
	require.Equal(t, device.ID(1), gone.ID())
	require.Equal(t, m.Spec(), gone.Spec())
	require.Zero(t, gone.Registered())
	require.Zero(t, gone.Totals())
	require.Zero(t, gone.Core(core(0, 0)))
	require.Empty(t, regions(gone.Regions(core(0, 0))))
	require.Empty(t, programIDs(gone.Programs()))
	require.Empty(t, programIDs(gone.Owners(core(0, 0), 104_000)))
	gone.ResetPeaks()
	require.Zero(t, gone.Totals())

	// Calls that name it are refused for all devices of the call.
	require.Equal(t, []device.ID{1}, ids(gone.Set()))
	q := build(t, m.Spec(), 3, cb("{[0-0 - 0-0]}", 64))
	unchanged(t, f, func() {
		for _, s := range []device.Set{set, gone.Set(), m.Set(), sub(t, m, 0, 1, 1, 2)} {
			_, err := f.Register(q, s)
			require.ErrorIs(t, err, device.ErrNoDevice)
			require.EqualError(t, err, "device 1: no such device")
			require.ErrorIs(t, f.Unregister(p.ID(), s), device.ErrNoDevice)
			require.ErrorIs(t, f.Remove(s), device.ErrNoDevice)
		}
		_, err := f.Device(1)
		require.ErrorIs(t, err, device.ErrNoDevice)
		_, err = f.Of(0, 1)
		require.ErrorIs(t, err, device.ErrNoDevice)
	})

	// What a snapshot saw stays.
	saw, ok := snapshot.Device(1)
	require.True(t, ok)
	require.EqualValues(t, 64*4096+4096, saw.Totals().Registered)

	// The mesh goes on with the others.
	require.Equal(t, []device.ID{0, 2}, register(t, f, q, f.Set()))
	n := 0
	for range m.All() {
		n++
	}
	require.Equal(t, 3, n)
	intact(t, f)

	require.NoError(t, f.Remove(f.Set()))
	require.Zero(t, m.Registered())
	require.Empty(t, programIDs(f.Programs()))
	require.Empty(t, slices.Collect(f.Snapshot().All()))
	intact(t, f)
}

func TestSeveralDevicesGone(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 4, l1.N150())
	require.NoError(t, f.Remove(of(t, f, 1, 2)))
	_, err := f.Register(build(t, m.Spec(), 1), m.Set())
	require.EqualError(t, err, "device 1 (+1 more): no such device")
}

func TestIDReuseAfterRemoval(t *testing.T) {
	f := device.NewFleet()
	old := addDevice(t, f, 5, l1.N150())
	set := old.Set()
	p := build(t, l1.N150(), 1, cb("{[0-0 - 0-0]}", 4096))
	register(t, f, p, set)
	require.NoError(t, f.Remove(set))

	again := addDevice(t, f, 5, l1.P150()) // may be another board
	require.NotEqual(t, old, again)
	require.Equal(t, l1.N150(), old.Spec())
	require.Equal(t, l1.P150(), again.Spec())
	require.Zero(t, again.Totals())
	q := build(t, l1.P150(), 1, cb("{[0-0 - 0-0]}", 8192))
	require.Equal(t, []device.ID{5}, register(t, f, q, again.Set()))
	require.EqualValues(t, 8192, again.Registered())
	require.Zero(t, old.Registered())
	require.Empty(t, programIDs(old.Programs()))

	// The set from before names the device from before.
	unchanged(t, f, func() {
		require.ErrorIs(t, f.Unregister(q.ID(), set), device.ErrNoDevice)
		require.ErrorIs(t, f.Remove(set), device.ErrNoDevice)
	})
}

func TestExtremeIDs(t *testing.T) {
	f := device.NewFleet()
	for _, id := range []device.ID{0, 1<<31 - 1, 1 << 31, 1 << 32, math.MaxUint64} {
		d := addDevice(t, f, id, l1.N150())
		require.Equal(t, id, d.ID())
	}
	p0 := build(t, l1.N150(), 0, cb("{[0-0 - 0-0]}", 4096))
	p1 := build(t, l1.N150(), math.MaxUint64, cb("{[0-0 - 0-0]}", 6144))
	require.Len(t, register(t, f, p0, f.Set()), 5)
	require.Equal(t, []device.ID{1<<31 - 1}, register(t, f, p1, of(t, f, 1<<31-1)))
	d, err := f.Device(1<<31 - 1)
	require.NoError(t, err)
	require.EqualValues(t, 6144, d.Registered())
	require.Equal(t, []program.ID{0, math.MaxUint64}, programIDs(d.Programs()))
	require.Equal(t, []program.ID{0, math.MaxUint64}, programIDs(d.Owners(core(0, 0), 103_712)))
	intact(t, f)
}

// The zero value of every type works or is refused; none panics.
func TestZeroValues(t *testing.T) {
	p := build(t, l1.N150(), 1, cb("{[0-0 - 0-0]}", 4096))

	var f device.Fleet
	require.Zero(t, f.Set().Len())
	require.Empty(t, slices.Collect(f.Devices()))
	require.Empty(t, programIDs(f.Programs()))
	require.Empty(t, slices.Collect(f.Snapshot().All()))
	require.Zero(t, f.Where(1).Len())
	require.Zero(t, f.UnregisterAll(p.ID()).Len())
	require.NoError(t, f.Unregister(p.ID(), device.Set{}))
	require.NoError(t, f.Remove(device.Set{}))
	_, ok := f.Program(1)
	require.False(t, ok)
	_, err := f.Device(0)
	require.ErrorIs(t, err, device.ErrNoDevice)
	_, err = f.Replace(p.ID(), p)
	require.ErrorIs(t, err, device.ErrNotRegistered)
	none, err := f.Of()
	require.NoError(t, err)
	require.Equal(t, device.Set{}, none)
	require.Empty(t, register(t, &f, p, device.Set{}))
	intact(t, &f)
	d := addDevice(t, &f, 0, l1.N150())
	require.Len(t, register(t, &f, p, d.Set()), 1)

	t.Run("nil program", func(t *testing.T) {
		_, err := f.Register(nil, d.Set())
		require.ErrorIs(t, err, device.ErrNoProgram)
	})
	t.Run("program of a zero Builder", func(t *testing.T) {
		var b program.Builder
		empty, err := b.Build(l1.Spec{})
		require.NoError(t, err)
		e := addDevice(t, &f, 1, l1.Spec{})
		require.Len(t, register(t, &f, empty, e.Set()), 1)
		_, err = f.Register(empty, d.Set()) // wrong although it takes nothing
		require.ErrorIs(t, err, device.ErrSpec)
	})
	t.Run("Device", func(t *testing.T) {
		var d device.Device
		require.Zero(t, d.ID())
		require.Zero(t, d.Spec())
		require.Equal(t, device.Set{}, d.Set())
		require.Zero(t, d.Registered())
		require.Zero(t, d.Totals())
		require.Zero(t, d.Core(core(0, 0)))
		require.Empty(t, regions(d.Regions(core(0, 0))))
		require.Empty(t, programIDs(d.Owners(core(0, 0), 0)))
		require.Empty(t, programIDs(d.Programs()))
		d.ResetPeaks()
	})
	t.Run("Mesh", func(t *testing.T) {
		var m device.Mesh
		rows, cols := m.Shape()
		require.Zero(t, rows+cols)
		require.Zero(t, m.Spec())
		require.Equal(t, device.Set{}, m.Set())
		require.Zero(t, m.Registered())
		require.Zero(t, m.Totals())
		for range m.All() {
			require.Fail(t, "the zero Mesh has a device")
		}
		_, err := m.Sub(0, 0, 1, 1)
		require.ErrorIs(t, err, device.ErrNoFleet)
	})
	t.Run("Set", func(t *testing.T) {
		var s device.Set
		require.Zero(t, s.Len())
		require.Empty(t, ids(s))
		require.False(t, s.Has(0))
		require.Equal(t, "{}", s.String())
	})
	t.Run("Snapshot", func(t *testing.T) {
		var s device.Snapshot
		require.Empty(t, slices.Collect(s.All()))
		_, ok := s.Device(0)
		require.False(t, ok)
		var d device.DeviceSnapshot
		require.Zero(t, d.ID())
		require.Zero(t, d.Spec())
		require.Zero(t, d.Totals())
		require.Empty(t, programIDs(d.Programs()))
		require.Empty(t, slices.Collect(d.Groups()))
		var g device.CoreGroup
		require.Empty(t, regions(g.Regions()))
	})
	t.Run("errors", func(t *testing.T) {
		for _, err := range []error{
			&device.Error{Err: device.ErrNoFleet}, &device.Error{Err: fit.Verdict{}},
		} {
			require.NotEmpty(t, err.Error())
		}
	})
}

// What an error says is one line of at most 300 bytes without control characters,
// whatever a Spec is called.
func TestErrorTexts(t *testing.T) {
	for _, name := range []string{
		"", strings.Repeat("\x00", 500), strings.Repeat("\U0010ffff", 500), strings.Repeat("n", 500), "two\nlines \x1b[31mred", "\u202eright to left",
		strings.Repeat("\"\\", 500),
	} {
		f := device.NewFleet()
		has, built := l1.N150(), l1.P150()
		has.Name, built.Name = name, name+"2"
		has.Arch, built.Arch = l1.Arch(name), l1.Arch(name+name)
		d := addDevice(t, f, math.MaxUint64, has)
		_, err := f.Register(build(t, built, math.MaxUint64, cb("{[0-0 - 0-0]}", 64)), d.Set())
		checkText(t, err)
		big := build(t, has, math.MaxUint64, at(0, cb("{[0-0 - 7-7]}", (1<<63-1)/64)))
		register(t, f, big, d.Set())
		_, err = f.Register(build(t, has, math.MaxUint64, at(64, cb("{[0-0 - 7-7]}", (1<<63-1)/64))), d.Set())
		checkText(t, err)
		_, err = f.Register(build(t, has, math.MaxUint64-1, at(64, cb("{[0-0 - 7-7]}", (1<<63-1)/64))), d.Set())
		checkText(t, err)
		_, err = f.Register(build(t, has, math.MaxUint64-1, cb("{[255-255 - 255-255]}", 1)), d.Set())
		checkText(t, err)
	}
}

func checkText(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	require.LessOrEqual(t, len(err.Error()), 300)
	for _, r := range err.Error() {
		require.True(t, r >= ' ' && r <= '~', "%q", err.Error())
	}
}

// Two Specs that look alike in a few words differ in something, which is named.
func TestSpecErrorNamesTheDifference(t *testing.T) {
	for want, change := range map[string]func(*l1.Spec){
		`Name "n150b" instead of "n150"`:         func(s *l1.Spec) { s.Name = "n150b" },
		`Arch "blackhole" instead of "wormhole"`: func(s *l1.Spec) { s.Arch = l1.Blackhole },
		"Cols 7 instead of 8":                    func(s *l1.Spec) { s.Cols = 7 },
		"Rows 9 instead of 8":                    func(s *l1.Spec) { s.Rows = 9 },
		"L1Size 1499152 instead of 1499136":      func(s *l1.Spec) { s.L1Size += 16 },
		"CBBase 103424 instead of 103712":        func(s *l1.Spec) { s.CBBase = 103_424 },
		"CBAlign 64 instead of 32":               func(s *l1.Spec) { s.CBAlign = 64 },
		"L1Align 32 instead of 16":               func(s *l1.Spec) { s.L1Align = 32 },
		"CBIndices 64 instead of 32":             func(s *l1.Spec) { s.CBIndices = 64 },
	} {
		f := device.NewFleet()
		d := addDevice(t, f, 3, l1.N150())
		spec := l1.N150()
		change(&spec)
		unchanged(t, f, func() {
			_, err := f.Register(build(t, spec, 8, cb("{[0-0 - 0-0]}", 64)), d.Set())
			require.EqualError(t, err, "device 3: program 8: built for another Spec: "+want)
			var wrong *device.Error
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, ofProgram("Register", 8, 3, wrong.Err), wrong)
		})
	}
}

// Devices that differ in L1_SMALL alone run one program; how far it may grow depends on them.
func TestProgramBesideAnyL1Small(t *testing.T) {
	spec, small := l1.N150(), l1.N150()
	small.L1Small = 32 << 10
	f := device.NewFleet()
	a, b := addDevice(t, f, 0, spec), addDevice(t, f, 1, small)
	register(t, f, build(t, spec, 8, cb("{[0-0 - 0-0]}", 64)), a.Set())
	p := build(t, small, 8, cb("{[0-0 - 0-0]}", 64))
	register(t, f, p, b.Set())
	for set, want := range map[device.Set]uint64{a.Set(): 1_395_424 - 64, b.Set(): 1_395_424 - 64 - 32<<10, f.Set(): 1_395_424 - 64 - 32<<10} {
		bytes, ok, err := f.MayGrow(p, 0, set)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, want, bytes)
	}
	intact(t, f)
}

// TestSpecOfSets registers a program on devices that differ in L1_SMALL: a set says so, as long as it has both.
func TestSpecOfSets(t *testing.T) {
	f := device.NewFleet()
	large, small := l1.N150(), l1.N150()
	small.L1Small = 32 << 10
	var on []device.Set
	for i, spec := range []l1.Spec{large, small} {
		d, err := f.AddDevice(device.ID(i), spec)
		require.NoError(t, err)
		on = append(on, d.Set())
	}
	spec := func(s device.Set) string {
		got, ok := s.Spec()
		require.Equal(t, ok, got == large || got == small)
		return map[l1.Spec]string{large: "large", small: "small", {}: "both"}[got]
	}
	p := build(t, large, 1, cb("{[0-0 - 0-0]}", 1024))
	added := func(s device.Set) device.Set {
		added, err := f.Register(p, s)
		require.NoError(t, err)
		return added
	}
	require.Equal(t, "large", spec(added(on[0])))
	require.Equal(t, "large", spec(f.Where(1)))
	require.Equal(t, "small", spec(added(f.Set())))
	require.Equal(t, "both", spec(f.Where(1)))
	where, err := f.Replace(1, build(t, large, 1, cb("{[0-0 - 0-0]}", 2048)))
	require.NoError(t, err)
	require.Equal(t, "both", spec(where))
	require.NoError(t, f.Unregister(1, on[0]))
	require.Equal(t, "small", spec(f.Where(1)))
	require.Equal(t, "small", spec(f.UnregisterAll(1)))
}

func TestGrids(t *testing.T) {
	t.Run("256x256", func(t *testing.T) {
		spec := l1.N150()
		spec.Cols, spec.Rows = 256, 256
		f := device.NewFleet()
		d := addDevice(t, f, 0, spec)
		p := build(t, spec, 1, cb("{[0-0 - 255-255]}", 4096))
		q := build(t, spec, 2, cb("{[255-255 - 255-255]}", 8192))
		register(t, f, p, d.Set())
		register(t, f, q, d.Set())
		require.EqualValues(t, 65536*4096+4096, d.Registered())
		require.EqualValues(t, 8192, d.Core(core(255, 255)).Registered)
		require.EqualValues(t, 4096, d.Core(core(254, 255)).Registered)
		f.UnregisterAll(p.ID())
		require.EqualValues(t, 8192, d.Registered())
		require.EqualValues(t, 4096, d.Core(core(0, 0)).Peak)
		intact(t, f)
	})
	t.Run("unknown: any core", func(t *testing.T) {
		spec := l1.ArchSpec(l1.Blackhole)
		f := device.NewFleet()
		d := addDevice(t, f, 0, spec)
		register(t, f, build(t, spec, 1, cb("{[0-0 - 0-0], [255-255 - 255-255]}", 4096)), d.Set())
		require.EqualValues(t, 8192, d.Registered())
		require.EqualValues(t, 4096, d.Core(core(255, 255)).Registered)
		intact(t, f)
	})
	t.Run("1x1", func(t *testing.T) {
		spec := l1.Spec{Cols: 1, Rows: 1, L1Size: 64}
		f := device.NewFleet()
		d := addDevice(t, f, 0, spec)
		register(t, f, build(t, spec, 1, cb("{[0-0 - 0-0]}", 64)), d.Set())
		unchanged(t, f, func() {
			_, err := f.Register(build(t, spec, 2, cb("{[0-0 - 0-1]}", 1)), d.Set())
			require.EqualError(t, err, "device 0: program 2: core 0-1 lies outside the grid of 1x1")
			var outside *device.Error
			require.ErrorAs(t, err, &outside)
			require.ErrorContains(t, outside, "core 0-1 lies outside the grid of ")
		})
	})
}

func TestTenThousandDevices(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 100, 100, l1.N150())
	p := build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 4096))
	added, err := f.Register(p, m.Set())
	require.NoError(t, err)
	require.Equal(t, 10_000, added.Len())
	require.Equal(t, uint64(10_000*64*4096), m.Registered())
	require.Equal(t, "{0 1 2 3 4 5 6 7 ... 10000 devices}", added.String())
	again, err := f.Register(p, m.Set())
	require.NoError(t, err)
	require.Zero(t, again.Len())
	last, _ := f.Device(9999)
	require.EqualValues(t, 64*4096, last.Registered())

	t.Run("failure on the last device leaves the first 9,999 alone", func(t *testing.T) {
		odd := addDevice(t, f, 20_000, l1.P150())
		all := f.Set()
		q := build(t, m.Spec(), 2, cb("{[0-0 - 7-7]}", 8192))
		before := m.Totals()
		_, err := f.Register(q, all)
		var wrong *device.Error
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, odd.ID(), wrong.Device)
		err = f.Unregister(p.ID(), all)
		require.EqualError(t, err, "device 20000: program 1: program is not registered")
		require.NoError(t, f.Remove(odd.Set()))

		full := addDevice(t, f, 20_000, l1.N150())
		register(t, f, build(t, m.Spec(), 3, at(0, cb("{[0-0 - 0-0]}", 1<<63-1))), full.Set())
		_, err = f.Register(q, f.Set())
		var overflow *device.Error
		require.ErrorAs(t, err, &overflow)
		require.Equal(t, full.ID(), overflow.Device)

		_, err = f.Register(q, all) // names the device that is gone
		require.ErrorIs(t, err, device.ErrNoDevice)

		require.Equal(t, before, m.Totals())
		require.Zero(t, f.Where(2).Len())
		require.Equal(t, 10_000, f.Where(1).Len())
	})
	intact(t, f)
	require.Equal(t, 10_000, f.UnregisterAll(p.ID()).Len())
	require.Zero(t, m.Registered())
}

func TestManyProgramsOnThirtyTwoDevices(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 4, 8, l1.N150())
	var all []*program.Program
	want := uint64(0)
	for id := range program.ID(4096) {
		size := 32 * (1 + uint64(id)*7919%4096)
		want = max(want, size)
		p := build(t, m.Spec(), id, cb("{[0-0 - 7-7]}", size))
		all = append(all, p)
		require.Len(t, register(t, f, p, m.Set()), 32)
	}
	require.Equal(t, 32*64*want, m.Registered())
	require.Equal(t, 32*4096, m.Totals().Programs)
	d, _ := f.Device(31)
	require.Equal(t, 4096, d.Core(core(7, 7)).Programs)
	require.Len(t, programIDs(d.Owners(core(7, 7), 103_712)), 4096)
	require.Equal(t, []l1.Range{{Start: 103_712, End: 103_712 + want}}, regions(d.Regions(core(0, 0))))
	s := f.Snapshot()
	last, _ := s.Device(31)
	require.Len(t, programIDs(last.Programs()), 4096)
	for _, p := range all {
		require.NoError(t, f.Unregister(p.ID(), m.Set()))
	}
	require.Zero(t, m.Registered())
	intact(t, f)
}

// No sum can wrap: what would overflow is refused, and nothing has changed.
func TestOverflow(t *testing.T) {
	const most = 1<<63 - 1
	overflow := func(t *testing.T, f *device.Fleet, on device.ID, p *program.Program, do func() error) {
		t.Helper()
		unchanged(t, f, func() {
			err := do()
			var e *device.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, ofProgram(e.Op, p.ID(), on, device.ErrOverflow), e)
		})
	}
	t.Run("logical bytes of a device", func(t *testing.T) {
		f := device.NewFleet()
		d := addDevice(t, f, 7, l1.N150())
		p := build(t, d.Spec(), 1, at(0, cb("{[0-0 - 0-0]}", most)))
		require.Len(t, register(t, f, p, d.Set()), 1)
		require.EqualValues(t, uint64(most), d.Registered())
		q := build(t, d.Spec(), 2, at(0, cb("{[0-0 - 0-0]}", 1))) // the union would not grow
		overflow(t, f, 7, q, func() error { _, err := f.Register(q, d.Set()); return err })
		require.Empty(t, register(t, f, p, d.Set())) // a registered program is fine
		zero := build(t, d.Spec(), 3, at(0, cb("{[0-0 - 0-0]}", 0)))
		require.Len(t, register(t, f, zero, d.Set()), 1)
	})
	t.Run("reserved bytes of a device", func(t *testing.T) {
		f := device.NewFleet()
		d := addDevice(t, f, 7, l1.N150())
		// Charged on 64 cores, occupied on one.
		p := build(t, d.Spec(), 1, global(cb("{[0-0 - 7-7]}", 1)), at(0, cb("{[0-0 - 0-0]}", most/64)))
		q := build(t, d.Spec(), 2, at(0, cb("{[0-0 - 7-7]}", 2)))
		register(t, f, p, d.Set())
		overflow(t, f, 7, q, func() error { _, err := f.Register(q, d.Set()); return err })
	})
	t.Run("a mesh", func(t *testing.T) {
		f := device.NewFleet()
		m := addMesh(t, f, 4, 1, 2, l1.N150())
		p := build(t, m.Spec(), 1, at(0, cb("{[0-0 - 0-0]}", most/2+1)))
		overflow(t, f, 4, p, func() error { _, err := f.Register(p, m.Set()); return err })
		register(t, f, p, of(t, f, 5))
		overflow(t, f, 4, p, func() error { _, err := f.Register(p, of(t, f, 4)); return err })
		half := build(t, m.Spec(), 2, at(0, cb("{[0-0 - 0-0]}", most/2)))
		require.Len(t, register(t, f, half, of(t, f, 4)), 1)
		require.EqualValues(t, uint64(most), m.Registered())
	})
	t.Run("several meshes and lone devices are several sums", func(t *testing.T) {
		f := device.NewFleet()
		a, b := addMesh(t, f, 0, 1, 2, l1.N150()), addMesh(t, f, 2, 1, 2, l1.N150())
		addDevice(t, f, 4, l1.N150())
		p := build(t, a.Spec(), 1, at(0, cb("{[0-0 - 0-0]}", most/2)))
		require.Len(t, register(t, f, p, f.Set()), 5)
		require.EqualValues(t, uint64(most-1), a.Registered())
		require.EqualValues(t, uint64(most-1), b.Registered())
		more := build(t, a.Spec(), 2, at(0, cb("{[0-0 - 0-0]}", 2)))
		for first, s := range map[device.ID]device.Set{0: of(t, f, 0, 4), 2: of(t, f, 3, 4)} { // device 4 has room
			overflow(t, f, first, more, func() error { _, err := f.Register(more, s); return err })
		}
	})
	t.Run("Replace counts the bytes that leave, on a lone device", func(t *testing.T) {
		f := device.NewFleet()
		d := addDevice(t, f, 7, l1.N150())
		low := build(t, d.Spec(), 1, at(0, cb("{[0-0 - 0-0]}", most-1)))
		high := build(t, d.Spec(), 1, at(1, cb("{[0-0 - 0-0]}", most-1)))
		register(t, f, low, d.Set())
		require.Equal(t, []device.ID{7}, replace(t, f, low, high))
		require.EqualValues(t, uint64(most-1), d.Totals().Peak.Logical)
		two := build(t, d.Spec(), 2, at(0, cb("{[0-0 - 0-0]}", 2)))
		overflow(t, f, 7, two, func() error { _, err := f.Register(two, d.Set()); return err })
	})
	t.Run("Replace counts the bytes that leave", func(t *testing.T) {
		f := device.NewFleet()
		m := addMesh(t, f, 0, 1, 2, l1.N150())
		p := build(t, m.Spec(), 1, at(0, cb("{[0-0 - 0-0]}", most/2)))
		register(t, f, p, m.Set())
		same := build(t, m.Spec(), 1, at(1, cb("{[0-0 - 0-0]}", most/2)))
		require.Len(t, replace(t, f, p, same), 2)
		larger := build(t, m.Spec(), 1, at(0, cb("{[0-0 - 0-0]}", most/2+1)))
		overflow(t, f, 0, larger, func() error { _, err := f.Replace(same.ID(), larger); return err })
		d, _ := f.Device(1)
		require.NoError(t, f.Unregister(same.ID(), d.Set()))
		require.Len(t, replace(t, f, same, larger), 1)
		intact(t, f)
	})
}
