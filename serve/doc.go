// Package serve follows what running processes say that they allocate: the live side,
// around sessions of package replay.
//
// # Model
//
// A [Server], made by New on the terms of a [Config], has a ledger of package wire and a
// session, and writes what happens as lines of a [Format] and as an event log ([Record]):
//
//	Listen ─> Server.Serve ─ a client ─> wire.Reader ─> wire.Ledger ─┬─> lines
//	                                                                 ├─> replay.Session: bytes of a core, at most
//	                                                                 └─> Record: an event log
//	Listen ─> Server.ServeLogs ─ a client ─> event.Log ─> replay.Session of its own, or replay.Shared by name ─> answers
//
// The caller has the listeners, the clock and the moments: Server.Sweep looks for processes
// that have died, Server.Statistics prints, Server.Close ends all. Server.Snapshot has what stands now, also
// in fleets with names, Server.Row one device of it, Server.Detail what lies on its cores,
// Server.WriteMoment writes a log that begins now (ErrNoFleet). Nothing is started but the
// goroutine of each connection, while Serve or ServeLogs runs, and those that write lines, where
// Config.Waiting asks for them: Server.Printed says when they have written all.
//
// # Who has what
//
// What lives belongs to a process, and a [Peer] says which one a connection is of. Identify asks
// the kernel; what a record claims is only shown where the kernel knows nobody. A connection that
// ends frees nothing; a process that ends does, after Config.Delay and when what it said has
// been read, and what it had is counted as leaked.
//
// # Hostile clients
//
// A record that is refused changes nothing. Bytes that are no record, a process id in the place of a
// device, a [LimitError] of the [Limits], a pause inside a record or an answer that is not taken
// close one client: it is counted ([Counts]), and the event log says that its devices are
// incomplete. No record is dropped: a client that is faster than the server waits.
//
// Where there is no descriptor for a connection ([Lacking]), or no room for the log, the server waits for
// the next Server.Sweep, says so once, and counts what it lost.
//
// Listen makes a [Listener] whose socket has its mode from the start, and replaces nothing but a
// dead socket of the same user: ErrServed, ErrNotSocket and ErrNotOurs say what is in the way,
// ErrPlatform that this is not Linux.
//
// # Cost
//
// A record costs one call of the ledger, the session's calls for its events, and one printed line.
// One lock covers all three.
// Memory grows with what lives and with the connections; the limits bound both.
//
// # Concurrency
//
// All methods of a Server may be called at the same time.
package serve
