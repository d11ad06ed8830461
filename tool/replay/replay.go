package replay

import (
	"iter"
	"math"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/tensor"
)

// Options select optional parts of a Result. The zero value selects none.
type Options struct {
	// Only narrows all parts of the Result except Held.
	Only answer.Filter
	// Ask, if not nil, selects Result.Held: the holders of its byte.
	Ask *answer.Question
	// Runs selects Result.Runs.
	Runs bool
	// Buffers selects Device.ProgramsBuffers.
	Buffers bool
	// Timeline selects Result.Timeline. Cost: the figures of each device that an event changes
	// are read.
	Timeline bool
	// Moments selects Timeline.Moments. All moments of a device name at most so many residents, each on every set of
	// cores on which it lay. Up to 480 moments may name four times as many, and one moment any number. It needs Timeline.
	Moments int
	// Groups selects L1Peak.Groups.
	Groups bool
	// OnePeak leaves out the composition of all peaks but the highest one, the first of equals: L1Peak.Kinds,
	// Shared, Residents, Groups, WithKernels, Top and Largest. A composition costs the residents of a core, for
	// each device that differs from the others; L1Peak.Composed makes it later. It leaves out DeviceL1.Groups,
	// which DeviceL1.LaidGroups has.
	OnePeak bool
	// GroupsAt selects DeviceL1.Groups: the contents of every core after the node with this
	// counter, or after that line of a log.
	GroupsAt event.Opt[uint64]
	// Scarce selects DeviceL1.Scarce: when so much of L1 was free. Cost: the buffers of a device
	// are scanned where that may have come. After 2^26 buffers no more are scanned.
	Scarce []answer.Scarcity
	// Room, if not nil, selects the room of one more L1 buffer, for Result.Room. It costs
	// memory for each distinct place of a buffer.
	Room *answer.RoomQuestion
	// Strays selects Needs.Stray. Cost: each L1 buffer is compared with all that live.
	Strays bool
	// Tensors, if not nil, has the tensors of L1 buffers, before the first event.
	Tensors *tensor.Table
	// Progress, if not nil, is called now and then with the place of an event: the bytes and nodes read.
	Progress func(event.Pos)
}

// Run makes the Result of events to their end. The name file is only shown. Errors come from the events, or are an
// *event.InputError for sums beyond 2^63-1. Memory grows with the ids of programs and with live buffers, not with
// the number of events.
func Run(file string, events iter.Seq2[*event.Event, error], opt Options) (*answer.Result, error) {
	r, count := newReplay(file, opt), 0
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if count++; opt.Progress != nil && count%4096 == 0 {
			opt.Progress(e.Pos)
		}
		if err := r.event(e); err != nil {
			return nil, err
		}
	}
	return r.finish()
}

// newReplay returns a replay before the first event.
func newReplay(file string, opt Options) *replay {
	r := &replay{
		notes: notes{}, catalogue: newCatalogue(), naming: newNaming(), executions: newExecutions(),
		marker: marker{only: opt.Only, groups: opt.Groups, later: opt.OnePeak},
		checks: newChecks(), subscribers: newSubscribers(opt), recording: recording{only: opt.Only},
	}
	(&overlaps{notes: r.notes, only: opt.Only}).join(r.subscribers)
	if opt.Strays {
		s := &strayFinder{state: &r.state}
		r.subscribers.before, r.subscribers.laid = append(r.subscribers.before, s.before), append(r.subscribers.laid, s.laid)
	}
	fleet := &r.state.Fleet
	r.books = books{
		ledger: newLedger(&r.state), notes: r.notes, buffers: opt.Buffers, addresses: answer.AddressesNone,
	}
	r.rows = newRows(fleet, r.checks.part)
	r.result.File, r.result.Only, r.tensors = file, opt.Only, opt.Tensors
	fleet.Observe(func(e device.Notice) {
		if e.Kind != device.NoticePeaksReset { // of which the fleet has one for each device
			r.changes = append(r.changes, e)
		}
	})
	return r
}

// newSubscribers returns the subscribers that some Options need.
func newSubscribers(opt Options) *subscribers {
	s := &subscribers{}
	if opt.Timeline {
		(&timeline{most: opt.Moments}).join(s)
	}
	if opt.Runs {
		(&runList{at: map[runKey]int{}}).join(s)
	}
	if opt.Room != nil {
		newRooms(opt.Room).join(s)
	}
	if len(opt.Scarce) > 0 {
		(&freeSearch{sought: opt.Scarce}).join(s)
	}
	if opt.Ask != nil {
		w := &who{address: opt.Ask.Address}
		s.after(opt.Ask.At, w.ask)
		s.finish = append(s.finish, func(out *answer.Result, _ *rows, _ answer.Spec) { out.Held = w.held })
	}
	if opt.GroupsAt.OK {
		s.after(opt.GroupsAt, func(rows *rows, marker *marker) {
			for _, d := range rows.All() {
				d.marks.after = marker.past(d)
			}
		})
	}
	return s
}

// finish ends everything that is still open and makes the Result, which holds nothing else of the replay.
func (r *replay) finish() (*answer.Result, error) {
	end := &event.Event{Kind: event.KindEnd, Node: uint64(max(r.result.Nodes, 0))}
	if err := r.end(end); err != nil {
		return nil, r.failed(end, err)
	}
	out := r.result
	out.Log = !r.state.Captured
	out.Spec, out.Uneven = r.specs.of, r.specs.uneven
	if out.Spec == (answer.Spec{}) { // nothing was declared
		out.Spec = specFrom(l1.ArchSpec(l1.Blackhole), event.FromAssumed)
	}
	r.finishDevices(&out)
	for _, finish := range r.subscribers.finish {
		finish(&out, &r.rows, r.specs.of)
	}
	out.Checks, out.Earlier = r.checks.result, r.outside.earlier
	out.Recording = r.recording.result()
	out.Placed, out.Addresses = r.books.placed, r.books.addresses
	var big *buffer
	if out.Live, big = leaksOf(r.rows.sorted(), r.state.Captured); big != nil {
		return nil, r.failed(&event.Event{Node: big.info.At}, device.ErrOverflow)
	}
	for range r.state.Running.Ops {
		r.notes.note(answer.CodeUnfinished, -1, r.state.Running.Ops[len(r.state.Running.Ops)-1])
	}
	if r.state.Captured && !r.seen.ended {
		r.notes.note(answer.CodeUnfinished, -1, "the source is cut")
	}
	if r.specs.again {
		r.notes.note(answer.CodeSpecsDiffer, -1, "")
	}
	r.notes.finish(&out, r.seen.begun)
	return &out, nil
}

// end ends everything that is open after the last event, and answers open questions.
func (r *replay) end(e *event.Event) error {
	r.judge(e)
	for _, before := range r.subscribers.before {
		before(nil, &r.rows, &r.marker)
	}
	for _, d := range r.rows.sorted() {
		if err := r.books.close(d); err != nil {
			return err
		}
		r.marker.end(d)
		r.books.keep(d)
	}
	return r.checks.tight.grow(r.checks.result.Tightest)
}

// finishDevices completes the rows, each once, and gives every device its own.
func (r *replay) finishDevices(out *answer.Result) {
	ends, shown, rows, rowsL1 := r.books.ledger.lastState(), r.rows.shown(), 0, 0
	for _, d := range r.rows.All() {
		if shown(d) && !d.declared() {
			out.Uneven = out.Uneven || d.facts.spec.Usable().Len() != out.Spec.Usable().Len()
		}
		if d.declared() || d.programs.ran {
			d.finish(&r.books.ledger, ends, out.Only)
			rows += d.members.Len()
		}
		if shown(d) {
			d.finishL1(r.specs.own(d))
			rowsL1 += d.members.Len()
		}
	}
	out.Devices, out.L1 = slices.Grow(out.Devices, rows), slices.Grow(out.L1, rowsL1)
	var highest *answer.L1Peak
	for d, named := range r.rows.each() {
		if len(d.facts.chips) > 0 {
			out.Meshes = append(out.Meshes, answer.Mesh{ID: named.V, Chips: slices.Clone(d.facts.chips)})
		}
		if !out.Only.HasDevice(named) {
			continue
		}
		if d.declared() || d.programs.ran {
			out.Devices = append(out.Devices, d.figures)
			out.Devices[len(out.Devices)-1].ID = named
		}
		if shown(d) {
			out.L1 = append(out.L1, d.inL1)
			last := &out.L1[len(out.L1)-1]
			last.ID, last.Dispatched = named, r.executions.on(d, named)
			if peak := d.inL1.Peak; peak != nil && (highest == nil || peak.Bytes > highest.Bytes) {
				highest = peak
			}
		}
		if of := d.history; of != nil {
			out.Timeline = append(out.Timeline, answer.Timeline{Device: named, Samples: of.samples.List, Moments: of.moments.List})
		}
	}
	if highest != nil {
		*highest = *highest.Composed()
	}
}

// finish completes the figures of a row.
func (d *row) finish(ledger *ledger, ends *lastState, only answer.Filter) {
	f := &d.figures
	f.Kind, f.Chips = d.facts.kind()
	f.Cores = d.programs.cores.Len()
	ledger.finish(d)
	alive, ok := ends.alive.Device(d.slot)
	if f.ResidentFinal = d.programs.final; ok {
		f.ResidentFinal += alive.Totals().Registered
	}
	if registered, ok := ends.registered.Device(d.slot); ok {
		f.CoreGroups = only.Groups(ends.coreGroups(registered, alive, d.programs.crest))
		f.Fullest = d.fullest(registered)
	}
}

// finishL1 completes the figures of a row's L1, without executions. own is the Spec of the row, if it has one of
// its own.
func (d *row) finishL1(own *answer.Spec) {
	on := &d.inL1
	on.Kind, on.Chips = d.facts.kind()
	t := d.dev.Totals()
	made := d.memory.made(t.Buffers)
	on.TotalFinal, on.L1Final, on.SmallFinal, on.DRAMFinal = t.Tracked, made.L1, made.L1Small, made.DRAM
	on.BuffersFinal = uint64(made.Count)
	spec := d.facts.spec
	on.NumCores, on.Cols, on.Rows, on.CoresFrom = spec.NumCores(), spec.Cols, spec.Rows, d.facts.grid
	on.Spec = own
	if d.log.Executions > 0 {
		d.log.Final = t.Resident
	}
}

// fullest finds the core on which most is registered and the program with the largest
// share of it, the first one of equals.
func (d *row) fullest(end *device.DeviceSnapshot) *answer.FullestCore {
	var f *answer.FullestCore
	for _, g := range d.figures.CoreGroups {
		switch {
		case f == nil || g.Registered > f.Bytes:
			core, _ := g.Cores.First() // no group is empty
			f = &answer.FullestCore{Core: core, Cores: g.Cores.Len(), Bytes: g.Registered}
			if n := len(g.Regions); n > 0 {
				f.End = g.Regions[n-1].End
			}
		case g.Registered == f.Bytes:
			f.Cores += g.Cores.Len()
		}
	}
	if f == nil || f.Bytes == 0 {
		return nil
	}
	best := math.MaxInt
	for p := range end.Programs() {
		g, ok := p.Occupied(program.CircularBuffer).On(f.Core)
		if !ok || g.Bytes() < f.Share {
			continue
		}
		row, ok := d.programs.detail.Get(p.ID())
		if ok && (g.Bytes() > f.Share || row < best) {
			best, f.Share = row, g.Bytes()
		}
	}
	if best < math.MaxInt {
		f.Program = d.figures.ProgramsDetail.At(best)
	}
	return f
}
