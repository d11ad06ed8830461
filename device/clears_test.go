package device

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A program that passes the quick test fits by the full check, whatever was allocated and freed
// before; and most programs that fit pass the quick test.
func TestFirstGlance(t *testing.T) {
	glances := 0
	property := func(t *rapid.T) {
		spec := l1.Spec{
			Cols: rapid.SampledFrom([]int{0, 3}).Draw(t, "cols"), CBBase: 8, CBAlign: 4,
			L1Size: rapid.SampledFrom([]uint64{0, 40, 64}).Draw(t, "size"),
		}
		if spec.Rows = spec.Cols; spec.L1Size == 0 {
			spec.CBBase = 0
		}
		cores := func(t *rapid.T) l1.CoreRangeSet {
			x, y := rapid.Uint8Range(0, 2).Draw(t, "x"), rapid.Uint8Range(0, 2).Draw(t, "y")
			set, err := l1.NewCoreRangeSet(l1.CoreRange{Start: l1.Core{X: x / 2, Y: y / 2}, End: l1.Core{X: x, Y: y}})
			require.NoError(t, err)
			return set
		}
		bytes := rapid.SampledFrom([]uint64{0, 3, 4, 8, 12, 16, 24})
		f := NewFleet()
		m, err := f.AddMesh(0, 1, 2, spec)
		require.NoError(t, err)
		sets := []Set{m.Set(), Device{f.slots[0]}.Set(), Device{f.slots[1]}.Set()}
		t.Repeat(map[string]func(*rapid.T){
			"allocate": func(t *rapid.T) {
				b := fit.Buffer{
					ID:      fit.BufferID(rapid.IntRange(0, 5).Draw(t, "id")),
					Kind:    rapid.SampledFrom([]fit.Kind{fit.KindL1, fit.KindL1, fit.KindL1, fit.KindL1Small, fit.KindGlobalCB, fit.KindService, fit.KindKernel, fit.KindReserved, fit.KindDRAM}).Draw(t, "kind"),
					Backing: rapid.IntRange(0, 5).Draw(t, "backing") == 0,
				}
				for range rapid.IntRange(0, 2).Draw(t, "parts") {
					start := rapid.SampledFrom([]uint64{0, 4, 8, 16, 24, 32, 40, 60}).Draw(t, "start")
					b.Parts = append(b.Parts, fit.Part{Cores: cores(t).Cores(), Range: l1.Range{Start: start, End: start + bytes.Draw(t, "bytes")}})
				}
				_ = f.Allocate(b, rapid.SampledFrom(sets).Draw(t, "set"))
			},
			"free": func(t *rapid.T) {
				_, _ = f.Free(fit.BufferID(rapid.IntRange(0, 5).Draw(t, "id")), rapid.SampledFrom(sets).Draw(t, "set"))
			},
			"": func(t *rapid.T) {
				b := program.NewBuilder(1)
				kind := rapid.SampledFrom([]program.Kind{program.CircularBuffer, program.DataflowBuffer, program.Scratchpad}).Draw(t, "kind")
				for range rapid.IntRange(0, 3).Draw(t, "CBs") {
					b.CB(program.CB{
						Kind: kind, Cores: cores(t), Size: bytes.Draw(t, "size"),
						Fixed:   rapid.IntRange(0, 5).Draw(t, "fixed") == 0,
						Address: rapid.SampledFrom([]uint64{4, 8, 32}).Draw(t, "address"),
					})
				}
				p, err := b.Build(spec)
				if err != nil {
					return
				}
				all, err := f.sitesOf(p, m.Set())
				require.NoError(t, err)
				for i := range all {
					if at := all[i].place(); all[i].clears(p) {
						require.True(t, fit.Check(p, at).Fits())
						glances++
					}
				}
				require.Equal(t, fit.Check(p, placesOf(all)...), judge(p, all))
			},
		})
	}
	rapid.Check(t, property)
	glances = 0 // luck had a part in them
	defer testkit.SameDraws(1, 10)()
	rapid.Check(t, property)
	require.Positive(t, glances)
}
