// Package baseline has the contenders that benchmarks compare with: the ways in
// which a careful engineer would count covered bytes at first. They are right, and
// slow in the cases that the engine is built for.
//
//	Dense        keeps the programs, counts at each query         upstream's method
//	PerCore      a BoundaryCount (google/btree) per core of each device
//	SortedSlice  a SortedCount (sorted slice) per core of each device
//	Intervals    an IntervalTree (augmented) per core of each device
//	Rasters      a Raster (an array) per core of each device, for ranges of whole cells
//
// and for residues of dispatches, and buffers:
//
//	DenseMemory    keeps the time of each dispatch, counts at each query
//	PerCoreMemory  keeps the last writer of each core
//
// They get the same input as the engine: programs whose footprints are grouped and merged already.
// Only Dense starts from the circular buffers, as upstream does.
//
// The engine also counts reserved bytes. Both makes a Contender do that as well: one of its kind
// counts occupied bytes, and another one reserved bytes.
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

// A Reserving is a Contender that counts reserved bytes instead of occupied ones after Reserve,
// which is called before all else.
type Reserving interface {
	Contender
	Reserve()
}

// Both counts occupied bytes and reserved bytes.
type Both struct {
	Contender
	reserved Contender
}

// NewBoth returns a Both of two contenders on which nothing has happened.
func NewBoth(occupied, reserved Reserving) *Both {
	reserved.Reserve()
	return &Both{occupied, reserved}
}

// Register adds p to both counts.
func (b *Both) Register(p *program.Program, devices []int) {
	b.Contender.Register(p, devices)
	b.reserved.Register(p, devices)
}

// Unregister takes p from both counts.
func (b *Both) Unregister(p *program.Program, devices []int) {
	b.Contender.Unregister(p, devices)
	b.reserved.Unregister(p, devices)
}

// Reserved returns the bytes that are reserved, summed over the cores.
func (b *Both) Reserved(device int) uint64 { return b.reserved.Total(device) }

// Load registers many programs at once, with contenders that can.
func (b *Both) Load(programs []*program.Program, devices []int) {
	for _, c := range []Contender{b.Contender, b.reserved} {
		c.(interface {
			Load([]*program.Program, []int)
		}).Load(programs, devices)
	}
}

var (
	_ Reserving = (*Dense)(nil)
	_ Reserving = (*PerCore)(nil)
	_ Reserving = (*SortedSlice)(nil)
	_ Reserving = (*Intervals)(nil)
	_ Reserving = (*Rasters)(nil)
)
