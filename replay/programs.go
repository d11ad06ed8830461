package replay

import (
	"encoding/json"
	"iter"
	"slices"
)

// Programs are rows of programs, numbered from 0: one for each run. A row takes 24 bytes; the parts that rows have
// in common are kept once. The zero value is empty, and so is nil.
type Programs struct {
	full [][]programRow // of rowsAtOnce rows
	// shared says of each of full whether a clone has it too; those behind its end are not.
	shared []bool
	last   []programRow // behind them
	of     *commonRows  // may be shared
}

// rowsAtOnce is how many rows lie side by side. They are never moved when there are more.
const rowsAtOnce = 256

// A programRow has the fields that only one row has, and the numbers of the others.
type programRow struct {
	first, last uint64
	says, takes uint32
}

// commonRows are the parts of rows that come again and again, by number.
type commonRows struct {
	says  numbered[programSays]
	takes numbered[ProgramDetail]
}

// programSays is how a row is named.
type programSays struct {
	op Name
	t  json.Number
}

// numbered are values without repetition.
type numbered[T comparable] struct {
	at   map[T]uint32
	list []T
	free []uint32 // numbers of none
}

func (n *numbered[T]) of(v T) uint32 {
	i, ok := n.at[v]
	if ok {
		return i
	}
	if n.at == nil {
		n.at = map[T]uint32{}
	}
	if last := len(n.free) - 1; last >= 0 {
		i, n.free = n.free[last], n.free[:last]
		n.list[i] = v
	} else {
		i, n.list = uint32(len(n.list)), append(n.list, v)
	}
	n.at[v] = i
	return i
}

// keep drops the values whose numbers are not used. The numbers are given again.
func (n *numbered[T]) keep(used []bool) {
	for v, i := range n.at {
		if !used[i] {
			delete(n.at, v)
		}
	}
	n.free = n.free[:0]
	var none T
	for i := range used {
		if !used[i] {
			n.list[i] = none
			n.free = append(n.free, uint32(i))
		}
	}
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
	d, says := p.of.takes.list[row.takes], p.of.says.list[row.says]
	d.First, d.Last, d.Op, d.T = row.first, row.last, says.op, says.t
	return d
}

func (p *Programs) row(i int) *programRow {
	if chunk := i / rowsAtOnce; chunk < len(p.full) {
		return &p.full[chunk][i%rowsAtOnce]
	}
	return &p.last[i-len(p.full)*rowsAtOnce]
}

// use marks what the rows say and take, by number, and returns how many rows there are.
func (p *Programs) use(says, takes []bool) int {
	mark := func(rows []programRow) {
		for _, row := range rows {
			says[row.says], takes[row.takes] = true, true
		}
	}
	for _, rows := range p.full {
		mark(rows)
	}
	mark(p.last)
	return p.Len()
}

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
	p.last = append(p.last, p.pack(d))
	if len(p.last) == rowsAtOnce {
		p.full, p.last = append(p.full, p.last), nil
	}
}

// Set puts a row in the place of another one. It panics if there is none with this number.
func (p *Programs) Set(i int, d ProgramDetail) {
	if chunk := i / rowsAtOnce; chunk < len(p.full) && chunk < len(p.shared) && p.shared[chunk] {
		p.full[chunk], p.shared[chunk] = slices.Clone(p.full[chunk]), false
	}
	*p.row(i) = p.pack(d)
}

func (p *Programs) pack(d ProgramDetail) programRow {
	if p.of == nil {
		p.of = &commonRows{}
	}
	row := programRow{first: d.First, last: d.Last, says: p.of.says.of(programSays{d.Op, d.T})}
	d.First, d.Last, d.Op, d.T = 0, 0, "", ""
	row.takes = p.of.takes.of(d)
	return row
}

// clone returns rows that go their own way. Until then both share full chunks.
func (p *Programs) clone() *Programs {
	if len(p.full) > 0 {
		p.shared = slices.Repeat([]bool{true}, len(p.full))
	}
	return &Programs{full: slices.Clone(p.full), shared: slices.Clone(p.shared), last: slices.Clone(p.last), of: p.of}
}
