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
// A capture is read twice (source.go). The first reading, internal/survey, gathers the facts that hold for the whole
// capture, wherever they stand in it: which ids are meshes, and what a capture proves that does not show it. It makes no
// programs and no events. The second reading starts with these facts and yields
// the events. Each of its nodes passes through four stages. No stage knows another one: a reading hands on the
// value that each of them returns.
//
//	bytes
//	  │   internal/graph                          a file; spool.go keeps one that cannot be read again
//	  │   database.go, tables.go, slices.go       a part of a database, an operation at a time
//	  ▼
//	1 Reader ───── node ────> its fields, its place in the input, its counter in the whole capture
//	  │
//	  ├─ internal/survey ── knowledge, in the first reading
//	  ▼
//	2 operations ─ step ────> the functions that run; a hit of the program cache; an abort
//	  ▼                       operations.go
//	3 places                  places.go, unreadable.go
//	  │  shared ............. specs, grids, units and events, which the parts share
//	  ├─ programs             runs that are open, frees that announce them, equal runs, hits
//	  │                       unit.go, open.go, workload.go, layout.go, hits.go
//	  └─ memory               buffers that live, their ranges, buffers from before the capture
//	  ▼                       memory.go, heights.go, between.go
//	4 events ───── event ───> in order, with notes about odd and hidden facts at the end
//	                          events.go, note.go, ending.go
//
// Two cases need one more reading. The survey begins again with the ids that it has found, where a mesh and its chip
// turn out to share an L1 behind nodes that name them (Survey.joinAll). A reading for facts alone comes before the last
// one where frees announce several programs at once, or persistent pages may lie below programs without
// addresses (Survey.Lacks).
//
// # The road of one node
//
// Node 4 of testdata/repeats.json is a circular buffer of 4,096 bytes on chip 0, in an operation.
//
//	graph.Document     finds the braces of the node
//	graph.Decoder      compares the text with the shapes of earlier nodes; Decoder.placed reads a new one
//	operations.next    adds the path of the functions, and notes that the innermost one placed something
//	places.next        brings residents up to date (expireAndPlace) and picks the case of the node's type (place)
//	Members.Places     says that the node names chip 0, whose unit the start of the reading has declared
//	programs.place     adds the buffer to the open run of the unit
//
// Node 5 joins the run. Node 6 executes a program on chip 0, so the run is complete:
//
//	programs.complete  gives the run a program: layouts has an equal one, or places a new one (event program)
//	programs.start     one event run for all units with the same program and operation
//	hits.remember      a later hit of the program cache runs it again
//	events.emit        yields each of these events
//
// A new type of node needs a constant in internal/graph/node.go, a line in decodes of decode.go beside it (nil if
// nothing of it matters), and a case in places.next. Survey.Next has a case for types with facts of the whole capture.
//
// # Guarantees
//
// The whole input is checked to be one JSON document. A missing field is not the same as 0, and no number is
// read from part of a text. An unreadable field hides its node and everything that depends on it: a
// circular buffer its program, a free everything that was alive on its device. The rest is certain. A capture is
// refused if it is no JSON, exceeds a limit, or its nodes lack their counters. Every failure is an
// [event.InputError] with a position. It ends the iteration. A capture that is refused has no events: the survey finds
// the failure. Odd and harmless facts are anomalies at the end, hidden facts are events of their own
// kind. No input panics.
//
// Ids, programs and buffers have their events before other events name them. Each node that places
// something is in one run. The same capture yields the same events, as a file, on a pipe, and compressed: a fact counts
// from the first node, wherever it stands.
//
// An event log yields its own events, each when its line is read. It is not read twice and not kept. Package dump
// reads a dump of tt-metal's allocator in the same way.
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
// A capture is read twice, at some hundred MB/s, and once or twice more in the cases above. The survey costs
// less than the second reading, since it builds no programs. A pipe is kept: 1 MiB in memory, the rest in a file
// ([Options].TempDir). A run costs its nodes, an event of a buffer the devices on which it lies. Memory grows with
// distinct programs, live buffers, buffers from before the capture, operations of a database (24 bytes each) and
// sharded buffers (some 40 bytes each). Beside these it has one node of at most 16 MiB and the small sections of a
// report. Nodes and keys that do not matter are never built.
//
// # Concurrency
//
// A Reader belongs to one goroutine and starts none. An event is valid until the next one is
// yielded; a copy of it stays, since no list in it is used again. Lists are shared and must
// not be changed.
//
// # Words
//
//   - unit: a device with an id: a chip, a mesh, or all there is in a capture without ids;
//   - run: the CBs that a unit placed since the last free that reached it;
//   - announcement: a free of CBs, as it says that a program is about to run;
//   - workload: the programs of one operation that run at one moment;
//   - hit: an operation that found its program in the program cache;
//   - step: what a node changes among the functions that run;
//   - resident: a buffer in L1 from before the capture;
//   - expiring: a buffer whose end is known before.
package capture
