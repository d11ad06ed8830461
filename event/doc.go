// Package event is the stream of everything that happens on a fleet, from any source: its
// vocabulary, and the log in which it is written.
//
// # Model
//
// An [Event] is one thing that happened, or a statement of a source about itself; its [Kind] lists
// the fields that count. Sources of events are a log ([Log]), the reader of graph captures, and an
// observed fleet ([Writer.Observe]). Consumers read an iter.Seq2[*Event, error] and need not know
// the source.
//
//	event log ───────> Log ──────┐
//	graph capture ───> capture ──┼─> *Event ──> replay, or Writer ──> event log
//	device.Fleet ────> Observe ──┘
//
// Kinds are of three sorts. The kinds up to [KindOpEnd] are calls of a device.Fleet, and
// operations. [KindRun] to [KindEnd] come from sources that saw a run and not its plan.
// [KindQuery] and [KindTorn] are a query line ([Query]) and a line that is cut.
//
// A [Pos] is where the source has an event: the byte, the line, the index. Node is the number that
// people know: of a capture's node, or of the line. [Opt] is a value that may be absent, made by
// [Some]. [CB] is a buffer of a program that is defined, [Part] a place of another buffer, [RunDevice]
// a device that a program ran on; each may be synthesised, which means that the source placed it.
// [Role] is the meaning of a device in its source; [Origins] and [Source] are the origins of its
// properties; [NoDevice] is the device of sources without ids. [Upstream], [UpstreamCause] and
// [CauseCode] are ttnn's own figures. [Code] names an oddity of an event of a log, [CodeOf] returns
// the code of an error, and [Anomaly] names an oddity of a line. [UnplacedEarlier] and its like are
// reasons why a buffer has no place.
//
// # Log
//
// The log is JSON Lines of version [LogVersion], described in docs/events.md and
// cbl1.events-1.schema.json. [NewLog] reads one, plain or compressed; [Log.OfFile] reads a file
// that is still being written. [IsLog] recognises one by its first line. [NewWriter] writes one.
// testdata has a log with answers, to test other implementations.
//
// # Guarantees
//
// A Log yields the header first, and an event as soon as its line end has come. It skips unknown
// fields, and an unknown event keeps its Kind. An unreadable input is an [InputError] with file,
// line, byte, field and value. It matches [ErrNotCapture], [ErrTooLarge] (a line of more than
// [MaxNode] bytes), [ErrTooDeep], [ErrExpands], [ErrChanged] or [ErrVersion] where one of these
// applies. No input makes it panic.
//
// A Log reads an event of a Writer as an equal event, except for Pos. An event that no log can hold
// is a [WriteError], and nothing is written. Numbers are never wrapped or rounded.
//
// # Cost
//
// Reading and writing take constant memory, whatever the length of the log, and time in proportion
// to a line's length. A Writer that observes keeps a pointer to each registered program.
//
// # Concurrency
//
// A Log and a Writer belong to one goroutine each. A copy of an event may be kept,
// and read by several goroutines.
package event
