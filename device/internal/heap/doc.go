// Package heap has the buffers that live on devices beside circular buffers.
//
// An [Allocation] is a buffer in the form that is counted. A [Heap] is the set of buffers of a
// device, by id and by address ([Order]; [Anywhere] is all addresses), with what they take of
// each class of cores and what is tracked beside each residue. A [Book] has the heaps that
// devices share, and finds them. [Moves] are what a change does to the heaps of some devices,
// and [Freeings] the buffers of one id that they lose.
//
// For a recount, [UsedHeaps] are those that devices have ([UsedHeap]), and a [Pairing] counts
// what is tracked beside what dispatches left ([NewPairing], [SameTracked]); [SameBuffers]
// compares totals.
package heap
