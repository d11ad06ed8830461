package wire

import (
	"encoding/binary"
	"fmt"
)

// A Type is the type of a record: its first byte.
type Type uint8

// The types. Clients send all but TypeResponse and TypeDeviceInfo.
const (
	TypeAlloc         Type = 1
	TypeFree          Type = 2
	TypeQuery         Type = 3
	TypeResponse      Type = 4
	TypeDumpRemaining Type = 5
	TypeDeviceQuery   Type = 6 // DEVICE_INFO_QUERY
	TypeDeviceInfo    Type = 7 // DEVICE_INFO_RESPONSE
	TypeCBAlloc       Type = 8
	TypeCBFree        Type = 9
	TypeKernelLoad    Type = 10
	TypeKernelUnload  Type = 11
	TypeDumpKernels   Type = 12
)

// String returns the name of the protocol: "CB_ALLOC".
func (t Type) String() string {
	names := [...]string{
		"ALLOC", "FREE", "QUERY", "RESPONSE", "DUMP_REMAINING", "DEVICE_INFO_QUERY", "DEVICE_INFO_RESPONSE",
		"CB_ALLOC", "CB_FREE", "KERNEL_LOAD", "KERNEL_UNLOAD", "DUMP_KERNELS",
	}
	if t < 1 || int(t) > len(names) {
		return fmt.Sprintf("type %d", uint8(t))
	}
	return names[t-1]
}

// Names reports whether records of this type name something on a device that comes or goes.
func (t Type) Names() bool {
	switch t {
	case TypeAlloc, TypeFree, TypeCBAlloc, TypeCBFree, TypeKernelLoad, TypeKernelUnload:
		return true
	}
	return false
}

// request reports whether clients send records of this type.
func (t Type) request() bool { return t != TypeResponse && t != TypeDeviceInfo }

// A Record is one AllocMessage, with the fields of all dialects. Sizes are in bytes. A
// record has no cores, no core range and no program.
type Record struct {
	Type   Type
	Device int32
	Size   uint64
	Kind   uint8  // of a buffer: 0 DRAM, 1 L1, 2 SYSTEM_MEMORY, 3 L1_SMALL, 4 TRACE; of a kernel that is loaded: 0 application, 1 fabric, 2 dispatch
	PID    int32  // as the sender claims
	ID     uint64 // the address of a buffer or CB, or the id of a kernel
	Time   uint64 // nanoseconds since 1970; 0 in frees

	// Of RESPONSE.
	DRAM, L1, L1Small, Trace uint64
	CB, Kernel               uint64

	// Of DEVICE_INFO_RESPONSE.
	TotalDRAM, TotalL1 uint64
	Arch               uint32 // 0 invalid, 1 Grayskull, 2 Wormhole_B0, 3 Blackhole, 4 Quasar
	DRAMChannels       uint32
	DRAMPerChannel     uint32
	L1PerCore          uint32
	Available          uint32 // 1 or 0
	Devices            uint32 // of device -1

	RingSize, RingUsed, RingPrograms uint32
}

// The part of a record that is the same in all dialects.
const (
	headSize  = 40
	deviceEnd = 8
	typeSize  = 16 // where the buffer type stands
)

// Append appends r in the layout of d. Fields that it does not have are left out. The
// error is a *RecordError for a type that d does not know; nothing is appended then.
func (d Dialect) Append(b []byte, r *Record) ([]byte, error) {
	if err := d.check(); err != nil {
		return b, err
	}
	if r.Type < 1 || int(r.Type) > d.Types {
		return b, &RecordError{Field: "type", Value: int64(r.Type), Reason: fmt.Sprintf("is not known to the dialect %v", d)}
	}
	b = append(b, byte(r.Type), 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(r.Device))
	b = binary.LittleEndian.AppendUint64(b, r.Size)
	b = append(b, r.Kind, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(r.PID))
	b = binary.LittleEndian.AppendUint64(b, r.ID)
	b = binary.LittleEndian.AppendUint64(b, r.Time)
	for _, n := range [...]uint64{r.DRAM, r.L1, r.L1Small, r.Trace} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	if d.Size >= 128 {
		b = binary.LittleEndian.AppendUint64(b, r.CB)
		b = binary.LittleEndian.AppendUint64(b, r.Kernel)
	}
	if d.Size >= 112 {
		b = binary.LittleEndian.AppendUint64(b, r.TotalDRAM)
		b = binary.LittleEndian.AppendUint64(b, r.TotalL1)
		for _, n := range [...]uint32{r.Arch, r.DRAMChannels, r.DRAMPerChannel, r.L1PerCore, r.Available, r.Devices} {
			b = binary.LittleEndian.AppendUint32(b, n)
		}
	}
	if d.Size >= 144 {
		for _, n := range [...]uint32{r.RingSize, r.RingUsed, r.RingPrograms, 0} {
			b = binary.LittleEndian.AppendUint32(b, n)
		}
	}
	return b, nil
}

// Decode reads the record that b begins with into r. It allocates nothing unless it fails. The
// error is a *RecordError: b is shorter than a record, the type is none of d, or a byte that every
// sender zeroes is not zero, so the sender's records have another size. r is unchanged then.
func (d Dialect) Decode(b []byte, r *Record) error {
	if err := d.check(); err != nil {
		return err
	}
	if len(b) < d.Size {
		return &RecordError{Field: "record", Value: int64(len(b)), Reason: fmt.Sprintf("has fewer than %d bytes", d.Size)}
	}
	b = b[:d.Size]
	if err := d.checkHead(b); err != nil {
		return err
	}
	if d.Size >= 144 && binary.LittleEndian.Uint32(b[140:]) != 0 {
		return &RecordError{Field: "pad3", Value: int64(binary.LittleEndian.Uint32(b[140:])), Reason: "is not zero"}
	}
	*r = Record{
		Type: Type(b[0]), Device: int32(binary.LittleEndian.Uint32(b[4:])), Size: binary.LittleEndian.Uint64(b[8:]), Kind: b[typeSize],
		PID: int32(binary.LittleEndian.Uint32(b[20:])), ID: binary.LittleEndian.Uint64(b[24:]), Time: binary.LittleEndian.Uint64(b[32:]),
		DRAM: binary.LittleEndian.Uint64(b[40:]), L1: binary.LittleEndian.Uint64(b[48:]), L1Small: binary.LittleEndian.Uint64(b[56:]), Trace: binary.LittleEndian.Uint64(b[64:]),
	}
	rest := b[72:]
	if d.Size >= 128 {
		r.CB, r.Kernel = binary.LittleEndian.Uint64(rest), binary.LittleEndian.Uint64(rest[8:])
		rest = rest[16:]
	}
	if d.Size >= 112 {
		r.TotalDRAM, r.TotalL1 = binary.LittleEndian.Uint64(rest), binary.LittleEndian.Uint64(rest[8:])
		for i, into := range [...]*uint32{&r.Arch, &r.DRAMChannels, &r.DRAMPerChannel, &r.L1PerCore, &r.Available, &r.Devices} {
			*into = binary.LittleEndian.Uint32(rest[16+4*i:])
		}
		rest = rest[40:]
	}
	if d.Size >= 144 {
		r.RingSize, r.RingUsed, r.RingPrograms = binary.LittleEndian.Uint32(rest), binary.LittleEndian.Uint32(rest[4:]), binary.LittleEndian.Uint32(rest[8:])
	}
	return nil
}

// checkHead checks the bytes of a head that have fixed values: its type and its padding.
func (d Dialect) checkHead(b []byte) error {
	if b[0] < 1 || int(b[0]) > d.Types {
		return &RecordError{Field: "type", Value: int64(b[0]), Reason: fmt.Sprintf("is none of 1 to %d", d.Types)}
	}
	if pad := binary.LittleEndian.Uint32(b) >> 8; pad != 0 {
		return &RecordError{Field: "pad1", Value: int64(pad), Reason: "is not zero"}
	}
	if pad := binary.LittleEndian.Uint32(b[typeSize:]) >> 8; pad != 0 {
		return &RecordError{Field: "pad2", Value: int64(pad), Reason: "is not zero"}
	}
	return nil
}
