package device

import "iter"

// A shelf finds a thing that is equal to one that is described: by its hash, and then by
// a comparison, which alone is believed. The zero shelf is empty.
//
//	find(7, like B)     7: A, B, C      A has that hash too, and is passed by
//	                    9: D
//
// Each hash has one thing, but by a rare chance; so those that share one stand apart.
type shelf[T any] struct {
	first map[hash]*T
	more  map[hash][]*T // others with the hash of one in first; never empty
}

// find returns a thing with the hash that is what is sought, nil if there is none.
func (s *shelf[T]) find(h hash, sought func(*T) bool) *T {
	t := s.first[h]
	if t == nil || sought(t) {
		return t
	}
	for _, t := range s.more[h] {
		if sought(t) {
			return t
		}
	}
	return nil
}

// put adds a thing that is not there.
func (s *shelf[T]) put(h hash, t *T) {
	if s.first == nil {
		s.first = map[hash]*T{}
	}
	if s.first[h] == nil {
		s.first[h] = t
		return
	}
	if s.more == nil {
		s.more = map[hash][]*T{}
	}
	s.more[h] = append(s.more[h], t)
}

// drop takes a thing away that was put there with the hash.
func (s *shelf[T]) drop(h hash, t *T) {
	rest := s.more[h]
	if s.first[h] != t {
		for i := range rest {
			if rest[i] == t {
				s.shorten(h, i)
				return
			}
		}
		return
	}
	if len(rest) == 0 {
		delete(s.first, h)
		return
	}
	s.first[h] = rest[len(rest)-1]
	s.shorten(h, len(rest)-1)
}

// shorten takes the i-th of those that share a hash out of more.
func (s *shelf[T]) shorten(h hash, i int) {
	rest := s.more[h]
	last := len(rest) - 1
	rest[i], rest[last] = rest[last], nil
	if s.more[h] = rest[:last]; last == 0 {
		delete(s.more, h)
	}
}

// clear takes all things away, and keeps the room.
func (s *shelf[T]) clear() {
	clear(s.first)
	clear(s.more)
}

// has reports whether a thing stands at the hash.
func (s *shelf[T]) has(h hash, t *T) bool {
	return t != nil && s.find(h, func(o *T) bool { return o == t }) == t
}

// len returns the number of things.
func (s *shelf[T]) len() int {
	n := len(s.first)
	for _, rest := range s.more {
		n += len(rest)
	}
	return n
}

// all returns the things with their hashes, in any order.
func (s *shelf[T]) all() iter.Seq2[hash, *T] {
	return func(yield func(hash, *T) bool) {
		for h, t := range s.first {
			if !yield(h, t) {
				return
			}
		}
		for h, rest := range s.more {
			for _, t := range rest {
				if !yield(h, t) {
					return
				}
			}
		}
	}
}
