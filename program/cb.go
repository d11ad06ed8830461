package program

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// An ID names a program. Any number is an ordinary id, 0 included.
type ID uint64

// A Kind is the kind of a CB. The zero Kind is a circular buffer. Dataflow buffers and scratchpads
// are placed with each other but not with circular buffers, and each kind is counted on its own. A
// program may not have circular buffers and dataflow buffers; one with circular buffers and
// scratchpads is placed as if each of the two had the cores to itself, and shared bytes are an
// Overlap.
type Kind uint8

// Circular buffers, and the buffers of "Metal 2.0" programs in their place.
const (
	CircularBuffer Kind = iota
	DataflowBuffer      // placed as circular buffers are, in a bookkeeping of its own
	Scratchpad          // placed above the program's dataflow buffers, whenever it was created
	numKinds
)

// String returns "circular buffer", "dataflow buffer" or "scratchpad".
func (k Kind) String() string {
	switch k {
	case CircularBuffer:
		return "circular buffer"
	case DataflowBuffer:
		return "dataflow buffer"
	case Scratchpad:
		return "scratchpad"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// An Index is one buffer index of a CB. Several indices of one CB share its bytes.
type Index struct {
	Number   int    // 0 to 63 on Blackhole, 0 to 31 before
	PageSize uint64 // bytes; 0 = not set
}

// A CB is a circular buffer as a program states it, or by its Kind a dataflow
// buffer or a scratchpad: one size and one address on all cores of a set.
type CB struct {
	Kind    Kind
	Cores   l1.CoreRangeSet
	Size    uint64  // bytes on each core
	Indices []Index // may be nil where only the bytes matter

	// Global CBs are backed by an L1 tensor or a GlobalCircularBuffer ("borrowed"
	// for dataflow buffers): they take no bytes of their own.
	Global bool

	// Address is where the CB starts if Fixed is set: given by a capture or by a
	// simulator that places for itself; for a global CB the address of its backing.
	// Without Fixed, Address is ignored: Build places a local CB and leaves a global
	// one unknown.
	Address uint64
	Fixed   bool

	// Alias groups dataflow buffers that share one address: they have the same number other than 0.
	// They must agree in Size, Global, Fixed and (if Fixed) Address. The address is found where the
	// first of them is created, and is taken on the cores of all of them from then on.
	Alias int
}

// A PlacedCB is a CB of a built program with its place. Its CB has the Address found,
// and may be given to another Builder: without Fixed it is placed anew.
type PlacedCB struct {
	CB
	Range l1.Range   // bytes on each core; empty if unknown or of size 0
	Known bool       // false only for a global CB without an address
	On    l1.CoreSet // the cores of CB.Cores
}

// Builder gathers the CBs of a program in creation order, which decides their
// addresses. The zero Builder builds program 0. A Builder must not be copied after
// its first CB.
type Builder struct {
	id      ID
	name    string
	cbs     []CB
	written bool
	bases   []Base
	wrong   map[int]error // CB -> the *l1.RangeError of its range
}

// NewBuilder returns a Builder for the program with the given id.
func NewBuilder(id ID) *Builder { return &Builder{id: id} }

// Name gives the program a name for people, as an operation or a kernel has one, and
// returns b. Any text is one; "" is none. Errors and reports show it beside the id.
func (b *Builder) Name(name string) *Builder {
	b.name = name
	return b
}

// AsWritten makes Build place by core ranges as the CBs state them, and returns b. Without it,
// Build re-cuts each set of two or more rectangles by [l1.CoreRangeSet.Merge] first. It counts for
// all CBs of the program, including CBs appended before it.
//
// tt-metal does both. CreateCircularBuffer merges. A program made from a ProgramDescriptor, as most
// newer ttnn operations are, keeps descriptor.core_ranges as they are
// (tt_metal/impl/program/program.cpp), and graph captures show these ranges. The addresses differ
// where a CB names the ranges of others side by side:
//
//	CB 0 {[0-0 - 0-0]}   CB 1 {[1-0 - 1-0]}   CB 2 {[0-0 - 0-0], [1-0 - 1-0]}
//
//	merged      CB 2 is on [0-0 - 1-0], a range of its own, which CB 0 marked first:
//	            it starts above CB 0, on the bytes of CB 1 if that is the larger one
//	as written  CB 2 is on the ranges of CB 0 and CB 1: it starts above both
//
// Rectangles of one set that share cores, which tt-metal refuses, are charged each for
// itself, and one that is repeated counts once.
func (b *Builder) AsWritten() *Builder {
	b.written = true
	return b
}

// Grow makes room for n more CBs, and returns b.
func (b *Builder) Grow(n int) *Builder {
	b.cbs = slices.Grow(b.cbs, n)
	return b
}

// CB appends a CB and returns b. Mistakes in it are reported by Build.
func (b *Builder) CB(cb CB) *Builder {
	cb.Indices = slices.Clone(cb.Indices)
	b.cbs = append(b.cbs, cb)
	return b
}

// Range appends a local circular buffer at given addresses: the form for
// simulators that place for themselves. An empty range takes nothing. One that is
// inverted or ends beyond l1.MaxAddr is reported by Build, as an *Error that wraps the
// *l1.RangeError.
func (b *Builder) Range(cores l1.CoreRangeSet, r l1.Range) *Builder {
	if err := r.Check(); err != nil {
		if b.wrong == nil {
			b.wrong = map[int]error{}
		}
		b.wrong[len(b.cbs)] = err
		r = l1.Range{}
	}
	return b.CB(CB{Cores: cores, Size: r.Len(), Address: r.Start, Fixed: true})
}

// Place returns the program of the given CBs. CBs without an address get one by tt-metal's rule:
// [Builder] and [Builder.Build] in one call. The name may be "". Errors are *BuildError.
func Place(id ID, name string, spec l1.Spec, cbs ...CB) (*Program, error) {
	b := NewBuilder(id).Name(name)
	for _, cb := range cbs {
		b.CB(cb)
	}
	return b.Build(spec)
}
