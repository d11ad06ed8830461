package wire

import (
	"github.com/cbl1/cbl1/fit"
)

// A Fate names the fate of a record.
type Fate string

// The fates of a record.
const (
	Asked     Fate = "asked"   // it changes nothing
	Came      Fate = "came"    // something is live that was not
	CameAgain Fate = "again"   // a buffer that was live has one reference more
	Left      Fate = "left"    // a buffer has one reference less
	Gone      Fate = "gone"    // something is not live any more
	Unknown   Fate = "unknown" // a free of something that is not live; it changed nothing
	Refused   Fate = "refused" // an impossible record; it changed nothing
)

// An Oddity names a strange or impossible property of a record.
type Oddity string

// The anomalies. Where nothing else stands, the record changed nothing.
const (
	OddityDevice      Oddity = "device"       // a device id that cannot be one
	OdditySize        Oddity = "size"         // an ALLOC of no bytes, or of more than MaxBuffer
	OddityKind        Oddity = "kind"         // an ALLOC of a buffer type above 4
	OddityOverflow    Oddity = "overflow"     // a total would exceed 2^63-1
	OddityUnknownFree Oddity = "unknown-free" // a free of something never seen
	OddityDoubleFree  Oddity = "double-free"  // a second free without an allocation between
	OddityTooLarge    Oddity = "free-larger"  // a free of more bytes than what lives there has
	OddityFreeSize    Oddity = "free-size"    // a free of fewer bytes; all of it goes
	OddityDiffers     Oddity = "differs"      // a repeated ALLOC with another size or type; it is a reference more
	OddityWrapped     Oddity = "wrapped"      // a CB_FREE with which the newest server's total would run below zero; counted beside other anomalies
)

// Oddities returns all of them, in a fixed order.
func Oddities() []Oddity {
	return []Oddity{
		OddityDevice, OdditySize, OddityKind, OddityOverflow, OddityUnknownFree, OddityDoubleFree, OddityTooLarge, OddityFreeSize,
		OddityDiffers, OddityWrapped,
	}
}

// An Effect is the result of a record.
type Effect struct {
	What    Fate
	Type    Type
	Device  int32
	ID      uint64
	PID     int32  // to be shown: of the sender or, where something went, of who has it
	Owner   Client // the sender; of Release, whose it was
	Bytes   uint64 // that came or went: a free has the bytes of its allocation
	Kind    uint8  // of the buffer or kernel
	Refs    int    // to the buffer, afterwards
	Total   uint64 // afterwards: the sum over CBs, kernels or buffers of the device
	Odd     Oddity
	Wrapped bool
	Leaked  bool // of Release
	Lot     Lot  // which came or went
	Heir    Lot  // the lot of the process that goes on with what several had, and which counts from now on; else zero
}

// Sums are the figures of one device, in bytes: sums over its live lots. The figures of CBs are
// the totals of the protocol: sums of sizes, even if CBs share bytes. They never wrap: a record
// that would raise their sum beyond 2^63-1 is refused.
type Sums struct {
	fit.BufferTotals     // of buffers and kernels, without shared buffers
	Loaded           int // kernels among them
	CBs              int
	CB               uint64
}

// Buffers returns the number of buffers, without backing and shared ones.
func (t Sums) Buffers() int { return t.Count - t.Loaded }

// BufferBytes returns the bytes of these buffers.
func (t Sums) BufferBytes() uint64 { return t.DRAM + t.L1 + t.System + t.L1Small + t.Trace }

// all bounds every sum of the device.
func (t Sums) all() uint64 { return t.BufferBytes() + t.Backing + t.CB + t.Kernels }

// sum returns the total of the lots that records of a type bring.
func (t Sums) sum(brings Type) uint64 {
	switch brings {
	case TypeCBAlloc:
		return t.CB
	case TypeKernelLoad:
		return t.Kernels
	}
	return t.BufferBytes()
}

// Split returns the figures of buffers, and the figures of CBs and kernels.
func (t Sums) Split() (buffers, programs Sums) {
	programs = Sums{BufferTotals: fit.BufferTotals{Count: t.Loaded, Kernels: t.Kernels}, Loaded: t.Loaded, CBs: t.CBs, CB: t.CB}
	buffers.BufferTotals = t.BufferTotals
	buffers.Count, buffers.Kernels = t.Buffers(), 0
	return buffers, programs
}

// Merge adds the figures of another process.
func (t *Sums) Merge(other Sums) {
	t.Move(fit.BufferTotals{}, other.BufferTotals, 1)
	t.Loaded, t.CBs, t.CB = t.Loaded+other.Loaded, t.CBs+other.CBs, t.CB+other.CB
}

// move counts a lot that comes, n = 1, or goes, n = -1.
func (t *Sums) move(lot *Lot, n int) {
	switch {
	case lot.Type == TypeCBAlloc:
		t.CBs += n
		t.CB += uint64(n) * lot.Size
		return
	case lot.Type == TypeKernelLoad:
		t.Loaded += n
	case lot.Shared:
		return
	}
	t.Add(&fit.Buffer{Kind: kindOf(lot), Size: lot.Size, Backing: lot.Backing}, n)
}
