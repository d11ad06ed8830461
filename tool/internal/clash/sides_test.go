package clash_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

// A number that lies on a limit of a chip, beside those of TestExplainChip, with the whole note.
func TestExplainChipOnItsLimits(t *testing.T) {
	for _, c := range []struct {
		text  string
		given l1.Spec
		base  uint64
		want  string
	}{
		{clashAt("[0-0 - 7-7]", 600064, 1499136), l1.Spec{}, 0, "Wormhole or Blackhole: the message fits both"},
		{clashAt("[0-0 - 7-7]", 103424, 110000), l1.Spec{}, 103424, "likely Wormhole (the limit lies below 111,104, the lowest base of a Blackhole): L1 1,499,136 bytes; base 103,424 (it varies with the release)"},
		{clashAt("[0-0 - 7-7]", 50, 60), l1.Spec{}, 0, "likely Wormhole (the limit lies below 111,104, the lowest base of a Blackhole): L1 1,499,136 bytes"},
		{clashAt("[0-0 - 7-9]", 600064, 700000), l1.Spec{}, 0, "Wormhole or Blackhole: the message fits both"},
		{clashAt("[0-0 - 7-10]", 600064, 700000), l1.Spec{}, 111616, ""},
		{clashAt("[0-0 - 11-0]", 600064, 700000), l1.Spec{}, 0, "Blackhole or Grayskull: a Wormhole has no core 11-0"},
		{clashAt("[0-0 - 7-7]", 600064, 700000), l1.Spec{CBBase: 600064}, 600064, "Wormhole or Blackhole: the message fits both; base 600,064 as given"},
		{growTo(1600512, 1499136), l1.Spec{CBBase: 1499136}, 1499136, ""},
	} {
		e := explain(t, c.text, c.given)
		require.Equal(t, c.base, value(e.Base), "%s\n%s", c.text, notes(e))
		if c.want != "" {
			require.Equal(t, c.want, note(t, e, "chip"), c.text)
		}
	}
}

// What is left of a message is said number by number.
func TestExplainNumbersOfAPart(t *testing.T) {
	for text, want := range map[string]string{
		"Local buffer address 12 has to append to last L1 region ... or be at a higher address":                                        "the CB was to start at 12",
		"Total circular buffer size 5 B must be divisible by page size ... B":                                                          "the CB has 5 bytes",
		"Total circular buffer size <n> B must be divisible by page size 2048 B":                                                       "a page has 2,048 bytes",
		"Cannot set circular buffer size to <n>. This is larger than the associated dynamically allocated L1 buffer bank size of 10 B": "the tensor has 10 bytes",
		"Statically allocated circular buffers on core range ... grow to 5 B ...":                                                      "the region ends at 5",
	} {
		require.Equal(t, want, note(t, explain(t, text, l1.Spec{}), "numbers"), text)
	}
}

// Of runs that agree as well the nearest lowest address counts, below and above, and the first of two that are
// as near.
func TestCompareNearest(t *testing.T) {
	const all = "[0-0 - 7-7]"
	found := read(t, clashes(all, 900_000))
	for _, c := range []struct {
		lowest []uint64
		want   int // of them
	}{
		{[]uint64{799_000, 801_001}, 0}, {[]uint64{798_999, 801_000}, 1}, {[]uint64{799_000, 801_000}, 0}, {[]uint64{801_000, 799_000}, 0},
		{[]uint64{0, 1_500_000}, 1}, {[]uint64{1_500_000, 0}, 0}, {[]uint64{700_000, 799_999, 800_002}, 1},
	} {
		one := clash.Compare(found, l1.Spec{})
		for i, lowest := range c.lowest {
			add(one, uint64(i), enqueued{fmt.Sprint(i), all, 900_000, lowest, nil})
		}
		m := one.Matches()[0]
		require.Equal(t, fmt.Sprint(c.want), m.Op, c.lowest)
		require.EqualValues(t, len(c.lowest), m.Runs)
	}
	// A run without addresses is as large by one of the bases; where it ends is said of the best one.
	placed := func(r *clash.ProgramRun) { r.Synthesised = true }
	found = read(t, clashes(all, 900_000-256))
	c := clash.Compare(found, l1.Spec{})
	add(c, 0, enqueued{"far", all, 900_000, 700_000, placed})
	add(c, 1, enqueued{"near", all, 900_000, 799_999, placed})
	add(c, 2, enqueued{"nothing", all, base, 0, placed})
	m := c.Matches()[0]
	require.Equal(t, clash.MatchSize, m.Level)
	require.Equal(t, []any{"near", uint64(900_000), int64(2)}, []any{m.Op, m.End, m.Runs})
	require.Equal(t, []string{"far", "near"}, m.Ops)
}

// The advice and the margin are those of the capture with the nearest run; for a message without a run the least margin.
func TestAdviceOfTheNearest(t *testing.T) {
	const all = "[0-0 - 7-7]"
	c := clash.Compare(read(t, clashes(all, 900_000)+"\n"+clashes("[0-0 - 3-3]", 950_000)), l1.Spec{})
	for i, lowest := range []uint64{790_000, 799_000, 780_000} {
		name := fmt.Sprint(i)
		add(c, uint64(i), enqueued{name, all, 900_000, lowest, func(r *clash.ProgramRun) { r.Capture = name }})
		c.Advise(name, func(uint64) string { return "advice of " + name })
		c.AddMargin(clash.Margin{Capture: name, Free: uint64(10 * (i + 1))})
	}
	found := c.Matches()
	require.Equal(t, "advice of 1", found[0].Advice)
	require.EqualValues(t, 20, found[0].Margin.Free)
	require.EqualValues(t, 10, found[1].Margin.Free)
}

// A message has the device of the run that it matches, and proposes nothing that this rules out. A message without a run
// has the device of another message's run.
func TestDeviceOfTheMatch(t *testing.T) {
	const all = "[0-0 - 7-7]"
	found := read(t, clashes(all, 900_000)+clashes("[0-0 - 3-3]", 800_064))
	found.Run = clash.Device{Spec: l1.ArchSpec(l1.Blackhole)}
	for _, c := range []struct {
		free  uint64
		cores int
		small bool // may shrink
		cut   bool // more cores may hold the buffer
	}{{100_032, 63, true, true}, {100_000, 64, false, false}} {
		one := clash.Compare(found, l1.Spec{})
		on := clash.Device{Spec: l1.ArchSpec(l1.Wormhole), Small: true, SmallFree: c.free, Banks: 64}
		run := clash.ProgramRun{What: clash.Circular, On: on, Entries: []clash.Entry{{Cores: slices.Collect(found.Messages[0].Cores.All())[0], End: 900_000}}}
		one.Add(run, func() []clash.LowestBuffer { return []clash.LowestBuffer{{Address: 800_000, Cores: c.cores}} })
		found.Matches = one.Matches()
		for i, row := range clash.NewDocument(found, l1.Spec{}).Messages {
			require.Equal(t, l1.Wormhole, row.Arch)
			if i == 0 {
				require.Equal(t, c.small, strings.Contains(notes(row), "l1_small_size smaller"), notes(row))
				require.Equal(t, c.cut, strings.Contains(notes(row), "more cores"), notes(row))
			}
		}
	}
}

// A message about L1_SMALL says how much of it others may take: its largest free block.
func TestSmallOfAMessage(t *testing.T) {
	for free, want := range map[int]bool{128: true, 127: false} {
		found := read(t, clashes("[0-0 - 7-7]", 800_100)+fmt.Sprintf("Out of Memory: Not enough space to allocate 2000 B L1_SMALL buffer across 2 banks, where each bank "+
			"needs to store 1000 B, but bank size is 4096 B (allocated: %d B, free: %d B, largest free block: %d B)", 4096-free, free, free))
		row := clash.NewDocument(found, l1.Spec{}).Messages[0]
		require.Equal(t, want, strings.Contains(notes(row), "l1_small_size smaller"), notes(row))
	}
}

// The free bytes of L1_SMALL by a bank of another message: with the chip that is given, with that of the capture, and by
// the size of L1_SMALL itself. Messages without a bank and of other memory say nothing of it, nor does an L1 size that no chip has.
func TestSmallByABank(t *testing.T) {
	const space = "\nOut of Memory: Not enough space to allocate 1280 B %s buffer across 2 banks, where each bank needs to store 640 B"
	bank := func(memory string, size int) string {
		return fmt.Sprintf(space+", but bank size is %d B", memory, size)
	}
	wormhole, blackhole := l1.ArchSpec(l1.Wormhole), l1.ArchSpec(l1.Blackhole)
	const small, lower = "l1_small_size smaller by %s, if L1_SMALL has so much to spare: L1 buffers move up; or ", "worker_l1_size larger by %s lowers the base, if kernels leave so much of their ring"
	for _, c := range []struct {
		over      uint64
		more      string
		given, on l1.Spec
		small     bool
		says      string
	}{
		{32_768, bank("L1", 1_362_656), wormhole, blackhole, true, "32,768"},
		{32_769, fmt.Sprintf(space, "L1") + bank("DRAM", 1_300_000) + bank("L1", 1_362_656), wormhole, blackhole, false, "32,832"},
		{16_384, bank("L1", 1_444_864), l1.Spec{}, blackhole, true, "16,384"},
		{16_385, bank("L1", 1_444_864), l1.Spec{}, blackhole, false, "16,448"},
		{16_384, bank("L1_SMALL", 16_384), l1.Spec{}, l1.Spec{}, true, "16,384"},
		{16_385, bank("L1_SMALL", 16_384) + bank("L1", 1_362_656), wormhole, l1.Spec{}, false, "16,448"},
	} {
		found := read(t, clashAt("[0-0 - 7-7]", 800_000, 800_000+c.over)+c.more)
		found.Run.Spec = c.on
		want := fmt.Sprintf(lower, c.says)
		if c.small {
			want = fmt.Sprintf(small, c.says) + want
		}
		require.Equal(t, want, note(t, clash.NewDocument(found, c.given).Messages[0], "open"), c.more)
	}
	found := read(t, growTo(1_100_000, 1_048_576)+"\n"+clashAt("[0-0 - 7-7]", 800_000, 816_384))
	require.Equal(t, "Wormhole or Blackhole: the message fits both", note(t, clash.NewDocument(found, l1.Spec{}).Messages[1], "chip"))
}

// One value on each side of limits of the advice: the text is said of the first message, and not of the second.
func TestAdviceOnItsLimits(t *testing.T) {
	const small = "Out of Memory: Not enough space to allocate 2000 B %s buffer across 2 banks, where each bank needs to store %d B"
	memory := func(what string, need int, more string) string { return fmt.Sprintf(small+more, what, need) }
	page := func(size int) string {
		return fmt.Sprintf("Persistent L1 arena is out of memory: cannot place %d bytes aligned to 64 on cores {[0-0 - 7-7]} in [0, 100)", size)
	}
	wormhole, low, blackhole := l1.ArchSpec(l1.Wormhole), l1.ArchSpec(l1.Wormhole), l1.ArchSpec(l1.Blackhole)
	low.CBBase, blackhole.CBBase = 40_000, 48_000
	const pieces = " (allocated: 2048 B, free: 2048 B, largest free block: 512 B)"
	end := wormhole.CBBase + 200_000
	for _, c := range []struct {
		label, says string
		first, next string
		given       l1.Spec
	}{
		{"open", "worker_l1_size larger by 6,912", page(7012), page(7076), low},
		{"open", "worker_l1_size larger by 7,040", page(7140), page(7141), blackhole},
		{"open", "of more than 1,000 bytes", memory("L1_SMALL", 1000, ", but bank size is only 1000 B"), memory("L1_SMALL", 1001, ", but bank size is only 1000 B"), l1.Spec{}},
		{"open", "l1_small_size smaller by at least 64 bytes", memory("L1", 1064, ", but bank size is only 1000 B"), memory("L1", 2_000_000, ", but bank size is only 1000 B"), l1.Spec{}},
		{"numbers", "do not add up", memory("L1", 640, ", but bank size is 1000 B (allocated: 399 B, free: 600 B"), memory("L1", 640, " ... (allocated: 399 B, free: 600 B"), l1.Spec{}},
		{"likely", "leave only", clashAt("[0-0 - 7-7]", wormhole.CBBase+8191, wormhole.CBBase+20_000), clashAt("[0-0 - 7-7]", wormhole.CBBase+8192, wormhole.CBBase+20_000), wormhole},
		{"likely", "a near miss", clashAt("[0-0 - 7-7]", end-10_000, end), clashAt("[0-0 - 7-7]", end-10_001, end), wormhole},
		{"likely", "at most 64 KiB", clashAt("[0-0 - 7-7]", wormhole.L1Size-1, wormhole.L1Size), clashAt("[0-0 - 7-7]", 5_000_000, 5_000_001), l1.Spec{}},
		{"try", "allocate what lives long first", memory("L1", 1024, ", but bank size is 4096 B"+pieces),
			"Not enough space after considering dependencies to allocate 2048 B L1 across 2 banks (1024 B per bank), bank size is 4096 B" + pieces, l1.Spec{}},
		{"open", "l1_small_size smaller by", clashAt("[0-0 - 7-7]", 600_000, 600_000+blackhole.L1Size), clashAt("[0-0 - 7-7]", 600_000, 600_001+blackhole.L1Size), l1.Spec{}},
	} {
		for i, text := range []string{c.first, c.next} {
			said := slices.ContainsFunc(explain(t, text, c.given).Notes, func(n clash.Note) bool { return n.Label == c.label && strings.Contains(n.Text, c.says) })
			require.Equal(t, i == 0, said, "%s: %s", text, c.says)
		}
	}
}

// The size of open_device that a message asks for: what is in use, and what is needed.
func TestAsks(t *testing.T) {
	const ring = "Program size (70720) too large for kernel config buffer (70656)"
	for text, want := range map[string]clash.Ask{
		"Out of Memory: Not enough space to allocate 1200 B L1_SMALL buffer across 2 banks, where each bank needs to store 600 B, but bank size is 1000 B " +
			"(allocated: 300 B, free: 700 B, largest free block: 350 B)": {Parameter: "l1_small_size", Used: 1000, Least: 1600},
		"Creating trace buffers of size 60825600B on MeshDevice 0, but only 50000000B is allocated for trace region":                                   {Parameter: "trace_region_size", Used: 50_000_000, Least: 60_825_600},
		"Out of Memory: Not enough space to allocate 1200 B TRACE buffer across 12 banks, where each bank needs to store 100 B, but bank size is 90 B": {Parameter: "trace_region_size"},
		ring + " on TENSIX": {Parameter: "worker_l1_size", Least: 70_721}, ring: {Parameter: "worker_l1_size", Least: 70_721},
		"Program size (70655) too large for kernel config buffer (70656)": {Parameter: "worker_l1_size"}, // which is altered
		ring + " on ACTIVE_ETH": {}, growTo(1_600_000, 1_499_136): {},
	} {
		ask, ok := read(t, text).Messages[0].Asks()
		require.Equal(t, want, ask, text)
		require.Equal(t, want.Parameter != "", ok, text)
	}
	// The ring ends at the base, and starts at a fixed address of its release. A base that is none of a release was moved.
	for base, want := range map[uint64]uint64{103_424: 9_120, 103_712: 9_120, 112_800: 32, 112_832: 0, 113_728: 0, 90_016: 22_816} {
		lack, ok := clash.RingLack(l1.Spec{Arch: l1.Wormhole, CBBase: base, CBAlign: 32}, 79_761)
		require.Equal(t, []any{want, true}, []any{lack, ok}, base)
	}
	_, ok := clash.RingLack(l1.ArchSpec(l1.Quasar), 79_761)
	require.False(t, ok)
	// The chip that is given counts, whatever another message of the log shows.
	rows := clash.NewDocument(read(t, ring+" on TENSIX\n"+growTo(1_700_000, l1.ArchSpec(l1.Blackhole).L1Size)), l1.ArchSpec(l1.Wormhole)).Messages
	require.Contains(t, note(t, rows[0], "open"), "worker_l1_size smaller by 96 bytes: ")
}

// More banks are proposed for a buffer that lies on fewer than the device has.
func TestBanksOfTheDevice(t *testing.T) {
	for banks, want := range map[int]bool{129: true, 130: false} {
		for says, bank := range map[string]int{"shard it over more cores": 1000, "or shard over more banks": 4000} {
			found := read(t, fmt.Sprintf("Out of Memory: Not enough space to allocate 2000 B L1 buffer across %d banks, where each bank needs to store 2000 B, but bank size is %d B "+
				"(allocated: 800 B, free: 200 B, largest free block: 200 B)", banks, bank))
			found.Run = clash.Device{Spec: l1.ArchSpec(l1.Blackhole), Banks: 130}
			said := notes(clash.NewDocument(found, l1.Spec{}).Messages[0])
			require.Equal(t, want, strings.Contains(said, says), said)
		}
	}
}

// A smaller L1_SMALL is proposed for a tensor that it can make room for: where bytes are missing, and it may have so many to spare.
func TestRoomOfL1Small(t *testing.T) {
	const none, perhaps = "no parameter of open_device helps", "none for certain: a smaller l1_small_size gives tensors more, if L1_SMALL has bytes to spare, but it moves them all"
	for _, c := range []struct {
		need, free int
		small      uint64
		want       string
	}{
		{2000, 200, 1856, "l1_small_size smaller by at least 1,856 bytes (1.8 KiB), if L1_SMALL has so much to spare: tensors get it"}, {2000, 200, 1855, none},
		{2000, 2000, 1, perhaps}, {2000, 2000, 0, none}, {4_000_000, 200, 5_000_000, none},
	} {
		found := read(t, fmt.Sprintf("Out of Memory: Not enough space to allocate 2000 B L1 buffer across 2 banks, where each bank needs to store %d B, but bank size is 4000 B "+
			"(allocated: %d B, free: %d B, largest free block: 200 B)", c.need, 4000-c.free, c.free))
		found.Run = clash.Device{Small: true, SmallFree: c.small}
		require.Equal(t, c.want, note(t, clash.NewDocument(found, l1.Spec{}).Messages[0], "open"))
	}
}
