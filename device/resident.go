package device

import (
	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/program"
)

// The last dispatch of each core is *resident* in L1: the last writer wins. A
// dispatch writes the circular buffer configuration of every core that a CB of the
// program names; other cores keep theirs. (tt-metal pull request 53721; reference
// figures are in the tests.)
//
//	dispatch A on 0-0..3-0   A A A A
//	dispatch B on 2-0..3-0   A A B B      B has only global CBs: cores 2-0 and 3-0 count 0
//	dispatch A               A A A A
//
// A registered program counts nothing here until it is dispatched. Its bytes stay
// when it is unregistered: L1 still holds them.

// Dataflow buffers and scratchpads have last writers of their own. They occupy L1,
// but tt-metal does not call them resident.

// Dispatch makes the program with the given id resident on its cores, on the devices
// of s: all of them or none. It must be registered there. The registered layout
// counts, so that a resize shows at the next dispatch after Replace. Cores that no
// circular buffer of the program names keep their content. A program with dataflow
// buffers or scratchpads alone changes nothing of Resident; they show in
// Totals.Tracked and Usage.
//
// Dispatch records, as Register does, and does not judge: Enqueue also checks the
// fit. Dispatching the resident program again changes nothing. Cost: some ns for each
// device, whatever is registered, and no allocation where programs take turns;
// O(cores) the first time that one is written over another. Where programs run in
// random order it is O(cores of the program), without allocation.
//
// Errors, the first that applies: ErrForeignSet; ErrNoDevice for a removed device;
// ErrNotRegistered; ErrOverflow if the bytes on a device or mesh would exceed 2^63-1.
func (f *Fleet) Dispatch(id program.ID, s Set) (err error) {
	defer named("Dispatch", &err)
	f.mu.Lock()
	defer f.mu.Unlock()
	r, err := f.registered(id, s)
	if err != nil || s.s == nil {
		return err
	}
	return f.dispatch(r, s)
}

// lay works out the residue of a dispatch of r.
func (f *Fleet) lay(r *registration) {
	if !r.laid {
		r.left, r.laid = f.residues.Of(f.piecesOf(r), &f.numbers), true
	}
}

// piecesOf returns the pieces that a dispatch of r leaves on a device that held
// nothing. Its writers are the same at every call.
func (f *Fleet) piecesOf(r *registration) []residue.Piece {
	if r.pieces == nil {
		r.pieces = residue.PiecesOf(r.Program, &f.numbers)
	}
	return r.pieces
}

func (f *Fleet) dispatch(r *registration, s Set) error {
	if f.lay(r); r.left != nil {
		if err := f.write(r.Program.ID(), s.s.slots, r.left); err != nil {
			return err
		}
	}
	f.emitDispatched(r, s)
	return nil
}

// emitDispatched is apart because most fleets have no observer, and a Notice is large.
func (f *Fleet) emitDispatched(r *registration, s Set) {
	if f.observer != nil {
		f.emit(Notice{Kind: NoticeDispatched, Set: s, Program: r.Program})
	}
}

// Evict clears the cores of the devices of s that the program with the given id was
// the last to write, and returns the devices with such cores. It serves devices on
// which destroying a program clears its bytes. All layouts of the program are
// cleared, and it need not be registered any more. Earlier contents of the cores do
// not return. Cost: O(cores) for each device that held something of it. Errors:
// ErrForeignSet; ErrNoDevice for a removed device.
func (f *Fleet) Evict(id program.ID, s Set) (evicted Set, err error) {
	defer named("Evict", &err)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(s); err != nil || s.s == nil {
		return Set{}, err
	}
	var slots bitset.Bits
	var p *program.Program // one of its layouts
	for c := range f.shares(s.s.slots) {
		rest, gone := f.residues.Without(c.left, id, &f.numbers)
		if gone == nil {
			continue
		}
		p = gone
		f.leaveOne(f.cut(c), rest)
		slots = slots.Add(bitset.Span(c.slot, c.n))
	}
	f.publishMeshes()
	evicted = f.setOf(slots, slots.Count())
	if evicted.s != nil {
		f.emit(Notice{Kind: NoticeEvicted, Set: evicted, Program: p})
	}
	return evicted, nil
}
