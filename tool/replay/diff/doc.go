// Package diff compares two runs: of a model before and after a change, of two builds, or of two versions
// of a plan. It returns the answer of "cbl1 diff" as a [Document], which is its JSON.
//
// # Model
//
// A [Run] is the comparable part of a capture, an event log or a saved report. Each side of a comparison is one Run
// or several:
//
//	old ──Of, Decode──> Run ──┐                 Side: answer, peak, tightest program
//	                          ├─Compare─> Document ─ Capture: chip, buffers left at the end
//	new ──Of, Decode──> Run ──┘                 Device: figures, peak, groups of cores, programs
//
// A [Device] stands for all devices that differ alike. It has each figure, and the differences: residents of the
// fullest core at its peak, groups of cores, and programs with their buffers. [Terms] judge the sides: codes of
// accepted reasons, and a limit of growth ([Growth]).
//
// Programs are matched in their order, never by address. A program without partner costs 3; a pair costs nothing
// if its programs are the same, 1 if their places differ, 2 if their bytes differ, 4 if the number of their buffers or
// cores differs. Programs of other operations are no pair. The alignment of least cost is taken: an inserted operation
// is one new program, and all programs behind it stay the same.
//
// # Invariants
//
// A run compared with itself is equal. Exchanged sides exchange new with gone and grown with shrunk, and change nothing
// else, unless Precision.Rough. No sum wraps: a report with numbers above 2^63-1 is refused.
//
// # Cost
//
// O(programs) where the sides are much alike; each difference widens the band of alignments that is searched. Two
// sequences of 5,000 programs that differ everywhere take 75 million steps. All alignments of a Document take
// some hundred million steps at most; longer ones are cut into pieces (Precision.Rough).
//
// # Concurrency
//
// A Run does not change once it is made, and several comparisons may read it. A Document is a value of its own.
package diff
