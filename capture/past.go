package capture

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
)

// forever is the end of what no node ends.
const forever = math.MaxUint64

// A resident is a buffer in L1 from before the capture, of which a place is known.
type resident struct {
	named   device.ID
	kind    fit.Kind
	address uint64
	perCore event.Opt[uint64]
	shards         // without known cores: on all
	told    bool   // a tensor says how it lies
	since   uint64 // counter of the node before which it is there
	until   uint64 // counter of its free, or forever
}

// A lostFree is the free of a buffer in L1 that the capture did not allocate.
type lostFree struct {
	named   device.ID
	kind    fit.Kind
	address uint64
	perCore event.Opt[uint64]
	node    event.Opt[uint64] // buffer node that it names
	at      uint64
	after   uint64 // where the last allocation of the address ended before it
	doubt   bool   // it may be of a hidden allocation, or of another memory
}

// A clue is a node that stands for a buffer from before the capture, or may.
type clue struct {
	named   device.ID
	kind    fit.Kind
	node    event.Opt[uint64] // the buffer node, if it is one
	size    event.Opt[uint64]
	address uint64 // as its first tensor says it; 0 = none does
	tensor  uint64 // counter of that tensor
	shards         // of that tensor, if it is sharded
}

// past gathers what a capture tells of buffers from before it. Where they lay shows only
// later, so it is of use to a second reading alone.
type past struct {
	lives   map[uint64]*lives   // by address
	frees   map[uint64]*frees   // by address
	byNode  map[uint64]lostFree // the first one that names a buffer node, with the largest address
	clues   map[uint64]*clue    // by buffer node
	tensors map[uint64]uint64   // tensors to come -> the clue that names them
	backed  counters            // tensors that a buffer node names
	loose   map[uint64]clue     // of tensors that none names so far, by counter
	found   []clue              // of those that the last buffer node names
	lists   lists
	spans   []span // of functions, if there may be lists
	open    []int  // of spans that did not end

	sliced   bool               // it is a database: spans are its slices
	starts   []uint64           // of its slices
	spoken   map[device.ID]bool // ids of which it says what lived when operations ended, asked at the end
	blind    []uint64           // frees of a database of L1 buffers that no address or node tells
	listable bool               // there may be lists, so each life of an address counts for itself
	later    map[uint64]bool    // buffer nodes that looked like clues, and were allocated later
	windows  []uint64           // first nodes of the windows of a run; empty: it is one file
	firsts   map[placeOf]uint64 // when a buffer lay there first, asked at the end
	hidden   event.Opt[uint64]  // the first hidden allocation: what shows later may be its buffer
}

func newPast() *past {
	return &past{
		lives: map[uint64]*lives{}, frees: map[uint64]*frees{}, byNode: map[uint64]lostFree{}, clues: map[uint64]*clue{}, tensors: map[uint64]uint64{}, backed: counters{},
		loose: map[uint64]clue{}, later: map[uint64]bool{}, spoken: map[device.ID]bool{}, firsts: map[placeOf]uint64{},
	}
}

// allocated takes in an allocation of the capture. It returns its life, if its place is
// recorded.
func (p *past) allocated(b *buffer) *life {
	if p == nil {
		return nil
	}
	if b.node.OK && p.clues[b.node.V] != nil {
		delete(p.clues, b.node.V)
		p.later[b.node.V] = true
	}
	if !b.kind.InL1() || b.recorded == 0 {
		return nil
	}
	if p.lives[b.recorded] == nil {
		p.lives[b.recorded] = &lives{named: map[device.ID]*history{}}
	}
	return p.lives[b.recorded].begin(b, p.origin(b.at), p.listable)
}

// ended takes in the free of a buffer of the capture.
func (p *past) ended(b *buffer, at uint64) {
	if b.life != nil {
		p.lives[b.recorded].end(b, p.origin(at), at)
	}
}

// lost takes in a free of which no allocation is known.
func (p *past) lost(n *node, known *learnt) {
	kind, ok := bufferKind(n)
	if p == nil || ok && !kind.InL1() {
		return
	}
	if p.sliced && n.Address.V == 0 {
		p.blind = append(p.blind, n.Counter)
	}
	f := lostFree{named: idOf(n.DeviceID), kind: kind, address: n.Address.V, perCore: n.MaxSizePerBank, at: n.Counter, doubt: p.hidden.OK || !ok}
	if len(n.Connections) > 0 {
		f.node = event.Some(n.Connections[0])
	}
	// A life of an earlier window was of another size.
	f.after = max(p.lives[f.address].ended(known, f.named, p.origin(f.at), f.at), p.frees[f.address].last(known, f.named))
	if f.address != 0 {
		if p.frees[f.address] == nil {
			p.frees[f.address] = &frees{named: map[device.ID][]lostFree{}}
		}
		p.frees[f.address].add(f)
	}
	if !f.node.OK {
		return
	}
	if was, ok := p.byNode[f.node.V]; ok {
		was.address = max(was.address, f.address)
		f = was
	}
	p.byNode[f.node.V] = f
}

// used takes in a buffer node that is not of an allocation.
func (p *past) used(n *node, kind fit.Kind) {
	if p == nil || p.hidden.OK {
		return
	}
	c := &clue{named: idOf(n.DeviceID), kind: kind, node: event.Some(n.Counter), size: n.Size}
	if len(p.found) > 0 {
		c.address, c.tensor, c.shards = p.found[0].address, p.found[0].tensor, p.found[0].shards
	}
	p.clues[n.Counter] = c
	for _, c := range n.Connections {
		if len(p.tensors) < maxTensors {
			p.tensors[c] = n.Counter
		}
	}
}

// names takes in that a buffer node names tensors.
func (p *past) names(n *node) {
	if p == nil {
		return
	}
	p.found = p.found[:0]
	for _, c := range n.Connections {
		p.backed.add(c)
		if t, ok := p.loose[c]; ok {
			p.found = append(p.found, t)
			delete(p.loose, c)
		}
	}
}

// tensor takes in a tensor, which may say where its buffer lies.
func (p *past) tensor(n *node) {
	if p == nil || p.hidden.OK {
		return
	}
	node, named := p.tensors[n.Counter]
	delete(p.tensors, n.Counter)
	if n.Address.V == 0 {
		return
	}
	if of := p.clues[node]; named && of != nil {
		if of.address == 0 {
			of.address, of.tensor = n.Address.V, n.Counter
			of.shards, _ = shardsOf(n)
		}
		return
	}
	kind, ok := bufferKind(n)
	if !ok || !kind.InL1() || p.backed.has(n.Counter) {
		return
	}
	if len(p.loose) < maxTensors {
		c := clue{named: idOf(n.DeviceID), kind: kind, address: n.Address.V, tensor: n.Counter}
		c.shards, _ = shardsOf(n)
		p.loose[n.Counter] = c
	}
}

// freed returns the counter of the first lost free of a place from a node on.
func (p *past) freed(known *learnt, named device.ID, address, from uint64) uint64 {
	return p.frees[address].first(known, named, from)
}

// residents returns the residents with a known place, by when they came. seen has the buffer
// nodes that hide nothing.
func (p *past) residents(known *learnt) (out []resident, seen map[uint64]bool) {
	seen = map[uint64]bool{}
	modes := map[uint64][]clue{} // by address, of buffers that are listed
	for _, l := range p.lives {
		l.settle()
	}
	out = p.fromLists(known)
	listed := len(out)
	var clues []clue
	for _, c := range p.clues {
		clues = append(clues, *c)
	}
	for _, c := range p.loose {
		clues = append(clues, c)
	}
	slices.SortFunc(clues, func(a, b clue) int {
		return cmp.Or(cmp.Compare(a.node.V, b.node.V), cmp.Compare(a.tensor, b.tensor), cmp.Compare(a.named, b.named), cmp.Compare(a.kind, b.kind))
	})
	for _, c := range clues {
		if p.speaks(known, c.named) || known.listed[p.origin(c.at())] && len(p.windows) > 0 { // of all that lived when an operation ended
			if c.node.OK {
				seen[c.node.V] = true
			}
			if c.mode != fit.Lockstep {
				modes[c.address] = append(modes[c.address], c)
			}
			continue
		}
		r, explained := p.follow(known, c)
		if explained && c.node.OK {
			seen[c.node.V] = true
		}
		if r.until > 0 {
			out = append(out, r)
		}
	}
	for i := range out[:listed] { // lists do not say how a buffer was allocated
		for _, c := range modes[out[i].address] {
			if known.share(c.named, out[i].named) {
				out[i].shards, out[i].told = c.shards, true
				break
			}
		}
	}
	hides := func(r resident) bool { return !r.told && known.mayDescribe(r.named, r.address) }
	return p.across(slices.DeleteFunc(p.fromFrees(known, out), hides)), seen
}

// follow finds the resident of a clue, which has until 0 if there is none. Explained says
// that nothing about the clue is hidden.
func (p *past) follow(known *learnt, c clue) (r resident, explained bool) {
	origin := p.origin(c.at())
	r = resident{named: c.named, kind: c.kind, address: c.address, told: c.address != 0, since: origin, until: p.border(origin)}
	if c.address != 0 && p.firstLife(known, c.named, c.address, origin) <= c.tensor {
		return resident{}, true // it is a buffer of the capture
	}
	if f, ok := p.byNode[c.node.V]; ok && c.node.OK {
		r.until, r.address = f.at, max(r.address, f.address)
	}
	if r.address == 0 {
		return resident{}, false
	}
	r.until = min(r.until, p.freed(known, c.named, r.address, origin), p.firstLife(known, c.named, r.address, origin))
	r.shards = c.shards
	if n := uint64(c.cores.Len()); n > 0 {
		if c.node.OK && c.size.OK && c.size.V%n == 0 {
			r.perCore = event.Some(c.size.V / n)
		}
	}
	return r, true
}

// at returns a node of the clue.
func (c *clue) at() uint64 { return max(c.tensor, c.node.V) }

// firstLife returns from when on a buffer of the capture lay at an address first, in the window that
// begins at a node.
func (p *past) firstLife(known *learnt, id device.ID, address, origin uint64) uint64 {
	place := placeOf{id, address, origin}
	first, ok := p.firsts[place]
	if ok {
		return first
	}
	first = forever
	for h := range p.lives[address].sharing(known, id) {
		if l := h.after(origin); l != nil {
			first = min(first, max(l.from, origin))
		}
	}
	p.firsts[place] = first
	return first
}

// A placeOf is an address of an id in the window that begins at a node.
type placeOf struct {
	id              device.ID
	address, origin uint64
}

// fromFrees adds what is freed with an address and is not among the residents: it lay
// there since the place was free of others.
func (p *past) fromFrees(known *learnt, out []resident) []resident {
	told := map[placeAt][]device.ID{}
	for _, r := range out {
		told[placeAt{r.address, r.until}] = append(told[placeAt{r.address, r.until}], r.named)
	}
	for _, address := range slices.Sorted(maps.Keys(p.frees)) {
		for _, f := range p.frees[address].sorted() {
			is := func(id device.ID) bool { return known.share(id, f.named) }
			if f.after < f.at && !f.doubt && !slices.ContainsFunc(told[placeAt{address, f.at}], is) {
				out = append(out, resident{
					named: f.named, kind: f.kind, address: address, perCore: f.perCore, since: p.since(known, f), until: f.at,
				})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b resident) int { return cmp.Compare(a.since, b.since) })
	return out
}

// A placeAt is an address that a free ended.
type placeAt struct{ address, at uint64 }

// share reports whether two ids may mean one device.
func (k *learnt) share(a, b device.ID) bool {
	return k.reaches(a, b) || k.reaches(b, a) || slices.ContainsFunc(k.chips[a], func(chip device.ID) bool { return k.reaches(b, chip) })
}

// attend brings the residents up to date with the node that comes. Those that ended
// before it go, and those that are there by then come.
func (w *walk) attend(next uint64) error {
	if err := w.depart(next); err != nil {
		return err
	}
	for len(w.attending) > 0 && w.attending[0].until < next {
		b := w.attending[0]
		w.settle() // what was allocated before comes before
		if err := w.completeOn(b, next); err != nil {
			return err
		}
		w.attending = w.attending[1:] // slices.Delete would move all that is left, for each buffer
		w.places.remove(b.buffer)
		w.tell(&event.Event{Kind: event.KindFree, Node: b.until, Buffer: fit.Buffer{ID: b.id}, Devices: event.Some(idsOf(b.on))})
	}
	for ; w.attended < len(w.known.residents) && w.known.residents[w.attended].since <= next; w.attended++ {
		if r := w.known.residents[w.attended]; next < r.until {
			if err := w.arrive(r, next); err != nil {
				return err
			}
		}
	}
	return nil
}

// A guest is a resident that is there now.
type guest struct {
	*buffer
	until uint64
}

// completeOn tells the runs of the units on which a buffer comes or goes.
func (w *walk) completeOn(b guest, at uint64) error {
	return w.complete(at, w.open.of(b.on...))
}

// arrive tells a resident that is there from now on.
func (w *walk) arrive(r resident, now uint64) error {
	b := guest{&buffer{
		id: w.buffers.next(), at: r.since, named: r.named, kind: r.kind, perCore: r.perCore, recorded: r.address,
		op: event.UnplacedEarlier, shards: r.shards, told: true, earlier: true,
	}, r.until}
	b.on = w.units.reached(r.named)
	if len(b.on) == 0 || r.address > jsonobject.MaxL1 {
		return nil // where nothing else is, or in no L1
	}
	w.settle() // what was allocated before comes before
	if err := w.completeOn(b, now); err != nil {
		return err
	}
	b.address = event.Some(r.address)
	w.places.locate(b.buffer, w.specs.spec())
	i, _ := slices.BinarySearchFunc(w.attending, b, func(a, b guest) int {
		return cmp.Or(cmp.Compare(a.until, b.until), cmp.Compare(a.id, b.id))
	})
	w.attending = slices.Insert(w.attending, i, b)
	e := w.allocation(b.buffer)
	w.tellBuffer(&e, b.buffer, b.on)
	return nil
}

// An absentee is a buffer in L1 from before the capture of which no place is known.
type absentee struct {
	told  *event.Event
	named device.ID
}

func (a absentee) compare(b absentee) int { return cmp.Compare(a.told.Node, b.told.Node) }

// absentees are those that are not told yet.
type absentees struct {
	byNode map[uint64]absentee
	byName map[device.ID][]absentee // those that were dropped too
}

func newAbsentees() absentees {
	return absentees{map[uint64]absentee{}, map[device.ID][]absentee{}}
}

func (l *absentees) add(a absentee) {
	l.byNode[a.told.Node] = a
	l.byName[a.named] = append(l.byName[a.named], a)
}

// drop takes out the absentee of a buffer node. It reports whether there was one.
func (l *absentees) drop(node uint64) bool {
	_, ok := l.byNode[node]
	delete(l.byNode, node)
	return ok
}

// absentee returns the event of a buffer node whose buffer lies nowhere.
func (w *walk) absentee(n *node, kind fit.Kind) absentee {
	return absentee{&event.Event{
		Kind: event.KindAllocate, Node: n.Counter, Op: event.Some(w.functions.path()), Earlier: true, Unplaced: event.UnplacedEarlier,
		Buffer: fit.Buffer{ID: w.buffers.next(), Kind: kind, Size: n.Size.V},
	}, idOf(n.DeviceID)}
}

// hides tells an absentee once something has run beside it.
func (w *walk) hides(a absentee) bool {
	if !w.ranOn(a.named) {
		return false
	}
	w.tell(a.told)
	return true
}

// ranOn reports whether anything has run where a buffer of an id lies.
func (w *walk) ranOn(id device.ID) bool {
	if id == event.NoDevice {
		return w.units.ran > 0
	}
	return slices.ContainsFunc(w.units.reached(id), func(u *unit) bool { return u.ran })
}

// expose tells the absentees beside which something has run by now: the first program of
// some units.
func (w *walk) expose(first ...*unit) {
	var shown []absentee
	for _, u := range first {
		for id := range w.known.above(u.id) {
			shown = append(shown, w.absent.byName[id]...)
			delete(w.absent.byName, id)
		}
	}
	slices.SortFunc(shown, absentee.compare)
	for _, a := range shown {
		if w.absent.drop(a.told.Node) {
			w.tell(a.told)
		}
	}
}
