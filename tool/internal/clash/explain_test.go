package clash_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

func explain(t *testing.T, text string, given l1.Spec) clash.MessageRow {
	t.Helper()
	found := read(t, text)
	require.Len(t, found.Messages, 1, text)
	e := clash.Explain(found.Messages[0], given)
	requireSound(t, e)
	return e
}

func notes(e clash.MessageRow) string {
	var b strings.Builder
	for _, n := range e.Notes {
		b.WriteString(n.Label + ": " + n.Text + "\n")
	}
	return b.String()
}

func clashAt(cores string, limit, end uint64) string {
	return message(sample{kind: clash.Clash, what: clash.Circular, limit: limit, end: end}, cores)
}

func growTo(end, limit uint64) string {
	return message(sample{kind: clash.Grow, what: clash.Circular, limit: limit, end: end}, "[0-0 - 7-7]")
}

func TestExplainChip(t *testing.T) {
	for _, c := range []struct {
		text   string
		given  l1.Spec
		arch   l1.Arch
		likely bool
		base   uint64
		region uint64
		says   string
	}{
		{growTo(1600512, 1499136), l1.Spec{}, l1.Wormhole, true, 103712, 1496800, "likely Wormhole"},
		{growTo(1600512, 1572864), l1.Spec{}, l1.Blackhole, true, 111616, 1488896, "likely Blackhole"},
		{growTo(1499136+103424, 1499136), l1.Spec{}, l1.Wormhole, true, 103424, 1499136, "base was forgotten"},
		{growTo(1572864+103424, 1572864), l1.Spec{}, l1.Blackhole, true, 111616, 1564672, "perhaps a budget that counts L1 from address 0"},
		{growTo(1600512, 1048576), l1.Spec{}, "", false, 0, 0, "perhaps Grayskull"},
		{growTo(2000000, 1600000), l1.Spec{}, "", false, 0, 0, "unknown: Wormhole has"},
		{growTo(101, 64), l1.Spec{L1Size: 64}, "", false, 0, 101, "as given: L1 64 bytes, base 0"},
		{growTo(1600512, 1499136), l1.P150(), l1.Wormhole, true, 103712, 1496800, "1,572,864 bytes (1.5 MiB), does not agree"},
		{growTo(1600512, 1499136), l1.Spec{CBBase: 200000}, l1.Wormhole, true, 200000, 1400512, "base 200,000"},
		{growTo(1600512, 1499136), l1.Spec{CBBase: 1499137}, l1.Wormhole, true, 103712, 1496800, "base that was given, 1,499,137, does not agree"},
		{clashAt("[0-0 - 7-7]", 600064, 700000), l1.Spec{}, "", false, 0, 0, "Wormhole or Blackhole"},
		{clashAt("[0-0 - 7-7]", 600064, 700000), l1.Spec{CBBase: 100000}, "", false, 100000, 600000, "base 100,000 as given"},
		{clashAt("[0-0 - 7-7]", 600064, 700000), l1.N150(), l1.Wormhole, false, 103712, 596288, "as given"},
		{clashAt("[0-0 - 7-7]", 600064, 1499137), l1.Spec{}, l1.Blackhole, true, 111616, 1387521, "beyond the L1 of a Wormhole"},
		{clashAt("[0-0 - 7-7]", 600064, 1499137), l1.N150(), l1.Blackhole, true, 111616, 1387521, "does not agree"},
		{clashAt("[0-0 - 8-0]", 600064, 1048577), l1.Spec{}, l1.Blackhole, true, 111616, 936961, "no core 8-0"},
		{clashAt("[0-0 - 8-0]", 600064, 1048576), l1.Spec{}, "", false, 0, 0, "Blackhole or Grayskull"},
		{clashAt("[0-0 - 12-0]", 600064, 1048576), l1.Spec{}, l1.Blackhole, true, 111616, 936960, "no core 12-0"},
		{clashAt("[0-0 - 8-9]", 600064, 1048576), l1.Spec{}, l1.Blackhole, true, 111616, 936960, "no core 8-9"},
		{clashAt("[0-0 - 7-7]", 111103, 700000), l1.Spec{}, l1.Wormhole, true, 103712, 596288, "lowest base of a Blackhole"},
		{clashAt("[0-0 - 7-7]", 111104, 700000), l1.Spec{}, "", false, 0, 0, "Wormhole or Blackhole"},
		{clashAt("[0-0 - 7-7]", 103500, 110000), l1.Spec{}, l1.Wormhole, true, 103424, 6576, "likely Wormhole"},
		{clashAt("[0-0 - 7-7]", 50, 60), l1.Spec{}, l1.Wormhole, true, 0, 0, "likely Wormhole"},
		{clashAt("[0-0 - 7-7]", 1572864, 1572865), l1.Spec{}, l1.Quasar, true, 0, 0, "beyond the L1 of a Blackhole"},
		{growTo(4_500_000, 4_194_304), l1.Spec{}, l1.Quasar, true, 0, 0, "max L1 size is that of Quasar"},
		{growTo(4_500_000, 4_194_304), l1.QuasarBoard(), l1.Quasar, false, 0, 0, "L1"},
		{clashAt("[0-0 - 7-7]", 4_194_304, 4_194_305), l1.Spec{}, "", false, 0, 0, "beyond every L1 size"},
		{clashAt("[0-0 - 7-7]", 1, math.MaxInt64), l1.Spec{}, "", false, 0, 0, "beyond every L1 size"},
	} {
		e := explain(t, c.text, c.given)
		require.Equal(t, c.arch, e.Arch, "%s\n%s", c.text, notes(e))
		require.Equal(t, c.likely, e.ArchIs == "likely", c.text)
		require.Equal(t, c.base, value(e.Base), "%s\n%s", c.text, notes(e))
		require.Equal(t, c.region, e.Region, c.text)
		require.Contains(t, notes(e), c.says, c.text)
	}
}

// What is said follows from the numbers: each number on both sides of its border.
func TestExplainAdvice(t *testing.T) {
	wide, one := "[0-0 - 7-7]", "[0-0 - 0-0]"
	dfb := func(text string) string { return strings.ReplaceAll(text, "circular", "dataflow") }
	for _, c := range []struct {
		text     string
		says     []string
		saysNone []string
	}{
		{growTo(1499136+2049, 1499136),
			[]string{"near miss", "2 tiles of 2,048 bytes", "moving them does not help"}, []string{"double buffering", "DRAM", "53537"}},
		{growTo(1499136+1, 1499136), []string{"<0.1%", "1 tile of 2,048 bytes"}, nil},
		{growTo(1499136+200_000, 1499136), []string{"double buffering: the CBs must lose 12.5%"}, []string{"near miss", "budget"}},
		{growTo(103_712+2*1395424, 1499136), []string{"must lose 50.0%"}, []string{"not enough"}},
		{growTo(103_712+2*1395424+1, 1499136), []string{"not enough: the CBs must become 3 times smaller"}, nil},
		{growTo(103_712+4*1395424, 1499136), []string{"must become 4 times smaller"}, nil},
		{dfb(growTo(3_000_000, 1572864)), []string{"one alias group", "DFBs are placed"}, []string{"CBs must"}},
		{growTo(1499136+200_000, 1499136), nil, []string{"alias", "one core"}},
		{strings.Replace(growTo(1700000, 1499136), wide, one, 1), []string{"more than one core", "1 core\n"}, nil},
		{growTo(3_000_000, 1_600_000), []string{"48.3 to 48.5%"}, nil},
		{growTo(300, 100), []string{"more than 66.7% of the region\n", "is not enough"}, nil},
		{growTo(150, 100), []string{"more than 33.3% of the region\n", "saves at most half, and 50 bytes must go"}, nil},
		{growTo(5_000_000, 1_600_000), []string{"not enough: the CBs must lose 69.4 to 69.6%"}, nil},

		{clashAt(wide, 1_480_000, 1_481_024), []string{"L1_SMALL", "54876", "53537", "lower L1_SMALL by at least 1,024 bytes"}, []string{"46840"}},
		{clashAt(wide, 1_480_000, 1_481_025), []string{"near miss", "46840", "53538", "53537"}, []string{"54876"}},
		{clashAt(wide, 600064, 1_100_000), []string{"53537", "deallocate the lowest tensors"}, []string{"near miss", "54876"}},
		{clashAt(wide, 104_000, 600_000), []string{"L1 buffers leave only 288 bytes"}, []string{"near miss", "double buffering"}},
		{clashAt(wide, 250_048, 300_032), []string{"DRAM", "1,249,088 bytes a core on Wormhole, 1,322,816 on Blackhole"}, []string{"double buffering"}},
		{clashAt(wide, 1_400_000, 1_490_000), []string{"double buffering", "DRAM"}, nil},
		{clashAt("[0-0 - 8-7]", 250_048, 300_032), []string{"1,322,816 bytes (1.3 MiB) a core if it is a Blackhole"}, nil},
		{dfb(clashAt(one, 1_400_000, 1_490_000)), []string{"alias group", "more than one core", "lowest tensor"}, nil},
		{clashAt(wide, 2_000_000, 3_000_000), []string{"the region must end at or below 2,000,000", "likely Quasar (the addresses lie beyond the L1 of a Blackhole", "2,194,304 bytes (2.1 MiB) a core"}, []string{"for bases of"}},
		{clashAt(wide, 5_000_000, 6_000_000), []string{"the region must end at or below 5,000,000"}, []string{"above: from"}},
		{clashAt(wide, 1_572_864-65_536, 1_550_000), []string{"likely: at most 64 KiB lie from the lowest L1 buffer to the end of L1", "use_l1_small_for_semaphores"}, []string{"on a Wormhole"}},
		{clashAt(wide, 1_572_864-65_537, 1_550_000), nil, []string{"use_l1_small_for_semaphores"}},
		{clashAt(wide, 1_499_136-65_536, 1_480_000), []string{"likely: on a Wormhole at most 64 KiB lie from the lowest L1 buffer", "use_l1_small_for_semaphores"}, nil},
		{clashAt(wide, 1_499_136-65_537, 1_480_000), nil, []string{"use_l1_small_for_semaphores"}},
	} {
		e := explain(t, c.text, l1.Spec{})
		for _, s := range c.says {
			require.Contains(t, notes(e), s, c.text)
		}
		for _, s := range c.saysNone {
			require.NotContains(t, notes(e), s, c.text)
		}
		require.Contains(t, notes(e), "a capture has each")
		require.False(t, e.Damaged)
	}
}

// A report lists programs, with the nodes of their CBs: no CB alone, no index, no page
// and no dataflow buffer. Advice to look there must not promise them.
func TestExplainPromisesNoMoreThanAReportShows(t *testing.T) {
	all, err := os.ReadFile(filepath.Join("testdata", "all_kinds.txt"))
	require.NoError(t, err)
	for _, m := range read(t, string(all)).Messages {
		e := clash.Explain(m, l1.Spec{})
		for _, n := range e.Notes {
			if n.Label != "unknown" {
				continue
			}
			require.NotContains(t, n.Text, "`cbl1 report CAPTURE`")
			switch {
			case m.What == clash.Dataflow, m.Kind == clash.IndexReuse, m.Kind == clash.PageSize:
				require.NotContains(t, n.Text, "cbl1 report")
			default:
				require.Contains(t, n.Text, "`cbl1 report --programs CAPTURE`")
			}
		}
	}
}

// The base decides about tensors and buffers as the first advice.
func TestExplainOrder(t *testing.T) {
	first := func(e clash.MessageRow) string {
		for _, n := range e.Notes {
			if n.Label == "try" {
				return n.Text
			}
		}
		return ""
	}
	few := explain(t, clashAt("[0-0 - 7-7]", 1_400_000, 1_490_000), l1.N150())
	require.Contains(t, first(few), "blocks", "buffers take most")
	many := explain(t, clashAt("[0-0 - 7-7]", 300_000, 400_000), l1.N150())
	require.Contains(t, first(many), "DRAM", "tensors take most")
	require.EqualValues(t, 1_199_136, many.Above)
	require.EqualValues(t, 196_288, *many.Room)
	require.InDelta(t, 33.8, many.OverPercent, 0)
	require.Equal(t, clash.OfRegion, many.PercentOf)
}

func TestExplainDamaged(t *testing.T) {
	for _, text := range []string{
		growTo(1499136, 1499136), growTo(0, 1499136), clashAt("[0-0 - 7-7]", 700000, 70),
		"Circular buffers on service-core range [0-9 - 1-9] in program 6 clash with ServiceCoreManager-allocated L1 (lowest service allocation at 20, CB region ends at 20)",
		"Circular buffer core range [0-0 - 7-7] in program 6 exceeds device compute grid (8x8)",
		"Circular buffer core range [255-255 - 255-255] in program 6 exceeds device compute grid (60000x256)",
		"Local buffer address 12 has to append to last L1 region [5, 12) or be at a higher address",
		"Cannot set circular buffer size to 10. This is larger than the associated dynamically allocated L1 buffer bank size of 10 B",
		"Total circular buffer size 0 B must be divisible by page size 3 B",
	} {
		e := explain(t, text, l1.Spec{})
		require.True(t, e.Damaged, text)
		require.Zero(t, e.Over)
		require.Contains(t, notes(e), "cut or altered")
		require.Contains(t, e.Summary, "its numbers show", text)
		doc := clash.NewDocument(read(t, text), l1.Spec{})
		require.True(t, doc.Messages[0].Damaged)
		require.Zero(t, doc.Messages[0].Over)
	}
}

func TestExplainGrid(t *testing.T) {
	e := explain(t, "Circular buffer core range [0-0 - 8-7] in program 6 exceeds device compute grid (8x7)", l1.Spec{})
	require.Equal(t, "cores outside the grid: 16 of 72 cores of a CB are not on the 8x7 compute grid", e.Summary)
	require.Contains(t, notes(e), "n300")
	require.Contains(t, notes(e), "outside: {[0-7 - 8-7], [8-0 - 8-6]}")
	e = explain(t, "Circular buffer core range [0-0 - 0-0] in program 6 exceeds device compute grid (0x7)", l1.Spec{})
	require.Contains(t, e.Summary, "1 of 1 core of")
	require.NotContains(t, notes(e), "chip")
}

func TestExplainHugeNumbers(t *testing.T) {
	for _, text := range []string{
		growTo(l1.MaxAddr, 0), growTo(l1.MaxAddr, l1.MaxAddr-1), clashAt("[0-0 - 255-255]", 0, l1.MaxAddr),
		"Local buffer address 0 has to append to last L1 region [0, 9223372036854775807) or be at a higher address",
		"Cannot set circular buffer size to 9223372036854775807. This is larger than the associated dynamically allocated L1 buffer bank size of 0 B",
		"Total circular buffer size 9223372036854775807 B must be divisible by page size 9223372036854775806 B",
		"Total circular buffer size 1 B must be divisible by page size 9223372036854775807 B",
		"Total circular buffer size 1 B must be divisible by page size 0 B",
		"Invalid circular buffer index: Cannot add circular buffer at index 9223372036854775807, another circular buffer already exists",
	} {
		for _, given := range []l1.Spec{{}, l1.N150(), {CBBase: l1.MaxAddr}, {L1Size: l1.MaxAddr, CBBase: 1}, {L1Size: l1.MaxAddr}} {
			explain(t, text, given)
		}
	}
}

func TestDocumentOmitsUnknownFigures(t *testing.T) {
	raw, err := json.Marshal(clash.NewDocument(read(t, "nothing"), l1.Spec{}))
	require.NoError(t, err)
	require.JSONEq(t, `{"schema": "cbl1.explain/1", "messages": [], "more": 0}`, string(raw))

	row := clash.NewDocument(read(t, meet), l1.Spec{}).Messages[0]
	require.Nil(t, row.Base)
	require.Zero(t, row.L1Size)
	require.Zero(t, row.Above)
	require.EqualValues(t, 99936, row.Over)
	require.EqualValues(t, 5, *row.Program)

	row = clash.NewDocument(read(t, clashAt("[0-0 - 7-7]", 103_712, 200_000)), l1.Spec{}).Messages[0]
	require.EqualValues(t, 0, *row.Room, "0 is a room, and known")
	require.EqualValues(t, 0, *row.Program, "0 is a program")
	require.Equal(t, "likely", row.ArchIs)
}
