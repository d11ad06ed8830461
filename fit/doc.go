// Package fit judges whether a program fits on a device, and advises if it does not. It holds no
// state: the contents of L1 and a program go in, and a [Verdict] comes out.
//
// # Model
//
// A [Place] lists the buffers in the L1 of one device, or of several devices with equal ones:
// [Buffer]s of a [Kind], each on some cores ([Part]), and [BufferTotals] count them. Devices
// and buffers have names, a [DeviceID] and a [BufferID]. [Check] judges a program there twice:
//
//   - By tt-metal's own checks, to the letter. They compare the end that its bookkeeping charges
//     a core range with the lowest L1 buffer that counts there. The [Mode] of a buffer sets the
//     cores on which it counts: in lockstep all cores of the device, per core its own. In HYBRID
//     mode the buffers of all places count. A [Refusal], of a [RefusalKind], carries tt-metal's
//     own text.
//   - By bytes, core by core. A [Clash] is a set of cores on which bytes of the program are
//     beyond L1 or held by something else. It lists the holders ([Resident]), how far they
//     reach, and the free bytes that cannot be used ([Hole]).
//
// The two differ where a buffer lies on other cores, where placement passes over a hole, where
// bookkeeping charges more than is occupied, and where tt-metal makes no check. The verdict
// names the difference, and gives advice:
//
//	core 0-0   base [circular buffers ===>      free      <=== L1 buffers] end
//	                                      End              Limit
//
// If it depends on an unknown property of a buffer, the verdict has a [Doubt], of a [DoubtKind],
// and neither fits nor refuses.
//
// Circular buffers of other programs are no obstacles: programs share their addresses.
//
// [HeadroomOf] and [HeadroomOver] return the room that is left ([Headroom]), [MayGrow] the bytes
// by which one buffer of a program may grow. [Clears] and [LeastRoom] are quick tests for frequent
// use. [Replaced] lets placement find the addresses of a recorded program, so that buffers move
// when one changes its size.
//
// [RoomOn] returns how large one more L1 buffer could be that gets its address in a [Mode] on some cores ([Room]),
// and the place of one of a given size. [Highest] is the search of tt-metal's allocator, and [PlaceBuffer] gives a
// buffer its addresses, or [ErrNoSpace], or [ErrHidden]. Buffers take whole steps of [Alignment], and [FreeBlocks]
// are the free bytes beside them. [CheckBuffer] judges a buffer before it is
// allocated: a [BufferVerdict] lists the residents with which it would share bytes ([Overlap]), and
// the programs that tt-metal would refuse beside it.
//
// An [Occupancy] ([NewOccupancy]) collects programs and buffers of many moments, each with a number;
// [NoOwner] is the number of no owner. [RoomThroughout] returns the room that a buffer could have
// kept all the time, and [RoomsThroughout] the same for each core, of which [Least] is the smallest.
//
// [Verdict.Row] is a verdict as JSON has it: an [AnswerRow] with rows of things in L1 by their ids ([IDRow],
// [NewIDRow]) and a [DoubtRow] for each doubt. In it is a [VerdictRow] with [RefusalRow], [ClashRow] and [HoleRow].
// Callers with other names for things use [NewAnswerRow], [NewVerdictRow] and [NewResidentRow] ([ResidentRow]).
//
// # Invariants
//
// Every figure is in bytes of one core. A program that fits has no advice, one that does
// not has some. Arguments are not changed, and their buffers are not kept.
//
// # Cost
//
// [Check] is O(CBs x buffers) for each place. A program that lies below all buffers is
// seen to fit in O(CBs + buffers). Each call of [Verdict.Advice] costs some hundred layouts of
// the program and a few passes over all buffers.
//
// # Concurrency
//
// Everything is a function of its arguments.
//
// # Words
//
//   - site: the buffers of one Place, by core;
//   - holding: the bytes of one buffer on some cores;
//   - taking: a run of taken bytes, with who took its first and its last;
//   - tile: cores with the same ranges of a question and the same buffers; piece: bytes of a buffer on one.
package fit
