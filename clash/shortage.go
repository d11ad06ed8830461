package clash

import (
	"cmp"
	"fmt"
	"math"

	"github.com/cbl1/cbl1/internal/shown"
)

// A Shortage is what tt-metal's allocator says of a buffer that it has no space for. Older releases
// say less. Bytes are those of each bank; a bank of L1 is what tensors may take of one core.
// (tt_metal/impl/allocator/bank_manager.cpp.)
type Shortage struct {
	Buffer string // DRAM, L1, L1_SMALL or TRACE
	Banks  uint64

	HasNeed, HasBank, HasFree bool // whether the message has the numbers below

	Need uint64 // HasNeed: that the buffer needs, in one piece
	Bank uint64 // HasBank: the size of a bank

	// HasFree:
	Allocated, Free uint64
	Block           uint64 // the largest piece that is free
}

// bounds returns what is needed, and what there is: of the first of these that is less. Without
// the numbers both are 0.
func (s Shortage) bounds() (need, limit uint64) {
	switch {
	case !s.HasNeed:
		return 0, 0
	case s.HasBank && s.Need > s.Bank:
		return s.Need, s.Bank
	case s.HasFree && s.Need > s.Free:
		return s.Need, s.Free
	case s.HasFree:
		return s.Need, s.Block
	}
	return 0, 0
}

// limitIs names what bounds returns: "" if the message does not say it.
func (s Shortage) limitIs() string {
	switch _, limit := s.bounds(); {
	case !s.HasNeed || !s.HasBank && !s.HasFree:
		return ""
	case s.HasBank && s.Need > s.Bank:
		return "bank-size"
	case s.HasFree && s.Need > s.Free:
		return "free"
	case s.HasFree && s.Need > limit:
		return "largest-free-block"
	}
	return ""
}

// Out of Memory: Not enough space to allocate N B K buffer across N banks, where each bank needs
// to store N B, but bank size is N B (allocated: N B, free: N B, largest free block: N B)
//
// Out of Memory: Not enough space after considering dependencies to allocate N B K across N banks
// (N B per bank), bank size is N B (allocated: N B, free: N B, largest free block: N B)
//
// Older releases end at a comma or at the bracket, and say "only" before the bank size.
func (m *matcher) memory(msg *Message) bool {
	msg.Kind, msg.What = OutOfMemory, ""
	s := &msg.Shortage
	if !m.lit("Out of Memory: Not enough space ") {
		return false
	}
	m.lit("after considering dependencies ")
	if !m.lit("to allocate ") || !m.into(&msg.Size) || !m.lit(" B ") || !m.memoryKind(s) {
		return false
	}
	m.lit(" buffer")
	if !m.lit(" across ") || !m.into(&s.Banks) || !m.lit(" banks") {
		return false
	}
	s.HasNeed = m.optional(func() bool { return m.lit(", where each bank needs to store ") && m.intoLast(&s.Need) }) ||
		m.optional(func() bool { return m.lit(" (") && m.into(&s.Need) && m.lit(" B per bank)") })
	if !s.HasNeed {
		return true
	}
	s.HasBank = m.optional(func() bool {
		but := m.lit(", but bank size is ") || m.lit(", bank size is ")
		m.lit("only ")
		return but && m.intoLast(&s.Bank)
	})
	s.HasFree = s.HasBank && m.optional(func() bool {
		return m.lit(" (allocated: ") && m.into(&s.Allocated) && m.lit(" B, free: ") && m.into(&s.Free) &&
			m.lit(" B, largest free block: ") && m.into(&s.Block) && m.lit(" B)")
	})
	if !s.HasFree {
		s.Allocated, s.Free, s.Block = 0, 0, 0
	}
	return true
}

// optional reads a part of a message that may be missing, whole or not at all.
func (m *matcher) optional(part func() bool) bool {
	saved := *m
	if part() {
		return true
	}
	m.back(saved)
	return false
}

func (m *matcher) memoryKind(s *Shortage) bool {
	for _, kind := range []string{"DRAM", "L1_SMALL", "L1", "TRACE"} {
		if m.lit(kind) {
			s.Buffer = kind
			return true
		}
	}
	return false
}

// shortage explains that the allocator has no space.
func (e *Explanation) shortage() {
	m, s := e.Message, e.Message.Shortage
	e.Over, _ = m.Over()
	switch limit := s.limitIs(); {
	case s.HasBank && s.Bank == 0:
		e.Summary = fmt.Sprintf("no %s at all: a bank has 0 bytes, and a buffer of %s needs some", s.Buffer, amount(m.Size))
	case limit == "bank-size":
		e.Summary = fmt.Sprintf("can never fit: an empty bank of %s has %s, the buffer needs %s, %s more", s.Buffer, amount(s.Bank), amount(s.Need), amount(e.Over))
	case limit == "free":
		e.Summary = fmt.Sprintf("%s exhausted: the buffer needs %s of each bank, %s more than is free", s.Buffer, amount(s.Need), amount(e.Over))
	case limit == "largest-free-block":
		e.Summary = fmt.Sprintf("%s fragmented: the buffer needs %s of each bank in one piece, %s more than the largest free block", s.Buffer, amount(s.Need), amount(e.Over))
	case s.HasFree:
		e.Summary = fmt.Sprintf("out of %s, but its numbers show none: %s are needed of each bank, and a block of %s is free", s.Buffer, exact(s.Need), exact(s.Block))
		e.noteDamaged()
		return
	default:
		e.Summary = fmt.Sprintf("out of %s: no space for a buffer of %s%s; this release does not say how much is free", s.Buffer, amount(m.Size), s.each())
	}
	e.noteSpace()
	e.note("why", "%s", s.why())
	for _, text := range s.advice(e.Over) {
		e.note("try", "%s", text)
	}
	e.note("unknown", "%s", s.unknown())
}

// each says what each bank has to hold, as far as it is known.
func (s Shortage) each() string {
	if !s.HasNeed {
		return fmt.Sprintf(" across %s", shown.Plural(s.Banks, "bank"))
	}
	return fmt.Sprintf(", %s of each bank", amount(s.Need))
}

// noteSpace says the numbers of the message.
func (e *Explanation) noteSpace() {
	m, s := e.Message, e.Message.Shortage
	text := fmt.Sprintf("%s across %s", shown.Plural(m.Size, "byte"), shown.Plural(s.Banks, "bank"))
	if s.HasNeed {
		text += fmt.Sprintf(", %s of each", exact(s.Need))
	}
	if s.HasBank {
		text += fmt.Sprintf("; a bank has %s", shown.Plural(s.Bank, "byte"))
	}
	if s.HasFree {
		text += fmt.Sprintf(": %s allocated, %s free, the largest free block %s", exact(s.Allocated), exact(s.Free), exact(s.Block))
	}
	e.note("numbers", "%s", text)
	if s.HasFree && s.Bank != 0 && s.Free <= math.MaxUint64-s.Allocated && s.Allocated+s.Free != s.Bank {
		e.note("numbers", "allocated and free do not add up to the bank: the text was altered, or the rest is kept for alignment")
	}
}

func (s Shortage) why() string {
	switch {
	case s.HasBank && s.Bank == 0:
		return fmt.Sprintf("the size of %s is set when the device is opened, and is 0 unless it is asked for", s.Buffer)
	case s.Buffer == "L1":
		return "a bank of L1 is what tensors may take of one core, from the base of circular buffers to L1_SMALL. A buffer has one address on all banks, so one piece has to be free on all of them"
	case s.Buffer == "DRAM":
		return "a buffer has one address on all banks, so one piece has to be free on all of them"
	}
	return fmt.Sprintf("the size of %s is set when the device is opened; what is allocated there stays until it is freed", s.Buffer)
}

// advice returns what to try, the most promising first.
func (s Shortage) advice(over uint64) (out []string) {
	option := map[string]string{"L1_SMALL": "l1_small_size", "TRACE": "trace_region_size"}[s.Buffer]
	if option != "" {
		switch {
		case s.HasNeed && s.HasBank && s.Need > s.Bank:
			option += fmt.Sprintf(" of %s or more", shown.Plural(s.Need, "byte"))
		case s.HasBank:
			option += fmt.Sprintf(" of more than %s", shown.Plural(s.Bank, "byte"))
		}
		return []string{"open the device with " + option}
	}
	switch s.limitIs() {
	case "bank-size":
		out = append(out, "shard it over more cores or in smaller pieces, or keep it in DRAM: no order of allocations helps")
	case "free":
		out = append(out, fmt.Sprintf("free %s of each bank before this: deallocate what is not needed any more, or shard over more banks", amount(over)))
	case "largest-free-block":
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

func (s Shortage) unknown() string {
	if s.Buffer != "L1" && s.Buffer != "L1_SMALL" {
		return "which buffers hold it: a capture has each as a node, with the operation that allocated it"
	}
	return "which buffers hold it, and what lies between free blocks: a capture has each as a node; `cbl1 room CAPTURE` says how large one more could be, and who limits it"
}

// fill adds what the allocator says to a row.
func (s Shortage) fill(r *Row, m Message) {
	r.Size = &m.Size
	row := ShortageRow{Buffer: s.Buffer, Banks: s.Banks}
	if s.HasNeed {
		row.Need = &s.Need
	}
	if s.HasBank {
		row.Bank = &s.Bank
	}
	if s.HasFree {
		row.Allocated, row.Free, row.Block = &s.Allocated, &s.Free, &s.Block
	}
	if is := s.limitIs(); is != "" {
		_, limit := s.bounds()
		r.Limit, r.LimitIs = &limit, is
	}
	r.Shortage = &row
	r.What = cmp.Or(r.What, s.Buffer)
}
