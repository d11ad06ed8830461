package residue

import (
	"slices"

	"github.com/cbl1/cbl1/device/internal/audit"
	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Counts are residues that were counted anew, from the programs that were dispatched, core by core.
type Counts map[*Residue]residueCount

// A residueCount is what a residue holds.
type residueCount struct {
	Bytes uint64 // of circular buffers
	Other uint64 // of dataflow buffers and scratchpads
	all   uint64 // of all kinds, each byte once
	Core  uint64 // of all kinds, on the fullest core
}

// CheckKnown verifies that nothing that others know is changed in place.
func (b *Book) CheckKnown(t *audit.Audit) {
	for _, r := range b.known.All() {
		r.CheckKept(t)
	}
	for w, to := range b.writings {
		w.under.CheckKept(t)
		to.CheckKept(t)
	}
}

// CheckKept verifies that r, which others know, is not changed in place.
func (r *Residue) CheckKept(t *audit.Audit) {
	t.Once("number of times that a known residue stays as it is", r == nil || !r.loose)
}

// Count counts what dispatches left, and holds what is kept for it against that.
func (all Counts) Count(t *audit.Audit, r *Residue) (out residueCount) {
	if r == nil {
		return out
	}
	if known, ok := all[r]; ok {
		return known
	}
	if checkPlanes(t, r.planes); t.Err != nil { // they have no pieces
		return out
	}
	h := out.countPieces(t, r)
	end := out.countCells(t, r)
	audit.Same(t, "device resident", r.bytes, out.Bytes)
	audit.Same(t, "device resident dataflow buffers and scratchpads", r.other, out.Other)
	audit.Same(t, "device resident, of all kinds", r.all, out.all)
	audit.Same(t, "device resident, on the fullest core", r.core, out.Core)
	audit.Same(t, "end of what is resident", r.End, end)
	audit.Same(t, "charge of what is resident", r.charge, out.Bytes+out.Other)
	audit.Same(t, "hash of what is resident", r.hash, h)
	all[r] = out
	return out
}

// countPieces counts the programs of a residue, by kind, and returns their hash.
func (out *residueCount) countPieces(t *audit.Audit, r *Residue) (h lookup.Hash) {
	cores := 0
	for _, w := range r.Written() {
		for core := range w.Cores.All() {
			if r.loose {
				h += w.hash
			} else {
				h += w.hash * hashOfColumn(core.X) * hashOfRow(core.Y)
			}
			cores++
			bytes := uint64(0)
			if g, ok := w.Program.Occupied(w.Kind).On(core); ok {
				bytes = g.Bytes()
			}
			if w.Kind == program.CircularBuffer {
				out.Bytes += bytes
			} else {
				out.Other += bytes
			}
			audit.Same(t, "device resident, bytes of a program on a core", w.Group.Bytes(), bytes)
		}
	}
	audit.Same(t, "cores that were written", r.n, cores)
	return h
}

// checkPlanes verifies the form of planes.
func checkPlanes(t *audit.Audit, all planes) {
	for kind := range all {
		p := &all[kind]
		claimed := make([]int, len(p.claims)+1) // by number; 0 is nobody
		for _, b := range p.blocks {
			columns := 0 // to the last one that was written
			for at, number := range b.last {
				if int(number) >= len(claimed) {
					t.Differs("number of a writer, at most", uint64(number), uint64(len(p.claims)))
					return
				}
				if claimed[number]++; number > 0 {
					columns = at/16 + 1
				}
			}
			audit.Same(t, "columns of a block of cores, x 16,", len(b.last), 16*columns)
		}
		for i, c := range p.claims {
			audit.Same(t, "cores of a resident program", c.cores, claimed[i+1])
			if claimed[i+1] > 0 {
				audit.Same(t, "kind of a resident program", int(c.Kind), kind)
			}
		}
	}
}

// countCells counts the bytes of a residue core by core, each once, and returns the
// highest end.
func (out *residueCount) countCells(t *audit.Audit, r *Residue) (end uint64) {
	union, cells := map[l1.Core][]l1.Range{}, l1.CoreSet{}
	Paint(union, r)
	for core, ranges := range union {
		union[core] = l1.Merge(ranges)
		out.all += Length(union[core])
		out.Core = max(out.Core, Length(union[core]))
		end = max(end, union[core][len(union[core])-1].End)
	}
	for _, cell := range r.cells {
		cells = cells.Union(cell.Cores)
		t.Subject = cell.Cores
		for core := range cell.Cores.All() {
			t.Ranges("a resident range", cell.Ranges, union[core])
		}
		audit.Same(t, "resident bytes of some cores", cell.Bytes, Length(cell.Ranges))
	}
	t.Subject = nil
	if r.cells != nil {
		audit.Same(t, "cores with something resident", cells.Len(), len(union))
	}
	return end
}

// Paint adds the ranges that dispatches left on each core that has any.
func Paint(on map[l1.Core][]l1.Range, r *Residue) {
	if r == nil {
		return
	}
	for _, w := range r.Written() {
		for core := range w.Cores.All() {
			if g, ok := w.Program.Occupied(w.Kind).On(core); ok {
				on[core] = slices.AppendSeq(on[core], g.Ranges())
			}
		}
	}
}

// Length returns the sum of the lengths of ranges, in bytes.
func Length(ranges []l1.Range) (sum uint64) {
	for _, r := range ranges {
		sum += r.Len()
	}
	return sum
}
