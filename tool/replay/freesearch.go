package replay

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// maxLooks is how many buffers are scanned in all for Options.Scarce, and how many moments
// that are sought: a search ends there.
const maxLooks = 1 << 26

// A freeSearch seeks the moments of Options.Scarce.
type freeSearch struct {
	sought []answer.Scarcity
	looks  int // buffers that were scanned
}

// join adds the calls that are needed.
func (s *freeSearch) join(to *subscribers) {
	to.laid = append(to.laid, func(d *row, _ fit.Buffer, b *buffer) {
		s.seek(d, b, source.When{At: b.info.At, T: b.info.T, Op: b.info.Op})
	})
	to.gone = append(to.gone, s.seek)
}

// seek looks whether one of the moments has come. The buffer has just come or gone; nil: all have gone.
func (s *freeSearch) seek(d *row, b *buffer, now source.When) {
	if b == nil {
		d.scarce = 0
		return
	}
	spec := d.dev.Spec()
	if len(d.inL1.Scarce) == len(s.sought) || spec.L1Size == 0 || !b.measured() {
		return
	}
	far, align := d.scarce, fit.Alignment(spec)
	for _, part := range b.parts { // so much more or less may be free now
		far -= min(far, part.Range.Len()+align)
	}
	d.scarce = far
	if s.looks += d.memory.live.Len() + len(s.sought); far > 0 || s.looks > maxLooks {
		return
	}
	known := map[l1.Range]answer.Scarcity{}
	far = math.MaxUint64
	for _, sought := range s.sought {
		usable := d.facts.usable(spec, sought.Bank)
		left, ok := known[usable]
		if !ok {
			left = d.memory.scarcity(usable, align)
			known[usable] = left
		}
		left.Bank = sought.Bank
		switch {
		case sought != left:
			far = min(far, max(left.Free, sought.Free)-min(left.Free, sought.Free))
		case left.Free < usable.Len() && !d.had(sought):
			groups := answer.LaidAt(d.dev.Moment(), spec, d.memory.resident)
			d.inL1.Scarce = append(slices.Clip(d.inL1.Scarce), answer.FreeMoment{Scarcity: left, At: now.At, T: now.T, Op: now.Op, Groups: groups})
		}
	}
	d.scarce = far
}

func (d *row) had(sought answer.Scarcity) bool {
	return slices.ContainsFunc(d.inL1.Scarce, func(m answer.FreeMoment) bool { return m.Scarcity == sought })
}

// usable returns the addresses that L1 buffers may take. Where the source does not give the size of L1_SMALL, the
// size of a bank does.
func (s facts) usable(spec l1.Spec, bank uint64) l1.Range {
	if small, ok := l1.SmallBytes(spec.L1Size, spec.CBBase, bank); ok && s.role != "" && s.small == event.FromAssumed {
		spec.L1Small = small
	}
	return spec.Usable()
}

// scarcity returns what the buffers of a device leave free, as tt-metal's allocator counts it. Cost: O(parts log parts).
func (m *memory) scarcity(usable l1.Range, align uint64) (s answer.Scarcity) {
	var taken []l1.Range
	for _, b := range m.live.All() {
		if b.unsized || !b.info.Kind.InL1() {
			continue
		}
		for _, part := range b.parts {
			if !part.Cores.IsEmpty() {
				taken = append(taken, part.Range)
			}
		}
	}
	for _, free := range fit.FreeBlocks(usable, align, taken) {
		s.Free += free.Len()
		s.Block = max(s.Block, free.Len())
	}
	return s
}
