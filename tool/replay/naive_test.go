package replay_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A naive reads the events of a log as docs/events.md has them, and makes the calls on
// the byte oracle: what a replay has to say of the log. It knows nothing of packages
// replay, device and fit. Lines that are refused are refused by the oracle.
type naive struct {
	t     require.TestingT
	fleet *model.Fleet
	w     *event.Writer
	log   bytes.Buffer
	node  uint64 // of the last line; the header is 0

	polite bool // calls that are refused are no lines

	defined    map[program.ID]*program.Program // as the log defines it, for whatever Spec
	registered map[program.ID]*program.Program
	placed     map[program.ID]map[l1.Spec]*program.Program // of defined
	traces     map[uint64]*naiveTrace
	born       map[uint64]l1.Spec // of a device that was there at any time

	rows     map[uint64]*naiveRow
	launched []naiveLaunch
	refused  int  // events, but for what did not fit
	doubted  bool // the last enqueue that was judged may fit or not
	beyond   bool // a program that was registered, or a buffer, ends beyond L1
	overlap  bool // two buffers shared a byte of a core
	placedCB bool // a buffer of a program was registered
	samples  map[[2]uint64]naiveSample
	more     naiveRoom // for one more buffer

	asked  naiveQuestion
	held   map[string][]string
	scarce map[uint64]map[answer.Scarcity]uint64 // the first line after which so much was free on a device
	groups map[uint64]naiveGroups                // of all devices, after the line of the query

	seen map[string]int // what was reached
}

// A naiveQuestion is a query for the holders of a byte after a line.
type naiveQuestion struct {
	address, at uint64
	late        bool // what lay there is composed on demand
	room        answer.RoomQuestion
}

type naiveTrace struct {
	on       []uint64
	recorded []*program.Program
}

// A naiveRow is a device id with the figures that a Result has of it.
type naiveRow struct {
	peaks    naivePeaks
	programs map[program.ID]bool // with circular buffers, that were registered at any time
	peak     naivePeak
	usable   naiveUsable
}

// A naiveUsable is the fullest cores by the bytes below L1_SMALL, and all that the first of them held.
type naiveUsable struct {
	below, tracked, at uint64
	cores              []l1.Core
}

// naivePeaks are the largest values that any line left, and the last ones.
type naivePeaks struct {
	needs                                                               naiveNeeds
	alive, core, logical, tracked, l1, small, dram, dispatched, onCore  uint64
	final, finalCore, reserved, loose, dataflow, scratchpad, finalTrack uint64
	finalL1, finalSmall, finalDRAM, finalDispatched                     uint64
	buffers, finalBuffers                                               int
	programs                                                            int
}

// A naivePeak is the first moment at which a core held most.
type naivePeak struct {
	bytes, at uint64
	cores     []l1.Core
	held      []string
	kinds     map[string]uint64
	groups    naiveGroups
}

// naiveGroups are the cores that held something: what, and how many bytes.
type naiveGroups map[l1.Core][]string

// A naiveSample is what a device held after a line.
type naiveSample struct {
	registered, resident, tracked, core uint64
	headroom                            event.Opt[uint64]
}

// A naiveLaunch is a program that was enqueued on a device.
type naiveLaunch struct {
	at, device uint64
	verdict    model.Verdict
	rooms      []model.Headroom
	spec       l1.Spec
	program    *program.Program
}

func newNaive(t require.TestingT, seen map[string]int, asked naiveQuestion, polite bool) *naive {
	n := &naive{
		polite: polite, t: t, fleet: model.NewFleet(), defined: map[program.ID]*program.Program{}, registered: map[program.ID]*program.Program{},
		placed: map[program.ID]map[l1.Spec]*program.Program{}, traces: map[uint64]*naiveTrace{}, born: map[uint64]l1.Spec{},
		rows: map[uint64]*naiveRow{}, samples: map[[2]uint64]naiveSample{}, seen: seen, asked: asked,
	}
	n.more = newNaiveRoom(asked.room)
	n.w = event.NewWriter(&n.log)
	return n
}

// undefined is the id of a program that no log defines.
const undefined = program.ID(31)

// play writes a call as lines of the log, and follows them. What no log can say is left
// out.
func (n *naive) play(m gen.Move) {
	e := &event.Event{Kind: kindsOfMoves()[m.Op], Program: idOf(m.Program), Trace: m.Trace}
	if m.Devices != nil {
		e.Devices = event.Some(deviceIDs(m.Devices))
	} else if m.Op != gen.UnregisterAll && m.Op != gen.Replace {
		e.Devices = event.Some([]device.ID{})
	}
	switch m.Op {
	case gen.AddDevice, gen.AddMesh:
		e.Device, e.Spec, e.Rows, e.Cols = device.ID(m.Devices[0]), m.Spec, m.Rows, m.Cols
		e.Devices = event.Opt[[]device.ID]{}
	case gen.Register, gen.Enqueue:
		n.define(m.Program)
	case gen.Replace:
		n.define(m.New)
		if id := idOf(m.New); id != e.Program {
			e.With = event.Some(id)
		}
	case gen.BeginTrace:
		e.Trace = n.fleet.NextTrace()
	case gen.SetHybrid:
		if !m.On {
			e.Kind = event.KindLockstep
		}
	case gen.Allocate:
		if !slices.Contains(model.Kinds()[3:], m.Buffer.Kind) {
			return // which no log can spell
		}
		e.Buffer = bufferOf(m.Buffer)
		for _, part := range e.Buffer.Parts {
			e.Parts = append(e.Parts, event.Part{Cores: event.Some(part.Cores), Range: part.Range})
		}
		e.Buffer.Parts = nil
	case gen.Free:
		e.Buffer.ID = fit.BufferID(m.Buffer.ID)
	}
	if all := n.fleet.Devices(); len(all) > 0 && n.node%2 == 0 && m.Op != gen.Free && m.Op != gen.Unregister &&
		slices.Equal(slices.Compact(slices.Sorted(slices.Values(m.Devices))), all) {
		e.Devices = event.Opt[[]device.ID]{} // which are all
	}
	if !readable(e) {
		return
	}
	n.node++
	launched := len(n.launched)
	err := n.call(m)
	if n.polite && err != nil { // which has changed nothing
		n.node, n.launched = n.node-1, n.launched[:launched]
		return
	}
	require.NoError(n.t, n.w.Write(e))
	for _, l := range n.launched[launched:] {
		n.more.launch(n.fleet, l.program, l.device)
	}
	n.refuse(m, err)
	n.look(m)
}

// idOf returns the id of a program, of none that of one that nobody has defined.
func idOf(p *program.Program) program.ID {
	if p == nil {
		return undefined
	}
	return p.ID()
}

func kindsOfMoves() map[gen.Op]event.Kind {
	return map[gen.Op]event.Kind{
		gen.AddDevice: event.KindDevice, gen.AddMesh: event.KindMesh, gen.Remove: event.KindRemove, gen.Register: event.KindRegister,
		gen.Unregister: event.KindUnregister, gen.UnregisterAll: event.KindUnregister, gen.Replace: event.KindReplace,
		gen.ResetPeaks: event.KindResetPeaks, gen.Dispatch: event.KindDispatch, gen.Evict: event.KindEvict,
		gen.BeginTrace: event.KindTraceBegin, gen.Record: event.KindRecord, gen.EndTrace: event.KindTraceEnd,
		gen.Replay: event.KindReplay, gen.ReleaseTrace: event.KindRelease, gen.Allocate: event.KindAllocate,
		gen.Free: event.KindFree, gen.Enqueue: event.KindEnqueue, gen.SetHybrid: event.KindHybrid,
	}
}

// readable reports whether an event makes a line that can be read.
func readable(e *event.Event) bool {
	var line bytes.Buffer
	if event.NewWriter(&line).Write(e) != nil {
		return false
	}
	for _, err := range events(&line, "line") {
		if err != nil {
			return false
		}
	}
	return true
}

// define writes the definition of a program, unless it is the latest of its id.
func (n *naive) define(p *program.Program) {
	if p == nil || n.defined[p.ID()] == p {
		return
	}
	e := &event.Event{Kind: event.KindProgram, Program: p.ID(), AsWritten: p.AsWritten(), Bases: slices.Collect(p.Bases())}
	for _, placed := range p.CBs() {
		e.CBs = append(e.CBs, event.CB{CB: placed.CB})
	}
	if !readable(e) {
		return
	}
	n.node++
	require.NoError(n.t, n.w.Write(e))
	n.defined[p.ID()], n.placed[p.ID()] = p, map[l1.Spec]*program.Program{}
	n.look(gen.Move{})
}

// errUndefined is why a line with a program that nobody has defined is refused.
var errUndefined = errors.New("undefined")

// place returns a program as it is defined now, for the first of some devices.
func (n *naive) place(id program.ID, on []uint64) (*program.Program, error) {
	def := n.defined[id]
	if def == nil {
		return nil, errUndefined
	}
	var spec l1.Spec
	if len(on) > 0 {
		var err error
		if spec, err = n.fleet.Spec(slices.Min(on)); err != nil {
			return nil, err
		}
	}
	if p := n.placed[id][spec]; p != nil {
		return p, nil
	}
	b := program.NewBuilder(id).Like(def)
	for _, cb := range def.CBs() {
		b.CB(cb.CB)
	}
	p, err := b.Build(spec)
	if err != nil {
		return nil, err
	}
	n.placed[id][spec] = p
	want := model.PlaceLike(p)
	for i, cb := range p.CBs() {
		if !cb.Global {
			require.Equal(n.t, want[i], cb.Address)
		}
	}
	return p, nil
}

// call makes the call that a line stands for, and notes what it launches.
func (n *naive) call(m gen.Move) error {
	switch m.Op {
	case gen.AddDevice, gen.AddMesh:
		return n.add(m)
	case gen.Register, gen.Enqueue:
		return n.register(m)
	case gen.Replace:
		old := idOf(m.Program)
		p, err := n.place(idOf(m.New), n.fleet.Where(old))
		if err != nil {
			return err
		}
		if _, err = n.fleet.Replace(old, p); err == nil {
			delete(n.registered, old)
			n.count(p, n.fleet.Where(p.ID()))
		}
		return err
	case gen.UnregisterAll:
		if len(n.fleet.Where(idOf(m.Program))) == 0 {
			return model.ErrNotRegistered
		}
	case gen.Unregister:
		return n.fleet.Unregister(idOf(m.Program), m.Devices)
	case gen.Evict:
		_, err := n.fleet.Evict(idOf(m.Program), m.Devices)
		return err
	case gen.Dispatch:
		err := n.fleet.Dispatch(idOf(m.Program), m.Devices)
		if err == nil && len(m.Devices) > 0 {
			n.launch(n.registered[idOf(m.Program)], m.Devices)
		}
		return err
	case gen.BeginTrace:
		id, err := n.fleet.BeginTrace(m.Devices)
		if err == nil {
			n.traces[id] = &naiveTrace{on: slices.Clone(m.Devices)}
		}
		return err
	case gen.Record:
		err := n.fleet.Record(m.Trace, idOf(m.Program))
		if trace := n.traces[m.Trace]; err == nil && len(trace.on) > 0 && !slices.Contains(trace.recorded, n.registered[idOf(m.Program)]) {
			trace.recorded = append(trace.recorded, n.registered[idOf(m.Program)])
		}
		return err
	case gen.Replay:
		return n.replay(m.Trace)
	}
	_, err := m.Play(n.fleet)
	return err
}

func (n *naive) add(m gen.Move) error {
	_, err := m.Play(n.fleet)
	if err != nil {
		return err
	}
	for _, id := range n.fleet.Devices() {
		if n.rows[id] == nil {
			n.rows[id] = &naiveRow{programs: map[program.ID]bool{}}
		}
		spec, _ := n.fleet.Spec(id) // it is there
		if was, ok := n.born[id]; ok && was != spec {
			n.seen["a device that comes back as another"]++
		}
		n.born[id] = spec
	}
	return nil
}

// register registers or enqueues a program.
func (n *naive) register(m gen.Move) error {
	id := idOf(m.Program)
	for _, on := range m.Devices {
		if _, err := n.fleet.Spec(on); err != nil {
			return err
		}
	}
	p, err := n.place(id, m.Devices)
	if err != nil {
		return err
	}
	was := n.registered[id]
	var added []uint64
	if m.Op == gen.Enqueue {
		added, err = n.fleet.Enqueue(p, m.Devices)
	} else {
		added, err = n.fleet.Register(p, m.Devices)
	}
	ran := p
	if was != nil {
		ran = was
	}
	if err == nil && len(added) > 0 { // the event has the new cut into CBs, the program that runs has the old one
		n.count(p, added)
		n.registered[id] = ran
	}
	// Of what is refused for nothing else a verdict is said.
	if m.Op == gen.Enqueue && len(m.Devices) > 0 && (unfit(err) || only(err, model.ErrGrid)) {
		n.launchAll([]*program.Program{ran}, m.Devices)
	}
	return err
}

// unfit reports whether an error is that a program does not fit, if there is one. That
// sums would be too large besides is said second.
func unfit(err error) bool {
	return err == nil || errors.Is(err, model.ErrFit) && only(err, model.ErrFit, model.ErrOverflow)
}

// only reports whether an error is of no other class than some.
func only(err error, classes ...error) bool {
	for _, class := range model.Errors() {
		if errors.Is(err, class) && !slices.ContainsFunc(classes, func(c error) bool { return errors.Is(c, class) }) {
			return false
		}
	}
	return !errors.Is(err, errUndefined)
}

// count records that a program was registered on devices.
func (n *naive) count(p *program.Program, added []uint64) {
	n.registered[p.ID()] = p
	for _, cb := range p.CBs() {
		n.placedCB = n.placedCB || len(added) > 0
		size := p.Spec().L1Size
		n.beyond = n.beyond || !cb.Global && cb.Size > 0 && size > 0 && cb.Range.End > size && len(added) > 0
		if cb.Kind == program.CircularBuffer {
			for _, id := range added {
				n.rows[id].programs[p.ID()] = true
			}
		}
	}
}

// failed reports whether a launch is known not to fit.
func (l naiveLaunch) failed() bool { return len(l.verdict.Refusals) > 0 || len(l.verdict.Clashes) > 0 }

// launchAll judges programs on devices. They are doubted if none of them is known not to fit.
func (n *naive) launchAll(programs []*program.Program, on []uint64) {
	before := len(n.launched)
	for _, p := range programs {
		n.launch(p, on)
	}
	now := n.launched[before:]
	n.doubted = !slices.ContainsFunc(now, naiveLaunch.failed) &&
		slices.ContainsFunc(now, func(l naiveLaunch) bool { return len(l.verdict.Doubts) > 0 })
}

// launch judges a program on devices, each for itself.
func (n *naive) launch(p *program.Program, on []uint64) {
	for _, id := range slices.Compact(slices.Sorted(slices.Values(on))) {
		v, err := n.fleet.Check(p, []uint64{id})
		require.NoError(n.t, err)
		rooms, err := n.fleet.Headroom(p, []uint64{id})
		require.NoError(n.t, err)
		spec, _ := n.fleet.Spec(id) // it is there
		n.launched = append(n.launched, naiveLaunch{n.node, id, v, rooms, spec, p})
		for _, r := range v.Refusals {
			n.seen["refusal: "+r.Kind]++
		}
		switch {
		case v.Fits() && len(rooms) > 0:
			n.seen["fits"]++
		case len(v.Doubts) > 0:
			n.seen["doubt"]++
		case len(v.Refusals) == 0 && len(v.Clashes) > 0:
			n.seen["clash alone"]++
		case len(v.Clashes) == 0 && len(v.Refusals) > 0:
			n.seen["refusal alone"]++
		}
	}
}

func (n *naive) replay(id uint64) error {
	var on []uint64
	var recorded []*program.Program
	if trace := n.traces[id]; trace != nil {
		on, recorded = trace.on, trace.recorded
	}
	err := n.fleet.Replay(id)
	if unfit(err) {
		n.launchAll(recorded, on)
	}
	return err
}

// refuse records whether a line was refused, and why.
func (n *naive) refuse(m gen.Move, err error) {
	for id := range n.registered {
		if len(n.fleet.Where(id)) == 0 {
			delete(n.registered, id)
		}
	}
	specs := map[l1.Spec]bool{}
	for _, id := range m.Devices {
		if spec, err := n.fleet.Spec(id); err == nil {
			specs[spec] = true
		}
	}
	switch {
	case err == nil:
		n.seen[string(m.Op)]++
		if len(specs) > 1 {
			n.seen[string(m.Op)+" on several specs"]++
		}
		return
	case errors.Is(err, errUndefined):
		n.seen["refused: undefined"]++
	}
	for _, class := range model.Errors() {
		if errors.Is(err, class) {
			n.seen["refused: "+class.Error()]++
		}
	}
	if errors.Is(err, model.ErrSpec) && len(specs) > 1 {
		n.seen[string(m.Op)+" refused on several specs"]++
	}
	if !unfit(err) || (m.Op == gen.Enqueue || m.Op == gen.Replay) && err != nil && n.doubted {
		n.refused++
	}
}

// look records the state of the fleet after a line.
func (n *naive) look(m gen.Move) {
	for _, row := range n.rows { // of what is gone nothing is left
		p := &row.peaks
		*p = naivePeaks{
			alive: p.alive, core: p.core, logical: p.logical, tracked: p.tracked, l1: p.l1, small: p.small, dram: p.dram,
			dispatched: p.dispatched, onCore: p.onCore, buffers: p.buffers, programs: len(row.programs), needs: p.needs,
		}
	}
	for _, id := range n.fleet.Devices() {
		t, err := n.fleet.Totals(id)
		require.NoError(n.t, err)
		row := n.rows[id]
		p := &row.peaks
		if m.Op == gen.ResetPeaks && m.Devices[0] == id {
			*p, row.peak, row.usable = naivePeaks{programs: p.programs, needs: p.needs}, naivePeak{}, naiveUsable{}
		}
		if m.Op == gen.Allocate {
			n.extent(id, m.Buffer)
		}
		p.needs = n.needs(id, p.needs, t)
		u := n.fleet.Usage(id, true)
		p.dataflow, p.scratchpad = u.Of[model.Dataflow], u.Of[model.Scratchpad]
		p.final, p.finalCore, p.reserved, p.loose, p.finalTrack = t.Registered, t.Core, t.Reserved, t.Logical, t.Tracked
		p.finalL1, p.finalSmall, p.finalDRAM, p.finalBuffers = t.Buffers.L1, t.Buffers.L1Small, t.Buffers.DRAM, t.Buffers.Count
		p.finalDispatched = t.Resident
		p.alive, p.core, p.logical = max(p.alive, t.Registered), max(p.core, t.Core), max(p.logical, t.Logical)
		p.tracked, p.dispatched = max(p.tracked, t.Tracked), max(p.dispatched, t.Resident)
		p.l1, p.small, p.dram = max(p.l1, t.Buffers.L1), max(p.small, t.Buffers.L1Small), max(p.dram, t.Buffers.DRAM)
		p.buffers, p.onCore = max(p.buffers, t.Buffers.Count), max(p.onCore, t.TrackedCore)
		if t.TrackedCore > row.peak.bytes {
			row.peak = n.peak(id, t.TrackedCore)
		}
		if now := n.usable(id); now.below > row.usable.below {
			row.usable = now
		}
		n.samples[[2]uint64{n.node, id}] = naiveSample{t.Registered, t.Resident, t.Tracked, t.TrackedCore, n.room(id, t)}
	}
	n.more.live(n.fleet)
	for id := range n.more.last {
		if !slices.Contains(n.fleet.Devices(), id) { // it may come back empty
			delete(n.more.last, id)
		}
	}
	if n.node == n.more.question.At.V {
		n.more.now(n.fleet)
	}
	n.seekScarcity()
	if n.node == n.asked.at {
		n.held, n.groups = n.who(n.asked.address), n.allGroups()
	}
	specs := map[l1.Spec]bool{}
	for _, id := range n.fleet.Devices() {
		if t, _ := n.fleet.Totals(id); t.Registered > 0 && t.Buffers.L1 > 0 { // it is there
			spec, _ := n.fleet.Spec(id)
			specs[spec] = true
		}
	}
	if len(specs) > 1 {
		n.seen["programs and buffers on several specs"]++
	}
}

// extent notes a buffer that ends beyond the L1 of a device that has it now, or shares a byte of a core with another one.
func (n *naive) extent(id uint64, b model.Buffer) {
	spec, _ := n.fleet.Spec(id) // it is there
	for _, have := range n.fleet.Buffers(id) {
		for _, part := range have.Parts {
			if have.ID == b.ID && have.Kind.InL1() && spec.L1Size > 0 && part.Range.End > spec.L1Size {
				n.beyond = true
			}
			if have.ID == b.ID && have.Kind.InL1() && have.Kind != model.Kernel && have.Kind != model.Reserved {
				n.overlap = n.overlap || n.shares(id, b.ID, part)
			}
		}
	}
}

// shares reports whether another buffer has a byte of a part on one of its cores.
func (n *naive) shares(id, buffer uint64, part model.Part) bool {
	for _, other := range n.fleet.Buffers(id) {
		for _, p := range other.Parts {
			if other.ID == buffer || !other.Kind.InL1() || other.Kind == model.Kernel || other.Kind == model.Reserved {
				continue
			}
			for core := range p.Cores.Cores().All() {
				if part.Cores.Cores().Has(core) && max(part.Range.Start, p.Range.Start) < min(part.Range.End, p.Range.End) {
					return true
				}
			}
		}
	}
	return false
}

// A naiveNeeds are the lowest addresses of L1 and L1_SMALL buffers, 0 without one, and the most bytes of trace buffers.
type naiveNeeds struct{ l1, small, trace uint64 }

// needs returns the needs of a device after a line.
func (n *naive) needs(id uint64, was naiveNeeds, t model.Totals) naiveNeeds {
	for _, b := range n.fleet.Buffers(id) {
		to := map[model.Kind]*uint64{model.L1: &was.l1, model.GlobalCB: &was.l1, model.L1Small: &was.small}[b.Kind]
		if to == nil || b.Backing || len(b.Parts) == 0 {
			continue
		}
		start := slices.MinFunc(b.Parts, func(a, b model.Part) int { return cmp.Compare(a.Range.Start, b.Range.Start) }).Range.Start
		if start > 0 && (*to == 0 || start < *to) {
			*to = start
		}
	}
	was.trace = max(was.trace, t.Buffers.Trace)
	return was
}

// room returns the least room of what is registered on a device.
func (n *naive) room(id uint64, t model.Totals) (least event.Opt[uint64]) {
	spec, _ := n.fleet.Spec(id) // it is there
	if t.Registered == 0 || spec.L1Size == 0 {
		return least
	}
	rooms, err := n.fleet.Headroom(nil, []uint64{id})
	require.NoError(n.t, err)
	for _, r := range rooms {
		if !least.OK || r.Free < least.V {
			least = event.Some(r.Free)
		}
	}
	return least
}

// naiveCores are the cores of a device, which may have had several Specs, on which anything may lie in these tests: the corner of the
// grid that generators use, or a wide row, a column outside of it, and the end of a wide row, where a
// service core may lie on any device.
func naiveCores(specs ...l1.Spec) (out []l1.Core) {
	cols := 6
	for _, spec := range specs {
		cols = max(cols, spec.Cols)
	}
	for x := range uint8(36) {
		for y := range uint8(4) {
			if int(x) < cols || x >= 30 {
				out = append(out, l1.Core{X: x, Y: y})
			}
		}
	}
	return out
}

// cores are the cores on which anything may lie on a device.
func (n *naive) cores(id uint64) []l1.Core {
	spec, _ := n.fleet.Spec(id) // it is there
	return naiveCores(spec)
}

// peak describes the fullest cores of a device.
func (n *naive) peak(id, bytes uint64) naivePeak {
	out := naivePeak{bytes: bytes, at: n.node, kinds: map[string]uint64{}, groups: n.groupsOf(id)}
	for _, c := range n.cores(id) {
		u := n.fleet.CoreUsage(id, c, false)
		if u.Tracked != bytes {
			continue
		}
		if out.cores = append(out.cores, c); len(out.cores) > 1 {
			continue
		}
		for kind, b := range u.Of {
			out.kinds[string(kind)] = b
		}
		for _, r := range n.fleet.Residents(id, c, false) {
			out.held = append(out.held, spellResident(r))
		}
	}
	slices.Sort(out.held)
	return out
}

// usable counts the bytes below L1_SMALL on each core of a device, one by one.
func (n *naive) usable(id uint64) (most naiveUsable) {
	spec, err := n.fleet.Spec(id)
	require.NoError(n.t, err)
	for _, c := range n.cores(id) {
		below := map[uint64]bool{}
		for _, r := range n.fleet.Residents(id, c, false) {
			if r.Kind == model.Kernel || r.Kind == model.Reserved {
				continue
			}
			for a := r.Range.Start; a < r.Range.End && (spec.L1Small == 0 || a < spec.Usable().End); a++ {
				below[a] = true
			}
		}
		bytes := uint64(len(below))
		if bytes > most.below {
			most = naiveUsable{bytes, n.fleet.CoreUsage(id, c, false).Tracked, n.node, nil}
		}
		if bytes > 0 && bytes == most.below {
			most.cores = append(most.cores, c)
		}
	}
	return most
}

func (n *naive) allGroups() map[uint64]naiveGroups {
	out := map[uint64]naiveGroups{}
	for _, id := range n.fleet.Devices() {
		out[id] = n.groupsOf(id)
	}
	return out
}

// groupsOf says what lies on the cores of a device now.
func (n *naive) groupsOf(id uint64) naiveGroups {
	out := naiveGroups{}
	for _, c := range n.cores(id) {
		for _, r := range n.fleet.Residents(id, c, false) {
			out[c] = append(out[c], spellResident(r))
		}
		if out[c] != nil {
			slices.Sort(out[c])
			out[c] = append(out[c], fmt.Sprint(n.fleet.CoreUsage(id, c, false).Tracked))
		}
	}
	return out
}

func spellResident(r model.Resident) string {
	of := "buffer"
	if r.CB >= 0 {
		of = fmt.Sprintf("program %d", r.Program)
	}
	return fmt.Sprintf("%s %v %s", r.Kind, r.Range, of)
}

// who says what holds a byte, by device and core.
func (n *naive) who(addr uint64) map[string][]string {
	out := map[string][]string{}
	for _, id := range n.fleet.Devices() {
		for _, c := range n.cores(id) {
			at := fmt.Sprintf("%d %v", id, c)
			for _, r := range n.fleet.Residents(id, c, false) {
				if r.Range.Has(addr) {
					out[at] = append(out[at], "resident "+spellResident(r))
				}
			}
			for _, r := range n.fleet.Residents(id, c, true) {
				if r.Kind == model.CB && r.Range.Has(addr) {
					out[at] = append(out[at], "registered "+spellResident(r))
				}
			}
			slices.Sort(out[at])
			if len(out[at]) == 0 {
				delete(out, at)
			}
		}
	}
	if len(out) > 0 {
		n.seen["who: held"]++
	}
	specs := map[l1.Spec]bool{}
	for _, id := range n.fleet.Devices() {
		if slices.ContainsFunc(slices.Collect(maps.Keys(out)), func(at string) bool { return strings.HasPrefix(at, fmt.Sprint(id, " ")) }) {
			spec, _ := n.fleet.Spec(id)
			specs[spec] = true
		}
	}
	if len(specs) > 1 {
		n.seen["who: held on several specs"]++
	}
	return out
}
