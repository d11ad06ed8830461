// Package session answers queries about a fleet that follows the events of a log: what "cbl1 stream" and the live
// server do.
//
// A [Session] is a device.Fleet that follows events. [Session.Query] answers a query with a value, a [StreamAnswer];
// Answer and Stream write the same as lines. A refusal of the fleet is a [RefusedError], counted as a [RefusalCount]. A
// [Shared] session is one that several logs [Feed] at once; [Shared.WriteMoment] writes its fleet as a log.
//
//	event ──> Session.Apply ──> device.Fleet
//	query ──> Session.Query ──> answer
//
// A refused event has changed nothing. An answer costs as much as the method of the fleet that has its figures. A
// Session belongs to one goroutine; its Fleet may be read by others.
//
// # Words
//
//   - remnant: the circular buffers that dispatches of one program have left;
//   - moment: the state of a fleet, written as a log that begins now.
package session
