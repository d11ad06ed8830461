package classes

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device/internal/lookup"
)

// Live sets and their copies find what maps have, the farthest-reaching first, and all that is put in
// order is paid for by changes.
func TestLiveSetsAreMaps(t *testing.T) {
	type pair struct {
		live  *live
		model map[*Holder]bool
		paid  int // changes of this one and of its original, and the allowance for copies
	}
	rapid.Check(t, func(t *rapid.T) {
		var o Roster
		for i := range 60 {
			r := &Holder{reach: uint64(i % 7), Serial: uint64(i), mark: mark{i, lookup.Hash(i * i)}}
			o.Of = append(o.Of, r)
		}
		sets := []*pair{{new(live), map[*Holder]bool{}, 0}}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			s := rapid.SampledFrom(sets).Draw(t, "set")
			switch rapid.IntRange(0, 40).Draw(t, "do") {
			case 0:
				c := &pair{s.live.clone(&o), maps.Clone(s.model), fewPrograms}
				s.paid += fewPrograms
				sets = append(sets, c)
			case 1:
				want := slices.SortedFunc(maps.Keys(s.model), func(a, b *Holder) int {
					return cmp.Or(-cmp.Compare(a.reach, b.reach), -cmp.Compare(a.Serial, b.Serial))
				})
				s.paid += len(want)
				s.live.sort(&o)
				require.Equal(t, want, slices.Collect(s.live.search))
			default:
				r := rapid.SampledFrom(o.Of).Draw(t, "program")
				if s.model[r] {
					delete(s.model, r)
					s.live.drop(r)
				} else {
					s.model[r] = true
					s.live.put(r)
				}
				s.paid++
			}
			require.Len(t, s.model, s.live.n)
			require.LessOrEqual(t, s.live.looked, s.paid)
			var sum lookup.Hash
			for r := range s.model {
				require.Contains(t, slices.Collect(s.live.Bits.All()), r.Number)
				sum += r.Hash
			}
			require.Equal(t, sum, s.live.Hash)
		}
	})
}

// An order that is used now and then is made once, however many programs come and go.
func TestOrderStaysWhileItIsUsed(t *testing.T) {
	const n = 100
	var o Roster
	var l live
	for i := range n {
		r := &Holder{reach: uint64(i), Serial: uint64(i), mark: mark{i, lookup.Hash(i)}}
		o.Of = append(o.Of, r)
		l.put(r)
	}
	for i := range 100 * n {
		if i%n == 0 {
			l.sort(&o)
		}
		l.drop(o.Of[i%n])
		l.put(o.Of[i%n])
	}
	require.Equal(t, n, l.looked)
}
