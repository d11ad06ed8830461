package clash_test

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

// Every message with the numbers of a published one is said again by a fleet in its own words, but for how older
// releases wrote a core range.
func TestRefusalsSpeakAsTTMetal(t *testing.T) {
	data, err := os.ReadFile("testdata/published.txt")
	require.NoError(t, err)
	old := regexp.MustCompile(`\(x=(\d+),y=(\d+)\)`)
	said := 0
	for m, err := range clash.Scan(bytes.NewReader(data)) {
		require.NoError(t, err)
		said++
		limit := m.Numbers["limit"]
		spec := l1.Spec{Cols: 13, Rows: 10, L1Size: 1_572_864, CBBase: 64}
		if m.Kind == clash.Grow {
			spec.L1Size = limit
		}
		what := program.CB{Cores: m.Cores, Size: m.Numbers["end"] - spec.CBBase}
		if m.What == clash.Dataflow {
			what.Kind = program.DataflowBuffer
		}
		f := device.NewFleet()
		d, err := f.AddDevice(0, spec)
		require.NoError(t, err)
		if m.Kind != clash.Grow {
			above := fit.Buffer{ID: 1, Kind: fit.KindL1, Cores: m.Cores.Cores(), Range: l1.Range{Start: limit, End: limit + 64}}
			require.NoError(t, f.Allocate(above, d.Set()))
		}
		p, err := program.NewBuilder(program.ID(m.Numbers["program"])).CB(what).Build(spec)
		require.NoError(t, err)
		v, err := f.Check(p, d.Set())
		require.NoError(t, err)
		require.Len(t, v.Refusals, 1)
		require.Equal(t, old.ReplaceAllString(m.Text, "$1-$2"), v.Refusals[0].Error())
		require.Equal(t, v.Refusals[0].Error(), v.Hybrid[0].Error())
		over, _ := m.Over()
		require.Equal(t, over, v.Refusals[0].Over())
		require.Len(t, v.Clashes, 1)
		require.Equal(t, over, v.Clashes[0].Over())
	}
	require.Equal(t, 27, said)
}
