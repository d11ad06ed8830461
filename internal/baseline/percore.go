package baseline

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// PerCore keeps a BoundaryCount for each core of each device: incremental, and the
// same work again for every core and every device.
type PerCore struct {
	perCore[BoundaryCount, *BoundaryCount]
}

// SortedSlice is PerCore with a SortedCount for each core.
type SortedSlice struct {
	perCore[SortedCount, *SortedCount]
}

// Intervals is PerCore with an IntervalTree for each core.
type Intervals struct {
	perCore[IntervalTree, *IntervalTree]
}

// Rasters is PerCore with a Raster for each core.
type Rasters struct {
	perCore[Raster, *Raster]
}

// NewPerCore returns a PerCore for numbered devices of one Spec.
func NewPerCore(spec l1.Spec, devices int) *PerCore {
	return &PerCore{newPerCore[BoundaryCount](spec, devices)}
}

// NewSortedSlice returns a SortedSlice for numbered devices of one Spec.
func NewSortedSlice(spec l1.Spec, devices int) *SortedSlice {
	return &SortedSlice{newPerCore[SortedCount](spec, devices)}
}

// NewIntervals returns an Intervals for numbered devices of one Spec.
func NewIntervals(spec l1.Spec, devices int) *Intervals {
	return &Intervals{newPerCore[IntervalTree](spec, devices)}
}

// NewRasters returns a Rasters for numbered devices of one Spec.
func NewRasters(spec l1.Spec, devices int) *Rasters {
	return &Rasters{newPerCore[Raster](spec, devices)}
}

// A counter counts the ranges of one core.
type counter[C any] interface {
	*C
	Add(l1.Range) (grew uint64)
	Remove(l1.Range) (freed uint64)
	Bytes() uint64
	load(*loading)
}

// perCore has a counter for each core of each device.
type perCore[C any, P counter[C]] struct {
	rows     int
	devices  []grid[C]
	reserved bool // count reserved bytes
}

// A grid is the cores of one device.
type grid[C any] struct {
	cores []C // by number
	total uint64
}

func newPerCore[C any, P counter[C]](spec l1.Spec, devices int) perCore[C, P] {
	out := perCore[C, P]{rows: spec.Rows, devices: make([]grid[C], devices)}
	for i := range out.devices {
		out.devices[i].cores = make([]C, spec.NumCores())
	}
	return out
}

// Reserve makes t count reserved bytes instead of occupied ones.
func (t *perCore[C, P]) Reserve() { t.reserved = true }

// of returns the counted footprint of p.
func (t *perCore[C, P]) of(p *program.Program) program.Footprint {
	if t.reserved {
		return p.Reserved(program.CircularBuffer)
	}
	return p.Occupied(program.CircularBuffer)
}

// Register counts p on every core of the devices.
func (t *perCore[C, P]) Register(p *program.Program, devices []int) {
	for _, i := range devices {
		d := &t.devices[i]
		for g := range t.of(p).Groups() {
			for c := range g.Cores().All() {
				core := P(&d.cores[coreNumber(c, t.rows)])
				for k := range g.NumRanges() {
					d.total += core.Add(g.Range(k))
				}
			}
		}
	}
}

// Unregister takes p back on every core of the devices.
func (t *perCore[C, P]) Unregister(p *program.Program, devices []int) {
	for _, i := range devices {
		d := &t.devices[i]
		for g := range t.of(p).Groups() {
			for c := range g.Cores().All() {
				core := P(&d.cores[coreNumber(c, t.rows)])
				for k := range g.NumRanges() {
					d.total -= core.Remove(g.Range(k))
				}
			}
		}
	}
}

// Total returns a number that is kept.
func (t *perCore[C, P]) Total(device int) uint64 { return t.devices[device].total }

// Load registers many programs at once.
func (t *perCore[C, P]) Load(programs []*program.Program, devices []int) {
	ranges := make([][]l1.Range, len(t.devices[0].cores))
	for _, p := range programs {
		for g := range t.of(p).Groups() {
			for c := range g.Cores().All() {
				n := coreNumber(c, t.rows)
				ranges[n] = slices.AppendSeq(ranges[n], g.Ranges())
			}
		}
	}
	var l *loading
	for n := range ranges {
		// Most often the cores get the same.
		if n == 0 || !slices.Equal(ranges[n], ranges[n-1]) {
			l = loadingOf(ranges[n])
		}
		for _, i := range devices {
			d := &t.devices[i]
			core := P(&d.cores[n])
			d.total -= core.Bytes()
			core.load(l)
			d.total += core.Bytes()
		}
	}
}
