package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/internal/baseline"
	"github.com/cbl1/cbl1/internal/bench"
)

// A reader reads totals in batches and takes the time of each. The median tells what a
// read costs while the reader is running, however often the machine gives the processor
// to somebody else.
type reader struct {
	writes  *atomic.Int64 // if not nil, only batches during which it moved count
	batches []float64     // ns per read
	sum     uint64        // of the totals, so that the compiler keeps the reads
}

const batch = 1_000 // reads

// read reads the totals of devices in turn, for so many batches that count.
func (x *reader) read(devices []device.Device, batches int) {
	var written int64
	for tries := 0; len(x.batches) < batches && tries < 1_000*batches; tries++ {
		if x.writes != nil {
			written = x.writes.Load()
		}
		k := 0
		start := time.Now()
		for range batch {
			x.sum += devices[k].Registered()
			if k++; k == len(devices) {
				k = 0
			}
		}
		took := time.Since(start)
		if x.writes == nil || x.writes.Load() > written {
			x.batches = append(x.batches, float64(took.Nanoseconds())/batch)
		}
	}
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// writers are goroutines that each register and unregister the programs of w on one device until
// stop is set. In the end all programs are registered.
type writers struct {
	sync.WaitGroup
	stop   atomic.Bool
	_      [64]byte // nothing beside the counter in its line of the cache
	writes atomic.Int64
}

func (x *writers) start(f *bench.Engine, w bench.Workload, device int) {
	on := []int{device}
	x.Go(func() {
		for i := 0; !x.stop.Load(); i++ {
			p := w.Steps[i%len(w.Steps)].Program
			f.Unregister(p, on)
			f.Register(p, on)
			x.writes.Add(1)
		}
	})
}

func (x *writers) end() {
	x.stop.Store(true)
	x.Wait()
}

// beside returns the median time of a read while so many goroutines read all devices of
// f, and one writes on each device.
func beside(f *bench.Engine, w bench.Workload, readers, batches int) (float64, error) {
	var write writers
	for d := range w.Devices {
		write.start(f, w, d)
	}
	devices := slices.Collect(f.Mesh.All())
	all := make([]reader, readers)
	var read sync.WaitGroup
	for i := range all {
		read.Go(func() {
			all[i].writes = &write.writes
			all[i].read(devices, batches)
		})
	}
	read.Wait()
	write.end()

	var found []float64
	for _, x := range all {
		found = append(found, x.batches...)
	}
	if len(found) == 0 {
		return 0, fmt.Errorf("%s: nobody read while somebody wrote", w.Name)
	}
	return median(found), samePerCore(f, w)
}

// concurrent is W10: goroutines read totals of all devices while as many register, each
// on a device of its own.
func concurrent(r *runner) error {
	const goroutines = 8
	name, what := fmt.Sprintf("W10/readers=%d/writers=%d", goroutines, goroutines), "ns per read"
	if one := oneProcessor(); one.instead != "" {
		r.add(row{workload: name, what: what, value: one, goal: atMost(20, 10)})
		return nil
	}
	w := bench.Concurrent(goroutines, 256)
	f := bench.NewEngine(w.Spec, w.Devices)
	f.Prepare(w.PerDevice().Steps)
	bench.Change(f, w.Steps)

	best := math.Inf(1)
	for range r.rounds {
		ns, err := beside(f, w, goroutines, r.size.batches)
		if err != nil {
			return err
		}
		best = min(best, ns)
	}
	r.add(row{
		workload: name, what: what, value: value{n: best, unit: "ns"}, goal: atMost(20, 10),
	})
	return nil
}

// samePerCore compares the totals after all steps of w with the totals of a baseline.
func samePerCore(f *bench.Engine, w bench.Workload) error {
	c := baseline.NewPerCore(w.Spec, w.Devices)
	bench.Load(c, w.Steps)
	for d := range w.Devices {
		if got, want := f.Total(d), c.Total(d); got != want {
			return fmt.Errorf("%s: total of device %d is %d for cbl1 and %d for percore", w.Name, d, got, want)
		}
	}
	return nil
}

// total measures reading the total of a device: with few and many programs, devices and classes of
// cores, and beside a goroutine that registers on the same device.
func total(r *runner) error {
	few, many := bench.Concurrent(1, 1), bench.Concurrent(1, r.size.cached)
	fleets := []bench.Workload{few, many, bench.Mesh(r.size.devices, r.size.meshed), bench.States(r.size.fleet, r.size.states, 8, 1)}
	slowest := 0.0
	for _, w := range fleets {
		f := bench.NewEngine(w.Spec, w.Devices)
		bench.Change(f, w.Before)
		bench.Change(f, w.Steps)
		one := []device.Device{f.Device(w.Devices / 2)}
		best := math.Inf(1)
		for range r.rounds {
			var x reader
			x.read(one, 4*r.size.batches)
			best = min(best, median(x.batches))
		}
		slowest = max(slowest, best)
	}
	r.add(row{
		workload: "total", what: "alone: the slowest of 4 fleets",
		value: value{n: slowest, unit: "ns"}, goal: atMost(5, 3),
	})

	f := bench.NewEngine(many.Spec, 1)
	bench.Change(f, many.Steps)
	read := oneProcessor()
	if read.instead == "" {
		read = value{n: math.Inf(1), unit: "ns"}
		for range r.rounds {
			ns, err := beside(f, many, 1, 8*r.size.batches)
			if err != nil {
				return err
			}
			read.n = min(read.n, ns)
		}
	}
	r.add(row{workload: "total", what: "beside a writer", value: read, goal: atMost(10, 5)})

	var sum uint64
	n := mallocs(func() {
		for range 100_000 {
			sum += f.Device(0).Registered() + f.Mesh.Registered()
		}
	})
	runtime.KeepAlive(sum)
	r.add(row{workload: "total", what: "allocations in 200,000 reads, device and mesh", value: value{n: n, unit: "objects"}, goal: atMost(0, 0)})
	return nil
}
