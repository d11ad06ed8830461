package replay

import (
	"math"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Growth says by how much a buffer of a program may grow so that the program still
// fits (device.Fleet.MayGrow).
type Growth struct {
	Kind  device.Kind
	CB    int // position among the run's nodes of its kind; circular buffers, or the others together
	Bytes uint64
}

// maxGrown is how many buffers of the tightest program are tried, the first ones.
const maxGrown = 64

// tight is what the tightest run was checked with, kept until the end: how much its
// buffers may grow is worked out once.
type tight struct {
	one   *program.Program
	place fit.Place
}

// grow works out by how much the buffers of the tightest run may grow. They do not where
// addresses are recorded that tt-metal's placement does not explain.
func (k *checks) grow() error {
	if k.result.Tightest == nil {
		return nil
	}
	one := replaced(k.tight.one)
	if one == nil {
		return nil
	}
	usable := k.tight.place.Spec.Usable().Len() // of the base that is assumed
	small := k.tight.place.Spec.L1Small
	k.tight.place.Spec = one.Spec()
	k.tight.place.Spec.L1Small = small
	outline := fit.NewOutline(k.tight.place)
	for i, cb := range one.CBs() {
		if i >= maxGrown {
			break
		}
		bytes, ok, err := outline.MayGrow(one, i)
		if err != nil {
			return err
		}
		if ok {
			k.result.Tightest.Grow = append(k.result.Tightest.Grow, Growth{device.Kind(cb.Kind), i, min(bytes, usable)})
		}
	}
	return nil
}

// replaced returns a program with the same addresses, but found by placement, so that
// a buffer which grows moves those above it; nil if placement finds others. Where the
// lowest buffer lies is taken as the base, if it is not the base that is assumed.
func replaced(recorded *program.Program) *program.Program {
	low := uint64(math.MaxUint64)
	for _, cb := range recorded.CBs() {
		if !cb.Global && !cb.Range.IsEmpty() {
			low = min(low, cb.Range.Start)
		}
	}
	spec := recorded.Spec()
	for _, base := range []uint64{spec.CBBase, low} {
		spec.CBBase = base
		b := program.NewBuilder(recorded.ID())
		if recorded.AsWritten() {
			b.AsWritten()
		}
		for _, cb := range recorded.CBs() {
			next := cb.CB
			next.Fixed = next.Fixed && next.Global
			b.CB(next)
		}
		again, err := b.Build(spec)
		if err == nil && sameRanges(recorded, again) {
			return again
		}
	}
	return nil
}

// sameRanges reports whether two programs with the same buffers have them in the same
// places.
func sameRanges(p, q *program.Program) bool {
	var ranges []l1.Range
	for _, cb := range p.CBs() {
		ranges = append(ranges, cb.Range)
	}
	for i, cb := range q.CBs() {
		if cb.Range != ranges[i] {
			return false
		}
	}
	return true
}
