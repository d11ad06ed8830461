package gen

import (
	"pgregory.net/rapid"

	"slices"

	"github.com/cbl1/cbl1/l1"
)

// ToySpec draws a device of a few cores with 64 to 256 bytes of L1, small enough to
// be painted byte by byte. Base 0, odd bases, odd alignments, an L1 of unknown size and a row of more than
// 32 cores are among them.
func ToySpec() *rapid.Generator[l1.Spec] {
	return rapid.Custom(func(t *rapid.T) l1.Spec {
		grid := rapid.SampledFrom([][2]int{{4, 3}, {2, 2}, {1, 1}, {3, 1}, {4, 3}, {4, 3}, {wide, 1}}).Draw(t, "grid")
		return l1.Spec{
			Name: "toy", Cols: grid[0], Rows: grid[1],
			L1Size:  rapid.SampledFrom([]uint64{256, 128, 64, 256, 128, 64, 0}).Draw(t, "L1"),
			CBBase:  rapid.SampledFrom([]uint64{16, 0, 7, 64}).Draw(t, "base"),
			CBAlign: rapid.SampledFrom([]uint64{8, 0, 1, 16, 12}).Draw(t, "align"),
			L1Align: rapid.SampledFrom([]uint64{4, 0, 1, 12}).Draw(t, "L1 align"),
			L1Small: rapid.SampledFrom([]uint64{0, 0, 16, 64}).Draw(t, "L1_SMALL"),
		}
	})
}

// Board draws one of the ready-made boards, or the zero Spec, which knows nothing.
func Board() *rapid.Generator[l1.Spec] {
	return rapid.SampledFrom(append(l1.Boards(), l1.Spec{}))
}

// BadSpec draws a Spec that must be refused.
func BadSpec() *rapid.Generator[l1.Spec] {
	return rapid.SampledFrom([]l1.Spec{
		{Name: "bad", Cols: 4},
		{Name: "bad", Cols: -1, Rows: 1},
		{Name: "bad", Cols: 257, Rows: 1},
		{Name: "bad", L1Size: 64, CBBase: 65},
		{Name: "bad", L1Size: 1 << 63},
	})
}

// wide is the columns of the widest toy: the last two of them are beyond 32.
const wide = 34

// Cores returns the cores of a toy on which anything that is drawn begins or ends.
func Cores(s l1.Spec) (out []l1.Core) {
	for _, x := range columns(s.Cols) {
		for y := range s.Rows {
			out = append(out, l1.Core{X: x, Y: uint8(y)})
		}
	}
	return out
}

// columns returns the columns of a grid in which rectangles begin and end: of a wide one two on either side of a
// border.
func columns(cols int) (out []uint8) {
	if cols == wide {
		return []uint8{30, 31, 32, 33}
	}
	for x := range cols {
		out = append(out, uint8(x))
	}
	return out
}

// corner returns how much of a grid the generators use. On a few cores rectangles
// collide; and an unknown grid has no end.
func corner(s l1.Spec) (cols, rows int) {
	switch s.Cols {
	case 0:
		return 4, 3
	case wide:
		return s.Cols, s.Rows
	}
	return min(s.Cols, 4), min(s.Rows, 3)
}

// CoreRange draws a rectangle on a grid of cols x rows cores, which has to have
// at least one core.
func CoreRange(cols, rows int) *rapid.Generator[l1.CoreRange] {
	return rapid.Custom(func(t *rapid.T) l1.CoreRange {
		span := func(n int, axis string) (uint8, uint8) {
			end := rapid.SampledFrom(columns(n))
			a, b := end.Draw(t, axis), end.Draw(t, axis)
			return min(a, b), max(a, b)
		}
		x0, x1 := span(cols, "x")
		y0, y1 := span(rows, "y")
		return l1.CoreRange{Start: l1.Core{X: x0, Y: y0}, End: l1.Core{X: x1, Y: y1}}
	})
}

// CoreRangeSet draws up to three rectangles on a grid of cols x rows cores. They may
// repeat, overlap and touch, or be none. That is drawn last, with as many draws: a shrunk set has one rectangle.
func CoreRangeSet(cols, rows int) *rapid.Generator[l1.CoreRangeSet] {
	return rapid.Custom(func(t *rapid.T) l1.CoreRangeSet {
		rects := rapid.SliceOfN(CoreRange(cols, rows), 1, 3).Draw(t, "cores")
		switch rapid.SampledFrom([]string{"", "", "", "", "", "repeat", "none"}).Draw(t, "odd") {
		case "repeat":
			rects[len(rects)-1] = rects[0]
		case "none":
			rects = nil
		}
		set, err := l1.NewCoreRangeSet(rects...)
		if err != nil {
			t.Fatalf("gen: %v", err)
		}
		return set
	})
}

// DeviceIDs draws ids of devices for a call: usually some existing ones, often all, sometimes none,
// sometimes with an unknown id among them, or with an id twice.
func DeviceIDs(exist []uint64) *rapid.Generator[[]uint64] {
	return rapid.Custom(func(t *rapid.T) []uint64 {
		kind := rapid.IntRange(0, 11).Draw(t, "devices")
		switch {
		case kind == 10:
			return nil
		case kind == 11:
			return rapid.SliceOfN(DeviceID(exist), 1, 4).Draw(t, "any")
		case len(exist) == 0:
			return rapid.SliceOfN(DeviceID(nil), 0, 2).Draw(t, "unknown")
		case kind > 6:
			return slices.Clone(exist)
		}
		return rapid.SliceOfN(rapid.SampledFrom(exist), 1, 4).Draw(t, "some")
	})
}

// DeviceID draws one id, usually of a device that exists.
func DeviceID(exist []uint64) *rapid.Generator[uint64] {
	return rapid.SampledFrom(append(slices.Concat(exist, exist), newIDs()...))
}

// newIDs are the ids that devices get. Any number is an ordinary id.
func newIDs() []uint64 { return []uint64{0, 1, 2, 3, 4, 7, 1<<31 - 1, ^uint64(0)} }
