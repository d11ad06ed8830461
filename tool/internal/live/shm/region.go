package shm

import (
	"bytes"
	"encoding/binary"
	"runtime/debug"
	"sync/atomic"
	"unsafe"
)

// A Region is the memory of a region. It must be made by Open, Create or Over.
type Region struct {
	b     []byte
	unmap func() error
	size  func() (int64, error) // of the file
}

// Over returns the region in some bytes, which begin at a multiple of 8; bytes after Size are not
// read. Integers are in the byte order of the machine, which equals the order of the layouts
// wherever tt-metal runs. The error is ErrAlign, or a *SizeError.
func Over(b []byte) (*Region, error) {
	if len(b) < least(Version3) {
		return nil, &SizeError{Size: int64(len(b)), Want: int64(least(Version3))}
	}
	if uintptr(unsafe.Pointer(&b[0]))%8 != 0 {
		return nil, ErrAlign
	}
	return &Region{b: b[:min(len(b), Size)]}, nil
}

// Close gives a mapping back. Nothing of the region can be read any more then.
func (r *Region) Close() error {
	r.b = nil
	if r.unmap == nil {
		return nil
	}
	err := r.unmap()
	r.unmap = nil
	return err
}

func (r *Region) u32(at int) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&r.b[at])) }
func (r *Region) u64(at int) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&r.b[at])) }
func (r *Region) pid(slot int) *atomic.Int32 {
	return (*atomic.Int32)(unsafe.Pointer(&r.b[atProcesses+processSize*slot]))
}

// state returns the word that marks the region as ready; 0 where there is none.
func (r *Region) state() uint32 {
	if len(r.b) < atState+4 {
		return stateNone
	}
	return r.u32(atState).Load()
}

// guard calls f, and survives that the memory is gone: a file that is cut while it is
// mapped raises a signal that would end the process.
func (r *Region) guard(f func()) (err error) {
	if r.b == nil {
		return ErrFault
	}
	first := uintptr(unsafe.Pointer(&r.b[0]))
	last := first + uintptr(len(r.b)) - 1
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			if at := fault.Addr(); at < first || at > last {
				panic(fault)
			}
			err = ErrFault
		default:
			panic(fault)
		}
	}()
	f()
	return nil
}

// Read returns the present image of the region. The error is a *VersionError, a *SizeError,
// ErrNotReady, or ErrFault where the file was cut in the meantime.
func (r *Region) Read() (im Image, err error) {
	var refused error
	if err := r.guard(func() { refused = r.read(&im) }); err != nil {
		return Image{}, err
	}
	if refused != nil {
		return Image{}, refused
	}
	if r.cut(least(im.Version)) {
		return Image{}, ErrFault
	}
	return im, nil
}

// cut reports whether the file is shorter than that. The memory behind its end reads as
// zeros up to the end of a page.
func (r *Region) cut(want int) bool {
	if r.size == nil {
		return false
	}
	size, err := r.size()
	return err != nil || size < int64(want)
}

func (r *Region) read(im *Image) error {
	state := r.state() // before anything else
	im.Version = r.u32(atVersion).Load()
	if err := readable(im.Version, state, len(r.b)); err != nil {
		return err
	}
	im.Active = r.u32(atActive).Load()
	im.Updated = r.u64(atUpdated).Load()
	im.References = r.u32(atReferences).Load()
	im.Serial = r.u64(atSerial).Load()
	im.ASIC = r.u64(atASIC).Load()
	im.Device = r.u32(atDevice).Load()
	im.Totals = r.usage(atTotals)
	for i := range im.Chips {
		at := atChips + chipSize*i
		im.Chips[i] = ChipEntry{ID: r.u32(at).Load(), Remote: r.u32(at+chipRemote).Load() != 0, Counters: r.usage(at + chipUsage)}
	}
	for i := range im.Processes {
		im.Processes[i] = r.process(i)
	}
	if r.state() != state || r.u32(atVersion).Load() != im.Version {
		return ErrNotReady // it was taken over while it was read
	}
	return nil
}

// readable reports whether a region can be read.
func readable(version, state uint32, size int) error {
	switch {
	case version == 0, state == stateProgress, version == Version4 && size >= least(version) && state != stateReady:
		return ErrNotReady
	case version != Version2 && version != Version3 && version != Version4:
		return &VersionError{version}
	case size < least(version):
		return &SizeError{Size: int64(size), Want: int64(least(version))}
	}
	return nil
}

func (r *Region) usage(at int) (u Counters) {
	for i, n := range u.words() {
		*n = r.u64(at + 8*i).Load()
	}
	return u
}

// process returns the figures of a slot.
func (r *Region) process(slot int) Slot {
	at := atProcesses + processSize*slot
	p := Slot{PID: r.pid(slot).Load(), Counters: r.usage(at + processUsage), Updated: r.u64(at + processUpdated).Load()}
	var name [nameSize]byte
	for i := 0; i < nameSize; i += 8 {
		binary.NativeEndian.PutUint64(name[i:], r.u64(at+processName+i).Load())
	}
	text, _, _ := bytes.Cut(name[:nameSize-1], []byte{0}) // the last byte ends a name, whatever it is
	p.Name = string(text)
	return p
}

// setName writes the name of a process into its slot.
func (r *Region) setName(slot int, text string) {
	var name [nameSize]byte
	copy(name[:nameSize-1], text)
	for i := 0; i < nameSize; i += 8 {
		r.u64(atProcesses + processSize*slot + processName + i).Store(binary.NativeEndian.Uint64(name[i:]))
	}
}
