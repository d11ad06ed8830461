// Package replay turns events into answers: all figures come from here, for every source.
//
// # Model
//
// [Run] applies all events of a source to a fleet and makes an [answer.Result] with the parts that its
// [Options] select. The fleet holds the state of the devices. The rest is in a row for
// each device, which devices share while the same happens to them. A row has only data; stages change
// it, each with its own file, and no stage knows another:
//
//	event ──> source.State ──> device.Fleet
//	             │            │ operations
//	             ▼            ▼
//	          replay: looks before an event, applies it, passes it on
//	             │
//	             ├─ rows         which devices share a row, and part
//	             ├─ specs        Specs of devices, and of the Result
//	             ├─ books        rows of programs, sums; its ledger has a fleet for each kind of buffer
//	             ├─ executions   what the executed programs left on each chip
//	             ├─ outside      buffers with unknown places, and beyond L1
//	             ├─ marker       marks: how much, where, when, and the moment; composed for output alone
//	             ├─ catalogue    the programs of a log, forgotten with their ids
//	             ├─ checks       every enqueued program ──> fit; alternatives where one of several ran
//	             └─ subscribers  timeline, runs, rooms, scarce, who, groups at a node: only for a
//	                             question in Options, by calls such as launched, laid and gone
//	             ▼
//	          answer.Result
//
// A stage gets a row and the facts of an event, and returns an error without a place. The replay adds
// the place. A row has parts: facts (statements of the source), programs, memory, marks, log and execution.
//
// Package tool/replay/answer has the Result and what is said of it, tool/replay/diff compares two of them, and
// tool/replay/session answers queries while events go by.
//
// A run of a capture and a register, enqueue or dispatch of a log lead into the same
// fleet. They count for different times: a program that a log registers is registered and
// alive until it is unregistered, and has one row for each id. A run of a capture stays
// registered, is alive until its CBs are freed, and has its own row.
//
// # Invariants
//
// A refused event has changed nothing. The same events give the same answers,
// byte for byte. answer.Result.Undecided has everything that a source could not show: then no answer is that all
// fits. No sum wraps: one beyond 2^63-1 is an error.
//
// # Cost
//
// A program is placed once for each definition and Spec, and judged once beside the same
// buffers, however often it runs. An event costs the same as its call of the fleet, and
// some ns for each core that a buffer lies on. The composition of a peak is looked up in the end,
// or when its last buffer is freed. Memory grows with programs and live buffers.
//
// # Concurrency
//
// A Run belongs to one goroutine. A Result is a value of its own.
//
// # Words
//
//   - row: one device, or several as long as the same happens to them;
//   - launch: a run at the moment when it is enqueued; batch: the launches of one operation on a device at one moment;
//   - candidates: what else the programs of an operation may be;
//   - mark: a moment at which a core held more than ever before;
//   - obstacles: all that was in the way of one more buffer;
//   - books: the rows of programs, and their sums; ledger: the fleets that count them by kind of buffer;
//   - catalogue: the programs of a log that later events may name.
package replay
