package replay

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// strays find the buffers that tt-metal's allocator would put elsewhere.
type strays struct {
	state *source.State
	found bool // the buffer at hand is one
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
	set, _ := s.state.Set(e) // with an error it is refused
	parts, _ := s.state.PartsOf(e, set)
	return slices.ContainsFunc(parts, func(part fit.Part) bool {
		found, err := s.state.Fleet.FindPlace(fit.Buffer{ID: b.ID, Kind: b.Kind, Mode: b.Mode, Cores: part.Cores}, part.Range.Len(), set)
		return err != nil || slices.ContainsFunc(found, func(p device.Placement) bool { return p.Buffer.Range.Start != part.Range.Start })
	})
}

func (s *strays) laid(d *row, _ fit.Buffer, b *buffer) {
	if s.found && d.on.Needs.Stray.Value == 0 {
		d.on.Needs.Stray = answer.Need{Value: b.span.Start, At: b.info.At, T: b.info.T}
	}
}
