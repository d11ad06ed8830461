package cbregion_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/internal/baseline"
	"github.com/cbl1/cbl1/l1"
)

// A contender is what a benchmark can drive: Counter, Coverage and two classical
// designs, on the same ranges in the same order. It starts with all ranges.
type contender interface {
	add(i int)
	remove(i int)
}

type counterContender struct {
	cbregion.Counter
	ranges []l1.Range
}

func (c *counterContender) add(i int) {
	if _, err := c.Add(cbregion.Owner(i), c.ranges[i]); err != nil {
		panic(err)
	}
}

func (c *counterContender) remove(i int) {
	if _, err := c.Remove(cbregion.Owner(i), c.ranges[i]); err != nil {
		panic(err)
	}
}

type coverageContender struct {
	cbregion.Coverage
	ranges []l1.Range
}

func (c *coverageContender) add(i int)    { c.Add(c.ranges[i]) }
func (c *coverageContender) remove(i int) { c.Remove(c.ranges[i]) }

type baselineContender struct {
	*baseline.BoundaryCount
	ranges []l1.Range
}

func (c *baselineContender) add(i int)    { c.Add(c.ranges[i]) }
func (c *baselineContender) remove(i int) { c.Remove(c.ranges[i]) }

func newContender(design string, ranges []l1.Range) contender {
	var c contender
	switch design {
	case "coverage":
		c = &coverageContender{ranges: ranges}
	case "counter":
		c = &counterContender{ranges: ranges}
	case "sortedslice":
		c = &sliceContender{ranges: ranges}
	case "baseline":
		return &baselineContender{baseline.BoundaryCountOf(ranges...), ranges}
	default:
		panic("no design " + design)
	}
	for i := range ranges {
		c.add(i)
	}
	return c
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

// BenchmarkProgramComesAndGoes is the usual life of a core: everybody starts at the
// base, one program leaves and another comes.
func BenchmarkProgramComesAndGoes(b *testing.B) {
	for _, live := range []int{64, 4_096} {
		ranges := shape("samebase", live)
		for _, design := range []string{"coverage", "counter", "baseline"} {
			b.Run(fmt.Sprintf("live=%d/design=%s", live, design), func(b *testing.B) {
				c := newContender(design, ranges)
				i := 0
				for b.Loop() {
					c.remove(i)
					c.add(i)
					i = (i + 1) % live
				}
			})
		}
	}
}

// BenchmarkAsk is the price of questions.
func BenchmarkAsk(b *testing.B) {
	for _, s := range []string{"staircase", "random", "comb"} {
		ranges := shape(s, 10_000)
		var c cbregion.Counter
		for i, r := range ranges {
			_, _ = c.Add(cbregion.Owner(i), r)
		}
		ask := func(name string, fn func(i int)) {
			b.Run(fmt.Sprintf("shape=%s/live=10000/ask=%s", s, name), func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					fn(i)
					i = (i + 7919) % len(ranges)
				}
			})
		}
		ask("bytes", func(int) { _ = c.Bytes() })
		ask("bytesin", func(i int) { c.BytesIn(ranges[i]) })
		ask("regions", func(int) {
			for range c.Regions() {
			}
		})
		ask("owners", func(i int) {
			for range c.Owners(ranges[i].Start) {
			}
		})
		ask("clone", func(int) { c.Clone() })
	}
}

// A sliceContender is a plain sorted slice of boundary counts, the best that small
// sets can have.
type sliceContender struct {
	edges  []sliceEdge
	total  uint64
	ranges []l1.Range
}

type sliceEdge struct {
	addr uint64
	n    int // of the bytes up to the next edge
}

func (c *sliceContender) add(i int)    { c.total += c.shift(c.ranges[i], +1) }
func (c *sliceContender) remove(i int) { c.total -= c.shift(c.ranges[i], -1) }

func (c *sliceContender) index(addr uint64) int {
	i, found := slices.BinarySearchFunc(c.edges, addr, func(e sliceEdge, a uint64) int {
		if e.addr < a {
			return -1
		}
		if e.addr > a {
			return 1
		}
		return 0
	})
	if !found {
		n := 0
		if i > 0 {
			n = c.edges[i-1].n
		}
		c.edges = slices.Insert(c.edges, i, sliceEdge{addr, n})
	}
	return i
}

func (c *sliceContender) shift(r l1.Range, d int) (moved uint64) {
	i := c.index(r.Start)
	k := c.index(r.End)
	for j := i; j < k; j++ {
		if c.edges[j].n == 0 || c.edges[j].n+d == 0 {
			moved += c.edges[j+1].addr - c.edges[j].addr
		}
		c.edges[j].n += d
	}
	if c.edges[k].n == c.edges[k-1].n {
		c.edges = slices.Delete(c.edges, k, k+1)
	}
	before := 0
	if i > 0 {
		before = c.edges[i-1].n
	}
	if c.edges[i].n == before {
		c.edges = slices.Delete(c.edges, i, i+1)
	}
	return moved
}
