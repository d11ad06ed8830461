package model

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
