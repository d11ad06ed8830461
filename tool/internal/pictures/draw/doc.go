// Package draw makes pictures of L1: as text for a terminal, and as SVG.
//
// A [ShadedGrid] is the cores of a device, shaded by the bytes that each [Shade] of them holds. A
// [Column] is the address map of one core: each [Block] by its addresses, with its [Fill], free
// bytes between them, and bytes that two hold, which may be a clash. Both are a [Picture]. A
// [Style] describes the abilities of a terminal; [Terminal] makes one from the environment. [SVG]
// puts pictures below each other in one file, for light and dark pages, without a script.
//
// # Model
//
// Pictures are values made of rows that the caller has computed. Only shares of fullness are
// computed here. Names are made visible and cut; in SVG they are escaped.
//
// # Cost
//
// A ShadedGrid costs O(cells): at most 256x256, joined where they are too many for the width. A Column
// costs O(n log n) for n blocks that do not overlap; of more than 4,096 the smallest are left out,
// and counted in a line.
//
// # Concurrency
//
// There is no state.
package draw
