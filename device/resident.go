package device

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// What is *resident* is what the last dispatch left in L1, core by core: the last
// writer wins. A dispatch writes the circular buffer configuration of every core that
// a CB of the program names; other cores keep what they had. (tt-metal pull request
// 53721; reference figures are in the tests.)
//
//	dispatch A on 0-0..3-0   A A A A
//	dispatch B on 2-0..3-0   A A B B      B has only global CBs: cores 2-0 and 3-0 count 0
//	dispatch A               A A A A
//
// Registered but never dispatched counts nothing here, and what was dispatched stays
// when its program is unregistered: L1 still holds it.

// Dataflow buffers and scratchpads have last writers of their own: they take L1, but
// are not part of what tt-metal calls resident.

// A residue is what a device holds after its dispatches. It never changes, unless it is loose. Devices
// with the same residue point to the same one, which is found by its hash and then compared; see recall.
// nil holds nothing.
type residue struct {
	serial uint64
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

// A piece is a set of cores on which a program was the last writer of a kind.
type piece struct {
	*writer
	cores l1.CoreSet
}

// A cell is a set of cores on which a residue holds the same bytes.
type cell struct {
	cores  l1.CoreSet
	ranges []l1.Range // merged; at least one
	bytes  uint64     // of each core
}

// Dispatch makes the program with the given id what is resident on its cores, on the
// devices of s: all of them or none. It must be registered there; what counts is the
// layout that is registered, so that a resize shows at the next dispatch after Replace.
// Cores that no circular buffer of the program names keep what they had, and a program with dataflow buffers or
// scratchpads alone changes nothing of Resident; those show in Totals.Tracked and Usage.
//
// Dispatch does not judge, as Register does not: Enqueue is a dispatch of what fits.
// Dispatching what is resident already changes nothing. Cost: some ns for each device,
// whatever is registered, and no allocation where programs take turns; the first time
// that one is written over another it is O(cores). Where programs run in random order it is O(cores of
// the program), without allocation.
//
// Errors, the first that applies: ErrForeignSet; ErrNoDevice for a removed device;
// ErrNotRegistered; *OverflowError if the bytes on a device or mesh would exceed
// 2^63-1.
func (f *Fleet) Dispatch(id program.ID, s Set) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, err := f.registered(id, s)
	if err != nil || s.s == nil {
		return err
	}
	return f.dispatch(r, s)
}

// lay works out what a dispatch of r leaves.
func (f *Fleet) lay(r *registration) {
	if !r.laid {
		r.left, r.laid = f.left(f.piecesOf(r)), true
	}
}

func (f *Fleet) dispatch(r *registration, s Set) error {
	if f.lay(r); r.left != nil {
		if err := f.write(r.program.ID(), s.s.slots, r.left); err != nil {
			return err
		}
	}
	f.emitDispatched(r, s)
	return nil
}

// emitDispatched is apart because most fleets have no observer, and an Event is large.
func (f *Fleet) emitDispatched(r *registration, s Set) {
	if f.observer != nil {
		f.emit(Event{Kind: EventDispatched, Set: s, Program: r.program})
	}
}

// Evict takes what the program with the given id left on the cores of the devices of s
// away and returns the devices that held something of it: for devices on which
// destroying a program clears what it wrote. Whatever its layout was goes, and it need
// not be registered any more. What was on the cores before it does not come back.
// Cost: O(cores) for each device that held something of it. Errors: ErrForeignSet;
// ErrNoDevice for a removed device.
func (f *Fleet) Evict(id program.ID, s Set) (evicted Set, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(s); err != nil || s.s == nil {
		return Set{}, err
	}
	var slots bitset
	var p *program.Program // a layout that it had
	for slot := range s.s.slots.all() {
		c := f.slots[slot]
		var rest []piece
		for _, w := range c.left.written() {
			if w.program.ID() == id {
				p = w.program
			} else {
				rest = append(rest, w)
			}
		}
		if len(rest) == len(c.left.written()) {
			continue
		}
		f.leave1(c, f.left(rest))
		slots = slots.with(slot)
	}
	f.publishMeshes()
	evicted = f.setOf(slots, slots.count())
	if evicted.s != nil {
		f.emit(Event{Kind: EventEvicted, Set: evicted, Program: p})
	}
	return evicted, nil
}

// charged bounds what a residue adds to any sum.
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
func (r *residue) tracked() tracked { return tracked{r.union(), r.fullest()} }

func (r *residue) total() uint64 {
	if r == nil {
		return 0
	}
	return r.bytes
}

// written returns what each writer has. Cost: O(cores).
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

// keep has r stay as it is, and returns it.
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

// left returns the residue of some pieces, which are disjoint within a kind.
func (f *Fleet) left(pieces []piece) *residue {
	if len(pieces) == 0 {
		return nil
	}
	r := &residue{pieces: pieces}
	r.sum()
	return f.remember(r)
}

// digest returns the hash by which a residue that is not loose is found.
func (r *residue) digest() (sum hash) {
	for _, w := range r.pieces {
		sum += w.hash.on(w.cores)
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
	if r.cells == nil {
		r.cells = cellsOf(r.written())
	}
	return r.cells
}

// cellsOf divides cores by what pieces of any kind hold there.
func cellsOf(pieces []piece) (out []cell) {
	var layers []layer
	for _, w := range pieces {
		if w.group.NumRanges() > 0 {
			layers = append(layers, layer{cores: w.cores, ranges: slices.Collect(w.group.Ranges())})
		}
	}
	for _, t := range tiles(layers) {
		ranges := t.layers[0].ranges
		if len(t.layers) > 1 {
			ranges = mergedRanges(t.layers)
		}
		bytes := uint64(0)
		for _, r := range ranges {
			bytes += r.Len()
		}
		out = append(out, cell{t.cores, ranges, bytes})
	}
	return out
}

// piecesOf returns what a dispatch of r leaves on a device that held nothing. Its writers
// are always the same.
func (f *Fleet) piecesOf(r *registration) []piece {
	if r.pieces != nil {
		return r.pieces
	}
	out := []piece{}
	add := func(kind program.Kind, cores l1.CoreSet, g program.Group) {
		out = append(out, piece{&writer{r.program, r.serial, kind, g, f.numbers.of(f.newSerial())}, cores})
	}
	for kind := program.CircularBuffer; kind <= program.Scratchpad; kind++ {
		var rest l1.CoreSet // where its configuration is written with no bytes
		for _, cb := range r.program.CBs() {
			if cb.Kind == kind {
				rest = rest.Union(cb.Cores.Cores())
			}
		}
		for g := range r.program.Occupied(kind).Groups() {
			add(kind, g.Cores(), g)
			rest = rest.Minus(g.Cores())
		}
		if !rest.IsEmpty() {
			add(kind, rest, program.Group{})
		}
	}
	r.pieces = out
	return out
}
