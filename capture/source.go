package capture

import (
	"errors"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// Events opens the capture and returns its events; see Reader.Events. Those of an event
// log are told as they stand there. If something at
// its end changes the meaning of its beginning, it is told again: one event of
// KindAgain, and then all from a header on. That does not happen to what can be read
// only once, like a pipe, nor with Options.Ahead. A file that is another one when it is
// read again is refused with event.ErrChanged.
func (in Input) Events(opt Options) iter.Seq2[*event.Event, error] {
	return func(yield func(*event.Event, error) bool) {
		if err := in.events(opt, yield); err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

func (in Input) events(opt Options, yield func(*event.Event, error) bool) error {
	r, err := in.open()
	if err != nil {
		return err
	}
	first := newWalk(r, opt, newKnowledge(), in.Rank)
	if !r.rereads() {
		return first.run(yield)
	}
	first.past, first.out.mute = newPast(), first.known.stale
	if opt.Ahead {
		first.out.mute = always
	}
	if err := first.run(yield); err != nil || first.isLog || !opt.Ahead && !first.known.stale() {
		return err
	}
	if !opt.Ahead && !yield(&event.Event{Kind: event.KindAgain, Pos: first.out.pos, Node: first.counter}, nil) {
		return errStop
	}
	known := newKnowledge()
	known.mute, known.badRows = first.known.mute, first.known.badRows
	if first.known.stale() {
		known = first.known
		clear(known.late)
	}
	if known == first.known && (first.heralds.several() || first.mixes()) {
		// Which programs are settled depends on what else was learnt, and where each starts.
		clear(known.settled)
		known.bottom = newBottom()
		middle, err := in.walkAgain(r, opt, known)
		if err != nil {
			return err
		}
		middle.out.mute = always
		if err := middle.run(yield); err != nil {
			return err
		}
		clear(known.late)
	}
	last, err := in.walkAgain(r, opt, known)
	if err != nil {
		return err
	}
	return last.run(yield)
}

// always silences a reading that is made for its knowledge alone.
func always() bool { return true }

// mixes reports whether persistent pages may show: some programs have addresses, some have none.
func (w *walk) mixes() bool {
	return w.layouts.synthesised && w.shows.recorded && len(w.known.bottom.ends) > 0
}

// walkAgain opens what was read already for another reading.
func (in Input) walkAgain(r *Reader, opt Options, known *knowledge) (*walk, error) {
	again, err := in.open()
	if err != nil {
		return nil, err
	}
	if err := again.sameAs(r); err != nil {
		return nil, err
	}
	w := newWalk(again, opt, known, in.Rank)
	w.again = true
	return w, nil
}

// Events returns what happens in the capture, as far as it shows that: the header
// first, and event.KindEnd last. The last pair has a nil event and an *event.InputError if
// the capture cannot be read to its end. Events can be called once. An event is valid until
// the next one is asked for: whoever keeps one copies it. The lists in it are shared, stay,
// and must not be changed.
//
// What can be told only later is told later: a run when its nodes are complete, a
// sharded buffer when its cores are known. Event.Node is then the node that it is
// about, and Event.Pos the place that the source has reached, which never goes back.
// The capture is read once; if that misplaces something, an anomaly says so. An event log
// is told as it stands.
func (r *Reader) Events(opt Options) iter.Seq2[*event.Event, error] {
	return func(yield func(*event.Event, error) bool) {
		err := newWalk(r, opt, newKnowledge(), event.Opt[uint64]{}).run(yield)
		if err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

// run reads all nodes and yields what they tell.
func (w *walk) run(yield func(*event.Event, error) bool) error {
	w.reader.log = func(events iter.Seq2[*event.Event, error]) error {
		w.isLog = true
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
	w.reader.listed = w.lists()
	if w.reader.part != nil {
		w.slice()
	}
	if w.reader.windows != nil {
		w.window()
	}
	for n, err := range w.reader.nodes() {
		if err != nil {
			return err
		}
		if w.nodes == 0 {
			w.begin()
		}
		if err := w.ask(n.Counter); err != nil {
			return err
		}
		w.out.pos, w.counter = n.Pos, n.Counter
		if err := w.node(n); err != nil {
			return err
		}
		w.nodes++
		if err := w.out.flush(yield); err != nil {
			return err
		}
	}
	if w.isLog {
		return nil
	}
	if w.nodes == 0 {
		w.begin()
	}
	if err := w.finish(); err != nil {
		return err
	}
	return w.out.flush(yield)
}

// begin tells the header, and the units that an earlier reading has met, so that none
// comes late.
func (w *walk) begin() {
	source := "capture"
	if w.buffers.sliced {
		source = "database"
	}
	w.out.tell(&event.Event{Kind: event.KindHeader, Source: source})
	for _, id := range slices.SortedFunc(maps.Keys(w.known.members.met), byID) {
		w.meet(id)
	}
}

// node takes in one node. Each type that decoder.decodes knows has its case here.
func (w *walk) node(n *node) error {
	w.note(n)
	if w.past != nil {
		w.past.listable = w.reader.object
	}
	if err := w.attend(n.Counter); err != nil {
		return err
	}
	w.tellEarlier(n)
	if n.Unreadable != nil {
		return w.unreadable(n)
	}
	switch n.Type {
	case typeCircularBufferAllocate, typeDataflowBufferAllocate, typeScratchpadAllocate:
		return w.place(n)
	case typeCircularBufferDeallocateAll:
		w.upstream.free()
		return w.freeAll(n)
	case typeBuffer:
		w.buffers.node(n)
		w.past.names(n)
	case typeBufferAllocate, typeBufferDeallocate:
		return w.bufferEvent(n)
	case typeTensor:
		w.members(n)
		if n.Mode == fit.PerCore {
			w.perCore(idOf(n.DeviceID))
		}
		w.past.tensor(n)
		w.tensor(n)
	case typeProgramExecution:
		if n.DeviceID.OK && n.PhysicalDeviceID.OK {
			w.learn(device.ID(n.DeviceID.V), device.ID(n.PhysicalDeviceID.V))
		}
		return w.execute(n)
	case typeFunctionStart:
		w.enter(n)
	case typeFunctionEnd:
		return w.functionEnd(n)
	case typeError:
		w.known.banks.read(n.ErrorMessage)
		w.operationFailed(n)
	case typeCaptureStart, typeCaptureEnd, typeSubDeviceManager: // say nothing of memory
	default:
		w.out.notes.add(noteUnknownType, int64(n.Counter), string(n.Type))
	}
	return nil
}

// note counts what is odd about a node.
func (w *walk) note(n *node) {
	at := int64(n.Counter)
	if n.Anomaly.Has(event.AnomalyDuplicateKey) {
		w.out.notes.add(noteDuplicateKey, at, "")
	}
	if n.Anomaly.Has(event.AnomalyDeviceTensors) {
		w.out.notes.add(noteBadDeviceTensors, at, "")
	}
	if w.buffers.sliced {
		return // a connection may lead out of its slice
	}
	for _, c := range n.Connections {
		w.farthest = max(w.farthest, c)
	}
}

// ask tells what is open if the node before next was the one that Options.At names.
func (w *walk) ask(next uint64) error {
	if !w.opt.At.OK || next <= w.opt.At.V {
		return nil
	}
	w.opt.At.OK = false
	w.settle()
	if err := w.complete(next, w.open.all()); err != nil {
		return err
	}
	w.declareAgain()
	return nil
}

// finish tells what is still open, and what is known at the end alone.
func (w *walk) finish() error {
	end := uint64(w.nodes)
	if err := w.close(w.counter); err != nil {
		return err
	}
	w.tellEarlier(&node{})
	if err := w.attend(forever); err != nil {
		return err
	}
	if w.units.ran == 0 {
		for _, a := range slices.SortedFunc(maps.Values(w.absent.byNode), absentee.compare) {
			w.out.tell(a.told)
		}
	}
	if err := w.ask(math.MaxUint64); err != nil {
		return err
	}
	w.compareEnd()
	w.tellBetween()
	w.declareAgain()
	w.out.tell(&event.Event{Kind: event.KindUpstream, Node: end, Upstream: w.upstream.figures()})
	if apart := w.units.apart(); len(apart) > 0 {
		w.out.tell(&event.Event{
			Kind: event.KindHidden, Code: hiddenApart, Node: end, Count: int64(len(apart)), Devices: event.Some(apart),
		})
	}
	w.hideRows()
	w.out.tellNotes(w.shows.plan())
	rank := w.reader.info.Rank
	if !rank.OK {
		rank = w.rank
	}
	last := event.Event{Kind: event.KindEnd, Node: end, Nodes: w.nodes, Rank: rank, Windows: w.reader.windows.list()}
	last.Spec, last.From = w.specs.of(event.NoDevice)
	if all := w.units.order; len(all) > 0 {
		first := w.declaration(all[0].id)
		last.Spec.L1Small, last.From.Small = first.Spec.L1Small, first.From.Small
	}
	w.out.tell(&last)
	return nil
}

// compareEnd notes what the end of the capture shows of its beginning.
func (w *walk) compareEnd() {
	w.lookBack()
	if !w.again {
		w.known.badRows = w.reader.info.Listed // another reading does not read these again
	}
	w.heralds.countAimless(w.out.notes)
	info := w.reader.info
	first := w.known.devices == nil && !info.Early
	if w.specs.end() {
		w.known.late.add(noteLayoutLate, wholeFile, "")
	} else if first && slices.ContainsFunc(info.Devices, w.grids.exceed) {
		w.known.late.add(noteLayoutLate, wholeFile, "the compute grid")
	} else if first && w.grids.anyUsed() && slices.ContainsFunc(info.Devices, legalGrid) {
		w.known.tooLate(noteNone)
	}
	if w.specs.compareSmall(w.units, w.out.notes) {
		code := noteSmallLate
		if w.places.made { // buffers would lie elsewhere
			code = noteLayoutLate
		}
		w.known.late.add(code, wholeFile, "the size of L1_SMALL")
	}
	if w.layouts.synthesised && w.known.findLifted() { // programs were placed without that knowledge
		w.known.late.add(noteLayoutLate, wholeFile, "persistent L1")
	}
	w.grids.forget()
	if w.farthest > 0 && w.farthest >= uint64(w.nodes) {
		w.out.notes.add(noteDanglingConnection, wholeFile, "")
	}
	for id := range w.known.members.chips {
		if w.known.members.isChip[id] {
			w.out.notes.add(noteIDCollision, wholeFile, "")
		}
	}
	for range w.functions.stack {
		w.out.notes.add(noteUnfinished, wholeFile, w.functions.inner().name)
	}
	if w.reader.info.Anomaly.Has(event.AnomalyDuplicateKey) {
		w.out.notes.add(noteDuplicateKey, wholeFile, "")
	}
	for range w.specs.differ() {
		w.out.notes.add(noteSpecsDiffer, wholeFile, "")
	}
	late := maps.Clone(w.known.late)
	delete(late, noteNone)
	w.out.notes.addAll(late)
}

// lists returns who takes the rows of per_operation_buffers, nil if nobody does. Of what
// can be read only once nobody can tell whether a listed buffer was in the way.
func (w *walk) lists() func(listedBuffer) {
	switch {
	case w.past != nil:
		return func(row listedBuffer) {
			if row.begins {
				w.known.listed[row.window] = true
			}
			w.past.lists.add(row)
		}
	case w.again:
		return nil
	}
	return func(row listedBuffer) {
		if row.kind == fit.KindL1 || row.kind == fit.KindL1Small {
			w.out.hidden[hiddenListed] = &note{count: 1, first: wholeFile}
		}
	}
}

// lookBack finds the buffers from before the capture, for another reading.
func (w *walk) lookBack() {
	if w.past == nil {
		return
	}
	w.lookBetween()
	found, seen := w.past.residents(w.known)
	for node := range w.past.later {
		seen[node] = true
	}
	for _, r := range found {
		smallAt(r.kind, r.address, w.units.reached(r.named))
		w.known.bottom.buffer(r.named, r.kind, l1.Range{Start: r.address, End: r.address + r.perCore.V})
	}
	if len(found)+len(seen) > 0 {
		w.known.residents, w.known.harmless = found, seen
		w.known.tooLate(noteNone)
	}
}

// close ends what no node has ended, at the last one.
func (w *walk) close(end uint64) error {
	w.settle()
	if n := w.functions.depth(); n > 0 {
		w.hit(end)
		for _, c := range w.functions.stack[:n-1] {
			if c.cacheHit.V && !c.placed {
				w.out.hidden.add(hiddenCacheHit, int64(c.start), c.name)
			}
		}
	}
	w.closeFree()
	return w.complete(end, w.open.all())
}
