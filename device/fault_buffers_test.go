//go:build cbl1faults

package device

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// whole is everything, with the contents beside registered programs.
type whole struct {
	Everything  everything
	Buffers     map[ID][]fit.Buffer
	Resident    map[ID]uint64
	Usage       map[ID]Usage
	Heaps       int
	Allocations int
}

func seeWhole(t require.TestingT, f *Fleet) whole {
	all := whole{see(t, f), map[ID][]fit.Buffer{}, map[ID]uint64{}, map[ID]Usage{}, heapsOf(f).Len(), len(*field[map[fit.BufferID][]*heap.Allocation](&f.heaps, "live"))}
	for d := range f.Devices() {
		all.Buffers[d.ID()] = slices.Collect(d.Buffers())
		all.Resident[d.ID()] = d.Resident()
		all.Usage[d.ID()] = d.Usage(BasisResident)
	}
	return all
}

func (all whole) figures() whole {
	all.Everything = all.Everything.figures()
	return all
}

// A faulty is a call that can be made on any fleet.
type faulty struct {
	name string
	do   func(f *Fleet) (any, error)
}

// TestFaultsOfMemory fails Allocate, Place, Free and Enqueue at every step, on fleets with a past.
// A failure has changed nothing: totals, peaks, buffers, registered and resident programs; and a
// repeated call works as if it had never failed.
func TestFaultsOfMemory(t *testing.T) {
	spec := l1.Spec{Name: "toy", Cols: 3, Rows: 2, L1Size: 64, CBBase: 4}
	injected, refused := map[string]int{}, 0
	property := func(t *rapid.T) {
		cores := rapid.SampledFrom([]l1.CoreRangeSet{
			l1.MustParseCoreRangeSet("{[0-0 - 2-1]}"), l1.MustParseCoreRangeSet("{[0-0 - 1-0]}"), l1.MustParseCoreRangeSet("{[1-0 - 2-1]}"),
		})
		set := func(f *Fleet, ids []ID) Set {
			s, err := f.Of(ids...)
			require.NoError(t, err)
			return s
		}
		draw := func(t *rapid.T, op string) faulty {
			on := rapid.SliceOfNDistinct(rapid.SampledFrom([]ID{0, 1, 2, 3, 9}), 0, 5, rapid.ID).Draw(t, "devices")
			switch op {
			case "allocate":
				b := fit.Buffer{
					ID: fit.BufferID(rapid.IntRange(0, 3).Draw(t, "id")), Kind: rapid.SampledFrom([]fit.Kind{fit.KindL1, fit.KindL1, fit.KindL1Small, fit.KindKernel, fit.KindDRAM}).Draw(t, "kind"),
					Size: rapid.SampledFrom([]uint64{0, 0, 8, l1.MaxAddr - 2}).Draw(t, "size"),
				}
				if b.Kind.InL1() {
					start := rapid.Uint64Range(0, 60).Draw(t, "start")
					b.Parts = []fit.Part{{Cores: cores.Draw(t, "cores").Cores(), Range: l1.Range{Start: start, End: start + 4}}}
				}
				return faulty{op, func(f *Fleet) (any, error) { return nil, f.Allocate(b, set(f, on)) }}
			case "place":
				b := fit.Buffer{ID: fit.BufferID(rapid.IntRange(0, 3).Draw(t, "id")), Kind: fit.KindL1, Cores: cores.Draw(t, "cores").Cores()}
				b.Mode = rapid.SampledFrom([]fit.Mode{fit.Lockstep, fit.PerCore, fit.RangeLockstep}).Draw(t, "mode")
				size := rapid.SampledFrom([]uint64{4, 16, 48}).Draw(t, "size")
				return faulty{op, func(f *Fleet) (any, error) { return f.Place(b, size, set(f, on)) }}
			case "free":
				id := fit.BufferID(rapid.IntRange(0, 3).Draw(t, "id"))
				return faulty{op, func(f *Fleet) (any, error) { return f.Free(id, set(f, on)) }}
			}
			b := program.NewBuilder(program.ID(rapid.IntRange(0, 2).Draw(t, "program")))
			c := program.CB{Cores: cores.Draw(t, "cores"), Size: rapid.SampledFrom([]uint64{4, 8, 40}).Draw(t, "bytes")}
			c.Kind = rapid.SampledFrom([]program.Kind{program.CircularBuffer, program.CircularBuffer, program.DataflowBuffer}).Draw(t, "kind")
			p, err := b.CB(c).Build(spec)
			require.NoError(t, err)
			return faulty{op, func(f *Fleet) (any, error) {
				added, err := f.Enqueue(p, set(f, on))
				return numbersOf(added), err
			}}
		}
		var past []faulty
		again := func() *Fleet {
			f := NewFleet()
			_, err := f.AddMesh(0, 2, 2, spec)
			require.NoError(t, err)
			_, err = f.AddDevice(9, spec)
			require.NoError(t, err)
			for _, s := range past {
				_, _ = s.do(f)
			}
			return f
		}
		ops := []string{"allocate", "place", "free", "enqueue"}
		for range rapid.IntRange(0, 12).Draw(t, "calls") {
			past = append(past, draw(t, rapid.SampledFrom(ops).Draw(t, "op")))
		}
		for i := range 2 * len(ops) {
			s := draw(t, ops[i%len(ops)])
			f := again()
			before := seeWhole(t, f)
			said, failed := s.do(f)
			after := seeWhole(t, f)
			if failed != nil {
				refused++
				require.Equal(t, before, after, "%s: %v", s.name, failed)
			}
			for k := 1; ; k++ {
				f := again()
				i := arm(f, k)
				_, err := s.do(f)
				if i.met < k { // untouched
					require.Equal(t, failed, err)
					require.Equal(t, after.figures(), seeWhole(t, f).figures())
					break
				}
				injected[s.name]++
				require.ErrorIs(t, err, i.err, "%s, step %d", s.name, k)
				require.Equal(t, before, seeWhole(t, f), "%s, step %d", s.name, k)
				got, err := s.do(f)
				require.Equal(t, failed, err, "%s, after step %d", s.name, k)
				require.Equal(t, said, got)
				require.Equal(t, after.figures(), seeWhole(t, f).figures(), "%s, after step %d", s.name, k)
			}
		}
	}
	rapid.Check(t, property)
	refused = 0
	clear(injected) // luck had a part in them
	defer testkit.SameDraws(1, 20)()
	rapid.Check(t, property)
	t.Log("faults:", injected, "refusals:", refused)
	require.Greater(t, refused, 20)
	for _, name := range []string{"allocate", "place", "free", "enqueue"} {
		require.Greater(t, injected[name], 20, name)
	}
}
