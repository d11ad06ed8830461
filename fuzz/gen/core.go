package gen

import (
	"github.com/cbl1/cbl1/l1"
	"pgregory.net/rapid"
)

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
