package replay

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// maxLooks is how many buffers are scanned in all for Options.Scarce, and how many moments
// that are sought: a search ends there.
const maxLooks = 1 << 26

// A scarce seeks the moments of Options.Scarce.
type scarce struct {
	sought []Scarcity
	looks  int             // buffers that were scanned
	far    map[*row]uint64 // bytes that have to come or go before one of the moments can have come
	found  map[*row][]ScarceMoment
}

func newScarce(sought []Scarcity) *scarce {
	return &scarce{sought: sought, far: map[*row]uint64{}, found: map[*row][]ScarceMoment{}}
}

// join adds the calls that are needed.
func (s *scarce) join(to *subscribers) {
	to.laid = append(to.laid, func(d *row, _ fit.Buffer, b *buffer) { s.seek(d, b, when{b.info.At, b.info.T, b.info.Op}) })
	to.gone, to.part = append(to.gone, s.seek), append(to.part, s.part)
	to.device = append(to.device, s.finish)
}

// finish gives a device its moments.
func (s *scarce) finish(_ *Result, d *row, _ event.Opt[uint64], on *DeviceL1) {
	if on != nil {
		on.Scarce = s.found[d]
	}
}

// part gives the new row of some devices the history of their old row.
func (s *scarce) part(d, other *row) { s.far[other], s.found[other] = s.far[d], s.found[d] }

// seek looks whether one of the moments has come. The buffer has just come or gone; nil: all have gone.
func (s *scarce) seek(d *row, b *buffer, now when) {
	if b == nil {
		delete(s.far, d)
		return
	}
	spec := d.dev.Spec()
	if len(s.found[d]) == len(s.sought) || spec.L1Size == 0 || !b.measured() {
		return
	}
	far, align := s.far[d], fit.Alignment(spec)
	for _, part := range b.parts { // so much more or less may be free now
		far -= min(far, part.Range.Len()+align)
	}
	s.far[d] = far
	if s.looks += d.memory.live.len() + len(s.sought); far > 0 || s.looks > maxLooks {
		return
	}
	known := map[l1.Range]Scarcity{}
	far = math.MaxUint64
	for _, sought := range s.sought {
		usable := d.says.usable(spec, sought.Bank)
		left, ok := known[usable]
		if !ok {
			left = d.memory.scarcity(usable, align)
			known[usable] = left
		}
		left.Bank = sought.Bank
		switch {
		case sought != left:
			far = min(far, max(left.Free, sought.Free)-min(left.Free, sought.Free))
		case left.Free < usable.Len() && !s.has(d, sought):
			groups := everything().laid(d.dev.Moment(), spec, d.memory.resident)
			s.found[d] = append(slices.Clip(s.found[d]), ScarceMoment{left, now.at, now.t, now.op, groups})
		}
	}
	s.far[d] = far
}

func (s *scarce) has(d *row, sought Scarcity) bool {
	return slices.ContainsFunc(s.found[d], func(m ScarceMoment) bool { return m.Scarcity == sought })
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
func (m *memory) scarcity(usable l1.Range, align uint64) (s Scarcity) {
	var taken []l1.Range
	for _, b := range m.live.all() {
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
