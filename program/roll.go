package program

import "hash/maphash"

// A roll numbers keys in the order in which they come: equal keys get one number. What
// it needs it keeps, so that a roll that is used again allocates nothing. The zero roll is
// ready.
type roll struct {
	seed  maphash.Seed
	keys  []byte
	ends  []int   // of each key
	table []int32 // by hash, and on from there: 0, or the number of a key and 1
}

// reset forgets all keys.
func (r *roll) reset() {
	clear(r.table)
	r.keys, r.ends = r.keys[:0], r.ends[:0]
}

// number returns the number of a key. fresh says that it came for the first time.
func (r *roll) number(key []byte) (n int, fresh bool) {
	if 2*len(r.ends) >= len(r.table) {
		r.grow()
	}
	at := r.seek(key)
	if n := r.table[at]; n > 0 {
		return int(n) - 1, false
	}
	r.keys = append(r.keys, key...)
	r.ends = append(r.ends, len(r.keys))
	r.table[at] = int32(len(r.ends))
	return len(r.ends) - 1, true
}

// key returns the key with a number.
func (r *roll) key(n int) []byte {
	from := 0
	if n > 0 {
		from = r.ends[n-1]
	}
	return r.keys[from:r.ends[n]]
}

// seek returns the place of a key in the table, or the free one where it belongs.
func (r *roll) seek(key []byte) int {
	mask := len(r.table) - 1
	at := int(maphash.Bytes(r.seed, key)) & mask
	for r.table[at] != 0 && string(r.key(int(r.table[at])-1)) != string(key) {
		at = (at + 1) & mask
	}
	return at
}

// grow makes the table larger, so that at least half of it is free.
func (r *roll) grow() {
	if r.table == nil {
		r.seed = maphash.MakeSeed()
	}
	r.table = make([]int32, max(16, 2*len(r.table)))
	for n := range r.ends {
		r.table[r.seek(r.key(n))] = int32(n + 1)
	}
}
