// Package shm has the regions of shared memory in which tt-metal processes publish their
// allocations, one for each chip: layouts 2, 3 and 4, byte for byte.
//
// # Model
//
// A [Region] is the memory of a region: a file that Open or Create has mapped, or the bytes given
// to Over. An [Image] is its content at a moment: [Counters] of the device, of each [ChipEntry] and of each
// [Slot]. Image.Append makes the bytes of an image; all layouts have the same
// offsets:
//
//	0      8            16          32    40      48      88             856             8536
//	version processes   references  asic  device  totals  16 chips x 48  64 slots x 120  state (version 4)
//
// List finds the regions of a folder, as [RegionFile]; Name returns the file name of a chip.
//
// A [Publisher], made by Attach on the [Claim] of its process, holds a slot of a region and puts
// figures there. It behaves as tt-metal's newest writer does: it takes over slots without a live
// process, releases the figures of dead processes, and releases its own at Close. Alive is its test
// of life. A region that another live process holds is refused.
//
// # Invariants
//
// Every field is read and written whole, and the mark that a region is ready is written last. No
// lock covers several fields: two that are read together may be of different moments. Figures are
// never clipped: a figure larger than any L1 is an accounting of its writer, and is kept.
//
// # Errors
//
// An unknown layout is a [VersionError], and a file too small for its layout a [SizeError]. A
// [HeldError] names the process that holds a region. ErrNotReady: it is being set up. ErrFault: its
// memory is gone, as where a file is cut while it is mapped; the process lives on. ErrFull: no slot
// is free. ErrLost: another process took our slot. ErrAlign: bytes that do not begin at a multiple
// of 8. ErrPlatform: this is not Linux.
//
// # Cost
//
// Reading or putting figures costs a pass over the 8,576 bytes of a region.
//
// # Concurrency
//
// A Region and a Publisher belong to one goroutine at a time; any number of processes may share
// the memory.
package shm
