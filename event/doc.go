// Package event is the stream of everything that happens on a fleet, whoever tells it: its
// vocabulary, and the log in which it is written.
//
// # Model
//
// An [Event] is one thing that happened, or that a source says of itself; its [Kind] says
// which of its fields count. A source is whoever tells events: a log ([Log]), the reader of
// graph captures, a fleet that is watched ([Writer.Observe]). Whoever makes figures of them
// reads an iter.Seq2[*Event, error] and need not know which it was.
//
//	event log ───────> Log ──────┐
//	graph capture ───> capture ──┼─> *Event ──> replay, or Writer ──> event log
//	device.Fleet ────> Observe ──┘
//
// Kinds are of three sorts. Those up to [KindOpEnd] are calls of a device.Fleet, and
// operations. [KindRun] to [KindEnd] are told by sources that saw a run and not its plan.
// [KindQuery], [KindTorn] and [KindAgain] are lines that ask ([Query]), a line that
// is cut, and a source that begins again.
//
// A [Pos] is where the source has an event: the byte, the line, the index. Node is the
// number that people know: of a capture's node, or of the line. [Opt] is a value that may
// be absent, made by [Some]. [CB] is a buffer of a program that is defined, [Part] a place of
// another buffer, [RunOn] a device that a program ran on; each may be synthesised, which
// means that the source placed it. [Role], [From] and [Source] say what a device is in its
// source, and who said so; [NoDevice] is the device of sources without ids. [Upstream],
// [UpstreamCause] and [CauseCode] are ttnn's own figures. [Code] names what is odd about an
// event of a log, [CodeOf] the code of an error, and [Anomaly] what was odd about its line. [UnplacedEarlier] and its like
// are reasons why a buffer has no place. A [Window] is one of several files of a run.
//
// # Log
//
// The log is JSON Lines of version [LogVersion], described in docs/events.md and
// cbl1.events-1.schema.json. [NewLog] reads one, plain or compressed; [Log.OfFile] reads a
// file that is still being written. [IsLog] tells one by its first line. [NewWriter] writes
// one. testdata has a log with the answers that any other implementation can be tested with.
//
// # Guarantees
//
// A Log yields the header first, and an event as soon as its line end has come. What it does
// not know it passes on: fields are skipped, an event that is unknown keeps its Kind. What it
// cannot read is an [InputError] with file, line, byte, field and value, which matches
// [ErrNotCapture], [ErrTooLarge] (a line of more than [MaxNode] bytes), [ErrTooDeep],
// [ErrExpands], [ErrChanged] or [ErrVersion] where it is one of these. No input makes it
// panic.
//
// What a Writer writes, a Log reads as an equal event, but for Pos. An event that no log can
// tell is a [WriteError], and nothing is written. Numbers are never wrapped or rounded.
//
// # Cost
//
// Reading and writing take constant memory, whatever the length of the log, and time in
// proportion to a line's length, whatever it says. A Writer that observes keeps a pointer to
// each program that is registered.
//
// # Concurrency
//
// A Log and a Writer belong to one goroutine each. A copy of an event may be kept,
// and read by several goroutines.
package event
