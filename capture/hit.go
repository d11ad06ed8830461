package capture

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/program"
)

// maxOperations bounds how many operations are remembered. Beyond it all are forgotten
// and found anew.
const maxOperations = 1 << 16

// hits remember what each operation ran when it was there last: an operation that finds
// its program in the cache shows no circular buffers.
type hits map[operation][]workloadRan

// workloadRan is what an operation ran on one unit behind one free.
type workloadRan struct {
	id       device.ID
	behind   uint64 // counter of the free
	free     bool   // there is one
	programs []remembered
}

// remembered is a program that ran, and where the capture shows that.
type remembered struct {
	program         program.ID
	first           uint64 // counters of its nodes
	cbFirst, cbLast uint64
	unsettled       bool // it may be several programs
}

// remember takes in a run: another program behind the same free, one of them that went on,
// or what the operation ran anew.
func (h hits) remember(r *run, what remembered) {
	if len(h) >= maxOperations && h[r.key] == nil {
		clear(h)
	}
	l := &r.on.since.workload
	list := h[r.key]
	i := slices.IndexFunc(list, func(old workloadRan) bool { return old.id == r.on.id })
	if i < 0 {
		h[r.key] = append(list, workloadRan{r.on.id, l.at, l.most > 0, []remembered{what}})
		return
	}
	old := &list[i]
	if old.free && l.most > 0 && old.behind == l.at {
		if k := slices.IndexFunc(old.programs, func(o remembered) bool { return o.first == what.first }); k >= 0 {
			old.programs[k] = what
			return
		}
		if r.divided && len(old.programs) < maxAnnounced {
			old.programs = append(old.programs, what)
			return
		}
	}
	*old = workloadRan{r.on.id, l.at, l.most > 0, []remembered{what}}
}

// A freeing is a circular_buffer_deallocate_all that nothing followed yet.
type freeing struct {
	counter  uint64
	last     uint64 // of several back to back
	device   device.ID
	name     string // of the innermost function
	start    uint64 // its counter
	depth    int    // of functions
	cacheHit event.Opt[bool]
	inOp     bool // it belongs to an operation, and is not the end of a program
	settled  bool // what it stands for is known
}

// frees takes in that a free was read.
func (w *walk) frees(n *node, id device.ID) {
	inner := w.functions.inner()
	w.freeing = &freeing{counter: n.Counter, last: n.Counter, device: id, depth: w.functions.depth()}
	if inner == nil {
		return
	}
	w.freeing.cacheHit, w.freeing.name, w.freeing.start = inner.cacheHit, inner.name, inner.start
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
	ended map[device.ID]bool // a free with the id was taken for the end of a program of that chip
	alone map[device.ID]bool // an execution of the chip was taken to be shown under no mesh
}

func newGuesses() guesses {
	return guesses{map[device.ID]bool{}, map[device.ID]bool{}, map[device.ID]bool{}, map[device.ID]bool{}}
}

// wrong reports whether that a mesh has a chip makes a decision wrong.
func (g *guesses) wrong(mesh, chip device.ID, known *learnt) bool {
	return g.reach[mesh] || g.reach[chip] || g.inOp[chip] && !known.isMesh(chip) || g.ended[mesh] || g.alone[chip]
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

// infer tells that what an operation ran when it was there last runs again, on the
// units that its free reaches. It reports whether anything is known.
func (w *walk) infer(key operation, f *freeing, first, at uint64) bool {
	if w.opt.NoInfer {
		return false
	}
	reached := func(device.ID) bool { return true }
	if f != nil && f.device != event.NoDevice {
		if w.known.isChip[f.device] || w.known.isMesh(f.device) {
			reached = func(id device.ID) bool { return w.known.reaches(f.device, id) }
		} else {
			w.guessed.reach[f.device] = true
		}
	}
	rounds := [][]start{nil}
	for _, of := range w.hits[key] {
		if !reached(of.id) {
			continue
		}
		w.settle()
		for i, r := range of.programs {
			if i == len(rounds) {
				rounds = append(rounds, nil)
			}
			rounds[i] = append(rounds[i], start{
				startKey{program: r.program, op: key.path, inferred: true, unsettled: r.unsettled}, w.units.byID[of.id],
				event.RunOn{Device: of.id, First: first, Last: first, CBFirst: r.cbFirst, CBLast: r.cbLast}, r.first,
			})
		}
	}
	for _, starts := range rounds {
		w.start(starts, at)
	}
	return len(rounds[0]) > 0
}

// closeFree looks at a free that nothing followed. Of an operation that did not find its
// program in the cache it hides what ran, unless the capture turns out to be a plan.
func (w *walk) closeFree() {
	f := w.freeing
	w.freeing = nil
	if f == nil || !f.inOp || f.settled || f.cacheHit.V {
		return
	}
	if !f.cacheHit.OK {
		w.unlessPlan.add(hiddenFreeWithoutCBs, int64(f.counter), "")
	}
	w.notShown(w.unlessPlan, f.name, f.start)
}
