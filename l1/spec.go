package l1

import (
	"fmt"
	"strconv"
)

// An Arch names a Tenstorrent architecture as the command's --arch does.
type Arch string

// The architectures of tt-metal.
const (
	Grayskull Arch = "grayskull"
	Wormhole  Arch = "wormhole"
	Blackhole Arch = "blackhole"
	Quasar    Arch = "quasar"
)

// ParseArch reads "wormhole", "blackhole", "grayskull" or "quasar". Errors are *ParseError.
func ParseArch(text string) (Arch, error) {
	switch a := Arch(text); a {
	case Grayskull, Wormhole, Blackhole, Quasar:
		return a, nil
	}
	return "", &ParseError{What: "architecture", Text: text, Reason: "known are grayskull, wormhole, blackhole, quasar"}
}

// A Spec describes a device, as far as its L1 goes. Every number is free. Specs compare with ==.
// The zero Spec knows nothing: any core, no end of L1, base 0, no rounding.
type Spec struct {
	Name string // for people: "p150"; part of the identity
	Arch Arch

	// Cols and Rows are the compute grid: cores 0-0 to (Cols-1)-(Rows-1). 0x0 means
	// that the grid is not known and any core is accepted.
	Cols, Rows int

	L1Size  uint64 // bytes of L1 per core; 0 = not known
	CBBase  uint64 // address where circular buffers start
	CBAlign uint64 // addresses of circular buffers are multiples of it (tt-metal: DRAM alignment); 0 = 1
	L1Align uint64 // alignment of the pages of L1 buffers; 0 = 1. The buffers have the larger alignment of the two
	L1Small uint64 // bytes reserved at the very top of L1 for L1_SMALL buffers

	CBIndices int // buffer indices per core; 0 = no limit
}

// Check returns nil if the numbers of s agree with each other and a *SpecError
// otherwise.
func (s Spec) Check() error {
	bad := func(field string, value any, reason string) error {
		return &SpecError{Spec: s.Name, Field: field, Value: fmt.Sprint(value), Reason: reason}
	}
	switch {
	case s.Cols < 0 || s.Cols > 256:
		return bad("Cols", s.Cols, "must be 0 to 256")
	case s.Rows < 0 || s.Rows > 256:
		return bad("Rows", s.Rows, "must be 0 to 256")
	case (s.Cols == 0) != (s.Rows == 0):
		return bad("grid", strconv.Itoa(s.Cols)+"x"+strconv.Itoa(s.Rows), "give both or none")
	case s.L1Size > MaxAddr:
		return bad("L1Size", s.L1Size, "beyond 2^63-1")
	case s.CBBase > MaxAddr:
		return bad("CBBase", s.CBBase, "beyond 2^63-1")
	case s.CBAlign > MaxAddr:
		return bad("CBAlign", s.CBAlign, "beyond 2^63-1")
	case s.L1Align > MaxAddr:
		return bad("L1Align", s.L1Align, "beyond 2^63-1")
	case s.L1Small > MaxAddr:
		return bad("L1Small", s.L1Small, "beyond 2^63-1")
	case s.L1Size != 0 && s.CBBase > s.L1Size:
		return bad("CBBase", s.CBBase, fmt.Sprintf("lies beyond the L1 of %d bytes", s.L1Size))
	case s.L1Size != 0 && s.L1Small > s.L1Size:
		return bad("L1Small", s.L1Small, fmt.Sprintf("is larger than the L1 of %d bytes", s.L1Size))
	case s.CBIndices < 0:
		return bad("CBIndices", s.CBIndices, "must not be negative")
	}
	return nil
}

// Based returns s, but without a size of L1 if the base of a Quasar is not known: nothing can be judged there.
func (s Spec) Based() Spec {
	if s.Arch == Quasar && s.CBBase == 0 {
		s.L1Size = 0
	}
	return s
}

// Places reports whether programs that are built for s have the same layout on devices of o: the
// Specs are equal but for L1Small, which placement ignores.
func (s Spec) Places(o Spec) bool {
	s.L1Small = o.L1Small
	return s == o
}

// Has reports whether c lies on the grid, or the grid is not known.
func (s Spec) Has(c Core) bool {
	return s.Cols == 0 || int(c.X) < s.Cols && int(c.Y) < s.Rows
}

// HasAll reports whether all cores lie on the grid, or the grid is not known. It does not allocate.
func (s Spec) HasAll(cores CoreSet) bool {
	if s.NumCores() == 0 {
		return s.Cols == 0 || cores.IsEmpty()
	}
	grid := CoreSet{isRect: true, rect: CoreRange{End: Core{uint8(s.Cols - 1), uint8(s.Rows - 1)}}}
	return grid.Contains(cores)
}

// NumCores returns the number of cores of the grid, 0 if it is not known or makes no
// sense.
func (s Spec) NumCores() int {
	if s.Cols < 0 || s.Rows < 0 || s.Cols > 256 || s.Rows > 256 {
		return 0
	}
	return s.Cols * s.Rows
}

// Grid returns all cores of the grid as one rectangle, or the empty set if the
// grid is not known.
func (s Spec) Grid() CoreRangeSet {
	if s.Cols <= 0 || s.Rows <= 0 || s.Cols > 256 || s.Rows > 256 {
		return CoreRangeSet{}
	}
	return CoreRangeSet{[]CoreRange{{End: Core{uint8(s.Cols - 1), uint8(s.Rows - 1)}}}}
}

// Usable returns the addresses of a core that circular buffers and L1 buffers may
// take: from CBBase to where the L1_SMALL buffers begin, or to MaxAddr if the size of
// L1 is not known. It is an empty range at that end where the base lies above it.
func (s Spec) Usable() Range {
	end := uint64(MaxAddr)
	if s.L1Size > 0 {
		end = min(s.L1Size, MaxAddr)
		end -= min(s.L1Small, end)
	}
	return Range{min(s.CBBase, end), end}
}

// SmallBytes returns the size of the L1_SMALL area of a core: the bytes of its L1 that lie
// neither below the base of circular buffers nor in its bank of L1 buffers. ok is false if
// one of the numbers is 0, or if base and bank together are larger than the L1.
func SmallBytes(size, base, bank uint64) (small uint64, ok bool) {
	if base == 0 || bank == 0 || base > size || bank > size-base {
		return 0, false
	}
	return size - base - bank, true
}

// UsableBytes returns the length of Usable, 0 if the size of L1 is not known. Percentages of L1 are
// relative to it.
func (s Spec) UsableBytes() uint64 {
	if s.L1Size == 0 {
		return 0
	}
	return s.Usable().Len()
}

// AlignCB rounds an address up to the next address a circular buffer may start
// at. ok is false if that lies beyond MaxAddr.
func (s Spec) AlignCB(addr uint64) (aligned uint64, ok bool) {
	if s.CBAlign > 1 {
		if rest := addr % s.CBAlign; rest != 0 {
			if addr > MaxAddr-(s.CBAlign-rest) {
				return 0, false
			}
			addr += s.CBAlign - rest
		}
	}
	return addr, addr <= MaxAddr
}

// String returns the name, architecture, grid and L1 size on one line.
func (s Spec) String() string {
	name := s.Name
	if name == "" {
		name = "spec"
	}
	return fmt.Sprintf("%s (%s %dx%d, L1 %d, CB base %d, align %d)",
		name, s.Arch, s.Cols, s.Rows, s.L1Size, s.CBBase, max(s.CBAlign, 1))
}
