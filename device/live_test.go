package device

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/program"
)

// Live sets and their copies find what maps have, the farthest-reaching first, and all that is put in
// order is paid for by changes.
func TestLiveSetsAreMaps(t *testing.T) {
	type pair struct {
		live  *live
		model map[*holder]bool
		paid  int // changes of this one and of what it is a copy of, and what copies may cost
	}
	rapid.Check(t, func(t *rapid.T) {
		var o roster
		for i := range 60 {
			r := &holder{reach: uint64(i % 7), serial: uint64(i), mark: mark{i, hash(i * i)}}
			o.of = append(o.of, r)
		}
		sets := []*pair{{new(live), map[*holder]bool{}, 0}}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			s := rapid.SampledFrom(sets).Draw(t, "set")
			switch rapid.IntRange(0, 40).Draw(t, "do") {
			case 0:
				c := &pair{s.live.clone(&o), maps.Clone(s.model), fewPrograms}
				s.paid += fewPrograms
				sets = append(sets, c)
			case 1:
				want := slices.SortedFunc(maps.Keys(s.model), func(a, b *holder) int {
					return cmp.Or(-cmp.Compare(a.reach, b.reach), -cmp.Compare(a.serial, b.serial))
				})
				s.paid += len(want)
				s.live.sort(&o)
				require.Equal(t, want, slices.Collect(s.live.search))
			default:
				r := rapid.SampledFrom(o.of).Draw(t, "program")
				if s.model[r] {
					delete(s.model, r)
					s.live.drop(r)
				} else {
					s.model[r] = true
					s.live.put(r)
				}
				s.paid++
			}
			require.Len(t, s.model, s.live.n)
			require.LessOrEqual(t, s.live.looked, s.paid)
			var sum hash
			for r := range s.model {
				require.True(t, s.live.bits.has(r.number))
				sum += r.hash
			}
			require.Equal(t, sum, s.live.hash)
		}
	})
}

// An order that lacks a program, or has another one, is noticed.
func TestOrderIsRecounted(t *testing.T) {
	for _, spoil := range []func(b *board){
		func(b *board) { b.held.live.order.Delete(reaching{b.on[1].reach, b.on[1]}) },
		func(b *board) { b.held.live.order.ReplaceOrInsert(reaching{7, &holder{serial: 77}}) },
	} {
		b := newBoard(t)
		for id := range program.ID(3) {
			b.place(id, "{[0-0 - 7-7]}", 0, 64*uint64(id+1))
		}
		b.held.live.sort(&b.roster)
		b.check()
		spoil(b)
		require.ErrorContains(t, b.recount(), "number of programs by how far they reach")
	}
}
