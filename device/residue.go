package device

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A residue is what a device holds after its dispatches. It never changes, unless it is loose. Devices
// with the same residue point to the same one, which is found by its hash and then compared; see recall.
// nil holds nothing.
type residue struct {
	serial uint64  // given to no other
	users  int     // devices that have it
	loose  bool    // only they know it: it is changed in place when they go on together
	hash   hash    // a sum over cores; of a loose one over writers, each times its cores
	pieces []piece // what a program or a trace left where nothing was; nil if there are planes
	planes planes  // what was left over something else
	n      int     // cores in all planes, at least one
	bytes  uint64  // of circular buffers, sum over cores
	other  uint64  // of dataflow buffers and scratchpads
	charge uint64  // bytes and other
	all    uint64  // of all kinds, each byte once
	core   uint64  // of all kinds, each byte once, on the fullest core
	end    uint64  // of the highest range of any core
	cells  []cell  // the same, core by core; nil = not worked out yet
}

// planes are the last writers of each kind.
type planes [program.Scratchpad + 1]plane

// A piece is a set of cores on which a program was the last writer of a kind. The program, the kind
// and the group that it has there are those of the writer.
type piece struct {
	*writer
	cores l1.CoreSet
}

// A cell is a set of cores on which a residue holds the same bytes, of any kind.
type cell struct {
	cores  l1.CoreSet
	ranges []l1.Range // merged; at least one
	bytes  uint64     // of each core
}

// tracked is what lies in the L1 of a device, in bytes, each byte once, without kernels
// and the reserved area.
type tracked struct {
	bytes uint64 // summed over cores
	core  uint64 // on the fullest core
}

// raise returns the larger of both figures, each for itself.
func (t tracked) raise(o tracked) tracked {
	return tracked{bytes: max(t.bytes, o.bytes), core: max(t.core, o.core)}
}

// take notes that n more devices have r, or fewer. nil counts none.
func (r *residue) take(n int) {
	if r != nil {
		r.users += n
	}
}

// mayTake reports whether over may be written on r in place: r is loose, and neither of them has anything
// but circular buffers. The devices that have r must go on together.
func (r *residue) mayTake(over *residue) bool { return r.loose && over.other == 0 }

// charged bounds what a residue adds to any sum, in bytes.
func (r *residue) charged() uint64 {
	if r == nil {
		return 0
	}
	return r.charge
}

// others returns the bytes of dataflow buffers and scratchpads.
func (r *residue) others() uint64 {
	if r == nil {
		return 0
	}
	return r.other
}

// union returns the bytes of all kinds, each once.
func (r *residue) union() uint64 {
	if r == nil {
		return 0
	}
	return r.all
}

// fullest returns the bytes of all kinds on the fullest core, each once.
func (r *residue) fullest() uint64 {
	if r == nil {
		return 0
	}
	return r.core
}

// tracked returns what is tracked where nothing but dispatches left anything.
func (r *residue) tracked() tracked { return tracked{bytes: r.union(), core: r.fullest()} }

// total returns the bytes of circular buffers, summed over cores.
func (r *residue) total() uint64 {
	if r == nil {
		return 0
	}
	return r.bytes
}

// written returns what each writer has, disjoint within a kind. Cost: O(cores).
func (r *residue) written() (out []piece) {
	if r == nil || r.pieces != nil {
		return r.own()
	}
	for kind := range r.planes {
		out = r.planes[kind].pieces(out)
	}
	return out
}

// own returns the pieces of a residue that is made of them.
func (r *residue) own() []piece {
	if r == nil {
		return nil
	}
	return r.pieces
}

// fresh returns the planes of a residue, which may be written.
func (r *residue) fresh() (out planes) {
	for kind := range r.planes {
		out[kind] = r.planes[kind].clone()
	}
	out.paint(new(loss), r.pieces)
	return out
}

// paint has the writers of pieces write their cores. Pieces of a kind follow each other.
func (p *planes) paint(l *loss, pieces []piece) {
	for len(pieces) > 0 {
		kind, n := pieces[0].kind, 1
		for n < len(pieces) && pieces[n].kind == kind {
			n++
		}
		p[kind].paint(l, pieces[:n]...)
		pieces = pieces[n:]
	}
}

// on returns the last writer of circular buffers on a core, nil if there was none.
func (r *residue) on(c l1.Core) *writer {
	if r == nil {
		return nil
	}
	for _, w := range r.pieces {
		if w.kind == program.CircularBuffer && w.cores.Has(c) {
			return w.writer
		}
	}
	return r.planes[program.CircularBuffer].on(c)
}

// repaint has over written on a loose residue. Neither of them has anything but circular buffers.
// Cost: O(claims, and cores of over).
func (r *residue) repaint(over *residue) {
	var l loss
	r.planes.paint(&l, over.written())
	remain := func(lost, had, came uint64) bool { return lost < had || lost <= came }
	if !remain(l.core, r.core, over.core) || !remain(l.end, r.end, over.end) { // the largest is gone
		*r = residue{serial: r.serial, users: r.users, loose: true, planes: r.planes}
		r.sum()
		r.all = r.bytes
		return
	}
	r.n += over.n - l.cores
	r.bytes += over.bytes - l.bytes
	r.hash -= l.hash
	for _, w := range over.written() {
		r.hash += w.hash * hash(w.cores.Len())
	}
	r.charge, r.all, r.cells = r.bytes, r.bytes, nil
	r.core, r.end = max(r.core, over.core), max(r.end, over.end)
}

// keep has r stay as it is from now on, and returns it: who keeps it beyond the devices that have it does so.
func (r *residue) keep() *residue {
	if r != nil && r.loose {
		r.loose, r.hash = false, r.digest()
	}
	return r
}

// within reports whether over is written on all cores of r, and is quick: false may be wrong.
func (r *residue) within(over *residue) bool {
	for _, w := range r.pieces {
		covers := func(o piece) bool { return o.kind == w.kind && o.cores.Contains(w.cores) }
		if !slices.ContainsFunc(over.pieces, covers) {
			return false
		}
	}
	return r.pieces != nil
}

// digest returns the hash by which a residue that is not loose is found.
func (r *residue) digest() (sum hash) {
	for _, w := range r.pieces {
		sum += w.on(w.cores)
	}
	for kind := range r.planes {
		sum += r.planes[kind].hash()
	}
	return sum
}

// sum works out the figures that are sums or maxima over writers, and the hash of a loose one.
// The charge is 2^64-1 if a sum does not fit.
func (r *residue) sum() {
	for _, w := range r.pieces {
		r.writes(w.writer, w.cores.Len())
	}
	for kind := range r.planes {
		for _, c := range r.planes[kind].claims {
			r.writes(c.writer, c.cores)
		}
	}
	if r.charge != math.MaxUint64 {
		r.charge = r.bytes + r.other
	}
}

// equal reports whether r and o were left by the same writers on the same cores.
func (r *residue) equal(o *residue) bool {
	if o.n != r.n || o.bytes != r.bytes {
		return false
	}
	a, b := o.planes, r.planes
	if o.pieces != nil {
		a = o.fresh()
	}
	if r.pieces != nil {
		b = r.fresh()
	}
	return a.equal(&b)
}

// copied returns a residue for reading, as r is now.
func (r *residue) copied() *residue {
	to := *r
	if r.loose {
		to.planes = r.fresh()
	}
	return &to
}

// equal reports whether the planes of each kind are equal.
func (p *planes) equal(o *planes) bool {
	for kind := range p {
		if !p[kind].equal(&o[kind]) {
			return false
		}
	}
	return true
}

// writes takes in what a writer has on n cores.
func (r *residue) writes(w *writer, n int) {
	if n == 0 || r.charge == math.MaxUint64 {
		return
	}
	bytes := w.group.Bytes()
	r.n += n
	r.hash += w.hash * hash(n)
	r.core = max(r.core, bytes)
	r.end = max(r.end, w.end())
	sum := &r.bytes
	if w.kind != program.CircularBuffer {
		sum = &r.other
	}
	if bytes > (l1.MaxAddr-*sum)/uint64(n) {
		r.charge = math.MaxUint64
		return
	}
	*sum += bytes * uint64(n)
}

// held returns what lies on which cores. It may write, so it is for changes only.
func (r *residue) held() []cell {
	if r == nil {
		return nil
	}
	if r.cells == nil {
		r.cells = cellsOf(r.written())
	}
	return r.cells
}

// cellsOf divides cores by what pieces of any kind hold there.
func cellsOf(pieces []piece) (out []cell) {
	var sets []l1.CoreSet
	var ranges [][]l1.Range // on each core of a set
	for _, w := range pieces {
		if w.group.NumRanges() > 0 {
			sets, ranges = append(sets, w.cores), append(ranges, slices.Collect(w.group.Ranges()))
		}
	}
	for _, t := range l1.Tiles(sets) {
		c := cell{cores: t.Cores, ranges: ranges[t.In[0]]}
		if len(t.In) > 1 {
			var all []l1.Range
			for _, i := range t.In {
				all = append(all, ranges[i]...)
			}
			c.ranges = l1.Merge(all)
		}
		for _, r := range c.ranges {
			c.bytes += r.Len()
		}
		out = append(out, c)
	}
	return out
}
