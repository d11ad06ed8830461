package align

import "slices"

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
