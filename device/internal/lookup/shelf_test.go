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
