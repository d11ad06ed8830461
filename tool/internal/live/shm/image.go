package shm

import "math"

// The versions of the layout.
const (
	Version2 = 2
	Version3 = 3 // CB bytes of registered programs
	Version4 = 4 // CB bytes left by dispatches; a word marks the region as ready
)

// Size is the size of a region, in bytes.
const Size = 8576

// How many entries a region has.
const (
	Chips     = 16
	Processes = 64
)

// Where things lie in a region, and in its entries.
const (
	atVersion    = 0
	atActive     = 4
	atUpdated    = 8
	atReferences = 16
	atSerial     = 24
	atASIC       = 32
	atDevice     = 40
	atTotals     = 48
	atChips      = 88
	atProcesses  = 856
	atState      = 8536

	chipSize   = 48
	chipRemote = 4
	chipUsage  = 8

	processSize    = 120
	processUsage   = 8
	processUpdated = 48
	processName    = 56
	nameSize       = 64

	counters = 5
)

// least returns how many bytes of a region of a version mean something.
func least(version uint32) int {
	if version == Version4 {
		return atState + 4
	}
	return atState
}

// The values of the word at atState.
const (
	stateNone     = 0
	stateProgress = 1
	stateReady    = 0x52454459
)

// NoChip is the number in a free entry of a chip.
const NoChip = math.MaxUint32

// Counters are the allocated bytes of each kind.
type Counters struct {
	DRAM, L1, L1Small, Trace, CB uint64
}

func (u *Counters) words() [counters]*uint64 {
	return [...]*uint64{&u.DRAM, &u.L1, &u.L1Small, &u.Trace, &u.CB}
}

// A ChipEntry is an entry for a chip behind a device. The first is the device itself.
type ChipEntry struct {
	ID     uint32 // NoChip in a free entry
	Remote bool
	Counters
}

// A Slot is the slot of a process.
type Slot struct {
	PID int32 // 0: free; -1: on its way to be free
	Counters
	Updated uint64 // when, in nanoseconds; before version 4 of a clock that is not known
	Name    string // at most 63 bytes
}

// An Image is the content of a region.
type Image struct {
	Version    uint32
	Active     uint32 // processes
	Updated    uint64 // when, as in Slot
	References uint32 // processes that are attached; before version 4 some of them may have been killed
	Serial     uint64
	ASIC       uint64
	Device     uint32 // the logical id, of the process that attached last
	Totals     Counters
	Chips      [Chips]ChipEntry
	Processes  [Processes]Slot
}

// Total returns the totals of the device. Before version 4 its CB bytes come from the last writer
// alone, so the sum of the slots replaces them if two processes or more are alive.
func (im *Image) Total(alive func(pid int32) bool) Counters {
	total := im.Totals
	if im.Version >= Version4 {
		return total
	}
	living, sum := 0, uint64(0)
	for _, p := range im.Processes {
		if p.PID > 0 && alive(p.PID) {
			living++
			sum += min(p.CB, math.MaxUint64-sum)
		}
	}
	if living > 1 {
		total.CB = sum
	}
	return total
}
