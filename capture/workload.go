package capture

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/program"
)

// A workload is what a free announced on one unit: as many programs as it came times, of
// which the capture shows one after the other.
type workload struct {
	at    uint64 // counter of the free, the first of several
	most  int    // at most so many; 0 = no free announced any
	found int    // programs so far that are told apart
	shown bool   // something was placed since
	over  bool   // a program of the unit ended: what follows is none of these

	unsettled []uint64 // first nodes of runs that were told as perhaps several programs
}

// divides reports whether a node begins another program than that of the run so far: it
// shares bytes of a core with it, or repeats its first buffer.
func (l *workload) divides(run []program.CB, next program.CB) bool {
	if l.over || l.found >= l.most || len(run) == 0 {
		return false
	}
	return sameCB(run[0], next) || slices.ContainsFunc(run, func(cb program.CB) bool { return shareBytes(cb, next) })
}

func sameCB(a, b program.CB) bool {
	return a.Kind == b.Kind && a.Global == b.Global && a.Address == b.Address && a.Size == b.Size && a.Cores.Equal(b.Cores)
}

// shareBytes reports whether two buffers with recorded addresses have a byte of a core in
// common.
func shareBytes(a, b program.CB) bool {
	if !a.Fixed || !b.Fixed || a.Global || b.Global || max(a.Address, b.Address) >= min(a.Address+a.Size, b.Address+b.Size) {
		return false
	}
	return !a.Cores.Cores().Intersect(b.Cores.Cores()).IsEmpty()
}

// A herald is the frees with one id. They announce programs also on units that are met
// later.
type herald struct {
	at       uint64 // of the last ones
	programs int
	several  bool    // it ever announced several programs
	all      stretch // from the first one
}

// heralded returns what the frees announced that reach an id which is met now.
func (w *walk) heralded(id device.ID) (l workload) {
	for of := range w.known.above(id) {
		if h, ok := w.heralds[of]; ok && (l.most == 0 || h.at > l.at) {
			l = workload{at: h.at, most: h.programs, found: 1}
		}
	}
	return l
}

// wake returns what a unit began to run since the last free that announced programs there.
// Units that sleep began nothing since then: what was announced to them is found when they
// wake, so that a free costs nothing for them.
func (w *walk) wake(u *unit) *announced {
	if u.awake == 0 {
		u.since.workload = w.heralded(u.id)
		w.awake = append(w.awake, u)
		u.awake = len(w.awake)
	}
	return &u.since
}

// sleep ends what a unit began.
func (w *walk) sleep(u *unit) {
	last := w.awake[len(w.awake)-1]
	w.awake[u.awake-1], last.awake = last, u.awake
	w.awake = w.awake[:len(w.awake)-1]
	u.awake, u.since.programs, u.since.executions, u.since.workload = 0, u.since.programs[:0], 0, workload{}
}

func isAwake(u *unit) bool { return u.awake > 0 }

// severalAtOnce reports whether any frees announced several programs.
func (w *walk) severalAtOnce() bool {
	for _, h := range w.heralds {
		if h.several {
			return true
		}
	}
	return false
}

// announce takes in a free with an id: programs follow on the units that it reaches,
// unless it is the end of a program.
func (w *walk) announce(id device.ID, at uint64) {
	reached := w.units.among(w.awake, id, isAwake)
	if w.known.onlyChip(id) {
		for _, u := range reached {
			w.guessed.ended[id] = w.guessed.ended[id] || u.since.shown
			u.since.over = u.since.over || u.since.shown
		}
		return
	}
	h := w.heralds[id]
	h.at, h.programs = at, 1
	h.all.grow(at)
	w.heralds[id] = h
	for _, u := range reached {
		w.guessed.inOp[id] = w.guessed.inOp[id] || u.since.shown || len(u.since.programs) > 0
		w.sleep(u)
	}
}

// repeats takes in a free that repeats the node before it, and reports whether it is one:
// of a workload of several programs all frees come first.
func (w *walk) repeats(n *node, id device.ID) bool {
	f := w.freeing
	if f == nil || f.device != id || f.last+1 != n.Counter {
		return false
	}
	if w.known.onlyChip(id) {
		w.guessed.ended[id] = true
		return false
	}
	w.guessed.inOp[id] = true
	f.last = n.Counter
	h := w.heralds[id]
	h.programs, h.several = h.programs+1, true
	w.heralds[id] = h
	for _, u := range w.units.among(w.awake, id, isAwake) {
		u.since.most++
	}
	return true
}

// divide ends the run of a unit before a node that begins another program. The run is told
// with those that follow, unless it was told already.
func (w *walk) divide(u *unit, at uint64) {
	a, old := w.wake(u), u.run
	if a.found++; a.found == a.most && len(a.unsettled) > 0 {
		w.known.settles(a.unsettled)
		w.notes.add(noteWorkloadLate, int64(a.unsettled[0]), "")
	}
	u.run = &run{on: u, divided: true}
	if old.open() {
		u.run.before = append(old.before, old)
		old.before = nil
		w.open.remove(old)
		return
	}
	w.tell(&event.Event{
		Kind: event.KindCBsFreed, Node: at, Op: event.Some(w.functions.path()), Devices: event.Some([]device.ID{u.id}),
	})
}

// parts returns the programs that a run stands for. Those of its workload that were not
// told yet come first.
func (r *run) parts() []*run {
	all := append(slices.Clip(r.before), r)
	r.before = nil
	return all
}

// unsettles reports whether a run that is told now may be several programs. It comes too
// late for this reading if the capture shows afterwards that it is one.
func (w *walk) unsettles(r *run) bool {
	a := w.wake(r.on)
	if a.over || a.found >= a.most || w.known.settled[r.first] {
		return false
	}
	if n := len(a.unsettled); n < maxAnnounced && (n == 0 || a.unsettled[n-1] != r.first) {
		a.unsettled = append(a.unsettled, r.first)
	}
	return true
}
