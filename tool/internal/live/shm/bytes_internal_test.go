package shm

import "unsafe"

// Decode returns the image of the bytes of a region, as Region.Read does. Tests hold bytes, and the
// product holds regions.
func Decode(b []byte) (Image, error) {
	b = b[:min(len(b), Size)]
	words := make([]uint64, (len(b)+7)/8) // they begin at a multiple of 8
	aligned := bytesOf(words)[:len(b)]
	copy(aligned, b)
	r, err := Over(aligned)
	if err != nil {
		return Image{}, err
	}
	return r.Read()
}

// Append appends the region of an image, marked as ready. A longer name of a process is cut to 63
// bytes.
func (im *Image) Append(b []byte) []byte {
	r := &Region{b: bytesOf(make([]uint64, Size/8))}
	r.u32(atVersion).Store(im.Version)
	r.u32(atActive).Store(im.Active)
	r.u64(atUpdated).Store(im.Updated)
	r.u32(atReferences).Store(im.References)
	r.u64(atSerial).Store(im.Serial)
	r.u64(atASIC).Store(im.ASIC)
	r.u32(atDevice).Store(im.Device)
	r.setUsage(atTotals, im.Totals)
	for i, c := range im.Chips {
		at := atChips + chipSize*i
		r.u32(at).Store(c.ID)
		if c.Remote {
			r.u32(at + chipRemote).Store(1)
		}
		r.setUsage(at+chipUsage, c.Counters)
	}
	for i, p := range im.Processes {
		at := atProcesses + processSize*i
		r.pid(i).Store(p.PID)
		r.setUsage(at+processUsage, p.Counters)
		r.u64(at + processUpdated).Store(p.Updated)
		r.setName(i, p.Name)
	}
	if im.Version == Version4 {
		r.u32(atState).Store(stateReady)
	}
	return append(b, r.b...)
}

// bytesOf returns the bytes of some words.
func bytesOf(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}
