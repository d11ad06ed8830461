package wire

// KernelKinds is the number of kinds of kernels: application, fabric, dispatch, and all others.
const KernelKinds = 4

// Totals are the figures of one device, in bytes: sums over its live lots. The figures of CBs are
// the totals of the protocol: sums of sizes, even if CBs share bytes. They never wrap: a record
// that would raise their sum beyond 2^63-1 is refused.
type Totals struct {
	Buffers                          int // without backing and shared ones
	DRAM, L1, System, L1Small, Trace uint64

	Backings int // allocations that back buffers of a mesh
	Backing  uint64

	CBs     int
	CB      uint64
	Kernels int
	Kernel  [KernelKinds]uint64
}

// KernelBytes returns the bytes of all kernels.
func (t Totals) KernelBytes() (n uint64) {
	for _, k := range t.Kernel {
		n += k
	}
	return n
}

// BufferBytes returns the bytes of all buffers.
func (t Totals) BufferBytes() uint64 { return t.DRAM + t.L1 + t.System + t.L1Small + t.Trace }

// all bounds every sum of the device.
func (t Totals) all() uint64 { return t.BufferBytes() + t.Backing + t.CB + t.KernelBytes() }

// sum returns the total of the lots that records of a type bring.
func (t Totals) sum(brings Type) uint64 {
	switch brings {
	case TypeCBAlloc:
		return t.CB
	case TypeKernelLoad:
		return t.KernelBytes()
	}
	return t.BufferBytes()
}

// move counts a lot that comes or goes.
func (t *Totals) move(lot *Lot, comes bool) {
	count, bytes := t.of(lot)
	if bytes == nil {
		return
	}
	if comes {
		*count, *bytes = *count+1, *bytes+lot.Size
	} else {
		*count, *bytes = *count-1, *bytes-lot.Size
	}
}

// of returns the figures in which a lot counts, nil if it counts in none.
func (t *Totals) of(lot *Lot) (count *int, bytes *uint64) {
	switch {
	case lot.Type == TypeCBAlloc:
		return &t.CBs, &t.CB
	case lot.Type == TypeKernelLoad:
		return &t.Kernels, &t.Kernel[min(lot.Kind, KernelKinds-1)]
	case lot.Shared:
		return nil, nil
	case lot.Backing:
		return &t.Backings, &t.Backing
	}
	return &t.Buffers, [...]*uint64{&t.DRAM, &t.L1, &t.System, &t.L1Small, &t.Trace}[lot.Kind]
}
