package device

import (
	"math"
	"math/bits"
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

// A residue is what a device holds after its dispatches. It never changes; devices
// with the same residue point to the same one. nil holds nothing.
type residue struct {
	key    key
	pieces []piece // disjoint, none without cores, in any order; at least one
	bytes  uint64  // sum over cores
}

// A piece is a set of cores on which one program was the last writer.
type piece struct {
	program *program.Program
	name    key // of the program's registration
	cores   l1.CoreSet
	group   program.Group // what it has there; without ranges if it has only global CBs
}

// maxResidues is how many residues, and how many ways from one to another, are
// remembered so that devices which reach the same one find it, for nothing. Beyond it
// all are forgotten and found anew.
const maxResidues = 1024

// A writing is what was on a device and what a dispatch wrote over it.
type writing struct {
	under, over *residue
}

// Dispatch makes p what is resident on its cores, on the devices of s: all of them or
// none. p must be registered there; what counts is the layout that is registered, so
// that a resize shows at the next dispatch after Replace. Cores that no circular
// buffer of p names keep what they had: a program with dataflow buffers or scratchpads
// alone changes nothing.
//
// Dispatching what is resident already changes nothing. Cost: some ns for each device,
// whatever is registered, and no allocation where programs take turns; the first time
// that one is written over another it is O(cores).
//
// Errors, the first that applies: ErrNoProgram; ErrForeignSet; ErrNoDevice for a
// removed device; ErrNotRegistered; *OverflowError if the bytes on a device or mesh
// would exceed 2^63-1.
func (f *Fleet) Dispatch(p *program.Program, s Set) error {
	if p == nil {
		return ErrNoProgram
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r, err := f.registered(p, s)
	if err != nil || s.s == nil {
		return err
	}
	if !r.laid {
		r.left, r.laid = f.remember(piecesOf(r)), true
	}
	if r.left == nil {
		return nil
	}
	return f.write(p.ID(), s.s.slots, r.left)
}

// Evict takes what p left on the cores of the devices of s away and returns the
// devices that held something of it: for devices on which destroying a program
// clears what it wrote. The program is known by its id, whatever its layout was, and
// need not be registered any more. What was on the cores before it does not come back.
// Cost: O(cores) for each device that held something of it. Errors: ErrNoProgram;
// ErrForeignSet; ErrNoDevice for a removed device.
func (f *Fleet) Evict(p *program.Program, s Set) (evicted Set, err error) {
	if p == nil {
		return Set{}, ErrNoProgram
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(s); err != nil || s.s == nil {
		return Set{}, err
	}
	var slots bitset
	for slot := range s.s.slots.all() {
		c := f.slots[slot]
		if !c.left.holds(p.ID()) {
			continue
		}
		var rest []piece
		for _, w := range c.left.pieces {
			if w.program.ID() != p.ID() {
				rest = append(rest, w)
			}
		}
		f.leave1(c, f.remember(rest))
		slots = slots.with(slot)
	}
	f.publishMeshes()
	return f.setOf(slots, slots.count()), nil
}

// write puts a residue over what the devices in slots hold. It first looks whether a
// sum would overflow: only what is left in the end counts.
func (f *Fleet) write(id program.ID, slots bitset, over *residue) error {
	var o overlays
	var m *mesh
	var sum wide // m.sum.Resident as it will be
	for slot := range slots.all() {
		c := f.slots[slot]
		to := o.of(f, c.left, over)
		if err := f.faults.step(); err != nil {
			return err
		}
		if to.total() > l1.MaxAddr {
			return &OverflowError{Program: id, Device: c.id}
		}
		if c.mesh != m { // the slots of a mesh follow each other
			if sum.beyond() {
				return &OverflowError{Program: id, Device: m.first}
			}
			m, sum = c.mesh, wide{}
			if m != nil {
				sum.lo = m.sum.Resident
			}
		}
		if m != nil {
			sum.add(to.total(), 1)
			sum.sub(c.left.total(), 1)
		}
	}
	if sum.beyond() {
		return &OverflowError{Program: id, Device: m.first}
	}
	if err := f.faults.step(); err != nil {
		return err
	}
	for slot := range slots.all() {
		c := f.slots[slot]
		f.leave1(c, o.of(f, c.left, over))
	}
	f.publishMeshes()
	return nil
}

// overlays remembers the last overlay: devices in a row mostly hold the same.
type overlays struct {
	known    bool
	from, to *residue
}

func (o *overlays) of(f *Fleet, under, over *residue) *residue {
	if !o.known || under != o.from {
		o.known, o.from, o.to = true, under, f.over(under, over)
	}
	return o.to
}

// leave1 changes what one device holds.
func (f *Fleet) leave1(c *chip, to *residue) {
	if c.left == to {
		return
	}
	before := c.left.total()
	c.left = to
	c.resident.Store(to.total())
	c.residentPeak = max(c.residentPeak, to.total())
	if m := c.mesh; m != nil {
		m.sum.Resident += to.total() - before // wraps and comes back
		f.touch(m)
	}
}

func (r *residue) total() uint64 {
	if r == nil {
		return 0
	}
	return r.bytes
}

// holds reports whether a program was the last writer anywhere.
func (r *residue) holds(id program.ID) bool {
	return r != nil && slices.ContainsFunc(r.pieces, func(w piece) bool { return w.program.ID() == id })
}

// on returns the piece that has a core.
func (r *residue) on(c l1.Core) (piece, bool) {
	if r != nil {
		for _, w := range r.pieces {
			if w.cores.Has(c) {
				return w, true
			}
		}
	}
	return piece{}, false
}

// over returns what is left when over is written on top of under.
func (f *Fleet) over(under, over *residue) *residue {
	if under == nil || under == over {
		return over
	}
	w := writing{under, over}
	to := f.writings[w]
	if to == nil {
		to = f.overlay(under, over)
		if f.writings == nil || len(f.writings) >= maxResidues {
			f.writings = map[writing]*residue{}
		}
		f.writings[w] = to
	}
	return to
}

func (f *Fleet) overlay(under, over *residue) *residue {
	var kept []piece
	for _, w := range under.pieces {
		for _, top := range over.pieces {
			if w.cores.Overlaps(top.cores) {
				w.cores = w.cores.Minus(top.cores)
			}
		}
		if !w.cores.IsEmpty() {
			kept = append(kept, w)
		}
	}
	if len(kept) == 0 {
		return over
	}
	return f.remember(append(kept, over.pieces...))
}

// remember returns the residue of some pieces, which is known if there was one like it.
func (f *Fleet) remember(pieces []piece) *residue {
	if len(pieces) == 0 {
		return nil
	}
	r := &residue{pieces: pieces}
	for _, w := range pieces {
		// A sum that does not fit stays at its largest value, which is refused later.
		hi, lo := bits.Mul64(w.group.Bytes(), uint64(w.cores.Len()))
		if r.bytes += lo; hi != 0 || r.bytes < lo {
			r.bytes = math.MaxUint64
			return r
		}
		r.key = r.key.plus(w.name.of(w.cores))
	}
	if known := f.residues[r.key]; known != nil {
		return known
	}
	if f.residues == nil || len(f.residues) >= maxResidues {
		f.residues = map[key]*residue{}
	}
	f.residues[r.key] = r
	return r
}

// piecesOf returns what a dispatch of p leaves on a device that held nothing.
func piecesOf(r *registration) []piece {
	var out []piece
	var rest l1.CoreSet
	for _, cb := range r.program.CBs() {
		if cb.Kind == program.CircularBuffer {
			rest = rest.Union(cb.Cores.Cores())
		}
	}
	for g := range r.program.Occupied(program.CircularBuffer).Groups() {
		out = append(out, piece{r.program, r.key, g.Cores(), g})
		rest = rest.Minus(g.Cores())
	}
	if !rest.IsEmpty() {
		// Its configuration is written there too, with no bytes.
		out = append(out, piece{r.program, r.key, rest, program.Group{}})
	}
	return out
}
