package model

// Totals is one row of figures of a device or mesh, in bytes summed over cores.
type Totals struct {
	Registered uint64 // bytes that some registered program occupies
	Reserved   uint64 // bytes that tt-metal's bookkeeping charges
	Logical    uint64 // plain sum of CB size times cores
	Core       uint64 // Registered on the fullest core
	Resident   uint64 // bytes that the last dispatch to each core left
	Programs   int    // registered programs; on a mesh the sum over its devices
	Peak       Peaks
}

// Peaks are the largest values that any completed operation left, since the device
// was added or its peaks were reset.
type Peaks struct {
	Registered, Reserved, Logical, Core, Resident uint64
}

// CoreTotals are the figures of one core, in bytes.
type CoreTotals struct {
	Registered uint64
	Reserved   uint64
	Logical    uint64
	Programs   int    // registered programs that occupy a byte of the core
	Resident   uint64 // what the last dispatch to the core left
	Peak       uint64 // of Registered
}

func (p *Peaks) raise(t Totals) {
	p.Registered = max(p.Registered, t.Registered)
	p.Reserved = max(p.Reserved, t.Reserved)
	p.Logical = max(p.Logical, t.Logical)
	p.Core = max(p.Core, t.Core)
	p.Resident = max(p.Resident, t.Resident)
}
