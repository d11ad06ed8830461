package device

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// maxResidues is how many residues, and how many ways from one to another, are
// remembered so that devices which reach the same one find it, for nothing. Beyond it
// all are forgotten and found anew.
const maxResidues = 1024

// residues are what is known of residues, so that devices which do the same have the same one.
// The zero residues know none.
type residues struct {
	known    shelf[residue]       // not all that are in use
	writings map[writing]*residue // what they left
	recall   recall
}

// A writing is what was on a device and what a dispatch wrote over it.
type writing struct {
	under, over *residue
}

// piecesOf returns what a dispatch of a program leaves on a device that held nothing: not nil,
// and disjoint within a kind. Its writers are others at every call, and have the serial number.
func piecesOf(p *program.Program, serial uint64, n *numbers) []piece {
	out := []piece{}
	add := func(kind program.Kind, cores l1.CoreSet, g program.Group) {
		out = append(out, piece{&writer{p, serial, kind, g, n.of(n.next())}, cores})
	}
	for kind := program.CircularBuffer; kind <= program.Scratchpad; kind++ {
		var rest l1.CoreSet // where its configuration is written with no bytes
		for _, cb := range p.CBs() {
			if cb.Kind == kind {
				rest = rest.Union(cb.Cores.Cores())
			}
		}
		for g := range p.Occupied(kind).Groups() {
			add(kind, g.Cores(), g)
			rest = rest.Minus(g.Cores())
		}
		if !rest.IsEmpty() {
			add(kind, rest, program.Group{})
		}
	}
	return out
}

// larger returns, for each core that one of two programs writes, the piece of the one with most
// bytes there, the second of equals. It writes into the first ones.
func larger(out, second []piece) []piece {
	for _, w := range second {
		for i := range out {
			o := &out[i]
			switch shared := o.cores.Intersect(w.cores); {
			case o.kind != w.kind, shared.IsEmpty():
			case o.group.Bytes() > w.group.Bytes():
				w.cores = w.cores.Minus(shared)
			default:
				o.cores = o.cores.Minus(shared)
			}
		}
		out = slices.DeleteFunc(out, func(o piece) bool { return o.cores.IsEmpty() })
		if !w.cores.IsEmpty() {
			out = append(out, w)
		}
	}
	return out
}

// of returns the residue of some pieces, which are disjoint within a kind: nil if there are none.
func (b *residues) of(pieces []piece, n *numbers) *residue {
	if len(pieces) == 0 {
		return nil
	}
	r := &residue{pieces: pieces}
	r.sum()
	return b.remember(r, n)
}

// without returns the residue of what is left of r when all goes that layouts of a program left,
// and one of these layouts: nil if there is none. Cost: O(cores).
func (b *residues) without(r *residue, id program.ID, n *numbers) (rest *residue, gone *program.Program) {
	var others []piece
	for _, w := range r.written() {
		if w.program.ID() == id {
			gone = w.program
		} else {
			others = append(others, w)
		}
	}
	if gone == nil {
		return r, nil
	}
	return b.of(others, n), gone
}

// over returns what is left when over is written on top of under. alone says that all who have
// under go on to that.
func (b *residues) over(under, over *residue, alone bool, n *numbers) *residue {
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
		b.writings = map[writing]*residue{}
	}
	if len(b.writings) >= maxResidues {
		clear(b.writings)
	}
	under.keep()
	b.writings[w] = to
	return to
}

// overlay works it out.
func (b *residues) overlay(under, over *residue, alone bool, n *numbers) *residue {
	if under.within(over) {
		return over
	}
	r := &residue{planes: under.fresh()}
	r.planes.paint(new(loss), over.written())
	if r.sum(); r.n == over.n && r.charge == over.charge { // nothing of under is left
		return over
	}
	to, met := r, b.recall.came(r.hash)
	if alone && b.recall.off && r.other == 0 {
		r.serial, r.loose, r.all = n.next(), true, r.bytes
	} else {
		to = b.remember(r, n)
	}
	b.recall.note(met || to != r)
	return to
}

// rewrite has over written on r in place, as r may be (see mayTake), for all devices that have
// it, and returns what they have then: r or over, which counts them.
func (b *residues) rewrite(r, over *residue) *residue {
	r.repaint(over)
	b.recall.note(b.recall.came(r.hash))
	if r.n != over.n {
		return r
	}
	over.users += r.users // nothing of what was there is left
	return over
}

// scattered reports whether residues hardly ever come again, so that devices alone with one
// change it in place.
func (b *residues) scattered() bool { return b.recall.off }

// doubt has b take it that residues hardly ever come again, as after dispatches in random order.
// It is for tests.
func (b *residues) doubt() { b.recall = recall{off: true, vain: patience} }

// remember returns the residue that is equal to r, r itself if none is known.
func (b *residues) remember(r *residue, n *numbers) *residue {
	if r.charge == math.MaxUint64 {
		return r // it is refused
	}
	r.hash = r.digest()
	if known := b.known.find(r.hash, r.equal); known != nil {
		return known
	}
	if b.known.len() >= maxResidues {
		b.known.clear()
	}
	r.serial = n.next()
	b.known.put(r.hash, r)
	r.all = r.bytes
	if r.other > 0 {
		r.all = 0
		for _, c := range r.held() {
			r.all += c.bytes * uint64(c.cores.Len())
			r.core = max(r.core, c.bytes)
		}
	}
	return r
}
