package gen

import (
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"pgregory.net/rapid"
)

// CB draws a circular buffer for a device: local or, now and then, global; to be
// placed, or at a given address, which may lie below the base, beyond L1, or on
// another CB. Sizes are small, some are 0 or odd.
func CB(spec l1.Spec) *rapid.Generator[program.CB] {
	return rapid.Custom(func(t *rapid.T) program.CB {
		cb := Unplaced(spec).Draw(t, "CB")
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 8:
			cb.Global = true
		case 9:
			cb.Global, cb.Fixed = true, true
			cb.Address = rapid.SampledFrom(Ends(spec.CBBase)).Draw(t, "address")
		case 5, 6, 7:
			cb.Fixed = true
			cb.Address = rapid.SampledFrom(Ends(spec.CBBase)).Draw(t, "address")
			if rapid.IntRange(0, 7).Draw(t, "far") == 7 {
				cb.Address = max(spec.L1Size, 1) - 1 // ends beyond L1
			}
		}
		return cb
	})
}

// Unplaced draws a local circular buffer without an address.
func Unplaced(spec l1.Spec) *rapid.Generator[program.CB] {
	return rapid.Custom(func(t *rapid.T) program.CB {
		cols, rows := corner(spec)
		return program.CB{
			Cores: CoreRangeSet(cols, rows).Draw(t, "cores"),
			Size:  rapid.SampledFrom([]uint64{8, 16, 24, 32, 1, 15, 40, 0}).Draw(t, "size"),
		}
	})
}

// Program draws a program with one of the given ids for a device, every third with its
// core ranges as written, every sixth with bases. Now and then it has no CB, dataflow buffers instead of circular ones, scratchpads beside either, or a core
// outside the grid.
func Program(spec l1.Spec, ids ...program.ID) *rapid.Generator[*program.Program] {
	return rapid.Custom(func(t *rapid.T) *program.Program {
		b := program.NewBuilder(rapid.SampledFrom(ids).Draw(t, "id"))
		cbs := rapid.SliceOfN(CB(spec), 0, 4).Draw(t, "CBs")
		switch rapid.IntRange(0, 15).Draw(t, "odd") {
		case 12, 13, 14:
			main := rapid.SampledFrom([]program.Kind{program.DataflowBuffer, program.DataflowBuffer, program.CircularBuffer}).Draw(t, "kind")
			for i := range cbs {
				cbs[i].Kind = rapid.SampledFrom([]program.Kind{main, main, program.Scratchpad}).Draw(t, "kind of CB")
			}
		case 15:
			if set, ok := outside(spec); ok {
				cbs = append(cbs, program.CB{Cores: set, Size: 8})
			}
		}
		for _, cb := range cbs {
			b.CB(cb)
		}
		if rapid.IntRange(0, 2).Draw(t, "as written") == 2 {
			b.AsWritten()
		}
		for rapid.IntRange(0, 5).Draw(t, "base") == 5 {
			cols, rows := corner(spec)
			address := rapid.SampledFrom(Ends(spec.CBBase)).Draw(t, "address")
			if spec.L1Size > 0 {
				address = min(address, spec.L1Size)
			}
			b.Base(CoreRangeSet(cols, rows).Draw(t, "cores"), address)
		}
		return build(t, b, spec)
	})
}

// TwiceWrong draws a program that is wrong for devices of another Spec, and names a core outside the grid of its own.
func TwiceWrong(spec l1.Spec, ids ...program.ID) *rapid.Generator[*program.Program] {
	return rapid.Custom(func(t *rapid.T) *program.Program {
		b := program.NewBuilder(rapid.SampledFrom(ids).Draw(t, "id")).CB(Unplaced(spec).Draw(t, "CB"))
		if set, ok := outside(spec); ok {
			b.CB(program.CB{Cores: set, Size: 8})
		}
		return build(t, b, spec)
	})
}

// Giant returns a program whose sums exceed 2^63-1 as soon as anything is beside it.
func Giant(spec l1.Spec, id program.ID) (*program.Program, error) {
	return program.NewBuilder(id).Range(l1.Rect(0, 0, 0, 0), l1.Range{End: l1.MaxAddr}).Build(spec)
}

// outside returns a core just outside the grid, if there is an outside.
func outside(spec l1.Spec) (l1.CoreRangeSet, bool) {
	if spec.Cols == 0 || spec.Cols > 255 {
		return l1.CoreRangeSet{}, false
	}
	x := uint8(spec.Cols)
	return l1.Rect(x, 0, x, 0), true
}

func build(t *rapid.T, b *program.Builder, spec l1.Spec) *program.Program {
	p, err := b.Build(spec)
	if err != nil {
		t.Fatalf("gen: %v", err)
	}
	return p
}

// again returns an equal program, built anew.
func again(t *rapid.T, p *program.Program) *program.Program {
	b := program.NewBuilder(p.ID()).Like(p)
	for _, placed := range p.CBs() {
		b.CB(placed.CB)
	}
	return build(t, b, p.Spec())
}
