package device

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/l1"
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

// Programs on one core and on all, so that the class of the one is rare now and then: it counts
// all, and hides again.
func TestRareClassesCountAll(t *testing.T) {
	const cores = 8
	rapid.Check(t, func(t *rapid.T) {
		f := new(Fleet)
		d, err := f.AddDevice(0, l1.Spec{Cols: cores, Rows: 1, L1Size: 1 << 20, CBBase: 0, CBAlign: 16, L1Align: 16, CBIndices: 32})
		require.NoError(t, err)
		held := map[program.ID]func(x int) (bytes int){}
		turn := func(id program.ID, on, units int) {
			if held[id] != nil {
				f.UnregisterAll(id)
				delete(held, id)
				return
			}
			place, from, to := l1.Rect(0, 0, cores-1, 0), 0, cores
			if on < cores {
				place, from, to = l1.Rect(uint8(on), 0, uint8(on), 0), on, on+1
			}
			p, err := program.NewBuilder(id).Range(place, l1.Range{End: uint64(16 * units)}).Build(*d.c.spec)
			require.NoError(t, err)
			_, err = f.Register(p, d.Set())
			require.NoError(t, err)
			held[id] = func(x int) int {
				if x < from || x >= to {
					return 0
				}
				return 16 * units
			}
		}
		for range rapid.IntRange(40, 150).Draw(t, "steps") {
			id := rapid.IntRange(0, 11).Draw(t, "program")
			if rapid.IntRange(0, 19).Draw(t, "others") == 0 {
				for i := range 120 {
					turn(program.ID(1000+i), 1+i%(cores-1), 1+i)
				}
			}
			turn(program.ID(id), []int{0, 0, 0, cores}[id%4], 1+id)
			var sum int
			for x := range cores {
				most := 0
				for _, bytes := range held {
					most = max(most, bytes(x))
				}
				sum += most
			}
			require.EqualValues(t, sum, d.Registered())
		}
		require.NoError(t, f.CheckInvariants())
	})
}
