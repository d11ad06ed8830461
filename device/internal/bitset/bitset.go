package bitset

import (
	"iter"
	"math/bits"
	"slices"
)

// Bits are a set of small numbers: slots of devices. They span the words
// from the lowest to the highest number, so that the set of one of 10,000 devices is
// one word.
type Bits struct {
	low   int // words[0] has the numbers from 64*low
	words []uint64
}

// lowest is the alignment, in words, of a set that grew downwards, so that it grows
// seldom.
const lowest = 8

// word returns the 64 numbers from 64*i.
func (b Bits) word(i int) uint64 {
	if i -= b.low; uint(i) < uint(len(b.words)) {
		return b.words[i]
	}
	return 0
}

// high returns the end of the stored words.
func (b Bits) high() int { return b.low + len(b.words) }

// room returns b with room for the words from low to high, in place if the memory
// suffices.
func (b Bits) room(low, high int) Bits {
	if len(b.words) == 0 {
		b.low = low
	}
	if low < b.low {
		low &^= lowest - 1
		b.words = append(make([]uint64, b.low-low, max(high, b.high())-low), b.words...)
		b.low = low
	}
	if missing := high - b.high(); missing > 0 {
		b.words = append(b.words, make([]uint64, missing)...)
	}
	return b
}

// With returns b with i, in place where there is room.
func (b Bits) With(i int) Bits {
	b = b.room(i>>6, i>>6+1)
	b.words[i>>6-b.low] |= 1 << (i & 63)
	return b
}

// Span returns the set of n numbers from first on.
func Span(first, n int) Bits {
	if n == 0 {
		return Bits{}
	}
	end := first + n
	b := Bits{}.room(first>>6, (end-1)>>6+1)
	for i := range b.words {
		b.words[i] = ^uint64(0)
	}
	b.words[0] &= ^uint64(0) << (first & 63)
	b.words[len(b.words)-1] &= ^uint64(0) >> (-end & 63)
	return b
}

// Next returns the lowest number of b that is at least i.
func (b Bits) Next(i int) (next int, ok bool) {
	first := i>>6 - b.low
	for k := max(first, 0); k < len(b.words); k++ {
		w := b.words[k]
		if k == first {
			w &= ^uint64(0) << (i & 63)
		}
		if w != 0 {
			return (b.low+k)<<6 + bits.TrailingZeros64(w), true
		}
	}
	return 0, false
}

// End returns the lowest number above i that is not in b, or end if all numbers below it are.
func (b Bits) End(i, end int) int {
	for i++; i < end; i = (i>>6 + 1) << 6 {
		if n := bits.TrailingZeros64(^b.word(i>>6) >> (i & 63)); n < 64 {
			return min(i+n, end)
		}
	}
	return end
}

// Clone returns a copy that may be changed.
func (b Bits) Clone() Bits { return Bits{b.low, slices.Clone(b.words)} }

// Equal reports whether two sets have the same numbers, whatever words they store.
func (b Bits) Equal(o Bits) bool { return b.Subset(o) && o.Subset(b) }

// Count returns the size of b.
func (b Bits) Count() int {
	n := 0
	for _, w := range b.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// Minus returns the numbers of b that are not in o, and how many there are. It
// returns b itself if o has none of them.
func (b Bits) Minus(o Bits) (Bits, int) {
	n, shared := 0, false
	for i, w := range b.words {
		other := o.word(b.low + i)
		shared = shared || w&other != 0
		n += bits.OnesCount64(w &^ other)
	}
	if !shared {
		return b, n
	}
	if n == 0 {
		return Bits{}, 0
	}
	out := b.Clone()
	out.Drop(o)
	return out, n
}

// Add adds all of o to b, in place where there is room.
func (b Bits) Add(o Bits) Bits {
	b = b.room(o.low, o.high())
	for i, w := range o.words {
		b.words[o.low+i-b.low] |= w
	}
	return b
}

// Drop removes all of o from b, in place.
func (b Bits) Drop(o Bits) {
	for i := max(b.low, o.low); i < min(b.high(), o.high()); i++ {
		b.words[i-b.low] &^= o.words[i-o.low]
	}
}

// Subset reports whether all of b is in o.
func (b Bits) Subset(o Bits) bool {
	for i, w := range b.words {
		if w&^o.word(b.low+i) != 0 {
			return false
		}
	}
	return true
}

// Empty reports whether b has no numbers.
func (b Bits) Empty() bool { return b.Subset(Bits{}) }

// All returns the numbers in ascending order.
func (b Bits) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range b.words {
			for ; w != 0; w &= w - 1 {
				if !yield((b.low+i)<<6 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}
