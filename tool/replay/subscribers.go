package replay

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/fold"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// subscribers answer questions of Options while events go by. One is there only for a question in Options. It adds
// the calls that it needs. Its facts of a row are in the row.
type subscribers struct {
	before     []func(next *event.Event, rows *rows, marker *marker)       // an event is next; nil: there is none
	met        []func(d *row)                                              // a row has new devices, or another mode
	back       []func(d *row, spec l1.Spec)                                // a row has devices again
	launched   []func(moment uint64, all []launch)                         // programs were enqueued
	registered []func(rows []*row, def *source.Definition, e *event.Event) // a recording has CBs, which stay
	laid       []func(d *row, given fit.Buffer, b *buffer)                 // a buffer lies on a row
	gone       []func(d *row, b *buffer, now source.When)                  // a buffer is gone, nil: all are
	changed    []func(rows []*row, now source.When)                        // an event has changed rows
	finish     []func(out *answer.Result, rows *rows, spec answer.Spec)    // the Result, with its Spec
}

// after adds a call that comes once: with the state after a node, or at the end.
func (s *subscribers) after(node event.Opt[uint64], do func(rows *rows, marker *marker)) {
	done := false
	s.before = append(s.before, func(next *event.Event, rows *rows, marker *marker) {
		if !done && (next == nil || beyond(node, next)) {
			done = true
			do(rows, marker)
		}
	})
}

// maxRuns is how many distinct runs a Result lists at most.
const maxRuns = 1 << 16

// A runList has the distinct runs of a Result.
type runList struct {
	at   map[runKey]int // in list
	list []answer.EnqueuedProgram
	more int64
}

// A runKey is equal for runs that count as one.
type runKey struct {
	op      answer.Name
	content *source.Content
	lowest  uint64
	any     bool // something lay in L1
	oneOf   int
}

// A listing is one row for a moment, on devices with the same content.
type listing struct {
	launch
	devices, oneOf int
}

// A listingKey is different for each listing of one moment.
type listingKey struct {
	checkKey
	oneOf int
}

// join adds the calls that are needed.
func (r *runList) join(s *subscribers) {
	s.launched = append(s.launched, r.launched)
	s.finish = append(s.finish, func(out *answer.Result, _ *rows, _ answer.Spec) { out.Runs, out.RunsMore = r.list, r.more })
}

// launched lists the programs of one moment: first the assumed run, then the programs that may have run instead.
func (r *runList) launched(_ uint64, all []launch) {
	oneOf := map[batch]int{}
	for _, l := range all {
		if l.candidates != nil {
			oneOf[l.batch()] = max(oneOf[l.batch()], 1) + l.candidates.several
		}
	}
	var list []listing
	at := map[listingKey]int{}
	alike := map[candidatesKey]int{} // devices with the same candidates, where the same lives
	for _, l := range all {
		one := listingKey{l.key(), oneOf[l.batch()]}
		row := fold.At(at, &list, one)
		if row.devices == 0 {
			row.launch, row.oneOf = l, one.oneOf
		}
		row.devices += l.on.members.Len()
		if l.candidates != nil {
			alike[l.candidatesKey()] += l.on.members.Len()
		}
	}
	for _, l := range all {
		devices := alike[l.candidatesKey()]
		if l.candidates == nil || devices == 0 {
			continue
		}
		delete(alike, l.candidatesKey())
		several := oneOf[l.batch()]
		for _, c := range slices.Concat(l.candidates.workloads...) {
			l.content = c
			if row := fold.At(at, &list, listingKey{l.key(), several}); row.devices == 0 {
				*row = listing{l, devices, several}
			}
		}
	}
	for _, l := range list {
		r.add(l)
	}
}

// add lists a run, or counts it where the same is listed already.
func (r *runList) add(l listing) {
	low := l.on.memory.lowest()
	key := runKey{op: l.run.Op, content: l.content, any: len(low.list) > 0, oneOf: l.oneOf}
	if key.any {
		key.lowest = low.list[0].Address.V
	}
	if i, ok := r.at[key]; ok {
		r.list[i].Times++
		return
	}
	if len(r.at) == maxRuns {
		r.more++
		return
	}
	r.at[key] = len(r.list)
	r.list = append(r.list, answer.EnqueuedProgram{
		Run: l.run, Device: l.on.id, Devices: l.devices, Times: 1, OneOf: l.oneOf, Programs: l.content.Programs,
		Synthesised: l.content.From.Resolved, Lowest: low.list, LowestSynthesised: low.synthesised, LowestCores: low.cores,
	})
}

// A strayFinder finds the buffers that tt-metal's allocator would put elsewhere.
type strayFinder struct {
	state *source.State
	found bool // the buffer at hand is one
}

// before looks for the place of the buffer that is next.
func (s *strayFinder) before(next *event.Event, _ *rows, _ *marker) {
	s.found = next != nil && next.Kind == event.KindAllocate && s.astray(next)
}

// astray reports whether a buffer in usable L1 has another address than [device.Fleet.FindPlace] gives it.
func (s *strayFinder) astray(e *event.Event) bool {
	b := e.Buffer
	if b.Kind != fit.KindL1 && b.Kind != fit.KindGlobalCB || b.Backing || b.Unsized || len(e.Parts) == 0 || e.Parts[0].Synthesised {
		return false
	}
	set, _ := s.state.Set(e) // with an error it is refused
	parts, _ := s.state.PartsOf(e, set)
	return slices.ContainsFunc(parts, func(part fit.Part) bool {
		found, err := s.state.Fleet.FindPlace(fit.Buffer{ID: b.ID, Kind: b.Kind, Mode: b.Mode, Cores: part.Cores}, part.Range.Len(), set)
		return err != nil || slices.ContainsFunc(found, func(p device.Placement) bool { return p.Buffer.Range.Start != part.Range.Start })
	})
}

func (s *strayFinder) laid(d *row, _ fit.Buffer, b *buffer) {
	if s.found && d.inL1.Needs.Stray.Value == 0 {
		d.inL1.Needs.Stray = answer.Need{Value: b.span.Start, At: b.info.At, T: b.info.T}
	}
}
