package model

// Totals is one row of figures of a device or mesh, in bytes summed over cores.
type Totals struct {
	Registered  uint64 // bytes that some registered program occupies
	Reserved    uint64 // bytes that tt-metal's bookkeeping charges
	Logical     uint64 // plain sum of CB size times cores
	Core        uint64 // Registered on the fullest core
	Resident    uint64 // bytes that the last dispatch to each core left
	Tracked     uint64 // what lies in L1, each byte once, but for kernels and the reserved area
	TrackedCore uint64 // Tracked on the fullest core
	Programs    int    // registered programs; on a mesh the sum over its devices
	Buffers     BufferTotals
	Peak        Peaks
}

// BufferTotals are the live buffers of a device or mesh: bytes are sums of their sizes.
type BufferTotals struct {
	Count                            int // without backing ones
	L1, L1Small, DRAM, Trace, System uint64
	Kernels                          uint64 // and the reserved area
	Backings                         int
	Backing                          uint64 // bytes of those, of any kind
}

func (t *BufferTotals) add(o BufferTotals) {
	t.Count += o.Count
	t.L1 += o.L1
	t.L1Small += o.L1Small
	t.DRAM += o.DRAM
	t.Trace += o.Trace
	t.System += o.System
	t.Kernels += o.Kernels
	t.Backings += o.Backings
	t.Backing += o.Backing
}

// Peaks are the largest values that any completed operation left, since the device
// was added or its peaks were reset.
type Peaks struct {
	Registered, Reserved, Logical, Core, Resident uint64

	Tracked, TrackedCore uint64
	L1, L1Small, DRAM    uint64
}

// CoreTotals are the figures of one core, in bytes.
type CoreTotals struct {
	Registered uint64
	Reserved   uint64
	Logical    uint64
	Programs   int    // registered programs that occupy a byte of the core
	Resident   uint64 // what the last dispatch to the core left
	Tracked    uint64 // without kernels and the reserved area
	Peak       uint64 // of Registered
}

func (p *Peaks) raise(t Totals) {
	p.Registered = max(p.Registered, t.Registered)
	p.Reserved = max(p.Reserved, t.Reserved)
	p.Logical = max(p.Logical, t.Logical)
	p.Core = max(p.Core, t.Core)
	p.Resident = max(p.Resident, t.Resident)
	p.Tracked = max(p.Tracked, t.Tracked)
	p.TrackedCore = max(p.TrackedCore, t.TrackedCore)
	p.L1 = max(p.L1, t.Buffers.L1)
	p.L1Small = max(p.L1Small, t.Buffers.L1Small)
	p.DRAM = max(p.DRAM, t.Buffers.DRAM)
}

// A Kind is the kind of a resident of the memory of a device, in words.
type Kind string

// The kinds. The first three are brought by programs and are resident by their
// dispatch, all others are buffers.
const (
	CB         Kind = "circular buffer"
	Dataflow   Kind = "dataflow buffer"
	Scratchpad Kind = "scratchpad"
	L1         Kind = "L1 buffer"
	L1Small    Kind = "L1_SMALL buffer"
	GlobalCB   Kind = "global CB buffer"
	Service    Kind = "service buffer"
	Kernel     Kind = "kernel"
	Reserved   Kind = "reserved area"
	DRAM       Kind = "DRAM buffer"
	Trace      Kind = "trace buffer"
	System     Kind = "system buffer"
)

// Kinds returns all kinds: first the kinds that lie in L1.
func Kinds() []Kind {
	return []Kind{CB, Dataflow, Scratchpad, L1, L1Small, GlobalCB, Service, Kernel, Reserved, DRAM, Trace, System}
}

// InL1 reports whether things of this kind lie in the L1 of cores.
func (k Kind) InL1() bool {
	switch k {
	case CB, Dataflow, Scratchpad, L1, L1Small, GlobalCB, Service, Kernel, Reserved:
		return true
	}
	return false
}

// allocated reports whether there are buffers of this kind.
func (k Kind) allocated() bool {
	switch k {
	case L1, L1Small, GlobalCB, Service, Kernel, Reserved, DRAM, Trace, System:
		return true
	}
	return false
}

// tracked reports whether the kind counts in Totals.Tracked.
func (k Kind) tracked() bool { return k.InL1() && k != Kernel && k != Reserved }
