package wire

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
