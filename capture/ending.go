package capture

import (
	"maps"
	"math"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/l1"
)

// close ends what no node has ended, at the last one.
func (r *reading) close() {
	p, s := r.places, r.operations.finish(r.places.at, r.lost())
	p.stand(s)
	p.settle()
	p.hit(s)
	for _, f := range r.operations.hits() {
		p.out.hidden.add(hiddenCacheHit, int64(f.start), f.name)
	}
	p.close(s.closed)
	p.complete(s.at, p.programs.open.all())
	p.memory.tellEarlier(&node{})
	p.attend(forever)
	if p.units.ran == 0 {
		for _, a := range slices.SortedFunc(maps.Values(p.memory.absent.byNode), absentee.compare) {
			p.out.tell(a.told)
		}
	}
}

// finish completes everything that is open, and yields the events that only the end shows.
func (r *reading) finish() {
	r.close()
	r.ask(math.MaxUint64)
	r.compareEnd()
	r.tellBetween()
	p, end := r.places, uint64(r.nodes)
	p.devices.declareAgain(p.at)
	p.out.tell(&event.Event{Kind: event.KindUpstream, Node: end, Upstream: p.upstream.figures()})
	if apart := p.units.apart(); len(apart) > 0 {
		p.out.tell(&event.Event{
			Kind: event.KindHidden, Code: hiddenApart, Node: end, Count: int64(len(apart)), Devices: event.Some(apart),
		})
	}
	r.hideRows()
	p.out.tellNotes(p.shows.plan())
	last := event.Event{Kind: event.KindEnd, Node: end, Nodes: r.nodes, Rank: r.reader.info.Rank}
	if !last.Rank.OK {
		last.Rank = r.rank
	}
	last.Spec, last.From = p.specs.of(event.NoDevice)
	if all := p.units.order; len(all) > 0 {
		first := p.devices.declaration(all[0].id, p.at)
		last.Spec.L1Small, last.From.Small = first.Spec.L1Small, first.From.Small
	}
	p.out.tell(&last)
}

// compareEnd notes what the end of the capture shows of its beginning.
func (r *reading) compareEnd() {
	r.lookBack()
	p, info := r.places, r.reader.info
	if r.past != nil {
		r.known.badRows = info.Listed // another reading does not read these again
	}
	p.programs.heralds.countAimless(p.out.notes)
	first := p.known.sizes.devices == nil && !info.Early
	if p.specs.end() {
		p.known.late.add(noteLayoutLate, wholeFile, "")
	} else if first && slices.ContainsFunc(info.Devices, p.grids.exceed) {
		p.known.late.add(noteLayoutLate, wholeFile, "the compute grid")
	} else if first && p.grids.anyUsed() && slices.ContainsFunc(info.Devices, legalGrid) {
		p.known.tooLate(noteNone)
	}
	if p.specs.compareSmall(p.units, p.out.notes) {
		code := noteSmallLate
		if p.memory.heights.made { // buffers would lie elsewhere
			code = noteLayoutLate
		}
		p.known.late.add(code, wholeFile, "the size of L1_SMALL")
	}
	if p.programs.layouts.synthesised && p.known.findLifted() { // programs were placed without that knowledge
		p.known.late.add(noteLayoutLate, wholeFile, "persistent L1")
	}
	p.grids.forget()
	if p.farthest > 0 && p.farthest >= uint64(r.nodes) {
		p.out.notes.add(noteDanglingConnection, wholeFile, "")
	}
	for id := range p.known.members.chips {
		if p.known.members.isChip[id] {
			p.out.notes.add(noteIDCollision, wholeFile, "")
		}
	}
	if info.Anomaly.Has(event.AnomalyDuplicateKey) {
		p.out.notes.add(noteDuplicateKey, wholeFile, "")
	}
	for range p.specs.differ() {
		p.out.notes.add(noteSpecsDiffer, wholeFile, "")
	}
	for range r.operations.stack {
		p.out.notes.add(noteUnfinished, wholeFile, r.operations.inner().name)
	}
	late := maps.Clone(r.known.late)
	delete(late, noteNone)
	p.out.notes.addAll(late)
}

// lookBack finds the buffers from before the capture, for another reading.
func (r *reading) lookBack() {
	if r.past == nil {
		return
	}
	if r.known.once {
		r.hideLoose()
		return
	}
	r.lookBetween()
	found, seen := r.past.residents(r.known)
	for node := range r.past.clues.later {
		seen[node] = true
	}
	for _, one := range found {
		smallAt(one.kind, one.address, r.places.units.reached(one.named))
		r.known.bottom.buffer(one.named, one.kind, l1.Range{Start: one.address, End: one.address + one.perCore.V})
	}
	if len(found)+len(seen) > 0 {
		r.known.before.residents, r.known.before.harmless = found, seen
		r.known.tooLate(noteNone)
	}
}

// hideLoose hides the buffers from before the capture that tensors alone show, in an input that can be read once.
// Programs have run beside them. A buffer node hides its own buffer.
func (r *reading) hideLoose() {
	for _, one := range r.past.loose() {
		if r.places.units.ranOn(one.named) && one.address <= jsonobject.MaxL1 {
			r.out.hidden.add(hiddenListed, int64(one.tensor), "")
		}
	}
}

// hideRows counts the sections of a report and the rows that cannot be read.
func (r *reading) hideRows() {
	for _, rows := range []unreadRows{r.reader.info.Unread, r.known.badRows} {
		for range rows.count {
			r.out.hidden.add(hiddenUnreadable, wholeFile, rows.why)
		}
	}
}
