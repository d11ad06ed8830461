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
	several  bool // it ever announced several programs
}

// heralded returns what the frees announced that reach an id which is met now.
func (w *walk) heralded(id device.ID) (l workload) {
	for of, h := range w.heralds {
		if w.known.reaches(of, id) && (l.most == 0 || h.at > l.at) {
			l = workload{at: h.at, most: h.programs, found: 1}
		}
	}
	return l
}

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
	ends := w.known.onlyChip(id)
	if !ends {
		w.heralds[id] = herald{at, 1, w.heralds[id].several}
	}
	for _, u := range w.units.sorted() {
		a := &u.since
		switch reached := w.known.reaches(id, u.id); {
		case !reached && u.id != event.NoDevice && !ends:
			if a.missed == nil {
				a.missed = map[device.ID]bool{}
			}
			a.missed[id] = true
		case !reached:
		case ends:
			w.guessed.ended[id] = w.guessed.ended[id] || a.shown
			a.over = a.over || a.shown
		default:
			w.guessed.inOp[id] = w.guessed.inOp[id] || a.shown || len(a.programs) > 0
			a.programs, a.executions = a.programs[:0], 0
			a.workload = workload{at: at, most: 1, found: 1}
			clear(a.missed)
		}
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
	for _, u := range w.units.sorted() {
		if w.known.reaches(id, u.id) {
			u.since.most++
		}
	}
	return true
}

// divide ends the run of a unit before a node that begins another program. The run is told
// with those that follow, unless it was told already.
func (w *walk) divide(u *unit, at uint64) {
	a, old := &u.since, u.run
	if a.found++; a.found == a.most && len(a.unsettled) > 0 {
		w.known.settles(a.unsettled)
		w.notes.add(noteWorkloadLate, int64(a.unsettled[0]), "")
	}
	u.run = &run{on: u, missed: old.missed, divided: true}
	w.alive = slices.DeleteFunc(w.alive, func(r *run) bool { return r == old })
	if old.open() {
		u.run.before = append(old.before, old)
		old.before = nil
		w.open = slices.DeleteFunc(w.open, func(r *run) bool { return r == old })
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
	a := &r.on.since
	if a.over || a.found >= a.most || w.known.settled[r.first] {
		return false
	}
	if n := len(a.unsettled); n < maxAnnounced && (n == 0 || a.unsettled[n-1] != r.first) {
		a.unsettled = append(a.unsettled, r.first)
	}
	return true
}
