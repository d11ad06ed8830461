package capture

import (
	"slices"

	"github.com/cbl1/cbl1/event"
)

// compareEnd notes what the end of a capture with some nodes shows of its beginning.
func (p *places) compareEnd(info reportInfo, nodes uint64) {
	p.programs.heralds.countAimless(p.out.notes)
	first := p.known.devices == nil && !info.Early
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
	if p.farthest > 0 && p.farthest >= nodes {
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
}

// tellEnd tells what is known at the end alone. The last event says how far the reading has come.
func (p *places) tellEnd(last event.Event) {
	p.devices.declareAgain(p.at)
	p.out.tell(&event.Event{Kind: event.KindUpstream, Node: last.Node, Upstream: p.upstream.figures()})
	if apart := p.units.apart(); len(apart) > 0 {
		p.out.tell(&event.Event{
			Kind: event.KindHidden, Code: hiddenApart, Node: last.Node, Count: int64(len(apart)), Devices: event.Some(apart),
		})
	}
	p.out.tellNotes(p.shows.plan())
	last.Spec, last.From = p.specs.of(event.NoDevice)
	if all := p.units.order; len(all) > 0 {
		first := p.devices.declaration(all[0].id, p.at)
		last.Spec.L1Small, last.From.Small = first.Spec.L1Small, first.From.Small
	}
	p.out.tell(&last)
}
