package lookup

import (
	"iter"
	"math/bits"
)

// A Shelf is a hash table. It finds a value by its hash and confirms it by a
// comparison. The zero shelf is empty.
//
// Its spots are a ring. The hash of a thing gives its home. A thing takes the first
// free spot from its home on. So no spot is free between the home of a thing and the
// thing:
//
//	spot      0  1  2  3  4  5  6  7
//	thing        A  B  C     D
//	its home     1  1  2     5
type Shelf[T any] struct {
	spots []spot[T] // a power of two, or none; at most three quarters are taken
	n     int       // things
}

// A spot has a thing with its hash, or is free.
type spot[T any] struct {
	hash  Hash
	thing *T
}

// fewSpots is how many spots a shelf has at least, if it has any.
const fewSpots = 8

// home returns the first spot of a search for a hash. The highest bits of a product
// depend on all bits of the hash.
func (s *Shelf[T]) home(h Hash) int {
	const odd = 0x9e3779b97f4a7c15
	return int(h * odd >> (64 - bits.Len(uint(len(s.spots)-1))))
}

// after returns the spot after one.
func (s *Shelf[T]) after(at int) int { return (at + 1) & (len(s.spots) - 1) }

// Find returns a thing that has the hash and for which sought returns true, nil if
// there is none.
func (s *Shelf[T]) Find(h Hash, sought func(*T) bool) *T {
	if s.n == 0 {
		return nil
	}
	at := s.home(h)
	for s.spots[at].thing != nil && (s.spots[at].hash != h || !sought(s.spots[at].thing)) {
		at = s.after(at)
	}
	return s.spots[at].thing
}

// NewShelf returns a shelf with room for n things.
func NewShelf[T any](n int) Shelf[T] {
	return Shelf[T]{spots: make([]spot[T], max(fewSpots, 1<<bits.Len(uint(4*n/3))))}
}

// Put adds a thing that is not there yet.
func (s *Shelf[T]) Put(h Hash, t *T) {
	if s.n++; 4*s.n > 3*len(s.spots) {
		s.move(max(fewSpots, 2*len(s.spots)))
	}
	s.stand(spot[T]{h, t})
}

// stand puts a thing into its spot.
func (s *Shelf[T]) stand(p spot[T]) {
	at := s.home(p.hash)
	for s.spots[at].thing != nil {
		at = s.after(at)
	}
	s.spots[at] = p
}

// move moves all things to a ring of n spots.
func (s *Shelf[T]) move(n int) {
	old := s.spots
	s.spots = make([]spot[T], n)
	for _, p := range old {
		if p.thing != nil {
			s.stand(p)
		}
	}
}

// Drop removes a thing that was put there with the hash. Things behind it move up, if
// their home allows the spot that is free now.
func (s *Shelf[T]) Drop(h Hash, t *T) {
	if s.n == 0 {
		return
	}
	free := s.home(h)
	for s.spots[free].thing != t {
		if s.spots[free].thing == nil {
			return
		}
		free = s.after(free)
	}
	for at := s.after(free); s.spots[at].thing != nil; at = s.after(at) {
		far := at - s.home(s.spots[at].hash) // how far from its home, around the ring
		if ring := len(s.spots) - 1; far&ring >= (at-free)&ring {
			s.spots[free], free = s.spots[at], at
		}
	}
	s.spots[free] = spot[T]{}
	if s.n--; s.n < len(s.spots)/8 && len(s.spots) > fewSpots {
		s.move(len(s.spots) / 2)
	}
}

// Clear removes all things, and keeps the room.
func (s *Shelf[T]) Clear() {
	clear(s.spots)
	s.n = 0
}

// Len returns the number of things.
func (s *Shelf[T]) Len() int { return s.n }

// All returns the things with their hashes, in any order.
func (s *Shelf[T]) All() iter.Seq2[Hash, *T] {
	return func(yield func(Hash, *T) bool) {
		for _, p := range s.spots {
			if p.thing != nil && !yield(p.hash, p.thing) {
				return
			}
		}
	}
}
