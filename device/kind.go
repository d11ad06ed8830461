package device

import (
	"strings"

	"github.com/cbl1/cbl1/fit"
)

const (
	numL1    = fit.KindReserved + 1
	numKinds = fit.KindSystem + 1
)

// Kinds is a set of kinds that lie in L1.
type Kinds uint16

// KindsOf returns the set of the given kinds.
func KindsOf(kinds ...fit.Kind) (s Kinds) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// Has reports whether s has k.
func (s Kinds) Has(k fit.Kind) bool { return s>>k&1 != 0 }

// String joins the kinds with " + ".
func (s Kinds) String() string {
	var words []string
	for k := range numL1 {
		if s.Has(k) {
			words = append(words, k.String())
		}
	}
	return strings.Join(words, " + ")
}
