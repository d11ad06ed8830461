package clash

import (
	"fmt"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// maxLines is how many lines an explanation may take, the summary included.
const maxLines = 13

// region explains that the region of a program's buffers ends too high.
func (e *Explanation) region(given l1.Spec) {
	m := e.Message
	over, ok := m.Over()
	if !ok {
		e.Summary = fmt.Sprintf("%s, but its numbers show none: the region ends at %s, the limit is %s", m.happened(), exact(m.End), exact(m.Limit))
		e.noteCores()
		e.noteDamaged()
		return
	}
	c := chipOf(m, given)
	e.reckon(c, over)

	e.Summary = fmt.Sprintf("%s: the %s end %s %s", m.happened(), m.long(), amount(over), m.past())
	e.noteCores()
	e.note("numbers", "the %s region ends at %s, %s %s: %s over = %s of %s",
		m.short(), exact(m.End), m.limitIs(), exact(m.Limit), amount(over), e.share(), e.percentOf())
	e.note("why", "%s", m.why())
	e.note("chip", "%s", c.note())
	e.noteFit()
	e.noteAbove()
	for _, reason := range e.reasons() {
		e.note("likely", "%s", reason)
	}
	e.noteOpen()
	// The summary and the last note count, too.
	for _, advice := range e.advice(maxLines - 2 - len(e.Notes)) {
		e.note("try", "%s", advice)
	}
	e.note("unknown", "%s", m.unknown())
}

// reckon sets the numbers that follow from the message and the chip.
func (e *Explanation) reckon(c chip, over uint64) {
	m := e.Message
	e.Over, e.PercentOf = over, OfEnd
	e.Arch, e.Likely, e.L1Size = c.spec.Arch, c.likely, c.spec.L1Size
	if c.based {
		e.Base = c.spec.CBBase
		e.Region, e.Room, e.PercentOf = m.End-e.Base, m.Limit-e.Base, OfRegion
	}
	if m.Kind == Clash && e.L1Size > m.Limit {
		e.Above = e.L1Size - m.Limit
	}
	e.Percent = percent(over, e.percentBase())
}

func (e *Explanation) percentBase() uint64 {
	if e.PercentOf == OfRegion {
		return e.Region
	}
	return e.Message.End
}

// percentOf names the base of share.
func (e *Explanation) percentOf() string {
	if e.Region != 0 {
		return fmt.Sprintf("the region (%s above base %s)", shown.Plural(e.Region, "byte"), exact(e.Base))
	}
	if e.regionSpan().low == 0 {
		return "the region"
	}
	low, high := outer(bases(l1.Wormhole, l1.Blackhole))
	return fmt.Sprintf("the region, for bases of %s to %s", exact(low), exact(high))
}

// happened names the message.
func (m Message) happened() string {
	switch m.Kind {
	case Grow:
		return "too large for L1"
	case ServiceClash:
		return "clash with a service core"
	}
	return "clash with L1 buffers"
}

// past says where the region must not reach.
func (m Message) past() string {
	switch m.Kind {
	case Grow:
		return "beyond the end of L1"
	case ServiceClash:
		return "above the lowest L1 allocation of the service"
	}
	return "above the lowest L1 buffer"
}

func (m Message) limitIs() string {
	switch m.Kind {
	case Grow:
		return "the L1 of a core at"
	case ServiceClash:
		return "the lowest service allocation is at"
	}
	return "the lowest L1 buffer is at"
}

func (m Message) why() string {
	switch m.Kind {
	case Grow:
		return m.short() + "s are placed upwards from the base, and end beyond L1 by themselves: L1 buffers play no part, moving them does not help"
	case ServiceClash:
		return m.short() + "s grow up from the base; these cores run a service that has taken L1 above, and no L1 buffer is involved"
	}
	return m.short() + "s grow up from the base, L1 buffers down from the top: they meet. Normally one lowest address counts for all cores, even where no L1 buffer lies"
}

func (m Message) unknown() string {
	switch m.Kind {
	case Grow:
		return fmt.Sprintf("which %s is large, and holes between them (only the end counts): %s", m.short(), m.inCapture(""))
	case ServiceClash:
		return fmt.Sprintf("which %s reaches up, which service allocation it is, and on which device: %s, but not the services", m.short(), m.inCapture(""))
	}
	return fmt.Sprintf("which %s reaches up, which L1 buffer is lowest, and holes in either: %s", m.short(), m.inCapture(" and L1 buffer"))
}

// inCapture says where to look for what the message does not say. A report lists
// programs of circular buffers; each buffer by itself stands in the capture only.
func (m Message) inCapture(too string) string {
	text := fmt.Sprintf("a capture has each %s%s as a node", m.short(), too)
	if m.What != Dataflow {
		text += ", and `cbl1 report --programs CAPTURE` says which are the program's"
	}
	return text
}

// noteFit names the changes that would make the buffers fit, with their sizes.
func (e *Explanation) noteFit() {
	m := e.Message
	raise := ""
	if m.Kind == Clash {
		raise = fmt.Sprintf(", or all L1 buffers must lie at or above %s", exact(m.End))
	}
	if e.Region == 0 {
		e.note("fit", "the region must end at or below %s%s", exact(m.Limit), raise)
		return
	}
	e.note("fit", "if the base is %s, the region must shrink from %s to the room of %s%s", exact(e.Base), amount(e.Region), amount(e.Room), raise)
}

// noteAbove says how much of L1 is in use above the region.
func (e *Explanation) noteAbove() {
	m := e.Message
	if m.Kind != Clash {
		return
	}
	const what = "from the lowest L1 buffer to the top of L1 (L1 buffers, holes, L1_SMALL)"
	switch {
	case e.Above != 0:
		e.note("above", "%s: %s a core", what, amount(e.Above))
	case e.L1Size == 0:
		wormhole, blackhole := l1.ArchSpec(l1.Wormhole).L1Size, l1.ArchSpec(l1.Blackhole).L1Size
		cols, rows := extent(m.Cores)
		most, high := widest(l1.Wormhole)
		switch {
		case max(m.Limit, m.End) > blackhole:
		case cols > most || rows > high:
			e.note("above", "%s: %s a core if it is a Blackhole", what, amount(blackhole-m.Limit))
		default:
			e.note("above", "%s: %s bytes a core on Wormhole, %s on Blackhole", what, exact(wormhole-m.Limit), exact(blackhole-m.Limit))
		}
	}
}
