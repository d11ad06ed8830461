package survey

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// A Survey is the first reading of a capture. It gathers the facts that hold for the whole capture, wherever
// they stand in it, and makes no programs and no events.
type Survey struct {
	Known   *Knowledge
	running []frame
	live    *Buffers
	lost    graph.Counters // nodes that stand for buffers, or may, and cannot be read
	past    *past
	shards  *Shards              // of the last sharded buffer
	tensors map[uint64]uint64    // tensors to come -> the buffer node that names them
	small   map[device.ID]uint64 // lowest address of an L1_SMALL buffer, by the id that it names
	frees   groups
	proofs  proofs
	ids     namedIDs
	Uses    *Uses // nil: nobody asks

	Again, Late bool // it begins with all ids; another one is to begin with the ids of this one

	ran     bool // there is an execution
	bare    bool // an L1 buffer has no address
	several bool // frees back to back announce several programs
	Planned bool // a local CB has no address
	Placed  bool // one has an address
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

// New returns a survey that begins with some ids.
func New(m *Members) *Survey {
	k := NewKnowledge(m)
	return &Survey{
		Known: k, live: NewBuffers(k), lost: graph.Counters{}, past: newPast(m), tensors: map[uint64]uint64{}, small: map[device.ID]uint64{},
		frees: newGroups(k), proofs: newProofs(m), ids: namedIDs{all: map[device.ID]bool{}, addressed: map[addressed]bool{}, freed: map[device.ID]bool{}},
	}
}

// SlicesOf prepares for the slices of a database.
func (s *Survey) SlicesOf() { s.live.Sliced, s.past.time.sliced = true, true }

// MayList says that lists of buffers may come: else each life of an address counts for itself.
func (s *Survey) MayList() { s.past.time.listable = true }

// Next records a node.
func (s *Survey) Next(n *graph.Node) {
	s.unallocated(n)
	s.Known.Members.Resolve(n)
	s.past.next(n)
	defer s.Uses.next(n) // which may need the pair that the node shows
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
			s.Known.Members.hybrid[graph.DeviceOf(n.DeviceID)] = true
		}
		s.tensor(n)
	case graph.TypeProgramExecution:
		s.execute(n)
	case graph.TypeFunctionStart:
		s.running = append(s.running, frame{start: n.Counter})
	case graph.TypeFunctionEnd:
		s.leave(n.Function.Aborted)
	case graph.TypeError:
		s.Known.banks.read(n.Error.Message)
	}
}

// unreadable records a node with a field that cannot be read.
func (s *Survey) unreadable(n *graph.Node) {
	switch n.Type {
	case graph.TypeCircularBufferAllocate, graph.TypeDataflowBufferAllocate, graph.TypeScratchpadAllocate:
		if n.DeviceID.OK {
			id := device.ID(n.DeviceID.V)
			s.meet(id)
			s.Known.IDs[id] = true
			on := []device.ID{id}
			if m := s.Known.Members; m.IsBoth(id) {
				on = append(on, m.Chips[id]...)
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
		s.ran, s.Known.Members.Unread = true, true
	case graph.TypeFunctionStart:
		s.running = append(s.running, frame{start: n.Counter})
	case graph.TypeFunctionEnd:
		s.leave(true)
	case "": // it may be any node
		s.lost.Add(n.Counter)
		s.Known.Members.Unread = true
		s.tensor(n)
		s.hide(n, event.NoDevice)
	}
}

// leave records the end of the innermost function.
func (s *Survey) leave(aborted bool) {
	last := len(s.running) - 1
	if last < 0 {
		return
	}
	of := s.running[last]
	if aborted && len(s.Known.Aborted) < MaxTensors {
		s.Known.Aborted[of.start] = true
	}
	s.frees.end(of)
	s.running = s.running[:last]
}

// inner returns where the innermost function began.
func (s *Survey) inner() uint64 {
	if last := len(s.running) - 1; last >= 0 {
		return s.running[last].start
	}
	return 0
}

// name records an id that a node names.
func (s *Survey) name(id device.ID) {
	if id == event.NoDevice {
		s.ids.nameless = true
		return
	}
	s.ids.all[id] = true
}

// place records a node that places a circular buffer, a dataflow buffer or a scratchpad.
func (s *Survey) place(n *graph.Node) {
	id, m := graph.DeviceOf(n.DeviceID), s.Known.Members
	s.name(id)
	if n.Address.V != 0 && id != event.NoDevice {
		s.ids.addressed[addressed{id, s.frees.named}] = true
	}
	on, _ := m.Places(n, s.frees.named)
	for _, unit := range on {
		s.Known.IDs[unit], s.Known.Runs[unit] = true, true
	}
	s.Known.Placed[id] = true
	s.frees.place(on, n.Counter, s.inner())
	if n.Placed.Global && n.Address.V > 0 && n.Size.V > 0 && n.Placed.Cores.Len() > 0 && !s.past.hidden.OK {
		for _, unit := range on {
			s.proofs.place(n, unit)
		}
	}
	for r := range n.Placed.Cores.All() {
		s.see(r.End)
	}
	s.Placed = s.Placed || n.Address.V != 0
	s.Planned = s.Planned || n.Address.V == 0 && !n.Placed.Global
	if n.Address.V > 0 && !n.Placed.Global && n.Size.V > 0 {
		m.Recorded = true
		of := &s.Known.recorded
		*of = l1.Range{Start: lower(of.Start, n.Address.V), End: max(of.End, n.Address.V+n.Size.V)}
	}
}

// see records the farthest core of a rectangle.
func (s *Survey) see(end l1.Core) {
	seen := &s.Known.seen
	*seen = l1.Core{X: max(seen.X, end.X), Y: max(seen.Y, end.Y)}
}

// free records a free of circular buffers.
func (s *Survey) free(n *graph.Node) {
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
func (s *Survey) execute(n *graph.Node) {
	m := s.Known.Members
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
func (s *Survey) mesh(n *graph.Node) {
	if n.Anomaly.Has(event.AnomalyDeviceTensors) {
		s.Known.Members.Unread = true
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
func (s *Survey) pair(mesh, chip device.ID, isMesh bool) {
	m := s.Known.Members
	if m.IsChip[chip] && (!isMesh || m.has(mesh, chip)) {
		return
	}
	m.IsChip[chip] = true
	if isMesh {
		m.Join(mesh, chip)
	}
	named := func(id device.ID) bool { return s.ids.all[id] }
	both := func(id device.ID) bool {
		return m.IsBoth(id) && (m.isLone(id) && s.ids.freed[id] || !m.isLone(id) && named(id))
	}
	related := isMesh && mesh != chip && named(mesh) && (named(chip) || slices.ContainsFunc(m.meshes[chip], func(id device.ID) bool { return id != mesh && named(id) }))
	s.ids.late = s.ids.late || both(mesh) || both(chip) || related || isMesh && s.ids.freed[mesh] && len(m.Chips[mesh]) > 1
}

// buffer records a buffer node, and which tensors belong to it.
func (s *Survey) buffer(n *graph.Node) {
	s.live.Node(n)
	added := 0
	for _, c := range n.Connections {
		if c > n.Counter && len(s.tensors) < MaxTensors && added < 8 {
			s.tensors[c] = n.Counter
			added++
		}
	}
}

// allocate records an allocation.
func (s *Survey) allocate(n *graph.Node) {
	delete(s.tensors, n.Counter) // a buffer named it, and it is no tensor
	b := s.live.Allocation(n)
	s.name(graph.DeviceOf(n.DeviceID))
	if b == nil {
		s.hide(n, graph.DeviceOf(n.DeviceID))
		return
	}
	s.meet(b.Said.Named)
	if m := s.Known.Members; b.Said.Kind == fit.KindL1 {
		m.Recorded = m.Recorded || b.Said.Recorded > 0
		if s.bare = s.bare || !n.Address.OK; !n.Address.OK && m.Recorded && !s.past.hidden.OK {
			s.past.hidden = event.Some(n.Counter) // what shows later may be this buffer
		}
	}
	if of := s.live.Backed(b); of != nil {
		of.Back(b)
		return
	}
	if b.Said.Kind.InL1() && b.Said.Recorded <= jsonobject.MaxL1 && b.Said.PerCore.V <= jsonobject.MaxL1 {
		s.Known.recorded.End = max(s.Known.recorded.End, b.Said.Recorded+b.Said.PerCore.V)
	}
	s.live.Add(b)
	s.Uses.allocated(b)
	b.life = s.past.allocated(b)
	s.proofs.allocated(b)
	if b.Said.Kind == fit.KindL1Small {
		s.small[b.Said.Named] = lower(s.small[b.Said.Named], b.Said.Recorded)
	}
	if b.Sharded && b.node.OK && s.lost.Has(b.node.V) {
		s.describe(b, Shards{Unknown: true})
	}
}

// describe records how a sharded buffer lies. Most lie like the one before.
func (s *Survey) describe(b *Buffer, of Shards) {
	b.Shards = of
	if s.shards == nil || !s.shards.equal(of) {
		s.shards = &of
	}
	s.Known.Shards[b.Said.At] = s.shards
}

// meet records the units on which the buffers of an id lie.
func (s *Survey) meet(id device.ID) {
	if !s.Known.Members.IsBoth(id) {
		s.Known.IDs[id] = true
		return
	}
	for _, chip := range s.Known.Members.Chips[id] {
		s.Known.IDs[chip] = true
	}
}

// deallocate records a free.
func (s *Survey) deallocate(n *graph.Node) {
	delete(s.tensors, n.Counter)
	s.name(graph.DeviceOf(n.DeviceID))
	switch b, backing := s.live.Pair(n); {
	case b == nil:
		if !s.live.Freed(n) {
			s.past.lost(n)
		}
	case backing == 0:
		s.live.Remove(b)
		s.Uses.freed(b, n.Counter)
		s.past.ended(b, n.Counter)
		s.proofs.freed(b, n.Counter)
	}
}

// tensor records a tensor, which names the cores of a sharded buffer.
func (s *Survey) tensor(n *graph.Node) {
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
	case of.Unknown:
		s.Known.unplacedTensors.add(n)
		return
	default:
		list = s.live.of(n)
	}
	if len(list) == 0 {
		return
	}
	if b := list[len(list)-1]; b.Sharded && !b.Shards.Described() {
		s.describe(b, of)
	}
}

// List records a row of a list of buffers.
func (s *Survey) List(row graph.ListedBuffer) {
	if m := s.Known.Members; row.Named == event.NoDevice && m.only.OK {
		row.Named = m.only.V
	}
	if !row.Begins {
		s.name(row.Named)
	}
	s.past.census.add(row)
}

// hide records an allocation that cannot be read.
func (s *Survey) hide(n *graph.Node, id device.ID) {
	if !s.past.hidden.OK {
		s.past.hidden = event.Some(n.Counter)
	}
	if b := s.live.Hidden(n, id); b != nil {
		b.life = s.past.allocated(b)
	}
}

// unallocated records the buffer node before n if the buffer is from before the capture.
func (s *Survey) unallocated(n *graph.Node) {
	old := s.live.Earlier(n)
	if old == nil || s.past.hidden.OK {
		return
	}
	if kind, ok := graph.BufferKind(old); ok && (kind == fit.KindL1 || kind == fit.KindL1Small) {
		s.past.evidence.used(old, kind)
	}
}

// EndSlice records that the nodes from start to before next are all of an operation of a database.
func (s *Survey) EndSlice(start, next uint64) error {
	if next > start {
		s.unallocated(&graph.Node{})
		for len(s.running) > 0 {
			s.leave(false)
		}
		clear(s.tensors)
		s.past.time.starts, s.past.time.ends = append(s.past.time.starts, start), append(s.past.time.ends, next-1)
	}
	s.Uses.endSlice(next)
	return nil
}

// End draws the conclusions from all nodes, and what a report says besides them.
func (s *Survey) End(opt Overrides, info *graph.Report) {
	s.Uses.end()
	s.unallocated(&graph.Node{})
	for len(s.running) > 0 {
		s.leave(false)
	}
	k := s.Known
	k.Rows, k.BadRows = info.Devices, info.Listed
	k.Plan = len(k.Placed) > 0 && !s.Placed && !s.ran
	if s.Late = s.joinAll() && !s.Again; s.Late {
		return // another survey begins with the ids of this one
	}
	if s.live.Sliced {
		k.Before.Ends = s.past.absences()
		k.Before.Listed = s.past.census.devices
	}
	k.Before.Residents, k.Before.Harmless = s.past.residents()
	k.Before.Placeless = s.past.placeless
	k.Before.Placeless.Remove(s.past.evidence.backed)
	for c := range s.past.evidence.all() {
		if c.parts != nil && k.Placed[c.named] && !k.Members.IsChip[c.named] { // programs run under the id of the mesh, on chips that differ
			k.Before.Placeless.Add(c.tensor)
		}
	}
	of := NewChips(k, opt)
	k.Before.Unplaced = s.past.unplaced(func(id device.ID, address uint64) bool {
		spec, _ := of.Specs.Of(id)
		return spec.CBBase <= address && address < spec.L1Size
	})
	proven, least := s.proofs.residents(k.Before.Residents, k.Members.IsHybrid, of.PerCore)
	hidden := func(r Resident) bool { return !r.shaped && k.MayDescribe(r.Named, r.Address) }
	k.Before.Residents, k.Before.Least = append(slices.DeleteFunc(k.Before.Residents, hidden), proven...), least
	slices.SortStableFunc(k.Before.Residents, func(a, b Resident) int { return cmp.Compare(a.Since, b.Since) })
	for node := range s.past.evidence.later {
		k.Before.Harmless[node] = true
	}
	for _, one := range k.Before.Residents {
		if one.Kind == fit.KindL1Small {
			s.small[one.Named] = lower(s.small[one.Named], one.Address)
		}
		if m := k.Members; !one.Unit && !m.IsChip[one.Named] && !m.IsMesh(one.Named) {
			k.IDs[one.Named] = true // it may be another name of a device that runs programs
		}
	}
	if !opt.L1Small.OK { // else the sizes of the file are not used
		of.Specs.contradict(s.small)
		of.Specs.conclude(s.small)
	}
}

// joinAll makes a mesh of the one chip of a capture of each id that no pair explains, if the file lists one device
// and no node names another chip. It reports whether that, or a number that is a mesh and a chip, came too late for
// this survey.
func (s *Survey) joinAll() (late bool) {
	k, m := s.Known, s.Known.Members
	late = s.ids.late || s.bare && m.Recorded
	for cb := range s.ids.addressed {
		m.perChip = m.perChip || m.OnlyChip(cb.id) || cb.freed != cb.id && m.has(cb.freed, cb.id)
	}
	for mesh := range m.Chips {
		late = late || m.IsBoth(mesh) && !m.isLone(mesh)
	}
	if len(k.Rows) == 0 || len(s.ids.all) == 0 {
		return late
	}
	chip := device.ID(k.Rows[0].ID)
	for _, row := range k.Rows {
		if row.Unreadable || device.ID(row.ID) != chip {
			return late
		}
	}
	chips := maps.Clone(m.IsChip)
	for cb := range s.ids.addressed {
		if !m.IsMesh(cb.id) {
			chips[cb.id] = true
		}
	}
	if len(chips) > 1 {
		if !m.IsChip[chip] && !m.IsMesh(chip) {
			m.Row = event.Some(chip)
		}
		return late
	}
	for one := range chips {
		if chip = one; !m.IsChip[one] { // its mesh may have the same number
			m.IsChip[one] = true
			m.Join(one, one)
		}
	}
	for id := range s.ids.all {
		if id != chip && !m.IsMesh(id) {
			m.Join(id, chip)
			late = true
		}
	}
	if s.ids.nameless && !m.only.OK {
		m.only = event.Some(chip)
		late = true
	}
	return late
}

// Lacks reports whether a reading for events finds facts that this one cannot: where each of several programs
// that are announced at once ends, and whether persistent pages lie below planned programs.
func (s *Survey) Lacks() bool { return s.several || s.Planned && s.Placed }
