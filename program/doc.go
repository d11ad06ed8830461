// Package program turns the circular buffers (CBs) of one program into addresses,
// as tt-metal places them, and into the footprint that a device has to count.
//
// # Model
//
// A [Builder] gathers [CB]s in creation order. [Builder.Build] gives each an
// address for a [l1.Spec]: by tt-metal's rule, or the address it was given. The
// result, a [Program], may be registered on any number of devices of that Spec. [Place]
// does both in one call, and [NewBuilder] names the program. A program is known by its
// [ID]; its name is for people. [Program.CBs] are its placed CBs ([PlacedCB]); each has a [Kind] and,
// by [Index], its pages. [Builder.Base] lifts CBs above pages that outlive programs.
//
// A [Footprint] holds the ranges of a program: [Group]s of cores with identical ranges. A program
// has two, because upstream's bookkeeping and the truth differ as soon as core ranges overlap
// without being equal:
//
//	CBs:  X 4096 on 0-0..1-0, Y 6144 on 1-0..2-0
//
//	            0-0          1-0          2-0
//	X        [0,4096)     [0,4096)
//	Y                  [4096,10240) [4096,10240)
//	occupied   4096         10240        6144     the union of the CBs on the core
//	reserved  10240         10240       10240     charged by tt-metal: both ranges touch 1-0
//
// Physical bytes are the occupied ones. Logical bytes are the plain sum of the sizes over the same
// cores. [FootprintOf] returns the footprint of plain ranges. An [Entry] is a core range with the
// end of its last region, as tt-metal compares it with L1. Global CBs, which live in a tensor or a
// GlobalCircularBuffer, take no bytes.
//
// Build refuses values that it cannot count, with one [BuildError] that holds an [Error] for each:
// a size or an end beyond 2^63-1, an inverted range, a [Base] outside L1 or the grid, or sums
// beyond 2^63-1. Odd programs (CBs on the same bytes, cores outside the grid, an end beyond L1) are
// counted, and each oddity is a [Finding] with a [Code].
//
// # Invariants
//
// A Program never changes and shares no memory that a caller can write. On every
// core occupied lies within reserved, and physical is at most logical.
//
// # Cost
//
// Most programs name one to three core range sets, however many CBs they have: work on each core is
// done once per set. A usual program is built in 29 allocations and takes 0.8 KiB. Beyond that,
// Build is linear in the CBs, but each CB visits every core range of the program. Readers copy
// nothing but buffer indices.
//
// # Concurrency
//
// Reading a Program never writes: all its methods are safe for concurrent use. A
// Builder is for one goroutine.
//
// # Sources
//
// The rule is ProgramImpl::allocate_circular_buffers and CircularBufferAllocator of
// tt_metal/impl/program/program.cpp; the merge of core ranges is CoreRangeSet's. Programs made from
// a ProgramDescriptor are not merged: [Builder.AsWritten]. Two choices are our own: an address
// below the base of the Spec is counted like any other, and an alias group is placed as one buffer.
package program
