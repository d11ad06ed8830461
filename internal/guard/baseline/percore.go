package baseline

import (
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A perCore has a counter for each core of each device: a change does the same work again for
// every core and every device.
type perCore[C any, P counter[C]] struct {
	rows    int
	measure Measure
	devices []grid[C]
}

// A grid counts the ranges of the cores of one device.
type grid[C any] struct {
	cores [2][]C // of each footprint of the measure, by the number of the core
	total uint64
}

func newPerCore[C any, P counter[C]](spec l1.Spec, devices int, m Measure) *perCore[C, P] {
	t := &perCore[C, P]{spec.Rows, m, make([]grid[C], devices)}
	for i := range t.devices {
		for k := range t.devices[i].cores {
			t.devices[i].cores[k] = make([]C, spec.NumCores())
		}
	}
	return t
}

// Register counts p on every core of the devices.
func (t *perCore[C, P]) Register(p *program.Program, devices []int) { t.change(p, devices, +1) }

// Unregister takes p back on every core of the devices.
func (t *perCore[C, P]) Unregister(p *program.Program, devices []int) { t.change(p, devices, -1) }

// change lets every counter of the devices count the ranges of p. The totals move by sign times
// the returned bytes.
func (t *perCore[C, P]) change(p *program.Program, devices []int, sign int) {
	footprints := t.measure.footprints(p)
	for _, i := range devices {
		d := &t.devices[i]
		for k, f := range footprints {
			for g := range f.Groups() {
				for c := range g.Cores().All() {
					core := P(&d.cores[k][coreNumber(c, t.rows)])
					for j := range g.NumRanges() {
						d.total += uint64(sign) * core.Shift(g.Range(j), sign)
					}
				}
			}
		}
	}
}

// Total returns a number that is kept.
func (t *perCore[C, P]) Total(device int) uint64 { return t.devices[device].total }

// coreNumber numbers the cores of a grid in their order.
func coreNumber(c l1.Core, rows int) int { return int(c.X)*rows + int(c.Y) }
