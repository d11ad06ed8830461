// Package dump is a source of events: the dumps of tt-metal's allocator, which list the blocks of a bank.
//
// # Model
//
// A dump is a text by DumpDeviceMemoryState (*detailed_memory_usage.csv, in both layouts), or the JSON of
// ttrt (memory_results.json) or of ttnn.get_memory_view. [Is] recognises each by its first bytes, and [Events]
// yields its events: a device, and the blocks that are allocated, as L1 buffers on all banks.
//
//	a table   ──> table.go ──┐
//	JSON      ──> view.go  ──┴─> a moment: the blocks of a bank ──> moment.go ──> free, allocate
//
// A file has one moment or several: a program or an operation each. A moment is the whole bank, so that its
// events are the differences to the moment before. Its number is the Node of its events.
//
// # Addresses
//
// Addresses are offsets in a bank, and stay so. [Options] that give the base of the bank make them addresses of L1.
// A block of L1_SMALL lies behind the bank of L1. The number of banks is the total of all banks by the bytes of one.
// Nothing names the cores: the grid is that of a board with so many cores, or a row.
//
// # Guarantees
//
// Blocks cover a bank without gaps and overlaps, and agree with the totals of the file; anything else is
// an [event.InputError] with line, field and value. A file that is cut in its blocks is refused that way. No input
// panics, and no sum wraps. A dump knows tensors alone: each source has the hidden fact [TensorsOnly].
//
// # Cost
//
// A file is read once. Memory follows the blocks of one moment; in JSON a moment has at most 16 MiB of text, and of a
// line of a table the first 4 KiB are kept.
//
// # Concurrency
//
// The events belong to one goroutine. An event is valid until the next one is yielded.
//
// # Words
//
//   - form: a kind of text that the allocator writes;
//   - bank: all banks of one kind, which are alike; block: a range of its bytes, free or allocated;
//   - moment: what a text says of one state;
//   - view: a moment as JSON.
package dump
