package device_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Example H: upstream's own statistics test, union across programs.
func TestExampleH(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	p1 := build(t, d.Spec(), 1, cb("{[0-0 - 1-0]}", 4096))
	p2 := build(t, d.Spec(), 2, cb("{[0-0 - 1-0]}", 4096))
	p3 := build(t, d.Spec(), 3, cb("{[1-0 - 2-0]}", 6144))
	allocate := func(p *program.Program) func() { return func() { register(t, f, p, d.Set()) } }
	destroy := func(p *program.Program) func() { return func() { f.UnregisterAll(p.ID()) } }
	for _, step := range []struct {
		name    string
		do      func()
		want    uint64
		logical uint64
	}{
		{"programs created, nothing allocated", func() {}, 0, 0},
		{"P1 allocated", allocate(p1), 8192, 8192},
		{"P2 allocated (same ranges)", allocate(p2), 8192, 16384},
		{"P2 allocated again", allocate(p2), 8192, 16384},
		{"P3 allocated", allocate(p3), 16384, 28672},
		{"P1 destroyed", destroy(p1), 16384, 20480},
		{"P2 destroyed", destroy(p2), 12288, 12288},
		{"P3 destroyed", destroy(p3), 0, 0},
	} {
		step.do()
		require.Equal(t, step.want, d.Registered(), step.name)
		require.Equal(t, step.want, d.Totals().Reserved, step.name)
		require.Equal(t, step.logical, d.Totals().Logical, step.name)
		intact(t, f)
	}
	require.Equal(t, device.Peaks{Registered: 16384, Reserved: 16384, Logical: 28672, Core: 6144}, d.Totals().Peak)
}

// The totals of example H do not depend on where circular buffers start.
func TestExampleHAnywhere(t *testing.T) {
	for _, base := range []uint64{0, 103_424, 103_712, 111_104, 111_360, 111_616} {
		spec := l1.N150()
		spec.CBBase = base
		f := device.NewFleet()
		d := addDevice(t, f, 0, spec)
		register(t, f, build(t, spec, 1, cb("{[0-0 - 1-0]}", 4096)), d.Set())
		register(t, f, build(t, spec, 2, cb("{[0-0 - 1-0]}", 4096)), d.Set())
		register(t, f, build(t, spec, 3, cb("{[1-0 - 2-0]}", 6144)), d.Set())
		require.EqualValues(t, 16384, d.Registered(), "base %d", base)
	}
}

// Example I: two devices.
func TestExampleI(t *testing.T) {
	f := device.NewFleet()
	a, b := addDevice(t, f, 0, l1.N150()), addDevice(t, f, 1, l1.N150())
	p := build(t, l1.N150(), 1, cb("{[0-0 - 1-0]}", 4096))
	q := build(t, l1.N150(), 2, cb("{[2-0 - 2-0]}", 2048))
	for _, step := range []struct {
		name         string
		do           func() []device.ID
		devices      []device.ID // that the step changed
		onA, onB     uint64
		liveA, liveB int
	}{
		{"P on A", func() []device.ID { return register(t, f, p, a.Set()) }, []device.ID{0}, 8192, 0, 1, 0},
		{"P on B (layout reused, same address)", func() []device.ID { return register(t, f, p, b.Set()) }, []device.ID{1}, 8192, 8192, 1, 1},
		{"P on B again", func() []device.ID { return register(t, f, p, b.Set()) }, nil, 8192, 8192, 1, 1},
		{"Q on A", func() []device.ID { return register(t, f, q, a.Set()) }, []device.ID{0}, 10240, 8192, 2, 1},
		{"P destroyed", func() []device.ID { return ids(f.UnregisterAll(p.ID())) }, []device.ID{0, 1}, 2048, 0, 1, 0},
		{"Q destroyed", func() []device.ID { return ids(f.UnregisterAll(q.ID())) }, []device.ID{0}, 0, 0, 0, 0},
	} {
		require.Equal(t, step.devices, step.do(), step.name)
		require.Equal(t, []uint64{step.onA, step.onB}, []uint64{a.Registered(), b.Registered()}, step.name)
		require.Equal(t, []int{step.liveA, step.liveB}, []int{a.Totals().Programs, b.Totals().Programs}, step.name)
		intact(t, f)
	}
}

// What tt-metal does when a program is allocated or destroyed, row by row.
func TestAllocationCall(t *testing.T) {
	setup := func(t *testing.T) (*device.Fleet, device.Mesh, *program.Program) {
		f := device.NewFleet()
		m := addMesh(t, f, 0, 2, 4, l1.N150())
		return f, m, build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 2048), cb("{[0-0 - 7-7]}", 4096))
	}
	t.Run("same program, same device, again: no-op", func(t *testing.T) {
		f, m, p := setup(t)
		require.Len(t, register(t, f, p, m.Set()), 8)
		unchanged(t, f, func() { require.Empty(t, register(t, f, p, m.Set())) })
	})
	t.Run("same program, further device: registered there with the cached addresses", func(t *testing.T) {
		f, m, p := setup(t)
		register(t, f, p, of(t, f, 0))
		require.Equal(t, []device.ID{5}, register(t, f, p, of(t, f, 5)))
		first, _ := f.Device(0)
		second, _ := f.Device(5)
		require.Equal(t, regions(first.Regions(core(3, 3))), regions(second.Regions(core(3, 3))))
		require.EqualValues(t, 2*64*6144, m.Registered())
	})
	t.Run("program without CBs: registered with 0 bytes", func(t *testing.T) {
		f, m, _ := setup(t)
		none := build(t, m.Spec(), 9)
		before := m.Registered()
		require.Len(t, register(t, f, none, m.Set()), 8)
		require.Equal(t, before, m.Registered())
		require.Equal(t, 8, f.Where(9).Len())
		_, live := f.Program(9)
		require.True(t, live)
		require.NoError(t, f.Unregister(none.ID(), of(t, f, 0)))
		require.Equal(t, 7, f.UnregisterAll(none.ID()).Len())
		require.ErrorIs(t, f.Unregister(none.ID(), m.Set()), device.ErrNotRegistered)
	})
	t.Run("program with only global CBs: registered; contributes 0", func(t *testing.T) {
		f, m, _ := setup(t)
		p := build(t, m.Spec(), 9, global(cb("{[0-0 - 7-7]}", 4096)), at(1<<20, global(cb("{[0-0 - 0-0]}", 512))))
		require.Len(t, register(t, f, p, m.Set()), 8)
		require.Equal(t, 8, f.Where(9).Len())
		require.Equal(t, device.Totals{Programs: 8}, m.Totals())
		for d := range m.All() {
			require.Equal(t, device.Totals{Programs: 1}, d.Totals())
			require.Equal(t, []program.ID{9}, programIDs(d.Programs()))
			require.Zero(t, d.Core(core(0, 0)))
		}
		intact(t, f)
		require.Equal(t, 8, f.UnregisterAll(p.ID()).Len())
		require.Zero(t, m.Totals())
	})
	t.Run("re-layout on an already known device: not registered again, the live query sees the new regions", func(t *testing.T) {
		f, m, p := setup(t)
		register(t, f, p, m.Set())
		larger := resize(t, p, 0, 4096)
		require.Len(t, replace(t, f, p, larger), 8)
		require.Empty(t, register(t, f, larger, m.Set()))
		d, _ := f.Device(7)
		require.Equal(t, 1, d.Totals().Programs)
		require.EqualValues(t, 64*8192, d.Registered())
		intact(t, f)
	})
	t.Run("re-layout and event stream: bytes that are announced twice count once", func(t *testing.T) {
		f, m, p := setup(t)
		register(t, f, p, m.Set())
		for size := uint64(2048); size <= 4096; size += 512 { // allocate events again, without a free
			next := resize(t, p, 0, size)
			replace(t, f, p, next)
			register(t, f, next, m.Set())
			p = next
			require.EqualValues(t, 8*64*(size+4096), m.Registered())
			require.EqualValues(t, 8*64*(size+4096), m.Totals().Logical)
		}
	})
	t.Run("destruction: unregistered from every device seen; then the device set is empty", func(t *testing.T) {
		f, m, p := setup(t)
		register(t, f, p, sub(t, m, 0, 0, 1, 2))
		register(t, f, p, of(t, f, 7))
		require.Equal(t, []device.ID{0, 1, 7}, ids(f.UnregisterAll(p.ID())))
		require.Zero(t, f.Where(1).Len())
		require.Zero(t, m.Registered())
		unchanged(t, f, func() { require.Zero(t, f.UnregisterAll(p.ID()).Len()) })
	})
	t.Run("program used on a sub-rectangle of the mesh: on all devices if allocated with the mesh", func(t *testing.T) {
		f, m, p := setup(t)
		register(t, f, p, m.Set())
		for d := range m.All() {
			require.EqualValues(t, 64*6144, d.Registered())
		}
		q := build(t, m.Spec(), 2, cb("{[0-0 - 7-7]}", 8192)) // a caller who knows better says so
		require.Equal(t, []device.ID{5, 6}, register(t, f, q, sub(t, m, 1, 1, 1, 2)))
		require.EqualValues(t, 6*64*6144+2*64*8192, m.Registered())
	})
}

// Bugs that tt-metal or its tools had (issues and pull requests of 2023 to 2026).
// They look trivial here. Leave them: each has cost somebody days.
func TestUpstreamDefects(t *testing.T) {
	t.Run("only the first device is tracked, by an early return before the insertion", func(t *testing.T) {
		f := device.NewFleet()
		m := addMesh(t, f, 0, 1, 8, l1.N150())
		p := build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 4096))
		register(t, f, p, of(t, f, 0)) // from now on the layout is known
		require.Len(t, register(t, f, p, m.Set()), 7)
		for d := range m.All() {
			require.EqualValues(t, 64*4096, d.Registered(), "device %d", d.ID())
			require.Equal(t, []program.ID{1}, programIDs(d.Programs()))
		}
		require.Equal(t, 8, f.Where(1).Len())
	})
	t.Run("free events carry size 0", func(t *testing.T) {
		f := device.NewFleet()
		m := addMesh(t, f, 0, 1, 2, l1.N150())
		stays := build(t, m.Spec(), 1, cb("{[0-0 - 3-3]}", 1024))
		goes := build(t, m.Spec(), 2, cb("{[0-0 - 7-7]}", 4096), cb("{[0-0 - 0-0]}", 2080))
		register(t, f, stays, m.Set())
		before := m.Registered()
		for range 3 {
			register(t, f, goes, m.Set())
			require.Equal(t, before+2*(16*3072+48*4096+2080), m.Registered())
			require.NoError(t, f.Unregister(goes.ID(), m.Set()))
			require.Equal(t, before, m.Registered())
		}
	})
	t.Run("every device shows the mesh aggregate", func(t *testing.T) {
		f := device.NewFleet()
		m := addMesh(t, f, 0, 2, 4, l1.N150())
		register(t, f, build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 4096)), m.Set())
		register(t, f, build(t, m.Spec(), 2, cb("{[0-0 - 7-7]}", 8192)), of(t, f, 3))
		for d := range m.All() {
			want := uint64(64 * 4096)
			if d.ID() == 3 {
				want *= 2
			}
			require.Equal(t, want, d.Registered())
			require.Equal(t, want, d.Totals().Registered)
		}
		require.EqualValues(t, 9*64*4096, m.Registered())
	})
	t.Run("totals of 100 to 250 MiB per device from repeated registration", func(t *testing.T) {
		f := device.NewFleet()
		m := addMesh(t, f, 0, 1, 8, l1.N150())
		const limit = 64 * (1_499_136 - 103_712) // nothing can ever take more than all L1
		for range 10 {
			for id := range program.ID(20) { // 20 cached ops at one base, rebuilt on each run
				register(t, f, build(t, m.Spec(), id, cb("{[0-0 - 7-7]}", 475_136-uint64(id)*2048)), m.Set())
			}
		}
		for d := range m.All() {
			require.EqualValues(t, 64*475_136, d.Registered())
			require.LessOrEqual(t, d.Registered(), uint64(limit))
			require.Equal(t, 20, d.Totals().Programs)
			require.Greater(t, d.Totals().Logical, uint64(250<<20)) // the displayed figure
		}
	})
	t.Run("29.0 MiB on each of 8 devices", func(t *testing.T) {
		f := device.NewFleet()
		m := addMesh(t, f, 0, 1, 8, l1.N150())
		register(t, f, build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 262_144), cb("{[0-0 - 7-7]}", 212_992)), m.Set())
		for d := range m.All() {
			require.EqualValues(t, 30_408_704, d.Registered())
			require.EqualValues(t, 475_136, d.Totals().Core)
			require.Equal(t, "29.0 MiB", l1.Bytes(d.Registered()).String())
		}
		require.Equal(t, "232.0 MiB", l1.Bytes(m.Registered()).String())
	})
	t.Run("a chip with id 0 is taken for a free slot", func(t *testing.T) {
		f := device.NewFleet()
		d := addDevice(t, f, 0, l1.N150())
		register(t, f, build(t, d.Spec(), 0, cb("{[0-0 - 0-0]}", 4096)), d.Set())
		require.EqualValues(t, 4096, d.Registered())
		require.Equal(t, []device.ID{0}, ids(f.Where(0)))
		_, err := f.AddDevice(0, l1.N150())
		require.ErrorIs(t, err, device.ErrDeviceExists)
	})
	t.Run("a figure is refreshed at most every 100 ms and then stays stale", func(t *testing.T) {
		f := device.NewFleet()
		d := addDevice(t, f, 0, l1.N150())
		for i := range uint64(1000) { // far more than ten per second
			p := build(t, d.Spec(), 1, cb("{[0-0 - 0-0]}", 32*(i+1)))
			register(t, f, p, d.Set())
			require.Equal(t, 32*(i+1), d.Registered())
			f.UnregisterAll(p.ID())
			require.Zero(t, d.Registered())
		}
	})
	t.Run("PR 54479: equal ranges of many banks and devices are summed", func(t *testing.T) {
		f := device.NewFleet()
		m := addMesh(t, f, 0, 1, 8, l1.N150())
		for i := range program.ID(369) { // 8 devices x 369 = 2,952 ranges
			register(t, f, build(t, m.Spec(), i, at(200_000, cb("{[0-0 - 7-7]}", 72<<10))), m.Set())
		}
		d, _ := f.Device(4)
		require.EqualValues(t, 72<<10, d.Totals().Core)
		require.Equal(t, []l1.Range{{Start: 200_000, End: 200_000 + 72<<10}}, regions(d.Regions(core(7, 7))))
	})
	t.Run("ttnn-visualizer 1604: CBs of different cores are shown as if on one", func(t *testing.T) {
		f := device.NewFleet()
		d := addDevice(t, f, 0, l1.P150b())
		register(t, f, build(t, d.Spec(), 1, cb("{[0-0 - 0-0]}", 1<<20), cb("{[1-0 - 1-0]}", 750<<10)), d.Set())
		require.EqualValues(t, 1_816_576, d.Registered()) // more than a core has
		require.EqualValues(t, 1_048_576, d.Totals().Core)
		require.EqualValues(t, 1_048_576, d.Core(core(0, 0)).Registered)
		require.EqualValues(t, 768_000, d.Core(core(1, 0)).Registered)
	})
	t.Run("PRs 51293 and 52726: a buffer index is bound to the CB of other cores", func(t *testing.T) {
		f := device.NewFleet()
		d := addDevice(t, f, 0, l1.N150())
		index := []program.Index{{Number: 0, PageSize: 2048}}
		p := build(t, d.Spec(), 1,
			program.CB{Cores: cores("{[0-0 - 0-0]}"), Size: 2048, Indices: index, Address: 200_000, Fixed: true},
			program.CB{Cores: cores("{[1-0 - 1-0]}"), Size: 6144, Indices: index, Address: 400_000, Fixed: true})
		register(t, f, p, d.Set())
		require.Equal(t, []l1.Range{{Start: 200_000, End: 202_048}}, regions(d.Regions(core(0, 0))))
		require.Equal(t, []l1.Range{{Start: 400_000, End: 406_144}}, regions(d.Regions(core(1, 0))))
	})
	t.Run("PR 44939: a resize on each cache hit does not reach the tracker", func(t *testing.T) {
		f := device.NewFleet()
		m := addMesh(t, f, 0, 1, 4, l1.N150())
		p := build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 2048), cb("{[0-0 - 7-7]}", 2048))
		register(t, f, p, m.Set())
		for _, size := range []uint64{4096, 2048, 65_536, 2048, 8192} {
			next := resize(t, p, 1, size)
			replace(t, f, p, next)
			p = next
			require.EqualValues(t, 4*64*(2048+size), m.Registered())
		}
		require.EqualValues(t, 4*64*(2048+65_536), m.Totals().Peak.Registered)
	})
	t.Run("tt-mlir: the base is taken for address 0", func(t *testing.T) {
		f := device.NewFleet()
		d := addDevice(t, f, 0, l1.P150b())
		register(t, f, build(t, d.Spec(), 1, cb("{[0-0 - 1-1]}", 131_072), cb("{[0-0 - 1-1]}", 131_072), cb("{[0-0 - 1-1]}", 524_288)), d.Set())
		require.Equal(t, []l1.Range{{Start: 111_616, End: 898_048}}, regions(d.Regions(core(1, 1)))) // example B
		require.EqualValues(t, 3_145_728, d.Registered())
	})
	t.Run("issue 54876: each step leaks a little", func(t *testing.T) {
		f := device.NewFleet()
		d := addDevice(t, f, 0, l1.N150())
		for step := range program.ID(8) {
			register(t, f, build(t, d.Spec(), step, at(1_000_000+64*uint64(step), cb("{[0-0 - 7-7]}", 64))), d.Set())
		}
		require.EqualValues(t, 64*8*64, d.Registered())
		require.Equal(t, []program.ID{0, 1, 2, 3, 4, 5, 6, 7}, programIDs(f.Programs())) // the culprits
	})
}

// Between a resize and the next layout tt-metal counts a program as 0. We keep the
// last layout until the new one takes its place.
func TestResizedProgramCountsUntilItIsReplaced(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	p := build(t, d.Spec(), 1, cb("{[0-0 - 0-0]}", 2048), cb("{[0-0 - 0-0]}", 2048))
	register(t, f, p, d.Set())
	next := resize(t, p, 0, 4096)
	require.EqualValues(t, 4096, d.Registered())
	replace(t, f, p, next)
	require.Equal(t, []l1.Range{{Start: 103_712, End: 109_856}}, regions(d.Regions(core(0, 0)))) // 103,712 and 107,808
}

func TestOneCallOrThirtyTwo(t *testing.T) {
	spec := l1.P150()
	p := build(t, spec, 1, cb("{[0-0 - 12-9]}", 4096), cb("{[3-3 - 5-5]}", 1000))
	q := build(t, spec, 2, cb("{[0-0 - 3-3], [2-2 - 12-9]}", 6144))

	together := device.NewFleet()
	mesh := addMesh(t, together, 0, 4, 8, spec)
	require.Len(t, register(t, together, p, mesh.Set()), 32)
	require.Len(t, register(t, together, q, mesh.Set()), 32)

	apart := device.NewFleet()
	other := addMesh(t, apart, 0, 4, 8, spec)
	for id := range device.ID(32) {
		require.Equal(t, []device.ID{31 - id}, register(t, apart, q, of(t, apart, 31-id)))
	}
	for d := range other.All() {
		require.Equal(t, []device.ID{d.ID()}, register(t, apart, p, d.Set()))
	}

	// Peaks agree as well: everything was added and nothing taken away.
	require.Equal(t, picture(together), picture(apart))
	require.Equal(t, mesh.Totals(), other.Totals())
	first, _ := together.Device(0)
	require.Equal(t, 32*first.Registered(), mesh.Registered())
	intact(t, together)
	intact(t, apart)

	require.NoError(t, together.Unregister(p.ID(), mesh.Set()))
	for d := range other.All() {
		require.NoError(t, apart.Unregister(p.ID(), d.Set()))
	}
	require.Equal(t, picture(together), picture(apart))
}

func TestPartialOverlapOfSets(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 2, 4, l1.N150())
	p := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 4096))
	require.Equal(t, []device.ID{0, 1, 4, 5}, register(t, f, p, sub(t, m, 0, 0, 2, 2)))
	require.Equal(t, []device.ID{2, 6}, register(t, f, p, sub(t, m, 0, 1, 2, 2)))
	require.Equal(t, []device.ID{0, 1, 2, 4, 5, 6}, ids(f.Where(1)))
	unchanged(t, f, func() {
		err := f.Unregister(p.ID(), m.Set()) // 3 and 7 do not have it
		require.ErrorIs(t, err, device.ErrNotRegistered)
		require.EqualError(t, err, "device 3 (+1 more): program 1: program is not registered")
		var wrong *device.Error
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, []any{program.ID(1), device.ID(3), 1}, []any{wrong.Program, wrong.Device, wrong.More})
	})
	require.Equal(t, []device.ID{3, 7}, register(t, f, p, m.Set()))
	require.NoError(t, f.Unregister(p.ID(), sub(t, m, 0, 0, 1, 4)))
	require.Equal(t, []device.ID{4, 5, 6, 7}, ids(f.Where(1)))
	require.Equal(t, []device.ID{4, 5, 6, 7}, ids(f.UnregisterAll(p.ID())))
	intact(t, f)
}

func TestSameIDAnotherFootprint(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.N150())
	p := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 4096))
	other := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 8192))
	register(t, f, p, of(t, f, 0))
	for _, id := range []device.ID{0, 1} { // also where it is not registered
		unchanged(t, f, func() {
			_, err := f.Register(other, of(t, f, id))
			var conflict *device.Error
			require.ErrorAs(t, err, &conflict)
			require.ErrorIs(t, conflict, device.ErrConflict)
			require.Regexp(t, "8192 bytes.*its id is taken by .*4096 bytes", conflict.Error())
		})
	}
	require.NoError(t, f.Unregister(p.ID(), of(t, f, 0)))
	require.Equal(t, []device.ID{0, 1}, register(t, f, other, m.Set()))
	require.EqualValues(t, 2*8192, m.Registered())
	require.Equal(t, []device.ID{0, 1}, ids(f.UnregisterAll(p.ID()))) // a program is known by its id
	intact(t, f)
}

// Two programs with the same short text may differ.
func TestConflictNamesTheDifference(t *testing.T) {
	scratchpad := func(on string, size uint64) program.CB {
		return program.CB{Kind: program.Scratchpad, Cores: cores(on), Size: size}
	}
	spec := l1.N150()
	other := spec
	other.L1Align = 32
	for _, test := range []struct {
		name string
		p, q *program.Program
	}{
		{"address", build(t, spec, 1, at(200_000, cb("{[0-0 - 0-0]}", 64))), build(t, spec, 1, at(300_000, cb("{[0-0 - 0-0]}", 64)))},
		{"cores", build(t, spec, 1, cb("{[0-0 - 0-0]}", 64)), build(t, spec, 1, cb("{[1-0 - 1-0]}", 64))},
		{"Spec", build(t, spec, 1, cb("{[0-0 - 0-0]}", 64)), build(t, other, 1, cb("{[0-0 - 0-0]}", 64))},
		{"reserved", // of 1-0: 4096 in both, once with and once without the wide global CB
			build(t, spec, 1, global(cb("{[0-0 - 1-0]}", 64)), cb("{[0-0 - 0-0]}", 4096)),
			build(t, spec, 1, global(cb("{[1-0 - 1-0]}", 64)), cb("{[0-0 - 0-0]}", 4096))},
		{"dataflow buffer",
			build(t, spec, 1, program.CB{Kind: program.DataflowBuffer, Cores: cores("{[0-0 - 0-0]}"), Size: 64}),
			build(t, spec, 1, program.CB{Kind: program.DataflowBuffer, Cores: cores("{[0-0 - 0-0]}"), Size: 96})},
		{"scratchpad",
			build(t, spec, 1, scratchpad("{[0-0 - 0-0]}", 64), scratchpad("{[1-0 - 1-0]}", 128)),
			build(t, spec, 1, scratchpad("{[0-0 - 0-0]}", 128), scratchpad("{[1-0 - 1-0]}", 64))},
		{"a later range", build(t, spec, 1, at(0, cb("{[0-0 - 0-0]}", 64)), at(128, cb("{[0-0 - 0-0]}", 64))),
			build(t, spec, 1, at(0, cb("{[0-0 - 0-0]}", 64)), at(192, cb("{[0-0 - 0-0]}", 64)))},
		{"number of ranges", // made up for on other cores
			build(t, spec, 1, at(0, cb("{[0-0 - 1-0]}", 64)), at(128, cb("{[0-0 - 0-0]}", 64))),
			build(t, spec, 1, at(0, cb("{[0-0 - 0-0]}", 64)), at(0, cb("{[1-0 - 1-0]}", 128)))},
		{"logical bytes",
			build(t, spec, 1, at(0, cb("{[0-0 - 0-0]}", 64)), at(0, cb("{[0-0 - 0-0]}", 64))),
			build(t, spec, 1, at(0, cb("{[0-0 - 0-0]}", 64)), at(0, cb("{[0-0 - 0-0]}", 32)))},
		{"number of groups", // reserved: the one has a wide CB of size 0, which marks nothing
			build(t, spec, 1, cb("{[0-0 - 0-0]}", 64), at(103_712, cb("{[0-0 - 1-0]}", 0)), global(cb("{[0-0 - 1-0]}", 8))),
			build(t, spec, 1, cb("{[0-0 - 0-0]}", 64), at(103_712, cb("{[1-0 - 1-0]}", 0)), global(cb("{[1-0 - 1-0]}", 8)))},
		{"global cores", build(t, spec, 1, global(cb("{[0-0 - 0-0]}", 64))), build(t, spec, 1, global(cb("{[1-0 - 1-0]}", 64)))},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := device.NewFleet()
			d := addDevice(t, f, 0, spec)
			register(t, f, test.p, d.Set())
			_, err := f.Register(test.q, d.Set())
			var conflict *device.Error
			require.ErrorAs(t, err, &conflict)
			require.ErrorIs(t, conflict, device.ErrConflict)
			given, registered, _ := strings.Cut(conflict.Err.Error(), ": its id is taken by ")
			require.NotEqual(t, given, registered)
			checkText(t, err)
		})
	}
}

func TestEqualProgramIsTheSame(t *testing.T) {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, l1.N150())
	p, again := build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 4096)), build(t, m.Spec(), 1, cb("{[0-0 - 0-0]}", 4096))
	require.Equal(t, []device.ID{0}, register(t, f, p, of(t, f, 0)))
	require.Equal(t, []device.ID{1}, register(t, f, again, m.Set()))
	kept, ok := f.Program(1)
	require.True(t, ok)
	require.Same(t, p, kept) // on all devices the one that came first
	for d := range m.All() {
		for q := range d.Programs() {
			require.Same(t, p, q)
		}
	}
	require.NoError(t, f.Unregister(again.ID(), m.Set()))
	require.Zero(t, m.Totals().Programs)
}

func TestReplace(t *testing.T) {
	setup := func(t *testing.T) (*device.Fleet, device.Mesh, *program.Program) {
		f := device.NewFleet()
		m := addMesh(t, f, 0, 1, 4, l1.N150())
		p := build(t, m.Spec(), 1, cb("{[0-0 - 1-0]}", 4096))
		register(t, f, p, of(t, f, 1, 3))
		return f, m, p
	}
	t.Run("on the devices that have it", func(t *testing.T) {
		f, m, p := setup(t)
		next := resize(t, p, 0, 8192)
		require.Equal(t, []device.ID{1, 3}, replace(t, f, p, next))
		require.EqualValues(t, 2*2*8192, m.Registered())
		require.Equal(t, []device.ID{1, 3}, ids(f.Where(1)))
		got, _ := f.Program(1)
		require.Same(t, next, got)
		intact(t, f)
	})
	t.Run("by a program with another id", func(t *testing.T) {
		f, m, p := setup(t)
		next := build(t, m.Spec(), 2, cb("{[0-0 - 2-0]}", 1024))
		require.Equal(t, []device.ID{1, 3}, replace(t, f, p, next))
		require.Zero(t, f.Where(1).Len())
		require.Equal(t, []device.ID{1, 3}, ids(f.Where(2)))
		require.EqualValues(t, 2*3*1024, m.Registered())
		intact(t, f)
	})
	t.Run("by itself", func(t *testing.T) {
		f, _, p := setup(t)
		unchanged(t, f, func() { require.Equal(t, []device.ID{1, 3}, replace(t, f, p, p)) })
	})
	t.Run("by a program without CBs: 0 bytes", func(t *testing.T) {
		f, m, p := setup(t)
		require.Equal(t, []device.ID{1, 3}, replace(t, f, p, build(t, m.Spec(), 1)))
		require.Equal(t, []device.ID{1, 3}, ids(f.Where(1)))
		require.Zero(t, m.Registered())
		require.Equal(t, 2, m.Totals().Programs)
		intact(t, f)
	})
	t.Run("refused because of the new program: nothing changes, and later calls work", func(t *testing.T) {
		spec := l1.Spec{Name: "huge", Cols: 2, Rows: 1}
		f := device.NewFleet()
		m := addMesh(t, f, 0, 1, 2, spec)
		p := build(t, spec, 1, at(0, cb("{[0-0 - 0-0]}", 8)))
		register(t, f, p, m.Set())
		unchanged(t, f, func() {
			_, err := f.Replace(1, build(t, spec, 1, at(0, cb("{[0-0 - 0-0]}", 1<<62))))
			require.ErrorIs(t, err, device.ErrOverflow)
			now, _ := f.Program(1)
			require.Same(t, p, now)
		})
		require.Equal(t, []device.ID{0, 1}, replace(t, f, p, build(t, spec, 2, at(0, cb("{[0-0 - 0-0]}", 16)))))
		require.EqualValues(t, 32, m.Registered())
		intact(t, f)
	})
	t.Run("a program on no device: refused, and the error names no device", func(t *testing.T) {
		f, m, p := setup(t)
		absent := build(t, m.Spec(), 7, cb("{[0-0 - 0-0]}", 64))
		unchanged(t, f, func() {
			_, err := f.Replace(absent.ID(), p)
			require.ErrorIs(t, err, device.ErrNotRegistered)
			require.EqualError(t, err, "program 7: program is not registered")
		})
	})
	t.Run("by an id that is taken: refused", func(t *testing.T) {
		f, m, p := setup(t)
		q := build(t, m.Spec(), 2, cb("{[0-0 - 0-0]}", 64))
		register(t, f, q, of(t, f, 0))
		unchanged(t, f, func() {
			_, err := f.Replace(p.ID(), q) // the very program that is registered: no word of another footprint
			require.ErrorIs(t, err, device.ErrConflict)
			require.NotContains(t, err.Error(), "another footprint")
		})
	})
	t.Run("by a program for another Spec: refused", func(t *testing.T) {
		f, _, p := setup(t)
		unchanged(t, f, func() {
			_, err := f.Replace(p.ID(), build(t, l1.P150(), 1, cb("{[0-0 - 0-0]}", 64)))
			var wrong *device.Error
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, device.ID(1), wrong.Device)
		})
	})
	t.Run("by a program outside the grid: refused", func(t *testing.T) {
		f, m, p := setup(t)
		unchanged(t, f, func() {
			_, err := f.Replace(p.ID(), build(t, m.Spec(), 1, cb("{[0-0 - 8-0]}", 64)))
			var outside *device.Error
			require.ErrorAs(t, err, &outside)
			require.ErrorContains(t, outside, "core 8-0 lies outside the grid of ")
		})
	})
	t.Run("nil: refused", func(t *testing.T) {
		f, _, p := setup(t)
		unchanged(t, f, func() {
			_, err := f.Replace(p.ID(), nil)
			require.ErrorIs(t, err, device.ErrNoProgram)
		})
	})
}
