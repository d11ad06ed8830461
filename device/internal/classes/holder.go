package classes

import "github.com/cbl1/cbl1/program"

// A Holder takes ranges on cores: a program, or a buffer, which is counted as
// programs are.
type Holder struct {
	Program  *program.Program  // nil of a buffer
	occupied program.Footprint // also of a program: reading it from there, changes on one core would take 1.1 times as long
	mark                       // of its first group of cores, if it has any; its own mark among programs
	more     []mark            // of the other groups
	Serial   uint64            // given to no other; 0 of a buffer
	Charge   uint64            // bounds its bytes in any total
	differs  bool              // its reserved footprint groups cores otherwise, or takes more on them, than its occupied one
	reach    uint64            // no range of it ends higher, on any core
}

// NewHolder returns a program as a holder without numbers.
func NewHolder(p *program.Program, serial, charge uint64) Holder {
	occupied, reserved := p.Occupied(program.CircularBuffer), p.Reserved(program.CircularBuffer)
	return Holder{
		Program:  p,
		occupied: occupied,
		Serial:   serial,
		Charge:   charge,
		// Reserved contains occupied on every core: equal bytes mean equal ranges. Cores with
		// other sizes are groups of their own in occupied alone.
		differs: occupied.Bytes() != reserved.Bytes() || occupied.NumGroups() != reserved.NumGroups(),
		reach:   reach(reserved),
	}
}

// HolderOf returns a buffer as a holder without numbers.
func HolderOf(takes program.Footprint) *Holder { return &Holder{occupied: takes} }
