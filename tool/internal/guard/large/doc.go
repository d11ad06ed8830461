// Package large makes graph captures of any size, for measurements: a file of 6 GB is
// written in constant memory. The same [Plan] is the same bytes each time. A [Graph] is for
// captures that are written node by node.
//
// # Model
//
// A capture is a row of operations. Each frees the circular buffers of the mesh, places the buffers
// of its program on every chip and, unless the capture is bare, executes it. With buffers it
// first allocates one in L1, and frees the one that it allocated Live operations ago. Programs come
// in turn: program 0, 1, ... and 0 again.
//
// The part of a report outside the graph is a list of pages of buffers, which only a viewer reads.
//
// # Invariants
//
// Every program fits on a Wormhole beside every buffer, so the right answer for a capture is known:
// it fits, and has so many runs.
//
// # Cost
//
// Some hundred bytes of memory for each chip, and 64 KiB.
//
// # Concurrency
//
// A Plan is a value; each call of Write stands alone.
package large
