package clash_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

const none = -1 // no program

// sample is what a message must be read as.
type sample struct {
	kind       clash.Kind
	what       string
	program    int64
	cores      string
	num        int
	limit, end uint64
	over       uint64
}

// published are the numbers of 27 messages from public issues and logs. The lines of testdata/published.txt
// were written from them, in this order.
func published() []sample {
	const c, d = clash.Circular, clash.Dataflow
	return []sample{
		{clash.Clash, c, 4, "{[0-0 - 11-7]}", 96, 267584, 435136, 167552},
		{clash.Clash, c, 168, "{[0-0 - 7-6]}", 56, 556928, 1143360, 586432},
		{clash.Grow, c, none, "{[0-0 - 7-7]}", 64, 1499136, 1741152, 242016},
		{clash.Clash, c, 453, "{[0-0 - 4-0]}", 5, 622592, 654368, 31776},
		{clash.Grow, c, none, "{[0-0 - 7-3]}", 32, 1499136, 2587616, 1088480},
		{clash.Grow, c, none, "{[0-0 - 12-9]}", 130, 1572864, 2101768, 528904},
		{clash.Clash, c, 77, "{[0-0 - 7-7]}", 64, 974336, 1089536, 115200},
		{clash.Clash, c, 702, "{[1-0 - 3-9]}", 30, 567488, 754528, 187040},
		{clash.Grow, c, none, "{[0-0 - 6-7]}", 56, 1572864, 1574080, 1216},
		{clash.Clash, c, 21577, "{[0-0 - 7-5]}", 48, 1236992, 1250432, 13440},
		{clash.Clash, c, 238, "{[0-0 - 7-7]}", 64, 1261952, 1284960, 23008},
		{clash.Clash, c, 65868, "{[0-0 - 3-7]}", 32, 665600, 890144, 224544},
		{clash.Grow, c, none, "{[0-0 - 12-9]}", 130, 1572864, 1683968, 111104},
		{clash.Clash, c, 350188, "{[0-0 - 7-7]}", 64, 104448, 107936, 3488},
		{clash.Clash, c, 69901, "{[0-0 - 7-7]}", 64, 253952, 646208, 392256},
		{clash.Clash, c, 10594, "{[0-0 - 7-7]}", 64, 709760, 1364672, 654912},
		{clash.Clash, c, 2282, "{[0-0 - 10-9]}", 110, 1563072, 1563264, 192},
		{clash.Clash, c, 155, "{[0-0 - 0-0]}", 1, 1378048, 1430656, 52608},
		{clash.Clash, c, 6352, "{[0-0 - 0-0]}", 1, 1227648, 1347360, 119712},
		{clash.Clash, c, 6914, "{[0-0 - 7-7]}", 64, 1030272, 1473568, 443296},
		{clash.Clash, c, 60394, "{[0-0 - 7-6]}", 56, 171520, 177440, 5920},
		{clash.Clash, c, 466, "{[0-0 - 10-8]}", 99, 1404928, 1532864, 127936},
		{clash.Clash, c, 122, "{[0-0 - 7-7]}", 64, 1301184, 1375296, 74112},
		{clash.Grow, c, none, "{[0-0 - 7-9]}", 80, 1572864, 1592192, 19328},
		{clash.Grow, d, none, "{[0-0 - 10-7]}", 88, 1572864, 1891328, 318464},
		{clash.Clash, d, 168, "{[0-0 - 10-9]}", 110, 807296, 896512, 89216},
		{clash.Grow, d, none, "{[0-0 - 0-0]}", 1, 1572864, 2478976, 906112},
	}
}

func TestPublishedSamples(t *testing.T) {
	f, err := os.Open("testdata/published.txt")
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	found, err := clash.Read(f)
	require.NoError(t, err)
	require.Len(t, found.Messages, len(published()))
	for i, m := range found.Messages {
		want := published()[i]
		over, ok := m.Over()
		require.True(t, ok)
		got := sample{m.Kind, m.What, none, m.Cores.String(), m.NumCores(), m.Numbers["limit"], m.Numbers["end"], over}
		if program, ok := m.Numbers["program"]; ok {
			got.program = int64(program)
		}
		require.Equal(t, want, got, "line %d", i+1)
		require.EqualValues(t, i+1, m.Line)
		require.EqualValues(t, 1, m.Count)
		requireSound(t, clash.Explain(m, l1.Spec{}))
	}
}

// The same numbers in all spellings, and wrapped.
func TestPublishedNumbers(t *testing.T) {
	for i, want := range published() {
		for name, text := range spellings(want) {
			found := read(t, text)
			require.Len(t, found.Messages, 1, "%d %s\n%s", i+1, name, text)
			m := found.Messages[0]
			over, _ := m.Over()
			got := sample{m.Kind, m.What, none, m.Cores.String(), m.NumCores(), m.Numbers["limit"], m.Numbers["end"], over}
			if program, ok := m.Numbers["program"]; ok {
				got.program = int64(program)
			}
			require.Equal(t, want, got, "%d %s\n%s", i+1, name, text)
		}
	}
}

// Likely architectures are marked so, and match what is known of the samples.
func TestPublishedChips(t *testing.T) {
	want := map[int]l1.Arch{ // by line; the others could be either
		3: l1.Wormhole, 5: l1.Wormhole, 14: l1.Wormhole,
		6: l1.Blackhole, 9: l1.Blackhole, 13: l1.Blackhole, 17: l1.Blackhole, 22: l1.Blackhole,
		24: l1.Blackhole, 25: l1.Blackhole, 26: l1.Blackhole, 27: l1.Blackhole,
	}
	for i, s := range published() {
		e := clash.Explain(read(t, spellings(s)["new"]).Messages[0], l1.Spec{})
		require.Equal(t, want[i+1], e.Arch, "line %d: %+v", i+1, e.Notes)
		require.Equal(t, e.Arch != "", e.ArchIs == "likely")
	}
}
