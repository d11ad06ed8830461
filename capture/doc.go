// Package capture is a source of events: it reads what ttnn writes, graph captures in
// every dialect that was ever written, and tells what happens in them. It knows nothing
// of figures; package replay makes them.
//
// # Model
//
// [Inputs] turns the name of a file or folder into the captures to read, and [List] into what
// is [Listed]: what of the folder is [Passed] over, and why, too; [Irregular] says it of what is no
// regular file. An [Input] is
// one file, and [Input.Events] tells what happens in it. [Databases] makes Inputs of a report
// database, whose rows ([Row]) somebody else fetches: [Tables] is all that is asked of a driver,
// and [Input.Counter] finds a node of an operation. [Join] makes one Input of the windows of a run. [NewReader] makes a [Reader] of
// whatever else can be read, like standard input, and [Reader.Events] does the same.
// [Options] say what a capture cannot.
//
// A capture is a list of nodes in the order of execution. A node is no event: which chips
// a mesh has shows late, a program is the circular buffers between two frees, an
// operation that finds its program in the cache shows none, and where a sharded buffer
// lies is said by the next tensor. The source holds back an event until all of it is
// known. Node of an event is the node that it is about, Pos the place that the source has
// reached by then. The source also places programs and buffers without an address, as in
// the capture of a run that never happened: programs by tt-metal's rule, buffers from the
// top down.
//
// # Guarantees
//
// The whole input is checked to be one JSON document, whatever of it matters.
// Absent is never 0 and no number is read from part of a text. An unreadable field hides its
// node and everything that depends on it: a circular buffer its program, a free everything
// that was alive on its device. The rest is certain. A capture is refused if it is no JSON,
// exceeds a limit, or its nodes lack their counters. Every failure is an
// [event.InputError] that says where it is; after one the iteration is over, and what was
// told before is the beginning of what the whole capture tells. What is odd but harmless
// is told at the end as anomalies, what the capture hides as hidden. No input panics.
//
// Ids, programs and buffers are told before what names them. Each node that places
// something is in one run. The same capture tells the same events. A file that shows at
// its end what it should have said at its start is told again; [Options].Ahead reads it
// twice instead, and a pipe, which can be read once, says so.
//
// An event log is told as it stands.
//
// A database has a graph for each operation, and each begins to count nodes anew. They are
// told as one capture, in the order of the operations. What happens between operations shows
// only in what lives when each of them ends.
//
// # Fields
//
// Each dialect added fields, so a field that is missing, or null, belongs to a newer dialect. Its node is read
// without it. These fields must be there:
//
//   - counter, in all nodes. A capture without it is refused.
//   - node_type (name in August 2024), in all nodes. A node without it may be any: everything is hidden from there on.
//   - address, size and core_range_set of circular buffers, dataflow buffers and scratchpads. A node without one of
//     them is hidden.
//
// A field of a wrong type, or out of range, hides its node: connections of nodes about buffers and tensors, and
// params with all that is read of it. One exception is device_tensors, without which a mesh alone is not known
// (bad-device-tensors). Fields that are not read may hold anything. testdata/fields.txt has a line for each field.
//
// # Cost
//
// A capture is read in one pass, or two, at some hundred MB/s, in memory that follows the
// number of distinct programs and of live buffers and not the size of the input: one
// buffer, one node (at most 16 MiB) and the two small sections of a report, and of a database
// 24 bytes for each operation. Nodes and keys
// that do not matter are never built. A run costs its nodes, an event of a buffer the
// devices on which it lies.
//
// # Concurrency
//
// A Reader belongs to one goroutine and starts none. An event is valid until the next one is
// asked for; a copy of it stays, since no list in it is used again. Lists are shared and must
// not be changed.
package capture
