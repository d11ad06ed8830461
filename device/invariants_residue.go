package device

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// residueCounts are residues that were counted anew, from the programs that were dispatched, core by core.
type residueCounts map[*residue]residueCount

// A residueCount is what a residue holds.
type residueCount struct {
	bytes uint64 // of circular buffers
	other uint64 // of dataflow buffers and scratchpads
	all   uint64 // of all kinds, each byte once
	core  uint64 // of all kinds, on the fullest core
}

// checkKnown verifies that nothing that others know is changed in place.
func (b *residues) checkKnown(t *audit) {
	for _, r := range b.known.all() {
		r.checkKept(t)
	}
	for w, to := range b.writings {
		w.under.checkKept(t)
		to.checkKept(t)
	}
}

// checkKept verifies that r, which others know, is not changed in place.
func (r *residue) checkKept(t *audit) {
	t.once("number of times that a known residue stays as it is", r == nil || !r.loose)
}

// count counts what dispatches left, and holds what is kept for it against that.
func (all residueCounts) count(t *audit, r *residue) (out residueCount) {
	if r == nil {
		return out
	}
	if known, ok := all[r]; ok {
		return known
	}
	if checkPlanes(t, r.planes); t.err != nil { // they have no pieces
		return out
	}
	h := out.countPieces(t, r)
	end := out.countCells(t, r)
	same(t, "device resident", r.bytes, out.bytes)
	same(t, "device resident dataflow buffers and scratchpads", r.other, out.other)
	same(t, "device resident, of all kinds", r.all, out.all)
	same(t, "device resident, on the fullest core", r.core, out.core)
	same(t, "end of what is resident", r.end, end)
	same(t, "charge of what is resident", r.charge, out.bytes+out.other)
	same(t, "hash of what is resident", r.hash, h)
	all[r] = out
	return out
}

// countPieces counts the programs of a residue, by kind, and returns their hash.
func (out *residueCount) countPieces(t *audit, r *residue) (h hash) {
	cores := 0
	for _, w := range r.written() {
		for core := range w.cores.All() {
			if r.loose {
				h += w.hash
			} else {
				h += w.hash * hashOfColumn(core.X) * hashOfRow(core.Y)
			}
			cores++
			bytes := uint64(0)
			if g, ok := w.program.Occupied(w.kind).On(core); ok {
				bytes = g.Bytes()
			}
			if w.kind == program.CircularBuffer {
				out.bytes += bytes
			} else {
				out.other += bytes
			}
			same(t, "device resident, bytes of a program on a core", w.group.Bytes(), bytes)
		}
	}
	same(t, "cores that were written", r.n, cores)
	return h
}

// checkPlanes verifies the form of planes.
func checkPlanes(t *audit, all planes) {
	for kind := range all {
		p := &all[kind]
		claimed := make([]int, len(p.claims)+1) // by number; 0 is nobody
		for _, b := range p.blocks {
			columns := 0 // to the last one that was written
			for at, number := range b.last {
				if int(number) >= len(claimed) {
					t.differs("number of a writer, at most", uint64(number), uint64(len(p.claims)))
					return
				}
				if claimed[number]++; number > 0 {
					columns = at/16 + 1
				}
			}
			same(t, "columns of a block of cores, x 16,", len(b.last), 16*columns)
		}
		for i, c := range p.claims {
			same(t, "cores of a resident program", c.cores, claimed[i+1])
			if claimed[i+1] > 0 {
				same(t, "kind of a resident program", int(c.kind), kind)
			}
		}
	}
}

// countCells counts the bytes of a residue core by core, each once, and returns the
// highest end.
func (out *residueCount) countCells(t *audit, r *residue) (end uint64) {
	union, cells := map[l1.Core][]l1.Range{}, l1.CoreSet{}
	paintResidue(union, r)
	for core, ranges := range union {
		union[core] = l1.Merge(ranges)
		out.all += length(union[core])
		out.core = max(out.core, length(union[core]))
		end = max(end, union[core][len(union[core])-1].End)
	}
	for _, cell := range r.cells {
		cells = cells.Union(cell.cores)
		t.subject = cell.cores
		for core := range cell.cores.All() {
			t.ranges("a resident range", cell.ranges, union[core])
		}
		same(t, "resident bytes of some cores", cell.bytes, length(cell.ranges))
	}
	t.subject = nil
	if r.cells != nil {
		same(t, "cores with something resident", cells.Len(), len(union))
	}
	return end
}

// paintResidue adds the ranges that dispatches left on each core that has any.
func paintResidue(on map[l1.Core][]l1.Range, r *residue) {
	if r == nil {
		return
	}
	for _, w := range r.written() {
		for core := range w.cores.All() {
			if g, ok := w.program.Occupied(w.kind).On(core); ok {
				on[core] = slices.AppendSeq(on[core], g.Ranges())
			}
		}
	}
}

// length returns the sum of the lengths of ranges, in bytes.
func length(ranges []l1.Range) (sum uint64) {
	for _, r := range ranges {
		sum += r.Len()
	}
	return sum
}
