// Package capture reads what users have: ttnn graph captures, in every dialect
// that was ever written.
//
// # Model
//
// A capture is a list of nodes in the order of execution. A [Reader] finds that
// list in a bare array or in a report object, plain or compressed, and yields one
// [Node] after the other; [Reader.Info] holds what a report says about devices and
// rank. [Inputs] turns the name of a file or folder into the files to read, and
// [Input.Open] into a Reader that also notices a file that changes while it is read.
// [Replay] follows the nodes and returns what they say about circular buffers, and
// about everything else that lives in L1.
//
// # Guarantees
//
// The whole input is checked to be one JSON document, whatever of it matters.
// Absent is never 0 and no number is read from part of a text. Every failure is an
// [*event.InputError] that says where it is; after one the iteration is over. What is odd
// but harmless is marked on its node as an [Anomaly]. No input panics.
//
// # Cost
//
// A Reader makes one pass, at some hundred MB/s, in memory that does not depend on
// the size of the input: one buffer, one node (at most [MaxNode] bytes) and the two
// small sections of a report. Nodes and keys that do not matter are never built.
//
// # Concurrency
//
// A Reader belongs to one goroutine and starts none. Nodes are the caller's to keep.
package capture
