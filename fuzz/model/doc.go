// Package model is an oracle for code that counts the circular buffers (CBs) of programs on
// devices: slow, and too simple to be wrong in the same way.
//
// # Model
//
// A [Fleet] has the operations of a fleet of devices in plain types. It keeps the registrations of
// each device and high-water marks alone: every query counts byte by byte.
//
//	P1 [2,5) [8,9)    ..###...#
//	P2 [4,7)          ....###..     registered  6: bytes with a holder
//	                  ..#####.#     logical     7: the sizes of the CBs
//
// The occupied bytes of a program are painted from its CBs and their core ranges, never from the
// footprint of package program. Its reserved bytes, and the places of its CBs, follow tt-metal's
// rule word by word ([Place]).
//
// The residues of the last dispatches are kept core by core and kind by kind, and so are the
// buffers, which are painted at allocation. A program is judged by the bytes of each core, and by
// tt-metal's rules: the ends of the ranges in its bookkeeping against the lowest buffer.
//
// A [Counter] is the same oracle for one core.
//
// # Errors
//
// A refused call changes nothing. Its error matches, with errors.Is, the sentinel of
// every complaint that applies; an implementation may name any of them, see [SameError].
//
// # Limits
//
// Time and memory follow the number of bytes: meant for toy devices, such as a grid
// of 4x3 cores with 64 to 256 bytes of L1.
//
// # Concurrency
//
// None: a model is used by one goroutine.
package model
