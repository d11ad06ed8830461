// Package shm has the regions of shared memory in which tt-metal processes publish what they
// allocate, one for each chip: layouts 2, 3 and 4, byte for byte.
//
// # Model
//
// A [Region] is the memory of a region: a file that Open or Create has mapped, or bytes that
// Over was given. An [Image] is what it says at a moment: [Usage] of the device, of each [Chip]
// and of each [Process]. Decode and Image.Append go from bytes to images and back; all layouts
// have the same offsets:
//
//	0      8            16          32    40      48      88             856             8536
//	version processes   references  asic  device  totals  16 chips x 48  64 slots x 120  state (version 4)
//
// List finds the regions of a folder, as [Found]; Name says how the file of a chip is called.
//
// A [Publisher], made by Attach on the [Terms] of its process, holds a slot of a region and puts
// figures there. It lives as tt-metal's newest writer does: it takes over what no live process
// holds, gives back what dead processes had, and gives back its own at Close. Alive is the
// test of life that goes with it. A region that another live process holds is refused.
//
// # Invariants
//
// Every field is read and written whole, and a region says that it is ready last. There is no
// lock around several fields: two that are read together may be of different moments. Nothing
// here clips a figure: what is larger than any L1 is somebody's accounting, and stands.
//
// In version 2 two marks of a free chip exist. An entry behind the first with number 0 is free
// if nothing else stands in it.
//
// # Errors
//
// A layout that is not known is a [VersionError], and a file too small for its layout a
// [SizeError]. A [HeldError] names the process that holds a region. ErrNotReady: it is being
// set up. ErrFault: its memory is gone, as where a file is cut while it is mapped; the process
// lives on. ErrFull: no slot is free. ErrLost: somebody gave our slot away. ErrAlign: bytes
// that do not begin at a multiple of 8. ErrPlatform: this is not Linux.
//
// # Cost
//
// Reading and putting figures cost the 8,576 bytes of a region, whatever they say.
//
// # Concurrency
//
// A Region and a Publisher belong to one goroutine at a time; any number of processes may share
// the memory.
package shm
