// Package draw makes pictures of L1: as text for a terminal, and as SVG.
//
// A [Grid] is the cores of a device, shaded by the bytes that each [Shade] of them holds. A
// [Column] is the address map of one core: each [Block] by its addresses, with its [Fill], free bytes between
// them, and bytes that two hold, which may be a clash. Both are a [Picture]. A [Style] says what
// a terminal can show; [Terminal] makes one from what its environment says. [SVG] puts pictures
// below each other in one file, for light and dark pages, without a script.
//
// # Model
//
// Pictures are values of rows that somebody else has computed. Nothing is added up here but
// shares of what is full. Names are made visible and cut; in SVG they are escaped.
//
// # Cost
//
// A Grid costs what its cells cost: at most 256x256, joined where they are too many for
// the width. A Column costs O(n log n) for n blocks that do not overlap; of more than 4,096 the
// smallest are left out, and said.
//
// # Concurrency
//
// There is no state.
package draw
