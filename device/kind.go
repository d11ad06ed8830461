package device

import (
	"strings"

	"github.com/cbl1/cbl1/fit"
)

// A Kind says what something that lives in a device's memory is.
type Kind = fit.Kind

// The kinds of package fit. Opinions differ whether kernels and the reserved area belong
// to a total of L1, so there are two: Usage.Tracked leaves them out (Kind.Below),
// Usage.WithKernels has them.
const (
	KindCB         = fit.KindCB
	KindDataflow   = fit.KindDataflow
	KindScratchpad = fit.KindScratchpad
	KindL1         = fit.KindL1
	KindL1Small    = fit.KindL1Small
	KindGlobalCB   = fit.KindGlobalCB
	KindService    = fit.KindService
	KindKernel     = fit.KindKernel
	KindReserved   = fit.KindReserved
	KindDRAM       = fit.KindDRAM
	KindTrace      = fit.KindTrace
	KindSystem     = fit.KindSystem

	numL1    = KindReserved + 1
	numKinds = KindSystem + 1
)

// A Mode says how an L1 buffer got its address.
type Mode = fit.Mode

// The modes of package fit.
const (
	Lockstep      = fit.Lockstep
	PerCore       = fit.PerCore
	RangeLockstep = fit.RangeLockstep
)

// Kinds is a set of kinds that lie in L1.
type Kinds uint16

// KindsOf returns the set of the given kinds.
func KindsOf(kinds ...Kind) (s Kinds) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// Has reports whether s has k.
func (s Kinds) Has(k Kind) bool { return s>>k&1 != 0 }

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
