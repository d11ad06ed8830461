package lookup

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A shelf is a list in which one looks for a thing, however many share a hash: all of
// them, some, or none.
func TestShelf(t *testing.T) {
	for _, hashes := range []int{1, 2, 1000} {
		rapid.Check(t, func(t *rapid.T) {
			var s Shelf[int]
			model := map[int]*int{}
			hashOf := func(n int) Hash { return Hash(n % hashes) }
			number := rapid.IntRange(0, 29)
			t.Repeat(map[string]func(*rapid.T){
				"put": func(t *rapid.T) {
					n := number.Draw(t, "n")
					if model[n] == nil {
						model[n] = &n
						s.Put(hashOf(n), &n)
					}
				},
				"drop": func(t *rapid.T) {
					if n := number.Draw(t, "n"); model[n] != nil {
						s.Drop(hashOf(n), model[n])
						delete(model, n)
					}
				},
				"drop what is not there": func(t *rapid.T) {
					n := number.Draw(t, "n") // an equal thing is another one
					s.Drop(hashOf(n), &n)
				},
				"": func(t *rapid.T) {
					require.Equal(t, len(model), s.Len())
					for n := range 30 {
						found := s.Find(hashOf(n), func(o *int) bool { return *o == n })
						require.Same(t, model[n], found)
						require.Equal(t, model[n] != nil, s.Has(hashOf(n), model[n]))
						require.False(t, s.Has(hashOf(n), &n))
					}
					all := map[int]*int{}
					for h, n := range s.All() {
						require.Equal(t, hashOf(*n), h)
						all[*n] = n
					}
					require.Equal(t, model, all)
					taken := 0 // spots; none is free between a thing and its home
					for at, p := range s.spots {
						if p.thing == nil {
							continue
						}
						taken++
						for home := s.home(p.hash); home != at; home = s.after(home) {
							require.NotNil(t, s.spots[home].thing)
						}
					}
					require.Equal(t, taken, s.n)
					require.LessOrEqual(t, 4*s.n, 3*len(s.spots))
					require.True(t, 8*s.n >= len(s.spots) || len(s.spots) == fewSpots)
				},
			})
		})
	}
}

// A town is a crossing that has a content.
type town struct {
	Crossing[town]
	set uint64
}

// Towns are sets of bits, and a change flips some. Whatever they become and whichever
// end: a way leads to the set that the change makes, or it is not known.
func TestWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := uint64(0)
		fresh := func() uint64 { name++; return name }
		var towns []*town
		for range 4 {
			x := &town{set: rapid.Uint64Range(0, 7).Draw(t, "set")}
			x.Self, x.Name = x, fresh()
			towns = append(towns, x)
		}
		live := func(t *rapid.T) *town { return rapid.SampledFrom(towns).Draw(t, "town") }
		t.Repeat(map[string]func(*rapid.T){
			"connect": func(t *rapid.T) {
				from, to := live(t), live(t)
				if added, gone := to.set&^from.set, from.set&^to.set; from != to && from.Follow(gone, added) == nil {
					from.Connect(&to.Crossing, gone, added)
					require.Same(t, to, from.Follow(gone, added))
					require.Same(t, from, to.Follow(added, gone))
				}
			},
			"change": func(t *rapid.T) {
				x := live(t)
				x.set ^= rapid.Uint64Range(1, 7).Draw(t, "flip")
				x.Rename(fresh())
			},
			"end": func(t *rapid.T) {
				i := rapid.IntRange(0, len(towns)-1).Draw(t, "town")
				*towns[i] = town{}
				towns[i] = &town{set: rapid.Uint64Range(0, 7).Draw(t, "set")}
				towns[i].Self, towns[i].Name = towns[i], fresh()
			},
			"": func(t *rapid.T) {
				for _, x := range towns {
					for old := range uint64(8) {
						for new := range uint64(8) {
							if to := x.Follow(old, new); to != nil {
								require.Contains(t, towns, to)
								require.Equal(t, x.set&^old|new, to.set)
							}
						}
					}
				}
			},
		})
	})
}

// A way that has ended makes room before one that leads somewhere.
func TestWaysThatEndedGoFirst(t *testing.T) {
	var towns [4]*town
	for i := range towns {
		towns[i] = &town{}
		towns[i].Self, towns[i].Name = towns[i], uint64(i+1)
	}
	x := towns[0]
	x.Connect(&towns[1].Crossing, 0, 1)
	x.Connect(&towns[2].Crossing, 0, 2)
	towns[2].Rename(9)
	x.Connect(&towns[3].Crossing, 0, 3)
	require.Same(t, towns[1], x.Follow(0, 1))
	require.Nil(t, x.Follow(0, 2))
	require.Same(t, towns[3], x.Follow(0, 3))
}
