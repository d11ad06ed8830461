package clash

import (
	"github.com/cbl1/cbl1/l1"
)

// A Message is one message of tt-metal, taken apart. Fields that its Kind does not
// mention are zero.
type Message struct {
	Kind Kind
	What string // Circular or Dataflow; "" of OutOfMemory
	Text string // the message on one line, without prefix and suffix

	Program    uint64 // the id of the program
	HasProgram bool   // whether the message names one; 0 is an ordinary id

	Cores l1.CoreRangeSet // the cores it names: one rectangle in all releases seen

	// Limit is what the buffers had to stay below: the L1 size of a core (Grow), the
	// address of the lowest L1 buffer (Clash) or of the lowest service allocation
	// (ServiceClash).
	Limit uint64
	// End is the address at which the region of the buffers ends (Grow, Clash,
	// ServiceClash).
	End uint64

	Cols, Rows int // the device's compute grid (Grid)

	Address uint64   // where a buffer was to be placed (Append)
	Region  l1.Range // the region that it would cut into (Append)

	Index uint64 // buffer index (IndexReuse)

	Size uint64 // total size of one buffer (BackingBuffer, PageSize, OutOfMemory)
	Bank uint64 // bytes per bank of the tensor it lies in (BackingBuffer)
	Page uint64 // page size (PageSize)

	Shortage Shortage // what the allocator says (OutOfMemory)

	Warning bool // an older release's warning: tt-metal went on (BackingBuffer)

	Line  int64 // where the (first) message starts, from 1
	Count int64 // how often it occurs: 1 from Scan
}

// NumCores returns the number of cores that m names, each once.
func (m Message) NumCores() int { return m.Cores.Cores().Len() }

// Over returns by how many bytes the limit of m is exceeded: End - Limit, for
// Append the bytes between the address and the end of the region, for
// BackingBuffer Size - Bank, for OutOfMemory what a bank, what is free of it, or its largest free
// block has too little. ok is false for kinds without a limit, and if the
// numbers show no excess, as happens when a text was cut or altered.
func (m Message) Over() (over uint64, ok bool) {
	end, limit := m.bounds()
	if end <= limit {
		return 0, false
	}
	return end - limit, true
}

// bounds returns the two numbers whose difference is the excess.
func (m Message) bounds() (end, limit uint64) {
	switch m.Kind {
	case Grow, Clash, ServiceClash:
		return m.End, m.Limit
	case Append:
		return m.Region.End, m.Address
	case BackingBuffer:
		return m.Size, m.Bank
	case OutOfMemory:
		return m.Shortage.bounds()
	}
	return 0, 0
}

// key is what makes two messages the same: everything but the spelling of cores
// and where they stand.
type key struct {
	kind                   Kind
	what                   string
	program                uint64
	hasProgram             bool
	cores                  string
	limit, end             uint64
	cols, rows             int
	address                uint64
	region                 l1.Range
	index, size, bank, pag uint64
	shortage               Shortage
	warning                bool
}

func (m Message) key() key {
	return key{
		m.Kind, m.What, m.Program, m.HasProgram, m.Cores.String(), m.Limit, m.End, m.Cols, m.Rows,
		m.Address, m.Region, m.Index, m.Size, m.Bank, m.Page, m.Shortage, m.Warning,
	}
}
