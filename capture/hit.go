package capture

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/program"
)

// maxOperations bounds how many operations are remembered. Beyond it all are forgotten
// and found anew.
const maxOperations = 1 << 16

// maxCandidates is how many different programs of one operation are remembered for a
// unit, the latest ones: one more than replay judges, so that it sees that there are more.
const maxCandidates = 65

// hits remember what each operation ran: an operation that finds its program in the
// cache shows no circular buffers.
type hits map[operation][]*remembered

// remembered is what an operation ran on one unit. The names of functions and the text of
// arguments may stand for several programs: the last one that ran is the last here.
type remembered struct {
	id         device.ID
	candidates []candidate // different ones; at least one
}

// A candidate is a program that an operation ran, and where the capture shows it last.
type candidate struct {
	program         program.ID
	cbFirst, cbLast uint64
	runs            int
}

// remember takes in that an operation ran a program on a unit. was is what the same run
// was before it went on, if it did.
func (h hits) remember(key operation, id device.ID, what candidate, was event.Opt[program.ID]) {
	if len(h) >= maxOperations && h[key] == nil {
		clear(h)
	}
	list := h[key]
	i := slices.IndexFunc(list, func(old *remembered) bool { return old.id == id })
	if i < 0 {
		i = len(list)
		h[key] = append(list, &remembered{id: id})
	}
	h[key][i].add(what, was)
}

func (r *remembered) add(what candidate, was event.Opt[program.ID]) {
	of := func(id program.ID) int {
		return slices.IndexFunc(r.candidates, func(c candidate) bool { return c.program == id })
	}
	if i := of(was.V); was.OK && i >= 0 {
		if r.candidates[i].runs--; r.candidates[i].runs == 0 {
			r.candidates = slices.Delete(r.candidates, i, i+1)
		}
	}
	what.runs = 1
	if i := of(what.program); i >= 0 {
		what.runs += r.candidates[i].runs
		r.candidates = slices.Delete(r.candidates, i, i+1)
	}
	if r.candidates = append(r.candidates, what); len(r.candidates) > maxCandidates {
		r.candidates = slices.Delete(r.candidates, 0, 1)
	}
}

// last returns the program that ran last, and the others by id.
func (r *remembered) last() (last candidate, others []program.ID) {
	n := len(r.candidates) - 1
	for _, c := range r.candidates[:n] {
		others = append(others, c.program)
	}
	slices.Sort(others)
	return r.candidates[n], others
}

// A freeing is a circular_buffer_deallocate_all that nothing followed yet.
type freeing struct {
	counter  uint64
	device   device.ID
	depth    int // of functions
	cacheHit event.Opt[bool]
	inOp     bool // it belongs to an operation, and is not the end of a program
	settled  bool // what it stands for is known
}

// frees takes in that a free was read.
func (w *walk) frees(n *Node, id device.ID) {
	inner := w.functions.inner()
	w.freeing = &freeing{counter: n.Counter, device: id, depth: w.functions.depth()}
	if inner == nil {
		return
	}
	w.freeing.cacheHit = inner.cacheHit
	if w.known.onlyChip(id) {
		return
	}
	w.freeing.inOp = true
	if id != event.NoDevice && !w.known.isMesh(id) {
		w.guessed.inOp[id] = true
	}
}

// guesses are ids of which nothing was known when something was decided by them: if
// they turn out to be a chip's or a mesh's, the decision was another one.
type guesses struct {
	inOp  map[device.ID]bool // a free with the id was taken for one of an operation
	reach map[device.ID]bool // a free with the id was taken to reach all that the operation ran on
}

// wrong reports whether that a mesh has a chip makes a decision wrong.
func (g *guesses) wrong(mesh, chip device.ID, known *learnt) bool {
	return g.reach[mesh] || g.reach[chip] || g.inOp[chip] && !known.isMesh(chip)
}

// ownFree returns the free that nothing followed yet, if it is of the innermost
// function and not settled.
func (w *walk) ownFree() *freeing {
	f, inner := w.freeing, w.functions.inner()
	if f == nil || inner == nil || f.depth != w.functions.depth() || f.settled || f.counter < inner.start {
		return nil
	}
	return f
}

// hit looks at the innermost function, which ends or goes on to its next program: if it
// freed and placed nothing since, or says so, its program came from the cache.
func (w *walk) hit(at uint64) {
	c, f := w.functions.inner(), w.ownFree()
	says := c.cacheHit.OK && c.cacheHit.V
	switch {
	case f != nil && (says || !c.cacheHit.OK && f.inOp):
	case f == nil && says && !c.placed:
	default:
		return
	}
	start := c.start
	if f != nil {
		if f.settled = true; !says {
			start = f.counter
		}
	}
	known := w.infer(w.functions.operation(), f, start, at)
	c.placed = true
	switch {
	case known:
		w.notes.add(noteInferred, int64(start), c.name)
	case says:
		w.hidden.add(hiddenCacheHit, int64(c.start), c.name)
	default:
		f.settled = false // closeFree counts it
	}
}

// infer tells that what an operation ran when it was there last runs again, or another
// of the programs that it ran, on the units that its free reaches. It reports whether
// anything is known.
func (w *walk) infer(key operation, f *freeing, first, at uint64) bool {
	if w.opt.NoInfer {
		return false
	}
	reached := func(*remembered) bool { return true }
	if f != nil && f.device != event.NoDevice {
		if w.known.isChip[f.device] || w.known.isMesh(f.device) {
			reached = func(r *remembered) bool { return w.known.reaches(f.device, r.id) }
		} else {
			w.guessed.reach[f.device] = true
		}
	}
	var starts []start
	for _, r := range w.hits[key] {
		if !reached(r) {
			continue
		}
		w.settle()
		last, others := r.last()
		starts = append(starts, start{
			startKey{program: last.program, op: key.path, inferred: true, candidates: fmt.Sprint(others)}, w.units.byID[r.id],
			event.RunOn{Device: r.id, First: first, Last: first, CBFirst: last.cbFirst, CBLast: last.cbLast}, others,
		})
	}
	w.start(starts, at)
	return len(starts) > 0
}

// closeFree looks at a free that nothing followed. If its operation found the program
// in the cache, or does not say, the file may not show what L1 holds.
func (w *walk) closeFree() {
	f := w.freeing
	w.freeing = nil
	if f != nil && f.inOp && !f.cacheHit.OK && !f.settled {
		w.hidden.add(hiddenFreeWithoutCBs, int64(f.counter), "")
	}
}
