package same_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/tool/replay/internal/same"
)

// A history holds the events of some keys, and the keys as the split passed them.
type history struct {
	events []int
	keys   *same.Keys[int]
}

// A Map agrees with a map of one history per key, and shares values.
func TestMapAgreesWithMapPerKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		splits := 0
		m := same.New(func(v *history, leaving *same.Keys[int]) *history {
			splits++
			require.Equal(t, v.keys.List()[0], v.keys.First())
			for _, key := range leaving.List() {
				require.NotContains(t, v.keys.List(), key)
			}
			return &history{slices.Clone(v.events), leaving}
		})
		want := map[int][]int{}
		next := 0
		for step := range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch what := rapid.IntRange(0, 3).Draw(t, "what"); {
			case what == 0 || next == 0:
				v := &history{}
				v.keys = m.Add(next, v)
				want[next], next = nil, next+1
			case what == 1:
				of := rapid.IntRange(0, next-1).Draw(t, "like")
				if v := m.Get(of); v.keys.Last() < next {
					m.Join(next, v)
					want[next], next = slices.Clone(want[of]), next+1
				}
			default:
				some := rapid.SliceOf(rapid.IntRange(0, next)).Draw(t, "keys") // one of them is unknown
				for _, v := range m.Pick(slices.Values(some)) {
					v.events = append(v.events, step)
				}
				slices.Sort(some)
				for _, key := range slices.Compact(some) {
					if key < next {
						want[key] = append(want[key], step)
					}
				}
			}
			require.Equal(t, len(want), m.Len())
			seen := 0
			for _, v := range m.All() {
				seen += v.keys.Len()
				for _, key := range v.keys.List() {
					require.Same(t, v, m.Get(key))
				}
			}
			require.Equal(t, m.Len(), seen)
			require.ElementsMatch(t, slices.Collect(m.Keys()), slices.Collect(func(yield func(int) bool) {
				for key := range want {
					if !yield(key) {
						return
					}
				}
			}))
			for key, events := range want {
				require.Equal(t, events, m.Get(key).events)
			}
		}
		require.LessOrEqual(t, splits, len(m.All()))
		require.Nil(t, m.Get(next))
	})
}

// The smaller part of the keys moves, whichever part is requested.
func TestPartMovesTheSmallerPart(t *testing.T) {
	for _, asked := range [][]int{{7}, {0, 1, 2, 3, 4, 5, 6}} {
		m := same.New(func(_ *history, leaving *same.Keys[int]) *history { return &history{keys: leaving} })
		first := &history{}
		first.keys = m.Add(0, first)
		for key := 1; key < 8; key++ {
			m.Join(key, first)
		}
		require.Equal(t, asked, m.Part(first, asked).keys.List())
		require.Equal(t, []int{7}, m.Get(7).keys.List())
		require.Same(t, first, m.Get(0))
	}
}
