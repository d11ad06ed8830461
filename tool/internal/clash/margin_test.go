package clash_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

// Of several captures the one with the least room counts, in any order and the first of equals,
// and one that does not fit as it is counts most.
func TestMargin(t *testing.T) {
	found := read(t, "Program size (79760) too large for kernel config buffer (70656) on TENSIX")
	margin := func(name string, free uint64, failed int64) clash.Margin {
		return clash.Margin{Capture: name, Op: "op", Event: 7, Free: free, Failed: failed}
	}
	for _, c := range []struct {
		margins []clash.Margin
		want    string
	}{
		{[]clash.Margin{margin("a", 9152, 0)}, "of all runs of a this one leaves the least room above its CBs, 9,152 bytes (8.9 KiB): op, node 7 of a. " +
			"worker_l1_size can shrink by no more than that, and 9,152 are needed: the CBs of all runs still fit"},
		{[]clash.Margin{margin("a", 9151, 0), margin("b", 9152, 0)}, "of all runs of a this one leaves the least room above its CBs, 9,151 bytes (8.9 KiB): op, node 7 of a. " +
			"worker_l1_size can shrink by no more than that, and 9,152 are needed: too little, by 1 byte"},
		{[]clash.Margin{margin("b", 64, 0), margin("a", 64, 0)}, "of all runs of b this one leaves the least room above its CBs, 64 bytes: op, node 7 of b. " +
			"worker_l1_size can shrink by no more than that, and 9,152 are needed: too little, by 9,088 bytes (8.9 KiB)"},
		{[]clash.Margin{margin("a", 1, 0), margin("b", 9152, 2), margin("c", 0, 0)}, "runs of b that do not fit as it is: 2; worker_l1_size can shrink by nothing"},
	} {
		all := clash.Compare(found, l1.Spec{})
		for _, m := range c.margins {
			all.AddMargin(m)
		}
		e := clash.Explain(found.Messages[0], l1.Spec{})
		e.Add(all.Matches()[0])
		require.Equal(t, c.want, note(t, e, "change"))
	}
}

// By how much the parameter can change that would help, of each kind of message.
func TestChange(t *testing.T) {
	const (
		ring   = "Program size (79760) too large for kernel config buffer (70656)"
		memory = "Out of Memory: Not enough space to allocate 2000 B "
		each   = "buffer across 2 banks, where each bank needs to store 1000 B, but bank size is "
		grow   = "how far worker_l1_size can grow is not known: no capture has the kernels, which lie in the ring"
		small  = "as far as a shows, l1_small_size, 4,096 bytes (4.0 KiB), can shrink by all of it, since no L1_SMALL buffer lives there"
		trace  = "trace_region_size takes DRAM alone: in L1 nothing changes"
	)
	room := func(says string) string {
		return "of all runs of a this one leaves the least room above its CBs, 9,152 bytes (8.9 KiB): op, node 7 of a. " + says
	}
	unknown := func(name string) []string {
		return []string{"how far " + name + " is not known: no run was judged that takes any bytes"}
	}
	const shrinks, grows = "worker_l1_size can shrink by no more than that, and ", "l1_small_size can grow by no more than that, and "
	for _, c := range []struct {
		text      string
		want, ran []string // without a run, and with one that has room
	}{
		{ring + " on TENSIX", unknown("worker_l1_size can shrink"), []string{room(shrinks + "9,152 are needed: the CBs of all runs still fit")}},
		{ring, unknown("worker_l1_size can shrink"), []string{room(shrinks + "9,152 are needed: the CBs of all runs still fit")}},
		{ring + " on ACTIVE_ETH", nil, nil},
		{"Program size (<n>) too large for kernel config buffer (70656) on TENSIX",
			unknown("worker_l1_size can shrink"), []string{room(shrinks + "how many are needed is not in the text")}},
		{"Program size (1) too large for kernel config buffer (70656) on TENSIX", nil, nil},
		{"Creating trace buffers of size 6B on MeshDevice 0, but only 5B is allocated for trace region", []string{trace}, []string{trace}},
		{memory + "TRACE " + each + "0 B", []string{trace}, []string{trace}},
		{"Allocating device buffers is unsafe due to the existence of an active trace", nil, nil},
		{"Persistent L1 arena is out of memory: cannot place 200 bytes aligned to 64 on cores {[0-0 - 7-7]} in [0, 100)", []string{grow}, []string{grow}},
		{"Persistent L1 arena is out of memory: cannot place 100 bytes aligned to 64 on cores {[0-0 - 7-7]} in [0, 100)", nil, nil},
		{"Cannot allocate persistent L1 on core 1-2 after program-local L1 placement", nil, nil},
		{growTo(1_499_136+64, 1_499_136), []string{grow}, []string{grow}},
		{clashAt("[0-0 - 7-7]", 600_000, 600_000+64), []string{grow}, []string{small, grow}},
		{clashAt("[0-0 - 7-7]", 600_000, 700_000), nil, []string{small}},
		{memory + "L1_SMALL " + each + "512 B", unknown("l1_small_size can grow"), []string{room(grows + "512 are needed: the CBs of all runs still fit")}},
		{memory + "L1_SMALL buffer across 2 banks", unknown("l1_small_size can grow"), []string{room(grows + "how many are needed is not in the text")}},
		{memory + "L1 " + each + "512 B", nil, []string{small}},
		{memory + "DRAM " + each + "512 B", nil, nil},
	} {
		found := read(t, c.text)
		require.Len(t, found.Messages, 1, c.text)
		changes := func(m *clash.Margin) (out []string) {
			e := clash.Explain(found.Messages[0], l1.Spec{})
			e.Add(clash.Match{Margin: m})
			for _, n := range e.Notes {
				if n.Label == "change" {
					out = append(out, n.Text)
				}
			}
			return out
		}
		require.Equal(t, c.want, changes(nil), c.text)
		require.Equal(t, c.ran, changes(&clash.Margin{Capture: "a", Op: "op", Event: 7, Free: 9152, Small: 4096}), c.text)
	}
}

// The ring must be larger than the program, in steps of the base: 64 on Blackhole, 32 on Wormhole.
func TestRing(t *testing.T) {
	wormhole := l1.ArchSpec(l1.Wormhole)
	for _, c := range []struct {
		text  string
		given l1.Spec
		want  string
	}{
		{"Program size (70656) too large for kernel config buffer (70656) on TENSIX", l1.Spec{}, "smaller by 64 bytes on Blackhole, 32 on Wormhole:"},
		{"Program size (70719) too large for kernel config buffer (70656) on TENSIX", l1.Spec{}, "smaller by 64 bytes on Blackhole, 64 on Wormhole:"},
		{"Program size (70720) too large for kernel config buffer (70656) on TENSIX", l1.Spec{}, "smaller by 128 bytes on Blackhole, 96 on Wormhole:"},
		{"Program size (70720) too large for kernel config buffer (70656) on TENSIX", wormhole, "smaller by 96 bytes: the base"},
		{"Program size (70720) too large for kernel config buffer (70656)", l1.Spec{}, "on TENSIX cores a smaller worker_l1_size, on others none"},
		{"Program size (70721) too large for kernel config buffer (70656) on NEW_2", l1.Spec{}, "no parameter of open_device"},
		{"Program size (<n>) too large for kernel config buffer (70656) on TENSIX", l1.Spec{}, "a smaller worker_l1_size"},
		{"Program size (26624) too large for kernel config buffer (26624) on ACTIVE_ETH", l1.Spec{}, "no parameter of open_device helps: this ring has a fixed size, 26,624 bytes on Blackhole"},
	} {
		e := explain(t, c.text, c.given)
		require.False(t, e.Damaged)
		require.Contains(t, note(t, e, "open"), c.want, c.text)
	}
	e := explain(t, "Program size (70720) too large for kernel config buffer (70656) on TENSIX", l1.Spec{})
	require.Equal(t, "the program has 70,720, the ring 70,656: the ring must be larger than the program", note(t, e, "numbers"))
	for _, text := range []string{
		"Program size (70655) too large for kernel config buffer (70656) on TENSIX",
		"Creating trace buffers of size 5B on MeshDevice 0, but only 5B is allocated for trace region",
	} {
		require.True(t, explain(t, text, l1.Spec{}).Damaged, text)
	}
}

// One value on each side of every limit of the advice for open_device.
func TestOpenDevice(t *testing.T) {
	const memory = "Out of Memory: Not enough space to allocate 2000 B "
	for _, c := range []struct{ text, says, saysNot string }{
		{growTo(1_499_136+ring, 1_499_136), "worker_l1_size larger by 70,656 lowers the base", "no parameter"},
		{growTo(1_499_136+ring+1, 1_499_136), "no parameter of open_device helps", "worker_l1_size"},
		{clashAt("[0-0 - 7-7]", 600_000, 600_000+ring), "l1_small_size smaller by 70,656, if", ""},
		{clashAt("[0-0 - 7-7]", 600_000, 600_000+ring), "or worker_l1_size larger by 70,656", ""},
		{clashAt("[0-0 - 7-7]", 600_000, 600_000+ring+1), "l1_small_size smaller by 70,720, if", "worker_l1_size"},
		{memory + "L1 buffer across 2 banks, where each bank needs to store 1000 B, but bank size is 2000 B (allocated: 1500 B, free: 500 B, largest free block: 500 B)",
			"l1_small_size smaller by at least 512 bytes", "none for certain"},
		{memory + "L1 buffer across 2 banks, where each bank needs to store 1000 B, but bank size is 2000 B (allocated: 1000 B, free: 1000 B, largest free block: 500 B)",
			"none for certain", "at least"},
		{memory + "TRACE buffer across 2 banks, where each bank needs to store 1000 B, but bank size is 0 B", "trace_region_size of 2,000 bytes or more", ""},
		{memory + "TRACE buffer across 1 banks, where each bank needs to store 2000 B, but bank size is 0 B", "trace_region_size of 2,000 bytes or more", "June"},
		{"Persistent L1 arena is out of memory: cannot place 70756 bytes aligned to 64 on cores {[0-0 - 7-7]} in [0, 100)", "worker_l1_size larger by 70,656", "no parameter"},
		{"Persistent L1 arena is out of memory: cannot place 70757 bytes aligned to 64 on cores {[0-0 - 7-7]} in [0, 100)", "no parameter", "worker"},
		{"Persistent L1 arena is out of memory: cannot place 100 bytes aligned to 64 on cores {[0-0 - 7-7]} in [0, 100)", "no parameter", "worker"},
	} {
		open := note(t, explain(t, c.text, l1.Spec{}), "open")
		require.Contains(t, open, c.says, c.text)
		if c.saysNot != "" {
			require.NotContains(t, open, c.saysNot, c.text)
		}
	}
}

const ring = 69 << 10

// Texts that lack what an explanation needs get the meaning of their message, and no figure that
// is not there.
func TestRetoldMeanings(t *testing.T) {
	for text, want := range map[string]string{
		"Circular buffer core range ... in program 6 exceeds device compute grid (8x7)":                            "cores outside the grid: a CB is on cores that are not on the compute grid",
		"Total circular buffer size <n> B must be divisible by page size 2048 B":                                   "not whole pages: the size of a CB is no multiple of its page size",
		"Total circular buffer size X B must be divisible by page size 2048 B":                                     "not whole pages: the size of a CB is no multiple of its page size",
		"Statically allocated dataflow buffers on core range (...) grow to 5 B which is beyond max L1 size of N B": "too large for L1: the dataflow buffers end beyond L1",
		"Statically allocated circular buffers on core range ... grow to 5 B ...":                                  "too large for L1: the circular buffers end beyond L1",
	} {
		require.Equal(t, want, explain(t, text, l1.Spec{}).Summary, text)
	}
}

// A message without cores, or without the lowest address, is looked for by the rest.
func TestCompareRetold(t *testing.T) {
	const ends = "region ends at 900000"
	run := enqueued{"a", "[0-0 - 7-7]", 900_000, 800_000, nil}
	for text, want := range map[string]string{
		"Statically allocated circular buffers in program 5 clash with L1 buffers on core range [0-0 - 7-7] ... " + ends: ": same cores and region end",
		"Statically allocated circular buffers ... clash with L1 buffers ... allocated at 800000 ... " + ends:            ": same region end, same lowest address",
		"Statically allocated circular buffers ... clash with L1 buffers ... allocated at 700000 ... " + ends:            ": same region end; lowest address differs: 800,000 instead of 700,000",
	} {
		found := compared(t, text, l1.Spec{}, run, enqueued{"b", "[0-0 - 3-3]", 899_000, 800_000, nil})
		e := clash.Explain(found.Messages[0], l1.Spec{})
		e.Add(found.Matches[0])
		require.Equal(t, "a, node 0", note(t, e, "program")[:len("a, node 0")], text)
		require.True(t, strings.HasSuffix(note(t, e, "program"), want), note(t, e, "program"))
		require.NotEmpty(t, note(t, e, "buffers"), text)
	}
}
