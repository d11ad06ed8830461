package device

// Totals is one consistent row of figures, in bytes summed over the cores of a
// device, or over all devices of a mesh.
type Totals struct {
	Registered uint64 // physical: union of the registered programs' CBs per core ("occupied")
	Reserved   uint64 // union of what tt-metal's bookkeeping charges
	Logical    uint64 // plain sum of CB size times cores
	Core       uint64 // Registered on the fullest core
	Programs   int    // live programs; on a mesh, the sum over its devices
	Peak       Peaks
}

// Peaks are high-water marks: the largest value that any completed operation left,
// since the device was added or its peaks were reset.
type Peaks struct {
	Registered, Reserved, Logical, Core uint64
}

func (p *Peaks) raise(t Totals) {
	p.Registered = max(p.Registered, t.Registered)
	p.Reserved = max(p.Reserved, t.Reserved)
	p.Logical = max(p.Logical, t.Logical)
	p.Core = max(p.Core, t.Core)
}

// CoreTotals are the figures of one core, in bytes.
type CoreTotals struct {
	Registered uint64
	Reserved   uint64
	Logical    uint64
	Programs   int    // live programs with a local CB on the core
	Peak       uint64 // high-water mark of Registered
}
