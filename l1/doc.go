// Package l1 has the basic types: byte ranges of a core's L1 memory, cores, rectangles of cores,
// sets of cores, and the Spec of a device (grid, L1 size, start of circular buffers, alignments).
//
// # Model
//
// A [Range] is half-open, [Start, End), in bytes. A [Core] has logical coordinates from 0 to 255;
// cores are ordered by x, then y. A [CoreRange] is a rectangle, inclusive at both ends. A
// [CoreRangeSet] is a list of rectangles as a program states them, in order, possibly overlapping;
// a [CoreSet] holds each covered core once, with exact set algebra on bits.
//
// [RangeOf] makes a Range of an address and a size, [NewCoreRangeSet] a set of rectangles,
// [Rect] one of a single rectangle, and [CoreSetOf] the set of some cores. [Tiles] cuts
// sets of cores into [Tile]s, on which each set has all cores or none.
//
// A [Spec] is written by hand, or is one of the [Boards], by function ([N150]) or by name ([Board]).
// [ArchSpec] has the fields that the boards of an [Arch] share. [SmallBytes] is the size of L1_SMALL
// that follows from the figures of a report.
//
// [ParseCore], [ParseCoreRange], [ParseCoreRangeSet] and [ParseArch] read the texts of tt-metal;
// [MustParseCoreRangeSet] is for tests. [Bytes] prints for people and [ParseBytes] reads that. A
// refusal is a [RangeError], [CoreRangeError], [ParseError] or [SpecError] with the offending
// value.
//
// # Invariants and cost
//
// Every type here is an immutable value that may be copied and shared. No
// function keeps a slice of its caller, and only [Merge] changes one. Set algebra costs a few
// machine words per 16x16 block of cores, which is one block on every real board, and less
// between large rectangles, which take no memory of their own.
//
// # Sources
//
// The texts, the order and the merge of rectangles are tt-metal's
// (tt_metal/common/core_coord.cpp); the figures of the boards come from its
// core descriptors and memory maps. All of them can be overridden: a 2x2 grid
// with 64 bytes of L1 is as good as a Blackhole.
package l1
