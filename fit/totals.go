package fit

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
