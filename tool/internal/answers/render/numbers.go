package render

import (
	"fmt"
	"strconv"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
)

// grouped returns n, which is not negative, with a comma between each three digits.
func grouped[T int | int64 | uint64](n T) string { return l1.Bytes(n).Exact() }

// A change is a number with its sign: "+4,096", "-4,096", "0".
type change int64

// changed returns by how much a number grew.
func changed[T int | int64 | uint64](old, new T) change { return change(int64(new) - int64(old)) }

func (n change) String() string {
	switch {
	case n > 0:
		return "+" + grouped(int64(n))
	case n < 0:
		return "-" + grouped(uint64(-n))
	}
	return "0"
}

// cell returns a value as tables show it: numbers with commas, "-" for an absent one, and rectangles of cores.
func cell(v any) string {
	switch v := v.(type) {
	case int:
		return grouped(v)
	case int64:
		return grouped(v)
	case uint64:
		return grouped(v)
	case event.Opt[uint64]:
		if !v.OK {
			return "-"
		}
		return grouped(v.V)
	case l1.CoreSet:
		return coreRanges(v)
	}
	return fmt.Sprint(v)
}

// rounded returns n in KiB, MiB, ..., to be shown beside the exact number.
func rounded(n uint64) string { return l1.Bytes(n).String() }

// percent returns part of whole with one decimal. Nothing but all of it is 100.0%,
// nothing but nothing is 0.0%.
func percent(part, whole uint64) string {
	p := float64(part) * 100 / float64(whole)
	switch {
	case part > 0 && p < 0.1:
		return "<0.1%"
	case part < whole && p > 99.9:
		p = 99.9
	}
	return strconv.FormatFloat(p, 'f', 1, 64) + "%"
}
