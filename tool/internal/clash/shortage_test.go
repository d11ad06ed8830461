package clash_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

// Each release prints the allocator's message in its own form. The same numbers are read from
// all of them, and explained alike.
func TestShortage(t *testing.T) {
	const space, deps = "Out of Memory: Not enough space to allocate ", "Out of Memory: Not enough space after considering dependencies to allocate "
	type numbers = map[string]uint64
	says := func(memory string, n numbers) clash.Message { return clash.Message{What: memory, Numbers: n} }
	full := func(memory string, banks, need, bank, allocated, free, block uint64) clash.Message {
		return says(memory, numbers{"banks": banks, "need": need, "bank": bank, "allocated": allocated, "free": free, "block": block})
	}
	dependent := func(m clash.Message) clash.Message { m.Numbers["dependencies"] = 1; return m }
	placeable := func(m clash.Message, all, largest uint64) clash.Message {
		m.Numbers["placeable"], m.Numbers["window"] = all, largest
		return dependent(m)
	}
	const after = ". After subtracting 1 dependency range(s) and 0 additional occupied range(s), "
	for _, c := range []struct {
		name, text string
		size       uint64
		want       clash.Message
		over       uint64
		says       string
		also       []string
	}{
		{
			"fragmented", // tt-mlir 8044
			space + "26542080 B L1 buffer across 48 banks, where each bank needs to store 552960 B, but bank size is 1329888 B (allocated: 417792 B, free: 912096 B, largest free block: 522240 B)",
			26542080, full("L1", 48, 552960, 1329888, 417792, 912096, 522240), 30720,
			"L1 fragmented: the buffer needs 552,960 bytes (540.0 KiB) of each bank in one piece, 30,720 bytes (30.0 KiB) more than the largest free block",
			[]string{"ttnn.reallocate", "417,792 allocated, 912,096 free, the largest free block 522,240", "cbl1 room CAPTURE"},
		},
		{
			"bank size only", // tt-mlir 5343
			space + "12943360 B L1 buffer across 20 banks, where each bank needs to store 647168 B, but bank size is only 1437056 B",
			12943360, says("L1", numbers{"banks": 20, "need": 647168, "bank": 1437056}), 0,
			"out of L1: no space for a buffer of 12,943,360 bytes (12.3 MiB), 647,168 bytes (632.0 KiB) of each bank; this release does not say how much is free",
			[]string{"a newer release says how much is free", "a bank has 1,437,056 bytes"},
		},
		{
			"L1_SMALL", // tt-mlir 5556
			space + "16384 B L1_SMALL buffer across 64 banks, where each bank needs to store 256 B, but bank size is only 32768 B",
			16384, says("L1_SMALL", numbers{"banks": 64, "need": 256, "bank": 32768}), 0,
			"out of L1_SMALL: no space for a buffer of 16,384 bytes (16.0 KiB), 256 bytes of each bank; this release does not say how much is free",
			[]string{"open the device with l1_small_size of more than 32,768 bytes"},
		},
		{
			"can never fit", // tt-metal 35431
			space + "86450176 B L1 buffer across 64 banks, where each bank needs to store 1350784 B, but bank size is only 1330944 B",
			86450176, says("L1", numbers{"banks": 64, "need": 1350784, "bank": 1330944}), 19840,
			"can never fit: an empty bank of L1 has 1,330,944 bytes (1.3 MiB), the buffer needs 1,350,784 bytes (1.3 MiB), 19,840 bytes (19.4 KiB) more",
			[]string{"no order of allocations helps"},
		},
		{
			"DRAM, fragmented",
			space + "335544320 B DRAM buffer across 8 banks, where each bank needs to store 41943040 B, but bank size is 4273390016 B (allocated: 4196976832 B, free: 76413184 B, largest free block: 37030336 B)",
			335544320, full("DRAM", 8, 41943040, 4273390016, 4196976832, 76413184, 37030336), 4912704,
			"DRAM fragmented: the buffer needs 41,943,040 bytes (40.0 MiB) of each bank in one piece, 4,912,704 bytes (4.7 MiB) more than the largest free block",
			[]string{"one address on all banks"},
		},
		{
			"exhausted, with dependencies",
			deps + "65536 B L1 across 64 banks (1024 B per bank), bank size is 4096 B (allocated: 3584 B, free: 512 B, largest free block: 512 B)",
			65536, dependent(full("L1", 64, 1024, 4096, 3584, 512, 512)), 512,
			"L1 exhausted: the buffer needs 1,024 bytes (1.0 KiB) of each bank, 512 bytes more than is free",
			[]string{"free 512 bytes of each bank before this"},
		},
		{
			"a block is free, but not of other allocators", // tt-metal PR 54479
			deps + "73728 B L1 across 1 banks (73728 B per bank), bank size is 1374464 B (allocated: 787000 B, free: 587464 B, largest free block: 278528 B)",
			73728, dependent(full("L1", 1, 73728, 1374464, 787000, 587464, 278528)), 0,
			"L1 taken by other allocators: no space beside their ranges for a buffer of 73,728 bytes (72.0 KiB), 73,728 bytes (72.0 KiB) of each bank",
			[]string{"a free block larger than was asked for is normal here", "free buffers that other allocators hold"},
		},
		{
			"others leave too little in one piece",
			deps + "4096 B DRAM across 2 banks (2048 B per bank), bank size is 8192 B (allocated: 3072 B, free: 5120 B, largest free block: 3072 B)" +
				after + "2048 B remained placeable across 2 window(s), largest 1024 B",
			4096, placeable(full("DRAM", 2, 2048, 8192, 3072, 5120, 3072), 2048, 1024), 1024,
			"DRAM cut up by other allocators: the buffer needs 2,048 bytes (2.0 KiB) of each bank in one piece, 1,024 bytes (1.0 KiB) more than the largest that they leave",
			[]string{"without the ranges of other allocators 2,048, the largest block of it 1,024"},
		},
		{
			"others leave too little",
			deps + "4096 B DRAM across 2 banks (2048 B per bank), bank size is 8192 B (allocated: 3072 B, free: 5120 B, largest free block: 3072 B)" +
				after + "2047 B remained placeable across 1 window(s), largest 2047 B",
			4096, placeable(full("DRAM", 2, 2048, 8192, 3072, 5120, 3072), 2047, 2047), 1,
			"DRAM taken by other allocators: the buffer needs 2,048 bytes (2.0 KiB) of each bank, 1 byte more than they leave", nil,
		},
		{
			"L1_SMALL is full",
			space + "16384 B L1_SMALL buffer across 64 banks, where each bank needs to store 256 B, but bank size is 1024 B (allocated: 832 B, free: 192 B, largest free block: 192 B)",
			16384, full("L1_SMALL", 64, 256, 1024, 832, 192, 192), 64,
			"L1_SMALL exhausted: the buffer needs 256 bytes of each bank, 64 bytes more than is free",
			[]string{"open the device with l1_small_size of 1,088 bytes or more"},
		},
		{
			"L1_SMALL is in pieces",
			space + "16384 B L1_SMALL buffer across 64 banks, where each bank needs to store 256 B, but bank size is 1024 B (allocated: 768 B, free: 256 B, largest free block: 192 B)",
			16384, full("L1_SMALL", 64, 256, 1024, 768, 256, 192), 64,
			"L1_SMALL fragmented: the buffer needs 256 bytes of each bank in one piece, 64 bytes more than the largest free block",
			[]string{"open the device with l1_small_size of 1,280 bytes or more"},
		},
		{
			"no L1_SMALL",
			space + "16384 B L1_SMALL buffer across 64 banks, where each bank needs to store 256 B, but bank size is 0 B (allocated: 0 B, free: 0 B, largest free block: 0 B)",
			16384, full("L1_SMALL", 64, 256, 0, 0, 0, 0), 256,
			"no L1_SMALL at all: a bank has 0 bytes, and a buffer of 16,384 bytes (16.0 KiB) needs some",
			[]string{"open the device with l1_small_size of 256 bytes or more", "is 0 unless it is asked for"},
		},
		{
			"TRACE", // bank size without "but"
			space + "4096 B TRACE buffer across 12 banks, where each bank needs to store 342 B, bank size is 0 B",
			4096, says("TRACE", numbers{"banks": 12, "need": 342, "bank": 0}), 342,
			"no TRACE at all: a bank has 0 bytes, and a buffer of 4,096 bytes (4.0 KiB) needs some",
			[]string{"open the device with trace_region_size of 4,104 bytes or more (342 of each bank; up to June 2026 the size is that of each bank)"},
		},
		{
			"the oldest form", space + "1000 B L1 buffer across 2 banks, where each bank needs to store 500 B", 1000,
			says("L1", numbers{"banks": 2, "need": 500}), 0,
			"out of L1: no space for a buffer of 1,000 bytes, 500 bytes of each bank; this release does not say how much is free", nil,
		},
		{
			"older still", space + "1000 B DRAM buffer across 2 banks", 1000, says("DRAM", numbers{"banks": 2}), 0,
			"out of DRAM: no space for a buffer of 1,000 bytes across 2 banks; this release does not say how much is free", nil,
		},
		{
			"its numbers deny it",
			space + "1000 B L1 buffer across 2 banks, where each bank needs to store 500 B, but bank size is 1000 B (allocated: 0 B, free: 1000 B, largest free block: 1000 B)",
			1000, full("L1", 2, 500, 1000, 0, 1000, 1000), 0, "out of L1, but its numbers show none: 500 are needed of each bank, and a block of 1,000 is free", nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, text := range map[string]string{
				"alone": c.text, "stop": c.text + ".", "thrown": "TT_FATAL @ bank_manager.cpp:143: tt::exception\ninfo:\n" + c.text + "\nbacktrace:",
				"wrapped": strings.ReplaceAll(c.text, " ", "\n  "), "prefix": "(Core pid=230) x: " + strings.ReplaceAll(c.text, " ", "\n(Core pid=230) "),
			} {
				found := read(t, text)
				require.Len(t, found.Messages, 1, how)
				m := found.Messages[0]
				require.Equal(t, clash.OutOfMemory, m.Kind)
				require.Equal(t, c.text, m.Text, how)
				c.want.Numbers["size"] = c.size
				require.Equal(t, c.want.What, m.What, how)
				require.Equal(t, c.want.Numbers, m.Numbers, how)
				over, ok := m.Over()
				require.Equal(t, c.over, over)
				require.Equal(t, over > 0, ok)
				e := clash.Explain(m, l1.Spec{})
				require.Equal(t, c.says, e.Summary)
				requireSound(t, e)
				notes := fmt.Sprint(e.Notes)
				for _, also := range c.also {
					require.Contains(t, notes, also)
				}
				require.Equal(t, c.name == "its numbers deny it", e.Damaged)
				row := clash.NewDocument(found, l1.Spec{}).Messages[0]
				require.Equal(t, c.want.What, row.Shortage.Buffer)
				require.Equal(t, c.want.Numbers["block"], value(row.Shortage.Block))
				require.Equal(t, over > 0, row.LimitIs != "")
			}
		})
	}
	for _, text := range []string{space, space + "10 B HOST buffer across 2 banks", "Out of Memory: something else", space + "10 B L1 buffer across banks"} {
		require.Empty(t, read(t, text).Messages, text)
	}
}

// What lies between free blocks is named: of the bank that agrees with the message, and between
// the two neighbours that would be the largest block together.
func TestSpace(t *testing.T) {
	found := read(t, "Out of Memory: Not enough space to allocate 640 B L1 buffer across 2 banks, where each bank needs to store 320 B, "+
		"but bank size is 1000 B (allocated: 400 B, free: 600 B, largest free block: 250 B)")
	at := func(start, end uint64, cores l1.CoreSet, op string) clash.PlacedBuffer {
		return clash.PlacedBuffer{What: "L1 buffer", Cores: cores, Start: start, End: end, Event: 7, Op: op}
	}
	left, right := l1.Rect(0, 0, 0, 0).Cores(), l1.Rect(1, 0, 1, 0).Cores()
	bank := clash.Bank{Run: clash.ProgramRun{Capture: "x/a.json"}, Usable: l1.Range{Start: 1000, End: 2000}, Laid: []clash.PlacedBuffer{
		at(1700, 1800, right, "high"), at(1150, 1250, left, "low"), at(1200, 1300, right, "low too"), at(1500, 1600, left, "middle"), at(1550, 1650, right, "lower middle"),
		at(100, 200, left, "a kernel"), at(1990, 2100, left, "at the top"),
	}}
	other := clash.Bank{Run: clash.ProgramRun{Capture: "b.json", Device: "device 4"}, Usable: l1.Range{Start: 1000, End: 2000}}
	for _, banks := range [][]clash.Bank{{bank, other}, {other, bank}} {
		all := clash.Compare(found, l1.Spec{})
		for _, b := range banks {
			all.AddBank(b)
		}
		s := all.Matches()[0].Space
		require.Equal(t, banks[0].Run.Capture, s.Capture, "none agrees: the first")
	}
	// The message says how large a bank is: where the capture does not, that is where L1_SMALL begins.
	assumed := other
	assumed.Usable.End, assumed.L1Size = 2048, 2048
	space := func(b clash.Bank) *clash.Space {
		c := clash.Compare(found, l1.Spec{})
		c.AddBank(b)
		return c.Matches()[0].Space
	}
	require.True(t, space(assumed).Other)
	require.EqualValues(t, 1048, space(assumed).Free)
	assumed.SmallAssumed = true
	require.False(t, space(assumed).Other)
	require.EqualValues(t, 1000, space(assumed).Free)

	bank.Laid = append(bank.Laid, at(1300, 1450, left, "one more"))
	c := clash.Compare(found, l1.Spec{})
	c.AddBank(other)
	require.False(t, c.Matches()[0].Space.Agrees)
	require.Empty(t, c.Matches()[0].Space.Between)
	found.Messages[0].Numbers["free"], found.Messages[0].Numbers["block"] = 440, 190
	c = clash.Compare(found, l1.Spec{})
	c.AddBank(other)
	c.AddBank(bank)
	s := c.Matches()[0].Space
	require.True(t, s.Agrees, "free 150 + 50 + 50 + 190")
	require.EqualValues(t, 440, s.Free)
	require.Equal(t, [2]uint64{1800, 190}, [2]uint64{s.Start, s.Largest})
	require.Equal(t, []clash.PlacedBuffer{at(1700, 1800, right, "high")}, s.Between)

	found.Matches = c.Matches()
	message := clash.NewDocument(found, l1.Spec{}).Messages[0]
	require.Contains(t, message.Notes, clash.Note{Label: "between", Text: "1,650..1,700 and 1,800..1,990: L1 buffer of 100 bytes at 1,700 on 1 core, since node 7 by high"})
	require.Contains(t, message.Notes, clash.Note{Label: "free", Text: "at the end of a.json: 440 bytes free of each bank, the largest block 190 at 1,800..1,990, as the message says"})
	for _, n := range message.Notes {
		require.NotEqual(t, "unknown", n.Label)
	}
	row := message.Space
	require.Equal(t, [][2]uint64{{1650, 1700}, {1800, 1990}}, row.Blocks)
	require.Equal(t, "high", row.Between[0].Op)
}
