package residue

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device/internal/audit"
	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// toyCB is a circular buffer, or what else a program brings, on cores of a toy.
func toyCB(kind program.Kind, cores string, size uint64) program.CB {
	return program.CB{Kind: kind, Cores: l1.MustParseCoreRangeSet(cores), Size: size}
}

// toyPieces returns what a program on a toy leaves. A toy has more columns than a block of a plane.
func toyPieces(t require.TestingT, n *lookup.Numbers, id program.ID, cbs ...program.CB) []Piece {
	p, err := program.Place(id, "", l1.Spec{Cols: 18, Rows: 2}, cbs...)
	require.NoError(t, err)
	return PiecesOf(p, n)
}

// Each number that is kept of a residue is held against a recount.
func TestResidueCounts(t *testing.T) {
	// Program 1 is under 2, and its scratchpad inside the circular buffers of both, but on two cores.
	setup := func(t *testing.T) *Residue {
		var n lookup.Numbers
		var b Book
		left := func(id program.ID, cbs ...program.CB) *Residue { return b.Of(toyPieces(t, &n, id, cbs...), &n) }
		r := left(1, toyCB(program.CircularBuffer, "{[0-0 - 17-0]}", 4096), toyCB(program.Scratchpad, "{[1-0 - 3-1]}", 64))
		r = b.Over(r, left(2, toyCB(program.CircularBuffer, "{[2-0 - 2-1]}", 8192)), false, &n)
		require.Len(t, r.planes[program.CircularBuffer].claims, 2)
		require.NotEmpty(t, r.Held())
		return r
	}
	for _, test := range []struct {
		want  string // in the error
		plant func(r *Residue)
	}{
		{"device resident is", func(r *Residue) { r.bytes++ }},
		{"device resident dataflow buffers and scratchpads is", func(r *Residue) { r.other-- }},
		{"device resident, of all kinds is", func(r *Residue) { r.all++ }},
		{"device resident, on the fullest core is", func(r *Residue) { r.core++ }},
		{"end of what is resident", func(r *Residue) { r.End++ }},
		{"charge of what is resident", func(r *Residue) { r.charge++ }},
		{"hash of what is resident", func(r *Residue) { r.hash++ }},
		{"cores that were written", func(r *Residue) { r.n-- }},
		{"bytes of a program on a core", func(r *Residue) { r.Written()[0].Group = program.Group{} }},
		{"kind of a resident program", func(r *Residue) { r.Written()[0].Kind = program.DataflowBuffer }},
		{"columns of a block of cores", func(r *Residue) {
			b := &r.planes[0].blocks[0]
			b.last = append(b.last, make([]uint32, 16)...)
		}},
		{"number of a writer", func(r *Residue) { r.planes[0].blocks[0].last[0] = 99 }},
		{"cores of a resident program", func(r *Residue) { r.planes[0].claims[0].cores++ }},
		{"start of a resident range on [", func(r *Residue) {
			first := r.cells[0].Ranges[0] // as many bytes, eight higher
			r.cells[0].Ranges = append([]l1.Range{{Start: first.Start + 8, End: first.End + 8}}, r.cells[0].Ranges[1:]...)
		}},
		{"number of times that there is a resident range on [", func(r *Residue) { r.cells[0].Ranges = r.cells[0].Ranges[:0] }},
		{"cores with something resident", func(r *Residue) { r.cells = r.cells[1:] }},
		{"resident bytes of some cores", func(r *Residue) { r.cells[0].Bytes++ }},
	} {
		t.Run(test.want, func(t *testing.T) {
			var sound, spoilt audit.Audit
			r := setup(t)
			count := Counts{}.Count(&sound, r)
			require.NoError(t, sound.Err)
			require.Equal(t, residueCount{Bytes: 17*4096 + 2*8192, Other: 6 * 64, all: 17*4096 + 2*8192 + 2*64, Core: 8192}, count)
			test.plant(r)
			Counts{}.Count(&spoilt, r)
			require.ErrorContains(t, spoilt.Err, test.want)
		})
	}
}

// Nothing that others know may be changed in place, however they know it.
func TestKnownResidues(t *testing.T) {
	for _, of := range []string{"known", "under", "over"} {
		t.Run(of, func(t *testing.T) {
			var n lookup.Numbers
			var b Book
			a := b.Of(toyPieces(t, &n, 1, toyCB(program.CircularBuffer, "{[0-0 - 3-0]}", 64)), &n)
			c := b.Of(toyPieces(t, &n, 2, toyCB(program.CircularBuffer, "{[2-0 - 5-0]}", 64)), &n)
			both := b.Over(a, c, false, &n)
			var sound, spoilt audit.Audit
			b.CheckKnown(&sound)
			require.NoError(t, sound.Err)
			map[string]*Residue{"known": c, "under": a, "over": both}[of].loose = true
			if of != "known" {
				b.known.Clear()
			}
			b.CheckKnown(&spoilt)
			require.ErrorContains(t, spoilt.Err, "number of times that a known residue stays as it is")
		})
	}
}
