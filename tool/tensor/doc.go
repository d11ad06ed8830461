// Package tensor names the tensors in L1 buffers, and finds the last use of each.
//
// # Model
//
// [Uses] takes the nodes of a capture in their order and makes a [Table]. A tensor belongs to a buffer by the connections
// of the buffer node, or else by the id and address of a live buffer. A use of a buffer is
//
//	a function that takes such a tensor
//	a function that returns one
//	a global circular buffer in the bytes of the buffer
//
// and lasts until the outermost function round it ends. A function named deallocate uses nothing.
//
// # Silences
//
// A Tensor has a last use only if all of this holds:
//
//   - its buffer is of kind L1, and the capture allocates it;
//   - an outermost function returned the tensor;
//   - the tensor went into no function that returned one without an address, which may be a view of it;
//   - the buffer was freed before the first buffer of a trace, whose replays show no uses;
//   - the capture has a function that names an input, and no unreadable node;
//   - each tensor in L1 without an address belongs to a buffer by connections.
//
// # Cost
//
// A node costs O(log n) of n live buffers. Memory grows with the buffers in L1 of the whole capture.
package tensor
