package replay

import (
	"maps"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/program"
)

// A log of months takes the memory of what it names at once: now and then the replay forgets
// what nobody can ask about any more. No answer depends on when that is.
//
//	programs   until they are defined anew, registered nowhere and in no trace; what checks
//	           have found of them goes with them
//	last runs  until their program is forgotten, and lies neither in L1 nor in the highest peak
//	rows       what a row of a program says, until the id is registered as another one

// patience is how much has to come before anything is looked through.
const patience = 256

// forgetting counts what came since the replay looked through what it remembers.
type forgetting struct {
	patience int
	programs turn // contents and last runs
	rows     turn // that were replaced
}

// A turn comes when as much is new as was looked at the last time: looking costs no more than
// what came.
type turn struct{ came, looked int }

func (t turn) comes(patience int) bool { return t.came > patience+t.looked }

// forget drops what nobody can ask about after the event at hand.
func (r *replay) forget() {
	f := &r.forgets
	if f.programs.comes(f.patience) {
		f.programs = turn{looked: r.forgetPrograms()}
	}
	if f.rows.comes(f.patience) {
		f.rows = turn{looked: r.forgetRows()}
	}
}

// forgetPrograms drops the contents and last runs of programs that no event can name any
// more. It returns how many it looked at.
func (r *replay) forgetPrograms() (looked int) {
	named, looked := r.namedPrograms()
	gone := map[*content]bool{}
	for p, c := range r.contents {
		if !named[p] {
			gone[c] = true
			delete(r.contents, p)
		}
	}
	for _, d := range r.rows.All() {
		looked += d.forgetRuns(named)
	}
	looked += forgetAnswers(r.checks.known, gone) + forgetAnswers(r.checks.fits, gone) + forgetAnswers(r.rooms.known, gone)
	return looked + len(r.contents)
}

// forgetAnswers drops what was found of contents that are gone, and returns what is left.
func forgetAnswers[V any](known map[checkKey]V, gone map[*content]bool) int {
	maps.DeleteFunc(known, func(key checkKey, _ V) bool { return gone[key.content] })
	return len(known)
}

// namedPrograms are those that an event may name: as they are defined now, as they are
// registered, and as a trace has recorded them. It returns how many names it looked at.
func (r *replay) namedPrograms() (out map[*program.Program]bool, looked int) {
	out = map[*program.Program]bool{}
	for _, def := range r.session.programs {
		for _, p := range def.whole {
			out[p] = true
		}
		for _, c := range def.parts {
			for _, p := range c.programs {
				out[p] = true
			}
		}
	}
	for p := range r.session.fleet.Programs() {
		out[p] = true
	}
	looked = len(out)
	for _, recorded := range r.traces {
		for _, p := range recorded {
			out[p] = true
		}
		looked += len(recorded)
	}
	return out, looked
}

// forgetRuns drops the last runs of programs that nobody can name and that lie nowhere. It
// returns how many things it looked at.
func (d *row) forgetRuns(named map[*program.Program]bool) (looked int) {
	looked = 1 + d.last.len()
	if d.execution != nil && !d.execution.own {
		return looked // the order of all dispatches may be asked for
	}
	var gone []*program.Program
	for p := range d.last.all() {
		if !named[p] {
			gone = append(gone, p)
		}
	}
	if len(gone) == 0 {
		return looked
	}
	there := map[*program.Program]bool{}
	see := func(g device.UsageGroup) {
		for held := range g.Residents() {
			there[held.Program] = true
			looked++
		}
	}
	for g := range d.dev.UsageGroups(device.BasisResident) {
		see(g)
	}
	for _, w := range []*pending{d.pending, d.after} {
		if w == nil {
			continue
		}
		for g := range w.moment.UsageGroups() {
			see(g)
		}
	}
	for _, p := range gone {
		if there[p] {
			continue
		}
		d.last.delete(p)
		for _, w := range []*pending{d.pending, d.after} {
			if w != nil {
				w.last.delete(p)
			}
		}
	}
	return looked
}

// forgetRows drops what no row of a program says any more. It returns how many rows there are.
func (r *replay) forgetRows() (looked int) {
	says, takes := make([]bool, len(r.common.says.list)), make([]bool, len(r.common.takes.list))
	for _, d := range r.rows.All() {
		looked += d.figures.ProgramsDetail.use(says, takes)
	}
	r.common.says.keep(says)
	r.common.takes.keep(takes)
	return looked
}
