package replay

import (
	"encoding/json"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// Needs are what the buffers of a device need of the sizes with which it is opened.
type Needs struct {
	// Small is the lowest address at which an L1_SMALL buffer ever lay; 0 = none did. They are placed from the top, and
	// all above it is needed: holes count.
	Small Need
	// Kept are the bytes of one bank that all L1_SMALL buffers take together whose address is not recorded, in whole
	// steps of fit.Alignment. Cached programs keep them; a capture with NO_DISPATCH frees them.
	Kept Need
	// Lowest is the lowest address at which a buffer in usable L1 ever lay; 0 = none did.
	Lowest Need
	// Trace is the most bytes that trace buffers had together, in all banks.
	Trace Need
	// Stray is the first buffer in usable L1 that lies elsewhere than tt-metal's allocator puts it beside the buffers of
	// that moment. 0 = there is none, or Options.Strays is not set.
	Stray Need
}

// A Need is an address or bytes, and the buffer that led to it.
type Need struct {
	Value uint64
	At    uint64      // counter of its allocation
	T     json.Number // of that event of a log; see L1Peak.T
}

// SmallBank returns the bytes that L1_SMALL buffers needed of one bank on a device with a Spec, in whole steps of
// fit.Alignment, and the buffer that set them. all: they have no addresses, and all of them count together.
func (n Needs) SmallBank(spec l1.Spec) (bytes uint64, by Need, all bool) {
	if at := n.Small.Value; at > 0 && at < spec.L1Size {
		align := fit.Alignment(spec)
		bytes, by = (spec.L1Size-at+align-1)/align*align, n.Small
	}
	if n.Kept.Value > bytes {
		return n.Kept.Value, n.Kept, true
	}
	return bytes, by, false
}

// add counts a buffer that was allocated on a device.
func (n *Needs) add(b *buffer, dev device.Device) {
	lower := func(to *Need) {
		if at := b.span.Start; at > 0 && (to.Value == 0 || at < to.Value) {
			*to = Need{at, b.info.At, b.info.T}
		}
	}
	switch b.info.Kind {
	case fit.KindL1, fit.KindGlobalCB:
		lower(&n.Lowest)
	case fit.KindTrace:
		if sum := dev.Totals().Buffers.Trace; sum > n.Trace.Value {
			n.Trace = Need{sum, b.info.At, b.info.T}
		}
	case fit.KindL1Small:
		lower(&n.Small)
		if len(b.parts) == 0 || b.synthesised {
			spec := dev.Spec()
			banks, align := uint64(max(spec.NumCores(), 1)), fit.Alignment(spec)
			each := b.info.PerCore.Or((b.info.Size + banks - 1) / banks)
			n.Kept = Need{min(n.Kept.Value+(each+align-1)/align*align, l1.MaxAddr), b.info.At, b.info.T}
		}
	}
}

// strays find the buffers that tt-metal's allocator would put elsewhere.
type strays struct {
	session *Session
	found   bool // the buffer at hand is one
}

// before looks for the place of the buffer that is next.
func (s *strays) before(next *event.Event, _ *rows, _ *marker) {
	s.found = next != nil && next.Kind == event.KindAllocate && s.astray(next)
}

// astray reports whether a buffer in usable L1 has another address than [device.Fleet.FindPlace] gives it.
func (s *strays) astray(e *event.Event) bool {
	b := e.Buffer
	if b.Kind != fit.KindL1 && b.Kind != fit.KindGlobalCB || b.Backing || b.Unsized || len(e.Parts) == 0 || e.Parts[0].Synthesised {
		return false
	}
	set, _ := s.session.set(e) // with an error it is refused
	parts, _ := s.session.partsOf(e, set)
	return slices.ContainsFunc(parts, func(part fit.Part) bool {
		found, err := s.session.fleet.FindPlace(fit.Buffer{ID: b.ID, Kind: b.Kind, Mode: b.Mode, Cores: part.Cores}, part.Range.Len(), set)
		return err != nil || slices.ContainsFunc(found, func(p device.Placement) bool { return p.Buffer.Range.Start != part.Range.Start })
	})
}

func (s *strays) laid(d *row, _ fit.Buffer, b *buffer) {
	if s.found && d.on.Needs.Stray.Value == 0 {
		d.on.Needs.Stray = Need{b.span.Start, b.info.At, b.info.T}
	}
}
