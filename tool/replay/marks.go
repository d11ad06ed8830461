package replay

import (
	"iter"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/layered"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// A mark is a moment at which a core held more than ever before: how much, where, and when. Its composition is
// looked up in the end, if at all.
//
//	rise   the fullest core holds more     buffers often come one upon another
//	top    something else happens          the mark keeps what lay there
//	peak   no event is left               its rows are composed on demand
type mark struct {
	source.When
	bytes uint64 // on the fullest core
	cores l1.CoreSet
	by    *buffer // that made it, if one did
	past  *past   // nil: the mark is a rise

	quiet bool          // nothing but frees came after it
	spike *answer.Spike // it turned out to be one
}

// marks are the marks of a row.
type marks struct {
	rise, top *mark
	usable    *answer.UsablePeak // nil: nothing lay below L1_SMALL
	after     *past              // what lay there after the node of Options.GroupsAt
}

// A past keeps a moment of a device, with the names of its content that would be forgotten since.
type past struct {
	moment device.Moment
	count  int64                                            // of events before it
	live   layered.Map[fit.BufferID, *buffer]               // freed since
	last   layered.Map[*program.Program, answer.ProgramRun] // as it was before the program ran again
	groups bool                                             // Options.Groups
	names  sum128                                           // memory.names then

	of   *memory // that has the rest; nil: the row's, which still changes
	spec l1.Spec
}

// forResult returns the moment for a Result.
func (w *past) forResult() *answer.Past {
	if w == nil {
		return nil
	}
	return &answer.Past{Moment: w.moment, Groups: w.groups, Names: w.names.pair(), Spec: w.spec, Resident: w.resident}
}

// own returns the marks for another row. What follows there may differ.
func (m *marks) own() marks {
	to := marks{m.rise, nil, m.usable, m.after.own()}
	if m.top != nil {
		top := *m.top
		top.past = m.top.past.own()
		to.top = &top
	}
	return to
}

// best returns the bytes of the highest mark so far.
func (m *marks) best() uint64 {
	switch {
	case m.rise != nil:
		return m.rise.bytes
	case m.top != nil:
		return m.top.bytes
	}
	return 0
}

// pasts returns the pasts that still follow the row.
func (m *marks) pasts() iter.Seq[*past] {
	return func(yield func(*past) bool) {
		if m.top != nil && m.top.past.of == nil && !yield(m.top.past) {
			return
		}
		if m.after != nil && m.after.of == nil {
			yield(m.after)
		}
	}
}

// freed notes that a buffer is not there any more, which a mark may have had.
func (m *marks) freed(b *buffer) {
	for w := range m.pasts() {
		if b.count < w.count && w.live.Of(b.id) == nil {
			w.live.Set(b.id, b)
		}
	}
}

// runs notes that a program runs again, which a mark may have had.
func (m *marks) runs(p *program.Program, was answer.ProgramRun) {
	for w := range m.pasts() {
		if _, known := w.last.Get(p); !known {
			w.last.Set(p, was)
		}
	}
}

// spiked looks whether a free shows that the last peak was a spike.
func (m *marks) spiked(b *buffer, now source.When, dev device.Device) {
	k := m.top
	if k == nil || !k.quiet || k.by == nil || k.spike != nil || b == k.by ||
		b.info.Kind != k.by.info.Kind || b.info.Size != k.by.info.Size {
		return
	}
	if core := k.core(); b.fills(core) {
		k.spike = &answer.Spike{New: k.by.info, Old: b.info, FreedAt: now.At, FreedT: now.T, Without: dev.Core(core).Tracked}
	}
}

// leave gives each mark the final memory, which names the buffers that it holds.
func (m *marks) leave(of *memory, dev device.Device) {
	for w := range m.pasts() {
		w.of, w.spec = of, dev.Spec()
	}
}

// core is the first of the fullest cores.
func (k *mark) core() l1.Core {
	core, _ := k.cores.First() // a mark is on some core
	return core
}

// peak returns the mark as documents have it, without its composition.
func (k *mark) peak() *answer.L1Peak {
	return &answer.L1Peak{Bytes: k.bytes, At: k.At, T: k.T, Op: k.Op, Cores: k.cores, Core: k.core(), Later: k.past.forResult(), Spike: k.spike}
}

// own returns the same for another row.
func (w *past) own() *past {
	if w == nil {
		return nil
	}
	own := *w
	own.live, own.last = w.live.Clone(), w.last.Clone()
	return &own
}

// resident says whose bytes a range was then.
func (w *past) resident(r fit.Resident) answer.L1Resident {
	out := w.of.resident(r)
	if r.Program != nil {
		if run, ok := w.last.Get(r.Program); ok {
			out.Program = &run
		}
	} else if b := w.live.Of(r.Buffer.ID); b != nil {
		info := b.info
		out.Buffer = &info
	}
	return out
}
