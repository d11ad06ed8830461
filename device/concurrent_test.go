package device_test

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Every exported method is called from several goroutines at once while others
// change everything. Run it under the race detector. What must hold at every moment
// is checked at every read.
func TestConcurrentUse(t *testing.T) {
	const rounds = 200
	spec := l1.N150()
	f := device.NewFleet()
	m := addMesh(t, f, 0, 2, 4, spec)
	lone := addDevice(t, f, 50, spec)
	all := m.Set()

	// On the mesh only whole operations on all devices happen, so that all eight
	// are always equal: P of 4096 or 8192 bytes on 64 cores, and Q, which reserves
	// more than it occupies, of 20,480 bytes above it.
	p := build(t, spec, 1, at(0, cb("{[0-0 - 7-7]}", 4096)))
	larger := build(t, spec, 1, at(0, cb("{[0-0 - 7-7]}", 8192)))
	q := build(t, spec, 2, cb("{[0-0 - 1-0]}", 4096), cb("{[1-0 - 2-0]}", 6144))
	const small, large, both = 64 * 4096, 64 * 8192, 20_480
	// Only these are dispatched there: Y of 128 bytes on all cores, Z of 256 on half of
	// them, E without bytes on all of them. They are not registered on the mesh above for
	// anybody else to see: they belong to a mesh of their own.
	own := addMesh(t, f, 20, 2, 4, spec)
	y := build(t, spec, 4, cb("{[0-0 - 7-7]}", 128))
	z := build(t, spec, 5, cb("{[0-0 - 3-7]}", 256))
	e := build(t, spec, 6, global(cb("{[0-0 - 7-7]}", 64)))
	for _, p := range []*program.Program{y, z, e} {
		register(t, f, p, own.Set())
	}
	// On these two nothing but W of 512 bytes on all cores runs, beside a buffer of 2048
	// on half of them.
	heaps := addMesh(t, f, 30, 1, 2, spec)
	w := build(t, spec, 7, cb("{[0-0 - 7-7]}", 512))
	half := cores("{[0-0 - 3-7]}").Cores()
	tensor := fit.Buffer{ID: 1, Kind: fit.KindL1, Parts: []fit.Part{
		{Cores: half, Range: l1.Range{Start: spec.L1Size - 2048, End: spec.L1Size}},
	}}
	trackedLegal := []uint64{0, 64 * 512, 32 * 2048, 64*512 + 32*2048}
	residentLegal := []uint64{0, 64 * 128, 32*128 + 32*256, 32 * 256, 32 * 128}
	legal := []uint64{0, small, large, both, small + both, large + both}

	var failed atomic.Bool
	check := func(ok bool, format string, args ...any) {
		if !ok && !failed.Swap(true) {
			t.Errorf(format, args...)
		}
	}
	row := func(r device.Totals) {
		check(r.Registered <= r.Logical, "registered above logical: %+v", r)
		check(r.Registered <= r.Reserved, "registered above reserved: %+v", r)
		check(r.Core <= r.Registered, "a core above its device: %+v", r)
		check(r.Peak.Resident >= r.Resident, "resident above its peak: %+v", r)
		check(r.Peak.Tracked >= r.Tracked && r.Peak.L1 >= r.Buffers.L1 && r.Peak.DRAM >= r.Buffers.DRAM, "tracked or buffers above the peak: %+v", r)
		check(r.Tracked >= r.Resident, "resident above tracked: %+v", r)
		check(r.Peak.Registered >= r.Registered && r.Peak.Reserved >= r.Reserved && r.Peak.Logical >= r.Logical && r.Peak.Core >= r.Core, "above the peak: %+v", r)
	}
	meshTotal := func(n uint64) {
		check(n%8 == 0 && slices.Contains(legal, n/8), "mesh total %d is not that of a whole operation", n)
	}
	residentTotal := func(n uint64) {
		check(n%8 == 0 && slices.Contains(residentLegal, n/8), "resident mesh total %d is not that of a whole operation", n)
	}
	// expect accepts success and the one error that a race with others explains.
	expect := func(err, or error) { check(err == nil || errors.Is(err, or), "%v", err) }
	none := errors.New("no error is expected")

	var writers, readers sync.WaitGroup
	var stop atomic.Bool
	write := func(do func(round int)) {
		writers.Go(func() {
			for i := 0; i < rounds && !failed.Load(); i++ {
				do(i)
			}
		})
	}
	write(func(int) {
		_, err := f.Register(p, all)
		expect(err, none)
		_, err = f.Replace(p.ID(), larger)
		expect(err, none)
		_, err = f.Replace(larger.ID(), p)
		expect(err, none)
		expect(f.Unregister(p.ID(), all), none)
	})
	write(func(int) {
		_, err := f.Register(q, all)
		expect(err, none)
		check(f.UnregisterAll(q.ID()).Len() == 8, "Q was not on all devices")
	})
	for range 2 {
		write(func(i int) {
			expect(f.Dispatch([]*program.Program{y, z, e}[i%3].ID(), own.Set()), none)
			trace, err := f.BeginTrace(own.Set())
			expect(err, none)
			expect(f.Record(trace, y.ID()), none)
			expect(f.Record(trace, z.ID()), none)
			expect(f.EndTrace(trace), none)
			expect(f.Replay(trace), none)
			expect(f.ReleaseTrace(trace), none)
			evicted, err := f.Evict(z.ID(), own.Set())
			expect(err, none)
			check(evicted.Len()%8 == 0, "evicted from %d devices", evicted.Len())
		})
	}
	write(func(i int) { // devices come and go beside the mesh, programs with them
		id := device.ID(100 + i%3)
		d, err := f.AddDevice(id, spec)
		expect(err, none)
		fresh := build(t, spec, program.ID(1000+i), cb("{[0-0 - 7-7]}", 64))
		_, err = f.Register(fresh, d.Set())
		expect(err, none)
		expect(f.Dispatch(fresh.ID(), d.Set()), none)
		check(d.Resident() == 64*64, "%d bytes resident", d.Resident())
		expect(f.Remove(d.Set()), none)
		check(d.Resident() == 0 && f.Where(fresh.ID()).Len() == 0, "a registration outlived its device")
		small, err := f.AddMesh(200, 1, 2, spec)
		expect(err, none)
		expect(f.Remove(small.Set()), none)
	})
	for range 2 { // and for one buffer, beside a program
		write(func(i int) {
			if i%2 == 0 {
				expect(f.Allocate(tensor, heaps.Set()), device.ErrAllocated)
			} else { // to the same address
				_, err := f.Place(fit.Buffer{ID: 1, Kind: fit.KindL1, Cores: half}, 2048, heaps.Set())
				expect(err, device.ErrAllocated)
			}
			_, err := f.Enqueue(w, heaps.Set())
			expect(err, none)
			_, err = f.EnqueueID(w.ID(), heaps.Set())
			expect(err, device.ErrNotRegistered)
			_, err = f.Free(1, heaps.Set())
			expect(err, device.ErrNotAllocated)
			_, err = f.Evict(w.ID(), heaps.Set())
			expect(err, none)
			f.UnregisterAll(w.ID())
		})
	}
	var events atomic.Int64
	write(func(int) {
		f.Observe(func(device.Notice) { events.Add(1) })
		f.Observe(nil)
	})
	for range 2 { // two writers contend for one program on one device
		write(func(int) {
			r := build(t, spec, 3, cb("{[0-0 - 3-3]}", 128))
			_, err := f.Register(r, lone.Set())
			expect(err, none)
			expect(f.Unregister(r.ID(), lone.Set()), device.ErrNotRegistered)
		})
	}
	write(func(int) {
		lone.ResetPeaks()
		if err := f.CheckInvariants(); err != nil {
			check(false, "%v", err)
		}
	})

	calls := map[string]func(){
		"Fleet.Set":      func() { check(f.Set().Len() >= 9, "devices are missing") },
		"Fleet.Of":       func() { _, err := f.Of(0, 7, 50); expect(err, none) },
		"Fleet.Device":   func() { _, err := f.Device(7); expect(err, none) },
		"Fleet.Devices":  func() { check(len(slices.Collect(f.Devices())) >= 9, "devices are missing") },
		"Fleet.Where":    func() { n := f.Where(1).Len(); check(n == 0 || n == 8, "P on %d devices", n) },
		"Fleet.Holding":  func() { n := f.Holding(1).Len(); check(n >= 0 && n <= 8, "a buffer on %d devices", n) },
		"Fleet.Program":  func() { got, ok := f.Program(1); check(!ok || got == p || got == larger, "another P") },
		"Fleet.Programs": func() { check(slices.IsSorted(programIDs(f.Programs())), "programs out of order") },
		"Fleet.Snapshot": func() {
			s := f.Snapshot()
			var first *device.DeviceSnapshot
			for d := range s.All() {
				row(d.Totals())
				sum := uint64(0)
				for g := range d.Groups() {
					sum += g.Registered * uint64(g.Cores.Len())
				}
				check(sum == d.Totals().Registered, "cores sum to %d of %d bytes", sum, d.Totals().Registered)
				if d.ID() == 0 {
					first = d
				} else if d.ID() >= 20 && d.ID() < 28 {
					at20, _ := s.Device(20)
					check(d.Totals() == at20.Totals(), "device %d differs from device 20", d.ID())
				} else if d.ID() < 8 {
					check(d.Totals() == first.Totals(), "device %d differs from device 0", d.ID())
				}
				for g := range d.Groups() {
					check(g.Registered <= g.Logical, "a group above its logical bytes")
					check(len(regions(g.Regions())) <= 2, "P and Q have a region each")
				}
				check(slices.IsSorted(programIDs(d.Programs())) && d.Spec() == spec, "programs out of order")
			}
			_, ok := s.Device(50)
			check(ok, "the lone device is missing")
		},
		"Fleet.Totals": func() {
			all, err := f.Totals(m.Set())
			expect(err, none)
			var last device.Totals
			for id, t := range all {
				row(t)
				check(id == 0 || t == last, "device %d differs from the one before", id)
				last = t
			}
		},
		"Fleet.CheckInvariants": func() { check(f.CheckInvariants() == nil, "invariants") },

		"Mesh.Registered": func() { meshTotal(m.Registered()) },
		"Mesh.Totals": func() {
			r := m.Totals()
			row(r)
			meshTotal(r.Registered)
			check(r.Programs%8 == 0, "%d programs", r.Programs)
		},
		"Mesh.Resident": func() {
			residentTotal(own.Resident())
			residentTotal(own.Totals().Resident)
		},
		"Mesh.Spec":  func() { check(m.Spec() == spec, "Spec") },
		"Mesh.Shape": func() { rows, cols := m.Shape(); check(rows*cols == 8, "shape") },
		"Mesh.Set":   func() { check(m.Set().Len() == 8, "set") },
		"Mesh.Sub":   func() { s, err := m.Sub(0, 0, 1, 2); expect(err, none); check(s.Len() == 2, "sub") },
		"Mesh.All": func() {
			for d := range m.All() {
				check(slices.Contains(legal, d.Registered()), "device %d has %d bytes", d.ID(), d.Registered())
			}
		},

		"Device.ID":         func() { check(lone.ID() == 50, "id") },
		"Device.Spec":       func() { check(lone.Spec() == spec, "Spec") },
		"Device.Set":        func() { check(lone.Set().Has(50), "set") },
		"Device.Registered": func() { n := lone.Registered(); check(n == 0 || n == 16*128, "%d bytes", n) },
		"Device.Resident": func() {
			for d := range own.All() {
				check(slices.Contains(residentLegal, d.Resident()), "device %d has %d bytes resident", d.ID(), d.Resident())
			}
		},
		"Device.ResidentOn": func() {
			d, err := f.Device(27)
			expect(err, none)
			p, ranges, ok := d.ResidentOn(core(0, 0))
			check(!ok || len(regions(ranges)) == 1 || p == e, "%v has no bytes", p)
		},
		"Device.Totals": func() { row(lone.Totals()) },
		"Device.Hybrid": func() {
			for d := range heaps.All() {
				check(!d.Hybrid(), "device %d", d.ID())
			}
		},
		"Device.Core": func() {
			c := lone.Core(core(3, 3))
			check(c.Registered == 128*uint64(c.Programs) && c.Reserved == c.Registered && c.Logical == c.Registered && c.Peak >= c.Registered, "%+v", c)
		},
		"Device.Regions":  func() { check(len(regions(lone.Regions(core(0, 0)))) <= 1, "regions") },
		"Device.Owners":   func() { check(len(programIDs(lone.Owners(core(0, 0), spec.CBBase))) <= 1, "owners") },
		"Device.Programs": func() { check(len(programIDs(lone.Programs())) <= 1, "programs") },

		"Device.Buffers": func() {
			for d := range heaps.All() {
				for b := range d.Buffers() {
					check(b.Size == 32*2048 && b.Kind == fit.KindL1, "buffer %d of %d bytes", b.ID, b.Size)
				}
			}
		},
		"Device.Buffer": func() {
			for d := range heaps.All() {
				b, ok := d.Buffer(1)
				check(!ok || b.ID == 1 && b.Stands(), "buffer %+v", b)
			}
		},
		"Device.Usage": func() {
			for d := range heaps.All() {
				u := d.Usage(device.BasisResident)
				check(slices.Contains(trackedLegal, u.Tracked) && u.WithKernels == u.Tracked, "%+v", u)
			}
		},
		"Device.Fullest": func() {
			for d := range heaps.All() {
				check(d.Spec().Grid().Cores().Contains(d.Fullest()), "a core that is not there")
			}
		},
		"Device.FullestIn": func() {
			for d := range heaps.All() {
				most, on := d.FullestIn(l1.Range{End: spec.L1Size}, l1.CoreSet{})
				check((most == 0) == on.IsEmpty() && slices.Contains([]uint64{0, 512, 2048, 512 + 2048}, most), "%d bytes on %v", most, on)
			}
		},
		"Device.Overlap": func() {
			for d := range heaps.All() {
				check(d.Overlap() == 0, "buffers share bytes")
			}
		},
		"Device.Clear": func() {
			for d := range heaps.All() {
				check(d.Clear().Start == 0, "no kernels")
			}
		},
		"Device.Core.Tracked": func() {
			for d := range heaps.All() {
				check(d.Core(core(0, 0)).Tracked < 1<<20, "more than there is")
			}
		},
		"Device.Moment": func() {
			for d := range heaps.All() {
				check(len(slices.Collect(d.Moment(1).UsageGroups())) < 100, "more groups than cores")
			}
		},
		"Moment.Name": func() {
			for d := range heaps.All() {
				check(d.Moment(1).Name() != d.Moment(1, 2).Name(), "one name with two buffers left out and with one")
			}
		},
		"Moment.UsageGroups": func() {
			for d := range heaps.All() {
				for g := range d.Moment().UsageGroups() {
					check(len(g.Regions) > 0, "a group of nothing")
				}
			}
		},
		"Device.CoreUsage": func() {
			for d := range heaps.All() {
				u := groupOn(d, core(0, 0), device.BasisRegistered).Usage
				check(u.Of(fit.KindCB) == 0 || u.Of(fit.KindCB) == 512, "%+v", u)
			}
		},
		"Device.UsageGroups": func() {
			for d := range heaps.All() {
				sum := uint64(0)
				for g := range d.UsageGroups(device.BasisResident) {
					sum += g.Usage.Tracked * uint64(g.Cores.Len())
					check(len(slices.Collect(g.Residents())) > 0 && len(g.Regions) > 0, "a group of nothing")
				}
				check(slices.Contains(trackedLegal, sum), "%d bytes in groups", sum)
			}
		},
		"Device.Residents": func() {
			for d := range heaps.All() {
				check(len(slices.Collect(groupOn(d, core(0, 0), device.BasisResident).Residents())) <= 2, "more than a buffer and a program")
			}
		},
		"Fleet.Check": func() {
			v, err := f.Check(w, heaps.Set())
			expect(err, none)
			check(v.Fits(), "%v", v)
		},
		"Fleet.CheckID": func() {
			v, err := f.CheckID(w.ID(), heaps.Set())
			expect(err, device.ErrNotRegistered)
			check(v.Fits(), "%v", v)
		},
		"Fleet.Headroom": func() {
			rooms, err := f.Headroom(w, heaps.Set())
			expect(err, none)
			for _, h := range rooms {
				check(h.Free == spec.L1Size-spec.CBBase-512 || h.Free == spec.L1Size-spec.CBBase-512-2048, "%+v", h)
			}
		},
		"Device.LeastHeadroom": func() {
			free, ok := lone.LeastHeadroom()
			check(!ok || free == spec.Usable().Len()-128, "headroom of %d bytes", free)
		},
		"Fleet.Headroom of all": func() {
			_, err := f.Headroom(nil, heaps.Set())
			expect(err, none)
		},
		"Fleet.Room": func() {
			room, err := f.Room(fit.Lockstep, l1.CoreSet{}, heaps.Set())
			expect(err, none)
			check(!room.Range.IsEmpty(), "%+v", room)
		},
		"Fleet.CheckBuffer": func() {
			v, err := f.CheckBuffer(fit.Buffer{ID: 99, Kind: fit.KindL1, Cores: spec.Grid().Cores(), Range: l1.Range{Start: 1 << 20, End: 1<<20 + 16}}, heaps.Set())
			expect(err, none)
			check(v.Outside == 0, "%+v", v)
		},
		"Fleet.FindPlace": func() {
			found, err := f.FindPlace(fit.Buffer{ID: 99, Kind: fit.KindL1, Cores: spec.Grid().Cores()}, 16, heaps.Set())
			expect(err, none)
			check(len(found) == 1 && found[0].Set.Equal(heaps.Set()), "%+v", found)
		},
		"Fleet.MayGrow": func() {
			n, ok, err := f.MayGrow(w, 0, heaps.Set())
			expect(err, none)
			check(ok && (n == spec.L1Size-spec.CBBase-512 || n == spec.L1Size-spec.CBBase-512-2048), "may grow by %d", n)
		},

		"Set.Len":    func() { check(all.Len() == 8, "len") },
		"Set.Equal":  func() { check(all.Equal(all), "equal") },
		"Set.Spec":   func() { _, ok := all.Spec(); check(ok, "spec") },
		"Set.All":    func() { check(len(ids(all)) == 8, "all") },
		"Set.Has":    func() { check(all.Has(7), "has") },
		"Set.String": func() { check(all.String() == "{0 1 2 3 4 5 6 7}", "string") },
	}
	for range 3 { // each reader goes round all of them, from where the map starts
		readers.Go(func() {
			for !stop.Load() && !failed.Load() {
				for _, call := range calls {
					call()
				}
			}
		})
	}
	writers.Wait()
	stop.Store(true)
	readers.Wait()

	intact(t, f)
	require.Zero(t, m.Registered())
	require.Zero(t, lone.Registered())
	require.Equal(t, []program.ID{4, 5, 6}, programIDs(f.Programs()))
	residentTotal(own.Resident())
	require.Zero(t, heaps.Totals().Tracked)
	require.Zero(t, heaps.Totals().Buffers)
	require.EqualValues(t, 2*32*2048, heaps.Totals().Peak.L1)
	peak := m.Totals().Peak.Registered
	require.Contains(t, []uint64{8 * large, 8 * (small + both), 8 * (large + both)}, peak, "not that of a committed state")

	// Nothing exported was forgotten.
	for _, name := range []string{"AddDevice", "AddMesh", "Register", "Unregister", "UnregisterAll", "Replace", "Remove", "Dispatch", "Evict", "BeginTrace", "Record", "EndTrace", "Replay", "ReleaseTrace", "Allocate", "Place", "Free", "Enqueue", "EnqueueID", "SetHybrid", "Observe"} {
		calls["Fleet."+name] = nil // by the writers
	}
	calls["Device.ResetPeaks"] = nil
	for _, typ := range []reflect.Type{reflect.TypeFor[*device.Fleet](), reflect.TypeFor[device.Mesh](), reflect.TypeFor[device.Device](), reflect.TypeFor[device.Set]()} {
		for method := range typ.Methods() {
			name := typ.Name()
			if name == "" {
				name = typ.Elem().Name()
			}
			require.Contains(t, calls, name+"."+method.Name)
		}
	}
}
