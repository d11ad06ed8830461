package clash

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// A Message is one message of tt-metal, taken apart.
type Message struct {
	Kind Kind
	// What names the buffers: Circular or Dataflow. For KernelConfig it names the type of the cores,
	// "TENSIX" or "ACTIVE_ETH", and for OutOfMemory the memory: "DRAM", "L1", "L1_SMALL" or "TRACE".
	// It is "" for other kinds, which name no buffers.
	What    string
	Cores   l1.CoreRangeSet // the cores it names: one rectangle in all releases seen
	Warning bool            // tt-metal went on (BackingBuffer of an older release, UnsafeAllocation)
	Whole   bool            // "tensor" is its size in all banks: the wording of 2024 (BackingBuffer)

	// Numbers holds the numbers that the text has, by the names of their fields in forms.go:
	//
	//	program       the id of the program; 0 is an ordinary id
	//	end           the address at which the region of the buffers ends (Grow, Clash, ServiceClash)
	//	limit         the bound that the buffers had to stay below: the L1 size of a core (Grow), the
	//	              address of the lowest L1 buffer (Clash) or of the lowest service allocation
	//	              (ServiceClash), the size of the ring (KernelConfig) or region (TraceRegion), what
	//	              the compiler may use (Compiler), how many buffers a core has (Slots); or the lowest
	//	              address for a buffer (AddressLimit)
	//	cols, rows    the device's compute grid (Grid)
	//	address       where a buffer was to be placed (Append, AddressLimit)
	//	start, stop   the region that it would cut into (Append), all that there is for pages (PersistentL1) or
	//	              buffers (Compiler)
	//	index         buffer index (IndexReuse, Slots)
	//	size          of one buffer, a program (KernelConfig), all traces (TraceRegion), or a function (Compiler)
	//	tensor        bytes per bank of the tensor that the buffer lies in (BackingBuffer)
	//	page          page size (PageSize), or alignment (PersistentL1)
	//
	// The others are of OutOfMemory, and count one bank: a bank of L1 is the part of one core that
	// tensors may use. (tt_metal/impl/allocator/bank_manager.cpp.) Older releases print fewer.
	//
	//	banks         how many there are
	//	need          what the buffer needs, in one piece
	//	bank          the size of a bank
	//	allocated, free
	//	block         the largest piece that is free
	//	dependencies  1: ranges of other allocators of the same L1 were excluded before: of per-core
	//	              buffers or of sub-devices. allocated, free and block count one allocator
	//	placeable     the part of free outside the ranges of others
	//	window        the largest piece of it
	Numbers map[string]uint64

	// Missing names the fields that the text leaves out, in its order: it was shortened, or
	// retold. "program", "cores", "limit", "end", "size", ...
	Missing []string

	Text  string // the message on one line, without prefix and suffix
	Line  int64  // where the (first) message starts, from 1
	Count int64  // how often it occurs: 1 from Scan
}

// NumCores returns the number of cores that m names, each once.
func (m Message) NumCores() int { return m.Cores.Cores().Len() }

// number returns a number of the text, or the "length" of its region.
func (m Message) number(name string) (n uint64, ok bool) {
	if name == "length" {
		return m.Numbers["stop"] - m.Numbers["start"], m.has("start", "stop")
	}
	n, ok = m.Numbers[name]
	return n, ok
}

// has reports whether the text has all of some numbers.
func (m Message) has(names ...string) bool {
	for _, name := range names {
		if _, ok := m.number(name); !ok {
			return false
		}
	}
	return true
}

// lacks reports whether the text leaves out one of some fields.
func (m Message) lacks(fields ...string) bool {
	return slices.ContainsFunc(fields, func(field string) bool { return slices.Contains(m.Missing, field) })
}

// A bound is a number that another one of the same message exceeds.
type bound struct {
	kind           Kind
	number, atMost string // the names of both
	is             string // the name of atMost in a MessageRow
}

// bounds returns the numbers whose difference is the excess. Of several of a kind the first one that
// is exceeded counts.
func bounds() []bound {
	return []bound{
		{Grow, "end", "limit", "l1-size"},
		{Clash, "end", "limit", "lowest-l1-tensor"},
		{ServiceClash, "end", "limit", "lowest-service-allocation"},
		{Append, "stop", "address", ""},
		{BackingBuffer, "size", "tensor", "bank-size"},
		{KernelConfig, "size", "limit", "kernel-config-ring"},
		{TraceRegion, "size", "limit", "trace-region"},
		{PersistentL1, "size", "length", ""},
		{AddressLimit, "limit", "address", ""},
		{Slots, "index", "limit", "slots"},
		{Compiler, "size", "limit", "compiler-capacity"},
		{OutOfMemory, "need", "bank", "bank-size"},
		{OutOfMemory, "need", "placeable", "placeable"},
		{OutOfMemory, "need", "window", "largest-placeable-block"},
		{OutOfMemory, "need", "free", "free"},
		{OutOfMemory, "need", "block", "largest-free-block"},
	}
}

// bound returns the first bound that the numbers of m exceed, or else the last one of its kind.
func (m Message) bound() (b bound, exceeded bool) {
	for _, next := range bounds() {
		if next.kind != m.Kind {
			continue
		}
		if next.atMost == "free" && m.has("placeable") {
			break // free bytes that other allocators hold say nothing
		}
		b = next
		n, has := m.number(b.number)
		most, bounded := m.number(b.atMost)
		if has && bounded && n > most && !m.lacks("start") {
			return b, true
		}
	}
	return b, false
}

// Over returns by how many bytes the limit of m is exceeded: end - limit, for
// Append the bytes between the address and the end of the region, for AddressLimit limit - address, for
// BackingBuffer size - tensor, for KernelConfig, TraceRegion and Compiler size - limit, for
// PersistentL1 size less the length of the region, for OutOfMemory the bytes that are missing: of
// a bank, of its free bytes, or of its largest free block. ok is false for kinds without a
// limit and for Slots, if the text leaves a number out, and if the numbers show no excess, as happens when
// a text was cut or altered.
func (m Message) Over() (over uint64, ok bool) {
	b, ok := m.bound()
	if !ok || m.Kind == Slots { // whose numbers are no bytes
		return 0, false
	}
	n, _ := m.number(b.number)
	most, _ := m.number(b.atMost)
	return n - most, true
}

// key is the same for equal messages: it has all but the spelling of cores and the place in the text.
func (m Message) key() string {
	return fmt.Sprint(m.Kind, " ", m.What, m.Warning, m.Whole, m.Numbers, m.Cores, m.Missing)
}

// A Kind says which of tt-metal's messages a Message is.
type Kind string

// The kinds of messages, by failure.
const (
	Grow          Kind = "grow"           // the buffers of a program end beyond L1
	Clash         Kind = "clash"          // they end above the lowest L1 buffer
	ServiceClash  Kind = "service-clash"  // they end above L1 that a service core has taken
	Grid          Kind = "grid"           // a buffer is on cores outside the compute grid
	Append        Kind = "append"         // a buffer was to start inside what is taken already
	IndexReuse    Kind = "index-reuse"    // a buffer index is used twice on a core
	BackingBuffer Kind = "backing-buffer" // a buffer is larger than the tensor it lies in
	PageSize      Kind = "page-size"      // a size is not a multiple of the page size
	OutOfMemory   Kind = "out-of-memory"  // the allocator has no space for a buffer

	KernelConfig     Kind = "kernel-config"      // a program is larger than the ring that it is sent through
	TraceRegion      Kind = "trace-region"       // traces are larger than the region for them
	UnsafeAllocation Kind = "unsafe-allocation"  // a buffer is allocated while a trace may write there
	PersistentL1     Kind = "persistent-l1"      // there is no space for pages that outlive programs
	PersistentSealed Kind = "persistent-l1-late" // such pages were requested after a program was placed
	AddressLimit     Kind = "address-limit"      // the allocator reached the lowest address for buffers
	Slots            Kind = "slots"              // a buffer has a number that cores do not have
	Compiler         Kind = "compiler"           // tt-mlir's compiler needs more L1 than a core has
)

// What kind of buffers a message is about, in tt-metal's words.
const (
	Circular = "circular"
	Dataflow = "dataflow"
)
