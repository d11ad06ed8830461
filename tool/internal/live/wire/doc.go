// Package wire has the formats in which running tt-metal processes report their allocations, and
// follows the records.
//
// # Model
//
// A [Record] is one AllocMessage of the allocation server's socket, of a [Type]. Records have a
// fixed size and neither frame nor version. A [Dialect] is the format of a client's build:
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
//	                                  │                    └─ Translator.Tell ─> event.Event ──> session.Session
//
// A [Ledger], made by NewLedger, follows records by the server's rules: each live allocation is a
// [Lot] of a [Client], and each device has [Sums]. An [Effect] is the result of a record: its
// [Fate] and its [Oddity], one of Oddities. Effects are printed as the server prints them
// (AppendReleased, DeadLine, BufferKind, KernelKind), and a [Translator] turns them into events, for declared devices ([DeclaredDevice]) and others; DRAMOf has the [DRAM] of boards.
//
// # Recognising a dialect
//
// The first 40 bytes of all records are alike, and clients leave the rest of a request zero. So the
// next byte that is not zero is the type of the next record, and shows the length of the first one.
// If nothing follows for a while (Reader.Hurry), or at all, the first record ends with the stream.
// An unknown type rules out a dialect; among dialects of one size the Reader takes the one with
// most types.
//
// The limits of this: a first record that is cut, or falls silent, exactly at the end of a smaller
// size is taken for that size. A client that leaves other bytes in a request is not recognised
// (ErrUnrecognised), and its dialect must be given. The recognised dialect holds for the whole
// stream.
//
// # Gaps of records
//
// A CB_ALLOC has an address and a size, and no cores. Its size counts in the running sum of the
// protocol, and its bytes count as if it were on every core: the union of a core is then a bound,
// and an event marks it (CodeEveryCore). An L1 buffer has an address, and its size in all banks
// together: its bytes on a core are not known. A CB beyond any L1 is in the sum and in no union
// (CodeUnplaced); CodeLost is for servers that lose a client.
//
// A repeated ALLOC of one process is the allocation that backs a mesh buffer on its reference
// device; from another process it shares the buffer. Ids are 0 to MaxDevice unless declared, and a
// buffer has at most MaxBuffer bytes.
//
// # Invariants
//
// No total is ever negative or above 2^63-1. A refused record has changed nothing. A free removes
// the bytes of its allocation, whatever size it names. It prefers a lot of its sender, then a lot
// of its size, then the last one. A session that follows the events holds exactly the content of
// the ledger.
//
// Bytes that cannot be a record are a [RecordError], a text that names no dialect is a
// [DialectError], and a record with an impossible device is a [DeviceError]. No input panics.
//
// # Cost
//
// Reading and writing a record allocates nothing. A record costs O(log n) in the live
// lots. Memory grows with the live lots; the last 65,536 ids of freed lots are remembered.
//
// # Concurrency
//
// Every type belongs to one goroutine at a time.
//
// # Words
//
//   - record: a message of an allocation server;
//   - lot: the live allocation of one record;
//   - ledger: follows records by the rules of the server;
//   - effect: the result of a record;
//   - fate: what becomes of a record;
//   - oddity: a strange or impossible property of a record;
//   - dialect: the size of records, and the types that a server knows.
package wire
