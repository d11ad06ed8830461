// Package fit says whether a program fits on a device, and what to do if it does not. It
// holds no state: what lies where, and a program, go in, and a [Verdict] comes out.
//
// # Model
//
// A [Place] lists the buffers in the L1 of one device, or of several devices with equal ones:
// [Buffer]s of a [Kind], each on some cores ([Part]), and [BufferTotals] count them. Devices
// and buffers have names, a [DeviceID] and a [BufferID]. [Check] lets two judges look at a program there:
//
//   - tt-metal's own checks, to the letter. They compare the end of what its bookkeeping
//     charges a core range with the lowest L1 buffer that counts there. The [Mode] of a
//     buffer says where it counts: in lockstep on all cores of the device, per core on its
//     own. In HYBRID mode the buffers of all places are looked at. What it refuses is a
//     [Refusal], of a [RefusalKind], whose text is tt-metal's own.
//   - A comparison of bytes, core by core. A [Clash] is a set of cores on which bytes of
//     the program are beyond L1 or held by something else: who that is ([Resident]), how
//     far it reaches, and which free bytes cannot be used ([Hole]).
//
// The two differ where a buffer lies on other cores, where placement passes over a hole,
// where bookkeeping charges more than is occupied, and where tt-metal does not look. The
// verdict says which, and what to do:
//
//	core 0-0   base [circular buffers ===>      free      <=== L1 buffers] end
//	                                     End              Limit
//
// Where it depends on something about a buffer that is not known, the verdict has a [Doubt],
// of a [DoubtKind], and neither fits nor refuses.
//
// Circular buffers of other programs are never in the way: programs share their addresses.
//
// [HeadroomOf] and [HeadroomOver] say how much room is left ([Headroom]), [MayGrow] by how
// much one buffer of a program may grow. [Clears] and [LeastRoom] are quick looks for those who judge
// often. [Replaced] lets the addresses of a recorded program be found by placement, so
// that buffers move when one changes its size.
//
// [RoomOn] says how large one more L1 buffer could be on some cores ([Room]), and where one of a size
// would go. [Highest] is the search of tt-metal's allocator, and [PlaceBuffer] gives a buffer its
// addresses, or [ErrNoSpace], or [ErrHidden]. [CheckBuffer] judges a buffer before it is allocated: a
// [BufferVerdict] has what it would share bytes with ([Overlap]), and the programs that tt-metal
// would refuse beside it.
//
// A [Taken] ([NewTaken]) collects programs and buffers of many moments, each with a number or [Nobody].
// [RoomThroughout] says where a buffer could have been all the time, and [RoomsThroughout] says it of each core.
//
// [Verdict.Row] is a verdict as JSON has it: an [AnswerRow] with rows of things in L1 by their ids ([IDRow],
// [NewIDRow]) and a [DoubtRow] for each doubt. In it is a [VerdictRow] with [RefusalRow], [ClashRow] and [HoleRow].
// Those who name things in other words use [NewAnswerRow], [NewVerdictRow] and [NewResidentRow] ([ResidentRow]).
//
// # Invariants
//
// Every figure is in bytes of one core. A program that fits has no advice, one that does
// not has some. Nothing that is given is changed, and none of its buffers is kept.
//
// # Cost
//
// [Check] is O(CBs x buffers) for each place. A program that lies below all buffers is
// seen to fit in O(CBs + buffers). Each call of [Verdict.Advice] costs some hundred layouts of
// the program and a few looks at all buffers.
//
// # Concurrency
//
// Everything is a function of its arguments.
package fit
