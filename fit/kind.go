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

// BufferTotals are the live buffers of a device, or of all devices of a mesh: bytes
// are sums of Buffer.Size, as an allocator counts them.
type BufferTotals struct {
	Count    int    // live buffers; backing ones are not among them
	L1       uint64 // L1 buffers, including GlobalCircularBuffers and service cores
	L1Small  uint64
	DRAM     uint64
	Trace    uint64
	System   uint64
	Kernels  uint64 // kernels and the reserved area
	Backings int    // allocations that back a mesh buffer
	Backing  uint64 // their bytes, of any kind
}

// Add counts n buffers that were allocated, each like b. Add of -n takes them back.
func (t *BufferTotals) Add(b *Buffer, n int) {
	count, bytes := &t.Count, &t.L1
	switch {
	case b.Backing:
		count, bytes = &t.Backings, &t.Backing
	case b.Kind == KindDRAM:
		bytes = &t.DRAM
	case b.Kind == KindTrace:
		bytes = &t.Trace
	case b.Kind == KindSystem:
		bytes = &t.System
	case b.Kind == KindL1Small:
		bytes = &t.L1Small
	case b.Kind.Below():
		bytes = &t.Kernels
	}
	*count += n
	*bytes += uint64(n) * b.Size // as in Move
}

// Move adds the difference between two figures of a device to a sum over devices, for n devices that
// are alike.
func (t *BufferTotals) Move(from, to BufferTotals, n int) {
	// Unsigned differences wrap and come back: the sums themselves are below 2^63.
	k := uint64(n)
	t.Count += n * (to.Count - from.Count)
	t.L1 += k * (to.L1 - from.L1)
	t.L1Small += k * (to.L1Small - from.L1Small)
	t.DRAM += k * (to.DRAM - from.DRAM)
	t.Trace += k * (to.Trace - from.Trace)
	t.System += k * (to.System - from.System)
	t.Kernels += k * (to.Kernels - from.Kernels)
	t.Backings += n * (to.Backings - from.Backings)
	t.Backing += k * (to.Backing - from.Backing)
}
