// Package serve follows the allocations that running processes report: the live side, around
// sessions of package session.
//
// # Model
//
// A [Server], made by New with a [Config], has a ledger of package wire and a session, and writes
// its events as lines of a [Format] and as an event log ([Recorder]):
//
//	Listen ─> Server.Serve ─ a client ─> wire.Reader ─> wire.Ledger ─┬─> lines
//	                                                                 ├─> session.Session: bytes of a core, at most
//	                                                                 └─> Recorder: an event log
//	Listen ─> Server.ServeLogs ─ a client ─> event.Log ─> its own session.Session, or a Shared one ─> answers
//
// The caller has the listeners, the clock and the moments: Server.Sweep finds dead processes,
// Server.Statistics prints, Server.Close ends everything. Server.Snapshot returns the present
// figures, also of named fleets, Server.Row the row of one device, Server.Detail the contents of
// its cores, and Server.WriteMoment writes a log that begins now (ErrNoFleet). The server starts
// one goroutine for each connection, while Serve or ServeLogs runs. With Config.Waiting, more
// goroutines write lines: Server.Printed reports when they have written all.
//
// # Owners
//
// A live allocation belongs to a process, and a [Peer] is the process of a connection. Identify
// queries the kernel; the claim of a record is shown only if the kernel knows no process. The end
// of a connection frees nothing. The end of a process releases its allocations, after Config.Delay
// and when all its records have been read, and counts them as leaked.
//
// # Hostile clients
//
// A refused record changes nothing. Bytes that are no record, a process id in place of a device, a
// [LimitError] of the [Limits], a pause inside a record or an unread answer close one client: it is
// counted ([watch.ServerCounts]), and the event log marks its devices as incomplete. No record is
// dropped: a client that is faster than the server waits.
//
// Without a descriptor for a connection ([Lacking]), or without room for the log, the server waits
// for the next Server.Sweep, warns once, and counts its losses.
//
// Listen makes a [Listener] whose socket has its mode from the start, and replaces nothing but a
// dead socket of the same user: ErrServed, ErrNotSocket and ErrNotOurs name the obstacle;
// ErrPlatform means that this is not Linux.
//
// # Cost
//
// A record costs one call of the ledger, the session's calls for its events, and one printed line.
// One lock covers all three. Memory grows with live allocations and with connections; the limits
// bound both. A live CB takes 1.6 KiB: 0.6 its program, 0.3 the definition, 0.3 the registration,
// 0.2 the lot and its five indices, the rest its events. While nothing can be recorded, a try costs
// a header, and tries less than 1 % of a processor.
//
// # Concurrency
//
// All methods of a Server may be called at the same time.
//
// # Words
//
//   - outlet: a writer of lines for a reader that may be slow;
//   - loss: a client that was closed, with its devices.
package serve
