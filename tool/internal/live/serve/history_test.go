package serve_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// Histories of real systems that the protocol's server and its clients counted wrong.

// Eight devices with 29 MiB of CBs each: a client that counted on one device alone, or all
// together on each, would show another sum.
func TestEachDeviceCountsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := wire.Newest()
		s := newPipedServer(t, serve.Config{Dialect: d, Format: serve.FormatProtocol})
		conn := s.connect(10)
		for i := range uint64(29) {
			for id := range int32(8) {
				send(t, conn, d, wire.Record{Type: wire.TypeCBAlloc, Device: id, Size: 1 << 20, ID: 111616 + i*32})
			}
		}
		for id := range int32(8) {
			require.EqualValues(t, 29<<20, ask(t, conn, d, wire.Record{Type: wire.TypeQuery, Device: id}).CB)
			require.Contains(t, s.out.String(), fmt.Sprintf("✓ [CB_ALLOC] Device %d: +1 MB (Total: 29 MB)\n", id))
			_, core, _ := s.Totals(id)
			require.EqualValues(t, 1<<20+28*32, core, "they lie over each other")
		}
		// Sizes of old clients: a free without one takes what came.
		for i := range uint64(29) {
			send(t, conn, d, wire.Record{Type: wire.TypeCBFree, Device: 5, ID: 111616 + i*32})
		}
		for id := range int32(8) {
			want := uint64(29 << 20)
			if id == 5 {
				want = 0
			}
			require.Equal(t, want, ask(t, conn, d, wire.Record{Type: wire.TypeQuery, Device: id}).CB)
		}
		s.shut(t)
	})
}

// Every device of a mesh has its own buffers, and the mesh's id what backs them. Buffers from
// before are freed on all devices too; where a client names device 0 alone, the others
// stay, and are leaked in the end.
func TestMeshAllocatesAndFrees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := wire.Newest()
		devices := []wire.DeclaredDevice{{ID: 32, Spec: l1.Spec{Cols: 1, Rows: 1}, Chips: []int32{0, 31}}}
		for id := range int32(32) {
			devices = append(devices, wire.DeclaredDevice{ID: id, Spec: l1.N150()})
		}
		s := newPipedServer(t, serve.Config{Dialect: d, Devices: devices})
		conn := s.connect(10)
		each := func(typ wire.Type, address uint64) {
			for id := range int32(33) {
				send(t, conn, d, wire.Record{Type: typ, Device: id, Size: 2048, Kind: 1, ID: address})
			}
		}
		const preallocated = 7
		for address := range uint64(10) {
			each(wire.TypeAlloc, preallocated+address<<20)
		}
		for id := range int32(32) {
			require.Equal(t, wire.Sums{BufferTotals: fit.BufferTotals{Count: 10, L1: 20480}}, total(s, id), "device %d", id)
		}
		require.Equal(t, wire.Sums{BufferTotals: fit.BufferTotals{Backings: 10, Backing: 20480}}, total(s, 32))
		for address := range uint64(9) {
			each(wire.TypeFree, preallocated+(1+address)<<20)
		}
		send(t, conn, d, wire.Record{Type: wire.TypeFree, ID: preallocated})
		require.Equal(t, wire.Sums{}, total(s, 0))
		for id := int32(1); id < 32; id++ {
			require.Equal(t, wire.Sums{BufferTotals: fit.BufferTotals{Count: 1, L1: 2048}}, total(s, id))
		}
		require.NoError(t, conn.Close())
		s.kill()
		synctest.Wait()
		s.Sweep()
		require.EqualValues(t, 32, s.Snapshot().Leaked, "31 devices and the mesh")
		require.Contains(t, s.out.String(), "   ✓ Removed 32 buffers (0.0605469 MB) from PID 10\n", "31 of 2048 bytes")
		s.shut(t)
	})
}

// One device with 20 buffers and 14,827,520 bytes beside one with 10 and 14,753,792, 22,528 of them
// in L1. Neither is taken for the other, in figures or in the statistics.
func TestTwentyAgainstTen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := wire.Newest()
		s := newPipedServer(t, serve.Config{Dialect: d})
		conn := s.connect(10)
		allocate := func(device int32, n int, kind uint8, bytes uint64) {
			for i := range n {
				size := bytes / uint64(n)
				if i == 0 {
					size += bytes % uint64(n)
				}
				send(t, conn, d, wire.Record{Type: wire.TypeAlloc, Device: device, Size: size, Kind: kind, ID: uint64(kind)<<32 | uint64(i)<<20})
			}
		}
		allocate(0, 20, 0, 14_827_520)
		allocate(1, 8, 0, 14_753_792-22_528)
		allocate(1, 2, 1, 22_528)
		require.Equal(t, wire.Sums{BufferTotals: fit.BufferTotals{Count: 20, DRAM: 14_827_520}}, total(s, 0))
		require.Equal(t, wire.Sums{BufferTotals: fit.BufferTotals{Count: 10, DRAM: 14_731_264, L1: 22_528}}, total(s, 1))
		s.Statistics()
		require.True(t, strings.HasSuffix(s.out.String(), `📊 Current Statistics:
  Device 0:
    Buffers:
    DRAM: 14827520 bytes (14480 KB)
    Total: 14827520 bytes
  Device 1:
    Buffers:
    DRAM: 14731264 bytes (14386 KB)
    L1: 22528 bytes (22 KB)
    Total: 14753792 bytes
  Active allocations: 30
`), s.out.String())
		s.shut(t)
	})
}

// Every kernel that was loaded is unloaded or reported as leaked, in whatever order processes end.
func TestEveryLoadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := wire.Newest()
		s := newPipedServer(t, serve.Config{Dialect: d, Format: serve.FormatProtocol})
		random := rand.New(rand.NewPCG(3, 4))
		loads, unloads := 0, 0
		for range 40 {
			conn := s.connect(10)
			for range 50 {
				r := wire.Record{Type: wire.TypeKernelLoad, Device: int32(random.IntN(3)), Size: 1024, Kind: uint8(random.IntN(3)), ID: random.Uint64N(20)}
				if random.IntN(3) == 0 {
					r.Type = wire.TypeKernelUnload
				}
				send(t, conn, d, r)
			}
			require.NoError(t, conn.Close())
			s.kill()
			synctest.Wait()
			s.Sweep()
			loads, unloads = strings.Count(s.out.String(), "[KERNEL_LOAD]"), strings.Count(s.out.String(), "✗ [KERNEL_UNLOAD]")
			require.EqualValues(t, loads-unloads, s.Snapshot().Leaked)
		}
		require.Greater(t, loads, unloads)
		require.Positive(t, unloads)
		for id := range int32(3) {
			require.Equal(t, wire.Sums{}, total(s, id))
		}
		s.shut(t)
	})
}
