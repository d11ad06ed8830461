package replay

import (
	"iter"
	"slices"
)

// A few is a map that nearly always has few entries, one for each of thousands of devices: up
// to mostFew lie in a row, and more of them in a map. The zero value is empty.
type few[K comparable, V any] struct {
	row  []entry[K, V]
	many *layered[K, V] // nil while they lie in the row
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

const mostFew = 8

func (f *few[K, V]) len() int {
	if f.many != nil {
		return f.many.n
	}
	return len(f.row)
}

func (f *few[K, V]) find(key K) int {
	for i := range f.row {
		if f.row[i].key == key {
			return i
		}
	}
	return -1
}

// get returns the value of a key, and whether there is one.
func (f *few[K, V]) get(key K) (v V, ok bool) {
	if f.many != nil {
		return f.many.get(key)
	}
	if i := f.find(key); i >= 0 {
		return f.row[i].value, true
	}
	return v, false
}

// of returns the value of a key, the zero value without one.
func (f *few[K, V]) of(key K) V {
	v, _ := f.get(key)
	return v
}

func (f *few[K, V]) set(key K, v V) {
	if f.many != nil {
		f.many.set(key, v)
		return
	}
	if i := f.find(key); i >= 0 {
		f.row[i].value = v
		return
	}
	if len(f.row) < mostFew {
		f.row = append(f.row, entry[K, V]{key, v})
		return
	}
	f.many = &layered[K, V]{own: make(map[K]V, 2*mostFew)}
	for _, e := range f.row {
		f.many.set(e.key, e.value)
	}
	f.many.set(key, v)
	f.row = nil
}

func (f *few[K, V]) delete(key K) {
	if f.many != nil {
		if f.many.delete(key); f.many.n == 0 {
			f.many = nil
		}
		return
	}
	if i := f.find(key); i >= 0 {
		f.row = slices.Delete(f.row, i, i+1)
	}
}

// all returns the entries, in any order.
func (f *few[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, e := range f.row {
			if !yield(e.key, e.value) {
				return
			}
		}
		if f.many != nil {
			f.many.all()(yield)
		}
	}
}

// unseen returns the entries that were not seen yet in another copy, as far as copies share them.
func (f *few[K, V]) unseen(seen sight[K]) iter.Seq2[K, V] {
	if f.many != nil {
		return f.many.unseen(seen)
	}
	return f.all()
}

func (f *few[K, V]) clone() few[K, V] {
	if f.many != nil {
		return few[K, V]{many: f.many.clone()}
	}
	return few[K, V]{row: slices.Clone(f.row)}
}
