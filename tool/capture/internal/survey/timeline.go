package survey

import "slices"

// timeline is where the functions of a capture begin and end, if there may be lists, or the slices of a database.
type timeline struct {
	starts, ends []uint64
	open         []int // functions that did not end
	sliced       bool  // it is a database
	listable     bool  // there may be lists, so each life of an address counts for itself
}

// enters and leaves record that a function begins, or that the innermost one ends.
func (t *timeline) enters(at uint64) {
	if t.listable && !t.sliced {
		t.open = append(t.open, len(t.starts))
		t.starts, t.ends = append(t.starts, at), append(t.ends, Forever)
	}
}

func (t *timeline) leaves(at uint64) {
	if len(t.open) == 0 {
		return
	}
	last := len(t.open) - 1
	t.ends[t.open[last]] = at
	t.open = t.open[:last]
}

// endOf returns where the function ends that begins at a node.
func (t *timeline) endOf(at uint64) uint64 {
	i, ok := slices.BinarySearch(t.starts, at)
	if !ok {
		return Forever
	}
	return t.ends[i]
}

// before returns the last slice that starts before a node.
func (t *timeline) before(at uint64) int {
	i, _ := slices.BinarySearch(t.starts, at)
	return max(i-1, 0)
}
