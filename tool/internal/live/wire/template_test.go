package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// TestTemplates has the lines of the newest server, letter by letter.
func TestTemplates(t *testing.T) {
	l := wire.NewLedger()
	var out, errs []byte
	do := func(o wire.Client, r wire.Record) {
		e, err := l.Apply(o, 4241+int32(o), &r)
		if r.Device <= 255 {
			require.NoError(t, err)
		}
		if line, toErr := e.AppendLine(nil); toErr {
			errs = append(errs, line...)
		} else {
			out = append(out, line...)
		}
	}
	for kind := range uint8(5) {
		do(1, wire.Record{Type: wire.TypeAlloc, Device: 3, Size: 4096 + uint64(kind), Kind: kind, ID: 0x1F000 + uint64(kind)})
	}
	do(1, wire.Record{Type: wire.TypeAlloc, Device: 3, Size: 4097, Kind: 1, ID: 0x1f001})
	do(2, wire.Record{Type: wire.TypeFree, Device: 3, ID: 0x1f001})
	do(2, wire.Record{Type: wire.TypeFree, Device: 3, ID: 0x1f001})
	do(2, wire.Record{Type: wire.TypeFree, Device: 3, ID: 0x1f001})
	do(1, wire.Record{Type: wire.TypeCBAlloc, ID: 1, Size: 22544384}) // 21.5 MiB
	do(1, wire.Record{Type: wire.TypeCBAlloc, ID: 2, Size: 262144})
	do(1, wire.Record{Type: wire.TypeCBFree, ID: 2})
	do(1, wire.Record{Type: wire.TypeCBAlloc, ID: 3, Size: 16})
	do(1, wire.Record{Type: wire.TypeCBAlloc, ID: 4})
	do(1, wire.Record{Type: wire.TypeCBFree, ID: 4})
	do(1, wire.Record{Type: wire.TypeCBFree, ID: 5, Size: 16})
	for kind := range uint8(4) {
		do(1, wire.Record{Type: wire.TypeKernelLoad, ID: uint64(kind), Size: 2048, Kind: kind})
	}
	do(1, wire.Record{Type: wire.TypeKernelUnload, ID: 1, Size: 2048})
	do(1, wire.Record{Type: wire.TypeKernelUnload, ID: 9, Size: 2048})
	do(1, wire.Record{Type: wire.TypeQuery})
	do(1, wire.Record{Type: wire.TypeAlloc, Device: 2657333, Size: 1})
	do(1, wire.Record{Type: wire.TypeAlloc, Size: 0})
	do(1, wire.Record{Type: wire.TypeAlloc, Size: 107374182401})
	do(1, wire.Record{Type: wire.TypeAlloc, Size: 1, Kind: 5, ID: 255, Device: 1})
	require.Equal(t, `✓ [PID 4242] Allocated 4096 bytes of DRAM on device 3 (buffer_id=0x1f000)
✓ [PID 4242] Allocated 4097 bytes of L1 on device 3 (buffer_id=0x1f001)
✓ [PID 4242] Allocated 4098 bytes of SYSTEM_MEMORY on device 3 (buffer_id=0x1f002)
✓ [PID 4242] Allocated 4099 bytes of L1_SMALL on device 3 (buffer_id=0x1f003)
✓ [PID 4242] Allocated 4100 bytes of TRACE on device 3 (buffer_id=0x1f004)
✓ [PID 4242] Allocated 4097 bytes of L1 on device 3 (buffer_id=0x1f001, ref_count=2)
✗ [PID 4242] Freed buffer 0x1f001 on device 3 (4097 bytes, ref_count=1 remaining)
✗ [PID 4242] Freed buffer 0x1f001 on device 3 (4097 bytes, FINAL)
⚠ [PID 4243] Deallocation for unknown buffer 0x1f001 on device 3 (allocated before tracking started)
✓ [CB_ALLOC] Device 0: +21.5 MB (Total: 21.5 MB)
✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 21.75 MB)
✗ [CB_FREE] Device 0: -0.25 MB (Total: 21.5 MB)
✓ [CB_ALLOC] Device 0: +1.52588e-05 MB (Total: 21.5 MB)
✓ [CB_ALLOC] Device 0: +0 MB (Total: 21.5 MB)
✗ [CB_FREE] Device 0: -0 MB (Total: 21.5 MB)
⚠ [CB_FREE] Device 0: unknown CB 0x5 (Total: 21.5 MB)
✓ [KERNEL_LOAD] Application kernel on Device 0: +0.00195312 MB (Total: 0.00195312 MB)
✓ [KERNEL_LOAD] Fabric kernel on Device 0: +0.00195312 MB (Total: 0.00390625 MB)
✓ [KERNEL_LOAD] Dispatch kernel on Device 0: +0.00195312 MB (Total: 0.00585938 MB)
✓ [KERNEL_LOAD] Unknown kernel on Device 0: +0.00195312 MB (Total: 0.0078125 MB)
✗ [KERNEL_UNLOAD] Fabric kernel on Device 0: -0.00195312 MB (Total: 0.00585938 MB)
⚠ [KERNEL_UNLOAD] Device 0: unknown kernel 0x9 (Total: 0.00585938 MB)
`, string(out))
	require.Equal(t, `⚠️  Invalid device_id 2657333 - ignoring message
⚠️  Invalid size 0 - ignoring message
⚠️  Invalid size 107374182401 - ignoring message
⚠️  Invalid buffer_type 5 for buffer 255 on device 1
`, string(errs))

	require.Equal(t, `📊 Current Statistics:
  Device 3:
    Buffers:
    DRAM: 4096 bytes (4 KB)
    SYSTEM_MEMORY: 4098 bytes (4.00195 KB)
    L1_SMALL: 4099 bytes (4.00293 KB)
    TRACE: 4100 bytes (4.00391 KB)
    Total: 16393 bytes
  Active allocations: 4
`, string(l.AppendStatistics(nil)))

	released := l.Release(1)
	require.Equal(t, `   PID 4242 is dead, removing its buffers...
   ✓ Removed 4 buffers (0.0156336 MB) from PID 4242
   ✓ Removed 2 CBs (21.5 MB) from PID 4242
   ✓ Removed 3 kernels (0.00585938 MB) from PID 4242
`, string(wire.AppendReleased(nil, 4242, released)))
	require.Equal(t, `   PID 7 is dead, removing its buffers...
   ✓ Removed 0 buffers (0 MB) from PID 7
`, string(wire.AppendReleased(nil, 7, nil)))
	var leaks []string
	for i := range released {
		line, toErr := released[i].AppendLine(nil)
		require.False(t, toErr)
		leaks = append(leaks, string(line))
	}
	require.Contains(t, strings.Join(leaks, ""), "✗ [CB_FREE] Device 0: -21.5 MB (Total: 0 MB)\n")
	require.Contains(t, strings.Join(leaks, ""), "✗ [KERNEL_UNLOAD] Application kernel on Device 0: -0.00195312 MB (Total: 0 MB)\n")
}
