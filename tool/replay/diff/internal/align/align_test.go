package align

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// word makes an item of a name, a shape, a size and a place.
func word(name, shape, size, place byte) Item {
	return Item{string([]byte{name, shape, size, place}), [3]int{1, 2, 3}}
}

func words(text string) (out []Item) {
	for w := range strings.FieldsSeq(text) {
		out = append(out, word(w[0], w[1], w[2], w[3]))
	}
	return out
}

// leastCost is the cost of the best alignment, by trying all: the plain recursion over a
// whole table.
func leastCost(old, new []Item) int {
	table := make([][]int, len(old)+1)
	for i := range table {
		table[i] = make([]int, len(new)+1)
		for j := range table[i] {
			switch {
			case i == 0:
				table[i][j] = 3 * j
			case j == 0:
				table[i][j] = 3 * i
			default:
				table[i][j] = min(table[i-1][j], table[i][j-1]) + 3
				if d := price(old[i-1].Key, new[j-1].Key); d >= 0 {
					table[i][j] = min(table[i][j], table[i-1][j-1]+d)
				}
			}
		}
	}
	return table[len(old)][len(new)]
}

// price is what a pair of words costs; -1 if they may be none.
func price(a, b string) int {
	switch {
	case a == b:
		return 0
	case a[:3] == b[:3]:
		return 1
	case a[:2] == b[:2]:
		return 2
	case a[:1] == b[:1]:
		return 4
	}
	return -1
}

// requireInOrder says that each item is in one pair, in order.
func requireInOrder(t require.TestingT, pairs []Pair, old, new []Item) {
	i, j := 0, 0
	for _, p := range pairs {
		if p.Old != None {
			require.Equal(t, i, p.Old)
			i++
		}
		if p.New != None {
			require.Equal(t, j, p.New)
			j++
		}
	}
	require.Equal(t, []int{len(old), len(new)}, []int{i, j})
}

// priceOf is what an alignment costs.
func priceOf(t require.TestingT, pairs []Pair, old, new []Item) (sum int) {
	requireInOrder(t, pairs, old, new)
	for _, p := range pairs {
		if p.Old == None || p.New == None {
			sum += 3
			continue
		}
		d := price(old[p.Old].Key, new[p.New].Key)
		require.NotEqual(t, -1, d)
		sum += d
	}
	return sum
}

func anyWords() *rapid.Generator[[]Item] {
	return rapid.Custom(func(t *rapid.T) (out []Item) {
		letters := rapid.SampledFrom([]byte("ab"))
		for range rapid.IntRange(0, 24).Draw(t, "length") {
			out = append(out, word(letters.Draw(t, "name"), letters.Draw(t, "shape"), letters.Draw(t, "size"), letters.Draw(t, "place")))
		}
		return out
	})
}

func TestAlignCostsLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, new := anyWords().Draw(t, "old"), anyWords().Draw(t, "new")
		if rapid.Bool().Draw(t, "alike") { // long runs in common
			new = append(append([]Item{}, old...), new[:min(len(new), 3)]...)
			if at := rapid.IntRange(0, len(old)).Draw(t, "at"); at < len(old) {
				new = append(new[:at], new[at+1:]...)
			}
		}
		var a, back Aligner
		pairs := a.Align(old, new)
		require.Equal(t, leastCost(old, new), priceOf(t, pairs, old, new))
		require.False(t, a.Rough)
		mirrored := back.Align(new, old)
		require.Equal(t, matches(pairs, false), matches(mirrored, true))
	})
}

// A run of items that went from the start to the end: the best alignment leaves narrow bands.
func TestAlignRotated(t *testing.T) {
	for n := 8; n <= 60; n++ {
		var old []Item
		for k := range n {
			old = append(old, word('a', 'a', byte(k), 'a'))
		}
		for k := 1; k <= min(n-1, 12); k++ {
			new := append(append([]Item{}, old[k:]...), old[:k]...)
			var a Aligner
			require.Equal(t, leastCost(old, new), priceOf(t, a.Align(old, new), old, new), "%d of %d", k, n)
		}
	}
}

// matches returns the pairs of two items, with old and new exchanged if back is set.
func matches(pairs []Pair, back bool) (out []Pair) {
	for _, p := range pairs {
		if back {
			p.Old, p.New = p.New, p.Old
		}
		if p.Old != None && p.New != None {
			out = append(out, p)
		}
	}
	return out
}

func TestAlignByHand(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{"aaaa baaa", "aaaa baaa", "0=0 1=1"},
		{"aaaa aaaa", "aaaa aaaa aaaa", "0=0 1=1 +2"},
		{"aaaa baaa caaa", "aaaa xaaa baaa caaa", "0=0 +1 1=2 2=3"},
		{"aaaa baaa caaa", "aaaa caaa", "0=0 -1 2=1"},
		{"aaba aaca aada", "aaca aada aaea", "0=0 1=1 2=2"},                             // as dear as a gap at both ends
		{"aaba aaca aada aaea", "aaca aada aaea aafa", "-0 1=0 2=1 3=2 +3"},             // dearer
		{"aaba baaa", "baaa aaba", "-0 1=0 +1"},                                         // the smaller key has no partner
		{"aaab aaac aaad aaae aaaf", "aabb aabc aabd aabe aabf", "0=0 1=1 2=2 3=3 4=4"}, // all grown
		// The one pair lies far from the diagonal: the two pairs that lie near it are of other shapes, and dearer by 2.
		{"aapp abpp acpp adpp bepp bupp", "bupp bvpp bwpp bxpp aypp azpp", "-0 -1 -2 -3 -4 5=0 +1 +2 +3 +4 +5"},
		// The same of other sizes: each of the others has a partner, and only one of these pairs is in order.
		{"aaaa bbaa ccaa ddaa eeaa xxxx", "xxxx eeba ddba ccba bbba aaba", "-0 -1 -2 -3 -4 5=0 +1 +2 +3 +4 +5"},
	} {
		var a Aligner
		var got []string
		for _, p := range a.Align(words(c.old), words(c.new)) {
			switch {
			case p.Old == None:
				got = append(got, fmt.Sprintf("+%d", p.New))
			case p.New == None:
				got = append(got, fmt.Sprintf("-%d", p.Old))
			default:
				got = append(got, fmt.Sprintf("%d=%d", p.Old, p.New))
			}
		}
		require.Equal(t, c.want, strings.Join(got, " "), "%s | %s", c.old, c.new)
	}
}

// noise are n words of one name that are all different but for chance.
func noise(n int, seed uint64) (out []Item) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range n {
		out = append(out, Item{fmt.Sprintf("a%08d", r.IntN(1e8)), [3]int{1, 2, 5}})
	}
	return out
}

// A step compares an old item with a new one.
func TestAlignSteps(t *testing.T) {
	const n = 5_000
	base := noise(n, 1)
	edited := append(append([]Item{}, base[1:2_000]...), base[2_100:]...)
	moved := append([]Item{}, base...)
	for i := range moved {
		moved[i].Key += "x"
	}
	for _, c := range []struct {
		name     string
		old, new []Item
		most     int
	}{
		{"the same", base, base, 0},
		{"one is gone", base, append(append([]Item{}, base[:70]...), base[71:]...), 0},
		{"some are gone at two ends", base, edited, 6 * 200 * n},
		{"all are moved", base, moved, 10 * n},
		{"all are of other operations", base, renamed(base), 0},
		{"all differ", base, noise(n, 2), 3 * n * n},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.most > n*n {
				t.Skip("needs a run without -short: it fills a table of 5,000 x 5,000")
			}
			var a Aligner
			pairs := a.Align(c.old, c.new)
			require.LessOrEqual(t, a.steps, c.most)
			require.False(t, a.Rough)
			require.NotEmpty(t, pairs)
		})
	}
}

func renamed(items []Item) (out []Item) {
	for _, it := range items {
		it.Key = "z" + it.Key[1:]
		out = append(out, it)
	}
	return out
}

// What is too long for the best alignment is cut, and still every item is in one pair.
func TestAlignRough(t *testing.T) {
	old, new := noise(3_000, 1), noise(2_900, 2)
	for k := 500; k < 2_800; k += 600 {
		new[k+40] = old[k]
	}
	a := Aligner{budget: 100_000}
	pairs := a.Align(old, new)
	require.True(t, a.Rough)
	require.Less(t, a.steps, 5_000_000)
	requireInOrder(t, pairs, old, new)
	kept := 0
	for _, p := range pairs {
		if p.Old != None && p.New == p.Old+40 && p.Old%600 == 500 {
			kept++
		}
	}
	require.GreaterOrEqual(t, kept, 2, "what both have once is a pair")
}

// An element that one side has twice is no place to cut at.
func TestCutWhereBothHaveOnce(t *testing.T) {
	items := func(own string, twice ...int) (out []Item) {
		for i := range 120 {
			key := "d"
			switch {
			case slices.Contains(twice, i):
				key = "e"
			case i%2 == 1 || i == 0:
				key = fmt.Sprint(own, i)
			}
			out = append(out, NewItem("n", key, "", ""))
		}
		return out
	}
	a := Aligner{budget: 1}
	same, gone := 0, 0
	old, new := items("o", 5, 115), items("n", 5)
	for _, p := range a.Align(old, new) {
		switch {
		case p.Old == None || p.New == None:
			gone++
		case old[p.Old].Key == new[p.New].Key:
			same++
		}
	}
	require.Equal(t, [2]int{60, 0}, [2]int{same, gone})
}

// A chain of pairs rises on both sides, and is a longest one.
func TestChained(t *testing.T) {
	for _, c := range []struct{ pairs, want []Pair }{
		{nil, []Pair{}},
		{[]Pair{{0, 1}, {1, 0}}, []Pair{{1, 0}}},
		{[]Pair{{0, 2}, {1, 0}, {2, 1}, {3, 3}}, []Pair{{1, 0}, {2, 1}, {3, 3}}},
		{[]Pair{{0, 3}, {1, 4}, {2, 0}, {3, 1}, {4, 2}}, []Pair{{2, 0}, {3, 1}, {4, 2}}},
		{[]Pair{{0, 3}, {1, 4}, {2, 1}}, []Pair{{0, 3}, {1, 4}}},
		{[]Pair{{0, 5}, {1, 6}, {2, 3}, {3, 7}, {4, 4}, {5, 1}}, []Pair{{0, 5}, {1, 6}, {3, 7}}},
	} {
		require.Equal(t, c.want, chained(c.pairs))
	}
}

// Sequences are cut before the middle pair that both have once, or in their middles.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		old, new string
		want     [2]int
	}{
		{"a b c d", "b x c d", [2]int{2, 2}}, {"a b", "a c", [2]int{1, 1}}, {"a b c", "x y", [2]int{2, 1}}, {"a b a c", "a c b a", [2]int{3, 1}}, {"b a", "b c a", [2]int{1, 2}},
		{"a b c", "x y z", [2]int{2, 2}}, {"a b", "x y z", [2]int{1, 2}}, {"a b c d", "w x y z", [2]int{2, 2}},
	} {
		items := func(text string) (out []Item) {
			for key := range strings.FieldsSeq(text) {
				out = append(out, NewItem(key, "", "", ""))
			}
			return out
		}
		i, j := cut(number(items(c.old), items(c.new)))
		require.Equal(t, c.want, [2]int{i, j}, c.old+" and "+c.new)
	}
}
