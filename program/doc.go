// Package program turns the circular buffers (CBs) of one program into addresses,
// as tt-metal places them, and into the footprint that a device has to count.
//
// # Model
//
// A [Builder] gathers [CB]s in creation order. [Builder.Build] gives each an
// address for a [l1.Spec]: by tt-metal's rule, or the address it was given. The
// result, a [Program], is immutable and may be registered on any number of
// devices of that Spec.
//
// A [Footprint] says what the program takes: groups of cores that hold identical
// ranges. There are two of them, because upstream's bookkeeping and the truth
// differ as soon as core ranges overlap without being equal:
//
//	CBs:  X 4096 on 0-0..1-0, Y 6144 on 1-0..2-0
//
//	          0-0        1-0        2-0
//	X       [0,4096)   [0,4096)
//	Y                [4096,10240) [4096,10240)
//	occupied  4096      10240       6144     the union of the CBs on the core
//	reserved 10240      10240      10240     what tt-metal charges: both ranges touch 1-0
//
// Global CBs, which live in a tensor or a GlobalCircularBuffer, take no bytes.
//
// # Sources
//
// The rule is ProgramImpl::allocate_circular_buffers and CircularBufferAllocator of
// tt_metal/impl/program/program.cpp; the merge of core ranges is CoreRangeSet's.
//
// # Cost
//
// Build is linear in the sum of the CBs' cores. Reading a Program never writes:
// all methods are safe for concurrent use.
package program
