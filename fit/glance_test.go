package fit

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A program that passes the quick test fits by the full check; and most programs that fit pass the
// quick test.
func TestFirstGlance(t *testing.T) {
	glances := 0
	property := func(t *rapid.T) {
		spec := l1.Spec{Cols: rapid.SampledFrom([]int{0, 3}).Draw(t, "cols"), L1Size: rapid.SampledFrom([]uint64{0, 40, 64}).Draw(t, "size")}
		if spec.Rows = spec.Cols; spec.L1Size > 0 {
			spec.CBBase, spec.CBAlign = 8, 4
		}
		side := rapid.Uint8Range(0, 3)
		rect := func() l1.CoreRangeSet {
			x, y := side.Draw(t, "x"), side.Draw(t, "y")
			return l1.Rect(x/2, y/2, x, y)
		}
		at := Place{Spec: spec, Hybrid: rapid.Bool().Draw(t, "hybrid")}
		for id := range rapid.IntRange(0, 3).Draw(t, "buffers") {
			start := rapid.SampledFrom([]uint64{0, 4, 8, 16, 24, 40, 60}).Draw(t, "start")
			at.Buffers = append(at.Buffers, Buffer{
				ID: BufferID(id), Kind: rapid.SampledFrom([]Kind{KindL1, KindL1, KindL1Small, KindGlobalCB, KindService, KindKernel, KindReserved, KindDRAM}).Draw(t, "kind"),
				Cores: rect().Cores(), Range: l1.Range{Start: start, End: start + rapid.SampledFrom([]uint64{0, 4, 8}).Draw(t, "bytes")},
				Backing: rapid.IntRange(0, 5).Draw(t, "backing") == 0,
			})
			if b := &at.Buffers[id]; rapid.IntRange(0, 4).Draw(t, "unsized") == 0 {
				b.Unsized, b.Range.End = true, start
			} else if rapid.IntRange(0, 4).Draw(t, "parts") == 0 {
				part := Part{Cores: rect().Cores(), Range: l1.Range{Start: start + 8, End: start + 16}}
				b.Parts, b.Cores, b.Range = []Part{{b.Cores, b.Range}, part}, l1.CoreSet{}, l1.Range{}
			}
		}
		b := program.NewBuilder(1)
		for range rapid.IntRange(0, 3).Draw(t, "CBs") {
			cb := program.CB{Cores: rect(), Size: rapid.SampledFrom([]uint64{0, 4, 8, 16}).Draw(t, "size")}
			if cb.Fixed = rapid.IntRange(0, 3).Draw(t, "fixed") == 3; cb.Fixed {
				cb.Address = rapid.SampledFrom([]uint64{0, 8, 16, 40, 60, 64}).Draw(t, "address")
			}
			b.CB(cb)
		}
		p, err := b.Build(spec)
		if err != nil {
			return
		}
		near := sitesOf([]Place{at})
		close := near.judge(p)
		checked := Check(p, at)
		require.Equal(t, close, checked)
		require.Equal(t, close.Fits(), near.fit(p))
		bare := Place{Spec: spec, Hybrid: rapid.Bool().Draw(t, "other hybrid")}
		require.Equal(t, Check(p, at, bare).Fits(), sitesOf([]Place{at, bare}).fit(p))
		for _, room := range HeadroomOf(p, at) {
			require.LessOrEqual(t, LeastRoom(p, spec, near[0].free), room.Free)
		}
		if Clears(p, spec, near[0].free) {
			glances++
			require.True(t, close.Fits())
		}
	}
	rapid.Check(t, property)
	glances = 0 // luck had a part in them
	defer testkit.SameDraws(1, 30)()
	rapid.Check(t, property)
	require.Positive(t, glances)
}
