package answer

import (
	"iter"
	"slices"
	"unique"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Programs are rows of programs, numbered from 0: one for each run. A row takes 24 bytes; the parts that rows have
// in common are kept once. The zero value is empty, and so is nil.
type Programs struct {
	full [][]programRow // of rowsAtOnce rows
	// shared says of each of full whether a clone has it too; those behind its end are not.
	shared []bool
	last   []programRow // behind them
}

// rowsAtOnce is how many rows lie side by side: 8 KiB with the word that Go adds. They are never moved when there are
// more.
const rowsAtOnce = 341

// A programRow has the fields that only one row has, and the others as one value for all rows that are equal in them.
type programRow struct {
	first, last uint64
	rest        unique.Handle[ProgramDetail]
}

// Len returns the number of rows.
func (p *Programs) Len() int {
	if p == nil {
		return 0
	}
	return len(p.full)*rowsAtOnce + len(p.last)
}

// At returns a row. It panics if there is none with this number.
func (p *Programs) At(i int) ProgramDetail {
	row := p.row(i)
	d := row.rest.Value()
	d.First, d.Last = row.first, row.last
	return d
}

func (p *Programs) row(i int) *programRow {
	if chunk := i / rowsAtOnce; chunk < len(p.full) {
		return &p.full[chunk][i%rowsAtOnce]
	}
	return &p.last[i-len(p.full)*rowsAtOnce]
}

// FirstOf returns the node of the first circular buffer of a row.
func (p *Programs) FirstOf(i int) uint64 { return p.row(i).first }

// All returns the rows with their numbers.
func (p *Programs) All() iter.Seq2[int, ProgramDetail] {
	return func(yield func(int, ProgramDetail) bool) {
		for i := range p.Len() {
			if !yield(i, p.At(i)) {
				return
			}
		}
	}
}

// Add adds a row behind the others.
func (p *Programs) Add(d ProgramDetail) {
	p.last = append(p.last, newProgramRow(d))
	if len(p.last) == rowsAtOnce {
		p.full, p.last = append(p.full, p.last), make([]programRow, 0, rowsAtOnce)
	}
}

// Set puts a row in the place of another one. It panics if there is none with this number.
func (p *Programs) Set(i int, d ProgramDetail) {
	if chunk := i / rowsAtOnce; chunk < len(p.full) && chunk < len(p.shared) && p.shared[chunk] {
		p.full[chunk], p.shared[chunk] = slices.Clone(p.full[chunk]), false
	}
	*p.row(i) = newProgramRow(d)
}

func newProgramRow(d ProgramDetail) programRow {
	row := programRow{first: d.First, last: d.Last}
	d.First, d.Last = 0, 0
	row.rest = unique.Make(d)
	return row
}

// Clone returns rows that go their own way. Until then both share full chunks.
func (p *Programs) Clone() *Programs {
	if len(p.full) > 0 {
		p.shared = slices.Repeat([]bool{true}, len(p.full))
	}
	return &Programs{full: slices.Clone(p.full), shared: slices.Clone(p.shared), last: slices.Clone(p.last)}
}

// A ProgramBuffer is a circular buffer, dataflow buffer or scratchpad of a program.
type ProgramBuffer struct {
	Kind   fit.Kind   `json:"kind"`
	Number int        `json:"cb"`     // position among the program's buffers of this kind, from 0
	Global bool       `json:"global"` // it lies in memory of something else
	Cores  l1.CoreSet `json:"cores"`
	Size   uint64     `json:"size_bytes"` // on each core
	Range  l1.Range   `json:"range"`      // empty if the place is not known, or the size is 0
}

// An EnqueuedProgram is a program that was enqueued, with the lowest buffers beside it. Runs are the same if they are of
// one operation, place the same, and have the same lowest address beside them. Everything said of them is said of
// the first.
type EnqueuedProgram struct {
	Run     ProgramRun
	Device  event.Opt[uint64] // the first device
	Devices int               // on which it was enqueued then
	Times   int64             // how often it was enqueued like this, the first time included

	// OneOf is how many workloads may have run instead of this one, itself included; 0 if it is
	// known what ran. The programs of all of them are listed: one of the workloads ran. Of
	// more than 64 some are not.
	OneOf int

	// Programs have its buffers: circular buffers as one program, dataflow buffers and scratchpads as another,
	// where it has any. Synthesised: some have no address in the source and were placed.
	Programs    []*program.Program
	Synthesised bool

	// Lowest are the L1 buffers that lay lowest on the device, all at one address: what
	// tt-metal compares the region of the run with. LowestSynthesised: one of them has no
	// address in the source and was placed. LowestCores: the one on the fewest cores lies on so many.
	Lowest            []BufferInfo
	LowestSynthesised bool
	LowestCores       int
}
