// Package capture is a source of events. It reads the graph captures that ttnn writes, in every known
// dialect, and yields the events in them. It computes no figures; package replay does.
//
// # Use
//
// [Inputs] returns the captures in a file or folder. [List] also returns the files that it
// passed over, with the reason; [Irregular] has the reason for a file that is not regular. An [Input] is
// one file, and [Input.Events] yields its events. [Databases] makes Inputs of a report
// database. A caller supplies the rows ([Row]) by [Tables], so that this package needs no driver;
// [Input.Counter] finds a node of an operation. [NewReader]
// makes a [Reader] of another source, like standard input, and [Reader.Events] yields its events.
// [Options] add facts that a capture lacks.
//
// # Stages
//
// A node passes through four stages. No stage knows another one: a reading hands on the value that
// each of them returns.
//
//	bytes
//	  │   document.go, decode.go, shape.go        a file
//	  │   database.go, tables.go, slices.go       a part of a database, an operation at a time
//	  ▼
//	1 Reader ───── node ────> its fields, its place in the input, its counter in the whole capture
//	  ▼
//	2 operations ─ step ────> the functions that run; a hit of the program cache; an abort
//	  ▼                       operations.go
//	3 places                  places.go, meet.go, unreadable.go
//	  │  ground ............. specs, grids, units and events, which the parts share
//	  ├─ devices              what each id stands for
//	  ├─ programs             runs that are open, frees that announce them, equal runs, hits
//	  │                       unit.go, open.go, workload.go, herald.go, layout.go, hits.go, hidden.go
//	  └─ memory               buffers that live, their ranges, buffers from before the capture
//	  ▼                       buffers.go, heights.go, borders.go, absentees.go
//	4 events ───── event ───> in order, with notes about odd and hidden facts at the end
//	                          events.go, note.go
//
// A reading (source.go, ending.go, between.go) is one pass over the nodes. Knowledge (known.go, mesh.go) is
// a value that a reading starts with and adds to: the chips of each mesh, the cores of sharded buffers, the
// buffers from before the capture. If something came too late, knowledge has a note about it, and a file is read
// again with that knowledge. The past (past.go, clues.go, census.go, timeline.go, life.go, residents.go,
// ends.go) finds the buffers from before the capture. Lists of a report, rows of a database and tensors are its
// one input.
//
// # The road of one node
//
// Node 4 of testdata/repeats.json is a circular buffer of 4,096 bytes on chip 0, in an operation.
//
//	document.array     finds the braces of the node
//	decoder.next       compares the text with the shapes of earlier nodes; decoder.placed reads a new one
//	operations.next    adds the path of the functions, and notes that the innermost one placed something
//	places.next        brings residents up to date (attend) and picks the case of the node's type (place)
//	places.meet        finds the unit of chip 0; the first time, events declare it
//	programs.place     adds the buffer to the open run of the unit
//
// Node 5 joins the run. Node 6 executes a program on chip 0, so the run is complete:
//
//	places.complete    lays a buffer that waits for its tensor, which comes first
//	programs.complete  gives the run a program: layouts has an equal one, or places a new one (event program)
//	programs.start     one event run for all units with the same program and operation
//	hits.remember      a later hit of the program cache runs it again
//	events.flush       yields the events of the node
//
// A new type of node needs a constant in node.go, a line in decoder.decodes, and a case in places.next.
//
// # Guarantees
//
// The whole input is checked to be one JSON document. A missing field is not the same as 0, and no number is
// read from part of a text. An unreadable field hides its node and everything that depends on it: a
// circular buffer its program, a free everything that was alive on its device. The rest is certain. A capture is
// refused if it is no JSON, exceeds a limit, or its nodes lack their counters. Every failure is an
// [event.InputError] with a position. It ends the iteration, and the events before it are the first events of
// the capture. Odd and harmless facts are anomalies at the end, hidden facts are events of their own
// kind. No input panics.
//
// Ids, programs and buffers have their events before other events name them. Each node that places
// something is in one run. The same capture yields the same events. If the end of a file changes the meaning of
// its start, the events begin again (event.KindAgain). With [Options].Ahead the file is read twice
// instead. A pipe can be read once, and then notes say which knowledge came too late.
//
// An event log yields its own events.
//
// A database has a graph for each operation, and each begins to count nodes anew. They are
// one capture, in the order of the operations. Events between operations show
// only in the buffers that live when each of them ends.
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
// params with all fields in it that are read. One exception is device_tensors, without which a mesh alone is not
// known (bad-device-tensors). Fields that are not read may hold anything. testdata/fields.txt has a line for each field.
//
// # Cost
//
// A capture is read in one pass, or two, at some hundred MB/s. A third pass is needed where one free announces
// several programs, or persistent pages may show, and the first pass lacked knowledge: the second one finds where
// each program ends. Memory follows the number of distinct programs and of live buffers and not the size of the
// input: one buffer, one node (at most 16 MiB), the two small sections of a report, and 24 bytes for each
// operation of a database. Nodes and keys that do not matter are never built. A run costs its nodes, an event of
// a buffer the devices on which it lies.
//
// # Concurrency
//
// A Reader belongs to one goroutine and starts none. An event is valid until the next one is
// yielded; a copy of it stays, since no list in it is used again. Lists are shared and must
// not be changed.
package capture
