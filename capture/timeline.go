package capture

import (
	"cmp"
	"slices"
)

// timeline is where the functions of a capture begin and end, and the slices of a database.
type timeline struct {
	spans    []span   // of functions, if there may be lists; of slices in a database
	open     []int    // of spans that did not end
	sliced   bool     // it is a database
	listable bool     // there may be lists, so each life of an address counts for itself
	starts   []uint64 // of the slices of a database
}

// A span is where a function begins and ends.
type span struct{ start, end uint64 }

// enters and leaves record that a function begins, or that the innermost one ends.
func (t *timeline) enters(at uint64) {
	if t.listable && !t.sliced {
		t.open = append(t.open, len(t.spans))
		t.spans = append(t.spans, span{at, forever})
	}
}

func (t *timeline) leaves(at uint64) {
	if len(t.open) == 0 {
		return
	}
	last := len(t.open) - 1
	t.spans[t.open[last]].end = at
	t.open = t.open[:last]
}

// endOf returns where the function ends that begins at a node.
func (t *timeline) endOf(at uint64) uint64 {
	i, ok := slices.BinarySearchFunc(t.spans, at, func(s span, at uint64) int { return cmp.Compare(s.start, at) })
	if !ok {
		return forever
	}
	return t.spans[i].end
}
