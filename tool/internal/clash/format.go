package clash

import (
	"fmt"
	"strconv"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// exact returns an address, or a number, for people.
func exact(n uint64) string { return l1.Bytes(n).Exact() }

// amount returns n exactly and, from 1 KiB on, in the unit that suits it.
func amount(n uint64) string {
	if n < 1<<10 {
		return shown.Plural(n, "byte")
	}
	return fmt.Sprintf("%s bytes (%v)", exact(n), l1.Bytes(n))
}

// percent returns part of whole with one decimal.
func percent(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	// Rounded here, so that text and JSON show the same.
	v, _ := strconv.ParseFloat(fmt.Sprintf("%.1f", 100*float64(part)/float64(whole)), 64)
	return v
}

func percentText(part, whole uint64) string {
	v := percent(part, whole)
	if v == 0 && part != 0 {
		return "<0.1%"
	}
	return fmt.Sprintf("%.1f%%", v)
}

// ceil returns n divided by by, rounded up.
func ceil(n, by uint64) uint64 {
	if n%by != 0 {
		return n/by + 1
	}
	return n / by
}

// rangeText names the bytes from the first address up to the second.
func rangeText(r l1.Range) string { return exact(r.Start) + ".." + exact(r.End) }
