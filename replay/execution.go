package replay

import (
	"cmp"
	"errors"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// What executions of a chip leave is what its runs leave, as long as each run is executed
// before the next one comes. Then the session's fleet says it:
//
//	run 1, executed, run 2, executed    along: nothing is dispatched twice
//	run 1, run 2, executed              of its own: nothing shows that run 1 was executed
//
// Once it is of its own it stays so, in the fleet r.executed. What was executed until then is
// dispatched there in the order of last executions, which leaves the same.

// An execution is what was executed on the devices of a row.
type execution struct {
	row  Dispatched
	own  bool
	upTo uint64 // while it goes along: the last dispatch that was executed
}

// dispatches count what was dispatched on the devices of a row.
type dispatches struct {
	n        uint64
	last     *program.Program
	previous uint64 // n of the dispatch of last before that; 0 if there was none
}

// A lastRun is the last run of a program on a device, and which of its dispatches it was.
type lastRun struct {
	ProgramRun
	n    uint64
	name sum128 // of the program and what ran it, whichever node that was
}

// A runName is what runs of a program have in common that differ in their nodes alone.
type runName struct {
	program  *program.Program
	op       Name
	inferred bool
}

func (r *replay) lastRun(p *program.Program, run ProgramRun, n uint64) lastRun {
	if of := (runName{p, run.Op, run.Inferred}); r.ranAs.of != of {
		r.ranAs.of, r.ranAs.name = of, nameOf(r, of)
	}
	return lastRun{run, n, r.ranAs.name}
}

// ran takes in the dispatch of a program, and returns which one it is.
func (d *dispatches) ran(p *program.Program, before uint64) uint64 {
	d.n++
	d.last, d.previous = p, before
	return d.n
}

// execute takes in that chips executed what ran there last: of many runs nothing shows
// whether and when they were executed.
func (r *replay) execute(e *event.Event) error {
	for rest := e.Devices.V; len(rest) > 0; {
		var ids []device.ID
		if ids, rest = distinct(rest); len(ids) == 0 {
			break
		}
		for _, id := range ids {
			if r.rows.Get(id) == nil {
				r.stray(id)
			}
		}
		for _, d := range r.rows.pick(slices.Values(ids)) {
			if d.execution == nil {
				d.execution = &execution{}
			}
			if err := r.executed1(d, d.execution, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// distinct cuts a list before the first id that comes a second time.
func distinct(ids []device.ID) (first, rest []device.ID) {
	if len(ids) == 1 {
		return ids, nil
	}
	seen := map[device.ID]bool{}
	for i, id := range ids {
		if seen[id] {
			return ids[:i], ids[i:]
		}
		seen[id] = true
	}
	return ids, nil
}

// stray counts an execution on a device that nobody has met.
func (r *replay) stray(id device.ID) {
	x := r.strays[id]
	x.Executions, x.Unknown = x.Executions+1, x.Unknown+1
	r.strays[id] = x
}

// executed1 takes in an execution on the devices of a row.
func (r *replay) executed1(d *row, x *execution, e *event.Event) error {
	x.row.Executions++
	def := r.session.programs[e.Program]
	if !e.Known || def == nil || r.session.onGrid(e.Program, d.slot) != nil {
		x.row.Unknown++
		return nil
	}
	c, err := def.apart(placing(d.dev.Spec()))
	if err != nil {
		return r.internal(e, err)
	}
	if !c.places() {
		return nil
	}
	x.row.CorePeak = max(x.row.CorePeak, c.detail.Core)
	of := &d.dispatches
	if first := of.n == 1 && x.upTo == 0; !x.own && of.last == c.programs[0] && (first || x.upTo > 0 && of.n-x.upTo <= 1) {
		x.upTo, x.row.Final = of.n, d.dev.Resident()
		x.row.Peak = max(x.row.Peak, x.row.Final)
		return nil
	}
	if err := r.parts(d, e); err != nil {
		return err
	}
	return r.executeApart(d, c.programs[0], e)
}

// parts begins the fleet of what was executed on the devices of a row, if it went along until
// now: it is to be another one than what was dispatched.
func (r *replay) parts(d *row, e *event.Event) error {
	x := d.execution
	if x == nil || x.own {
		return nil
	}
	x.own = true
	type ran struct {
		p *program.Program
		n uint64
	}
	var all []ran
	for p, run := range d.last.all() {
		if p == d.dispatches.last && run.n > x.upTo { // dispatched, and not executed yet
			run.n = d.dispatches.previous
		}
		if run.n > 0 && run.n <= x.upTo {
			all = append(all, ran{p, run.n})
		}
	}
	slices.SortFunc(all, func(a, b ran) int { return cmp.Compare(a.n, b.n) })
	for _, one := range all {
		if err := r.executeApart(d, one.p, e); err != nil {
			return err
		}
	}
	for _, id := range d.members.List() { // these marks are those of an order that never was
		if dev, err := r.executed.Device(id); err == nil {
			dev.ResetPeaks()
		}
	}
	return nil
}

// executeApart dispatches a program on the devices of a row in the fleet of what was executed. If
// its id was that of another program, that one is registered there no more.
func (r *replay) executeApart(d *row, p *program.Program, e *event.Event) error {
	set, err := d.in(r.executed, func() l1.Spec { return p.Spec() })
	if err == nil {
		if _, err = r.executed.Register(p, set); errors.Is(err, device.ErrConflict) {
			r.executed.UnregisterAll(p.ID())
			_, err = r.executed.Register(p, set)
		}
	}
	if err == nil {
		err = r.executed.Dispatch(p.ID(), set)
	}
	if err != nil {
		return r.tooMuch(e, err)
	}
	return nil
}

// follows takes in that programs are about to be dispatched on the devices of a row: what is
// executed there goes along no more if the last ones were not, or if these are several.
func (r *replay) follows(d *row, programs int, e *event.Event) error {
	if x := d.execution; x != nil && !x.own && (programs != 1 || d.dispatches.n > x.upTo) {
		return r.parts(d, e)
	}
	return nil
}

// differs takes in that what lies on the devices of a row is not what was dispatched there.
func (r *replay) differs(d *row, e *event.Event) error {
	d.dispatches.n += 2 // no first execution goes along with it
	return r.parts(d, e)
}

// dispatchedOn returns what was executed on a device, nil if nothing was.
func (r *replay) dispatchedOn(d *row, id device.ID) *Dispatched {
	row, strayed := r.strays[id]
	if x := d.execution; x != nil {
		of := x.row
		if dev, err := r.executed.Device(id); err == nil {
			of.Peak, of.Final = max(of.Peak, dev.Totals().Peak.Resident), dev.Resident()
		}
		of.Executions, of.Unknown = of.Executions+row.Executions, of.Unknown+row.Unknown
		return &of
	}
	if !strayed {
		return nil
	}
	return &row
}
