package program_test

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A lot is a range on some cores, of something that is no program.
type lot struct {
	cores l1.CoreSet
	at    l1.Range
}

func partsOf(lots []lot) iter.Seq2[l1.CoreSet, l1.Range] {
	return func(yield func(l1.CoreSet, l1.Range) bool) {
		for _, x := range lots {
			if !yield(x.cores, x.at) {
				return
			}
		}
	}
}

func drawLots(t *rapid.T) (lots []lot) {
	small := rapid.IntRange(0, 5)
	for range small.Draw(t, "lots") {
		var cores []l1.Core
		for range small.Draw(t, "cores") {
			cores = append(cores, l1.Core{X: uint8(small.Draw(t, "x")), Y: uint8(small.Draw(t, "y"))})
		}
		start := uint64(rapid.IntRange(0, 20).Draw(t, "start"))
		lots = append(lots, lot{l1.CoreSetOf(cores...), l1.Range{Start: start, End: start + uint64(small.Draw(t, "size"))}})
	}
	if n := len(lots); n > 1 && rapid.Bool().Draw(t, "one place for two") {
		lots[n-1].cores = lots[0].cores
	}
	return lots
}

// What ranges on cores take is, on each core, the set of their bytes. It is in no other form
// than what a program takes that has them as CBs.
func TestFootprintOfRangesAgreesWithBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lots := drawLots(t)
		f, ok := program.FootprintOf(partsOf(lots))
		require.True(t, ok)
		taken, sizes := map[l1.Core]byteSet{}, map[l1.Core]uint64{}
		for _, x := range lots {
			for c := range x.cores.All() {
				if taken[c] == nil {
					taken[c] = byteSet{}
				}
				taken[c].add(x.at.Start, x.at.Len())
				sizes[c] += x.at.Len()
			}
		}
		bytes, logical := 0, uint64(0)
		for c, has := range taken {
			g, on := f.On(c)
			require.Equal(t, len(has) > 0, on, "%v", c)
			if !on {
				continue
			}
			got := byteSet{}
			for r := range g.Ranges() {
				got.add(r.Start, r.Len())
			}
			require.Equal(t, has, got, "%v", c)
			require.EqualValues(t, len(has), g.Bytes(), "%v", c)
			require.Equal(t, sizes[c], g.Logical(), "%v", c)
			bytes, logical = bytes+len(has), logical+sizes[c]
		}
		require.EqualValues(t, bytes, f.Bytes())
		require.Equal(t, logical, f.Logical())

		b := program.NewBuilder(1)
		for _, x := range lots {
			if !x.at.IsEmpty() {
				b.Range(x.cores.Ranges(), x.at)
			}
		}
		p, err := b.Build(l1.Spec{})
		require.NoError(t, err)
		require.True(t, f.Equal(p.Occupied(program.CircularBuffer)), "%v", lots)
	})
}

// Sums that cannot be counted are reported, however they are spread over ranges and cores.
func TestFootprintOfRangesHasLimits(t *testing.T) {
	on, two := l1.CoreSetOf(l1.Core{}), l1.CoreSetOf(l1.Core{}, l1.Core{X: 9, Y: 200})
	all := l1.Range{End: l1.MaxAddr}
	half := l1.Range{End: l1.MaxAddr/2 + 1}
	for name, c := range map[string]struct {
		lots []lot
		ok   bool
	}{
		"as much as there may be":         {[]lot{{on, all}}, true},
		"the same in two parts":           {[]lot{{on, l1.Range{End: l1.MaxAddr - 1}}, {on, l1.Range{End: 1}}}, true},
		"one byte more":                   {[]lot{{on, all}, {on, l1.Range{End: 1}}}, false},
		"on two cores":                    {[]lot{{two, half}}, false},
		"two on one core":                 {[]lot{{on, half}, {on, half}}, false},
		"two on cores that meet":          {[]lot{{on, half}, {two, half}}, false},
		"inverted":                        {[]lot{{on, l1.Range{Start: 2, End: 1}}}, false},
		"beyond the last address":         {[]lot{{on, l1.Range{End: l1.MaxAddr + 1}}}, false},
		"inverted, and on no core at all": {[]lot{{l1.CoreSet{}, l1.Range{Start: 2, End: 1}}}, false},
	} {
		f, ok := program.FootprintOf(partsOf(c.lots))
		require.Equal(t, c.ok, ok, name)
		if ok {
			require.EqualValues(t, uint64(l1.MaxAddr), f.Logical(), name)
		}
	}
}
