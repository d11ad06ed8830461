package residue

import (
	"slices"

	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// PiecesOf returns the pieces that a dispatch of a program leaves on a device that
// held nothing: not nil, and disjoint within a kind. Each call makes new writers.
func PiecesOf(p *program.Program, n *lookup.Numbers) []Piece {
	most := 0
	for kind := program.CircularBuffer; kind <= program.Scratchpad; kind++ {
		most += p.Occupied(kind).NumGroups()
	}
	out, writers := make([]Piece, 0, most), make([]writer, 0, most)
	add := func(kind program.Kind, cores l1.CoreSet, g program.Group, number int) {
		w := writer{p, kind, int32(number), n.Of(n.Next()), g.Bytes(), 0}
		if last := g.NumRanges() - 1; last >= 0 {
			w.end = g.Range(last).End
		}
		writers = append(writers, w)
		out = append(out, Piece{&writers[len(writers)-1], cores})
	}
	for kind := program.CircularBuffer; kind <= program.Scratchpad; kind++ {
		rest := p.Named(kind) // cores whose configuration is written with no bytes
		f := p.Occupied(kind)
		for i := range f.NumGroups() {
			g := f.Group(i)
			add(kind, g.Cores(), g, i)
			rest = rest.Minus(g.Cores())
		}
		if !rest.IsEmpty() {
			add(kind, rest, program.Group{}, -1)
		}
	}
	return out
}

// Larger returns, for each core that one of two programs writes, the piece with most
// bytes there, the second of equals. It writes into the first pieces.
func Larger(out, second []Piece) []Piece {
	for _, w := range second {
		for i := range out {
			o := &out[i]
			switch shared := o.Cores.Intersect(w.Cores); {
			case o.Kind != w.Kind, shared.IsEmpty():
			case o.bytes > w.bytes:
				w.Cores = w.Cores.Minus(shared)
			default:
				o.Cores = o.Cores.Minus(shared)
			}
		}
		out = slices.DeleteFunc(out, func(o Piece) bool { return o.Cores.IsEmpty() })
		if !w.Cores.IsEmpty() {
			out = append(out, w)
		}
	}
	return out
}
