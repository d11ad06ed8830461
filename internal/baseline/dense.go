package baseline

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Dense is upstream's method: each device keeps the list of its live programs, and each query of a
// total walks all their circular buffers, gathers the ranges of each core, sorts and merges them.
// Changes cost nothing, queries everything.
//
// Better than upstream, each program is prepared once, and the buffers for gathering are reused.
type Dense struct {
	rows     int
	devices  []registry
	plans    map[*program.Program]*plan
	cores    gathered
	reserved bool // count reserved bytes
}

// A registry is the programs of a device and where each of them is in the list.
type registry struct {
	live  []*plan
	index map[program.ID]int
}

// A plan is a program as Dense walks it.
type plan struct {
	id      program.ID
	buffers []buffer
	devices int // that have it
}

// A buffer is a local circular buffer on the cores with the given numbers.
type buffer struct {
	l1.Range
	cores []int32
}

// NewDense returns a Dense for numbered devices of one Spec.
func NewDense(spec l1.Spec, devices int) *Dense {
	d := &Dense{
		rows:    spec.Rows,
		devices: make([]registry, devices),
		plans:   map[*program.Program]*plan{},
		cores:   make(gathered, spec.NumCores()),
	}
	for i := range d.devices {
		d.devices[i].index = map[program.ID]int{}
	}
	return d
}

// Reserve makes d count reserved bytes instead of occupied ones.
func (d *Dense) Reserve() { d.reserved = true }

// Register adds p to the lists of the devices.
func (d *Dense) Register(p *program.Program, devices []int) {
	pl := d.plans[p]
	if pl == nil {
		pl = d.plan(p)
		d.plans[p] = pl
	}
	pl.devices += len(devices)
	for _, i := range devices {
		r := &d.devices[i]
		r.index[pl.id] = len(r.live)
		r.live = append(r.live, pl)
	}
}

// Unregister takes p from the lists of the devices.
func (d *Dense) Unregister(p *program.Program, devices []int) {
	pl := d.plans[p]
	for _, i := range devices {
		r := &d.devices[i]
		k, last := r.index[pl.id], len(r.live)-1
		r.live[k] = r.live[last]
		r.index[r.live[k].id] = k
		r.live = r.live[:last]
		delete(r.index, pl.id)
	}
	if pl.devices -= len(devices); pl.devices == 0 {
		delete(d.plans, p)
	}
}

// Load registers many programs at once.
func (d *Dense) Load(programs []*program.Program, devices []int) {
	for _, p := range programs {
		d.Register(p, devices)
	}
}

// Total walks the live programs of a device.
func (d *Dense) Total(device int) uint64 {
	for _, p := range d.devices[device].live {
		for _, b := range p.buffers {
			d.cores.add(b)
		}
	}
	return d.cores.count()
}

// gathered are the ranges of each core, by its number; empty between questions.
type gathered [][]l1.Range

func (g gathered) add(b buffer) {
	for _, c := range b.cores {
		g[c] = append(g[c], b.Range)
	}
}

// count returns the bytes that the ranges cover, summed over the cores, and forgets them.
func (g gathered) count() (bytes uint64) {
	for c, ranges := range g {
		bytes += union(ranges)
		g[c] = ranges[:0]
	}
	return bytes
}

// union sorts ranges and returns the number of bytes that they cover.
func union(ranges []l1.Range) (bytes uint64) {
	slices.SortFunc(ranges, l1.Range.Compare)
	end := uint64(0) // of the counted bytes
	for _, r := range ranges {
		if r.End > end {
			bytes += r.End - max(r.Start, end)
			end = r.End
		}
	}
	return bytes
}

func (d *Dense) plan(p *program.Program) *plan {
	pl := &plan{id: p.ID()}
	if d.reserved {
		for g := range p.Reserved(program.CircularBuffer).Groups() {
			cores := d.numbers(g.Cores())
			for r := range g.Ranges() {
				pl.buffers = append(pl.buffers, buffer{r, cores})
			}
		}
		return pl
	}
	var last l1.CoreRangeSet
	var cores []int32 // of last
	for _, cb := range p.CBs() {
		if cb.Global || cb.Range.IsEmpty() {
			continue
		}
		if cores == nil || !cb.Cores.Equal(last) {
			last, cores = cb.Cores, d.numbers(cb.Cores.Cores())
		}
		pl.buffers = append(pl.buffers, buffer{cb.Range, cores})
	}
	return pl
}

// numbers returns the numbers of some cores.
func (d *Dense) numbers(cores l1.CoreSet) (out []int32) {
	for c := range cores.All() {
		out = append(out, int32(coreNumber(c, d.rows)))
	}
	return out
}

// coreNumber numbers the cores of a grid in their order.
func coreNumber(c l1.Core, rows int) int { return int(c.X)*rows + int(c.Y) }
