package replay

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/internal/corepeaks"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A crest has for each core the most that any program held there, and equal ones have one
// text, whatever raised them. What it was before stays what it was.
func TestCrests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type known struct {
			crest *corepeaks.Marks
			most  map[l1.Core]uint64
		}
		all := []known{{nil, map[l1.Core]uint64{}}}
		var spelt spelling
		for range rapid.IntRange(1, 8).Draw(t, "programs") {
			of := all[rapid.IntRange(0, len(all)-1).Draw(t, "of")]
			next := map[l1.Core]uint64{}
			maps.Copy(next, of.most)
			b := program.NewBuilder(1)
			b.AsWritten()
			for range rapid.IntRange(1, 3).Draw(t, "cbs") {
				x, y := rapid.Uint8Range(0, 2).Draw(t, "x"), rapid.Uint8Range(0, 2).Draw(t, "y")
				start, size := 32*rapid.Uint64Range(0, 3).Draw(t, "start"), 32*rapid.Uint64Range(0, 3).Draw(t, "size")
				b.Range(l1.Rect(x, y, 2, 2), l1.Range{Start: start, End: start + size})
			}
			p, err := b.Build(l1.Spec{L1Size: 1 << 20})
			require.NoError(t, err)
			for x := range uint8(3) {
				for y := range uint8(3) {
					core := l1.Core{X: x, Y: y}
					if g, ok := p.Occupied(program.CircularBuffer).On(core); ok {
						next[core] = max(next[core], g.Bytes())
					}
				}
			}
			all = append(all, known{over(of.crest, p.Occupied(program.CircularBuffer)), next})
			for _, a := range all {
				got := map[l1.Core]uint64{}
				for bytes, cores := range a.crest.ByBytes() {
					for core := range cores.All() {
						require.Zero(t, got[core], "a core is in two parts")
						got[core] = bytes
					}
				}
				require.Equal(t, a.most, got)
				for _, other := range all {
					require.Equal(t, equalPeaks(a.most, other.most), textOf(a.crest, &spelt) == textOf(other.crest, &spelt))
				}
			}
		}
	})
}

func equalPeaks(a, b map[l1.Core]uint64) bool {
	for core, bytes := range a {
		if b[core] != bytes {
			return false
		}
	}
	return len(a) == len(b)
}
