package baseline

import (
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A perCore has a counter for each core of each device: a change does the same work again for
// every core and every device.
type perCore[C any, P counter[C]] struct {
	rows     int
	occupied []grid[C, P] // by device
	reserved []grid[C, P] // the same; nil if reserved bytes are not queried
}

// A grid counts the ranges of the cores of one device.
type grid[C any, P counter[C]] struct {
	cores []C // by number
	total uint64
}

func newPerCore[C any, P counter[C]](spec l1.Spec, devices int, m Measure) *perCore[C, P] {
	t := &perCore[C, P]{rows: spec.Rows, occupied: newGrids[C, P](spec, devices)}
	if m == Reserved {
		t.reserved = newGrids[C, P](spec, devices)
	}
	return t
}

func newGrids[C any, P counter[C]](spec l1.Spec, devices int) []grid[C, P] {
	out := make([]grid[C, P], devices)
	for i := range out {
		out[i].cores = make([]C, spec.NumCores())
	}
	return out
}

// Register counts p on every core of the devices.
func (t *perCore[C, P]) Register(p *program.Program, devices []int) { t.change(p, devices, P.Add, +1) }

// Unregister takes p back on every core of the devices.
func (t *perCore[C, P]) Unregister(p *program.Program, devices []int) {
	t.change(p, devices, P.Remove, -1)
}

// change lets every counter of the devices count the ranges of p. The totals move by sign times
// the returned bytes.
func (t *perCore[C, P]) change(p *program.Program, devices []int, count func(P, l1.Range) uint64, sign int) {
	for _, i := range devices {
		t.occupied[i].change(p.Occupied(program.CircularBuffer), t.rows, count, sign)
		if t.reserved != nil {
			t.reserved[i].change(p.Reserved(program.CircularBuffer), t.rows, count, sign)
		}
	}
}

func (d *grid[C, P]) change(f program.Footprint, rows int, count func(P, l1.Range) uint64, sign int) {
	for g := range f.Groups() {
		for c := range g.Cores().All() {
			core := P(&d.cores[coreNumber(c, rows)])
			for k := range g.NumRanges() {
				d.total += uint64(sign) * count(core, g.Range(k))
			}
		}
	}
}

// Total returns numbers that are kept.
func (t *perCore[C, P]) Total(device int) uint64 {
	if t.reserved != nil {
		return t.occupied[device].total + t.reserved[device].total
	}
	return t.occupied[device].total
}

// coreNumber numbers the cores of a grid in their order.
func coreNumber(c l1.Core, rows int) int { return int(c.X)*rows + int(c.Y) }
