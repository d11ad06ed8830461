// Package model is an oracle for whatever counts the circular buffers (CBs) of
// programs on devices: slow, and too simple to be wrong in the same way.
//
// # Model
//
// A [Fleet] has the operations of a fleet of devices in plain types. It keeps who is
// registered where, and nothing else but high-water marks: every figure is counted
// byte by byte when it is asked for.
//
//	P1 [2,5) [8,9)    ..###...#
//	P2 [4,7)          ....###..     registered  6: bytes that anybody has
//	                  ..#####.#     logical     7: the sizes of the CBs
//
// What a program occupies is painted from its CBs and their core ranges, never from
// the footprint that package program computes. What it reserves, and where its CBs
// belong, is tt-metal's rule read aloud ([Place]).
//
// What the last dispatches left is kept core by core and kind by kind, and so are the
// buffers, which are painted when they are allocated. Whether a program fits is read off
// the bytes of each core, and off tt-metal's rules: the ends of the ranges in its
// bookkeeping against the lowest buffer.
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
// of 4x3 cores with 64 to 256 bytes of L1. Alias groups of dataflow buffers are
// painted, but Place knows nothing of them.
//
// # Concurrency
//
// None: a model is used by one goroutine.
package model
