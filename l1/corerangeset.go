package l1

import (
	"iter"
	"slices"
	"strings"
)

// A CoreRangeSet is a list of legal rectangles of cores in the order in which a
// program states them. Rectangles may overlap: a core covered twice counts once.
// The zero value is the empty set "{}". Sets are immutable values.
type CoreRangeSet struct {
	ranges []CoreRange
}

// NewCoreRangeSet returns the set of the given rectangles, or a *CoreRangeError if
// one of them is reversed. (tt-metal also refuses rectangles that overlap; we
// accept them and let the program report a finding.)
func NewCoreRangeSet(ranges ...CoreRange) (CoreRangeSet, error) {
	for _, r := range ranges {
		if err := r.Check(); err != nil {
			return CoreRangeSet{}, err
		}
	}
	return CoreRangeSet{slices.Clone(ranges)}, nil
}

// Rect returns the set of one rectangle: the cores from x0-y0 to x1-y1, both
// included. Any two opposite corners do, in either order: Rect(7, 7, 0, 0) and
// Rect(0, 7, 7, 0) are Rect(0, 0, 7, 7). [NewCoreRangeSet] refuses a reversed one.
func Rect(x0, y0, x1, y1 uint8) CoreRangeSet {
	return CoreRangeSet{[]CoreRange{{
		Start: Core{min(x0, x1), min(y0, y1)},
		End:   Core{max(x0, x1), max(y0, y1)},
	}}}
}

// Len returns the number of rectangles.
func (s CoreRangeSet) Len() int { return len(s.ranges) }

// All returns the rectangles in order.
func (s CoreRangeSet) All() iter.Seq[CoreRange] { return slices.Values(s.ranges) }

// Cores returns the cores that s covers, each once.
func (s CoreRangeSet) Cores() CoreSet {
	if len(s.ranges) == 1 {
		return s.ranges[0].Cores()
	}
	var b coreSetBuilder
	for _, r := range s.ranges {
		b.addRange(r)
	}
	return b.set()
}

// Merge returns s as tt-metal re-cuts it before placing a buffer: a set with one
// rectangle is unchanged, any other is taken apart into cores and rebuilt (see
// [CoreSet.Ranges]). The input rectangles may come back cut differently.
func (s CoreRangeSet) Merge() CoreRangeSet {
	if len(s.ranges) < 2 {
		return s
	}
	return s.Cores().Ranges()
}

// Overlap returns the first pair of rectangles of s that share a core, and reports whether there is
// one. It visits at most 65,537 cores.
func (s CoreRangeSet) Overlap() (a, b CoreRange, found bool) {
	if len(s.ranges) < 2 {
		return a, b, false
	}
	first := make(map[Core]int) // the rectangle that covered a core first
	for i, r := range s.ranges {
		for x := int(r.Start.X); x <= int(r.End.X); x++ {
			for y := int(r.Start.Y); y <= int(r.End.Y); y++ {
				c := Core{uint8(x), uint8(y)}
				if j, ok := first[c]; ok {
					return s.ranges[j], r, true
				}
				first[c] = i
			}
		}
	}
	return a, b, false
}

// Equal reports whether s and o list the same rectangles in the same order. To compare the covered
// cores, compare their Cores.
func (s CoreRangeSet) Equal(o CoreRangeSet) bool { return slices.Equal(s.ranges, o.ranges) }

// String returns "{[x-y - x-y], ...}", the spelling of tt-metal since June 2026.
func (s CoreRangeSet) String() string { return s.join(CoreRange.String) }

// Legacy returns the older spelling, "{[(x=x,y=y) - (x=x,y=y)], ...}".
func (s CoreRangeSet) Legacy() string { return s.join(CoreRange.Legacy) }

func (s CoreRangeSet) join(text func(CoreRange) string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, r := range s.ranges {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(text(r))
	}
	b.WriteByte('}')
	return b.String()
}
