// Package heap has the buffers that live on devices beside circular buffers.
//
// An [Allocation] is a buffer in the form that is counted. A [State] is a set of buffers; devices
// with equal sets share one. Its [Heap] has them by id and by address ([Order]; [Anywhere] is all
// addresses), with the bytes that they take of each class of cores and beside each residue. A
// [Book] keeps the states by package version. [Moves] say where a change leads the devices of each
// state.
package heap
