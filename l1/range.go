package l1

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// A Range is the half-open range of bytes [Start, End) of a core's L1. Ranges
// compare with ==. A range with Start == End is empty: it is legal everywhere and
// means nothing.
type Range struct {
	Start, End uint64
}

// RangeOf returns the range of size bytes that starts at addr, or a *RangeError
// if its end lies beyond MaxAddr.
func RangeOf(addr, size uint64) (Range, error) {
	if addr > MaxAddr || size > MaxAddr-addr {
		e := &RangeError{Start: addr, Size: size, Reason: "ends beyond 2^63-1"}
		if size <= math.MaxUint64-addr {
			e.End = addr + size
		}
		return Range{}, e
	}
	return Range{addr, addr + size}, nil
}

// Check returns nil if r is a legal range, possibly empty, and a *RangeError
// otherwise.
func (r Range) Check() error {
	switch {
	case r.Start > r.End:
		return &RangeError{Start: r.Start, End: r.End, Reason: "start lies above end"}
	case r.End > MaxAddr:
		return &RangeError{Start: r.Start, End: r.End, Reason: "ends beyond 2^63-1"}
	}
	return nil
}

// Len returns the number of bytes of r. An inverted range has none.
func (r Range) Len() uint64 { return r.End - min(r.Start, r.End) }

// IsEmpty reports whether r has no bytes.
func (r Range) IsEmpty() bool { return r.Start >= r.End }

// Has reports whether the byte at addr is in r.
func (r Range) Has(addr uint64) bool { return r.Start <= addr && addr < r.End }

// Contains reports whether every byte of o is in r.
func (r Range) Contains(o Range) bool {
	return o.IsEmpty() || r.Start <= o.Start && o.End <= r.End
}

// Overlaps reports whether r and o share a byte. Ranges that only touch do not.
func (r Range) Overlaps(o Range) bool { return max(r.Start, o.Start) < min(r.End, o.End) }

// Intersect returns the bytes that r and o share, or the zero Range.
func (r Range) Intersect(o Range) Range {
	if !r.Overlaps(o) {
		return Range{}
	}
	return Range{max(r.Start, o.Start), min(r.End, o.End)}
}

// Compare orders ranges by start, then by end.
func (r Range) Compare(o Range) int {
	switch {
	case r.Start < o.Start || r.Start == o.Start && r.End < o.End:
		return -1
	case r == o:
		return 0
	}
	return 1
}

// Merge returns the bytes of ranges as the fewest ranges: sorted, disjoint, not
// touching, none empty. An inverted range has no bytes. As [slices.Compact], Merge
// reuses the memory of its argument, whose elements mean nothing afterwards.
//
//	[8,12) [0,4) [4,6) [10,16)    becomes    [0,6) [8,16)
//
// Ranges that are sorted already cost one pass.
func Merge(ranges []Range) []Range {
	if !slices.IsSortedFunc(ranges, Range.Compare) {
		slices.SortFunc(ranges, Range.Compare)
	}
	out := ranges[:0]
	for _, r := range ranges {
		switch last := len(out) - 1; {
		case r.IsEmpty():
		case last >= 0 && r.Start <= out[last].End:
			out[last].End = max(out[last].End, r.End)
		default:
			out = append(out, r)
		}
	}
	return out
}

// String returns "[start,end)".
func (r Range) String() string { return fmt.Sprintf("[%d,%d)", r.Start, r.End) }

// MarshalJSON returns "[start,end]", and "null" if r is empty.
func (r Range) MarshalJSON() ([]byte, error) {
	if r.IsEmpty() {
		return []byte("null"), nil
	}
	return fmt.Appendf(nil, "[%d,%d]", r.Start, r.End), nil
}

// UnmarshalJSON reads a range as MarshalJSON writes it. Errors are *RangeError, or come from encoding/json.
func (r *Range) UnmarshalJSON(text []byte) error {
	var ends [2]uint64
	if err := json.Unmarshal(text, &ends); err != nil {
		return err
	}
	*r = Range{ends[0], ends[1]}
	return r.Check()
}
