// Package wire has the formats in which running tt-metal processes tell what they allocate,
// and what the records come to.
//
// # Model
//
// A [Record] is one AllocMessage of the allocation server's socket, of a [Type]. Records have
// a fixed size and neither frame nor version. A [Dialect] is what a client was built with:
//
//	72 bytes    types 1 to 4, or 1 to 5
//	112 bytes   types 1 to 7
//	128 bytes   types 1 to 11
//	144 bytes   types 1 to 11, or 1 to 12 (Newest)
//
// Dialects lists them, ParseDialect reads one. A [Reader], made by NewReader, reads the
// records of a client.
//
//	bytes ── Reader ──> Record ── Ledger.Apply ──> Effect ─┬─ AppendLine ──> the server's line
//	                                  │                    └─ Teller.Tell ─> event.Event ──> replay.Session
//	the server's lines ── Lines ──────┘
//
// A [Ledger] follows records by the server's rules: what is live is a [Lot] of an [Owner], each
// device has [Totals], with KernelKinds kinds of kernels. An [Effect] says [What] became of a
// record, and which [Anomaly] it has, one of Anomalies. Effects are printed as the server prints them
// (AppendReleased, DeadLine, BufferKind, KernelKind), and a [Teller] makes events of them, which
// know a [Device] that was declared; DRAMOf has the [DRAM] of boards. What a server has printed is read back by [Lines], made by
// NewLines; IsLines tells such a text by its first lines.
//
// # What a dialect is recognised by
//
// The first 40 bytes of all records are alike, and clients leave what follows in a request
// zero. So the first byte behind them that is not zero is the type of the next record, and
// says how long the first one is. Where nothing follows for a while (Reader.Hurry), or at
// all, the first record ends where the stream does. A type that a dialect does not know
// rules it out; of dialects of one size it is the one that knows most.
//
// The limits of this: a first record that is cut, or falls silent, just where one of a
// smaller size ends is taken for that one. A client that leaves anything else in a
// request is not recognised (ErrUnrecognised) and needs its dialect said. What is
// recognised holds for the whole stream.
//
// # What a record cannot say
//
// A CB_ALLOC has an address and a size, and no cores. Its size counts in the running sum that
// the protocol means, and its bytes count as if it were on every core: the union of a core is
// then a bound, and the events say so (CodeEveryCore). An L1 buffer has its size in all banks
// together and an address: its bytes of a core are not known. A CB beyond any L1 is in the
// sum and in no union (CodeUnplaced); CodeLost is for whoever loses a client.
//
// A repeated ALLOC of one process is the allocation that backs a mesh buffer on its reference
// device; of another process it shares the buffer. Ids are 0 to MaxDevice unless declared, and
// a buffer has at most MaxBuffer bytes.
//
// # What a line cannot say
//
// A line of a CB has no address either, and seldom a process: each counts as if it lay alone
// (CodeNoAddresses), so that a core has at most the sum of the sizes. A size of six digits is the
// roundest number that is printed so (CodeRounded). Totals, references and frees that do not
// agree with the lines before them are something hidden (CodeLinesMissing); lines that no
// server prints are counted (CodeOtherLines). Of lines that are all there, figures of buffers,
// kernels and sums are those of the server.
//
// # Invariants
//
// No total is ever negative or above 2^63-1. What is refused has changed nothing. A free
// takes what its allocation brought, whatever size it names: a lot of its sender before those
// of others, one of its size before others, the last of them. Events tell a session exactly
// what the ledger has.
//
// Bytes that cannot be a record are a [RecordError], a text that names no dialect is a
// [DialectError], a record about what cannot be a device is a [DeviceError]. No input panics.
//
// # Cost
//
// Reading and writing a record allocates nothing. A record costs O(log n) in the lots at its address,
// a line the same for each lot that it takes away. Memory grows with the live lots; the last 65,536 ids of
// freed ones are remembered.
//
// # Concurrency
//
// Every type belongs to one goroutine at a time.
package wire
