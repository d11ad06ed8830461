package capture

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// An unreadable field hides its node, and everything that depends on the node:
//
//	a circular buffer      the program that it is part of
//	a free                 everything that was alive on its device, from there on
//	a tensor               its sharded buffer, if the memory_config is the field: on which cores such
//	                       a buffer counts depends on its mode
//	a buffer node          its buffer, if that is sharded: no tensor is known to be its own
//	an allocation          that buffer, and residents that show later: each may be this buffer
//	a free of CBs          also the programs up to the next free, which it may have announced
//	a chip of a mesh       everything on devices that a free of a mesh may have reached
//	a node without a type  all of that on all devices, and which functions run
//
// A row of a report hides itself; a device its grid, and where no other one says them, the size
// of L1 and the programs that are placed from its base.
//
// Everything else stays. So the rest is certain: hidden things could only add to it.

// unread is the state that hidden nodes leave behind.
type unread struct {
	free   event.Opt[uint64]    // last free that hides programs: one directly behind it announces with it
	all    event.Opt[uint64]    // last node that hid the programs of all devices
	lifted map[device.ID]uint64 // last free by id since then
	blind  int                  // units whose programs are hidden
	made   bool                 // an allocation is hidden
	calls  bool                 // it is not known which functions run
	freed  map[device.ID]bool   // ids of hidden frees of buffers
	lost   counters             // hidden nodes that stand for buffers, or may
	ran    map[hiddenRun]bool   // operations that ran a hidden program
}

// A hiddenRun is an operation that ran a hidden program on one unit, or on any of them.
type hiddenRun struct {
	operation
	on  device.ID
	any bool
}

func newUnread() unread {
	return unread{lifted: map[device.ID]uint64{}, freed: map[device.ID]bool{}, lost: counters{}, ran: map[hiddenRun]bool{}}
}

// covers reports whether an operation may have run a hidden program on a unit.
func (u *unread) covers(op operation, on device.ID) bool {
	return u.calls || u.ran[hiddenRun{operation: op, any: true}] || u.ran[hiddenRun{operation: op, on: on}]
}

func (u *unread) hide(run hiddenRun) {
	if len(u.ran) >= maxOperations {
		u.calls = true
		return
	}
	u.ran[run] = true
}

// unreadable hides a node and what depends on it.
func (w *walk) unreadable(n *node) error {
	w.out.hidden.add(hiddenUnreadable, int64(n.Counter), reasonOf(n.Unreadable))
	if n.Type != typeTensor && n.Type != "" { // the next tensor describes the buffer that waits
		w.settle()
	}
	id := idOf(n.DeviceID)
	switch n.Type {
	case typeCircularBufferAllocate, typeDataflowBufferAllocate, typeScratchpadAllocate:
		w.upstream.hidden = true
		return w.hidePrograms(n.Counter, id)
	case typeCircularBufferDeallocateAll:
		w.upstream.hidden = true
		return w.hideFree(n.Counter, id)
	case typeBufferAllocate:
		w.upstream.hidden = true
		return w.hideAllocation(n, id)
	case typeBufferDeallocate:
		w.upstream.hidden = true
		return w.hideBuffers(n.Counter, id)
	case typeBuffer:
		w.unread.lost.add(n.Counter)
	case typeTensor:
		w.members(n)
		if !n.HidesMode {
			n.Address, n.BufferType = event.Opt[uint64]{}, event.Opt[uint64]{}
		}
		w.tensor(n)
	case typeProgramExecution:
		w.shows.executed = true
		w.hideMembers()
		chip := idOf(n.PhysicalDeviceID)
		if err := w.complete(n.Counter, w.open.on(chip)); err != nil {
			return err
		}
		w.hideExecution(chip)
	case typeFunctionStart:
		w.enter(n)
	case typeFunctionEnd:
		n.Aborted = true // or not: an aborted one shows less
		return w.functionEnd(n)
	case typeError:
		w.operationFailed(n)
	case "":
		return w.hideAll(n)
	}
	return nil
}

// hideAll hides everything: a node without a type may be any.
func (w *walk) hideAll(n *node) error {
	w.upstream.hidden = true
	w.unread.calls = true
	w.unread.lost.add(n.Counter)
	w.tensor(n)
	w.settle()
	w.hideMembers()
	if err := w.hideAllocation(n, event.NoDevice); err != nil {
		return err
	}
	if err := w.hideBuffers(n.Counter, event.NoDevice); err != nil {
		return err
	}
	w.hideExecution(event.NoDevice)
	return w.hideFree(n.Counter, event.NoDevice)
}

// hidePrograms hides the programs that the units of an id show now, up to the next free.
func (w *walk) hidePrograms(at uint64, id device.ID) error {
	w.functions.place()
	op := w.functions.operation()
	if id == event.NoDevice {
		w.unread.all, w.unread.lifted = event.Some(at), map[device.ID]uint64{}
		w.unread.hide(hiddenRun{operation: op, any: true})
	}
	if id != event.NoDevice {
		w.unread.hide(hiddenRun{operation: op, on: id})
		return w.hideProgram(w.meet(id))
	}
	if w.unread.blind == len(w.units.order) {
		return nil
	}
	for _, u := range w.units.order {
		if err := w.hideProgram(u); err != nil {
			return err
		}
	}
	return nil
}

// hideProgram hides the program of one unit. The part of it that was told stays, and so do
// the programs of its workload before it.
func (w *walk) hideProgram(u *unit) error {
	since := w.heralds.wake(u)
	since.shown = true
	if r := u.run; isOpen(u) {
		w.unread.hide(hiddenRun{operation: r.key, on: u.id})
		w.open.remove(r)
		r.cbs = r.cbs[:r.told]
		if before := r.before; len(before) > 0 {
			r.before = nil
			for i := range before {
				if err := w.completeParts([][]*run{before}, i, w.counter); err != nil {
					return err
				}
			}
			w.tellFreed([]device.ID{u.id}, w.counter)
		}
		if r.told == 0 && w.heralds.alive.has(u) {
			w.heralds.end(u, w.counter)
		}
	}
	since.programs, since.executions = since.programs[:0], 0
	if !u.blind {
		u.blind = true
		w.unread.blind++
	}
	return nil
}

// hideFree ends all runs that a hidden free may have reached, and hides the programs up to
// the next free.
func (w *walk) hideFree(at uint64, id device.ID) error {
	if err := w.complete(at, w.open.on(id)); err != nil {
		return err
	}
	w.unread.free = event.Some(at)
	w.functions.place()
	if len(w.heralds.alive.all) > 0 || w.unread.blind < len(w.units.order) {
		if err := w.hideUnits(at, slices.Clone(w.units.reached(id))); err != nil {
			return err
		}
	}
	if id == event.NoDevice {
		w.unread.all, w.unread.lifted = event.Some(at), map[device.ID]uint64{}
	}
	return nil
}

// hideUnits ends the runs of some units and hides their next programs.
func (w *walk) hideUnits(at uint64, some []*unit) error {
	var ended []device.ID
	for _, u := range some {
		if w.heralds.alive.has(u) {
			ended = append(ended, u.id)
			w.heralds.end(u, at)
		}
		if err := w.hideProgram(u); err != nil {
			return err
		}
	}
	w.tellFreed(ended, at)
	return nil
}

// lift ends the hiding on the units that a readable free reaches: their programs show again. A
// free with the id of a mesh may also have reached units that are not known to be its chips.
func (w *walk) lift(at uint64, id device.ID) error {
	if w.known.members.onlyChip(id) {
		return nil
	}
	if w.unread.blind > 0 {
		for _, u := range w.units.reached(id) {
			if u.blind {
				u.blind = false
				w.unread.blind--
			}
		}
	}
	if w.unread.all.OK {
		w.unread.lifted[id] = at
	}
	if !w.known.members.unread || id == event.NoDevice {
		return nil
	}
	var others []*unit
	for _, u := range w.units.order {
		if !w.known.members.reaches(id, u.id) && (w.known.members.isChip[u.id] || !w.known.members.isMesh(u.id)) {
			others = append(others, u)
		}
	}
	if err := w.complete(at, w.open.of(others...)); err != nil {
		return err
	}
	w.unread.all = event.Some(at)
	w.unread.lifted[id] = at
	return w.hideUnits(at, others)
}

// hideExecution forgets which program the next execution on a chip runs.
func (w *walk) hideExecution(chip device.ID) {
	for _, u := range w.units.among(&w.heralds.awake, chip) {
		u.since.programs, u.since.executions = u.since.programs[:0], 0
	}
}

// hideAllocation keeps a buffer of an unreadable allocation out of L1. Its frees are recognised by the
// buffer node.
func (w *walk) hideAllocation(n *node, id device.ID) error {
	w.unread.made = true
	if w.past != nil && !w.past.hidden.OK {
		w.past.hidden = event.Some(n.Counter)
	}
	if err := w.complete(n.Counter, w.open.on(id)); err != nil || len(n.Connections) == 0 {
		return err
	}
	kind, _ := bufferKind(n)
	b := &buffer{
		id: w.buffers.next(), at: n.Counter, named: id, kind: kind, recorded: n.Address.V,
		node: event.Some(n.Connections[0]), hidden: true,
	}
	w.buffers.add(b)
	w.buffers.hide(b)
	b.life = w.past.allocated(b)
	return nil
}

// hideBuffers takes all buffers out of the devices that a hidden free may have reached.
func (w *walk) hideBuffers(at uint64, id device.ID) error {
	w.unread.freed[id] = true
	if err := w.complete(at, w.open.on(id)); err != nil {
		return err
	}
	ids := slices.DeleteFunc(w.buffers.ids(), func(named device.ID) bool { return !w.known.members.share(named, id) })
	for _, b := range w.buffers.reaching(slices.Values(ids)) {
		w.hideBuffer(b, at)
	}
	w.attending = slices.DeleteFunc(w.attending, func(b guest) bool {
		if !w.known.members.share(b.named, id) {
			return false
		}
		w.hideBuffer(b.buffer, at)
		return true
	})
	return nil
}

// hideBuffer takes a buffer out of L1. Its own free finds it still.
func (w *walk) hideBuffer(b *buffer, at uint64) {
	w.buffers.hide(b)
	w.gone(b, at)
}

// blind remembers such a tensor. No live buffer is known to be its own.
func (w *walk) blind(n *node) {
	kind, ok := bufferKind(n)
	if ok && !kind.InL1() || !n.HidesPlace && n.Address.V == 0 {
		return
	}
	id, at, all := idOf(n.DeviceID), n.Address.V, w.known.blind
	if n.HidesPlace || len(all) >= maxTensors {
		at = 0
	}
	if all[at] == nil {
		all[at] = map[device.ID]bool{}
	}
	if !all[at][id] {
		all[at][id] = true
		if w.undescribed {
			w.known.tooLate(noteMeshLate)
		}
	}
}

// hideRows counts the sections of a report and the rows that cannot be read.
func (w *walk) hideRows() {
	for _, rows := range []unreadRows{w.reader.info.Unread, w.known.badRows} {
		for range rows.count {
			w.out.hidden.add(hiddenUnreadable, wholeFile, rows.why)
		}
	}
}
