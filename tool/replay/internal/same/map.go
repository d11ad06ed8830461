// Package same has a Map whose keys share values while they are equal. New makes one.
//
// Model: a value is a pointer to figures that grow with events. Keys to which the same has happened
// have one value. An event that concerns some of these keys splits the value first:
//
//	values    {0 1 2 3}         an event on 0..3 changes one value
//	          {0 1 3}  {2}      an event on 2 splits it, and changes the copy
//
// Invariants: each key has one value, and each value at least one key. Values do not meet again.
// Cost: Part takes O(keys that move), and never moves more than half of them. Add, Join and Get take O(1).
// Concurrency: a Map has one user at a time.
package same

import (
	"cmp"
	"iter"
	"slices"
)

// A Map has a value for each key, which other keys may share.
type Map[K cmp.Ordered, V comparable] struct {
	split  func(v V, leaving *Keys[K]) V
	values map[K]V
	keys   map[V]*Keys[K]
	all    []V // each once
}

// New returns an empty Map. It calls split when some keys leave a value, which has the other keys by
// then. split returns the value of the keys that leave.
func New[K cmp.Ordered, V comparable](split func(v V, leaving *Keys[K]) V) Map[K, V] {
	return Map[K, V]{split: split, values: map[K]V{}, keys: map[V]*Keys[K]{}}
}

// Get returns the value of a key, the zero value if there is none.
func (m *Map[K, V]) Get(key K) V { return m.values[key] }

// Len returns how many keys there are.
func (m *Map[K, V]) Len() int { return len(m.values) }

// All returns each value once. It is valid until a value is added or split; then it is longer.
func (m *Map[K, V]) All() []V { return m.all }

// Keys returns the keys of the map, in any order.
func (m *Map[K, V]) Keys() iter.Seq[K] {
	return func(yield func(K) bool) {
		for key := range m.values {
			if !yield(key) {
				return
			}
		}
	}
}

// Add gives a new key a new value, and returns its keys.
func (m *Map[K, V]) Add(key K, v V) *Keys[K] {
	keys := &Keys[K]{list: []K{key}}
	m.values[key], m.keys[v], m.all = v, keys, append(m.all, v)
	return keys
}

// Join gives a new key the value of others. They are all smaller.
func (m *Map[K, V]) Join(key K, v V) {
	m.values[key] = v
	m.keys[v].add(key)
}

// Pick returns the values of some keys, in any order. Values that have other keys too are split. Unknown keys are
// skipped.
func (m *Map[K, V]) Pick(keys iter.Seq[K]) (out []V) {
	some := map[V][]K{}
	for key := range keys {
		if v, ok := m.values[key]; ok {
			some[v] = append(some[v], key)
		}
	}
	for v, keys := range some {
		slices.Sort(keys)
		out = append(out, m.Part(v, slices.Compact(keys)))
	}
	return out
}

// Part returns the value that some keys of v have alone. The keys are ascending.
func (m *Map[K, V]) Part(v V, keys []K) V {
	from := m.keys[v]
	if len(keys) == from.Len() {
		return v
	}
	few := 2*len(keys) <= from.Len() // the smaller part gets the new value
	leaving := keys
	if !few {
		leaving = from.without(keys)
	}
	from.leave(leaving)
	to := &Keys[K]{list: leaving}
	other := m.split(v, to)
	m.keys[other], m.all = to, append(m.all, other)
	for _, key := range leaving {
		m.values[key] = other
	}
	if few {
		return other
	}
	return v
}

// Keys are the keys of one value, at least one. A key that leaves is crossed out. The list is written
// anew when half of it is crossed out, so that leaving costs O(1) however many stay:
//
//	0 1 2 3 4 5    2 leaves, 0 leaves    1 (2) 3 4 5
type Keys[K cmp.Ordered] struct {
	list []K        // ascending; the first and the last of them are there
	left map[K]bool // crossed out in list
}

// Len returns how many keys there are.
func (k *Keys[K]) Len() int { return len(k.list) - len(k.left) }

// First returns the smallest key.
func (k *Keys[K]) First() K { return k.list[0] }

// Last returns the largest key.
func (k *Keys[K]) Last() K { return k.list[len(k.list)-1] }

// add adds a key above all others.
func (k *Keys[K]) add(key K) { k.list = append(k.list, key) }

// List returns the keys, ascending. It is valid until the map changes.
func (k *Keys[K]) List() []K {
	if len(k.left) > 0 {
		fresh := make([]K, 0, k.Len())
		for _, key := range k.list {
			if !k.left[key] {
				fresh = append(fresh, key)
			}
		}
		k.list, k.left = fresh, nil
	}
	return k.list
}

// leave takes keys away that are there, but not all.
func (k *Keys[K]) leave(keys []K) {
	for _, key := range keys {
		if k.left == nil {
			k.left = map[K]bool{}
		}
		k.left[key] = true
	}
	for k.left[k.First()] {
		delete(k.left, k.First())
		k.list = k.list[1:]
	}
	for k.left[k.Last()] {
		delete(k.left, k.Last())
		k.list = k.list[:len(k.list)-1]
	}
	if 2*len(k.left) > len(k.list) {
		k.List()
	}
}

// without returns the keys that are not among some, which are ascending.
func (k *Keys[K]) without(some []K) (rest []K) {
	rest = make([]K, 0, k.Len()-len(some))
	for _, key := range k.List() {
		if len(some) > 0 && some[0] == key {
			some = some[1:]
			continue
		}
		rest = append(rest, key)
	}
	return rest
}
