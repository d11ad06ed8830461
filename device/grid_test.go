package device_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Cores outside of every board and cores inside make the same totals, by a count of bytes. A device
// becomes wide by its first core outside, whatever it held before.
func TestWideGrids(t *testing.T) {
	spec := l1.Spec{Cols: 255, Rows: 255, L1Size: 4096, CBBase: 256, CBAlign: 16, L1Align: 16, CBIndices: 32}
	rapid.Check(t, func(t *rapid.T) {
		f := device.NewFleet()
		d := addDevice(t, f, 0, spec)
		live := map[program.ID]*program.Program{}
		for i := range rapid.IntRange(1, 30).Draw(t, "steps") {
			if len(live) > 0 && rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
				id := rapid.SampledFrom(slices.Sorted(maps.Keys(live))).Draw(t, "program")
				delete(live, id)
				err := f.Unregister(id, d.Set())
				require.NoError(t, err)
			} else {
				b := program.NewBuilder(program.ID(i))
				for range rapid.IntRange(1, 3).Draw(t, "ranges") {
					edge := rapid.SampledFrom([]uint8{0, 1, 30, 31, 32, 33})
					x0, x1, y0, y1 := edge.Draw(t, "from"), edge.Draw(t, "to"), uint8(0), uint8(0)
					if rapid.Bool().Draw(t, "down") {
						x0, x1, y0, y1 = y0, y1, x0, x1
					}
					start := uint64(256 + 16*rapid.IntRange(0, 6).Draw(t, "start"))
					b.Range(l1.Rect(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)), l1.Range{Start: start, End: start + 32})
				}
				p, err := b.Build(spec)
				require.NoError(t, err)
				live[p.ID()] = p
				_, err = f.Register(p, d.Set())
				require.NoError(t, err)
			}
			require.NoError(t, f.CheckInvariants())
			held := map[l1.Core][512]bool{}
			var sum uint64
			for _, p := range live {
				for _, cb := range p.CBs() {
					for c := range cb.Cores.Cores().All() {
						bytes := held[c]
						for at := cb.Range.Start; at < cb.Range.End; at++ {
							if !bytes[at] {
								bytes[at] = true
								sum++
							}
						}
						held[c] = bytes
					}
				}
			}
			require.Equal(t, sum, d.Registered())
		}
	})
}
