package capture

import (
	"errors"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// Options say what a capture cannot, or override what it says. The zero value leaves
// everything to the capture.
type Options struct {
	Arch  l1.Arch // "" = by the file's L1 size, or Blackhole
	Base  uint64  // where circular buffers start; 0 = by file or architecture
	Align uint64  // alignment of their addresses; 0 = by architecture
	// L1Small is the size of the L1_SMALL area at the top of L1. Absent: the file tells it by
	// the size of a bank, or there is none. L1 buffers without an address are placed below it.
	L1Small event.Opt[uint64]
	MaxL1   uint64 // size of L1; 0 = by file or architecture
	// NoInfer leaves operations that found their program in the cache without one.
	NoInfer bool
	// At, if present, is the counter of a node. After it the source tells everything that
	// is still open as it stands, so that somebody may look at this moment.
	At event.Opt[uint64]
	// Ahead reads a regular file before it tells anything, so that what comes late is told
	// right at once.
	Ahead bool
	// Operations tells of each function that it starts and ends. Without it, events have the
	// functions that run (Event.Op), and one in which nothing happens is not told.
	Operations bool
}

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
	first := newWalk(r, opt, newLearnt(), in.Rank)
	if !r.rereads() {
		return first.run(yield)
	}
	first.rereads, first.silent, first.past = true, opt.Ahead, newPast()
	if err := first.run(yield); err != nil || first.isLog || !opt.Ahead && !first.known.stale() {
		return err
	}
	if !opt.Ahead && !yield(&event.Event{Kind: event.KindAgain, Pos: first.pos, Node: first.counter}, nil) {
		return errStop
	}
	known := newLearnt()
	known.mute, known.badRows = first.known.mute, first.known.badRows
	if first.known.stale() {
		known = first.known
		known.late, known.untimely = false, false
	}
	if known == first.known && (first.severalAtOnce() || first.mixes()) {
		// Which programs are settled depends on what else was learnt, and where each starts.
		clear(known.settled)
		known.bottom = newBottom()
		middle, err := in.walkAgain(r, opt, known)
		if err != nil {
			return err
		}
		middle.silent = true
		if err := middle.run(yield); err != nil {
			return err
		}
		known.late, known.untimely = false, false
	}
	last, err := in.walkAgain(r, opt, known)
	if err != nil {
		return err
	}
	return last.run(yield)
}

// walkAgain opens what was read already for another reading.
func (in Input) walkAgain(r *Reader, opt Options, known *learnt) (*walk, error) {
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
		err := newWalk(r, opt, newLearnt(), event.Opt[uint64]{}).run(yield)
		if err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

// A walk is one reading of a capture: it turns one node after the other into events.
// Each of its parts knows one thing.
type walk struct {
	opt    Options
	reader *Reader
	rank   event.Opt[uint64] // if the capture does not say it

	known     *learnt
	specs     *specs
	grids     *grids
	units     *units
	functions *functions
	layouts   *layouts
	hits      hits
	guessed   guesses
	buffers   *buffers
	places    places
	upstream  upstreamSums
	unread    unread

	open       openRuns
	awake      []*unit               // those that wake has woken, in no order
	alive      []*unit               // with a run that no free has ended, in no order
	freed      map[device.ID]stretch // from the first free of circular buffers with an id to the last
	freeing    *freeing              // nil if something followed it
	aimless    aimless
	notes      notes
	hidden     notes
	unlessPlan notes // hidden, unless the capture turns out to be a plan
	shows      shows
	heralds    map[device.ID]herald

	past      *past   // nil unless another reading could use it
	attending []guest // by their end
	attended  int     // of the residents that are known
	absent    absentees
	unlisted  bool // there are lists of buffers in L1, and no other reading
	again     bool // this is another reading

	farthest uint64 // largest counter that a connection names
	asked    bool   // Options.At has passed

	rereads bool // what comes too late for this reading will be told by another one
	silent  bool // nothing is told
	pos     event.Pos
	counter uint64 // of the node at hand
	nodes   int64
	isLog   bool // it is an event log, which speaks for itself

	sliced        bool               // it is a database, where each operation has a graph of its own
	began, border uint64             // first nodes of the last slice, and of the next one
	leaving       guests             // buffers that are gone when an operation ends, by their end
	crossed       map[device.ID]bool // ids with L1 buffers that lived when an operation ended
	undescribed   bool               // no tensor has described a sharded buffer that was told
	placeless     bool               // a buffer without an address may live on behind a window
	out           [][]event.Event    // not yet yielded; its memory is used again
	starting      []event.Event      // room for those of start
}

func newWalk(r *Reader, opt Options, known *learnt, rank event.Opt[uint64]) *walk {
	s := &specs{opt: opt, known: known, reader: r}
	return &walk{
		opt: opt, reader: r, rank: rank,
		known: known, specs: s, grids: &grids{specs: s, known: known, byID: map[device.ID]*grid{}}, units: newUnits(known),
		functions: newFunctions(), layouts: newLayouts(), hits: hits{}, buffers: newBuffers(known),
		guessed: newGuesses(), aimless: aimless{}, notes: notes{}, hidden: notes{}, unlessPlan: notes{},
		heralds: map[device.ID]herald{}, freed: map[device.ID]stretch{},
		absent: newAbsentees(), places: newPlaces(known), unread: newUnread(),
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
		w.pos, w.counter = n.Pos, n.Counter
		if err := w.node(n); err != nil {
			return err
		}
		w.nodes++
		if !w.flush(yield) {
			return errStop
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
	if !w.flush(yield) {
		return errStop
	}
	return nil
}

// tell takes in a copy of an event to be yielded.
func (w *walk) tell(e *event.Event) {
	if w.silent || w.rereads && w.known.stale() {
		return
	}
	last := len(w.out) - 1
	if last < 0 || len(w.out[last]) == maxOut {
		w.out = append(w.out, nil)
		last++
	}
	w.out[last] = append(w.out[last], *e)
	if e.Pos == (event.Pos{}) {
		w.out[last][len(w.out[last])-1].Pos = w.pos
	}
}

// maxOut is how many events a block holds. One node seldom tells more, but the list of an
// operation in a database may tell 100,000: one slice that grows took 2.2 times their memory.
const maxOut = 256

// flush yields what was told.
func (w *walk) flush(yield func(*event.Event, error) bool) bool {
	for n, block := range w.out {
		for i := range block {
			if !yield(&block[i], nil) {
				return false
			}
		}
		if n > 0 {
			w.out[n] = nil
		}
	}
	if len(w.out) > 0 {
		w.out = [][]event.Event{w.out[0][:0]}
	}
	return true
}

// begin tells the header, and the units that an earlier reading has met, so that none
// comes late.
func (w *walk) begin() {
	source := "capture"
	if w.sliced {
		source = "database"
	}
	w.tell(&event.Event{Kind: event.KindHeader, Source: source})
	for _, id := range slices.SortedFunc(maps.Keys(w.known.met), byID) {
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
		w.notes.add(noteUnknownType, int64(n.Counter), string(n.Type))
	}
	return nil
}

// members takes in which chips of a mesh have a part of a tensor.
func (w *walk) members(n *node) {
	if n.Anomaly.Has(event.AnomalyDeviceTensors) {
		w.hideMembers()
	}
	for _, t := range n.DeviceTensors {
		if t.MeshDeviceID.OK {
			w.learn(device.ID(t.MeshDeviceID.V), device.ID(t.DeviceID))
		}
	}
}

// enter begins a function.
func (w *walk) enter(n *node) {
	w.functions.enter(n)
	w.past.enters(n.Counter)
	w.tellOperation(event.KindOpStart, n.Counter, w.functions.inner().name)
}

func (w *walk) operationFailed(n *node) {
	w.notes.add(noteOperationFailed, int64(n.Counter), strings.Trim(n.ErrorOperation+": "+n.ErrorMessage, ": "))
}

// note counts what is odd about a node.
func (w *walk) note(n *node) {
	at := int64(n.Counter)
	if n.Anomaly.Has(event.AnomalyDuplicateKey) {
		w.notes.add(noteDuplicateKey, at, "")
	}
	if n.Anomaly.Has(event.AnomalyDeviceTensors) {
		w.notes.add(noteBadDeviceTensors, at, "")
	}
	if w.sliced {
		return // a connection may lead out of its slice
	}
	for _, c := range n.Connections {
		w.farthest = max(w.farthest, c)
	}
}

// functionEnd ends the innermost function, and with it the runs that began in it.
func (w *walk) functionEnd(n *node) error {
	w.past.leaves(n.Counter)
	if w.functions.depth() == 0 {
		w.notes.add(noteEndWithoutStart, int64(n.Counter), n.Name)
		return nil
	}
	if n.Aborted {
		w.abort(n)
	}
	w.hit(n.Counter)
	depth := w.functions.depth()
	if err := w.complete(n.Counter, w.open.from(depth)); err != nil {
		return err
	}
	w.functions.leave()
	w.tellOperation(event.KindOpEnd, n.Counter, "")
	return nil
}

// tellOperation tells that a function starts or ends, if somebody wants to know.
func (w *walk) tellOperation(kind event.Kind, at uint64, name string) {
	if w.opt.Operations {
		w.tell(&event.Event{Kind: kind, Node: at, Name: name})
	}
}

// abort takes in that an exception ends the innermost function, once for all functions
// that it ends.
func (w *walk) abort(n *node) {
	f := w.functions.inner()
	if !w.known.aborted[f.start] && len(w.known.aborted) < maxTensors {
		w.known.aborted[f.start] = true
		if f.decided {
			w.known.untimely = true
			w.notes.add(noteAbortedLate, int64(f.start), f.name)
		}
	}
	if !f.aborted && n.Unreadable == nil {
		w.notes.add(noteAborted, int64(n.Counter), strings.Trim(f.name+": "+n.AbortReason, ": "))
	}
	f.aborted = true
}

// learn takes in that a mesh has a chip, which may have missed frees and buffers of the
// mesh.
func (w *walk) learn(mesh, chip device.ID) {
	u := w.units.byID[chip]
	if u != nil {
		w.wake(u) // what was announced to it so far is without what is learnt now
	}
	if !w.known.member(mesh, chip) {
		return
	}
	delete(w.units.reach, mesh)
	if w.unread.freed[mesh] || w.unread.freed[chip] || u != nil && u.blind {
		w.known.late = true // its buffers may be hidden, or its programs show
	}
	if u != nil && (w.missed(u, mesh) || w.relied(u, mesh) || u.run != nil && w.heralds[mesh].several) || w.guessed.wrong(mesh, chip, w.known) {
		w.known.late = true
	}
	if u == nil {
		return // it will begin with what the mesh has
	}
	w.allocatedBy(u)
	if b := w.buffers.waiting; b != nil && b.named == mesh {
		w.settle()
	}
	if from := w.units.byID[mesh]; from != nil && from.touched {
		w.known.late = true
		w.join(u, slices.Values([]device.ID{mesh}))
	}
}

// ask tells what is open if the node before next was the one that Options.At names.
func (w *walk) ask(next uint64) error {
	if w.asked || !w.opt.At.OK || next <= w.opt.At.V {
		return nil
	}
	w.asked = true
	w.settle()
	if err := w.complete(next, w.open.all()); err != nil {
		return err
	}
	w.declareAgain()
	return nil
}

// declare tells what is known of a unit.
func (w *walk) declare(u *unit, like event.Opt[device.ID]) {
	e := w.declaration(u.id)
	e.Like = like
	u.told = declaredBy(&e)
	w.tell(&e)
}

func (w *walk) declaration(id device.ID) event.Event {
	g := w.grids.of(id)
	e := event.Event{Kind: event.KindDevice, Node: w.counter, Device: id, Role: w.known.role(id)}
	e.Spec, e.From = w.specs.of(id)
	if u := w.units.byID[id]; u != nil && u.declared() && u.told.spec.L1Small != e.Spec.L1Small { // its sizes stay
		e.Spec.L1Small, e.From.Small = u.told.spec.L1Small, u.told.from.Small
	}
	e.Spec.Cols, e.Spec.Rows = g.cols, g.rows
	e.From.Grid = g.from
	e.Chips = slices.Clone(w.known.chips[id])
	return e
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
			w.tell(a.told)
		}
	}
	if err := w.ask(math.MaxUint64); err != nil {
		return err
	}
	w.compareEnd()
	w.tellBetween()
	w.declareAgain()
	w.tell(&event.Event{Kind: event.KindUpstream, Node: end, Upstream: w.upstream.figures()})
	if apart := w.units.apart(); len(apart) > 0 {
		w.tell(&event.Event{
			Kind: event.KindHidden, Code: hiddenApart, Node: end, Count: int64(len(apart)), Devices: event.Some(apart),
		})
	}
	w.hideRows()
	if !w.shows.plan() {
		w.hidden.addAll(w.unlessPlan)
	}
	for _, e := range slices.Concat(w.hidden.events(event.KindHidden, w.pos), w.notes.events(event.KindAnomaly, w.pos)) {
		w.tell(e)
	}
	rank := w.reader.info.Rank
	if !rank.OK {
		rank = w.rank
	}
	last := event.Event{Kind: event.KindEnd, Node: end, Nodes: w.nodes, Rank: rank, Windows: w.reader.windows.list()}
	last.Spec, last.From = w.specs.of(event.NoDevice)
	if all := w.units.sorted(); len(all) > 0 {
		first := w.declaration(all[0].id)
		last.Spec.L1Small, last.From.Small = first.Spec.L1Small, first.From.Small
	}
	w.tell(&last)
	return nil
}

// compareEnd notes what the end of the capture shows of its beginning.
func (w *walk) compareEnd() {
	w.lookBack()
	if !w.again {
		w.known.badRows = w.reader.info.Listed // another reading does not read these again
	}
	if w.known.late {
		w.notes.add(noteMeshLate, wholeFile, "")
	}
	if all := w.aimless.sum(w.isKnown); all != nil {
		w.notes[noteMeshUnknown] = all
	}
	info := w.reader.info
	first := w.known.devices == nil && !info.Early
	if w.specs.end() {
		w.known.late = true
		w.notes.add(noteLayoutLate, wholeFile, "")
	} else if first && slices.ContainsFunc(info.Devices, w.grids.exceed) {
		w.known.late = true
		w.notes.add(noteLayoutLate, wholeFile, "the compute grid")
	} else if first && w.grids.anyUsed() && slices.ContainsFunc(info.Devices, legalGrid) {
		w.known.late = true
	}
	if w.compareSmall() {
		w.known.late = true
		code := noteSmallLate
		if w.places.made { // buffers would lie elsewhere
			code = noteLayoutLate
		}
		w.notes.add(code, wholeFile, "the size of L1_SMALL")
	}
	w.compareBottom()
	w.grids.forget()
	if w.farthest > 0 && w.farthest >= uint64(w.nodes) {
		w.notes.add(noteDanglingConnection, wholeFile, "")
	}
	for id := range w.known.chips {
		if w.known.isChip[id] {
			w.notes.add(noteIDCollision, wholeFile, "")
		}
	}
	for range w.functions.stack {
		w.notes.add(noteUnfinished, wholeFile, w.functions.inner().name)
	}
	if w.reader.info.Anomaly.Has(event.AnomalyDuplicateKey) {
		w.notes.add(noteDuplicateKey, wholeFile, "")
	}
	for range w.specs.differ() {
		w.notes.add(noteSpecsDiffer, wholeFile, "")
	}
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
		w.unlisted = w.unlisted || row.kind == fit.KindL1 || row.kind == fit.KindL1Small
	}
}

// lookBack finds the buffers from before the capture, for another reading.
func (w *walk) lookBack() {
	if w.unlisted {
		w.hidden.add(hiddenListed, wholeFile, "")
	}
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
		w.known.residents, w.known.harmless, w.known.untimely = found, seen, true
	}
}

// isKnown reports whether a free with an id has a meaning.
func (w *walk) isKnown(id device.ID) bool {
	u := w.units.byID[id]
	return w.known.isChip[id] || w.known.isMesh(id) || u != nil && u.run != nil
}

// declareAgain tells the units that turned out to be something else than was told, and
// the meshes that nothing but their chips' nodes show.
func (w *walk) declareAgain() {
	ids := slices.Collect(maps.Keys(w.known.chips))
	for id := range w.units.byID {
		if !w.known.isMesh(id) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, byID)
	for _, id := range ids {
		e, u := w.declaration(id), w.units.byID[id]
		if u == nil || !u.told.equal(declaredBy(&e)) {
			w.tell(&e)
			if u != nil {
				u.told = declaredBy(&e)
			}
		}
	}
}

// close ends what no node has ended, at the last one.
func (w *walk) close(end uint64) error {
	w.settle()
	if n := w.functions.depth(); n > 0 {
		w.hit(end)
		for _, c := range w.functions.stack[:n-1] {
			if c.cacheHit.V && !c.placed {
				w.hidden.add(hiddenCacheHit, int64(c.start), c.name)
			}
		}
	}
	w.closeFree()
	return w.complete(end, w.open.all())
}
