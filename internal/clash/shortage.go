package clash

import (
	"cmp"

	"github.com/cbl1/cbl1/l1"
)

// A Shortage is the message of tt-metal's allocator about a buffer that found no space. Older
// releases print fewer numbers. Bytes count one bank; a bank of L1 is the part of one core that
// tensors may use.
// (tt_metal/impl/allocator/bank_manager.cpp.)
type Shortage struct {
	Buffer string // DRAM, L1, L1_SMALL or TRACE

	// Dependencies reports whether ranges of other allocators of the same L1 were excluded before:
	// of per-core buffers or of sub-devices. Allocated, Free and Block count one allocator.
	Dependencies bool

	// Whether the message has the numbers below.
	HasNeed, HasBank, HasAllocated, HasFree, HasBlock, HasPlaceable bool

	Banks           uint64 // 0: the text leaves it out
	Need            uint64 // that the buffer needs, in one piece
	Bank            uint64 // the size of a bank
	Allocated, Free uint64
	Block           uint64 // the largest piece that is free

	// HasPlaceable: the part of Free outside the ranges of others, and its largest piece.
	Placeable, Window uint64
}

// bounds returns the needed bytes and the first limit that is smaller. is names the limit. All
// are zero without such numbers.
func (s Shortage) bounds() (need, limit uint64, is string) {
	for _, c := range []struct {
		has   bool
		limit uint64
		is    string
	}{
		{s.HasBank, s.Bank, "bank-size"},
		{s.HasPlaceable, s.Placeable, "placeable"},
		{s.HasPlaceable, s.Window, "largest-placeable-block"},
		{s.HasFree && !s.HasPlaceable, s.Free, "free"},
		{s.HasBlock && !s.HasPlaceable, s.Block, "largest-free-block"},
	} {
		if s.HasNeed && c.has && s.Need > c.limit {
			return s.Need, c.limit, c.is
		}
	}
	return 0, 0, ""
}

// denied reports whether the numbers show that there is space.
func (s Shortage) denied() bool {
	_, _, is := s.bounds()
	return is == "" && s.HasNeed && (s.HasPlaceable || s.HasBlock && !s.Dependencies)
}

// option is the parameter of open_device that is the size of the memory.
func (s Shortage) option() string {
	return map[string]string{"L1_SMALL": "l1_small_size", "TRACE": "trace_region_size"}[s.Buffer]
}

// least returns the size that a memory needs: all that is allocated and the buffer. Where free
// bytes lie in pieces it is the present size and the buffer. 0: the message does not say it.
func (s Shortage) least() uint64 {
	switch {
	case !s.HasNeed || s.Need > l1.MaxAddr-max(s.Bank, s.Allocated):
		return 0
	case s.HasFree && s.Need <= s.Free:
		return s.Bank + s.Need
	case s.HasAllocated:
		return s.Allocated + s.Need
	case s.HasBank && s.Need <= s.Bank:
		return 0
	}
	return s.Need
}

// fill adds what the allocator says to a row.
func (s Shortage) fill(r *MessageRow) {
	known := func(has bool, n uint64) *uint64 {
		if !has {
			return nil
		}
		return &n
	}
	r.Shortage = &ShortageRow{
		Buffer: s.Buffer, Banks: s.Banks, Dependencies: s.Dependencies, Need: known(s.HasNeed, s.Need), Bank: known(s.HasBank, s.Bank),
		Allocated: known(s.HasAllocated, s.Allocated), Free: known(s.HasFree, s.Free), Block: known(s.HasBlock, s.Block),
		Placeable: known(s.HasPlaceable, s.Placeable), Window: known(s.HasPlaceable, s.Window),
	}
	if _, limit, is := s.bounds(); is != "" {
		r.Limit, r.LimitIs = &limit, is
	}
	r.What = cmp.Or(r.What, s.Buffer)
}
