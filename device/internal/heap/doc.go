// Package heap holds the buffers that live on devices beside circular buffers.
//
// An [Allocation] is a buffer in the form that is counted. A [BufferSet] is a set of
// buffers; devices with equal sets share one. Its [Heap] holds them by id and by
// address ([Order]; [Anywhere] is all addresses), and counts their bytes on each
// class of cores and beside each residue. A [Book] keeps the states by package
// version. [Moves] hold the next state of the devices of each state during a change.
//
// # Words
//
//   - heap: the buffers of a device, and their bytes of L1;
//   - book: the heaps of all devices;
//   - step: a buffer that comes, or one that goes.
package heap
