package clash

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// An Explanation interprets a Message. Its numbers of bytes are exact. Inferred facts are marked
// in words, and by Likely.
type Explanation struct {
	Message Message
	Summary string // one line that answers
	Notes   []Note // the rest, in the order in which to read it

	Damaged bool // the numbers deny the words of the message: its text was cut or altered

	Over      uint64  // Message.Over
	Percent   float64 // Over in percent of PercentOf, rounded to one decimal
	PercentOf Whole   // "" if there is no percentage

	// What the numbers below were reckoned with. Fields are zero where neither the
	// caller nor the message says.
	Arch   l1.Arch
	Likely bool   // inferred from the message
	L1Size uint64 // of a core
	Base   uint64 // where circular buffers start

	Region uint64 // from Base to the end of the region; 0 = not known, as are Room and PercentOf then
	Room   uint64 // from Base to the limit
	Above  uint64 // from the lowest allocation to the top of L1: L1 buffers, holes and L1_SMALL; 0 = not known

	chip chip // what the numbers above were reckoned with
}

// A Whole names the bytes that a percentage is of.
type Whole string

// What percentages are of.
const (
	OfRegion Whole = "region"     // the bytes from the base to the end of the region
	OfEnd    Whole = "region end" // the address at which the region ends, the base not being known
	OfSize   Whole = "size"       // the size of the buffer
)

// A Note is one line of an Explanation.
type Note struct {
	Label string `json:"label"` // a label of words.go, "retold", "free" or "between"
	Text  string `json:"text"`
}

// Explain interprets m. A given spec with an L1 size completes the message, unless the two
// contradict each other. A given spec without an L1 size gives only the base. With the zero
// Spec the architecture is inferred. words.go has the words.
func Explain(m Message, given l1.Spec) Explanation {
	e := Explanation{Message: m}
	block := string(m.Kind)
	over, ok := m.Over()
	e.Over = over
	switch m.Kind {
	case Grow, Clash, ServiceClash:
		if block = "region"; ok {
			e.reckon(chipOf(m, given))
		}
	case BackingBuffer:
		if ok {
			e.PercentOf, e.Percent = OfSize, percent(over, m.Size)
		}
	}
	switch {
	case m.isPart():
		block = "part"
	case m.denied(ok):
		block, e.Damaged = "denied", true
	}
	if e.tell(e.facts(), block); e.Summary == "" && block != "" {
		e.Summary = "a message of a kind that is not known: " + block
	}
	if len(m.Missing) > 0 {
		e.note("retold", "shortened, or told again by somebody: the text leaves out %s", m.missing())
	}
	return e
}

// isPart reports whether the text leaves out a number without which its kind cannot be explained.
func (m Message) isPart() bool {
	switch m.Kind {
	case Grow, Clash, ServiceClash:
		return m.lacks("end", "limit")
	case Grid:
		return m.lacks("cols", "rows", "cores")
	case Append:
		return m.lacks("address", "start", "stop")
	case IndexReuse:
		return m.lacks("index")
	case BackingBuffer, PageSize:
		return m.lacks("size", "tensor", "page")
	}
	return false
}

// denied reports whether the numbers of the message deny its words. exceeds: they show an excess.
func (m Message) denied(exceeds bool) bool {
	s := m.Shortage
	switch m.Kind {
	case Grow, Clash, ServiceClash, Append, BackingBuffer:
		return !exceeds
	case Grid:
		return m.outside().IsEmpty()
	case PageSize:
		return m.Page != 0 && m.Size%m.Page == 0
	case KernelConfig:
		return !m.lacks("size", "limit") && m.Size < m.Limit
	case TraceRegion:
		return !m.lacks("size", "limit") && m.Size <= m.Limit
	case OutOfMemory:
		return s.denied() && !(s.HasBank && s.Bank == 0)
	}
	return false
}

// reckon sets the numbers that follow from the message and the chip.
func (e *Explanation) reckon(c chip) {
	m := e.Message
	e.chip, e.PercentOf = c, OfEnd
	e.Arch, e.Likely, e.L1Size = c.spec.Arch, c.likely, c.spec.L1Size
	whole := m.End
	if c.based {
		e.Base = c.spec.CBBase
		e.Region, e.Room, e.PercentOf = m.End-e.Base, m.Limit-e.Base, OfRegion
		whole = e.Region
	}
	if m.Kind == Clash && e.L1Size > m.Limit {
		e.Above = e.L1Size - m.Limit
	}
	e.Percent = percent(e.Over, whole)
}

// lowers reports whether a lower base of circular buffers may help.
func (e *Explanation) lowers() bool {
	kind := e.Message.Kind
	return e.Over > 0 && roundUp(e.Over) <= ring && (kind == Grow || kind == Clash || kind == PersistentL1)
}

func (e *Explanation) note(label, format string, args ...any) {
	e.Notes = append(e.Notes, Note{label, fmt.Sprintf(format, args...)})
}

// A span holds the bounds of a size: one value if the base and the L1 size are known.
type span struct{ low, high uint64 }

// regionSpan returns the bytes of the region, from the base to its end.
func (e *Explanation) regionSpan() span {
	if e.Region != 0 {
		return span{e.Region, e.Region}
	}
	if low, high := outer(bases(l1.Wormhole, l1.Blackhole)); high < e.Message.Limit {
		return span{e.Message.End - high, e.Message.End - low}
	}
	return span{0, e.Message.End}
}

// aboveSpan returns the bytes from the lowest L1 buffer to the top of L1.
func (e *Explanation) aboveSpan() span {
	if e.Above != 0 {
		return span{e.Above, e.Above}
	}
	low, high := l1.ArchSpec(l1.Wormhole).L1Size, l1.ArchSpec(l1.Blackhole).L1Size
	return span{low - min(low, e.Message.Limit), high - min(high, e.Message.Limit)}
}

// share says how much of the region is too much, in percent.
func (e *Explanation) share() string {
	region := e.regionSpan()
	low, high := percentText(e.Over, region.high), percentText(e.Over, region.low)
	switch {
	case low == high:
		return low
	case region.low == 0:
		return "more than " + low
	}
	return strings.TrimSuffix(low, "%") + " to " + high
}

// where names the cores, and how many, and the program, as far as the text has them.
func (m Message) where() string {
	var parts []string
	if m.Cores.Len() > 0 {
		parts = append(parts, fmt.Sprintf("%s, %s", coreText(m.Cores, false), shown.Plural(uint64(m.NumCores()), "core")))
	}
	if m.HasProgram {
		parts = append(parts, fmt.Sprintf("program %d", m.Program))
	}
	return strings.Join(parts, "; ")
}

// outside returns the cores that are not on the compute grid.
func (m Message) outside() l1.CoreSet {
	var inside l1.CoreSet
	if m.Cols > 0 && m.Rows > 0 {
		inside = l1.Rect(0, 0, coordinate(m.Cols), coordinate(m.Rows)).Cores()
	}
	return m.Cores.Cores().Minus(inside)
}

// coordinate returns the last coordinate of a side of n cores.
func coordinate(n int) uint8 { return uint8(min(n, 256) - 1) }

// missing names in words the fields that the text leaves out.
func (m Message) missing() string {
	names := map[string]string{
		"program": "the program", "cores": "the cores", "device": "the device", "type": "the type of the cores",
		"end": "where the region ends", "stop": "where the region ends", "start": "where the region starts",
		"limit": "the limit", "size": "the size", "page": "the page size", "index": "the index", "address": "the address",
		"buffer": "the kind of memory", "tensor": "the size of the tensor", "banks": "the banks",
		"need": "the bytes of each bank", "bank": "the size of a bank", "allocated": "what is allocated",
		"free": "what is free", "block": "the largest free block", "placeable": "what others leave",
	}
	var out []string
	for _, field := range m.Missing {
		if name := names[field]; name != "" {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

// rangeOf names the region of the message.
func (m Message) rangeOf() string {
	if m.lacks("start", "stop") {
		return "not in the text"
	}
	return rangeText(m.Region)
}

// short is the short name of the buffers.
func (m Message) short() string {
	if m.What == Dataflow {
		return "DFB"
	}
	return "CB"
}
