package baseline

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// bytesOf is the model: the set of programs of each device, and their bytes one by one.
type bytesOf []map[program.ID]*program.Program

func (m bytesOf) total(device int) (bytes uint64) {
	taken := map[place]bool{}
	for _, p := range m[device] {
		for _, cb := range p.CBs() {
			if cb.Global {
				continue
			}
			for c := range cb.Cores.Cores().All() {
				for a := cb.Range.Start; a < cb.Range.End; a++ {
					taken[place{c, a}] = true
				}
			}
		}
	}
	return uint64(len(taken))
}

// A place is a byte of a core.
type place struct {
	core l1.Core
	addr uint64
}

// reserved is the number of bytes that the footprints say are reserved.
func (m bytesOf) reserved(device int) uint64 {
	taken := map[place]bool{}
	for _, p := range m[device] {
		for g := range p.Reserved(program.CircularBuffer).Groups() {
			for c := range g.Cores().All() {
				for r := range g.Ranges() {
					for a := r.Start; a < r.End; a++ {
						taken[place{c, a}] = true
					}
				}
			}
		}
	}
	return uint64(len(taken))
}

// Contenders agree with the bytes on every device after every move, however the
// programs came: one by one or many at once.
func contenderModel(t *rapid.T) {
	const devices = 3
	spec := l1.Spec{Name: "toy", Cols: 3, Rows: 2, CBBase: 8, CBAlign: 4}
	type loader interface {
		Contender
		Load([]*program.Program, []int)
	}
	contenders := []loader{
		NewBoth(NewDense(spec, devices), NewDense(spec, devices)),
		NewBoth(NewPerCore(spec, devices), NewPerCore(spec, devices)),
		NewBoth(NewSortedSlice(spec, devices), NewSortedSlice(spec, devices)),
		NewBoth(NewIntervals(spec, devices), NewIntervals(spec, devices)),
	}
	model := make(bytesOf, devices)
	for d := range model {
		model[d] = map[program.ID]*program.Program{}
	}
	next := program.ID(0)
	draw := func(t *rapid.T) *program.Program {
		b := program.NewBuilder(next)
		next++
		for range rapid.IntRange(1, 3).Draw(t, "cbs") {
			x, y := rapid.Uint8Range(0, 2).Draw(t, "x"), rapid.Uint8Range(0, 1).Draw(t, "y")
			on, err := l1.NewCoreRangeSet(l1.CoreRange{Start: l1.Core{}, End: l1.Core{X: x, Y: y}})
			require.NoError(t, err)
			b.CB(program.CB{
				Cores: on, Size: rapid.SampledFrom([]uint64{0, 3, 4, 8, 12}).Draw(t, "size"),
				Global:  rapid.IntRange(0, 9).Draw(t, "global") == 0,
				Fixed:   rapid.Bool().Draw(t, "fixed"),
				Address: rapid.SampledFrom([]uint64{8, 12, 15, 16, 24}).Draw(t, "address"),
			})
		}
		p, err := b.Build(spec)
		require.NoError(t, err)
		return p
	}
	some := func(t *rapid.T) []int {
		return rapid.SampledFrom([][]int{{0}, {1}, {2}, {0, 1}, {2, 0}, {0, 1, 2}}).Draw(t, "devices")
	}
	t.Repeat(map[string]func(*rapid.T){
		"register": func(t *rapid.T) {
			p, on := draw(t), some(t)
			for _, d := range on {
				model[d][p.ID()] = p
			}
			for _, c := range contenders {
				c.Register(p, on)
			}
		},
		"load": func(t *rapid.T) {
			var programs []*program.Program
			on := some(t)
			for range rapid.IntRange(0, 5).Draw(t, "programs") {
				p := draw(t)
				programs = append(programs, p)
				for _, d := range on {
					model[d][p.ID()] = p
				}
			}
			for _, c := range contenders {
				c.Load(programs, on)
			}
		},
		"unregister": func(t *rapid.T) {
			on := some(t)
			id := program.ID(rapid.Uint64Range(0, 20).Draw(t, "id"))
			for _, d := range on {
				if p, ok := model[d][id]; ok {
					delete(model[d], id)
					for _, c := range contenders {
						c.Unregister(p, []int{d})
					}
				}
			}
		},
		"": func(t *rapid.T) {
			for d := range devices {
				want, reserved := model.total(d), model.reserved(d)
				for i, c := range contenders {
					require.Equal(t, want, c.Total(d), "contender %d, device %d", i, d)
					require.Equal(t, reserved, c.(*Both).Reserved(d), "contender %d, device %d", i, d)
				}
			}
		},
	})
}

func TestContenderModel(t *testing.T) { rapid.Check(t, contenderModel) }

func FuzzContenderModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(contenderModel)) }

// One by one or at once: both counts are the same, edge by edge.
func TestSortedCountIsBoundaryCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b BoundaryCount
		var s SortedCount
		var live []l1.Range
		for range rapid.IntRange(0, 30).Draw(t, "moves") {
			if len(live) > 0 && rapid.Bool().Draw(t, "remove") {
				r := live[0]
				live = live[1:]
				require.Equal(t, b.Remove(r), s.Remove(r))
			} else {
				start := rapid.Uint64Range(0, 12).Draw(t, "start")
				r := l1.Range{Start: start, End: start + rapid.Uint64Range(0, 6).Draw(t, "len")}
				if !r.IsEmpty() {
					live = append(live, r)
				}
				require.Equal(t, b.Add(r), s.Add(r))
			}
			require.Equal(t, b.Bytes(), s.Bytes())
		}
		require.ElementsMatch(t, edges(&b), s.edges)
		at := BoundaryCountOf(live...)
		require.Equal(t, edges(&b), edges(at))
		require.Equal(t, b.Bytes(), at.Bytes())
	})
}

func TestWhatIsNotCoveredIsRefused(t *testing.T) {
	r := l1.Range{Start: 0, End: Cell}
	require.Panics(t, func() { new(SortedCount).Remove(r) })
	require.Panics(t, func() { new(IntervalTree).Remove(r) })
	require.Panics(t, func() { new(Raster).Remove(r) })
}
