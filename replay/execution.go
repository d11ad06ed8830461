package replay

import (
	"cmp"
	"errors"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Executions of a chip leave the same as its runs, as long as each run is executed before the next one comes. Then
// the session's fleet says it:
//
//	run 1, executed, run 2, executed    along: nothing is dispatched twice
//	run 1, run 2, executed              of its own: nothing shows that run 1 was executed
//
// Once it is of its own it stays so, in the fleet of executions. The programs that were executed until then are
// dispatched there in the order of their last executions, which leaves the same.

// executions follow the programs that chips executed. Nothing shows for many runs whether and when they were
// executed.
type executions struct {
	fleet  *device.Fleet         // executed programs, where they differ from dispatched ones
	strays map[device.ID]Residue // executions on devices that no event had named
}

func newExecutions() executions { return executions{device.NewFleet(), map[device.ID]Residue{}} }

// execute records an execution on some devices. placed returns the content that was executed on a row, nil if it
// is not known.
func (x *executions) execute(on []device.ID, rows *rows, placed func(*row) (*content, error)) error {
	for rest := on; len(rest) > 0; {
		var ids []device.ID
		if ids, rest = distinct(rest); len(ids) == 0 {
			break
		}
		for _, id := range ids {
			if rows.Get(id) == nil {
				stray := x.strays[id]
				stray.Executions, stray.Unknown = stray.Executions+1, stray.Unknown+1
				x.strays[id] = stray
			}
		}
		for _, d := range rows.pick(slices.Values(ids)) {
			if d.activity.execution == nil {
				d.activity.execution = &execution{}
			}
			c, err := placed(d)
			if err == nil {
				err = x.executeOn(d, d.activity.execution, c)
			}
			if err != nil {
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

// executeOn records an execution on the devices of a row.
func (x *executions) executeOn(d *row, on *execution, c *content) error {
	on.row.Executions++
	switch {
	case c == nil:
		on.row.Unknown++
		return nil
	case !c.places():
		return nil
	}
	on.row.CorePeak = max(on.row.CorePeak, c.detail.Core)
	of := &d.activity.dispatches
	first := of.n == 1 && on.upTo == 0
	if !on.own && of.last == c.programs[0] && (first || on.upTo > 0 && of.n-on.upTo <= 1) {
		on.upTo, on.row.Final = of.n, d.dev.Resident()
		on.row.Peak = max(on.row.Peak, on.row.Final)
		return nil
	}
	if err := x.part(d); err != nil {
		return err
	}
	return x.dispatch(d, c.programs[0])
}

// part begins the fleet of executions for the devices of a row, if executions went along with dispatches until
// now.
func (x *executions) part(d *row) error {
	on := d.activity.execution
	if on == nil || on.own {
		return nil
	}
	on.own = true
	type ran struct {
		p *program.Program
		n uint64
	}
	var all []ran
	for p, run := range d.memory.last.all() {
		if p == d.activity.dispatches.last && run.n > on.upTo { // dispatched, and not executed yet
			run.n = d.activity.dispatches.previous
		}
		if run.n > 0 && run.n <= on.upTo {
			all = append(all, ran{p, run.n})
		}
	}
	slices.SortFunc(all, func(a, b ran) int { return cmp.Compare(a.n, b.n) })
	for _, one := range all {
		if err := x.dispatch(d, one.p); err != nil {
			return err
		}
	}
	for _, id := range d.members.List() { // these marks are those of an order that never was
		if dev, err := x.fleet.Device(id); err == nil {
			dev.ResetPeaks()
		}
	}
	return nil
}

// dispatch dispatches a program on the devices of a row in the fleet of executions. Another program with its id is
// not registered there any more.
func (x *executions) dispatch(d *row, p *program.Program) error {
	set, err := d.in(x.fleet, func() l1.Spec { return p.Spec() })
	if err == nil {
		if _, err = x.fleet.Register(p, set); errors.Is(err, device.ErrConflict) {
			x.fleet.UnregisterAll(p.ID())
			_, err = x.fleet.Register(p, set)
		}
	}
	if err == nil {
		err = x.fleet.Dispatch(p.ID(), set)
	}
	return err
}

// follows records that programs are about to be dispatched on the devices of a row. Executions do not go along any
// more if the last dispatch was not executed, or if the programs are several.
func (x *executions) follows(d *row, programs int) error {
	if on := d.activity.execution; on != nil && !on.own && (programs != 1 || d.activity.dispatches.n > on.upTo) {
		return x.part(d)
	}
	return nil
}

// differs records that the devices of a row hold something else than the last dispatches left.
func (x *executions) differs(d *row) error {
	d.activity.dispatches.n += 2 // no first execution goes along with it
	return x.part(d)
}

// on returns the executions of a device, nil if it has none. A source without ids has only dispatches.
func (x *executions) on(d *row, id device.ID) *Residue {
	stray, strayed := x.strays[id]
	if log := d.activity.log; !d.id.OK || d.activity.execution == nil && !strayed {
		if log.Executions == 0 {
			return nil
		}
		return &log
	}
	if on := d.activity.execution; on != nil {
		of := on.row
		if dev, err := x.fleet.Device(id); err == nil {
			of.Peak, of.Final = max(of.Peak, dev.Totals().Peak.Resident), dev.Resident()
		}
		of.Executions, of.Unknown = of.Executions+stray.Executions, of.Unknown+stray.Unknown
		return &of
	}
	return &stray
}
