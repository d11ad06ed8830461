package wire

import "github.com/cbl1/cbl1/fit"

// Sums are the figures of one device, in bytes: sums over its live lots. The figures of CBs are
// the totals of the protocol: sums of sizes, even if CBs share bytes. They never wrap: a record
// that would raise their sum beyond 2^63-1 is refused.
type Sums struct {
	fit.BufferTotals     // of buffers and kernels, without shared buffers
	Loaded           int // kernels among them
	CBs              int
	CB               uint64
}

// Buffers returns the number of buffers, without backing and shared ones.
func (t Sums) Buffers() int { return t.Count - t.Loaded }

// BufferBytes returns the bytes of these buffers.
func (t Sums) BufferBytes() uint64 { return t.DRAM + t.L1 + t.System + t.L1Small + t.Trace }

// all bounds every sum of the device.
func (t Sums) all() uint64 { return t.BufferBytes() + t.Backing + t.CB + t.Kernels }

// sum returns the total of the lots that records of a type bring.
func (t Sums) sum(brings Type) uint64 {
	switch brings {
	case TypeCBAlloc:
		return t.CB
	case TypeKernelLoad:
		return t.Kernels
	}
	return t.BufferBytes()
}

// Split returns the figures of buffers, and the figures of CBs and kernels.
func (t Sums) Split() (buffers, programs Sums) {
	programs = Sums{BufferTotals: fit.BufferTotals{Count: t.Loaded, Kernels: t.Kernels}, Loaded: t.Loaded, CBs: t.CBs, CB: t.CB}
	buffers.BufferTotals = t.BufferTotals
	buffers.Count, buffers.Kernels = t.Buffers(), 0
	return buffers, programs
}

// Merge adds the figures of another process.
func (t *Sums) Merge(other Sums) {
	t.Move(fit.BufferTotals{}, other.BufferTotals, 1)
	t.Loaded, t.CBs, t.CB = t.Loaded+other.Loaded, t.CBs+other.CBs, t.CB+other.CB
}

// move counts a lot that comes, n = 1, or goes, n = -1.
func (t *Sums) move(lot *Lot, n int) {
	switch {
	case lot.Type == TypeCBAlloc:
		t.CBs += n
		t.CB += uint64(n) * lot.Size
		return
	case lot.Type == TypeKernelLoad:
		t.Loaded += n
	case lot.Shared:
		return
	}
	t.Add(&fit.Buffer{Kind: kindOf(lot), Size: lot.Size, Backing: lot.Backing}, n)
}
