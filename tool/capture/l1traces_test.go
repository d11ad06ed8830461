package capture

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

func replayTrace(t *testing.T, name string, opt Options) *answer.Result {
	t.Helper()
	r, err := resultOf(Input{Path: filepath.Join(traces, name)}, opt)
	require.NoError(t, err)
	return r
}

// 131,072 + 131,072 + 524,288 of CBs from 111,616 on, and a tensor of 20,480 that ends at
// the top: ttnn's own peak of 806,912, and the only capture where that is right.
func TestTraceMatmul(t *testing.T) {
	r := replayTrace(t, "matmul.json", Options{})
	d := l1Row(t, r, 0)
	require.Equal(t, uint64(806_912), d.Peak.Bytes)
	require.Equal(t, uint64(806_912+111_616), d.Peak.WithKernels)
	require.Equal(t, "{[0-0 - 1-1]}", d.Peak.Cores.String())
	require.Equal(t, uint64(14), d.Peak.At)
	require.Equal(t, map[fit.Kind]uint64{fit.KindCB: 786_432, fit.KindL1: 20_480}, d.Peak.Kinds)
	require.Empty(t, d.Peak.Shared)
	require.Equal(t, l1.Range{Start: 898_048, End: 1_552_384}, d.Peak.Top)
	require.Equal(t, uint64(8), d.Peak.Residents[3].Buffer.At)
	require.Equal(t, 0, d.Peak.Residents[0].Program.Row)
	// The tensor lies on 130 assumed cores, the CBs on four of them.
	require.Equal(t, [2]uint64{130*20_480 + 4*786_432, 4 * 786_432}, [2]uint64{d.TotalPeak, d.TotalFinal})
	require.Equal(t, [2]uint64{2_097_152, 0}, [2]uint64{d.L1Peak, d.L1Final})
	require.Equal(t, [2]uint64{22_528, 22_528}, [2]uint64{d.DRAMPeak, d.DRAMFinal}, "the program's binary")
	require.Equal(t, answer.AddressesRecorded, d.Addresses)
	require.Equal(t, []int64{1, 0}, []int64{r.Checks.Runs, r.Checks.Failed})
	require.Equal(t, uint64(1_552_384-898_048), r.Checks.Tightest.Headroom.Free)
	require.Equal(t, answer.EarlierBuffers{Other: 1}, r.Earlier)
	require.Equal(t, int64(1), r.Live.Buffers)
	require.Empty(t, r.Upstream.Causes)
	require.Empty(t, r.Undecided())
}

// No dispatch: nothing clashes because of an address 0. The peak is that of ttnn less
// the 32 bytes of L1_SMALL, which lie nowhere unless somebody says where.
func TestTraceConv2d(t *testing.T) {
	r := replayTrace(t, "conv2d.json", Options{})
	d := l1Row(t, r, 1)
	require.Equal(t, []int64{4, 0}, []int64{r.Checks.Runs, r.Checks.Failed})
	require.Equal(t, uint64(125_536-32), d.Peak.Bytes)
	require.Equal(t, "{[0-0 - 10-8], [0-9 - 3-9]}", d.Peak.Cores.String(), "the tensor lies on 103 of the 110 cores of the CBs")
	require.Equal(t, answer.AddressesSynthesised, d.Addresses)
	require.Equal(t, int64(5), d.Unplaced)
	require.Equal(t, [2]uint64{2_795_008 + 2_097_152, 0}, [2]uint64{d.L1Peak, d.L1Final})
	// Two of 1,236 and two of 4,120; later one of 2,060.
	require.Equal(t, [2]uint64{2*1_236 + 2*4_120, 0}, [2]uint64{d.SmallPeak, d.SmallFinal})
	require.Equal(t, []l1.Range{{Start: 1_525_248, End: 1_545_728}, {Start: 1_545_728, End: 1_572_864}},
		[]l1.Range{d.Peak.Residents[6].Range(), d.Peak.Residents[7].Range()})
	require.Equal(t, uint64(110*77_888), d.TotalFinal, "what the last program left")
	require.Empty(t, r.Undecided())

	d = l1Row(t, replayTrace(t, "conv2d.json", Options{L1Small: event.Some(uint64(4096))}), 1)
	require.Equal(t, uint64(125_536), d.Peak.Bytes)
	require.Zero(t, d.Unplaced)
}

// Every CB is a view of a tensor. Two tensors are from before the capture, which say where
// they lie: 2,097,152 bytes each, on 64 cores.
func TestTraceShardedAdd(t *testing.T) {
	r := replayTrace(t, "sharded_add.json", Options{})
	d := l1Row(t, r, 3)
	require.Equal(t, uint64(3*32_768), d.Peak.Bytes)
	require.Equal(t, "{[0-0 - 7-7]}", d.Peak.Cores.String())
	require.Equal(t, uint64(64*3*32_768), d.TotalPeak)
	require.Equal(t, [2]uint64{64 * 32_768, 0}, [2]uint64{d.L1Peak, d.L1Final}, "of which the capture allocates one")
	require.Zero(t, r.Earlier)
	require.Nil(t, r.Checks.Tightest)
	require.Zero(t, r.Checks.Failed)
}

// Buffer nodes are used again for later allocations, frees say size 0, and nobody says
// how much of a core a tensor takes.
func TestTraceConcat(t *testing.T) {
	r := replayTrace(t, "concat_2024.json", Options{Arch: l1.Wormhole})
	require.Len(t, r.L1, 1)
	d := r.L1[0]
	// 8 MiB, 8 MiB and 16 MiB; the first two are freed in the end.
	require.Equal(t, [2]uint64{32 << 20, 16 << 20}, [2]uint64{d.L1Peak, d.L1Final})
	require.Equal(t, [2]uint64{16_384, 0}, [2]uint64{d.DRAMPeak, d.DRAMFinal})
	require.Equal(t, [2]uint64{4, 1}, [2]uint64{d.BuffersPeak, d.BuffersFinal})
	require.Zero(t, d.Unplaced)
	require.Equal(t, int64(3), codes(r)[answer.CodeBufferUnsized])
	require.Equal(t, uint64(32_768), d.Peak.Bytes, "CBs of one core")
	// 4,096 on 64 cores, and beyond them on one core what the tilize left: nothing, it is written over.
	require.Equal(t, [2]uint64{64 * 4_096, 64 * 4_096}, [2]uint64{d.TotalPeak, d.TotalFinal})
	require.Equal(t, int64(3), r.Checks.Runs)
	require.Zero(t, codes(r)[answer.CodeFreeUnknown])
	require.Empty(t, r.Undecided())
	require.Equal(t, uint64(44), r.Live.List[0].At)
}

// A hit of the program cache and nothing else: the answer is "cannot tell".
func TestTraceAddCached(t *testing.T) {
	r := replayTrace(t, "add_cached_2024.json", Options{})
	require.Empty(t, r.L1)
	require.Zero(t, r.Hits, "nothing says that it was one")
	require.Equal(t, []answer.Code{answer.CodeNoCBs, answer.CodeNotShown}, r.Undecided())
}
