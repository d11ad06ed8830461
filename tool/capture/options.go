package capture

import (
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
	"github.com/cbl1/cbl1/tool/tensor"
)

// Options add facts that a capture lacks, or override its own. The zero value leaves everything to the
// capture.
type Options struct {
	Arch  l1.Arch // "" = by the file's L1 size, or Blackhole
	Base  uint64  // where circular buffers start; 0 = by file or architecture
	Align uint64  // alignment of their addresses; 0 = by architecture
	// L1Small is the size of the L1_SMALL area at the top of L1. Absent: the file gives it by
	// the size of a bank, or there is none. L1 buffers without an address are placed below it.
	L1Small event.Opt[uint64]
	MaxL1   uint64 // size of L1; 0 = by file or architecture
	// NoInfer leaves operations that found their program in the cache without one.
	NoInfer bool
	// At, if present, is the counter of a node. After it the source yields the open programs
	// as they stand, so that a query of this moment sees them.
	At event.Opt[uint64]
	// TempDir is the folder for a temporary file with what a pipe, or another source that cannot seek, has
	// beyond 1 MiB. Such a source is refused with event.ErrTooLarge if TempDir is "".
	TempDir string
	// Operations yields the start and the end of each function. Without it, events name the
	// functions that run (Event.Op), and a function in which nothing happens has no event.
	Operations bool
	// Again keeps a source that cannot seek for another call of Events. Reader.Close ends that.
	Again bool
	// Tensors, if not nil, gets the tensors of L1 buffers before the first event. A log or a dump has none.
	Tensors *tensor.Table
}

func (o Options) overrides() survey.Overrides {
	return survey.Overrides{Arch: o.Arch, Base: o.Base, Align: o.Align, MaxL1: o.MaxL1, L1Small: o.L1Small}
}
