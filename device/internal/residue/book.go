package residue

import (
	"math"

	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/program"
)

// MaxResidues is how many residues, and how many ways from one to another, are
// remembered so that devices which reach the same one find it, for nothing. Beyond it
// all are forgotten and found anew.
const MaxResidues = 1024

// A Book is what is known of residues, so that devices which do the same have the same one.
// The zero Book knows none.
type Book struct {
	known    lookup.Shelf[Residue] // not all that are in use
	writings map[writing]*Residue  // what they left
	recall   recall
}

// A writing is what was on a device and what a dispatch wrote over it.
type writing struct {
	under, over *Residue
}

// Of returns the residue of some pieces, which are disjoint within a kind: nil if there are none.
func (b *Book) Of(pieces []Piece, n *lookup.Numbers) *Residue {
	if len(pieces) == 0 {
		return nil
	}
	r := &Residue{pieces: pieces}
	r.sum()
	return b.remember(r, n)
}

// Without returns the residue of what is left of r when all goes that layouts of a program left,
// and one of these layouts: nil if there is none. Cost: O(cores).
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

// Over returns what is left when over is written on top of under. alone says that all who have
// under go on to that.
func (b *Book) Over(under, over *Residue, alone bool, n *lookup.Numbers) *Residue {
	if under == nil || under == over {
		return over
	}
	w := writing{under, over}
	to := b.writings[w]
	if to != nil {
		b.recall.note(true)
		return to
	}
	if to = b.overlay(under, over, alone, n); to.loose {
		return to
	}
	if b.writings == nil {
		b.writings = map[writing]*Residue{}
	}
	if len(b.writings) >= MaxResidues {
		clear(b.writings)
	}
	under.Keep()
	b.writings[w] = to
	return to
}

// overlay works it out.
func (b *Book) overlay(under, over *Residue, alone bool, n *lookup.Numbers) *Residue {
	if under.within(over) {
		return over
	}
	r := &Residue{planes: under.fresh()}
	r.planes.paint(new(loss), over.Written())
	if r.sum(); r.n == over.n && r.charge == over.charge { // nothing of under is left
		return over
	}
	to, met := r, b.recall.came(r.hash)
	if alone && b.recall.off && r.other == 0 {
		r.Serial, r.loose, r.all = n.Next(), true, r.bytes
	} else {
		to = b.remember(r, n)
	}
	b.recall.note(met || to != r)
	return to
}

// Rewrite has over written on r in place, as r may be (see MayTake), for all devices that have
// it, and returns what they have then: r or over, which counts them.
func (b *Book) Rewrite(r, over *Residue) *Residue {
	r.repaint(over)
	b.recall.note(b.recall.came(r.hash))
	if r.n != over.n {
		return r
	}
	over.Users += r.Users // nothing of what was there is left
	return over
}

// Scattered reports whether residues hardly ever come again, so that devices alone with one
// change it in place.
func (b *Book) Scattered() bool { return b.recall.off }

// Doubt has b take it that residues hardly ever come again, as after dispatches in random order.
// It is for tests.
func (b *Book) Doubt() { b.recall = recall{off: true, vain: patience} }

// remember returns the residue that is equal to r, r itself if none is known.
func (b *Book) remember(r *Residue, n *lookup.Numbers) *Residue {
	if r.charge == math.MaxUint64 {
		return r // it is refused
	}
	r.hash = r.digest()
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
		r.all = 0
		for _, c := range r.Held() {
			r.all += c.Bytes * uint64(c.Cores.Len())
			r.core = max(r.core, c.Bytes)
		}
	}
	return r
}
