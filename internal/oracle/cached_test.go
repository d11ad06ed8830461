package oracle_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCachedOps checks the demo by a second route. Each of its programs stacks its CBs from the base without a gap, so
// what all of them leave on a core is one range from the base to the highest end.
func TestCachedOps(t *testing.T) {
	const (
		name  = "examples/cached_ops.json"
		base  = 103712
		chip  = 64 * 1499136 // 91.5 MiB
		cores = 64
	)
	var file struct {
		Graph []struct {
			Kind   string `json:"node_type"`
			Params struct {
				Address, Size int
				Cores         string `json:"core_range_set"`
				Global        string `json:"globally_allocated"`
			}
		}
	}
	require.NoError(t, json.Unmarshal(files()[name], &file))

	var ends [8][8]int
	logical, lowestTensor := 0, 1499136
	for _, n := range file.Graph {
		if n.Kind != "circular_buffer_allocate" {
			continue
		}
		if n.Params.Global == "1" {
			lowestTensor = min(lowestTensor, n.Params.Address)
			continue
		}
		require.Zero(t, n.Params.Size%2048)
		for _, c := range coresIn(t, n.Params.Cores) {
			ends[c[0]][c[1]] = max(ends[c[0]][c[1]], n.Params.Address+n.Params.Size)
			logical += n.Params.Size
		}
	}
	union, fullest := 0, 0
	for _, column := range ends {
		for _, end := range column {
			union += end - base
			fullest = max(fullest, end-base)
		}
	}

	r := open(t, name)
	d := r.Devices["0"]
	require.Len(t, r.Devices, 1)
	require.Equal(t, uint64(logical), d.RegisteredLogical)
	require.Equal(t, uint64(union), d.RegisteredUnion)
	require.Equal(t, uint64(fullest), d.RegisteredCorePeak)
	require.Equal(t, cores, d.Cores)
	require.GreaterOrEqual(t, d.Programs, 60)
	// The widest pair of sharded tensors, 48 + 62 tiles per core; what lies in DRAM does not count.
	require.Equal(t, uint64((48+62)*2048), *r.Upstream.PeakL1)
	require.False(t, r.Upstream.Wrapped)

	// What the README says of it.
	require.Greater(t, logical, 10*chip)
	require.Less(t, union, chip/2)
	require.Less(t, d.HighestEnd, uint64(lowestTensor), "no program clashes with a tensor")
	require.NotZero(t, d.GlobalCBs)
}

// coresIn expands a core range set in the new spelling.
func coresIn(t *testing.T, text string) (cores [][2]int) {
	t.Helper()
	rest := text[1 : len(text)-1]
	for rest != "" {
		var a, b, c, d int
		_, err := fmt.Sscanf(rest, "[%d-%d - %d-%d]", &a, &b, &c, &d)
		require.NoError(t, err, text)
		for x := a; x <= c; x++ {
			for y := b; y <= d; y++ {
				cores = append(cores, [2]int{x, y})
			}
		}
		one := fmt.Sprintf("[%d-%d - %d-%d]", a, b, c, d)
		rest = rest[len(one):]
		if len(rest) > 2 {
			rest = rest[2:]
		}
	}
	return cores
}
