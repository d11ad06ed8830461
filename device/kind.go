package device

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/program"
)

// A Kind says what something that lives in a device's memory is. The kinds up to
// Reserved share the L1 of a core; those after it are counted per device.
type Kind uint8

// The kinds. What a program brings (the first three) is resident by its dispatch,
// everything else by Allocate. Kernels and the reserved area lie below the circular
// buffers; opinions differ whether they belong to a total of L1, so there are two:
// Usage.Tracked leaves them out, Usage.WithKernels has them.
const (
	CB         = Kind(program.CircularBuffer)
	Dataflow   = Kind(program.DataflowBuffer)
	Scratchpad = Kind(program.Scratchpad)
)

// What is allocated.
const (
	L1       Kind = Scratchpad + 1 + iota // L1 buffers, that is tensors
	L1Small                               // buffers in the L1_SMALL area at the very top
	GlobalCB                              // the L1 buffers of a GlobalCircularBuffer
	Service                               // of ServiceCoreManager, on cores it has claimed
	Kernel                                // kernel code, arguments, semaphores: the kernel-config ring
	Reserved                              // mailboxes, firmware, fabric tables
	DRAM                                  // not in L1, as all that follow
	Trace                                 // the DRAM region of command traces
	System                                // host memory
	numKinds

	numL1 = Reserved + 1
)

// InL1 reports whether things of this kind lie in the L1 of cores.
func (k Kind) InL1() bool { return k < numL1 }

// String returns the kind in words, like "L1 buffer".
func (k Kind) String() string {
	switch k {
	case CB, Dataflow, Scratchpad:
		return program.Kind(k).String()
	case L1:
		return "L1 buffer"
	case L1Small:
		return "L1_SMALL buffer"
	case GlobalCB:
		return "global CB buffer"
	case Service:
		return "service buffer"
	case Kernel:
		return "kernel"
	case Reserved:
		return "reserved area"
	case DRAM:
		return "DRAM buffer"
	case Trace:
		return "trace buffer"
	case System:
		return "system buffer"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Name returns the kind as data spells it: "cb", "dataflow", "scratchpad", "l1",
// "l1_small", "global_cb", "service", "kernel", "reserved", "dram", "trace" or "system".
func (k Kind) Name() string {
	names := [numKinds]string{
		"cb", "dataflow", "scratchpad", "l1", "l1_small", "global_cb", "service", "kernel", "reserved", "dram", "trace", "system",
	}
	if k < numKinds {
		return names[k]
	}
	return k.String()
}

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

// below are the kinds that Tracked leaves out.
const below = Kinds(1<<Kernel | 1<<Reserved)
