package bench

import (
	"slices"

	"github.com/cbl1/cbl1/internal/baseline"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Design is a way to count, which can play workloads. A further one is a function here
// and a place in Designs.
type Design struct {
	Name string
	New  func(Workload) baseline.Contender // where nothing has happened yet
}

// classical is a design that needs the Spec and the devices of a workload, and whether it queries
// reserved bytes.
func classical[C baseline.Reserving](name string, create func(l1.Spec, int) C) Design {
	return Design{name, func(w Workload) baseline.Contender {
		if w.Both {
			return baseline.NewBoth(create(w.Spec, w.Devices), create(w.Spec, w.Devices))
		}
		return create(w.Spec, w.Devices)
	}}
}

// remembering is a design for residues of dispatches, and buffers.
func remembering[C baseline.Memory](name string, create func(l1.Spec, int) C) Design {
	return Design{name, func(w Workload) baseline.Contender { return create(w.Spec, w.Devices) }}
}

// Ours is the engine, with the sets of devices that the workload names.
func Ours() Design {
	return Design{"cbl1", func(w Workload) baseline.Contender {
		if w.inMemory() {
			return NewMemory(w)
		}
		f := NewEngine(w.Spec, w.Devices)
		f.Prepare(w.Before)
		f.Prepare(w.Steps)
		if w.Both {
			return reserving{f}
		}
		return f
	}}
}

// Dense walks the live programs at each question, as upstream did.
func Dense() Design { return classical("dense", baseline.NewDense) }

// PerCore has a tree of boundaries for each core of each device.
func PerCore() Design { return classical("percore", baseline.NewPerCore) }

// SortedSlice has a sorted slice of boundaries for each core of each device.
func SortedSlice() Design { return classical("slice", baseline.NewSortedSlice) }

// Intervals has an augmented interval tree for each core of each device.
func Intervals() Design { return classical("intervals", baseline.NewIntervals) }

// Rasters has an array with a number for each 16 bytes of each core of each device.
func Rasters() Design { return classical("raster", baseline.NewRasters) }

// DenseMemory is Dense for residues of dispatches, and buffers.
func DenseMemory() Design { return remembering("dense", baseline.NewDenseMemory) }

// PerCoreMemory is PerCore for residues of dispatches, and buffers.
func PerCoreMemory() Design { return remembering("percore", baseline.NewPerCoreMemory) }

// Designs returns all designs that can play w. The others are compared with the first one:
// upstream's method is right by definition.
func Designs(w Workload) []Design {
	if w.inMemory() {
		return []Design{DenseMemory(), Ours(), PerCoreMemory()}
	}
	all := []Design{Dense(), Ours(), PerCore(), SortedSlice(), Intervals()}
	if w.InRaster() {
		all = append(all, Rasters())
	}
	if w.Spec.NumCores() == 1 {
		all = append(all, Counter(), Coverage())
	}
	return all
}

// inMemory reports whether w is for a baseline.Memory.
func (w Workload) inMemory() bool {
	return slices.ContainsFunc(w.Steps, func(s Call) bool { return s.Do > Unregister })
}

// InRaster reports whether Rasters can play w: all ranges are whole cells.
func (w Workload) InRaster() bool {
	return !slices.ContainsFunc(slices.Concat(w.Before, w.Steps), func(s Call) bool {
		if s.Program == nil {
			return true
		}
		for g := range s.Program.Occupied(program.CircularBuffer).Groups() {
			for r := range g.Ranges() {
				if (r.Start|r.End)%baseline.Cell != 0 {
					return true
				}
			}
		}
		return false
	})
}
