package capture

import (
	"maps"
	"math"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
)

// close ends what no node has ended, at the last one.
func (r *reading) close() {
	p, s := r.places, r.operations.finish(r.places.at, r.lost())
	p.setPosition(s)
	p.endHit(s)
	for _, f := range r.operations.hits() {
		p.out.hidden.add(hiddenCacheHit, int64(f.start), f.name)
	}
	p.programs.complete(s.at, p.programs.open.from(0))
	p.memory.emitEarlier(&graph.Node{})
	p.expireAndPlace(survey.Forever)
	if p.units.ran == 0 {
		for _, node := range slices.Sorted(maps.Keys(p.out.absent)) {
			p.out.emit(p.out.absent[node])
		}
	}
}

// finish completes everything that is open, and yields the events that only the end shows.
func (r *reading) finish() {
	r.close()
	r.ask(math.MaxUint64)
	r.emitOdd()
	r.emitBetween()
	p, end := r.places, uint64(r.nodes)
	p.out.emit(&event.Event{Kind: event.KindUpstream, Node: end, Upstream: p.upstream.figures()})
	for range p.unclear {
		p.out.hidden.add(hiddenCollision, wholeFile, "")
	}
	if apart := p.apart(); len(apart) > 0 {
		p.out.emit(&event.Event{
			Kind: event.KindHidden, Code: hiddenApart, Node: end, Count: int64(len(apart)), Devices: event.Some(apart),
		})
	}
	r.hideRows()
	p.out.emitNotes(p.Known.Plan)
	last := event.Event{Kind: event.KindEnd, Node: end, Nodes: r.nodes, Rank: r.reader.doc.Info.Rank}
	if !last.Rank.OK {
		last.Rank = r.rank
	}
	last.Spec, last.From = p.Specs.Of(event.NoDevice)
	if all := p.units.order; len(all) > 0 {
		first := p.declaration(all[0].id)
		last.Spec.L1Small, last.From.Small = first.Spec.L1Small, first.From.Small
	}
	p.out.emit(&last)
}

// emitOdd notes the anomalies of the whole capture.
func (r *reading) emitOdd() {
	p := r.places
	p.noteSmall()
	if p.farthest > 0 && p.farthest >= uint64(r.nodes) {
		p.out.notes.add(noteDanglingConnection, wholeFile, "")
	}
	if r.reader.doc.Info.Anomaly.Has(event.AnomalyDuplicateKey) {
		p.out.notes.add(noteDuplicateKey, wholeFile, "")
	}
	for range p.Specs.Differ() {
		p.out.notes.add(noteSpecsDiffer, wholeFile, "")
	}
	for range r.operations.stack {
		p.out.notes.add(noteUnfinished, wholeFile, r.operations.inner().name)
	}
}

// hideRows counts the sections of a report and the rows that cannot be read.
func (r *reading) hideRows() {
	if n := r.known.Before.Unplaced; n > 0 {
		r.out.notes.addAll(notes{noteBufferUnplaced: &note{count: n, first: wholeFile, detail: "in " + graph.ListsKey}})
	}
	for _, rows := range []graph.UnreadRows{r.reader.doc.Info.Unread, r.known.BadRows} {
		for range rows.Count {
			r.out.hidden.add(hiddenUnreadable, wholeFile, rows.Why)
		}
	}
}
