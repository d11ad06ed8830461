package gen

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"pgregory.net/rapid"
)

// Buffer draws a buffer for a device, of any kind. In L1 it lies where it meets other
// things: among the circular buffers, at the top of L1, in L1_SMALL, across the end of
// L1, or nowhere. Now and then its size is not known, or it has a core outside the grid,
// which only buffers of service cores may have.
func Buffer(spec l1.Spec, ids ...uint64) *rapid.Generator[model.Buffer] {
	return rapid.Custom(func(t *rapid.T) model.Buffer {
		b := model.Buffer{
			ID: rapid.SampledFrom(ids).Draw(t, "id"),
			Kind: rapid.SampledFrom([]model.Kind{
				model.L1, model.L1, model.L1, model.GlobalCB, model.L1Small, model.Service, model.Kernel, model.Reserved,
				model.DRAM, model.Trace, model.System,
			}).Draw(t, "kind"),
			Size: rapid.SampledFrom([]uint64{0, 0, 0, 1, 64, 4096}).Draw(t, "size"),
		}
		odd := rapid.IntRange(0, 15).Draw(t, "odd")
		b.Backing = odd == 13
		if odd == 14 {
			b.Name = "weights"
		}
		if !b.Kind.InL1() {
			return b
		}
		cols, rows := corner(spec)
		for range rapid.SampledFrom([]int{1, 1, 1, 2, 3, 0}).Draw(t, "parts") {
			b.Parts = append(b.Parts, model.Part{
				Cores: CoreRangeSet(cols, rows).Draw(t, "cores"),
				Range: bufferRange(spec).Draw(t, "range"),
			})
		}
		if set, ok := outside(spec); ok && odd > 14 && len(b.Parts) > 0 {
			b.Parts[0].Cores = set
		}
		if b.Unsized = odd == 12; b.Unsized {
			for i := range b.Parts {
				b.Parts[i].Range.End = b.Parts[i].Range.Start
			}
		}
		return mode(t, spec, b)
	})
}

// mode draws the mode of a tensor. A tensor that was allocated per core may also get hidden cores in a
// corner of the grid.
func mode(t *rapid.T, spec l1.Spec, b model.Buffer) model.Buffer {
	if b.Kind != model.L1 && b.Kind != model.GlobalCB {
		return b
	}
	modes := []model.Mode{model.Lockstep, model.RangeLockstep, model.PerCore, model.Lockstep, model.Lockstep}
	b.Mode = rapid.SampledFrom(modes).Draw(t, "mode")
	starts := map[uint64]bool{}
	var known l1.CoreSet
	for _, p := range b.Parts {
		starts[p.Range.Start] = true
		known = known.Union(p.Cores.Cores())
	}
	if b.Mode == model.RangeLockstep && len(starts) > 1 {
		b.Mode = model.PerCore
	}
	if b.Mode == model.PerCore && rapid.IntRange(0, 2).Draw(t, "hidden") == 2 {
		cols, rows := corner(spec)
		b.Hidden = CoreRangeSet(cols, rows).Draw(t, "hidden cores").Cores().Minus(known).Ranges()
	}
	return b
}

// nearly draws a buffer that differs from another one in one thing: devices that have
// the two have different buffers.
func nearly(b model.Buffer) *rapid.Generator[model.Buffer] {
	return rapid.Custom(func(t *rapid.T) model.Buffer {
		switch rapid.IntRange(0, 5).Draw(t, "differs in") {
		case 0:
			b.Name += "'"
		case 1:
			b.Backing = !b.Backing
		case 2:
			b.Size++
		case 3:
			if b.Kind == model.L1 {
				b.Kind = model.GlobalCB
			} else if b.Kind.InL1() {
				b.Kind = model.L1
			}
		case 4:
			if n := len(b.Parts); n > 0 {
				b.Parts = slices.Clone(b.Parts)
				b.Parts[n-1].Range.End++
			}
		case 5:
			if b.Mode == model.PerCore {
				b.Hidden = l1.CoreRangeSet{}
			} else {
				b.Mode = model.PerCore
			}
		}
		return b
	})
}

// beside draws a buffer that begins within a few bytes of the end of a CB of a program, on
// one of its cores or on another one: where a program just fits or just does not.
func beside(p *program.Program) *rapid.Generator[model.Buffer] {
	return rapid.Custom(func(t *rapid.T) model.Buffer {
		cols, rows := corner(p.Spec())
		core := l1.Core{
			X: rapid.SampledFrom(columns(cols)).Draw(t, "x"),
			Y: uint8(rapid.IntRange(0, rows-1).Draw(t, "y")),
		}
		end := p.Spec().CBBase
		if p.Len() > 0 {
			n := rapid.IntRange(0, p.Len()-1).Draw(t, "CB")
			for i, cb := range p.CBs() {
				if i == n {
					end = max(end, cb.Range.End)
				}
				for r := range cb.Cores.All() {
					if i == n && rapid.IntRange(0, 2).Draw(t, "on the CB") > 0 {
						core = r.Start
					}
				}
			}
		}
		one := l1.Rect(core.X, core.Y, core.X, core.Y)
		start := end + rapid.SampledFrom([]uint64{8, 7, 9, 0, 16}).Draw(t, "gap") - min(end, 8)
		return mode(t, p.Spec(), model.Buffer{
			ID: rapid.SampledFrom(BufferIDs()).Draw(t, "id"),
			Kind: rapid.SampledFrom([]model.Kind{
				model.L1, model.L1, model.Service, model.L1Small, model.GlobalCB, model.Kernel, model.Reserved,
			}).Draw(t, "kind"),
			Parts: []model.Part{{Cores: one, Range: l1.Range{Start: start, End: start + 8}}},
		})
	})
}

// Apart draws a tensor at the base, or far above. It lies on cores of the grid that a program does not name or,
// sometimes, on any cores, so that its mode decides.
func Apart(p *program.Program, id uint64) *rapid.Generator[model.Buffer] {
	return rapid.Custom(func(t *rapid.T) model.Buffer {
		cols, rows := corner(p.Spec())
		all := l1.Spec{Cols: cols, Rows: rows}.Grid().Cores()
		rest := all
		for _, cb := range p.CBs() {
			rest = rest.Minus(cb.Cores.Cores())
		}
		base := p.Spec().CBBase + rapid.SampledFrom([]uint64{0, 0, 96, 40}).Draw(t, "above")
		b := model.Buffer{
			ID: id, Kind: model.L1,
			Mode:  rapid.SampledFrom([]model.Mode{model.RangeLockstep, model.PerCore, model.Lockstep}).Draw(t, "mode"),
			Parts: []model.Part{{Cores: rest.Ranges(), Range: l1.Range{Start: base, End: base + 8}}},
		}
		if b.Mode == model.PerCore && rapid.Bool().Draw(t, "hidden") {
			b.Hidden = all.Minus(rest).Ranges()
		}
		return b
	})
}

// bufferRange draws a range where a buffer meets other things.
func bufferRange(spec l1.Spec) *rapid.Generator[l1.Range] {
	return rapid.Custom(func(t *rapid.T) l1.Range {
		size := rapid.SampledFrom([]uint64{8, 16, 1, 24, 0, 7}).Draw(t, "bytes")
		end := spec.L1Size - min(spec.L1Small, spec.L1Size) // of L1 buffers
		switch rapid.SampledFrom([]string{"top", "top", "CBs", "above", "L1_SMALL", "across", "below"}).Draw(t, "where") {
		case "top":
			end -= min(end, rapid.SampledFrom([]uint64{0, 8, 24, 1}).Draw(t, "below the top"))
		case "CBs":
			return Range(Ends(spec.CBBase)).Draw(t, "among CBs")
		case "above":
			end = spec.CBBase + rapid.SampledFrom([]uint64{64, 72, 96, 65}).Draw(t, "above CBs")
		case "L1_SMALL":
			end = spec.L1Size
		case "across":
			end = spec.L1Size + rapid.SampledFrom([]uint64{8, 1, 16}).Draw(t, "beyond")
		case "below":
			return l1.Range{End: spec.CBBase}
		}
		return l1.Range{Start: end - min(end, size), End: end}
	})
}

// IllegalBuffer draws a buffer that makes no sense on any device: of a kind that
// programs bring, or of none; with parts outside L1; with ranges that are inverted or
// end beyond 2^63-1, or sum to more.
func IllegalBuffer(spec l1.Spec, ids ...uint64) *rapid.Generator[model.Buffer] {
	return rapid.Custom(func(t *rapid.T) model.Buffer {
		b := Buffer(spec, ids...).Draw(t, "buffer")
		cols, rows := corner(spec)
		part := model.Part{Cores: CoreRangeSet(cols, rows).Draw(t, "cores"), Range: l1.Range{End: 8}}
		switch rapid.IntRange(0, 6).Draw(t, "wrong") {
		case 0:
			b.Kind = rapid.SampledFrom([]model.Kind{model.CB, model.Dataflow, model.Scratchpad, "cheese"}).Draw(t, "kind")
		case 1:
			b.Kind, b.Parts = model.DRAM, append(b.Parts, part)
		case 2:
			part.Range = IllegalRange(Ends(spec.CBBase)).Draw(t, "range")
			b.Kind, b.Parts = model.L1, append(b.Parts, part)
		case 3:
			b.Size = l1.MaxAddr + 1
		case 4:
			b.Size = math.MaxUint64
		case 5:
			one := l1.Rect(0, 0, 0, 0)
			all := model.Part{Cores: one, Range: l1.Range{End: l1.MaxAddr}}
			b.Kind, b.Parts = model.L1, []model.Part{all, all}
		case 6:
			b.Kind, b.Mode, b.Hidden = model.L1, rapid.SampledFrom([]model.Mode{model.Lockstep, model.RangeLockstep}).Draw(t, "mode"), l1.Rect(0, 0, 0, 0)
		}
		return b
	})
}

// GiantBuffer draws a buffer beside which there is room for little or nothing before
// sums exceed 2^63-1. It lies nowhere.
func GiantBuffer(ids ...uint64) *rapid.Generator[model.Buffer] {
	return rapid.Custom(func(t *rapid.T) model.Buffer {
		return model.Buffer{
			ID:   rapid.SampledFrom(ids).Draw(t, "id"),
			Kind: rapid.SampledFrom([]model.Kind{model.DRAM, model.L1, model.System}).Draw(t, "kind"),
			Size: rapid.SampledFrom([]uint64{l1.MaxAddr, l1.MaxAddr / 2, l1.MaxAddr/2 + 1, l1.MaxAddr - 16}).Draw(t, "size"),
		}
	})
}
