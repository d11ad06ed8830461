package replay

import (
	"encoding/json"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/corepeaks"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A row is one device, or some that are alike: their figures as far as no fleet has them,
// and what the source says of their ids.
type row struct {
	members *members

	// Of the first one:
	id   event.Opt[uint64] // absent: the source has no ids
	slot device.ID
	dev  device.Device // in the fleet of the session

	sets  map[*device.Fleet]device.Set // the members in other fleets, as far as they are known
	gone  bool                         // removed
	spec  l1.Spec                      // with the grid that the source names
	role  event.Role
	chips []uint64
	grid  event.Source // who names the grid
	small event.Source // who tells the size of L1_SMALL

	figures Device
	on      DeviceL1

	ran     bool // a run was told
	touched bool // a buffer was allocated or freed
	open    []*openRun
	crest   *corepeaks.Peaks         // of the runs that were alive alone
	final   uint64                   // bytes of the one that is alive alone in the end
	detail  layered[program.ID, int] // of a log the row of a program, of runs its first row
	starts  starts
	held    layered[program.ID, *content]

	cores        l1.CoreSet // covered by a local circular buffer at any time
	sizes, loose uint64     // of what is alive: sums of sizes without cores, and of those that name none

	timeline samples
	moments  moments
	standing *standing // nil unless Options.Room asks
	memory
	executed Dispatched // of a log: its dispatches

	dispatches dispatches
	execution  *execution // of a source that saw what ran; nil if nothing was executed
}

// An openRun is a run that was not freed yet.
type openRun struct {
	content *content
	id      program.ID // as the source names it
	row     int        // in ProgramsDetail, -1 without
	on      event.RunOn
	op      Name
	counted bool
	outside bool // of the grid: not registered
}

// kind says what the id of a device stands for.
func (d *row) kind() (DeviceKind, []uint64) {
	switch d.role {
	case event.RoleNone:
		return KindNone, nil
	case event.RoleMesh:
		return KindMesh, slices.Clone(d.chips)
	}
	return KindChip, nil
}

// declared reports whether the device is one of a log, and not an id that a source met.
func (d *row) declared() bool { return d.role == "" }

// add makes the row of a device, or takes it up again where an id comes back.
func (r *replay) add(id device.ID, e *event.Event) error {
	spec := e.Spec
	dev, err := r.session.fleet.Device(id)
	if err != nil {
		return r.internal(e, err)
	}
	if d := r.rows.Get(id); d != nil { // an id that comes back stays with its first Spec here
		d = r.rows.Part(d, []device.ID{id})
		d.dev, d.gone = dev, false
		r.standsFree(d)
		if r.opt.Room != nil { // its grid may be another one
			r.sizeOn(d.spec, d.grid)
			r.sizeOn(spec, d.grid)
		}
		r.uneven(d, spec)
		r.respecified = r.respecified || spec.CBBase != d.spec.CBBase || spec.L1Size != d.spec.L1Size
		return nil
	}
	like := likeness{spec, e.Role, event.FromFile, smallFrom(e)}
	if d := r.rows.fresh[like]; d != nil && !r.opt.Only.Device.OK && e.Role != event.RoleNone && d.members.Last() < id {
		r.rows.Join(id, d)
		return nil
	}
	d := &row{
		id: event.Some(uint64(id)), slot: id, dev: dev, spec: spec, role: e.Role, grid: event.FromFile, small: smallFrom(e),
	}
	if e.Role == event.RoleNone {
		d.id = event.Opt[uint64]{}
	}
	d.figures.ID, d.on.ID, d.on.Addresses = d.id, d.id, AddressesNone
	d.figures.ProgramsDetail = &Programs{of: r.common}
	r.standsFree(d)
	d.members = r.rows.Add(id, d)
	r.rows.fresh[like] = d
	r.compare(d)
	return nil
}

// smallFrom returns who tells the size of L1_SMALL. Logs of earlier versions do not say it.
func smallFrom(e *event.Event) event.Source {
	switch {
	case e.From.Small != "":
		return e.From.Small
	case e.Spec.L1Small > 0:
		return event.FromFile
	}
	return event.FromAssumed
}

// uneven notes a device with another share of usable L1 than the result's Spec has.
func (r *replay) uneven(d *row, spec l1.Spec) {
	if d.declared() && (spec.L1Size == 0 || spec.Usable().Len() != r.result.Spec.Usable().Len()) {
		r.result.uneven = true
	}
}

// compare takes the first Spec of a log for its result, and counts others that differ in
// what percentages depend on.
func (r *replay) compare(d *row) {
	if !d.declared() {
		return // its source says at the end what Spec it used
	}
	spec := gridless(d.spec)
	if r.specs[spec] != nil {
		return
	}
	if r.specs == nil {
		r.specs = map[l1.Spec]*l1.Spec{}
		r.result.Spec = Spec{Spec: spec, ArchFrom: event.FromFile, BaseFrom: event.FromFile, SmallFrom: event.FromFile}
	}
	r.specs[spec] = &spec
	r.uneven(d, spec)
	if first := r.result.Spec; spec.CBBase != first.CBBase || spec.L1Size != first.L1Size {
		r.notes.note(CodeSpecsDiffer, -1, "")
	}
}

// declare takes in what a source says of an id, when it meets it or when it knows more.
func (r *replay) declare(e *event.Event) {
	d := r.rows.Get(e.Device)
	if d == nil {
		return
	}
	var chips []uint64
	for _, chip := range e.Chips {
		chips = append(chips, uint64(chip))
	}
	slices.Sort(chips)
	if d.likeness() == (likeness{e.Spec, e.Role, e.From.Grid, smallFrom(e)}) && slices.Equal(d.chips, chips) && !e.Like.OK {
		return
	}
	d = r.rows.alone(e.Device)
	d.role, d.spec, d.grid, d.small, d.chips = e.Role, e.Spec, e.From.Grid, smallFrom(e), chips
	if from := r.rows.Get(e.Like.V); e.Like.OK && from != nil && from != d && !d.touched {
		r.settle(from)
		d.inherit(from)
	}
}

// inherit takes over the history of a mesh that the device is a chip of.
func (d *row) inherit(from *row) {
	from.measure()
	from.compose()
	d.touched = true
	d.standing.inherit(from.standing)
	on := from.on
	on.ID, on.Dispatched = d.id, nil
	d.on = on
	d.ownPeak(from)
}

// keep takes in the high-water marks that the fleets have of a device.
func (r *replay) keep(d *row) {
	f := &d.figures
	if t, ok := totalsOf(r.alive[program.CircularBuffer], d.slot); ok {
		f.LogicalPeak, f.ResidentPeak, f.CorePeak = max(f.LogicalPeak, t.Peak.Logical), max(f.ResidentPeak, t.Peak.Registered), max(f.CorePeak, t.Peak.Core)
	}
	for kind, of := range f.others() {
		if of == nil {
			continue
		}
		if t, ok := totalsOf(r.alive[kind], d.slot); ok {
			of.ResidentPeak, of.CorePeak = max(of.ResidentPeak, t.Peak.Registered), max(of.CorePeak, t.Peak.Core)
		}
	}
	d.executed.Peak = max(d.executed.Peak, d.dev.Totals().Peak.Resident)
	d.measure()
}

// measure takes in the high-water marks of what lives in the memory of a device.
func (d *row) measure() {
	t := d.dev.Totals()
	made := d.made(t.Buffers)
	if d.declared() { // a log may have forgotten its marks since
		made.L1 = t.Peak.L1
	}
	d.on.L1Peak, d.on.DRAMPeak = max(d.on.L1Peak, made.L1), max(d.on.DRAMPeak, t.Peak.DRAM)
	d.on.SmallPeak, d.on.BuffersPeak = max(d.on.SmallPeak, made.L1Small), max(d.on.BuffersPeak, uint64(made.Count))
}

// others are the figures of the kinds that are no circular buffers.
func (f *Device) others() [numKinds]*Dataflow {
	return [numKinds]*Dataflow{program.DataflowBuffer: &f.Dataflow, program.Scratchpad: (*Dataflow)(&f.Scratchpad)}
}

// totalsOf returns what a fleet has of a device, if it has it.
func totalsOf(f *device.Fleet, id device.ID) (device.Totals, bool) {
	d, err := f.Device(id)
	if err != nil {
		return device.Totals{}, false
	}
	return d.Totals(), true
}

// reset begins the high-water marks of a device anew, at what is there now.
func (r *replay) reset(d *row, e *event.Event) {
	for kind := range numKinds {
		for _, id := range d.members.List() {
			if dev, err := r.alive[kind].Device(id); err == nil && r.alive[kind] != &r.session.fleet {
				dev.ResetPeaks()
			}
		}
	}
	d.crest = nil
	f := &d.figures
	f.LogicalPeak, f.ResidentPeak, f.CorePeak, f.LogicalSizesPeak, f.UnattributedPeak = 0, 0, 0, d.sizes, d.loose
	for _, of := range f.others() {
		if of == nil {
			continue
		}
		of.ResidentPeak, of.CorePeak = 0, 0
	}
	d.on.L1Peak, d.on.DRAMPeak, d.on.SmallPeak, d.on.BuffersPeak, d.on.TotalPeak = 0, 0, 0, 0, d.dev.Totals().Tracked
	d.executed.Peak, d.executed.CorePeak = 0, 0
	for g := range d.dev.UsageGroups(device.BasisResident) {
		d.executed.CorePeak = max(d.executed.CorePeak, g.Usage.Of(fit.KindCB))
	}
	d.measure()
	d.on.Peak, d.spike = nil, nil
	d.rise = &rise{bytes: r.most(d), cores: r.fullest(d), at: uint64(at(e)), t: json.Number(e.T), op: r.opOf(e)}
	r.settle(d)
}

// remove ends everything on a device that is gone. Its high-water marks stay.
func (r *replay) remove(d *row, e *event.Event) error {
	if err := r.differs(d, e); err != nil {
		return err
	}
	d.compose()
	var ids []program.ID
	for id := range d.held.all() {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if err := r.ends(d, d.held.of(id), e); err != nil {
			return err
		}
		d.held.delete(id)
	}
	for kind := range numKinds {
		f := r.registered[kind]
		if f == &r.session.fleet {
			continue
		}
		set, err := d.in(f, nil)
		if err == nil {
			err = f.Remove(set)
		}
		if err != nil {
			return r.internal(e, err)
		}
	}
	d.memory, d.gone, d.sets = memory{}, true, nil
	return nil
}
