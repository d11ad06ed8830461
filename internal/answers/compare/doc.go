// Package compare says what differs between two runs: of a model before and after a change,
// of two builds, or of two versions of a plan.
//
// # Model
//
// A [Run] is what one capture, event log or saved report says. [Of] makes it of a
// replay.Result, [Decode] of the JSON of "cbl1 report", which [IsReport] knows by its first
// bytes ([DecodeError] says what is wrong with one). [Compare] takes two sides, each one Run
// or several, on some [Terms], and returns a [Diff]:
//
//	old ──Of, Decode──> Run ──┐             Side: answer, peak, tightest program
//	                          ├─Compare─> Diff ─ Capture: chip, buffers left at the end
//	new ──Of, Decode──> Run ──┘             Device: figures, peak, groups of cores, programs
//
// A [Side] has the answer of check, the [Peak] and the [Tightest] program. A [Capture] is a
// [File] of each side, its [Chip], and what lives at its end. A [Device] stands for all that
// differ alike ([DeviceID]): its [Grid], each [Figure], each [Part] of what lay on its
// fullest core (an [Extent] before and after), each [Group] of cores and [LaidGroup], and each [Program] that
// differs ([ProgramRow]), with its buffers ([CB], [CBRow]). A [Pair] is a value before and
// after, a [State] what became of something. A [Growth] says whether a limit is kept. A
// [Basis] says by what programs could be compared ([ProgramBasis]).
//
// Programs are matched in their order, never by address. A program without partner costs 3;
// a pair costs nothing if it is the same, 1 if it is in another place, 2 if its bytes differ,
// 4 if the number of its buffers or cores does. Programs of other operations are no pair. The
// alignment of least cost is taken, so that an operation that was inserted is one program
// that is new, and everything behind it the same.
//
// # Invariants
//
// What is compared with itself is equal. The other way round, new is gone and grown is shrunk,
// and everything else the same, unless Basis.Rough. No sum wraps: numbers above 2^63-1 are no
// report.
//
// # Cost
//
// O(programs) where the sides are much alike; each difference widens the band of alignments
// that are looked at. Two sequences of 5,000 programs that differ everywhere take 75 million
// steps; all alignments of a Diff take some hundred million at most, and beyond that are cut
// into pieces (Basis.Rough).
//
// # Concurrency
//
// A Run does not change once it is made, and several comparisons may read it. A Diff is a
// value of its own.
package compare
