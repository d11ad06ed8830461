package capture

import (
	"iter"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// A survey is the first reading of a capture. It gathers the facts that hold for the whole capture, wherever
// they stand in it, and makes no programs and no events.
type survey struct {
	known   *knowledge
	reader  *Reader
	running []uint64 // starts of the functions that run
	live    *buffers
	lost    counters // nodes that stand for buffers, or may, and cannot be read
	past    *past
	tensors map[uint64]uint64    // tensors to come -> the buffer node that names them
	small   map[device.ID]uint64 // lowest address of an L1_SMALL buffer, by the id that it names
	free    freeNode             // the last one

	several bool // frees back to back announce several programs
	planned bool // a local CB has no address
	placed  bool // one has an address
}

// A freeNode is a free of circular buffers.
type freeNode struct {
	id    device.ID
	after uint64 // counter of the next node; 0 = there was no free
}

func newSurvey(r *Reader) *survey {
	k := newKnowledge()
	return &survey{
		known: k, reader: r, live: newBuffers(k), lost: counters{}, past: newPast(k.members), tensors: map[uint64]uint64{},
		small: map[device.ID]uint64{},
	}
}

// run reads all nodes. yield takes the events of an input that is an event log.
func (s *survey) run(opt Options, yield func(*event.Event, error) bool) (isLog bool, err error) {
	r := s.reader
	r.log = func(events iter.Seq2[*event.Event, error]) error {
		isLog = true
		for e, err := range events {
			if err != nil {
				return err
			}
			if !yield(e, nil) {
				return errStop
			}
		}
		return nil
	}
	r.listed = s.past.census.add
	if r.part != nil {
		s.live.sliced, s.past.time.sliced, r.ended = true, true, s.endSlice
	}
	defer func() { r.document = document{file: r.file} }() // r lives longer, and would keep the survey
	for n, err := range r.nodes() {
		if err != nil {
			return isLog, err
		}
		s.past.time.listable = r.object // else there are no lists
		s.next(n)
	}
	if !isLog {
		s.end(opt)
	}
	return isLog, nil
}

// next records a node.
func (s *survey) next(n *node) {
	s.unallocated(n)
	s.past.next(n)
	if n.Unreadable != nil {
		s.unreadable(n)
		return
	}
	switch n.Type {
	case typeCircularBufferAllocate, typeDataflowBufferAllocate, typeScratchpadAllocate:
		s.place(n)
	case typeCircularBufferDeallocateAll:
		id := idOf(n.DeviceID)
		s.several = s.several || s.free.after == n.Counter && n.Counter > 0 && s.free.id == id
		s.free = freeNode{id, n.Counter + 1}
	case typeBuffer:
		s.buffer(n)
	case typeBufferAllocate:
		s.allocate(n)
	case typeBufferDeallocate:
		s.deallocate(n)
	case typeTensor:
		s.mesh(n)
		if n.Tensor.Mode == fit.PerCore { // the device is in HYBRID mode, from the start and for all its buffers
			s.known.members.hybrid[idOf(n.DeviceID)] = true
		}
		s.tensor(n)
	case typeProgramExecution:
		if n.DeviceID.OK && n.PhysicalDeviceID.OK {
			s.known.members.member(device.ID(n.DeviceID.V), device.ID(n.PhysicalDeviceID.V))
		}
	case typeFunctionStart:
		s.running = append(s.running, n.Counter)
	case typeFunctionEnd:
		s.leave(n.Function.Aborted)
	case typeError:
		s.known.sizes.banks.read(n.Error.Message)
	}
}

// unreadable records a node with a field that cannot be read.
func (s *survey) unreadable(n *node) {
	switch n.Type {
	case typeCircularBufferAllocate, typeDataflowBufferAllocate, typeScratchpadAllocate:
		if n.DeviceID.OK {
			s.known.ids[device.ID(n.DeviceID.V)] = true
		}
	case typeBufferAllocate:
		s.hide(n, idOf(n.DeviceID))
	case typeBuffer:
		s.lost.add(n.Counter)
	case typeTensor:
		s.mesh(n)
		if !n.Tensor.HidesMode {
			n.Address, n.Buffer.BufferType = event.Opt[uint64]{}, event.Opt[uint64]{}
		}
		s.tensor(n)
	case typeProgramExecution:
		s.known.members.unread = true
	case typeFunctionStart:
		s.running = append(s.running, n.Counter)
	case typeFunctionEnd:
		s.leave(true)
	case "": // it may be any node
		s.lost.add(n.Counter)
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
	if aborted && len(s.known.aborted) < maxTensors {
		s.known.aborted[s.running[last]] = true
	}
	s.running = s.running[:last]
}

// place records a node that places a circular buffer, a dataflow buffer or a scratchpad.
func (s *survey) place(n *node) {
	id := idOf(n.DeviceID)
	s.known.ids[id], s.known.placed[id] = true, true
	s.see(n.Placed.Cores)
	s.placed = s.placed || n.Address.V != 0
	s.planned = s.planned || n.Address.V == 0 && !n.Placed.Global
}

// see records the cores of a node.
func (s *survey) see(set l1.CoreRangeSet) {
	seen := &s.known.seen
	for r := range set.All() {
		*seen = l1.Core{X: max(seen.X, r.End.X), Y: max(seen.Y, r.End.Y)}
	}
}

// mesh records which chips of a mesh have a part of a tensor.
func (s *survey) mesh(n *node) {
	if n.Anomaly.Has(event.AnomalyDeviceTensors) {
		s.known.members.unread = true
	}
	for _, t := range n.Tensor.DeviceTensors {
		if t.MeshDeviceID.OK {
			s.known.members.member(device.ID(t.MeshDeviceID.V), device.ID(t.DeviceID))
		}
	}
}

// buffer records a buffer node, and which tensors belong to it.
func (s *survey) buffer(n *node) {
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
func (s *survey) allocate(n *node) {
	delete(s.tensors, n.Counter) // a buffer named it, and it is no tensor
	b := s.live.allocation(n)
	if b == nil {
		s.hide(n, idOf(n.DeviceID))
		return
	}
	s.known.ids[b.said.named] = true
	if of := s.live.backed(b); of != nil {
		of.back(b)
		return
	}
	s.live.add(b)
	b.life = s.past.allocated(b)
	if b.said.kind == fit.KindL1Small {
		s.small[b.said.named] = lower(s.small[b.said.named], b.said.recorded)
	}
	if b.sharded {
		b.shards.unknown = b.node.OK && s.lost.has(b.node.V)
		s.known.shards.add(b.shards)
	}
}

// deallocate records a free.
func (s *survey) deallocate(n *node) {
	delete(s.tensors, n.Counter)
	switch b, backing := s.live.pair(n); {
	case b == nil:
		if !s.live.freed(n) {
			s.past.lost(n)
		}
	case backing == 0:
		s.live.remove(b)
		s.past.ended(b, n.Counter)
	}
}

// tensor records a tensor, which names the cores of a sharded buffer.
func (s *survey) tensor(n *node) {
	node, named := s.tensors[n.Counter]
	delete(s.tensors, n.Counter)
	of, ok := shardsOf(n)
	if !ok {
		return
	}
	s.see(n.Tensor.ShardGrid)
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
		b.shards = of
		s.known.shards.set(b.ordinal, of)
	}
}

// hide records an allocation that cannot be read.
func (s *survey) hide(n *node, id device.ID) {
	if !s.past.hidden.OK {
		s.past.hidden = event.Some(n.Counter)
	}
	if b := s.live.hidden(n, id); b != nil {
		b.life = s.past.allocated(b)
	}
}

// unallocated records the buffer node before n if the buffer is from before the capture.
func (s *survey) unallocated(n *node) {
	old := s.live.earlier(n)
	if old == nil || s.past.hidden.OK {
		return
	}
	if kind, ok := bufferKind(old); ok && (kind == fit.KindL1 || kind == fit.KindL1Small) {
		s.past.clues.used(old, kind)
	}
}

// endSlice records that the nodes from start to before next are all of an operation of a database.
func (s *survey) endSlice(start, next uint64) error {
	if next > start {
		s.unallocated(&node{})
		s.running = s.running[:0]
		clear(s.tensors)
		clear(s.past.clues.tensors)
		s.past.time.spans = append(s.past.time.spans, span{start, next - 1})
	}
	return nil
}

// end draws the conclusions from all nodes.
func (s *survey) end(opt Options) {
	s.unallocated(&node{})
	k, info := s.known, &s.reader.info
	k.rows, k.badRows = info.Devices, info.Listed
	if s.reader.part != nil {
		k.before.ends = s.past.absences()
		k.before.listed = s.past.census.devices
	}
	k.before.residents, k.before.harmless = s.past.residents(k)
	for node := range s.past.clues.later {
		k.before.harmless[node] = true
	}
	for _, one := range k.before.residents {
		if one.kind == fit.KindL1Small {
			s.small[one.named] = lower(s.small[one.named], one.address)
		}
	}
	if of := (&specs{opt: opt, known: k}); !opt.L1Small.OK { // else the sizes of the file are not used
		of.contradict(s.small)
		of.conclude(s.small)
	}
}

// lacks reports whether a reading for events finds facts that this one cannot: where each of several programs
// that are announced at once ends, and whether persistent pages lie below planned programs.
func (s *survey) lacks() bool { return s.several || s.planned && s.placed }
