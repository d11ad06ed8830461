// Package baseline has the contenders that benchmarks compare with: the ways in
// which a careful engineer would count covered bytes at first. They are right, and
// slow in the cases that the engine is built for.
//
//	Dense        keeps the programs, counts when asked            upstream's method
//	PerCore      a BoundaryCount (google/btree) per core of each device
//	SortedSlice  a SortedCount (sorted slice) per core of each device
//	Intervals    an IntervalTree (augmented) per core of each device
//	Rasters      a Raster (an array) per core of each device, for ranges of whole cells
//
// and for what dispatches left, and buffers:
//
//	DenseMemory    keeps when what was dispatched, counts when asked
//	PerCoreMemory  keeps what was written to each core last
//
// They are given what the engine is given: programs whose footprints are grouped and
// merged already. Only Dense starts from the circular buffers, as upstream does.
//
// No product code imports this package.
package baseline

import "github.com/cbl1/cbl1/program"

// A Contender counts the bytes that programs cover on numbered devices. Histories are
// legal: nothing is registered twice on a device, or unregistered where it is not.
type Contender interface {
	Register(p *program.Program, devices []int)
	Unregister(p *program.Program, devices []int)
	Total(device int) uint64 // covered bytes, summed over the cores
}

var (
	_ Contender = (*Dense)(nil)
	_ Contender = (*PerCore)(nil)
	_ Contender = (*SortedSlice)(nil)
	_ Contender = (*Intervals)(nil)
	_ Contender = (*Rasters)(nil)
)
