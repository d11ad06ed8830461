package cbregion_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/internal/guard/baseline"
	"github.com/cbl1/cbl1/l1"
)

// A contender is a design that a benchmark can drive: it adds and removes the i-th of its ranges.
// Designs are driven with the same ranges in the same order, and start with all.
type contender struct{ add, remove func(i int) }

func newContender(design string, ranges []l1.Range) contender {
	var c contender
	switch design {
	case "coverage":
		x := new(cbregion.Coverage)
		c = contender{func(i int) { x.Add(ranges[i]) }, func(i int) { x.Remove(ranges[i]) }}
	case "counter":
		x := new(cbregion.Counter)
		c = contender{func(i int) { must(x.Add(cbregion.Owner(i), ranges[i])) }, func(i int) { must(x.Remove(cbregion.Owner(i), ranges[i])) }}
	case "sortedslice":
		x := new(baseline.SortedCount)
		c = contender{func(i int) { x.Shift(ranges[i], +1) }, func(i int) { x.Shift(ranges[i], -1) }}
	case "baseline":
		x := new(baseline.BoundaryCount)
		c = contender{func(i int) { x.Shift(ranges[i], +1) }, func(i int) { x.Shift(ranges[i], -1) }}
	default:
		panic("no design " + design)
	}
	for i := range ranges {
		c.add(i)
	}
	return c
}

func must(_ uint64, err error) {
	if err != nil {
		panic(err)
	}
}

// The shapes, each a list of n different ranges.
func shape(name string, n int) []l1.Range {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	out := make([]l1.Range, n)
	for i := range out {
		u := uint64(i)
		switch name {
		case "nested": // each in the one before it
			out[i] = l1.Range{Start: u * 16, End: uint64(4*n)*16 - u*16}
		case "staircase": // each half covers the next
			out[i] = l1.Range{Start: u * 16, End: u*16 + uint64(n)*8}
		case "random":
			a, b := rnd.Uint64N(uint64(n)*64), rnd.Uint64N(uint64(n)*64)
			out[i] = l1.Range{Start: min(a, b), End: max(a, b) + 1}
		case "samebase": // cached programs
			out[i] = l1.Range{Start: 111_616, End: 111_616 + (u+1)*32}
		case "comb": // short ranges with gaps, then long ones over half of them each
			out[i] = l1.Range{Start: u * 32, End: u*32 + 16}
			if i >= teeth(n) {
				a := rnd.Uint64N(uint64(teeth(n)) * 16)
				out[i] = l1.Range{Start: a, End: a + uint64(teeth(n))*16}
			}
		default:
			panic("no shape " + name)
		}
	}
	return out
}

// teeth returns how many of the n ranges of a comb are short.
func teeth(n int) int { return n / 16 * 15 }

// churn measures one change: ranges are removed and added at random, while at least
// seven in eight are alive. The first still of them never move.
func churn(b *testing.B, design string, ranges []l1.Range, still int) {
	c := newContender(design, ranges)
	rnd := rand.New(rand.NewPCG(7, 7))
	var out []int // removed, to be added again
	in := make([]int, len(ranges)-still)
	for i := range in {
		in[i] = still + i
	}
	move := func(from, to []int) (i int, f, t []int) {
		k := rnd.IntN(len(from))
		i = from[k]
		from[k] = from[len(from)-1]
		return i, from[:len(from)-1], append(to, i)
	}
	most := len(in)/8 + 1
	runtime.GC() // what building has left
	b.ReportAllocs()
	for b.Loop() {
		var i int
		if len(in) > 0 && (len(out) == 0 || len(out) < most && rnd.Uint32()&1 == 0) {
			i, in, out = move(in, out)
			c.remove(i)
		} else {
			i, out, in = move(out, in)
			c.add(i)
		}
	}
}

// BenchmarkChange is one Add or Remove among live ranges of many shapes.
func BenchmarkChange(b *testing.B) {
	for _, s := range []string{"nested", "staircase", "random", "samebase", "comb"} {
		for _, live := range []int{1_000, 10_000, 100_000} {
			still := 0
			if s == "comb" {
				if live == 100_000 {
					live = 48_000 // 45,000 teeth, 3,000 long ranges
				}
				still = teeth(live)
			}
			ranges := shape(s, live)
			for _, design := range []string{"coverage", "counter", "baseline"} {
				if design == "baseline" && live > 10_000 {
					continue // adding long ranges one by one is quadratic
				}
				b.Run(fmt.Sprintf("shape=%s/live=%d/design=%s", s, live, design), func(b *testing.B) {
					churn(b, design, ranges, still)
				})
			}
		}
	}
}

// BenchmarkSmall is one Add or Remove in a set that fits in one leaf, or nearly.
func BenchmarkSmall(b *testing.B) {
	for _, live := range []int{1, 2, 4, 8, 16, 31, 64} {
		ranges := shape("random", live)
		for _, design := range []string{"coverage", "counter", "sortedslice", "baseline"} {
			b.Run(fmt.Sprintf("shape=random/live=%d/design=%s", live, design), func(b *testing.B) {
				churn(b, design, ranges, 0)
			})
		}
	}
}

// BenchmarkQuery is the price of queries.
func BenchmarkQuery(b *testing.B) {
	for _, s := range []string{"staircase", "random", "comb"} {
		ranges := shape(s, 10_000)
		var c cbregion.Counter
		for i, r := range ranges {
			_, _ = c.Add(cbregion.Owner(i), r)
		}
		query := func(name string, fn func(i int)) {
			b.Run(fmt.Sprintf("shape=%s/live=10000/query=%s", s, name), func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					fn(i)
					i = (i + 7919) % len(ranges)
				}
			})
		}
		query("bytes", func(int) { _ = c.Bytes() })
		query("bytesin", func(i int) { c.BytesIn(ranges[i]) })
		query("regions", func(int) {
			for range c.Regions() {
			}
		})
		query("owners", func(i int) {
			for range c.Owners(ranges[i].Start) {
			}
		})
		query("clone", func(int) { c.Clone() })
	}
}
