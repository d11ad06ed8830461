package align

import (
	"slices"
)

// An Item is a member of a sequence that is aligned with another one. Its key describes it, from the most telling
// part to the least: the first ends[0] bytes are its name, the first ends[1] its shape, the first ends[2] its
// size, and the whole key its place. Items with different names are never a pair.
type Item struct {
	Key  string // equal items have equal keys
	ends [3]int
}

// NewItem makes an Item. No part may be the start of another one of its level and go on like
// the parts behind it.
func NewItem(name, shape, size, place string) Item {
	n := len(name)
	return Item{name + shape + size + place, [3]int{n, n + len(shape), n + len(shape) + len(size)}}
}

// What differs between two items costs this much. A pair of other shapes costs less than
// one item that is gone and one that is new, and more than one of them. What differs costs
// as a distance does: never more by way of a third item.
const (
	costPlace = 1
	costSize  = 2
	costShape = 4
	costGap   = 3 // of one that has no partner
)

// None stands for the partner of an Item without one.
const None = -1

// A Pair is an Item of the old sequence and its partner in the new one, by position. One of them may be [None].
type Pair struct{ Old, New int }

// Bounds on the steps of all alignments together. A step compares an old item with a new one.
const (
	maxSteps  = 1 << 28 // for what is exact
	maxCells  = 1 << 25 // of one alignment
	leastSize = 1 << 12 // of an alignment that is always allowed
)

// An Aligner aligns sequences. It limits the steps of all its alignments together. The zero Aligner is ready.
type Aligner struct {
	Rough  bool // an alignment was too long to be the best one for sure
	steps  int
	budget int // of cells of one alignment; 0 = maxCells
}

// An elem is an item by numbers: equal ones mean equal prefixes of their keys. The number
// of the whole key goes by the order of keys, so that it does not matter which sequence is
// the old one.
type elem struct {
	name, shape, size, whole int32
	at                       int // in its sequence
}

// cost returns what a pair costs, and whether it may be one.
func cost(a, b elem) (int32, bool) {
	switch {
	case a.whole == b.whole:
		return 0, true
	case a.size == b.size:
		return costPlace, true
	case a.shape == b.shape:
		return costSize, true
	case a.name == b.name:
		return costShape, true
	}
	return 0, false
}

// Align pairs the items of two sequences, in their order, at the least cost: each item is
// in one pair. Aligned the other way round they are the same pairs.
//
// Cost: O(n log n) where the sequences are much alike. Each difference widens the band that is searched, up to
// some hundred million steps of one Aligner.
func (a *Aligner) Align(old, new []Item) []Pair {
	before, after := number(old, new)
	var head, tail []Pair
	for len(before) > 0 && len(after) > 0 && before[0].whole == after[0].whole {
		head = append(head, Pair{before[0].at, after[0].at})
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1].whole == after[len(after)-1].whole {
		tail = append(tail, Pair{before[len(before)-1].at, after[len(after)-1].at})
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	slices.Reverse(tail)
	middle := a.pieces(shared(before, after), shared(after, before))
	return slices.Concat(head, complete(before, after, middle), tail)
}

// number gives keys their numbers.
func number(old, new []Item) (before, after []elem) {
	keys := make([]string, 0, len(old)+len(new))
	for _, sequence := range [][]Item{old, new} {
		for _, it := range sequence {
			keys = append(keys, it.Key)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	whole := make(map[string]int32, len(keys))
	for i, key := range keys {
		whole[key] = int32(i)
	}
	parts := [3]map[string]int32{{}, {}, {}}
	elems := func(sequence []Item) []elem {
		out := make([]elem, len(sequence))
		for i, it := range sequence {
			var n [3]int32
			for k, end := range it.ends {
				id, ok := parts[k][it.Key[:end]]
				if !ok {
					id = int32(len(parts[k]))
					parts[k][it.Key[:end]] = id
				}
				n[k] = id
			}
			out[i] = elem{n[0], n[1], n[2], whole[it.Key], i}
		}
		return out
	}
	return elems(old), elems(new)
}

// shared returns the elements whose names the others have too: the rest has no partner.
func shared(these, others []elem) (out []elem) {
	names := map[int32]bool{}
	for _, e := range others {
		names[e.name] = true
	}
	for _, e := range these {
		if names[e.name] {
			out = append(out, e)
		}
	}
	return out
}

// complete adds the elements without a partner: gone ones before new ones.
func complete(before, after []elem, pairs []Pair) (out []Pair) {
	i, j := 0, 0
	until := func(p Pair) {
		for ; i < len(before) && before[i].at != p.Old; i++ {
			out = append(out, Pair{before[i].at, None})
		}
		for ; j < len(after) && after[j].at != p.New; j++ {
			out = append(out, Pair{None, after[j].at})
		}
	}
	for _, p := range pairs {
		until(p)
		out = append(out, p)
		i, j = i+1, j+1
	}
	until(Pair{None, None})
	return out
}

// pieces returns the pairs of two sequences, by the positions of their items. Sequences
// that are too long for the best alignment are cut in two where they have something in
// common that is nowhere else in them, or in the middle.
func (a *Aligner) pieces(before, after []elem) []Pair {
	if len(before) == 0 || len(after) == 0 {
		return nil
	}
	if pairs, ok := a.banded(before, after); ok {
		return pairs
	}
	a.Rough = true
	i, j := cut(before, after)
	return append(a.pieces(before[:i], after[:j]), a.pieces(before[i:], after[j:])...)
}

// cells is how many cells one alignment may have.
func (a *Aligner) cells() int {
	most := a.budget
	if most == 0 {
		most = maxCells
	}
	return max(leastSize, min(most, maxSteps-a.steps))
}

// banded returns the pairs of an alignment of least cost, and false if it would take too
// many steps to find it. The band of alignments that are searched is made wider until
// those outside of it cost more for sure: who leaves it leaves elements without partners.
// Where the sequences are much alike the cost is O(length).
func (a *Aligner) banded(before, after []elem) ([]Pair, bool) {
	n, m := len(before), len(after)
	least := max(floor(before, after)+costGap*max(0, m-n), floor(after, before)+costGap*max(0, n-m))
	for w := 4; ; w *= 2 {
		b := newBand(n, m, w)
		if b.cells() > a.cells() {
			return nil, false
		}
		best := b.fill(before, after)
		a.steps += b.cells()
		if best <= least+costGap*(w+1) || w >= max(n, m) {
			return b.trace(before, after), true
		}
	}
}

// floor is a lower bound of the cost: each element costs at least as much as with its best partner anywhere, or
// with none.
func floor(these, others []elem) (sum int) {
	whole, size, shape := map[int32]bool{}, map[int32]bool{}, map[int32]bool{}
	for _, e := range others {
		whole[e.whole], size[e.size], shape[e.shape] = true, true, true
	}
	for _, e := range these {
		switch {
		case whole[e.whole]:
		case size[e.size]:
			sum += costPlace
		case shape[e.shape]:
			sum += costSize
		default:
			sum += min(costShape, costGap)
		}
	}
	return sum
}

// cut returns where two sequences are cut in two: before a pair of elements that both have
// once, in the middle of the longest chain of such pairs in order; in the middle of both
// if there is none. Both halves are shorter. Cost: O(n log n).
func cut(before, after []elem) (i, j int) {
	if chain := chained(once(before, after)); len(chain) > 0 {
		for _, at := range []int{len(chain) / 2, len(chain) - 1, 0} {
			if p := chain[at]; p.Old+p.New > 0 { // else nothing is cut off
				return p.Old, p.New
			}
		}
	}
	return (len(before) + 1) / 2, (len(after) + 1) / 2
}

// once returns the pairs of equal elements that both sequences have once, by the old ones.
func once(before, after []elem) (out []Pair) {
	type seen struct{ n, at int }
	count := func(all []elem) map[int32]seen {
		m := map[int32]seen{}
		for i, e := range all {
			m[e.whole] = seen{m[e.whole].n + 1, i}
		}
		return m
	}
	olds, news := count(before), count(after)
	for i, e := range before {
		if olds[e.whole].n == 1 && news[e.whole].n == 1 {
			out = append(out, Pair{i, news[e.whole].at})
		}
	}
	return out
}

// chained returns a longest chain of pairs that is in order in both sequences.
func chained(pairs []Pair) []Pair {
	var ends []int // by length of a chain less one: the pair that ends it lowest
	from := make([]int, len(pairs))
	for k, p := range pairs {
		at, _ := slices.BinarySearchFunc(ends, p.New, func(e, n int) int { return pairs[e].New - n })
		if from[k] = None; at > 0 {
			from[k] = ends[at-1]
		}
		if at == len(ends) {
			ends = append(ends, k)
		} else {
			ends[at] = k
		}
	}
	out := make([]Pair, len(ends))
	for k, n := None, len(ends)-1; n >= 0; n-- {
		if k == None {
			k = ends[n]
		}
		out[n] = pairs[k]
		k = from[k]
	}
	return out
}
