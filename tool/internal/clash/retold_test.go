package clash_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

// What people tell in words of their own, and the numbers that are read: a line each.
const retellings = `
grow circular end=1700000 limit=1499136 -cores | conv2d: circular buffers grow to 1700000 B beyond max L1 size of 1499136 B
grow circular end=1700000 limit=1499136 {[0-0 - 0-0]} | Statically allocated circular buffers on core range [(x=0,y=0)] grow to 1700000 B beyond max L1 size 1499136 B
grow circular end=1700000 limit=1499136 {[0-0 - 7-9]} | Statically allocated circular buffers on core range (0,0)-(7,9) extend to 1700000 B, exceeding the max L1 size of 1499136 B
grow circular end=1700000 limit=1499136 {[1-2 - 7-9]} | Statically allocated CBs on cores (1, 2) - (7, 9) need 1700000 B but L1 has 1499136 B
grow circular end=1700000 limit=1499136 {[0-0 - 7-9]} | error: total CB allocation (1700000 B) exceeds L1 capacity (1499136 B) on core range [(0,0)-(7,9)]
grow circular end=1700000 limit=1499136 {[3-4 - 3-4]} | the CBs end at 1,700,000 B (1.6 MB) > max L1 1,499,136 B (1.4 MB), on core (3,4)
grow circular end=1700000 limit=1499136 p7 -cores | Circular buffers in program 7 grew to 1700000B which is above the L1 limit of 1499136
grow dataflow end=1700000 limit=1499136 -cores | DFBs take 1700000 bytes on a 1499136 B core
clash circular end=700000 limit=600064 -program -cores | Error: L1 region [600064, 900000] clashes with CB region ending at 700000
clash circular end=700000 limit=600064 p3 -cores | L1 buffer at 600064 overlaps the static CB region [103712, 700000) in program 3
clash circular end=700000 limit=600064 -cores -program | CB region [103712, 700000] overlaps the L1 tensor allocated at 600064
clash circular end=700000 limit=600064 p5 {[0-0 - 7-6]} | Circular buffers in program 5 clash with L1 buffers on cores (0,0)-(7,6): L1 buffer at 600064, CB region ends at 700000
clash dataflow end=700000 limit=600064 -cores -program | dataflow buffers end at 700000 and run into the lowest L1 tensor at 600064
out-of-memory DRAM size=4096 -banks | Out of Memory: Not enough space to allocate 4096 B DRAM buffer
out-of-memory L1 size=4096 -banks | Not enough space to allocate 4096 B L1 buffer (bank_manager.cpp:12)
out-of-memory L1 bank=1000 banks=8 block=300 need=512 size=4096 | OOM: Not enough space to allocate 4096 B L1 buffer across 8 banks, needs 512 B/bank, bank size 1000 B, largest free block 300 B
out-of-memory L1 block=300 free=700 need=512 -size | Out of Memory: L1 buffer needs 512 B per bank, free is 700 B, the largest free block is 300 B
trace-region limit=50000000 size=60000000 | The trace buffer required for the prefill of this model is 60000000B (~57.2MB) but only 50000000B (~47.7MB) is allocated for the trace region.
trace-region limit=50000000 size=60000000 | we create trace buffers of size 60000000B but only 50000000B allocated for trace region
trace-region limit=50000000 size=60000000 | a trace: trace needs 60,000,000 B, exceeds the trace_region_size of 50,000,000
kernel-config limit=70656 size=79760 -type | Program size 79760 exceeds the kernel config buffer size of 70656
address-limit address=98304 limit=103712 | Out of Memory: Cannot allocate at an address below 103712. Tried to allocate at 98304
slots dataflow index=40 limit=32 | Cannot create DFB 40: WH/BH supports at most 32 dataflow buffers
slots circular index=64 limit=32 | Buffer index (64) exceeds max number of circular buffers per core (32)
compiler limit=1395424 size=2000000 start=103712 stop=1499136 | error: 'func.func' op required L1 memory usage 2000000 exceeds memory capacity 1395424 (usable space is [103712, 1499136))
`

func TestRetellings(t *testing.T) {
	for line := range strings.SplitSeq(strings.TrimSpace(retellings), "\n") {
		want, text, _ := strings.Cut(line, " | ")
		for _, text := range []string{text, "E   RuntimeError: " + text + "\n", "x\n" + text + "; ok", strings.ReplaceAll(text, " ", "\n"), "> " + strings.ReplaceAll(text, " ", "\n> ")} {
			found := read(t, text)
			require.Len(t, found.Messages, 1, "%q", text)
			m := found.Messages[0]
			var words []string
			for _, name := range []string{"address", "bank", "banks", "block", "end", "free", "index", "limit", "need", "size", "start", "stop"} {
				if n, ok := m.Numbers[name]; ok {
					words = append(words, fmt.Sprintf("%s=%d", name, n))
				}
			}
			if p, ok := m.Numbers["program"]; ok {
				words = append(words, fmt.Sprintf("p%d", p))
			}
			if m.Cores.Len() > 0 {
				words = append(words, m.Cores.String())
			}
			for _, field := range m.Missing {
				words = append(words, "-"+field)
			}
			require.Equal(t, want, strings.Join(strings.Fields(fmt.Sprint(m.Kind, " ", m.What, " ", strings.Join(words, " "))), " "), "%q", text)
			requireSound(t, clash.Explain(m, l1.Spec{}))
			require.False(t, clash.Explain(m, l1.Spec{}).Damaged, "%q", text)
		}
	}
}

// Sentences about the same things that say no numbers, or others.
func TestNoRetelling(t *testing.T) {
	for _, text := range []string{
		"circular buffers grow beyond max L1 size",
		"CBs grow to ~2.2 MB on core [0-0] > 1.5 MB L1",
		"CBs grow to 2200 KB > 1500 KB",
		"circular buffers grow to 1700000 B",
		"Statizally allocated circular buffers grow to 1700000 B beyond max L1 size of 1499136 B",
		"many circular buffers grow to 1700000 B beyond max L1 size of 1499136 B",
		"circular buffers grow to 1700000 B beyond max L1 size of 1499136 KB",
		"L1 region [600064, 900000] follows the CB region ending at 700000",
		"L1 buffer allocated at 600064 and static circular buffer region ends at 700000\ncircular buffers in program 5 clash with",
		"Circular buffers clash with L1 buffers on cores (7,6)-(0,0): L1 buffer at 600064, CB region ends at 700000",
		"Out of Memory: 12 of 40",
		"Not enough space to allocate 4096 B L1 buffer acrosx 8 banks",
		"The trace buffer is 60000000B and the file 50000000B",
		"Program size 79760 exceeds 70656",
		"CB 7 grows to 1,70,000 B > 1,499,136 B",
	} {
		require.Empty(t, read(t, text).Messages, text)
	}
}

// The new kinds with their words, whole and with numbers that deny them.
func TestExplainMemoryKinds(t *testing.T) {
	for text, want := range map[string]string{
		"Out of Memory: Cannot allocate at an address below 103712. Allocation at 98304":  "no bytes left above 103,712: a buffer would start at 98,304, 5,408 bytes (5.3 KiB) below the lowest address for one",
		"Out of Memory: Cannot allocate at an address below 103712. Allocation at 103712": "no bytes left, but its numbers show none missing: 103,712 is not below 103,712",
		"Cannot create DFB 32: WH/BH supports at most 32 dataflow buffers":                "no such slot: DFB 32 of a core that has 32 slots, 0 to 31",
		"Cannot create DFB 31: WH/BH supports at most 32 dataflow buffers":                "no such slot, but its numbers show that there is: DFB 31 of 32 slots",
		"required L1 memory usage 11 exceeds memory capacity 10":                          "too large for the compiler: a function needs 11 bytes of the L1 of a core, 10 bytes are usable, 1 byte too little",
		"required L1 memory usage 10 exceeds memory capacity 10":                          "too large for the compiler: 10 bytes of 10 bytes, but its numbers show that it fits",
		"required L1 memory usage <n> exceeds memory capacity 10":                         "too large for the compiler: a function needs more L1 than is usable",
		"Cannot create DFB <id>: WH/BH supports at most 32 dataflow buffers":              "no such slot: a core has no DFB with this number",
		"Out of Memory: Cannot allocate at an address below 103712. Allocation at ...":    "no bytes left: a buffer would start below the lowest address for one",
	} {
		e := explain(t, text, l1.Spec{})
		requireSound(t, e)
		require.Equal(t, want, e.Summary, text)
	}
	row := clash.NewDocument(read(t, "required L1 memory usage 11 exceeds memory capacity 10 (usable space is [5, 15))"), l1.Spec{}).Messages[0]
	require.Equal(t, []uint64{11, 10, 1, 5, 15}, []uint64{value(row.Needed), value(row.Limit), row.Over, value(row.RegionStart), value(row.RegionEnd)})
	row = clash.NewDocument(read(t, "Out of Memory: Cannot allocate at an address below 103712. Allocation at 98304"), l1.Spec{}).Messages[0]
	require.Equal(t, []any{uint64(103712), "lowest-address", uint64(5408)}, []any{value(row.Limit), row.LimitIs, row.Over})
	row = clash.NewDocument(read(t, "Cannot create DFB 40: WH/BH supports at most 32 dataflow buffers"), l1.Spec{}).Messages[0]
	require.Equal(t, []any{uint64(32), "slots", uint64(0)}, []any{value(row.Limit), row.LimitIs, row.Over})
}
