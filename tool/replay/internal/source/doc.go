// Package source keeps what the events of a source have made so far. It counts and judges nothing.
//
// A [State] is a device.Fleet that follows events, with what the fleet does not keep: the [Definitions] of programs,
// their placed forms ([Content]), grids that the fleet must not refuse for ([Grids]), traces, the run at hand
// ([Launch]), and the operations that run now ([Running]). [State.Apply] makes the call of the fleet that an event
// stands for:
//
//	event ──> State.Apply ──> Definition.Placed or Apart ──> device.Fleet
//
// A refused event has changed nothing, and has a code. Sessions answer questions about a State; a replay counts what
// happens to it. It belongs to one goroutine; its Fleet may be read by others.
//
// A program of a log is placed whole. A run of a capture is placed in two parts, since an operation may have circular
// buffers and dataflow buffers, which no program can: the second part has an id that no output shows.
//
// # Words
//
//   - content: what a program places, worked out once for each Spec;
//   - apart: in two programs, as a run is placed;
//   - launch: a run on devices that place it alike;
//   - running: the operations of a log that have begun and not ended.
package source
