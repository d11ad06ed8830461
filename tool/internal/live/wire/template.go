package wire

import (
	"fmt"
	"strconv"
)

// megabytes returns bytes as the server prints them: in units of 2^20 bytes, with six
// significant digits.
func megabytes(n uint64) string {
	return strconv.FormatFloat(float64(n)/1024/1024, 'g', 6, 64)
}

// kilobytes is megabytes in units of 1024 bytes.
func kilobytes(n uint64) string { return strconv.FormatFloat(float64(n)/1024, 'g', 6, 64) }

// BufferKind returns the name of a buffer type.
func BufferKind(kind uint8) string {
	names := [...]string{"DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE"}
	if int(kind) >= len(names) {
		return fmt.Sprintf("type %d", kind)
	}
	return names[kind]
}

// kernelKinds is the number of kinds of kernels: application, fabric, dispatch, and all others.
const kernelKinds = 4

// KernelKind returns the name of a kernel type.
func KernelKind(kind uint8) string {
	return [kernelKinds]string{"Application", "Fabric", "Dispatch", "Unknown"}[min(kind, kernelKinds-1)]
}

// AppendLine appends the server's line about an effect, with its line end, and reports whether it
// belongs to standard error. Nothing is appended for a query. The lines equal the newest server's,
// except that a free has the size of its allocation, and that the free of an unknown CB or kernel
// is reported.
func (e *Effect) AppendLine(b []byte) (line []byte, toErr bool) {
	switch {
	case e.What == Asked:
		return b, false
	case e.What == Refused:
		return e.appendRefused(b)
	case brings(e.Type) == TypeAlloc:
		return e.appendBuffer(b), false
	}
	return e.appendSum(b), false
}

// appendBuffer appends the line of a buffer.
func (e *Effect) appendBuffer(b []byte) []byte {
	switch e.What {
	case Came, CameAgain:
		b = fmt.Appendf(b, "✓ [PID %d] Allocated %d bytes of %s on device %d (buffer_id=0x%x", e.PID, e.Bytes, BufferKind(e.Kind), e.Device, e.ID)
		if e.What == CameAgain {
			b = fmt.Appendf(b, ", ref_count=%d", e.Refs)
		}
		return append(b, ")\n"...)
	case Left:
		return fmt.Appendf(b, "✗ [PID %d] Freed buffer 0x%x on device %d (%d bytes, ref_count=%d remaining)\n", e.PID, e.ID, e.Device, e.Bytes, e.Refs)
	case Gone:
		return fmt.Appendf(b, "✗ [PID %d] Freed buffer 0x%x on device %d (%d bytes, FINAL)\n", e.PID, e.ID, e.Device, e.Bytes)
	}
	return fmt.Appendf(b, "⚠ [PID %d] Deallocation for unknown buffer 0x%x on device %d (allocated before tracking started)\n", e.PID, e.ID, e.Device)
}

// appendSum appends the line of a CB or of a kernel, which has a running sum.
func (e *Effect) appendSum(b []byte) []byte {
	sign, mark := "-", "✗"
	if e.What == Came {
		sign, mark = "+", "✓"
	}
	kernel := ""
	if brings(e.Type) == TypeKernelLoad {
		kernel = KernelKind(e.Kind) + " kernel on "
	}
	name := e.Type
	if e.Leaked {
		name++ // the type of the free
	}
	if e.What == Unknown {
		what := "CB"
		if kernel != "" {
			what = "kernel"
		}
		return fmt.Appendf(b, "⚠ [%v] Device %d: unknown %s 0x%x (Total: %s MB)\n", name, e.Device, what, e.ID, megabytes(e.Total))
	}
	return fmt.Appendf(b, "%s [%v] %sDevice %d: %s%s MB (Total: %s MB)\n", mark, name, kernel, e.Device, sign, megabytes(e.Bytes), megabytes(e.Total))
}

// appendRefused appends the line of a record that changed nothing.
func (e *Effect) appendRefused(b []byte) (line []byte, toErr bool) {
	switch e.Odd {
	case OddityDevice:
		return fmt.Appendf(b, "⚠️  Invalid device_id %d - ignoring message\n", e.Device), true
	case OddityKind:
		return fmt.Appendf(b, "⚠️  Invalid buffer_type %d for buffer %d on device %d\n", e.Kind, e.ID, e.Device), true
	case OddityTooLarge:
		return fmt.Appendf(b, "⚠ [%v] Device %d: %d bytes of 0x%x are more than live there - ignoring message\n", e.Type, e.Device, e.Bytes, e.ID), true
	}
	return fmt.Appendf(b, "⚠️  Invalid size %d - ignoring message\n", e.Bytes), true
}

// AppendReleased appends the server's lines about a dead process, given the effects of its release.
func AppendReleased(b []byte, pid int32, effects []Effect) []byte {
	var count [3]int
	var bytes [3]uint64
	for i := range effects {
		lot := &effects[i].Lot
		of := 0
		switch lot.Type {
		case TypeCBAlloc:
			of = 1
		case TypeKernelLoad:
			of = 2
		}
		count[of]++
		if !lot.Shared && !lot.Backing {
			bytes[of] += lot.Size
		}
	}
	b = fmt.Appendf(b, "   PID %d is dead, removing its buffers...\n", pid)
	for i, what := range [...]string{"buffers", "CBs", "kernels"} {
		if count[i] > 0 || i == 0 {
			b = fmt.Appendf(b, "   ✓ Removed %d %s (%s MB) from PID %d\n", count[i], what, megabytes(bytes[i]), pid)
		}
	}
	return b
}

// DeadLine is the server's line before the removals of dead processes, after a blank line.
const DeadLine = "⚠️  Detected dead processes, cleaning up orphaned buffers...\n"

// AppendStatistics appends the protocol's block of statistics: buffers of each device that has some.
// CBs and kernels are in none of its figures.
func (l *Ledger) AppendStatistics(b []byte) []byte {
	b = append(b, "📊 Current Statistics:\n"...)
	active := 0
	for _, d := range l.Devices() {
		t := l.devices[d]
		active += t.Buffers()
		if t.BufferBytes() == 0 {
			continue
		}
		b = t.AppendBuffers(fmt.Appendf(b, "  Device %d:\n", d))
	}
	return fmt.Appendf(b, "  Active allocations: %d\n", active)
}

// AppendBuffers appends the lines of statistics about the buffers of a device; none if it has none.
func (t Sums) AppendBuffers(b []byte) []byte {
	if t.BufferBytes() == 0 {
		return b
	}
	b = append(b, "    Buffers:\n"...)
	for _, row := range [...]struct {
		name  string
		bytes uint64
	}{{"DRAM", t.DRAM}, {"L1", t.L1}, {"SYSTEM_MEMORY", t.System}, {"L1_SMALL", t.L1Small}, {"TRACE", t.Trace}} {
		if row.bytes > 0 {
			b = fmt.Appendf(b, "    %s: %d bytes (%s KB)\n", row.name, row.bytes, kilobytes(row.bytes))
		}
	}
	return fmt.Appendf(b, "    Total: %d bytes\n", t.BufferBytes())
}
