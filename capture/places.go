package capture

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
)

// places is the third stage of a reading: what happens on which device. Each of its parts knows one thing.
type places struct {
	*ground
	opt      Options
	devices  devices
	programs *programs
	memory   *memory
	upstream upstreamSums
	shows    shows
	at       uint64 // counter of the node at hand
	farthest uint64 // largest counter that a connection names
}

func newPlaces(known *knowledge, opt Options, info *reportInfo) *places {
	g, a := newGround(known, opt, info), newAbsentees()
	return &places{ground: g, opt: opt, devices: devices{g}, programs: newPrograms(g, a), memory: newMemory(g, a)}
}

// stand records where the stage stands: at a node, and in which functions.
func (p *places) stand(s *step) {
	p.at, p.programs.call, p.memory.path = s.at, s.call, s.call.path
}

// next records a node. Each type that decoder.decodes knows has its case here.
func (p *places) next(s *step) {
	n := s.node
	p.stand(s)
	p.note(n)
	p.attend(s.at)
	p.memory.tellEarlier(n)
	if p.memory.past != nil {
		p.memory.past.next(n)
	}
	if n.Unreadable != nil {
		p.unreadable(s)
		return
	}
	switch n.Type {
	case typeCircularBufferAllocate, typeDataflowBufferAllocate, typeScratchpadAllocate:
		p.place(n)
	case typeCircularBufferDeallocateAll:
		p.upstream.free()
		p.free(s)
	case typeBuffer:
		p.memory.live.node(n)
	case typeBufferAllocate, typeBufferDeallocate:
		p.bufferEvent(n)
	case typeTensor:
		p.members(n)
		if n.Tensor.Mode == fit.PerCore {
			p.devices.perCore(idOf(n.DeviceID), s.at, p.memory.heights.made)
		}
		p.tensor(n)
	case typeProgramExecution:
		if n.DeviceID.OK && n.PhysicalDeviceID.OK {
			p.learn(device.ID(n.DeviceID.V), device.ID(n.PhysicalDeviceID.V))
		}
		p.execute(s)
	case typeFunctionStart:
		p.enter(s)
	case typeFunctionEnd:
		p.end(s)
	case typeError:
		p.known.sizes.banks.read(n.Error.Message)
		p.out.notes.failed(n)
	case typeCaptureStart, typeCaptureEnd, typeSubDeviceManager: // say nothing of memory
	default:
		p.out.notes.add(noteUnknownType, int64(s.at), string(n.Type))
	}
}

// note counts odd facts about a node.
func (p *places) note(n *node) {
	at := int64(n.Counter)
	if n.Anomaly.Has(event.AnomalyDuplicateKey) {
		p.out.notes.add(noteDuplicateKey, at, "")
	}
	if n.Anomaly.Has(event.AnomalyDeviceTensors) {
		p.out.notes.add(noteBadDeviceTensors, at, "")
	}
	if p.memory.live.sliced {
		return // a connection may lead out of its slice
	}
	for _, c := range n.Connections {
		p.farthest = max(p.farthest, c)
	}
}

// attend brings the residents up to date with the node that comes. Residents that ended before it go, and
// residents that are there by then come.
func (p *places) attend(next uint64) {
	for b, ok := p.memory.departing(next); ok; b, ok = p.memory.departing(next) {
		p.cross(b.buffer, b.until, next)
		p.memory.depart(b)
	}
	for b, ok := p.memory.arriving(next); ok; b, ok = p.memory.arriving(next) {
		p.cross(b.buffer, b.said.at, next)
		p.memory.arrive(b)
	}
}

// cross completes everything that came before a buffer comes or goes at a node. A buffer that waits for its tensor
// is later if it was allocated there: it may lie in the place of the buffer that goes.
func (p *places) cross(b *buffer, when, at uint64) {
	if w := p.memory.live.waiting; w == nil || w.said.at < when {
		p.settle()
	}
	p.complete(at, p.programs.open.of(b.place.on...))
}

// complete writes some open runs. A buffer that waits for its tensor comes before them.
func (p *places) complete(at uint64, some []*run) {
	if len(some) > 0 {
		p.settle()
		p.programs.complete(at, some)
	}
}

// completeOn writes the open runs of the units that an id reaches.
func (p *places) completeOn(id device.ID) { p.complete(p.at, p.programs.open.on(id)) }

// settle lays the buffer that waits for its tensor, because something to come depends on it.
func (p *places) settle() {
	if b := p.memory.waits(); b != nil {
		p.lay(b)
	}
}

// lay finds the place of a new buffer and writes its event.
func (p *places) lay(b *buffer) {
	p.meet(b.said.named)
	p.memory.lay(b)
}

// place records a node that places a CB, dataflow buffer or scratchpad.
func (p *places) place(n *node) {
	p.shows.placed, p.shows.recorded = true, p.shows.recorded || n.Address.V != 0
	p.grids.see(n.Placed.Cores)
	p.upstream.place(n)
	u := p.meet(idOf(n.DeviceID))
	if n.Address.V == 0 && !n.Placed.Global && p.specs.hidesBase() {
		p.programs.hidePrograms(n.Counter, u.id)
		return
	}
	p.programs.place(n, u)
}

// free ends the runs of the unit that a node names, and of the chips of the mesh
// with that id; without an id, of all.
func (p *places) free(s *step) {
	id := idOf(s.node.DeviceID)
	if s.hides {
		p.completeOn(id)
		p.programs.hideFree(s.at, id)
		return
	}
	if s.again && p.programs.heralds.again(id) {
		return
	}
	p.hit(s)
	p.close(s.closed)
	p.completeOn(id)
	p.programs.free(s.at, id)
	if p.known.members.onlyChip(id) {
		return
	}
	p.programs.lift(s.at, id)
	if !p.known.members.unread || id == event.NoDevice {
		return
	}
	others := p.programs.doubted(id)
	p.complete(s.at, p.programs.open.of(others...))
	p.programs.hideDoubted(s.at, id, others)
}

// close ends a free that nothing followed. An operation that is not known to have
// hit the program cache, or was aborted, ran something hidden. In a plan nothing is.
func (p *places) close(f *freeing) {
	if f == nil || !f.inOp || f.settled {
		return
	}
	p.programs.running.decide(f.start)
	if !f.cacheHit.V || p.known.aborted[f.start] {
		p.shows.not(p.out.unlessPlan, f.name, f.start)
	}
}

// hit writes the programs that ran where the innermost function found its program in the cache, if
// they are known.
func (p *places) hit(s *step) {
	if !s.hit {
		return
	}
	first, f := s.call.start, s.behind
	if f != nil && !s.says {
		first = f.counter
	}
	p.programs.running.decide(s.call.start)
	var rounds [][]start
	if !p.opt.NoInfer {
		rounds = p.programs.again(f, first, s.at)
	}
	if len(rounds) > 0 {
		p.settle()
	}
	for _, starts := range rounds {
		for _, one := range starts {
			p.programs.completeBefore(one.unit, s.at)
		}
		p.programs.start(starts, s.at)
	}
	known := len(rounds) > 0
	if known {
		p.out.notes.add(noteInferred, int64(first), s.call.name)
	} else if s.says {
		p.out.hidden.add(hiddenCacheHit, int64(s.call.start), s.call.name)
	}
	if f != nil {
		f.settled = known || s.says
	}
}

// enter records that a function begins.
func (p *places) enter(s *step) {
	p.programs.running = append(p.programs.running, calling{start: s.at})
	if p.opt.Operations {
		p.out.tell(&event.Event{Kind: event.KindOpStart, Node: s.at, Name: shown.Clip(s.node.Function.Name, shown.MaxName)})
	}
}

// end records that the innermost function ends, and with it the runs that began in it.
func (p *places) end(s *step) {
	if !s.ends {
		p.out.notes.add(noteEndWithoutStart, int64(s.at), s.node.Function.Name)
		return
	}
	if s.aborts {
		p.programs.abort(s)
	}
	p.hit(s)
	p.complete(s.at, p.programs.open.from(s.call.depth))
	p.programs.running = p.programs.running[:s.call.depth-1]
	if p.opt.Operations {
		p.out.tell(&event.Event{Kind: event.KindOpEnd, Node: s.at})
	}
}

// execute records an execution of a program that its chip began to run.
func (p *places) execute(s *step) {
	p.shows.executed = true
	if !s.node.PhysicalDeviceID.OK {
		return
	}
	chip := device.ID(s.node.PhysicalDeviceID.V)
	if u := p.units.byID[chip]; u != nil && len(u.since.programs) > 0 {
		if free, missed := p.programs.heralds.missed(u); missed && u.since.programs[0].first < free {
			p.known.tooLate(noteMeshLate) // the programs before the free are none of those that it announced
		}
	}
	p.hit(s)
	u := p.units.byID[chip]
	p.complete(s.at, p.programs.open.of(u))
	e := &event.Event{
		Kind: event.KindExecuted, Node: s.at, Op: event.Some(s.call.path), Devices: event.Some([]device.ID{chip}),
	}
	if u != nil {
		e.Program, e.Known = u.since.next(max(u.met, u.since.at), s.at)
	}
	blind := func(u *unit) bool { return u != nil && u.blind }
	if !e.Known && !p.shownOnMesh(chip) && !blind(u) {
		p.programs.heralds.guessed.alone[chip] = true
		first := s.call.start
		if s.call.depth == 0 {
			first = s.at
		}
		p.shows.not(p.out.hidden, s.call.name, first)
	}
	p.out.tell(e)
}

// shownOnMesh reports whether what a chip executes is shown under the id of its mesh.
func (p *places) shownOnMesh(chip device.ID) bool {
	for _, mesh := range p.known.members.meshesOf(chip) {
		u := p.units.byID[mesh]
		p.complete(p.at, p.programs.open.of(u))
		if u != nil && len(u.since.programs) > 0 {
			return true
		}
	}
	return false
}

// bufferEvent records an allocation or free of a buffer. Runs on its units are
// complete by then.
func (p *places) bufferEvent(n *node) {
	p.settle()
	delete(p.memory.live.tensors, n.Counter) // a buffer named it, and it is no tensor
	id := idOf(n.DeviceID)
	p.completeOn(id)
	p.upstream.buffer(n)
	if n.Type == typeBufferAllocate {
		p.upstream.pair(n, true)
		p.allocate(n, id)
		return
	}
	p.upstream.pair(n, p.memory.free(n, id))
}

// allocate records an allocation.
func (p *places) allocate(n *node, id device.ID) {
	b := p.memory.allocate(n, id)
	if b == nil {
		return
	}
	if of := p.memory.live.backed(b); of != nil {
		if !of.hidden {
			p.meet(id)
		}
		p.memory.back(of, b)
		return
	}
	if p.memory.add(b, n) {
		p.lay(b)
	}
}

// tensor records a tensor, which names the cores of a sharded buffer.
func (p *places) tensor(n *node) {
	if b := p.memory.tensor(n); b != nil {
		p.lay(b)
	}
}
