package fit

import (
	"fmt"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// A DeviceID names a device. Any number is an ordinary id.
type DeviceID uint64

// A BufferID names a buffer on a device. Devices of a mesh usually use the same id
// for their parts of one tensor, but need not.
type BufferID uint64

// A Buffer is something other than a circular buffer that takes memory of a device.
//
//	Buffer{ID: 7, Kind: KindL1, Cores: cores, Range: at}      the same addresses on all its cores
//	Buffer{ID: 8, Kind: KindL1, Parts: []Part{p, q}}          several ranges, or other ones on other cores
//	Buffer{ID: 9, Kind: KindDRAM, Size: 4096}                 not in L1
type Buffer struct {
	ID   BufferID
	Kind Kind // KindL1 to KindSystem

	// Size is the share of the buffer in the total of its kind: its bytes in all banks together. 0
	// means the bytes of its parts.
	Size uint64

	// Cores and Range are the place of a buffer of one part in L1: an interleaved buffer on all
	// cores, a sharded one on some.
	Cores l1.CoreSet
	Range l1.Range

	// Parts are the places of a buffer of several parts, where each core may have a place of its
	// own. A buffer has Cores and Range, or Parts, or nothing of both. All returns them.
	Parts []Part

	// Unsized marks a buffer whose bytes on a core are unknown. Its ranges are empty, and start
	// where it does. It takes part in tt-metal's test, which compares addresses alone, and counts
	// no bytes.
	Unsized bool

	// Mode is the way in which an L1 buffer got its address. One with several addresses counts as
	// allocated per core, whatever its Mode.
	Mode Mode

	// Hidden are further cores of a buffer that was allocated per core. Its address on them
	// is not known, and so not whether a program fits there. They count no bytes.
	Hidden l1.CoreSet

	// Backing marks the allocation that backs a mesh buffer on the mesh's reference device, where
	// every device also has an allocation of its own. Its bytes are the bytes of that allocation:
	// no total counts them again, and no check reads them. It also marks a buffer of several
	// processes, for all but one of them.
	Backing bool

	Name string // whose it is, for people
}

// A Part is one range of bytes on some cores.
type Part struct {
	Cores l1.CoreSet
	Range l1.Range
}

// All returns the parts of the buffer, however they are given: first Cores and Range, then Parts. A
// part without cores and without a range is left out.
func (b Buffer) All() iter.Seq[Part] {
	return func(yield func(Part) bool) {
		if first := (Part{b.Cores, b.Range}); first.says() && !yield(first) {
			return
		}
		for _, p := range b.Parts {
			if p.says() && !yield(p) {
				return
			}
		}
	}
}

// says reports whether the part is stated: it has cores or a range.
func (p *Part) says() bool { return !p.Cores.IsEmpty() || p.Range != (l1.Range{}) }

// Plain returns the buffer with memory of its own and in its plainest form: one part stands in
// Cores and Range, and empty parts are left out. Buffers with the same places are equal in this
// form.
func (b Buffer) Plain() Buffer {
	own := Part{b.Cores, b.Range}
	switch {
	case len(b.Parts) == 0:
		b.Parts = nil
		return b
	case len(b.Parts) == 1 && !own.says(): // as of most buffers
		b.Cores, b.Range, b.Parts = b.Parts[0].Cores, b.Parts[0].Range, nil
		return b
	}
	parts := slices.Collect(b.All())
	b.Cores, b.Range, b.Parts = l1.CoreSet{}, l1.Range{}, parts
	if len(parts) == 1 {
		b.Cores, b.Range, b.Parts = parts[0].Cores, parts[0].Range, nil
	}
	return b
}

// standing yields the parts of the buffer that stand in the way of programs: they take bytes of a
// core, or begin there if the buffer is unsized.
func (b *Buffer) standing(yield func(Part) bool) {
	if !b.counts() {
		return
	}
	for p := range b.All() {
		if !p.Cores.IsEmpty() && (b.Unsized || !p.Range.IsEmpty()) && !yield(p) {
			return
		}
	}
}

// counts reports whether checks read the buffer: it lies in L1, and backs no other one.
func (b *Buffer) counts() bool { return b.Kind.InL1() && !b.Backing }

// Stands reports whether the buffer stands in the way of programs: it has bytes in L1 and backs no
// other buffer, or it is unsized and has an address there, or it has hidden cores.
func (b Buffer) Stands() bool {
	for range b.standing {
		return true
	}
	return b.hides()
}

// hides reports whether the address of the buffer is not known on some cores.
func (b *Buffer) hides() bool { return !b.Hidden.IsEmpty() && !b.Backing && b.Kind.tensor() }

// String names the buffer in a few words: L1 buffer 7 ("conv2d").
func (b Buffer) String() string {
	text := fmt.Sprintf("%v %d", b.Kind, b.ID)
	if b.Name != "" {
		text += fmt.Sprintf(" (%.60q)", b.Name)
	}
	return text
}
