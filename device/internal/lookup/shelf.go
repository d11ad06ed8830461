package lookup

import (
	"iter"
	"slices"
)

// A Shelf finds a thing that is equal to one that is described: by its hash, and then by
// a comparison, which alone is believed. The zero shelf is empty.
type Shelf[T any] struct {
	things map[Hash]equals[T]
	n      int
}

// equals are things with one hash, mostly one thing. It stands apart, so that it costs no slice.
type equals[T any] struct {
	first  *T
	others []*T
}

// Find returns a thing with the hash that is what is sought, nil if there is none.
func (s *Shelf[T]) Find(h Hash, sought func(*T) bool) *T {
	at := s.things[h]
	if at.first == nil || sought(at.first) {
		return at.first
	}
	for _, t := range at.others {
		if sought(t) {
			return t
		}
	}
	return nil
}

// Put adds a thing that is not there.
func (s *Shelf[T]) Put(h Hash, t *T) {
	if s.things == nil {
		s.things = map[Hash]equals[T]{}
	}
	at := s.things[h]
	if at.first == nil {
		at.first = t
	} else {
		at.others = append(at.others, t)
	}
	s.things[h] = at
	s.n++
}

// Drop takes a thing away that was put there with the hash.
func (s *Shelf[T]) Drop(h Hash, t *T) {
	at := s.things[h]
	k := slices.Index(at.others, t)
	if k < 0 && at.first != t {
		return
	}
	if s.n--; len(at.others) == 0 {
		delete(s.things, h)
		return
	}
	if k < 0 {
		at.first, k = at.others[0], 0
	}
	at.others = slices.Delete(at.others, k, k+1)
	s.things[h] = at
}

// Clear takes all things away.
func (s *Shelf[T]) Clear() { *s = Shelf[T]{} }

// Len returns the number of things.
func (s *Shelf[T]) Len() int { return s.n }

// All returns the things with their hashes, in any order.
func (s *Shelf[T]) All() iter.Seq2[Hash, *T] {
	return func(yield func(Hash, *T) bool) {
		for h, at := range s.things {
			if !yield(h, at.first) {
				return
			}
			for _, t := range at.others {
				if !yield(h, t) {
					return
				}
			}
		}
	}
}
