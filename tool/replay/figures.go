package replay

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// named returns the name of a run on a device where the current event has it.
func (d *row) named(c *source.Content, on event.RunDevice, e *event.Event) answer.ProgramRun {
	run := answer.ProgramRun{Row: -1, At: on.First, Op: answer.Name(e.Op.V), Inferred: e.Inferred}
	if !c.Places() {
		return run
	}
	if e.Inferred {
		if i, ok := d.programs.starts.of(d.figures.ProgramsDetail, on.CBFirst); ok {
			run.Row = i
			return run
		}
	}
	if run.Row = d.programs.continued(e); run.Row < 0 {
		run.Row = d.figures.ProgramsDetail.Len()
	}
	return run
}

// alive adds the sizes of a program that becomes alive on a device. The error is device.ErrOverflow if they cannot
// be counted: c.loose is part of c.sizes.
func (d *row) alive(c *source.Content) error {
	p := &d.programs
	if p.sizes > l1.MaxAddr-c.Sizes {
		return device.ErrOverflow
	}
	p.sizes, p.loose = p.sizes+c.Sizes, p.loose+c.Loose
	f := &d.figures
	f.LogicalSizesPeak, f.UnattributedPeak = max(f.LogicalSizesPeak, p.sizes), max(f.UnattributedPeak, p.loose)
	return nil
}

// loggedRun names what an event of a log runs on a device.
func (d *row) loggedRun(p *program.Program, now source.When) answer.ProgramRun {
	run := answer.ProgramRun{Row: -1, At: now.At, T: now.T, Op: now.Op}
	if i, ok := d.programs.detail.Get(p.ID()); ok {
		run.Row = i
	}
	return run
}

// books have what programs placed on devices: rows of programs, and sums.
type books struct {
	ledger    ledger
	notes     notes
	buffers   bool // Options.Buffers
	placed    bool // a program had an address that was made up
	addresses answer.Addresses
}

// register records that a log has registered a program on a device. It has a row there, and is alive until it is
// unregistered.
func (b *books) register(d *row, p *program.Program, c *source.Content, now source.When) error {
	if c.Places() {
		rows := d.figures.ProgramsDetail
		d.programs.starts.disorder(rows)
		detail := c.Detail
		detail.First, detail.Last, detail.T, detail.Op = now.At, now.At, now.T, now.Op
		i, ok := d.programs.detail.Get(p.ID())
		if !ok {
			i = rows.Len()
			d.programs.detail.Set(p.ID(), i)
		}
		b.setRow(d, i, detail, c)
	}
	d.programs.held.Set(p.ID(), c)
	b.counts(d, c, int64(now.At), now.Op)
	err := d.alive(c)
	if err == nil {
		err = b.ledger.live(d, c)
	}
	if err == nil {
		err = b.ledger.register(d, c)
	}
	return err
}

// setRow writes the row of a program, a new one or in the place of another.
func (b *books) setRow(d *row, i int, detail answer.ProgramDetail, c *source.Content) {
	if rows := d.figures.ProgramsDetail; i == rows.Len() {
		rows.Add(detail)
		d.figures.Programs++
	} else {
		rows.Set(i, detail)
	}
	if !b.buffers {
		return
	}
	f := &d.figures
	for len(f.ProgramsBuffers) <= i {
		f.ProgramsBuffers = append(f.ProgramsBuffers, nil)
	}
	f.ProgramsBuffers[i] = c.PlacedBuffers()
}

// unregister records that a log has unregistered a program.
func (b *books) unregister(d *row, id program.ID) error {
	c := d.programs.held.Of(id)
	if c == nil {
		return nil
	}
	d.programs.held.Delete(id)
	d.programs.ended(c)
	return b.ledger.end(d, c)
}

// counts takes what a program places into the row of a device, once for each time that
// it was registered or ran.
func (b *books) counts(d *row, c *source.Content, first int64, op answer.Name) {
	f := &d.figures
	n := c.Nodes[program.CircularBuffer]
	f.CBNodes, f.LocalCBs, f.GlobalCBs = f.CBNodes+n.Local+n.Global, f.LocalCBs+n.Local, f.GlobalCBs+n.Global
	for _, of := range f.Others() {
		n := c.Nodes[of.Kind]
		of.Nodes, of.Local, of.Borrowed = of.Nodes+n.Local+n.Global, of.Local+n.Local, of.Borrowed+n.Global
	}
	b.placed = b.placed || c.From.Placed
	if c.Beyond {
		b.notes.noteAll(answer.CodeBeyondL1, first, string(op), d.members.Len())
	}
	if !c.Places() {
		return
	}
	d.programs.cores = d.programs.cores.Union(c.Cores)
	f.HighestEnd = max(f.HighestEnd, c.Detail.HighestEnd)
	if c.Detail.Overlapping {
		b.notes.noteAll(answer.CodeOverlap, first, string(op), d.members.Len())
	}
	if c.Mixed() && b.ledger.state.Captured {
		b.notes.noteAll(answer.CodeMixedAddresses, first, string(op), d.members.Len())
	}
	b.addresses = b.addresses.With(c.From.Recorded, c.From.Synthesised)
}

// run gives a run its row, or updates the row of a run that goes on. A run outside the grid has a row too, but is
// neither registered nor resident.
func (b *books) run(d *row, c *source.Content, on event.RunDevice, e *event.Event, outside bool) answer.ProgramRun {
	run := d.named(c, on, e)
	if e.Inferred {
		return run
	}
	p := &d.programs
	p.ran = true
	o := &openRun{content: c, row: p.continued(e), on: on, op: answer.Name(on.CBOp.Or(string(run.Op))), outside: outside}
	if last := len(p.open) - 1; e.Continues && last >= 0 {
		was := p.open[last]
		p.open = p.open[:last]
		if i, ok := p.detail.Get(was.content.ID); ok && i == was.row && was.row >= 0 {
			p.detail.Delete(was.content.ID)
		}
	}
	p.open = append(p.open, o)
	if !c.Places() {
		return run
	}
	detail := c.Detail
	detail.First, detail.Last, detail.Op = on.CBFirst, on.CBLast, o.op
	rows := d.figures.ProgramsDetail
	if o.row < 0 {
		o.row = rows.Len()
	}
	p.starts.add(rows, o.row, on.CBFirst)
	b.setRow(d, o.row, detail, c)
	if _, seen := p.detail.Get(c.ID); !seen {
		p.detail.Set(c.ID, o.row)
	}
	return run
}

// lone returns the run of a device if it is the only one that is alive, and was not counted yet. A log has none:
// its live programs are registered.
func (b *books) lone(d *row) *openRun {
	p := &d.programs
	if b.ledger.state.Captured && len(p.open) == 1 && p.held.Len() == 0 && !p.open[0].counted {
		return p.open[0]
	}
	return nil
}

// close counts the runs of a device that were not counted yet: they are whole, and all of
// them alive.
func (b *books) close(d *row) error {
	if o := b.lone(d); o != nil {
		d.programs.passes(o.content, &d.figures)
		d.programs.final = o.content.Detail.Bytes
		return b.ran(d, o)
	}
	for _, o := range d.programs.open {
		if o.counted {
			continue
		}
		if err := b.ran(d, o); err != nil {
			return err
		}
		if err := b.ledger.live(d, o.content); err != nil {
			return err
		}
	}
	return nil
}

// ran counts a run that is whole.
func (b *books) ran(d *row, o *openRun) error {
	o.counted = true
	first := o.on.CBFirst
	if !o.content.Places() {
		first = o.on.First
	}
	b.counts(d, o.content, int64(first), o.op)
	if err := d.alive(o.content); err != nil || o.outside {
		return err
	}
	if err := b.ledger.register(d, o.content); err != nil {
		return err
	}
	f := &d.figures
	sums := [source.NumKinds]*uint64{&f.RegisteredLogical, &f.Dataflow.RegisteredLogical, &f.Scratchpad.RegisteredLogical}
	for kind, sum := range sums {
		if *sum > l1.MaxAddr-o.content.Logical[kind] {
			return device.ErrOverflow
		}
		*sum += o.content.Logical[kind]
	}
	return nil
}

// free ends what runs left alive on a device.
func (b *books) free(d *row) error {
	defer d.programs.forget()
	o := b.lone(d)
	if err := b.close(d); err != nil {
		return err
	}
	if d.programs.final = 0; o != nil {
		d.programs.ended(o.content)
		return nil
	}
	ended := map[*source.Content]bool{}
	for _, o := range d.programs.open {
		d.programs.ended(o.content)
		if ended[o.content] {
			continue
		}
		ended[o.content] = true
		if err := b.ledger.end(d, o.content); err != nil {
			return err
		}
	}
	return nil
}

// remove ends everything on a device that is gone. Its high-water marks stay.
func (b *books) remove(d *row) error {
	var ids []program.ID
	for id := range d.programs.held.All() {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if err := b.unregister(d, id); err != nil {
			return err
		}
	}
	if err := b.ledger.remove(d); err != nil {
		return err
	}
	left := d.memory
	d.marks.leave(&left, d.dev)
	d.memory, d.gone, d.sets = memory{}, true, nil
	return nil
}

// reset begins the high-water marks of a device anew, at the values of now. The marker has the marks of cores.
func (b *books) reset(d *row) {
	b.ledger.reset(d)
	d.programs.crest = nil
	f := &d.figures
	f.LogicalPeak, f.ResidentPeak, f.CorePeak = 0, 0, 0
	f.LogicalSizesPeak, f.UnattributedPeak = d.programs.sizes, d.programs.loose
	for _, of := range f.Others() {
		of.ResidentPeak, of.CorePeak = 0, 0
	}
	d.resetLog()
	d.resetMemory()
}

// keep copies the high-water marks that the fleets have for a device.
func (b *books) keep(d *row) {
	b.ledger.keep(d)
	d.log.Peak = max(d.log.Peak, d.dev.Totals().Peak.Resident)
	d.measure()
}
