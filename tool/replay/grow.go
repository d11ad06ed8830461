package replay

import (
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// maxGrown is how many buffers of the tightest program are tried, the first ones.
const maxGrown = 64

// tight keeps the tightest run and its place until the end: the growth of its buffers is worked out once.
type tight struct {
	one   *program.Program
	place fit.Place
}

// grow works out by how much the buffers of the tightest run may grow. They do not where
// addresses are recorded that tt-metal's placement does not explain.
func (k tight) grow(to *answer.TightestRun) error {
	if to == nil {
		return nil
	}
	one, ok := fit.Replaced(k.one)
	if !ok {
		return nil
	}
	usable := k.place.Spec.Usable().Len() // of the base that is assumed
	small := k.place.Spec.L1Small
	k.place.Spec = one.Spec()
	k.place.Spec.L1Small = small
	for i, cb := range one.CBs() {
		if i >= maxGrown {
			break
		}
		bytes, ok, err := fit.MayGrow(one, i, k.place)
		if err != nil {
			return err
		}
		if ok {
			to.Grow = append(to.Grow, answer.CBRoom{Kind: fit.Kind(cb.Kind), CB: i, Bytes: min(bytes, usable)})
		}
	}
	return nil
}
