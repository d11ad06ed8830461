package device_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A world is the fixture of most hazards: a mesh of four with a program on the first two.
type world struct {
	*testing.T
	f    *device.Fleet
	m    device.Mesh
	p    *program.Program // 4096 bytes on the whole grid, on devices 0 and 1
	spec l1.Spec
}

func newWorld(t *testing.T) world {
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 4, l1.N150())
	p := build(t, m.Spec(), 1, cb("{[0-0 - 7-7]}", 4096))
	register(t, f, p, of(t, f, 0, 1))
	return world{t, f, m, p, m.Spec()}
}

func (w world) device(id device.ID) device.Device {
	d, err := w.f.Device(id)
	require.NoError(w, err)
	return d
}

// build is program.Builder with its error.
func (w world) tryBuild(id program.ID, cbs ...program.CB) (*program.Program, error) {
	b := program.NewBuilder(id)
	for _, c := range cbs {
		b.CB(c)
	}
	return b.Build(w.spec)
}

// Hazards and their required outcomes. Each name is the hazard in its original words. Everywhere:
// on error nothing has changed, and nothing panics.
func TestHazards(t *testing.T) {
	for _, hazard := range []struct {
		name string
		test func(w world)
	}{
		{"register twice on one device: reports \"already there\", total unchanged", func(w world) {
			unchanged(w, w.f, func() { require.Empty(w, register(w, w.f, w.p, of(w, w.f, 0))) })
		}},
		{"register where some devices have it: only the new ones change; the result lists them", func(w world) {
			before := w.device(0).Totals()
			require.Equal(w, []device.ID{2, 3}, register(w, w.f, w.p, w.m.Set()))
			require.Equal(w, before, w.device(0).Totals())
			require.Equal(w, before, w.device(3).Totals())
		}},
		{"unregister of unknown program; second unregister: refused, total unchanged", func(w world) {
			unknown := build(w, w.spec, 9, cb("{[0-0 - 0-0]}", 64))
			unchanged(w, w.f, func() {
				require.ErrorIs(w, w.f.Unregister(unknown.ID(), w.m.Set()), device.ErrNotRegistered)
				require.ErrorIs(w, w.f.Unregister(w.p.ID(), w.m.Set()), device.ErrNotRegistered)
			})
			require.NoError(w, w.f.Unregister(w.p.ID(), of(w, w.f, 0, 1)))
			unchanged(w, w.f, func() {
				require.ErrorIs(w, w.f.Unregister(w.p.ID(), of(w, w.f, 0)), device.ErrNotRegistered)
			})
		}},
		{"register or unregister on unknown device: refused for all devices of the call", func(w world) {
			_, err := w.f.Of(0, 1, 2, 77)
			require.ErrorIs(w, err, device.ErrNoDevice)
			all := w.m.Set()
			require.NoError(w, w.f.Remove(of(w, w.f, 3)))
			unchanged(w, w.f, func() {
				_, err := w.f.Register(w.p, all)
				require.ErrorIs(w, err, device.ErrNoDevice)
				require.ErrorIs(w, w.f.Unregister(w.p.ID(), all), device.ErrNoDevice)
			})
		}},
		{"iterating regions while another goroutine registers: iterator sees one snapshot", func(w world) {
			d := w.device(0)
			low, high := build(w, w.spec, 2, at(0, cb("{[0-0 - 0-0]}", 64))), build(w, w.spec, 3, at(128, cb("{[0-0 - 0-0]}", 64)))
			var done sync.WaitGroup
			stop := make(chan struct{})
			done.Go(func() {
				for {
					select {
					case <-stop:
						return
					default: // both come and go in one operation each, low after high
						_, _ = w.f.Register(high, d.Set())
						_, _ = w.f.Register(low, d.Set())
						w.f.UnregisterAll(low.ID())
						w.f.UnregisterAll(high.ID())
					}
				}
			})
			for range 1000 {
				got := regions(d.Regions(core(0, 0)))
				if slices.Contains(got, l1.Range{End: 64}) {
					require.Contains(w, got, l1.Range{Start: 128, End: 192})
				}
			}
			close(stop)
			done.Wait()
		}},
		{"device added mid-life: starts empty; nothing is registered behind the caller's back", func(w world) {
			d := addDevice(w, w.f, 9, w.spec)
			require.Zero(w, d.Totals())
			require.Equal(w, []device.ID{0, 1}, ids(w.f.Where(1)))
		}},
		{"device removed mid-life: its registrations end with it; later calls naming it are refused; other devices untouched", func(w world) {
			gone := of(w, w.f, 0)
			before := w.device(1).Totals()
			require.NoError(w, w.f.Remove(gone))
			require.Equal(w, []device.ID{1}, ids(w.f.Where(1)))
			_, err := w.f.Register(w.p, gone)
			require.ErrorIs(w, err, device.ErrNoDevice)
			require.Equal(w, before, w.device(1).Totals())
			require.Equal(w, before.Registered, w.m.Registered())
		}},
		{"device id added twice: refused", func(w world) {
			unchanged(w, w.f, func() {
				_, err := w.f.AddDevice(2, w.spec)
				require.ErrorIs(w, err, device.ErrDeviceExists)
				_, err = w.f.AddMesh(3, 2, 2, w.spec)
				require.ErrorIs(w, err, device.ErrDeviceExists)
			})
		}},
		{"program changed or resized after registering: impossible; caller's slices are copied", func(w world) {
			ranges := []l1.CoreRange{{Start: core(0, 0), End: core(1, 1)}}
			set, err := l1.NewCoreRangeSet(ranges...)
			require.NoError(w, err)
			indices := []program.Index{{Number: 1}}
			b := program.NewBuilder(2).CB(program.CB{Cores: set, Size: 8192, Indices: indices})
			p, err := b.Build(w.spec)
			require.NoError(w, err)
			register(w, w.f, p, w.m.Set())
			unchanged(w, w.f, func() {
				ranges[0].End, indices[0].Number = core(7, 7), 2
				b.CB(cb("{[0-0 - 7-7]}", 64))
				resize(w, p, 0, 65_536) // another program
			})
		}},
		{"same id, other regions, while registered: refused with both descriptions", func(w world) {
			unchanged(w, w.f, func() {
				_, err := w.f.Register(build(w, w.spec, 1, cb("{[0-0 - 7-7]}", 2048)), of(w, w.f, 3))
				require.ErrorIs(w, err, device.ErrConflict)
				require.ErrorContains(w, err, "program 1 (1 CBs on 64 cores, 262144 bytes)")
				require.ErrorContains(w, err, "program 1 (1 CBs on 64 cores, 131072 bytes)")
			})
		}},
		{"same id, other regions, after unregistering: accepted as new", func(w world) {
			w.f.UnregisterAll(w.p.ID())
			require.Len(w, register(w, w.f, build(w, w.spec, 1, cb("{[0-0 - 7-7]}", 2048)), w.m.Set()), 4)
		}},
		{"program destroyed without unregistering: stays until its device is removed; listed by a leak report", func(w world) {
			require.Equal(w, []program.ID{1}, programIDs(w.f.Programs()))
			require.Equal(w, []device.ID{0, 1}, ids(w.f.Where(1)))
			require.NoError(w, w.f.Remove(of(w, w.f, 0, 1)))
			require.Empty(w, programIDs(w.f.Programs()))
		}},
		{"empty range [a,a): no-op, counts 0", func(w world) {
			p, err := program.NewBuilder(2).Range(cores("{[0-0 - 7-7]}"), l1.Range{Start: 500, End: 500}).Build(w.spec)
			require.NoError(w, err)
			before := w.m.Totals()
			register(w, w.f, p, w.m.Set())
			before.Programs += 4
			require.Equal(w, before, w.m.Totals())
		}},
		{"start > end: refused", func(w world) {
			_, err := program.NewBuilder(2).Range(cores("{[0-0 - 0-0]}"), l1.Range{Start: 501, End: 500}).Build(w.spec)
			var wrong *program.Error
			require.ErrorAs(w, err, &wrong)
		}},
		{"end beyond the core's L1, start at or beyond it: recorded when registering", func(w world) {
			d := w.device(3)
			register(w, w.f, build(w, w.spec, 2, cb("{[0-0 - 0-0]}", 2_000_000)), d.Set())
			register(w, w.f, build(w, w.spec, 3, at(w.spec.L1Size, cb("{[0-0 - 0-0]}", 64)), at(1<<40, cb("{[0-0 - 0-0]}", 64))), d.Set())
			require.EqualValues(w, 2_000_000+64, d.Registered()) // the range at the end of L1 is inside the first
			require.Len(w, regions(d.Regions(core(0, 0))), 2)
		}},
		{"start + size above 2^63-1: refused before adding", func(w world) {
			_, err := w.tryBuild(2, at(math.MaxInt64, cb("{[0-0 - 0-0]}", 1)))
			var wrong *program.Error
			require.ErrorAs(w, err, &wrong)
			_, err = w.tryBuild(2, at(math.MaxUint64, cb("{[0-0 - 0-0]}", 1)))
			require.ErrorAs(w, err, &wrong)
		}},
		{"unaligned address or size: counted exactly; never rounded", func(w world) {
			d := w.device(3)
			register(w, w.f, build(w, w.spec, 2, at(1001, cb("{[0-0 - 0-0]}", 7))), d.Set())
			require.EqualValues(w, 7, d.Registered())
			require.Equal(w, []l1.Range{{Start: 1001, End: 1008}}, regions(d.Regions(core(0, 0))))
		}},
		{"identical or overlapping ranges inside one program: union", func(w world) {
			d := w.device(3)
			p := build(w, w.spec, 2, at(0, cb("{[0-0 - 0-0]}", 100)), at(0, cb("{[0-0 - 0-0]}", 100)), at(50, cb("{[0-0 - 0-0]}", 100)))
			register(w, w.f, p, d.Set())
			require.EqualValues(w, 150, d.Registered())
			require.EqualValues(w, 300, d.Totals().Logical)
			require.NoError(w, w.f.Unregister(p.ID(), d.Set()))
			require.Zero(w, d.Registered())
		}},
		{"overlapping or repeated rectangles in one core set: each core once", func(w world) {
			d := w.device(3)
			register(w, w.f, build(w, w.spec, 2, cb("{[0-0 - 1-1], [1-1 - 2-2], [0-0 - 1-1]}", 64)), d.Set())
			require.EqualValues(w, 7*64, d.Registered())
			require.EqualValues(w, 7*64, d.Totals().Logical)
		}},
		{"reversed rectangle, negative or huge coordinate, 2^64 cores: refused before any loop or allocation", func(w world) {
			_, err := l1.NewCoreRangeSet(l1.CoreRange{Start: core(1, 0), End: core(0, 0)})
			require.Error(w, err)
			for _, text := range []string{"{[0-0 - 256-0]}", "{[0--1 - 0-0]}", "{[0-0 - 18446744073709551615-0]}"} {
				_, err := l1.ParseCoreRangeSet(text)
				require.Error(w, err)
			}
			_, err = w.f.AddMesh(100, math.MaxInt, math.MaxInt, w.spec)
			require.Error(w, err)
			_, err = w.m.Sub(0, 0, math.MaxInt, math.MaxInt)
			require.Error(w, err)
		}},
		{"core outside the grid, harvested core: refused if the device has a grid; the message names the core", func(w world) {
			harvested := w.spec
			harvested.Rows = 7
			d := addDevice(w, w.f, 9, harvested)
			unchanged(w, w.f, func() {
				_, err := w.f.Register(build(w, harvested, 2, cb("{[0-0 - 7-6]}", 64), cb("{[3-6 - 3-7]}", 64)), d.Set())
				var outside *device.Error
				require.ErrorAs(w, err, &outside)
				require.ErrorIs(w, outside, device.ErrGrid)
				require.ErrorContains(w, err, "core 3-7 ")
			})
			unknown := l1.ArchSpec(l1.Wormhole)
			register(w, w.f, build(w, unknown, 3, cb("{[3-7 - 200-200]}", 64)), addDevice(w, w.f, 10, unknown).Set())
		}},
		{"program without cores or without regions: accepted, counts 0", func(w world) {
			before := w.m.Totals()
			register(w, w.f, build(w, w.spec, 2), w.m.Set())
			register(w, w.f, build(w, w.spec, 3, cb("{}", 4096)), w.m.Set())
			register(w, w.f, build(w, w.spec, 4, cb("{[0-0 - 7-7]}", 0)), w.m.Set())
			before.Programs += 12
			require.Equal(w, before, w.m.Totals())
		}},
		{"0 devices in a call: no-op, nil", func(w world) {
			other := build(w, w.spec, 1, cb("{[0-0 - 0-0]}", 64)) // would be a conflict
			wrong := build(w, l1.P150(), 2, cb("{[0-0 - 12-9]}", 64))
			unchanged(w, w.f, func() {
				for _, none := range []device.Set{{}, of(w, w.f), sub(w, w.m, 0, 0, 0, 0), w.f.Where(99)} {
					for _, p := range []*program.Program{w.p, other, wrong} {
						require.Empty(w, register(w, w.f, p, none))
						require.NoError(w, w.f.Unregister(p.ID(), none))
					}
					require.NoError(w, w.f.Remove(none))
				}
			})
		}},
		{"10,000 devices; a failure on the last device undoes the first 9,999", func(w world) {
			m := addMesh(w, w.f, 1000, 100, 100, w.spec)
			full := build(w, w.spec, 2, at(0, cb("{[0-0 - 0-0]}", 1<<62)))
			last := of(w, w.f, 10_999)
			register(w, w.f, full, last)
			p := build(w, w.spec, 3, at(0, cb("{[0-0 - 0-0]}", 1<<62)))
			before := m.Totals()
			_, err := w.f.Register(p, last)
			require.ErrorIs(w, err, device.ErrOverflow)
			_, err = w.f.Register(p, m.Set())
			require.ErrorIs(w, err, device.ErrOverflow)
			require.ErrorIs(w, w.f.Unregister(full.ID(), m.Set()), device.ErrNotRegistered)
			require.Equal(w, before, m.Totals())
			require.Zero(w, w.f.Where(3).Len())
			require.Equal(w, []device.ID{10_999}, ids(w.f.Where(2)))
		}},
		{"program id 0, 2^64-1; device id 2^31-1: ordinary ids; nothing sized by id", func(w world) {
			d := addDevice(w, w.f, 1<<31-1, w.spec)
			register(w, w.f, build(w, w.spec, 0, cb("{[0-0 - 0-0]}", 64)), d.Set())
			register(w, w.f, build(w, w.spec, math.MaxUint64, cb("{[0-0 - 0-0]}", 96)), d.Set())
			require.EqualValues(w, 96, d.Registered())
			require.Equal(w, []program.ID{0, math.MaxUint64}, programIDs(d.Programs()))
		}},
		{"nil program, nil device, zero value of any type: documented: works or is refused; never a nil panic", func(w world) {
			unchanged(w, w.f, func() {
				_, err := w.f.Register(nil, w.m.Set())
				require.ErrorIs(w, err, device.ErrNoProgram)
				_, err = w.f.Replace(w.p.ID(), nil)
				require.ErrorIs(w, err, device.ErrNoProgram)
				require.Zero(w, w.f.UnregisterAll(77).Len())
				require.Empty(w, register(w, w.f, w.p, device.Device{}.Set()))
				require.Empty(w, register(w, w.f, w.p, device.Mesh{}.Set()))
				require.NoError(w, w.f.Remove(device.Device{}.Set()))
			}) // all types: TestZeroValues
		}},
		{"copied engine struct: vet's copylocks reports it", func(w world) {
			field, ok := reflect.TypeFor[device.Fleet]().FieldByNameFunc(func(name string) bool { return strings.HasPrefix(name, "mu") })
			require.True(w, ok)
			require.Equal(w, reflect.TypeFor[sync.RWMutex](), field.Type) // by value
		}},
		{"sum over devices or logical sum overflows: refused; never wraps", func(w world) {
			lone := addDevice(w, w.f, 9, w.spec)
			big := build(w, w.spec, 2, at(0, cb("{[0-0 - 0-0]}", math.MaxInt64)))
			register(w, w.f, big, lone.Set())
			unchanged(w, w.f, func() {
				_, err := w.f.Register(build(w, w.spec, 3, at(0, cb("{[0-0 - 0-0]}", 1))), lone.Set()) // logical
				require.ErrorIs(w, err, device.ErrOverflow)
				third := build(w, w.spec, 4, at(0, cb("{[0-0 - 0-0]}", math.MaxInt64/3)))
				_, err = w.f.Register(third, w.m.Set()) // over devices
				require.ErrorIs(w, err, device.ErrOverflow)
			})
		}},
		{"reference count underflow: cannot happen; the invariant check says so by name", func(w world) {
			for range 3 {
				require.NoError(w, w.f.Unregister(w.p.ID(), of(w, w.f, 0, 1)))
				require.ErrorIs(w, w.f.Unregister(w.p.ID(), of(w, w.f, 0, 1)), device.ErrNotRegistered)
				require.Zero(w, w.f.UnregisterAll(w.p.ID()).Len())
				require.Zero(w, w.m.Registered())
				register(w, w.f, w.p, of(w, w.f, 0, 1))
			} // planted: TestCheckInvariantsFindsEachFigure
		}},
	} {
		t.Run(hazard.name, func(t *testing.T) {
			w := newWorld(t)
			hazard.test(w)
			intact(t, w.f)
		})
	}
}
