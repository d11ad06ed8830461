package capture

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/dump"
)

// A survey is the first reading of a capture. It gathers the facts that hold for the whole capture, wherever
// they stand in it, and makes no programs and no events.
type survey struct {
	known   *knowledge
	reader  *Reader
	running []frame
	live    *buffers
	lost    graph.Counters // nodes that stand for buffers, or may, and cannot be read
	past    *past
	shards  *shards              // of the last sharded buffer
	tensors map[uint64]uint64    // tensors to come -> the buffer node that names them
	small   map[device.ID]uint64 // lowest address of an L1_SMALL buffer, by the id that it names
	frees   groups
	proofs  proofs
	ids     namedIDs
	uses    *uses // nil: Options.Tensors does not ask

	again, late bool // it begins with all ids; another one is to begin with the ids of this one

	ran     bool // there is an execution
	bare    bool // an L1 buffer has no address
	several bool // frees back to back announce several programs
	planned bool // a local CB has no address
	placed  bool // one has an address
}

// A frame is a function that runs.
type frame struct {
	start uint64
	freed []device.ID // ids of its groups of frees
}

// addressed has two ids: of a circular buffer with an address, and of the last free before it.
type addressed struct{ id, freed device.ID }

// namedIDs are the ids that nodes name.
type namedIDs struct {
	all       map[device.ID]bool // of buffers, circular buffers, tensors and frees
	addressed map[addressed]bool
	nameless  bool               // a buffer or a circular buffer has no id
	freed     map[device.ID]bool // of frees of circular buffers
	late      bool               // a mesh and its chip turned out to share an L1 after nodes had named them
}

func newSurvey(r *Reader, m *members) *survey {
	k := newKnowledge(m)
	return &survey{
		known: k, reader: r, live: newBuffers(k), lost: graph.Counters{}, past: newPast(m), tensors: map[uint64]uint64{}, small: map[device.ID]uint64{},
		frees: newGroups(k), proofs: newProofs(m), ids: namedIDs{all: map[device.ID]bool{}, addressed: map[addressed]bool{}, freed: map[device.ID]bool{}},
	}
}

// run reads all nodes. yield takes the events of an input that is an event log or a dump.
func (s *survey) run(opt Options, yield func(*event.Event, error) bool) (isLog bool, err error) {
	r := s.reader
	r.dump = dump.Options{Arch: opt.Arch, Base: opt.Base, MaxL1: opt.MaxL1, L1Small: opt.L1Small}
	r.log = func(events iter.Seq2[*event.Event, error]) error {
		isLog = true
		for e, err := range events {
			if err != nil {
				return err
			}
			if !yield(e, nil) {
				return graph.ErrStop
			}
		}
		return nil
	}
	r.doc.Listed = s.list
	if opt.Tensors != nil {
		r.doc.Names, s.uses = true, newUses(opt.Tensors, s.known.members, r.callers())
	}
	if r.part != nil {
		s.live.sliced, s.past.time.sliced, r.doc.Ended = true, true, s.endSlice
	}
	defer func() { r.doc = graph.Document{File: r.doc.File} }() // r lives longer, and would keep the survey
	for n, err := range r.nodes() {
		if err != nil {
			return isLog, err
		}
		s.past.time.listable = r.doc.Object // else there are no lists
		s.next(n)
	}
	if !isLog {
		s.end(opt)
	}
	return isLog, nil
}

// next records a node.
func (s *survey) next(n *graph.Node) {
	s.unallocated(n)
	s.known.members.resolve(n)
	s.past.next(n)
	s.uses.next(n)
	if n.Unreadable != nil {
		s.unreadable(n)
		return
	}
	switch n.Type {
	case graph.TypeCircularBufferAllocate, graph.TypeDataflowBufferAllocate, graph.TypeScratchpadAllocate:
		s.place(n)
	case graph.TypeCircularBufferDeallocateAll:
		s.free(n)
	case graph.TypeBuffer:
		s.buffer(n)
	case graph.TypeBufferAllocate:
		s.allocate(n)
	case graph.TypeBufferDeallocate:
		s.deallocate(n)
	case graph.TypeTensor:
		s.mesh(n)
		if n.Tensor.Mode == fit.PerCore { // the device is in HYBRID mode, from the start and for all its buffers
			s.known.members.hybrid[graph.DeviceOf(n.DeviceID)] = true
		}
		s.tensor(n)
	case graph.TypeProgramExecution:
		s.execute(n)
	case graph.TypeFunctionStart:
		s.running = append(s.running, frame{start: n.Counter})
	case graph.TypeFunctionEnd:
		s.leave(n.Function.Aborted)
	case graph.TypeError:
		s.known.banks.read(n.Error.Message)
	}
}

// unreadable records a node with a field that cannot be read.
func (s *survey) unreadable(n *graph.Node) {
	switch n.Type {
	case graph.TypeCircularBufferAllocate, graph.TypeDataflowBufferAllocate, graph.TypeScratchpadAllocate:
		if n.DeviceID.OK {
			id := device.ID(n.DeviceID.V)
			s.meet(id)
			s.known.ids[id] = true
			on := []device.ID{id}
			if m := s.known.members; m.isBoth(id) {
				on = append(on, m.chips[id]...)
			}
			s.frees.place(on, n.Counter, s.inner())
		}
	case graph.TypeBufferAllocate:
		s.hide(n, graph.DeviceOf(n.DeviceID))
	case graph.TypeBuffer:
		s.lost.Add(n.Counter)
	case graph.TypeTensor:
		s.mesh(n)
		if !n.Tensor.HidesMode {
			n.Address, n.Buffer.BufferType = event.Opt[uint64]{}, event.Opt[uint64]{}
		}
		s.tensor(n)
	case graph.TypeProgramExecution:
		s.ran, s.known.members.unread = true, true
	case graph.TypeFunctionStart:
		s.running = append(s.running, frame{start: n.Counter})
	case graph.TypeFunctionEnd:
		s.leave(true)
	case "": // it may be any node
		s.lost.Add(n.Counter)
		s.known.members.unread = true
		s.tensor(n)
		s.hide(n, event.NoDevice)
	}
}

// leave records the end of the innermost function.
func (s *survey) leave(aborted bool) {
	last := len(s.running) - 1
	if last < 0 {
		return
	}
	of := s.running[last]
	if aborted && len(s.known.aborted) < maxTensors {
		s.known.aborted[of.start] = true
	}
	s.frees.end(of)
	s.running = s.running[:last]
}

// inner returns where the innermost function began.
func (s *survey) inner() uint64 {
	if last := len(s.running) - 1; last >= 0 {
		return s.running[last].start
	}
	return 0
}

// name records an id that a node names.
func (s *survey) name(id device.ID) {
	if id == event.NoDevice {
		s.ids.nameless = true
		return
	}
	s.ids.all[id] = true
}

// place records a node that places a circular buffer, a dataflow buffer or a scratchpad.
func (s *survey) place(n *graph.Node) {
	id, m := graph.DeviceOf(n.DeviceID), s.known.members
	s.name(id)
	if n.Address.V != 0 && id != event.NoDevice {
		s.ids.addressed[addressed{id, s.frees.named}] = true
	}
	on, _ := m.places(n, s.frees.named)
	for _, unit := range on {
		s.known.ids[unit], s.known.runs[unit] = true, true
	}
	s.known.placed[id] = true
	s.frees.place(on, n.Counter, s.inner())
	if n.Placed.Global && n.Address.V > 0 && n.Size.V > 0 && n.Placed.Cores.Len() > 0 && !s.past.hidden.OK {
		for _, unit := range on {
			s.proofs.place(n, unit)
		}
	}
	for r := range n.Placed.Cores.All() {
		s.see(r.End)
	}
	s.placed = s.placed || n.Address.V != 0
	s.planned = s.planned || n.Address.V == 0 && !n.Placed.Global
	if n.Address.V > 0 && !n.Placed.Global && n.Size.V > 0 {
		m.recorded = true
		of := &s.known.recorded
		*of = l1.Range{Start: lower(of.Start, n.Address.V), End: max(of.End, n.Address.V+n.Size.V)}
	}
}

// see records the farthest core of a rectangle.
func (s *survey) see(end l1.Core) {
	seen := &s.known.seen
	*seen = l1.Core{X: max(seen.X, end.X), Y: max(seen.Y, end.Y)}
}

// free records a free of circular buffers.
func (s *survey) free(n *graph.Node) {
	id := graph.DeviceOf(n.DeviceID)
	if id != event.NoDevice {
		s.ids.all[id], s.ids.freed[id] = true, true
	}
	var in *frame
	if len(s.running) > 0 {
		in = &s.running[len(s.running)-1]
	}
	s.several = s.frees.free(id, n.Counter, in) || s.several
}

// execute records an execution.
func (s *survey) execute(n *graph.Node) {
	m := s.known.members
	s.ran, m.executed, m.perChip = true, true, true
	if !n.PhysicalDeviceID.OK {
		return
	}
	chip := device.ID(n.PhysicalDeviceID.V)
	if n.DeviceID.OK {
		s.pair(device.ID(n.DeviceID.V), chip, true)
	} else {
		s.pair(chip, chip, false)
	}
	s.frees.ran[chip] = n.Counter + 1
}

// mesh records which chips of a mesh have a part of a tensor. A view without a buffer of its own has no id, and
// its parts repeat the ids of chips.
func (s *survey) mesh(n *graph.Node) {
	if n.Anomaly.Has(event.AnomalyDeviceTensors) {
		s.known.members.unread = true
	}
	for _, t := range n.Tensor.DeviceTensors {
		if t.MeshDeviceID.OK {
			s.pair(device.ID(t.MeshDeviceID.V), device.ID(t.DeviceID), n.DeviceID.OK || t.MeshDeviceID.V != t.DeviceID)
		}
	}
	if n.DeviceID.OK {
		s.name(device.ID(n.DeviceID.V))
	}
}

// pair records a chip and, if isMesh is true, a mesh that has it.
func (s *survey) pair(mesh, chip device.ID, isMesh bool) {
	m := s.known.members
	if m.isChip[chip] && (!isMesh || m.has(mesh, chip)) {
		return
	}
	m.isChip[chip] = true
	if isMesh {
		m.join(mesh, chip)
	}
	named := func(id device.ID) bool { return s.ids.all[id] }
	both := func(id device.ID) bool {
		return m.isBoth(id) && (m.isLone(id) && s.ids.freed[id] || !m.isLone(id) && named(id))
	}
	related := isMesh && mesh != chip && named(mesh) && (named(chip) || slices.ContainsFunc(m.meshes[chip], func(id device.ID) bool { return id != mesh && named(id) }))
	s.ids.late = s.ids.late || both(mesh) || both(chip) || related || isMesh && s.ids.freed[mesh] && len(m.chips[mesh]) > 1
}

// buffer records a buffer node, and which tensors belong to it.
func (s *survey) buffer(n *graph.Node) {
	s.live.node(n)
	added := 0
	for _, c := range n.Connections {
		if c > n.Counter && len(s.tensors) < maxTensors && added < 8 {
			s.tensors[c] = n.Counter
			added++
		}
	}
}

// allocate records an allocation.
func (s *survey) allocate(n *graph.Node) {
	delete(s.tensors, n.Counter) // a buffer named it, and it is no tensor
	b := s.live.allocation(n)
	s.name(graph.DeviceOf(n.DeviceID))
	if b == nil {
		s.hide(n, graph.DeviceOf(n.DeviceID))
		return
	}
	s.meet(b.said.named)
	if m := s.known.members; b.said.kind == fit.KindL1 {
		m.recorded = m.recorded || b.said.recorded > 0
		if s.bare = s.bare || !n.Address.OK; !n.Address.OK && m.recorded && !s.past.hidden.OK {
			s.past.hidden = event.Some(n.Counter) // what shows later may be this buffer
		}
	}
	if of := s.live.backed(b); of != nil {
		of.back(b)
		return
	}
	if b.said.kind.InL1() && b.said.recorded <= jsonobject.MaxL1 && b.said.perCore.V <= jsonobject.MaxL1 {
		s.known.recorded.End = max(s.known.recorded.End, b.said.recorded+b.said.perCore.V)
	}
	s.live.add(b)
	s.uses.allocated(b)
	b.life = s.past.allocated(b)
	s.proofs.allocated(b)
	if b.said.kind == fit.KindL1Small {
		s.small[b.said.named] = lower(s.small[b.said.named], b.said.recorded)
	}
	if b.sharded && b.node.OK && s.lost.Has(b.node.V) {
		s.describe(b, shards{unknown: true})
	}
}

// describe records how a sharded buffer lies. Most lie like the one before.
func (s *survey) describe(b *buffer, of shards) {
	b.shards = of
	if s.shards == nil || !s.shards.equal(of) {
		s.shards = &of
	}
	s.known.shards[b.said.at] = s.shards
}

// meet records the units on which the buffers of an id lie.
func (s *survey) meet(id device.ID) {
	if !s.known.members.isBoth(id) {
		s.known.ids[id] = true
		return
	}
	for _, chip := range s.known.members.chips[id] {
		s.known.ids[chip] = true
	}
}

// deallocate records a free.
func (s *survey) deallocate(n *graph.Node) {
	delete(s.tensors, n.Counter)
	s.name(graph.DeviceOf(n.DeviceID))
	switch b, backing := s.live.pair(n); {
	case b == nil:
		if !s.live.freed(n) {
			s.past.lost(n)
		}
	case backing == 0:
		s.live.remove(b)
		s.uses.freed(b, n.Counter)
		s.past.ended(b, n.Counter)
		s.proofs.freed(b, n.Counter)
	}
}

// tensor records a tensor, which names the cores of a sharded buffer.
func (s *survey) tensor(n *graph.Node) {
	node, named := s.tensors[n.Counter]
	delete(s.tensors, n.Counter)
	var found *evidence
	if named {
		found = s.past.evidence.byNode[node]
	}
	if n.Type == graph.TypeTensor {
		s.past.tensor(n, found)
	}
	of, ok := shardsOf(n)
	if !ok {
		return
	}
	for r := range n.Tensor.ShardGrid.All() {
		s.see(r.End)
	}
	list := s.live.byNode[node]
	switch {
	case named && len(list) > 0:
	case of.unknown:
		s.known.blind.add(n)
		return
	default:
		list = s.live.of(n)
	}
	if len(list) == 0 {
		return
	}
	if b := list[len(list)-1]; b.sharded && !b.shards.described() {
		s.describe(b, of)
	}
}

// list records a row of a list of buffers.
func (s *survey) list(row graph.ListedBuffer) {
	if m := s.known.members; row.Named == event.NoDevice && m.only.OK {
		row.Named = m.only.V
	}
	if !row.Begins {
		s.name(row.Named)
	}
	s.past.census.add(row)
}

// hide records an allocation that cannot be read.
func (s *survey) hide(n *graph.Node, id device.ID) {
	if !s.past.hidden.OK {
		s.past.hidden = event.Some(n.Counter)
	}
	if b := s.live.hidden(n, id); b != nil {
		b.life = s.past.allocated(b)
	}
}

// unallocated records the buffer node before n if the buffer is from before the capture.
func (s *survey) unallocated(n *graph.Node) {
	old := s.live.earlier(n)
	if old == nil || s.past.hidden.OK {
		return
	}
	if kind, ok := graph.BufferKind(old); ok && (kind == fit.KindL1 || kind == fit.KindL1Small) {
		s.past.evidence.used(old, kind)
	}
}

// endSlice records that the nodes from start to before next are all of an operation of a database.
func (s *survey) endSlice(start, next uint64) error {
	if next > start {
		s.unallocated(&graph.Node{})
		for len(s.running) > 0 {
			s.leave(false)
		}
		clear(s.tensors)
		s.past.time.starts, s.past.time.ends = append(s.past.time.starts, start), append(s.past.time.ends, next-1)
	}
	s.uses.endSlice(next)
	return nil
}

// end draws the conclusions from all nodes.
func (s *survey) end(opt Options) {
	s.uses.end()
	s.unallocated(&graph.Node{})
	for len(s.running) > 0 {
		s.leave(false)
	}
	k, info := s.known, &s.reader.doc.Info
	k.rows, k.badRows = info.Devices, info.Listed
	k.plan = len(k.placed) > 0 && !s.placed && !s.ran
	if s.late = s.joinAll() && !s.again; s.late {
		return // another survey begins with the ids of this one
	}
	if s.reader.part != nil {
		k.before.ends = s.past.absences()
		k.before.listed = s.past.census.devices
	}
	k.before.residents, k.before.harmless = s.past.residents()
	k.before.placeless = s.past.placeless
	k.before.placeless.Remove(s.past.evidence.backed)
	for c := range s.past.evidence.all() {
		if c.parts != nil && k.placed[c.named] && !k.members.isChip[c.named] { // programs run under the id of the mesh, on chips that differ
			k.before.placeless.Add(c.tensor)
		}
	}
	of := newShared(k, opt)
	k.before.unplaced = s.past.unplaced(func(id device.ID, address uint64) bool {
		spec, _ := of.specs.of(id)
		return spec.CBBase <= address && address < spec.L1Size
	})
	proven, least := s.proofs.residents(k.before.residents, k.members.isHybrid, of.perCore)
	hidden := func(r resident) bool { return !r.told && k.mayDescribe(r.named, r.address) }
	k.before.residents, k.before.least = append(slices.DeleteFunc(k.before.residents, hidden), proven...), least
	slices.SortStableFunc(k.before.residents, func(a, b resident) int { return cmp.Compare(a.since, b.since) })
	for node := range s.past.evidence.later {
		k.before.harmless[node] = true
	}
	for _, one := range k.before.residents {
		if one.kind == fit.KindL1Small {
			s.small[one.named] = lower(s.small[one.named], one.address)
		}
		if m := k.members; !one.unit && !m.isChip[one.named] && !m.isMesh(one.named) {
			k.ids[one.named] = true // it may be another name of a device that runs programs
		}
	}
	if !opt.L1Small.OK { // else the sizes of the file are not used
		of.specs.contradict(s.small)
		of.specs.conclude(s.small)
	}
}

// joinAll makes a mesh of the one chip of a capture of each id that no pair explains, if the file lists one device
// and no node names another chip. It reports whether that, or a number that is a mesh and a chip, came too late for
// this survey.
func (s *survey) joinAll() (late bool) {
	k, m := s.known, s.known.members
	late = s.ids.late || s.bare && m.recorded
	for cb := range s.ids.addressed {
		m.perChip = m.perChip || m.onlyChip(cb.id) || cb.freed != cb.id && m.has(cb.freed, cb.id)
	}
	for mesh := range m.chips {
		late = late || m.isBoth(mesh) && !m.isLone(mesh)
	}
	if len(k.rows) == 0 || len(s.ids.all) == 0 {
		return late
	}
	chip := device.ID(k.rows[0].ID)
	for _, row := range k.rows {
		if row.Unreadable || device.ID(row.ID) != chip {
			return late
		}
	}
	chips := maps.Clone(m.isChip)
	for cb := range s.ids.addressed {
		if !m.isMesh(cb.id) {
			chips[cb.id] = true
		}
	}
	if len(chips) > 1 {
		if !m.isChip[chip] && !m.isMesh(chip) {
			m.row = event.Some(chip)
		}
		return late
	}
	for one := range chips {
		if chip = one; !m.isChip[one] { // its mesh may have the same number
			m.isChip[one] = true
			m.join(one, one)
		}
	}
	for id := range s.ids.all {
		if id != chip && !m.isMesh(id) {
			m.join(id, chip)
			late = true
		}
	}
	if s.ids.nameless && !m.only.OK {
		m.only = event.Some(chip)
		late = true
	}
	return late
}

// lacks reports whether a reading for events finds facts that this one cannot: where each of several programs
// that are announced at once ends, and whether persistent pages lie below planned programs.
func (s *survey) lacks() bool { return s.several || s.planned && s.placed }
