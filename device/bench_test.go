package device_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// filled returns a fleet with a mesh on which programs are live, all at one base as
// cached programs are, each of another size, on the whole grid.
func filled(b *testing.B, rows, cols, live int) (*device.Fleet, device.Mesh) {
	f := device.NewFleet()
	m := addMesh(b, f, 0, rows, cols, l1.N150())
	for id := range program.ID(live) {
		size := 32 * (1 + uint64(id)*7919%32768)
		register(b, f, build(b, m.Spec(), id, cb("{[0-0 - 7-7]}", size)), m.Set())
	}
	return f, m
}

// pair registers and unregisters p: two changes on each device of s.
func pair(b *testing.B, f *device.Fleet, p *program.Program, s device.Set) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Register(p, s); err != nil {
			b.Fatal(err)
		}
		if err := f.Unregister(p.ID(), s); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N*s.Len()), "ns/change")
}

// BenchmarkReserved is a program that reserves more than it occupies (example D).
func BenchmarkReserved(b *testing.B) {
	for _, live := range []int{1, 64} {
		b.Run(fmt.Sprintf("live=%d", live), func(b *testing.B) {
			f, m := filled(b, 1, 1, live)
			p := build(b, m.Spec(), 1<<40, cb("{[0-0 - 1-0]}", 4096), cb("{[1-0 - 2-0]}", 6144))
			pair(b, f, p, m.Set())
		})
	}
}

// BenchmarkRefused is a Check of a program that does not fit beside some buffers, and its advice.
func BenchmarkRefused(b *testing.B) {
	for _, buffers := range []uint64{1, 64, 1024} {
		spec := l1.N150()
		f := device.NewFleet()
		d := addDevice(b, f, 0, spec)
		for id := range buffers {
			allocate(b, f, d.Set(), buffer(fit.BufferID(id), fit.KindL1, "{[0-0 - 7-7]}", spec.L1Size-512*(1+id), 512))
		}
		p := build(b, spec, 1, cb("{[0-0 - 7-7]}", 1<<20), cb("{[0-0 - 7-7]}", 346_704))
		b.Run(fmt.Sprintf("check/buffers=%d", buffers), func(b *testing.B) {
			for b.Loop() {
				if check(b, f, p, d.Set()).Fits() {
					b.Fatal("it fits")
				}
			}
		})
		b.Run(fmt.Sprintf("advice/buffers=%d", buffers), func(b *testing.B) {
			v := check(b, f, p, d.Set())
			for b.Loop() {
				if v.Advice() == "" {
					b.Fatal("no advice")
				}
			}
		})
	}
}

func BenchmarkReRegister(b *testing.B) {
	for _, devices := range [][2]int{{1, 1}, {4, 8}, {100, 100}} {
		b.Run(fmt.Sprintf("devices=%d", devices[0]*devices[1]), func(b *testing.B) {
			f, m := filled(b, devices[0], devices[1], 64)
			p, _ := f.Program(7)
			s := m.Set()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Register(p, s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReplace is a program whose size changes on each cache hit.
func BenchmarkReplace(b *testing.B) {
	f, m := filled(b, 4, 8, 64)
	p := build(b, m.Spec(), 1<<40, cb("{[0-0 - 7-7]}", 500_000))
	q := resize(b, p, 0, 400_000)
	register(b, f, p, m.Set())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Replace(p.ID(), q); err != nil {
			b.Fatal(err)
		}
		p, q = q, p
	}
}

// BenchmarkRead is the cost of one answer, whatever the number of live programs.
func BenchmarkRead(b *testing.B) {
	for _, live := range []int{1, 256, 4096} {
		f, m := filled(b, 4, 8, live)
		d, _ := f.Device(31)
		for _, read := range []struct {
			what string
			do   func() uint64
		}{
			{"device", d.Registered},
			{"mesh", m.Registered},
			{"device_totals", func() uint64 { return d.Totals().Registered }},
			{"mesh_totals", func() uint64 { return m.Totals().Registered }},
			{"each_device_totals", func() (sum uint64) { // of one moment each
				for d := range m.All() {
					sum += d.Totals().Registered
				}
				return sum
			}},
			{"fleet_totals", func() (sum uint64) {
				all, _ := f.Totals(m.Set())
				for _, t := range all {
					sum += t.Registered
				}
				return sum
			}},
			{"core", func() uint64 { return d.Core(core(7, 7)).Registered }},
		} {
			b.Run(fmt.Sprintf("what=%s/live=%d", read.what, live), func(b *testing.B) {
				b.ReportAllocs()
				sum := uint64(0)
				for b.Loop() {
					sum += read.do()
				}
				if sum == 0 {
					b.Fatal("nothing registered")
				}
			})
		}
	}
}

// BenchmarkScattered is programs on random rectangles in random order: what a dispatch
// leaves is nearly always new.
func BenchmarkScattered(b *testing.B) {
	for _, devices := range [][2]int{{1, 1}, {1, 8}, {4, 8}} {
		b.Run(fmt.Sprintf("devices=%d", devices[0]*devices[1]), func(b *testing.B) {
			f := device.NewFleet()
			m := addMesh(b, f, 0, devices[0], devices[1], l1.P150())
			rnd := rand.New(rand.NewPCG(1, 2))
			const programs = 500
			for id := range program.ID(programs) {
				x, y := rnd.IntN(13), rnd.IntN(10)
				on := fmt.Sprintf("{[%d-%d - %d-%d]}", x, y, x+rnd.IntN(13-x), y+rnd.IntN(10-y))
				register(b, f, build(b, m.Spec(), id, cb(on, 32*(1+rnd.Uint64N(10_000)))), m.Set())
			}
			s := m.Set()
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Dispatch(program.ID(rnd.IntN(programs)), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSwapped is 32 devices that get two neighbouring programs, every other device in
// swapped order, and lose them in the order in which they came: 128 changes.
func BenchmarkSwapped(b *testing.B) {
	for _, live := range []int{200, 4000} {
		b.Run(fmt.Sprintf("live=%d", live), func(b *testing.B) {
			f, m := filled(b, 4, 8, live)
			p, q := build(b, m.Spec(), 1<<40, cb("{[0-0 - 7-7]}", 500_000)), build(b, m.Spec(), 1<<41, cb("{[0-0 - 7-7]}", 400_000))
			b.ReportAllocs()
			for b.Loop() {
				for d := range m.All() {
					p, q = q, p
					for _, p := range []*program.Program{p, q} {
						if _, err := f.Register(p, d.Set()); err != nil {
							b.Fatal(err)
						}
					}
				}
				for d := range m.All() {
					p, q = q, p
					for _, p := range []*program.Program{p, q} {
						if err := f.Unregister(p.ID(), d.Set()); err != nil {
							b.Fatal(err)
						}
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(128*b.N), "ns/change")
		})
	}
}

func BenchmarkSnapshot(b *testing.B) {
	for _, devices := range [][2]int{{1, 1}, {4, 8}} {
		for _, live := range []int{64, 4096} {
			b.Run(fmt.Sprintf("devices=%d/live=%d", devices[0]*devices[1], live), func(b *testing.B) {
				f, _ := filled(b, devices[0], devices[1], live)
				b.ReportAllocs()
				for b.Loop() {
					f.Snapshot()
				}
			})
		}
	}
}

// BenchmarkOneOfMany is a call for one device of a fleet of many, beside programs that all
// have.
func BenchmarkOneOfMany(b *testing.B) {
	for _, devices := range [][2]int{{1, 1}, {1, 100}, {100, 100}} {
		b.Run(fmt.Sprintf("devices=%d", devices[0]*devices[1]), func(b *testing.B) {
			f, m := filled(b, devices[0], devices[1], 20)
			d, _ := f.Device(device.ID(m.Set().Len() - 1))
			pair(b, f, build(b, m.Spec(), 1<<40, cb("{[0-0 - 7-7]}", 500_000)), d.Set())
		})
	}
}

// BenchmarkMarks is a program that comes to devices which all have had another peak.
func BenchmarkMarks(b *testing.B) {
	for _, side := range []int{10, 40, 120} {
		b.Run(fmt.Sprintf("devices=%d", side*side), func(b *testing.B) {
			f, m := filled(b, side, side, 1)
			for d := range m.All() {
				register(b, f, build(b, m.Spec(), 1<<40, cb("{[0-0 - 7-7]}", 500_000+64*uint64(d.ID()))), d.Set())
				f.UnregisterAll(1 << 40)
			}
			pair(b, f, build(b, m.Spec(), 1<<40, cb("{[0-0 - 7-7]}", 400_000)), m.Set())
		})
	}
}

// BenchmarkSnapshotOwn is a snapshot of devices that each have a program of their own.
func BenchmarkSnapshotOwn(b *testing.B) {
	for _, side := range []int{10, 40, 90} {
		b.Run(fmt.Sprintf("devices=%d", side*side), func(b *testing.B) {
			f, m := filled(b, side, side, 0)
			for d := range m.All() {
				register(b, f, build(b, m.Spec(), program.ID(d.ID()), cb("{[0-0 - 7-7]}", 64)), d.Set())
			}
			for b.Loop() {
				f.Snapshot()
			}
		})
	}
}
