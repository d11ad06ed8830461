package capture

import (
	"slices"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
)

// places is the third stage of a reading: what happens on which device. Each of its parts knows one thing.
type places struct {
	*shared
	opt      Options
	programs *programs
	memory   *memory
	upstream upstreamSums
	lacking  event.Opt[uint64]  // start of the last function that counts as not shown
	unclear  map[device.ID]bool // numbers of circular buffers that may be a chip's or a mesh's
	at       uint64             // counter of the node at hand
	farthest uint64             // largest counter that a connection names
	freed    device.ID          // id of the last free with one
}

func newPlaces(known *survey.Knowledge, opt Options) *places {
	g := newShared(known, opt)
	return &places{shared: g, opt: opt, freed: event.NoDevice, unclear: map[device.ID]bool{}, programs: newPrograms(g, opt.NoInfer), memory: newMemory(g)}
}

// setPosition records the node at hand, and the functions that run.
func (p *places) setPosition(s *step) {
	p.at, p.programs.call, p.memory.path = s.at, s.call, s.call.path
}

// next records a node. Each type that package graph decodes has its case here.
func (p *places) next(s *step) {
	n := s.node
	p.Known.Members.Resolve(n)
	p.setPosition(s)
	p.note(n)
	p.expireAndPlace(s.at)
	p.memory.emitEarlier(n)
	if n.Unreadable != nil {
		p.unreadable(s)
		return
	}
	switch n.Type {
	case graph.TypeCircularBufferAllocate, graph.TypeDataflowBufferAllocate, graph.TypeScratchpadAllocate:
		p.place(n)
	case graph.TypeCircularBufferDeallocateAll:
		p.upstream.free()
		p.free(s)
	case graph.TypeBuffer:
		p.memory.live.Node(n)
	case graph.TypeBufferAllocate, graph.TypeBufferDeallocate:
		p.bufferEvent(n)
	case graph.TypeProgramExecution:
		p.execute(s)
	case graph.TypeFunctionStart:
		p.enter(s)
	case graph.TypeFunctionEnd:
		p.end(s)
	case graph.TypeError:
		p.out.notes.failed(n)
	case graph.TypeTensor: // the survey has read the rest
		if p.Known.Before.Placeless.Has(s.at) {
			p.memory.unplace(n, fit.KindL1)
		}
	case graph.TypeCaptureStart, graph.TypeCaptureEnd, graph.TypeSubDeviceManager: // say nothing of memory
	default:
		p.out.notes.add(noteUnknownType, int64(s.at), string(n.Type))
	}
}

// note counts odd facts about a node.
func (p *places) note(n *graph.Node) {
	at := int64(n.Counter)
	if n.Anomaly.Has(event.AnomalyDuplicateKey) {
		p.out.notes.add(noteDuplicateKey, at, "")
	}
	if n.Anomaly.Has(event.AnomalyDeviceTensors) {
		p.out.notes.add(noteBadDeviceTensors, at, "")
	}
	if p.memory.live.Sliced {
		return // a connection may lead out of its slice
	}
	for _, c := range n.Connections {
		p.farthest = max(p.farthest, c)
	}
}

// expireAndPlace brings the residents up to date with the node that comes. Residents that ended before it go, and
// residents that are there by then come.
func (p *places) expireAndPlace(next uint64) {
	for b, ok := p.memory.departing(next); ok; b, ok = p.memory.departing(next) {
		p.programs.complete(next, p.programs.open.of(p.units.of(b.Place.On)...))
		p.memory.depart(b)
	}
	for b, ok := p.memory.arriving(next); ok; b, ok = p.memory.arriving(next) {
		p.programs.complete(next, p.programs.open.of(p.units.of(b.Place.On)...))
		p.memory.arrive(b)
	}
}

// completeOn writes the open runs of the units that an id reaches.
func (p *places) completeOn(id device.ID) { p.programs.complete(p.at, p.programs.open.on(id)) }

// place records a node that places a CB, dataflow buffer or scratchpad.
func (p *places) place(n *graph.Node) {
	p.upstream.place(n)
	on, unclear := p.Known.Members.Places(n, p.freed)
	if unclear {
		p.unclear[on[0]] = true
	}
	for _, id := range on {
		u := p.units.byID[id]
		if n.Address.V == 0 && !n.Placed.Global && p.hidesBase(u, n.Counter) {
			p.programs.hidePrograms(n.Counter, u)
			continue
		}
		p.programs.place(n, u)
	}
}

// hidesBase reports whether the report hides where the circular buffers of a unit start.
func (p *places) hidesBase(u *unit, at uint64) bool {
	if u.bases && !u.hidden {
		p.out.hidden.add(hiddenSpecs, int64(at), "")
	}
	return u.bases || p.Specs.HidesBase()
}

// free ends the runs of the unit that a node names, and of the chips of the mesh
// with that id; without an id, of all.
func (p *places) free(s *step) {
	id := graph.DeviceOf(s.node.DeviceID)
	if id != event.NoDevice {
		p.freed = id
	}
	switch {
	case s.hides:
		p.programs.hideFree(s.at, id)
		return
	case s.again:
		p.units.announcement(id).programs++ // all frees of a workload of several programs come first
		return
	case s.dies:
		u := p.units.byID[id]
		p.programs.complete(s.at, p.programs.open.of(u))
		p.programs.end(s.at, u)
		return
	}
	p.endHit(s)
	p.completeOn(id)
	p.programs.free(s.at, id)
	p.programs.lift(id)
	if !p.Known.Members.Unread || id == event.NoDevice {
		return
	}
	p.programs.hideUnits(s.at, p.programs.doubted(id))
}

// endHit ends what the innermost function ran: the program that it found in the cache, and a free that nothing followed.
// An operation whose program is not known by now ran something hidden.
func (p *places) endHit(s *step) {
	p.hit(s)
	if f := s.closed; f != nil && f.inOp && !f.settled {
		p.noteLacking(f)
	}
	p.noteLacking(s.short)
}

// noteLacking notes that some of the programs that frees announced are not shown, if f is not nil. A capture without
// dispatch, a plan, shows every program.
func (p *places) noteLacking(f *freeing) {
	if f != nil {
		p.notShown(p.out.unlessPlan, f.name, f.start)
	}
}

// notShown notes that a function ran a program that the capture does not show. All frees and executions of the function
// count once.
func (p *places) notShown(in notes, name string, start uint64) {
	if p.lacking != event.Some(start) {
		p.lacking = event.Some(start)
		in.add(hiddenNotShown, int64(start), name)
	}
}

// hit writes the programs that ran where the innermost function found its program in the cache, if
// they are known.
func (p *places) hit(s *step) {
	if !s.hit {
		return
	}
	first, f := s.call.start, s.behind
	if f != nil && !s.flagged {
		first = f.counter
	}
	var rounds [][]start
	all := true
	if !p.opt.NoInfer {
		rounds, all = p.programs.again(f, first)
	}
	if s.opened != nil {
		s.opened.runs = f.runs + 1
	}
	for _, starts := range rounds {
		for _, one := range starts {
			p.programs.completeBefore(one.unit, s.at)
		}
		p.programs.start(starts, s.at)
	}
	known := len(rounds) > 0
	if known && !all {
		p.notShown(p.out.hidden, s.call.name, s.call.start)
	}
	if known {
		p.out.notes.add(noteInferred, int64(first), s.call.name)
	} else if s.flagged {
		p.out.hidden.add(hiddenCacheHit, int64(s.call.start), s.call.name)
	}
	if f != nil {
		f.settled = known || s.flagged
	}
}

// enter records that a function begins.
func (p *places) enter(s *step) {
	if p.opt.Operations {
		p.out.emit(&event.Event{Kind: event.KindOpStart, Node: s.at, Name: shown.Clip(s.node.Function.Name, shown.MaxName)})
	}
}

// end records that the innermost function ends, and with it the runs that began in it.
func (p *places) end(s *step) {
	if !s.ends {
		p.out.notes.add(noteEndWithoutStart, int64(s.at), s.node.Function.Name)
		return
	}
	if s.aborts && !s.noted && s.node.Unreadable == nil { // once for all functions that an exception ends
		p.out.notes.add(noteAborted, int64(s.at), strings.Trim(s.call.name+": "+s.node.Function.AbortReason, ": "))
	}
	p.endHit(s)
	p.programs.complete(s.at, p.programs.open.from(s.call.depth))
	if p.opt.Operations {
		p.out.emit(&event.Event{Kind: event.KindOpEnd, Node: s.at})
	}
}

// execute records an execution of a program that its chip began to run.
func (p *places) execute(s *step) {
	if !s.node.PhysicalDeviceID.OK {
		return
	}
	chip := device.ID(s.node.PhysicalDeviceID.V)
	p.hit(s)
	u := p.units.byID[chip]
	p.programs.complete(s.at, p.programs.open.of(u))
	e := &event.Event{
		Kind: event.KindExecuted, Node: s.at, Op: event.Some(s.call.path), Devices: event.Some([]device.ID{chip}),
	}
	if u != nil {
		e.Program, e.Known = u.now().next()
	}
	blind := func(u *unit) bool { return u != nil && u.hidden }
	if !e.Known && !p.shownOnMesh(chip) && !blind(u) {
		first := s.call.start
		if s.call.depth == 0 {
			first = s.at
		}
		p.notShown(p.out.hidden, s.call.name, first)
	}
	p.out.emit(e)
}

// shownOnMesh reports whether what a chip executes is shown under the id of its mesh.
func (p *places) shownOnMesh(chip device.ID) bool {
	for _, u := range p.units.meshesOf(chip) {
		if p.programs.complete(p.at, p.programs.open.of(u)); len(u.now().programs) > 0 {
			return true
		}
	}
	return false
}

// bufferEvent records an allocation or free of a buffer. Runs on its units are
// complete by then.
func (p *places) bufferEvent(n *graph.Node) {
	id, found := graph.DeviceOf(n.DeviceID), true
	p.completeOn(id)
	if n.Type == graph.TypeBufferAllocate {
		p.memory.allocate(n, id)
	} else {
		found = p.memory.free(n, id)
	}
	p.upstream.buffer(n, found)
}

// apart returns the ids whose L1 buffers no program is compared with. A program is compared with buffers under its
// own id, and with buffers of the meshes of its chip. A chip that runs nothing is no reason to doubt; an id that may
// be a mesh is, and so is a chip whose mesh runs under the id of the mesh. The one listed device may be the mesh of all
// chips. Programs without an id are compared with no buffer that has one.
func (p *places) apart() (ids []device.ID) {
	m := p.Known.Members
	nameless := p.units.byID[event.NoDevice]
	for id := range p.memory.own {
		u := p.units.byID[id]
		onMesh := func(mesh *unit) bool { return mesh.ran }
		switch {
		case p.units.ran == 0, id == event.NoDevice:
		case nameless != nil && nameless.ran, m.Row == event.Some(id) && (p.units.ran > 1 || u == nil || !u.ran):
			ids = append(ids, id)
		case u != nil && u.ran, m.IsMesh(id):
		case !m.IsChip[id], slices.ContainsFunc(p.units.meshesOf(id), onMesh):
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, graph.CompareDevices)
	return ids
}
