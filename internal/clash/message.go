package clash

import (
	"slices"
	"strings"

	"github.com/cbl1/cbl1/l1"
)

// A Message is one message of tt-metal, taken apart.
type Message struct {
	MessageNumbers
	Text  string          // the message on one line, without prefix and suffix
	Cores l1.CoreRangeSet // the cores it names: one rectangle in all releases seen

	// Missing names the fields that the text leaves out, in its order: somebody shortened it, or
	// told it again. They are zero: "program", "cores", "limit", "end", "size", ...
	Missing []string
	read    []string // the names of the fields that the text has

	Line  int64 // where the (first) message starts, from 1
	Count int64 // how often it occurs: 1 from Scan
}

// MessageNumbers holds the kind and the numbers of a Message. Fields that the Kind does not mention are zero.
type MessageNumbers struct {
	Kind Kind
	// What names the buffers: Circular or Dataflow. For KernelConfig it names the type of the cores,
	// "TENSIX" or "ACTIVE_ETH". It is "" for other kinds, which name no buffers.
	What string

	Program    uint64 // the id of the program
	HasProgram bool   // whether the message names one; 0 is an ordinary id

	// Limit is the bound that the buffers had to stay below: the L1 size of a core (Grow), the
	// address of the lowest L1 buffer (Clash) or of the lowest service allocation
	// (ServiceClash), the size of the ring (KernelConfig) or region (TraceRegion).
	Limit uint64
	// End is the address at which the region of the buffers ends (Grow, Clash,
	// ServiceClash).
	End uint64

	Cols, Rows int // the device's compute grid (Grid)

	Address uint64   // where a buffer was to be placed (Append)
	Region  l1.Range // the region that it would cut into (Append), all that there is for pages (PersistentL1)

	Index uint64 // buffer index (IndexReuse)

	// Size is the total size of one buffer (BackingBuffer, PageSize, OutOfMemory, PersistentL1), of
	// a program (KernelConfig), or of all traces (TraceRegion).
	Size  uint64
	Bank  uint64 // bytes per bank of the tensor it lies in (BackingBuffer)
	Whole bool   // Bank is the size of the tensor in all banks: the wording of 2024
	Page  uint64 // page size (PageSize), or alignment (PersistentL1)

	Shortage Shortage // what the allocator says (OutOfMemory)

	Warning bool // a warning: tt-metal went on (BackingBuffer of an older release, UnsafeAllocation)
}

// NumCores returns the number of cores that m names, each once.
func (m Message) NumCores() int { return m.Cores.Cores().Len() }

// Over returns by how many bytes the limit of m is exceeded: End - Limit, for
// Append the bytes between the address and the end of the region, for
// BackingBuffer Size - Bank, for KernelConfig and TraceRegion Size - Limit, for
// PersistentL1 Size less the length of Region, for OutOfMemory the bytes that are missing: of
// a bank, of its free bytes, or of its largest free block. ok is false for kinds without a
// limit, if the text leaves a number out, and if the numbers show no excess, as happens when
// a text was cut or altered.
func (m Message) Over() (over uint64, ok bool) {
	end, limit := m.bounds()
	if m.lacks("end", "limit", "tensor", "address", "start", "stop") || m.lacks("size") && m.Kind != OutOfMemory {
		return 0, false
	}
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
	case KernelConfig, TraceRegion:
		return m.Size, m.Limit
	case PersistentL1:
		return m.Size, m.Region.Len()
	case OutOfMemory:
		need, limit, _ := m.Shortage.bounds()
		return need, limit
	}
	return 0, 0
}

// lacks reports whether the text leaves out one of some fields.
func (m Message) lacks(fields ...string) bool {
	return slices.ContainsFunc(fields, func(field string) bool { return slices.Contains(m.Missing, field) })
}

// key identifies equal messages: all but the spelling of cores and the place in the text.
type key struct {
	MessageNumbers
	cores, missing string
}

func (m Message) key() key {
	return key{m.MessageNumbers, m.Cores.String(), strings.Join(m.Missing, " ")}
}
