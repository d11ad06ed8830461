package capture

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/program"
)

// An announcement is the latest frees of circular buffers, back to back, that name one id. Each announces one program on
// all units that the id reaches.
type announcement struct {
	by       device.ID
	at       uint64 // counter of the first of them
	programs int    // one for each free; 0 = there was none
}

// A workload is the programs that an announcement is about on one unit. The capture shows them one after the other.
type workload struct {
	of    *announcement // nil = no free announced any
	at    uint64        // counter of the free, the first of several
	found int           // distinct programs so far
	shown bool          // something was placed since
	over  bool          // a program of the unit ended: what follows is none of these

	unsettled []uint64 // first nodes of runs that were written as perhaps several programs
}

// most returns how many programs were announced at most.
func (l *workload) most() int {
	if l.of == nil {
		return 0
	}
	return l.of.programs
}

// divides reports whether a node begins another program than the run so far: it shares bytes of a core with
// it, or repeats its first buffer.
func (l *workload) divides(run []program.CB, next program.CB) bool {
	if l.over || l.found >= l.most() || len(run) == 0 {
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

// maxAnnounced bounds how many programs are remembered behind one free. Of more the last
// one stands for the rest.
const maxAnnounced = 1 << 12

// announced are the programs that a unit began to run since the last free that announced some there. Its
// chips execute them until the next such free.
type announced struct {
	programs   []firstRun
	executions int // of these: the k-th is of the k-th program
	workload
}

// now returns what a unit began to run since the last free that announced programs there. Units look for that free when
// something happens on them, so that a free costs nothing for the others.
func (u *unit) now() *announced {
	for _, f := range u.frees {
		if f.programs > 0 && (u.since.of == nil || f.at > u.since.at) {
			u.since = announced{programs: u.since.programs[:0], workload: workload{of: f, at: f.at, found: 1}}
		}
	}
	return &u.since
}

// A firstRun is a program that began to run, and the counter of its first node.
type firstRun struct {
	program program.ID
	first   uint64
}

// begin records a program. One with the same first node as the last one is the last one,
// which went on.
func (a *announced) begin(what firstRun, inferred bool) {
	n := len(a.programs)
	switch {
	case n > 0 && (!inferred && a.programs[n-1].first == what.first || n == maxAnnounced):
		a.programs[n-1] = what
	default:
		a.programs = append(a.programs, what)
	}
}

// next returns the program of the next execution, a node. It is not known where nothing
// began.
func (a *announced) next() (id program.ID, known bool) {
	n := len(a.programs)
	if n == 0 {
		return 0, false
	}
	if a.executions < n {
		a.executions++
	}
	return a.programs[a.executions-1].program, true
}
