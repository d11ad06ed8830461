package baseline

import (
	"slices"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A tracked keeps the last writer of each core of each device, and the sum over the cores, as
// upstream's pull request 53721 does. Once a device has had buffers, each of its cores has a
// counter of the buffers and of the last writer.
type tracked[C any, P counter[C]] struct {
	rows    int
	images  map[*program.Program]*image
	devices []memory[C, P]
}

// A memory is the L1 of one device.
type memory[C any, P counter[C]] struct {
	writers []*spot // by core
	counts  []C     // by core; nil as long as the device has had no buffer
	total   uint64
	heap    map[fit.BufferID]*fit.Buffer
	low     uint64 // the lowest address of a buffer
}

// An image is a program as it is dispatched, worked out once.
type image struct {
	spots []spot // every core that the program writes is in one
	end   uint64 // of its highest region, as tt-metal checks it
}

// A spot holds the ranges of a program on some cores.
type spot struct {
	cores  []int
	ranges []l1.Range // merged
	bytes  uint64
}

var _ Follower = (*tracked[BoundaryCount, *BoundaryCount])(nil)

func newTracked[C any, P counter[C]](spec l1.Spec, devices int) *tracked[C, P] {
	t := &tracked[C, P]{rows: spec.Rows, images: map[*program.Program]*image{}, devices: make([]memory[C, P], devices)}
	for i := range t.devices {
		t.devices[i] = memory[C, P]{writers: make([]*spot, spec.NumCores()), heap: map[fit.BufferID]*fit.Buffer{}, low: l1.MaxAddr}
	}
	return t
}

// image returns p as it is dispatched.
func (t *tracked[C, P]) image(p *program.Program) *image {
	if known := t.images[p]; known != nil {
		return known
	}
	out := new(image)
	var bare l1.CoreSet // cores without ranges, which are written all the same
	for _, cb := range p.CBs() {
		bare = bare.Union(cb.Cores.Cores())
	}
	for g := range p.Occupied(program.CircularBuffer).Groups() {
		out.spots = append(out.spots, spot{t.numbers(g.Cores()), slices.Collect(g.Ranges()), g.Bytes()})
		bare = bare.Minus(g.Cores())
	}
	if !bare.IsEmpty() {
		out.spots = append(out.spots, spot{cores: t.numbers(bare)})
	}
	for e := range p.Entries(program.CircularBuffer) {
		out.end = max(out.end, e.End)
	}
	t.images[p] = out
	return out
}

// numbers returns the numbers of cores.
func (t *tracked[C, P]) numbers(cores l1.CoreSet) (out []int) {
	for c := range cores.All() {
		out = append(out, coreNumber(c, t.rows))
	}
	return out
}

// Register does nothing: registered bytes are not counted.
func (t *tracked[C, P]) Register(*program.Program, []int) {}

// Unregister does nothing.
func (t *tracked[C, P]) Unregister(*program.Program, []int) {}

// Dispatch writes p to its cores, except where it was the last writer.
func (t *tracked[C, P]) Dispatch(p *program.Program, devices []int) {
	x := t.image(p)
	for _, i := range devices {
		d := &t.devices[i]
		for k := range x.spots {
			s := &x.spots[k]
			for _, c := range s.cores {
				if d.writers[c] != s {
					d.write(c, s)
				}
			}
		}
	}
}

// write puts s on a core in place of the last writer.
func (d *memory[C, P]) write(core int, s *spot) {
	old := d.writers[core]
	if old == nil {
		old = new(spot)
	}
	d.writers[core] = s
	if d.counts == nil {
		d.total += s.bytes - old.bytes
		return
	}
	d.count(core, -1, old.ranges...)
	d.count(core, +1, s.ranges...)
}

// count counts ranges of a core.
func (d *memory[C, P]) count(core, sign int, ranges ...l1.Range) {
	for _, r := range ranges {
		d.total += uint64(sign) * P(&d.counts[core]).Shift(r, sign)
	}
}

// countBuffer counts b on each of its cores.
func (d *memory[C, P]) countBuffer(b *fit.Buffer, rows, sign int) {
	for part := range b.All() {
		for c := range part.Cores.All() {
			d.count(coreNumber(c, rows), sign, part.Range)
		}
	}
}

// lowest returns the lowest address of a buffer.
func lowest(b *fit.Buffer) uint64 {
	low := uint64(l1.MaxAddr)
	for part := range b.All() {
		low = min(low, part.Range.Start)
	}
	return low
}

// Enqueue compares the end of p with an address that is kept.
func (t *tracked[C, P]) Enqueue(p *program.Program, devices []int) {
	end := t.image(p).end
	for _, i := range devices {
		if end > t.devices[i].low {
			return
		}
	}
	t.Dispatch(p, devices)
}

// Allocate counts b on each of its cores.
func (t *tracked[C, P]) Allocate(b *fit.Buffer, devices []int) {
	for _, i := range devices {
		d := &t.devices[i]
		if d.counts == nil {
			d.countCores()
		}
		d.heap[b.ID] = b
		d.low = min(d.low, lowest(b))
		d.countBuffer(b, t.rows, +1)
	}
}

// countCores begins to count on each core.
func (d *memory[C, P]) countCores() {
	d.counts, d.total = make([]C, len(d.writers)), 0
	for c, s := range d.writers {
		if s != nil {
			d.count(c, +1, s.ranges...)
		}
	}
}

// Free takes b back.
func (t *tracked[C, P]) Free(b *fit.Buffer, devices []int) {
	for _, i := range devices {
		d := &t.devices[i]
		delete(d.heap, b.ID)
		d.countBuffer(b, t.rows, -1)
		if lowest(b) > d.low {
			continue
		}
		d.low = l1.MaxAddr
		for _, o := range d.heap {
			d.low = min(d.low, lowest(o))
		}
	}
}

// Total returns a number that is kept.
func (t *tracked[C, P]) Total(device int) uint64 { return t.devices[device].total }
