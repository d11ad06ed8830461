package fit

import (
	"fmt"

	"github.com/cbl1/cbl1/program"
)

// A Kind is the kind of a resident of a device's memory. The kinds up to KindReserved share the L1
// of a core; the others are counted per device.
type Kind uint8

// The kinds that programs bring. They are resident by a dispatch, all others by an
// allocation.
const (
	KindCB         = Kind(program.CircularBuffer)
	KindDataflow   = Kind(program.DataflowBuffer)
	KindScratchpad = Kind(program.Scratchpad)
)

// The kinds that are allocated. Kernels and the reserved area lie below the circular
// buffers, everything else in L1 above them.
const (
	KindL1       Kind = KindScratchpad + 1 + iota // L1 buffers, that is tensors
	KindL1Small                                   // buffers in the L1_SMALL area at the very top
	KindGlobalCB                                  // the L1 buffers of a GlobalCircularBuffer
	KindService                                   // of ServiceCoreManager, on cores it has claimed
	KindKernel                                    // kernel code, arguments, semaphores: the kernel-config ring
	KindReserved                                  // mailboxes, firmware, fabric tables
	KindDRAM                                      // not in L1, as all that follow
	KindTrace                                     // the DRAM region of command traces
	KindSystem                                    // host memory
	numKinds

	numL1 = KindReserved + 1
)

// InL1 reports whether things of this kind lie in the L1 of cores.
func (k Kind) InL1() bool { return k < numL1 }

// Below reports whether things of this kind lie below the circular buffers: kernels and the
// reserved area. Totals of tracked bytes leave them out.
func (k Kind) Below() bool { return k == KindKernel || k == KindReserved }

// tensor reports whether tt-metal's checks compare circular buffers with buffers of this kind.
func (k Kind) tensor() bool { return k == KindL1 || k == KindGlobalCB }

// String returns the kind in words, like "L1 buffer".
func (k Kind) String() string { return k.texts()[0] }

// Name returns the kind as data spells it: "cb", "dataflow", "scratchpad", "l1",
// "l1_small", "global_cb", "service", "kernel", "reserved", "dram", "trace" or "system".
func (k Kind) Name() string { return k.texts()[1] }

// MarshalText returns Name: the spelling of JSON.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.Name()), nil }

// UnmarshalText reads a Name.
func (k *Kind) UnmarshalText(text []byte) error {
	for *k = 0; *k < numKinds; *k++ {
		if k.Name() == string(text) {
			return nil
		}
	}
	return fmt.Errorf("%.40q is no kind of buffer", text)
}

// texts returns the kind in words and as data spells it.
func (k Kind) texts() [2]string {
	all := [numKinds][2]string{
		{"circular buffer", "cb"}, {"dataflow buffer", "dataflow"}, {"scratchpad", "scratchpad"},
		{"L1 buffer", "l1"}, {"L1_SMALL buffer", "l1_small"}, {"global CB buffer", "global_cb"}, {"service buffer", "service"},
		{"kernel", "kernel"}, {"reserved area", "reserved"},
		{"DRAM buffer", "dram"}, {"trace buffer", "trace"}, {"system buffer", "system"},
	}
	if k < numKinds {
		return all[k]
	}
	text := fmt.Sprintf("Kind(%d)", uint8(k))
	return [2]string{text, text}
}
