package render

import (
	"strconv"

	"github.com/cbl1/cbl1/l1"
)

// grouped returns n, which is not negative, with a comma between each three digits.
func grouped[T int | int64 | uint64](n T) string { return l1.Bytes(n).Exact() }

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

// times returns a/b like "7.6x".
func times(a, b uint64) string {
	if b == 0 {
		return "-"
	}
	return strconv.FormatFloat(float64(a)/float64(b), 'f', 1, 64) + "x"
}
