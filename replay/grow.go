package replay

import (
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/program"
)

// A Growth says by how much a buffer of a program may grow so that the program still
// fits (device.Fleet.MayGrow).
type Growth struct {
	Kind  fit.Kind `json:"kind"`
	CB    int      `json:"cb"` // position among the run's nodes of its kind; circular buffers, or the others together
	Bytes uint64   `json:"bytes"`
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
	one, ok := fit.Replaced(k.tight.one)
	if !ok {
		return nil
	}
	usable := k.tight.place.Spec.Usable().Len() // of the base that is assumed
	small := k.tight.place.Spec.L1Small
	k.tight.place.Spec = one.Spec()
	k.tight.place.Spec.L1Small = small
	for i, cb := range one.CBs() {
		if i >= maxGrown {
			break
		}
		bytes, ok, err := fit.MayGrow(one, i, k.tight.place)
		if err != nil {
			return err
		}
		if ok {
			k.result.Tightest.Grow = append(k.result.Tightest.Grow, Growth{fit.Kind(cb.Kind), i, min(bytes, usable)})
		}
	}
	return nil
}
