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
// A Tensor has no last use if that is not certain. The buffer is of kind L1, and the capture allocates it. An outermost
// function returned its tensor. Its tensor went into no function that returned a tensor without an address, since that may
// be a view of it. It was freed before the first buffer of a trace, whose replays show no uses. The capture has a function that
// names an input, no node of it is unreadable, and each tensor in L1 without an address belongs to a buffer by connections.
//
// # Cost
//
// A node costs O(log n) of n live buffers. Memory grows with the buffers in L1 of the whole capture.
package tensor
