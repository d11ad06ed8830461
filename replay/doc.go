// Package replay turns events into answers: it is the only place where figures come
// from, whoever told the events.
//
// # Model
//
// A Session is a device.Fleet that follows events. It answers queries in the stream
// (Stream, Answer); what the fleet refuses is a RefusedError, counted as a RefusalCount.
//
// Rows of JSON that answers and reports share are VerdictRow, RefusalRow, ClashRow,
// HoleRow and HeadroomRow.
//
// # Invariants
//
// An event that is refused has changed nothing. The same events give the same answers,
// byte for byte.
//
// # Cost
//
// A program is placed once for each definition and Spec, however often it runs. An
// event costs what its call of the fleet costs.
//
// # Concurrency
//
// A Session belongs to one goroutine; its Fleet may be read by others.
package replay
