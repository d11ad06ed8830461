package clash

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
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

// shortage explains that the allocator has no space.
func (e *Explanation) shortage() {
	m, s := e.Message, e.Message.Shortage
	e.Over, _ = m.Over()
	_, _, limit := s.bounds()
	needs := fmt.Sprintf("the buffer needs %s of each bank", amount(s.Need))
	switch {
	case s.HasBank && s.Bank == 0:
		e.Summary = fmt.Sprintf("no %s at all: a bank has 0 bytes, and a buffer of %s needs some",
			s.kind(), m.amountOf("size", m.Size))
	case limit == "bank-size":
		e.Summary = fmt.Sprintf("can never fit: an empty bank of %s has %s, the buffer needs %s, %s more",
			s.kind(), amount(s.Bank), amount(s.Need), amount(e.Over))
	case limit == "free":
		e.Summary = fmt.Sprintf("%s exhausted: %s, %s more than is free", s.kind(), needs, amount(e.Over))
	case limit == "largest-free-block":
		e.Summary = fmt.Sprintf("%s fragmented: %s in one piece, %s more than the largest free block",
			s.kind(), needs, amount(e.Over))
	case limit == "placeable":
		e.Summary = fmt.Sprintf("%s taken by other allocators: %s, %s more than they leave",
			s.kind(), needs, amount(e.Over))
	case limit != "":
		e.Summary = fmt.Sprintf("%s cut up by other allocators: %s in one piece, %s more than the largest that "+
			"they leave", s.kind(), needs, amount(e.Over))
	case s.denied():
		e.Summary = fmt.Sprintf("out of %s, but its numbers show none: %s are needed of each bank, and a block of "+
			"%s is free",
			s.kind(), exact(s.Need), exact(max(s.Block, s.Window)))
		e.noteDamaged()
		return
	case s.Dependencies:
		e.Summary = fmt.Sprintf("%s taken by other allocators: no space beside their ranges for a buffer of %s%s",
			s.kind(), m.amountOf("size", m.Size), s.each())
	default:
		e.Summary = fmt.Sprintf("out of %s: no space for a buffer of %s%s; this release does not say how much is "+
			"free", s.kind(), m.amountOf("size", m.Size), s.each())
		if len(m.Missing) > 0 {
			e.Summary = strings.Replace(e.Summary, "this release does", "the text does", 1)
		}
	}
	e.noteSpace()
	e.note("why", "%s", s.why())
	for _, text := range s.advice(e.Over) {
		e.note("try", "%s", text)
	}
	e.note("open", "%s", s.open(e.Over))
	e.note("unknown", "%s", s.unknown())
}

// kind names the memory.
func (s Shortage) kind() string { return cmp.Or(s.Buffer, "memory") }

// each names the need of each bank, as far as it is known.
func (s Shortage) each() string {
	switch {
	case s.HasNeed:
		return fmt.Sprintf(", %s of each bank", amount(s.Need))
	case s.Banks == 0:
		return ""
	}
	return fmt.Sprintf(" across %s", shown.Plural(s.Banks, "bank"))
}

// noteSpace says the numbers of the message.
func (e *Explanation) noteSpace() {
	m, s := e.Message, e.Message.Shortage
	var text strings.Builder
	text.WriteString(m.exactOf("size", m.Size) + " bytes")
	if s.Banks > 0 {
		fmt.Fprintf(&text, " across %s", shown.Plural(s.Banks, "bank"))
	}
	for _, c := range []struct {
		has    bool
		format string
		n      uint64
	}{
		{s.HasNeed, ", %s of each", s.Need},
		{s.HasBank, "; a bank has %s bytes", s.Bank},
		{s.HasAllocated, ": %s allocated", s.Allocated},
		{s.HasFree, ", %s free", s.Free},
		{s.HasBlock, ", the largest free block %s", s.Block},
		{s.HasPlaceable, "; without the ranges of other allocators %s", s.Placeable},
		{s.HasPlaceable, ", the largest block of it %s", s.Window},
	} {
		if c.has {
			fmt.Fprintf(&text, c.format, exact(c.n))
		}
	}
	e.note("numbers", "%s", text.String())
	if s.HasFree && s.HasAllocated && s.Bank != 0 && s.Free <= math.MaxUint64-s.Allocated && s.Allocated+s.Free != s.Bank {
		e.note("numbers", "allocated and free do not add up to the bank: the text was altered, or the rest is kept "+
			"for alignment")
	}
}

func (s Shortage) why() string {
	switch {
	case s.Dependencies:
		return "per-core buffers and sub-devices have allocators of their own for the same bytes, and their ranges are taken away first. What is allocated and free is that of one allocator: " +
			"a free block larger than was asked for is normal here"
	case s.HasBank && s.Bank == 0:
		return fmt.Sprintf("the size of %s is set when the device is opened, and is 0 unless it is asked for", s.Buffer)
	case s.Buffer == "L1":
		return "a bank of L1 is what tensors may take of one core, from the base of circular buffers to L1_SMALL. A buffer has one address on all banks, so one piece has to be free on all of them"
	case s.Buffer == "DRAM":
		return "a buffer has one address on all banks, so one piece has to be free on all of them"
	}
	return fmt.Sprintf("the size of %s is set when the device is opened; what is allocated there stays until it is "+
		"freed", s.Buffer)
}

// advice returns what to try, the most promising first. Of memory whose size is chosen there is
// more to say in open.
func (s Shortage) advice(over uint64) (out []string) {
	if s.option() != "" {
		return nil
	}
	_, _, is := s.bounds()
	switch {
	case is == "bank-size":
		out = append(out, "shard it over more cores or in smaller pieces, or keep it in DRAM: no order of allocations helps")
	case s.Dependencies && is != "free":
		out = append(out, "free buffers that other allocators hold, per core or in a sub-device, or allocate this one before them")
	case is == "free":
		out = append(out, fmt.Sprintf("free %s of each bank before this: deallocate what is not needed any more, or shard over more banks", amount(over)))
	case is == "largest-free-block":
		out = append(out, "ttnn.reallocate of a tensor that lies between two free blocks, or deallocate it before this",
			"allocate what lives long first, so that what is short-lived does not leave holes")
	default:
		out = append(out, "deallocate what is not needed any more; a newer release says how much is free, and in which pieces")
	}
	if s.Buffer == "L1" {
		out = append(out, "move a tensor to DRAM")
	}
	return out
}

// option is the parameter of open_device that is the size of the memory.
func (s Shortage) option() string {
	return map[string]string{"L1_SMALL": "l1_small_size", "TRACE": "trace_region_size"}[s.Buffer]
}

// open says which parameter of open_device helps.
func (s Shortage) open(over uint64) string {
	_, _, is := s.bounds()
	option := s.option()
	switch {
	case option != "":
		return "open the device with " + option + s.size()
	case s.Buffer == "DRAM":
		return "a smaller trace_region_size, if it is larger than the traces: it is taken from the banks of DRAM"
	case s.Buffer == "L1" && (is == "bank-size" || is == "free") && over < l1.ArchSpec(l1.Blackhole).L1Size:
		return fmt.Sprintf("l1_small_size smaller by at least %s, if L1_SMALL has so much to spare: tensors get it",
			amount(roundUp(over)))
	case s.Buffer == "L1" && is != "bank-size":
		return "none for certain: a smaller l1_small_size gives tensors more, if L1_SMALL has bytes to spare, but it moves them all"
	}
	return noOption
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

// size says how large a memory must be.
func (s Shortage) size() string {
	least := s.least()
	switch {
	case least == 0 && s.HasBank:
		return fmt.Sprintf(" of more than %s", shown.Plural(s.Bank, "byte"))
	case least == 0:
		return " larger than now"
	case s.Buffer == "TRACE" && s.Banks > 1 && least <= l1.MaxAddr/s.Banks:
		return fmt.Sprintf(" of %s or more (%s of each bank; up to June 2026 the size is that of each bank)",
			shown.Plural(least*s.Banks, "byte"), exact(least))
	}
	return fmt.Sprintf(" of %s or more", shown.Plural(least, "byte"))
}

func (s Shortage) unknown() string {
	if s.Buffer != "L1" && s.Buffer != "L1_SMALL" {
		return "which buffers hold it: a capture has each as a node, with the operation that allocated it"
	}
	return "which buffers hold it, and what lies between free blocks: a capture has each as a node; `cbl1 room CAPTURE` says how large one more could be, and who limits it"
}

// fill adds what the allocator says to a row.
func (s Shortage) fill(r *Row) {
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
