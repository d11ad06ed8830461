package gen

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
	"pgregory.net/rapid"
)

// Ends returns a short list of addresses from base to base+64 for ranges to end at:
// multiples of 8 and a few neighbours one byte apart.
func Ends(base uint64) []uint64 {
	out := []uint64{0, 8, 16, 24, 32, 40, 48, 56, 64, 1, 15, 17, 31, 33, 63}
	for i := range out {
		out[i] += base
	}
	return out
}

// Range draws a legal range between two of the given addresses; it may be empty. The plainest one is not.
func Range(ends []uint64) *rapid.Generator[l1.Range] {
	return rapid.Custom(func(t *rapid.T) l1.Range {
		a := rapid.SampledFrom(ends).Draw(t, "end")
		b := rapid.SampledFrom(slices.Concat(ends[1:], ends[:1])).Draw(t, "end")
		return l1.Range{Start: min(a, b), End: max(a, b)}
	})
}

// IllegalRange draws a range that must be refused: inverted, or ending beyond 2^63-1.
func IllegalRange(ends []uint64) *rapid.Generator[l1.Range] {
	return rapid.Custom(func(t *rapid.T) l1.Range {
		r := Range(ends).Draw(t, "range")
		switch rapid.IntRange(0, 2).Draw(t, "wrong") {
		case 0:
			return l1.Range{Start: r.End + 1, End: r.Start}
		case 1:
			return l1.Range{Start: r.Start, End: l1.MaxAddr + 1}
		}
		return l1.Range{Start: ^uint64(0), End: r.End}
	})
}
