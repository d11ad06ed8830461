package baseline

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// l1Bytes is the model of one device: what wrote each core last, and the buffers.
type l1Bytes struct {
	has     map[program.ID]bool
	writers map[l1.Core]*program.Program
	heap    map[fit.BufferID]*fit.Buffer
}

func (m *l1Bytes) dispatch(p *program.Program) {
	for _, cb := range p.CBs() {
		for c := range cb.Cores.Cores().All() {
			m.writers[c] = p
		}
	}
}

func (m *l1Bytes) fits(p *program.Program) bool {
	for e := range p.Entries(program.CircularBuffer) {
		for _, b := range m.heap {
			for part := range b.All() {
				if part.Range.Start < e.End {
					return false
				}
			}
		}
	}
	return true
}

func (m *l1Bytes) total() uint64 {
	type spot struct {
		core l1.Core
		addr uint64
	}
	taken := map[spot]bool{}
	take := func(c l1.Core, r l1.Range) {
		for a := r.Start; a < r.End; a++ {
			taken[spot{c, a}] = true
		}
	}
	for c, p := range m.writers {
		for _, cb := range p.CBs() {
			if !cb.Global && cb.Cores.Cores().Has(c) {
				take(c, cb.Range)
			}
		}
	}
	for _, b := range m.heap {
		for part := range b.All() {
			for c := range part.Cores.All() {
				take(c, part.Range)
			}
		}
	}
	return uint64(len(taken))
}

// Both agree with the bytes on every device after every move.
func TestMemoryModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const devices = 2
		spec := l1.Spec{Name: "toy", Cols: 3, Rows: 2, CBBase: 8, CBAlign: 4}
		contenders := []Memory{NewDenseMemory(spec, devices), NewPerCoreMemory(spec, devices)}
		model := make([]l1Bytes, devices)
		for d := range model {
			model[d] = l1Bytes{map[program.ID]bool{}, map[l1.Core]*program.Program{}, map[fit.BufferID]*fit.Buffer{}}
		}
		cores := func(t *rapid.T) l1.CoreRangeSet {
			x, y := rapid.Uint8Range(0, 2).Draw(t, "x"), rapid.Uint8Range(0, 1).Draw(t, "y")
			set, err := l1.NewCoreRangeSet(l1.CoreRange{Start: l1.Core{X: x / 2}, End: l1.Core{X: x, Y: y}})
			require.NoError(t, err)
			return set
		}
		var programs []*program.Program
		for id := range program.ID(6) {
			b := program.NewBuilder(id)
			for range rapid.IntRange(1, 3).Draw(t, "cbs") {
				b.CB(program.CB{
					Cores: cores(t), Size: rapid.SampledFrom([]uint64{0, 3, 4, 8, 12}).Draw(t, "size"),
					Global: rapid.IntRange(0, 4).Draw(t, "global") == 0,
				})
			}
			p, err := b.Build(spec)
			require.NoError(t, err)
			programs = append(programs, p)
		}
		pick := func(t *rapid.T) (*program.Program, []int) {
			return rapid.SampledFrom(programs).Draw(t, "program"), rapid.SampledFrom([][]int{{0}, {1}, {0, 1}}).Draw(t, "devices")
		}
		next := fit.BufferID(0)
		t.Repeat(map[string]func(*rapid.T){
			"enqueue": func(t *rapid.T) {
				p, on := pick(t)
				for _, c := range contenders {
					c.Enqueue(p, on)
				}
				for _, d := range on {
					if !model[d].fits(p) {
						return
					}
				}
				for _, d := range on {
					model[d].has[p.ID()] = true
					model[d].dispatch(p)
				}
			},
			"dispatch": func(t *rapid.T) {
				p, on := pick(t)
				for _, d := range on {
					if !model[d].has[p.ID()] {
						return
					}
				}
				for _, c := range contenders {
					c.Dispatch(p, on)
				}
				for _, d := range on {
					model[d].dispatch(p)
				}
			},
			"allocate": func(t *rapid.T) {
				_, on := pick(t)
				start := rapid.SampledFrom([]uint64{12, 20, 30, 40}).Draw(t, "start")
				b := &fit.Buffer{
					ID: next, Kind: fit.KindL1,
					Parts: []fit.Part{{Cores: cores(t).Cores(), Range: l1.Range{Start: start, End: start + rapid.Uint64Range(1, 9).Draw(t, "size")}}},
				}
				next++
				for _, c := range contenders {
					c.Allocate(b, on)
				}
				for _, d := range on {
					model[d].heap[b.ID] = b
				}
			},
			"free": func(t *rapid.T) {
				d := rapid.IntRange(0, devices-1).Draw(t, "device")
				for id, b := range model[d].heap {
					if id%2 == next%2 { // some, always the same ones
						delete(model[d].heap, id)
						for _, c := range contenders {
							c.Free(b, []int{d})
						}
					}
				}
			},
			"": func(t *rapid.T) {
				for d := range devices {
					want := model[d].total()
					for _, c := range contenders {
						require.Equal(t, want, c.Total(d), "%T, device %d", c, d)
					}
				}
			},
		})
	})
}
