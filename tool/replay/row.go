package replay

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/same"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// A row holds what the fleet does not keep for one device, or for several that are alike, and the statements of the
// source about their ids.
type row struct {
	members *members

	// Of the first one:
	id   event.Opt[uint64] // absent: the source has no ids
	slot device.ID
	dev  device.Device // in the fleet of the source

	sets    map[*device.Fleet]device.Set // the members in other fleets, as far as they are known
	gone    bool                         // removed
	touched bool                         // a buffer was allocated or freed
	facts   facts

	figures   answer.Device
	inL1      answer.DeviceL1
	programs  programs
	memory    memory
	marks     marks
	log       answer.Residue // of a log: its dispatches
	execution *execution     // of a source that saw what ran; nil if nothing was executed

	// Of the questions in Options:
	obstacles *obstacles // of Options.Room
	history   *history   // of Options.Timeline; nil if nothing has changed the device
	scarce    uint64     // bytes that have to come or go before a moment of Options.Scarce can have come
	overlap   uint64     // bytes that several buffers held last
}

// members are the devices of a row.
type members = same.Keys[device.ID]

// A likeness is equal for devices that may share a row until something happens to them.
type likeness struct {
	spec  l1.Spec // with the grid that the source names
	role  event.Role
	grid  event.Source // who names the grid
	small event.Source // who gives the size of L1_SMALL
}

// facts are the statements of a source about ids.
type facts struct {
	likeness
	chips []uint64 // of a mesh
}

// kind returns the meaning of a device's id.
func (s facts) kind() (answer.DeviceKind, []uint64) {
	switch s.role {
	case event.RoleNone:
		return answer.KindNone, nil
	case event.RoleMesh:
		return answer.KindMesh, slices.Clone(s.chips)
	}
	return answer.KindChip, nil
}

// newRow returns the row of a device that nothing has happened to.
func newRow(dev device.Device, like likeness, programs *answer.Programs) *row {
	id := dev.ID()
	d := &row{id: event.Some(uint64(id)), slot: id, dev: dev, facts: facts{likeness: like}}
	if like.role == event.RoleNone {
		d.id = event.Opt[uint64]{}
	}
	d.figures.ID, d.inL1.ID, d.inL1.Addresses = d.id, d.id, answer.AddressesNone
	d.figures.ProgramsDetail = programs
	return d
}

// declared reports whether the device is one of a log, and not an id that a source met.
func (d *row) declared() bool { return d.facts.role == "" }

// smallFrom returns the source of the size of L1_SMALL. Logs of earlier versions do not name it.
func smallFrom(e *event.Event) event.Source {
	switch {
	case e.From.Small != "":
		return e.From.Small
	case e.Spec.L1Small > 0:
		return event.FromFile
	}
	return event.FromAssumed
}

// likenessOf returns the properties that the devices of an event share. grid is the origin of their grid.
func likenessOf(e *event.Event, grid event.Source) likeness {
	return likeness{e.Spec, e.Role, grid, smallFrom(e)}
}

// saidOf returns what an event says of an id.
func saidOf(e *event.Event) facts {
	out := facts{likeness: likenessOf(e, e.From.Grid)}
	for _, chip := range e.Chips {
		out.chips = append(out.chips, uint64(chip))
	}
	slices.Sort(out.chips)
	return out
}

// equal reports whether a source says the same.
func (s facts) equal(o facts) bool { return s.likeness == o.likeness && slices.Equal(s.chips, o.chips) }

// measure copies the high-water marks of the buffers of a device.
func (d *row) measure() {
	t := d.dev.Totals()
	made := d.memory.made(t.Buffers)
	if d.declared() { // a log may have forgotten its marks since
		made.L1 = t.Peak.L1
	}
	d.inL1.L1Peak, d.inL1.DRAMPeak = max(d.inL1.L1Peak, made.L1), max(d.inL1.DRAMPeak, t.Peak.DRAM)
	d.inL1.SmallPeak, d.inL1.BuffersPeak = max(d.inL1.SmallPeak, made.L1Small), max(d.inL1.BuffersPeak, uint64(made.Count))
}

// resetMemory begins the high-water marks of buffers anew, at the values of now.
func (d *row) resetMemory() {
	d.inL1.L1Peak, d.inL1.DRAMPeak, d.inL1.SmallPeak, d.inL1.BuffersPeak, d.inL1.TotalPeak = 0, 0, 0, 0, d.dev.Totals().Tracked
	d.measure()
}

// addBuffer adds a buffer that is allocated. Backed ones are only counted.
func (d *row) addBuffer(b *buffer, backing bool) {
	d.touched = true
	if b.earlier {
		d.memory.countEarlier(b, 1)
	}
	d.measure()
	if backing {
		d.inL1.Backings++
		return
	}
	d.memory.add(b)
	need(&d.inL1.Needs, b, d.dev)
}

// drop removes a buffer that an event frees. A correction puts it back at once.
func (d *row) drop(b *buffer, now source.When, corrects bool) {
	d.memory.drop(b)
	d.marks.freed(b)
	if b.earlier {
		d.memory.countEarlier(b, -1)
	}
	if !corrects && b.measured() {
		d.marks.spiked(b, now, d.dev)
	}
}

// allocated counts the facts of an allocation that the fleet does not keep.
func (d *row) allocated(e *event.Event) {
	if len(e.Parts) > 0 && !e.Buffer.Backing {
		synthesised := slices.ContainsFunc(e.Parts, func(p event.Part) bool { return p.Synthesised })
		d.inL1.Addresses = d.inL1.Addresses.With(!synthesised, synthesised)
	}
	if e.Unplaced != "" {
		d.inL1.Unplaced++
	}
	if e.CoresFrom == event.FromAssumed {
		d.inL1.Assumed++
	}
}

// in returns the devices of a row in a fleet of the ledger. The fleet gets them with the first
// call.
func (d *row) in(f *device.Fleet, spec func() l1.Spec) (device.Set, error) {
	if set, ok := d.sets[f]; ok {
		return set, nil
	}
	for _, id := range d.members.List() {
		if _, err := f.Device(id); err == nil {
			continue
		}
		if spec == nil {
			return device.Set{}, nil
		}
		if _, err := f.AddDevice(id, spec()); err != nil {
			return device.Set{}, err
		}
	}
	set, err := f.Of(d.members.List()...)
	if err != nil {
		return set, err
	}
	if d.sets == nil {
		d.sets = map[*device.Fleet]device.Set{}
	}
	d.sets[f] = set
	return set, nil
}

// setFirst updates the first device of a row that has other devices now.
func (d *row) setFirst(f *device.Fleet) {
	d.slot, d.sets = d.members.First(), nil
	if dev, err := f.Device(d.slot); err == nil {
		d.dev = dev // else it was removed, and counts nothing
	}
	if d.id.OK {
		d.id = event.Some(uint64(d.slot))
	}
}

// clone returns a row with the same history.
func (d *row) clone() *row {
	to := *d
	to.figures.ProgramsDetail = d.figures.ProgramsDetail.Clone()
	to.figures.ProgramsBuffers = slices.Clone(d.figures.ProgramsBuffers)
	to.programs, to.memory, to.marks = d.programs.clone(), d.memory.clone(), d.marks.own()
	if d.execution != nil {
		own := *d.execution
		to.execution = &own
	}
	if d.obstacles != nil {
		to.obstacles = d.obstacles.clone()
	}
	if d.history != nil {
		to.history = d.history.clone()
	}
	return &to
}

// logged records that a log dispatched a program.
func (d *row) logged(p *program.Program) {
	for g := range p.Occupied(program.CircularBuffer).Groups() {
		d.log.CorePeak = max(d.log.CorePeak, g.Bytes())
	}
}

// resetLog begins the high-water marks of a log anew, at the values of now.
func (d *row) resetLog() {
	d.log.Peak, d.log.CorePeak = 0, 0
	for g := range d.dev.UsageGroups(device.BasisResident) {
		d.log.CorePeak = max(d.log.CorePeak, g.Usage.Of(fit.KindCB))
	}
}
