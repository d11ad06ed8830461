package same

import "cmp"

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
