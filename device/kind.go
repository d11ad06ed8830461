package device

import "github.com/cbl1/cbl1/fit"

const (
	numL1    = fit.KindReserved + 1
	numKinds = fit.KindSystem + 1
)

// kinds is a set of kinds that lie in L1.
type kinds uint16

func (s kinds) has(k fit.Kind) bool { return s>>k&1 != 0 }

// list returns the kinds in their order.
func (s kinds) list() (out []fit.Kind) {
	for k := range numL1 {
		if s.has(k) {
			out = append(out, k)
		}
	}
	return out
}
