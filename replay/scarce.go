package replay

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
)

// A Scarcity is how little of the L1 of a device is free for buffers, as tt-metal's allocator sees
// it: a byte of usable L1 is free if no buffer lies there on any core, since in lockstep a buffer
// has one address on all of them. Programs do not count.
type Scarcity struct {
	Free  uint64 // bytes of each core
	Block uint64 // the largest run of them
	// Bank is how many bytes a buffer may take of each core; 0 = not known. It counts where the
	// source does not tell the size of L1_SMALL.
	Bank uint64
}

// A ScarceMoment is the first moment at which no more and no less was free on a device, and some
// buffer lay in its usable L1.
type ScarceMoment struct {
	Scarcity
	At uint64      // counter of the allocation or free that led to it
	T  json.Number // of that event of a log; see L1Peak.T
	Op Name        // functions that were running
	// Groups are all cores that held something then, by first core.
	Groups []LaidGroup
}

// maxLooks is how many buffers are looked at in all for Options.Scarce, and how many moments
// that are sought: a search ends there.
const maxLooks = 1 << 26

// seek looks whether one of the moments that Options.Scarce asks for has come. The buffer has just
// come or gone.
func (r *replay) seek(d *row, b *buffer, at uint64, t json.Number, op Name) {
	spec := d.dev.Spec()
	if len(d.on.Scarce) == len(r.opt.Scarce) || spec.L1Size == 0 || b.unsized || len(b.parts) == 0 {
		return
	}
	for _, part := range b.parts { // so much more or less may be free now
		d.far -= min(d.far, part.Range.Len())
	}
	if r.looks += d.live.len() + len(r.opt.Scarce); d.far > 0 || r.looks > maxLooks {
		return
	}
	known := map[l1.Range]Scarcity{}
	d.far = math.MaxUint64
	for _, sought := range r.opt.Scarce {
		usable := d.usable(spec, sought.Bank)
		now, ok := known[usable]
		if !ok {
			now = d.scarcity(usable)
			known[usable] = now
		}
		now.Bank = sought.Bank
		switch {
		case sought != now:
			d.far = min(d.far, max(now.Free, sought.Free)-min(now.Free, sought.Free))
		case now.Free < usable.Len() && !d.found(sought):
			d.on.Scarce = append(slices.Clip(d.on.Scarce), ScarceMoment{now, at, t, op, laidGroups(d.dev.Moment(), d.resident)})
		}
	}
}

// usable returns the addresses that L1 buffers may take. Where the source does not tell the size
// of L1_SMALL, that of a bank does.
func (d *row) usable(spec l1.Spec, bank uint64) l1.Range {
	if small, ok := l1.SmallBytes(spec.L1Size, spec.CBBase, bank); ok && !d.declared() && d.small == event.FromAssumed {
		spec.L1Small = small
	}
	return spec.Usable()
}

func (d *row) found(s Scarcity) bool {
	for _, m := range d.on.Scarce {
		if m.Scarcity == s {
			return true
		}
	}
	return false
}

// scarcity returns what the buffers of a device leave free. Cost: O(parts log parts).
func (d *row) scarcity(usable l1.Range) (s Scarcity) {
	var taken []l1.Range
	for _, b := range d.live.all() {
		if b.unsized || !b.info.Kind.InL1() {
			continue
		}
		for _, part := range b.parts {
			if !part.Cores.IsEmpty() {
				taken = append(taken, part.Range.Intersect(usable))
			}
		}
	}
	at := usable.Start
	for _, r := range append(l1.Merge(taken), l1.Range{Start: usable.End, End: usable.End}) {
		if r.Start > at {
			s.Free += r.Start - at
			s.Block = max(s.Block, r.Start-at)
		}
		at = r.End
	}
	return s
}
