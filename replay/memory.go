package replay

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// memory is what the L1 of one device holds, as far as the fleet does not say it.
type memory struct {
	live   layered[fit.BufferID, *buffer]
	low    *lowest                            // of live, for all rows that have the same; nil: there never was any
	before fit.BufferTotals                   // of buffers from before the source
	beside sum128                             // of the buffers in L1, by content: equal ones make equal sums
	names  sum128                             // of all buffers, by the event that made them, and of what ran last
	last   layered[*program.Program, lastRun] // of each program
	rise   *rise
	spike  *spike

	far     uint64   // bytes that have to come or go before Options.Scarce can be answered
	pending *pending // what the peak of the result is made of; nil if that is known
	after   *pending // what lay there after the node of Options.GroupsAt; nil if that is known
}

// A buffer is an allocation that was not freed yet.
type buffer struct {
	id          fit.BufferID
	info        BufferInfo
	parts       []fit.Part
	span        l1.Range // empty if it lies nowhere, or is unsized
	unsized     bool
	hides       bool // its place on some cores
	earlier     bool // from before the source: no total of allocations has it
	synthesised bool // the source placed it
	leaked      bool // it was not freed, and leaks has counted it
	hash        sum128
	name        sum128 // of this one alone
	count       int64  // of events before it
}

// A sum128 is a sum of hashes: the order of what went in does not matter.
type sum128 struct{ hi, lo uint64 }

func (s sum128) plus(o sum128) sum128 {
	lo, carry := bits.Add64(s.lo, o.lo, 0)
	hi, _ := bits.Add64(s.hi, o.hi, carry)
	return sum128{hi, lo}
}

func (s sum128) minus(o sum128) sum128 {
	lo, borrow := bits.Sub64(s.lo, o.lo, 0)
	hi, _ := bits.Sub64(s.hi, o.hi, borrow)
	return sum128{hi, lo}
}

// describe says what a buffer is, for all devices on which it is allocated.
func (r *replay) describe(e *event.Event, given fit.Buffer, set device.Set) *buffer {
	b := &buffer{id: given.ID, unsized: given.Unsized, earlier: e.Earlier, count: r.count, parts: slices.Collect(given.All()), info: BufferInfo{
		At: e.Node, T: json.Number(e.T), Op: r.opOf(e), Kind: given.Kind, Size: given.Size, PerCore: e.PerCore, Address: e.Address, Layout: e.Layout,
	}}
	if e.Named.OK && e.Named.V != event.NoDevice {
		b.info.Device = event.Some(uint64(e.Named.V))
	}
	for i, part := range b.parts {
		if i == 0 {
			b.span = part.Range
		}
		b.span = l1.Range{Start: min(b.span.Start, part.Range.Start), End: max(b.span.End, part.Range.End)}
	}
	b.synthesised = slices.ContainsFunc(e.Parts, func(p event.Part) bool { return p.Synthesised })
	if !r.ofRuns() { // a log says it in other words
		b.info.Op = cmp.Or(Name(given.Name), b.info.Op)
		if rows := r.rows.of(set); len(rows) > 0 { // the set itself sorts its devices first
			b.info.Device = event.Some(uint64(rows[0].slot))
		}
		for _, part := range b.parts {
			b.info.PerCore = event.Some(max(b.info.PerCore.V, part.Range.Len()))
			b.info.Address = event.Some(b.span.Start)
		}
	}
	b.hides = !given.Hidden.IsEmpty()
	b.hash, b.name = r.hash(b, given), nameOf(r, b)
	return b
}

// hash is one number for buffers that check alike: of one kind, in one place and mode.
func (r *replay) hash(b *buffer, given fit.Buffer) sum128 {
	var room [64]byte
	text := append(room[:0], byte(b.info.Kind), byte(given.Mode))
	if b.hides {
		text = append(text, r.spelt.of(given.Hidden)...)
	}
	for _, part := range b.parts {
		text = binary.LittleEndian.AppendUint64(text, part.Range.Start)
		text = binary.LittleEndian.AppendUint64(text, part.Range.End)
		text = append(text, r.spelt.of(part.Cores)...)
	}
	return sum128{maphash.Bytes(r.seeds[0], text), maphash.Bytes(r.seeds[1], text)}
}

// nameOf returns a number for something: its hash of 128 bits, taken as its name.
func nameOf[T comparable](r *replay, of T) sum128 {
	return sum128{maphash.Comparable(r.seeds[0], of), maphash.Comparable(r.seeds[1], of)}
}

// A spelling is the last set of cores that was hashed, and its text: buffers come in
// rows on the same cores.
type spelling struct {
	cores l1.CoreSet
	text  []byte
}

// of returns a text for a set. No other set has it, and none is the beginning of another.
// It is valid until the next call.
func (s *spelling) of(cores l1.CoreSet) []byte {
	if s.text != nil && s.cores.Equal(cores) {
		return s.text
	}
	s.cores, s.text = cores, s.text[:0]
	for r := range cores.Ranges().All() {
		s.text = append(s.text, r.Start.X, r.Start.Y, r.End.X, r.End.Y)
	}
	s.text = append(s.text, 0xff, 0, 0, 0) // no rectangle: it would end before it starts
	return s.text
}

// allocate takes in that a device holds one buffer more.
func (r *replay) allocate(d *row, given fit.Buffer, b *buffer) {
	d.touched = true
	if b.earlier {
		d.countEarlier(b, 1)
	}
	d.measure()
	if given.Backing {
		d.on.Backings++
		return
	}
	if was := d.live.of(given.ID); was != nil {
		d.names = d.names.minus(was.name)
	}
	d.live.set(given.ID, b)
	d.low = &lowest{}
	d.names = d.names.plus(b.name)
	r.stands(d, given, b)
	if len(b.parts) == 0 && !b.hides {
		return
	}
	if b.unsized || len(b.parts) == 0 { // it holds no byte that is known
		d.beside = d.beside.plus(b.hash)
		return
	}
	if d.rise != nil && (r.most(d) <= d.rise.bytes || !r.opt.Only.HasOp(b.info.Op)) {
		// It lies where there is less, or is left out: what the peak consists of is to be written without it.
		r.settleAs(d, d.dev.Moment(given.ID))
	}
	d.beside = d.beside.plus(b.hash)
	r.seek(d, b, b.info.At, b.info.T, b.info.Op)
	r.grown(d, rise{at: b.info.At, t: b.info.T, op: b.info.Op, by: b})
}

// countEarlier takes in that a buffer from before the source is there, or is not any more.
func (d *row) countEarlier(b *buffer, n int) {
	d.before.Count += n
	of := &d.before.L1
	if b.info.Kind == fit.KindL1Small {
		of = &d.before.L1Small
	}
	*of += uint64(n) * b.info.Size // wraps and comes back
}

// made returns what an event log or capture has allocated of what lives on a device.
func (d *row) made(t fit.BufferTotals) fit.BufferTotals {
	t.Count -= d.before.Count
	t.L1 -= d.before.L1
	t.L1Small -= d.before.L1Small
	return t
}

// free takes in that a device does not hold a buffer any more. Devices may have had
// different ones under one id.
func (r *replay) free(d *row, id fit.BufferID, e *event.Event) {
	d.touched = true
	b := d.live.of(id)
	if b == nil { // it backed another one
		return
	}
	d.live.delete(id)
	d.low = &lowest{}
	d.names = d.names.minus(b.name)
	d.pending.forgets(b)
	d.after.forgets(b)
	if b.earlier {
		d.countEarlier(b, -1)
	}
	if len(b.parts) == 0 && !b.hides {
		return
	}
	d.beside = d.beside.minus(b.hash)
	if !e.Corrects && !b.unsized && len(b.parts) > 0 {
		d.spiked(b, e.Node, json.Number(e.T))
	}
	if d.live.len() == 0 {
		d.compose() // all that is looked at was freed since: so are the heaps of the peak
	}
	r.seek(d, b, uint64(at(e)), json.Number(e.T), r.opOf(e))
}

// dispatched takes in what programs left on a device that ran there last.
func (r *replay) dispatched(d *row, programs []*program.Program, run ProgramRun, at uint64, e *event.Event) error {
	if err := r.follows(d, len(programs), e); err != nil {
		return err
	}
	for _, p := range programs {
		was, ok := d.last.get(p)
		if ok {
			d.pending.runs(p, was.ProgramRun)
			d.after.runs(p, was.ProgramRun)
			d.names = d.names.minus(was.name)
		}
		now := r.lastRun(p, run, d.dispatches.ran(p, was.n))
		d.names = d.names.plus(now.name)
		if d.last.set(p, now); !ok {
			r.forgets.programs.came++
		}
	}
	r.grown(d, rise{at: at, t: json.Number(e.T), op: run.Op})
	return nil
}

// traced takes in that a trace ran: any core may hold any of its programs.
func (r *replay) traced(d *row, programs []*program.Program, e *event.Event) {
	for _, p := range programs {
		if _, known := d.last.get(p); !known {
			run := r.lastRun(p, r.loggedRun(d, p, e), 0)
			d.names = d.names.plus(run.name)
			d.last.set(p, run)
		}
		for g := range p.Occupied(program.CircularBuffer).Groups() {
			d.executed.CorePeak = max(d.executed.CorePeak, g.Bytes())
		}
	}
	r.grown(d, rise{at: uint64(at(e)), t: json.Number(e.T), op: r.opOf(e)})
	d.executed.Executions++
}

// loggedRun names what an event of a log runs on a device.
func (r *replay) loggedRun(d *row, p *program.Program, e *event.Event) ProgramRun {
	run := ProgramRun{Row: -1, At: uint64(at(e)), T: json.Number(e.T), Op: r.label(p, e)}
	if i, ok := d.detail.get(p.ID()); ok {
		run.Row = i
	}
	return run
}

// leaks lists what was not freed on any device.
func (r *replay) leaks() (out Live, err error) {
	ids := map[fit.BufferID]bool{} // of one buffer each, unless in a log
	var all []*buffer
	seen := sight[fit.BufferID]{}
	for _, d := range r.rows.sorted() {
		for _, b := range d.live.unseen(seen) {
			if !b.earlier && !b.leaked && (!r.ofRuns() || !ids[b.id]) {
				b.leaked, ids[b.id] = true, true
				all = append(all, b)
			}
		}
	}
	inL1 := func(b *buffer) int {
		if b.info.Kind.InL1() {
			return 0
		}
		return 1
	}
	slices.SortFunc(all, func(a, b *buffer) int {
		return cmp.Or(inL1(a)-inL1(b), cmp.Compare(b.info.Size, a.info.Size), cmp.Compare(a.id, b.id),
			cmp.Compare(a.info.Device.V, b.info.Device.V), cmp.Compare(a.info.At, b.info.At))
	})
	for _, b := range all {
		out.Buffers++
		sum := map[fit.Kind]*uint64{fit.KindL1: &out.L1, fit.KindL1Small: &out.L1Small, fit.KindDRAM: &out.DRAM}[b.info.Kind]
		if sum != nil {
			if *sum > l1.MaxAddr-b.info.Size {
				return out, r.tooMuch(&event.Event{Node: b.info.At}, nil)
			}
			*sum += b.info.Size
		}
		if len(out.List) < MaxListed {
			out.List = append(out.List, b.info)
		} else {
			out.More++
		}
	}
	return out, nil
}
