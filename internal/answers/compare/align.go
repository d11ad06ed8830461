package compare

import "slices"

// An item is a member of a sequence that is aligned with another one. Its key describes it, from the most telling
// part to the least: the first ends[0] bytes are its name, the first ends[1] its shape, the first ends[2] its
// size, and the whole key its place. Items with different names are never a pair.
type item struct {
	key  string
	ends [3]int
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

// none stands for the partner of an item without one.
const none = -1

// A pair is an item of the old sequence and one of the new one, by position; none if there
// is no such one.
type pair struct{ old, new int }

// Of the steps of all alignments together: a step looks at one old and one new item.
const (
	maxSteps  = 1 << 28 // for what is exact
	maxCells  = 1 << 25 // of one alignment
	leastSize = 1 << 12 // of an alignment that is always allowed
)

// An aligner aligns sequences. The zero aligner is ready.
type aligner struct {
	steps  int
	rough  bool // an alignment was too long to be the best one for sure
	budget int  // of cells of one alignment; 0 = maxCells
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

// align pairs the items of two sequences, in their order, at the least cost: each item is
// in one pair. Aligned the other way round they are the same pairs.
func (a *aligner) align(old, new []item) []pair {
	before, after := number(old, new)
	var head, tail []pair
	for len(before) > 0 && len(after) > 0 && before[0].whole == after[0].whole {
		head = append(head, pair{before[0].at, after[0].at})
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1].whole == after[len(after)-1].whole {
		tail = append(tail, pair{before[len(before)-1].at, after[len(after)-1].at})
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	slices.Reverse(tail)
	middle := a.pieces(shared(before, after), shared(after, before))
	return slices.Concat(head, complete(before, after, middle), tail)
}

// number gives keys their numbers.
func number(old, new []item) (before, after []elem) {
	keys := make([]string, 0, len(old)+len(new))
	for _, sequence := range [][]item{old, new} {
		for _, it := range sequence {
			keys = append(keys, it.key)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	whole := make(map[string]int32, len(keys))
	for i, key := range keys {
		whole[key] = int32(i)
	}
	parts := [3]map[string]int32{{}, {}, {}}
	elems := func(sequence []item) []elem {
		out := make([]elem, len(sequence))
		for i, it := range sequence {
			var n [3]int32
			for k, end := range it.ends {
				id, ok := parts[k][it.key[:end]]
				if !ok {
					id = int32(len(parts[k]))
					parts[k][it.key[:end]] = id
				}
				n[k] = id
			}
			out[i] = elem{n[0], n[1], n[2], whole[it.key], i}
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
func complete(before, after []elem, pairs []pair) (out []pair) {
	i, j := 0, 0
	until := func(p pair) {
		for ; i < len(before) && before[i].at != p.old; i++ {
			out = append(out, pair{before[i].at, none})
		}
		for ; j < len(after) && after[j].at != p.new; j++ {
			out = append(out, pair{none, after[j].at})
		}
	}
	for _, p := range pairs {
		until(p)
		out = append(out, p)
		i, j = i+1, j+1
	}
	until(pair{none, none})
	return out
}

// pieces returns the pairs of two sequences, by the positions of their items. Sequences
// that are too long for the best alignment are cut in two where they have something in
// common that is nowhere else in them, or in the middle.
func (a *aligner) pieces(before, after []elem) []pair {
	if len(before) == 0 || len(after) == 0 {
		return nil
	}
	if pairs, ok := a.banded(before, after); ok {
		return pairs
	}
	a.rough = true
	i, j := cut(before, after)
	return append(a.pieces(before[:i], after[:j]), a.pieces(before[i:], after[j:])...)
}

// cells is how many cells one alignment may have.
func (a *aligner) cells() int {
	most := a.budget
	if most == 0 {
		most = maxCells
	}
	return max(leastSize, min(most, maxSteps-a.steps))
}

// banded returns the pairs of an alignment of least cost, and false if it would take too
// many steps to find it. The band of alignments that are looked at is made wider until
// those outside of it cost more for sure: who leaves it leaves elements without partners.
// Where the sequences are much alike the cost is O(length).
func (a *aligner) banded(before, after []elem) ([]pair, bool) {
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
