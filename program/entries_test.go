package program_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// What tt-metal validates: an entry for each core range, in the order in which the
// ranges were first named, with the end of its last region. Base 103,712, alignment 32.
func TestEntries(t *testing.T) {
	const base = 103_712
	type entry struct {
		cores string
		end   uint64
	}
	var row, column []program.CB // more ranges than are searched one by one
	var ends, below []entry
	for x := range 20 {
		top, bottom := fmt.Sprintf("[%d-0 - %d-0]", x, x), fmt.Sprintf("[%d-5 - %d-5]", x, x)
		row, column = append(row, cb("{"+top+"}", 32)), append(column, cb("{"+top+", "+bottom+"}", 32))
		ends, below = append(ends, entry{top, base + 64}), append(below, entry{bottom, base + 64})
	}
	for _, c := range []struct {
		name string
		cbs  []program.CB
		want []entry
	}{
		{"none", nil, nil},
		{"one range", []program.CB{cb("{[0-0 - 7-7]}", 2048), cb("{[0-0 - 7-7]}", 100)}, []entry{{"[0-0 - 7-7]", base + 2148}}},
		{
			"both entries are charged where ranges overlap",
			[]program.CB{cb("{[0-0 - 1-0]}", 4096), cb("{[1-0 - 2-0]}", 6144)},
			[]entry{{"[0-0 - 1-0]", base + 10_240}, {"[1-0 - 2-0]", base + 10_240}},
		},
		{
			"already marked higher", // placement goes on above, and that entry stays behind
			[]program.CB{cb("{[0-0 - 0-0]}", 4096), cb("{[1-0 - 1-0]}", 2048), cb("{[0-0 - 1-0]}", 1024)},
			[]entry{{"[0-0 - 0-0]", base + 5120}, {"[1-0 - 1-0]", base + 5120}, {"[0-0 - 1-0]", base + 5120}},
		},
		{
			"ranges are merged first",
			[]program.CB{cb("{[2-0 - 2-0], [0-0 - 1-1]}", 32)},
			[]entry{{"[0-0 - 2-0]", base + 32}, {"[0-1 - 1-1]", base + 32}},
		},
		{"global CBs charge nothing", []program.CB{global(cb("{[0-0 - 7-7]}", 64))}, nil},
		{
			"but a local one charges their range, which comes first",
			[]program.CB{global(cb("{[0-0 - 7-7]}", 64)), cb("{[0-0 - 0-0]}", 4096)},
			[]entry{{"[0-0 - 7-7]", base + 4096}, {"[0-0 - 0-0]", base + 4096}},
		},
		{"many ranges, and then each with another one", slices.Concat(row, column), slices.Concat(ends, below)},
	} {
		spec := l1.Spec{CBBase: base, L1Size: l1.N150().L1Size, L1Align: l1.N150().L1Align}
		for _, kind := range []program.Kind{program.CircularBuffer, program.DataflowBuffer} {
			var cbs []program.CB
			for _, cb := range c.cbs {
				cbs = append(cbs, as(kind, cb))
			}
			p := build(t, spec, cbs...)
			var got []entry
			for e := range p.Entries(kind) {
				got = append(got, entry{e.Cores.String(), e.End})
			}
			require.Equal(t, c.want, got, "%s, as %ss", c.name, kind)
		}
	}
}

func TestEntriesOfScratchpads(t *testing.T) {
	p := build(t, l1.Spec{CBBase: 1024},
		as(program.Scratchpad, cb("{[0-0 - 0-0]}", 100)), as(program.DataflowBuffer, cb("{[0-0 - 0-0]}", 64)))
	require.Empty(t, slices.Collect(p.Entries(program.CircularBuffer)))
	require.Empty(t, slices.Collect(p.Entries(program.Scratchpad+1)))
	for _, kind := range []program.Kind{program.DataflowBuffer, program.Scratchpad} {
		require.Equal(t, []program.Entry{{Cores: l1.CoreRange{}, End: 1024 + 164}}, slices.Collect(p.Entries(kind)), kind)
	}
}
