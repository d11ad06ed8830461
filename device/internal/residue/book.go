package residue

import (
	"math"

	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/program"
)

// MaxResidues is how many residues, and how many overlays of one on another, are
// remembered so that devices with the same dispatches find the same residue. Beyond
// it all are forgotten and found anew.
const MaxResidues = 1024

// A Book remembers residues, so that devices with the same dispatches share one. The
// zero Book is empty.
type Book struct {
	known    lookup.Shelf[Residue] // some of the residues in use
	writings map[writing]*Residue  // and their results
}

// A writing is a residue and the residue of a dispatch written over it.
type writing struct {
	under, over *Residue
}

// Of returns the residue of some pieces, which are disjoint within a kind: nil if there are none.
func (b *Book) Of(pieces []Piece, n *lookup.Numbers) *Residue {
	if len(pieces) == 0 {
		return nil
	}
	r := &Residue{pieces: pieces}
	for _, w := range pieces {
		r.hash += w.on(w.Cores)
	}
	r.sum()
	return b.remember(r, n)
}

// Without removes all layouts of a program from r. It returns the rest, nil if
// nothing is left, and one of the layouts, nil if r has none. Cost: O(cores).
func (b *Book) Without(r *Residue, id program.ID, n *lookup.Numbers) (rest *Residue, gone *program.Program) {
	var others []Piece
	for _, w := range r.Written() {
		if w.Program.ID() == id {
			gone = w.Program
		} else {
			others = append(others, w)
		}
	}
	if gone == nil {
		return r, nil
	}
	return b.Of(others, n), gone
}

// Over returns the residue after over is written on top of under.
func (b *Book) Over(under, over *Residue, n *lookup.Numbers) *Residue {
	if under == nil || under == over {
		return over
	}
	w := writing{under, over}
	to := b.writings[w]
	if to != nil {
		return to
	}
	to = b.overlay(under, over, n)
	if b.writings == nil {
		b.writings = map[writing]*Residue{}
	}
	if len(b.writings) >= MaxResidues {
		clear(b.writings)
	}
	b.writings[w] = to
	return to
}

// overlay is Over without the memory of earlier results.
func (b *Book) overlay(under, over *Residue, n *lookup.Numbers) *Residue {
	switch {
	case under.within(over):
		return over
	case under.holds(over):
		return under
	}
	r := &Residue{plane: under.fresh(len(over.pieces)), hash: under.hash + over.hash}
	r.hash -= r.plane.paint(over.Written()...)
	if r.sum(); r.n == over.n && r.charge == over.charge { // nothing of under is left
		return over
	}
	return b.remember(r, n)
}

// remember returns the residue that is equal to r, r itself if none is known.
func (b *Book) remember(r *Residue, n *lookup.Numbers) *Residue {
	if r.charge == math.MaxUint64 {
		return r // the caller refuses it
	}
	if known := b.known.Find(r.hash, r.equal); known != nil {
		return known
	}
	if b.known.Len() >= MaxResidues {
		b.known.Clear()
	}
	r.Serial = n.Next()
	b.known.Put(r.hash, r)
	r.all = r.bytes
	if r.other > 0 {
		r.all = r.Held().Bytes()
		for g := range r.Held().Groups() {
			r.core = max(r.core, g.Bytes())
		}
	}
	return r
}
