package corepeaks

import "slices"

// runs map the numbers 0, 1, 2, ... to values. Neighbouring runs differ. Behind the last run the value is zero, which
// that run has not.
type runs[V any] []run[V]

// A run is numbers with the same value, up to an end, from where the run before ends.
type run[V any] struct {
	end   int
	value V
}

func equalBytes(a, b uint64) bool { return a == b }
func equalRows(a, b rows) bool    { return slices.Equal(a, b) }

// at returns the value of a number.
func (r runs[V]) at(i int) (value V) {
	for _, x := range r {
		if x.end > i {
			return x.value
		}
	}
	return value
}

// any reports whether one of the numbers from start to end has a value that is meant.
func (r runs[V]) any(start, end int, meant func(V) bool) bool {
	for _, x := range r {
		if x.end > start && meant(x.value) {
			return true
		}
		if x.end >= end {
			return false
		}
	}
	var zero V
	return meant(zero)
}

// with returns runs in which the numbers from start to end have other values.
func (r runs[V]) with(start, end int, equal func(a, b V) bool, other func(V) V) runs[V] {
	out := make(runs[V], 0, len(r)+2)
	at := 0
	put := func(end int, value V) {
		switch last := len(out) - 1; {
		case end <= at:
			return
		case last >= 0 && equal(out[last].value, value):
			out[last].end = end
		default:
			out = append(out, run[V]{end, value})
		}
		at = end
	}
	to := func(x run[V]) {
		put(min(x.end, start), x.value)
		if at < min(x.end, end) {
			put(min(x.end, end), other(x.value))
		}
		put(x.end, x.value)
	}
	for _, x := range r {
		to(x)
	}
	to(run[V]{end: end})
	return out
}
