package clash

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// A Whole names what a percentage is of.
type Whole string

// What percentages are of.
const (
	OfRegion Whole = "region"     // the bytes from the base to the end of the region
	OfEnd    Whole = "region end" // the address at which the region ends, the base not being known
	OfSize   Whole = "size"       // the size of the buffer
)

// A Note is one line of an explanation.
type Note struct {
	Label string `json:"label"` // a label of words.go, "retold", "free" or "between"
	Text  string `json:"text"`
}

// Explain interprets m. A given spec with an L1 size completes the message, unless the two
// contradict each other. A given spec without an L1 size gives only the base. With the zero
// Spec the architecture is inferred. words.go has the words.
func Explain(m Message, given l1.Spec) MessageRow { return explain(m, Device{Spec: given}) }

// explain is Explain with what is known of the run.
func explain(m Message, on Device) MessageRow {
	r, c, given := newRow(m), chip{}, on.Spec
	r.align, r.on = cmp.Or(given.CBAlign, on.log.spec.CBAlign), on
	exceeds := r.Over > 0
	block := string(m.Kind)
	switch {
	case m.hasRegion():
		if block = "region"; exceeds {
			c = chipOf(m, given, on.log)
			r.reckon(c)
		}
	case m.Kind == BackingBuffer && exceeds:
		r.PercentOf, r.OverPercent = OfSize, percent(r.Over, m.Numbers["size"])
	}
	switch {
	case m.lacks(needed()[m.Kind]...):
		block = "part"
	case m.denied(exceeds):
		block, r.Damaged = "denied", true
	}
	if r.tell(r.facts(c), block); r.Summary == "" && block != "" {
		r.Summary = "a message of a kind that is not known: " + block
	}
	if len(m.Missing) > 0 {
		r.Notes = append(r.Notes, Note{"retold", "shortened, or told again by somebody: the text leaves out " + m.missing()})
	}
	return r
}

// hasRegion reports whether the message is about the region of the buffers of a program.
func (m Message) hasRegion() bool { return m.Kind == Grow || m.Kind == Clash || m.Kind == ServiceClash }

// needed returns the fields without which a kind cannot be explained.
func needed() map[Kind][]string {
	region := []string{"end", "limit"}
	return map[Kind][]string{
		Grow: region, Clash: region, ServiceClash: region,
		Grid: {"cols", "rows", "cores"}, Append: {"address", "start", "stop"}, IndexReuse: {"index"},
		BackingBuffer: {"size", "tensor"}, PageSize: {"size", "page"}, AddressLimit: {"limit", "address"},
		Slots: {"index", "limit"}, Compiler: {"size", "limit"},
	}
}

// denied reports whether the numbers of the message deny its words. exceeds: they show an excess.
func (m Message) denied(exceeds bool) bool {
	n := m.Numbers
	switch m.Kind {
	case Grow, Clash, ServiceClash, Append, BackingBuffer, AddressLimit, Compiler:
		return !exceeds
	case Slots:
		return n["index"] < n["limit"]
	case Grid:
		return m.outside().IsEmpty()
	case PageSize:
		return n["page"] != 0 && n["size"]%n["page"] == 0
	case KernelConfig:
		return m.has("size", "limit") && n["size"] < n["limit"]
	case TraceRegion:
		return m.has("size", "limit") && !exceeds
	case OutOfMemory:
		room := m.has("placeable") || m.has("block") && !m.has("dependencies")
		return !exceeds && m.has("need") && room && !m.noBank()
	}
	return false
}

// reckon sets the numbers that follow from the message and the chip.
func (r *MessageRow) reckon(c chip) {
	end, limit := r.Message.Numbers["end"], r.Message.Numbers["limit"]
	r.Arch, r.L1Size, r.PercentOf, r.OverPercent = c.spec.Arch, c.spec.L1Size, OfEnd, percent(r.Over, end)
	if r.Arch != "" {
		r.ArchIs = map[bool]string{true: "likely", false: "given"}[c.likely]
	}
	if c.based {
		base, room := c.spec.CBBase, limit-c.spec.CBBase
		r.Base, r.Region, r.Room = &base, end-base, &room
		r.PercentOf, r.OverPercent = OfRegion, percent(r.Over, r.Region)
	}
	if r.Kind == Clash {
		r.Above = r.L1Size - min(r.L1Size, limit)
	}
}

// lowers reports whether a lower base of circular buffers may help: the kernel config ring lies below it, and begins
// where it does with the default base of the architecture.
func (r *MessageRow) lowers() bool {
	most, base := uint64(ring), r.Base
	if r.Kind == PersistentL1 && r.on.Spec.CBBase > 0 {
		base = &r.on.Spec.CBBase
	}
	if usual := l1.ArchSpec(cmp.Or(r.Arch, r.on.Spec.Arch, l1.Wormhole)).CBBase; base != nil && usual > 0 {
		most = *base - min(*base, usual-ring)
	}
	return r.Over > 0 && roundUp(r.Over) <= most && (r.Kind == Grow || r.Kind == Clash || r.Kind == PersistentL1)
}

// A span holds the bounds of a size: one value if the base and the L1 size are known.
type span struct{ low, high uint64 }

// regionSpan returns the bytes of the region, from the base to its end.
func (r *MessageRow) regionSpan() span {
	end := r.Message.Numbers["end"]
	low, high := outer(bases(l1.Wormhole, l1.Blackhole))
	switch {
	case r.Region != 0:
		return span{r.Region, r.Region}
	case high < r.Message.Numbers["limit"] && r.Arch != l1.Quasar: // whose base is not known
		return span{end - high, end - low}
	}
	return span{0, end}
}

// aboveSpan returns the bytes from the lowest L1 buffer to the top of L1.
func (r *MessageRow) aboveSpan() span {
	if r.Above != 0 {
		return span{r.Above, r.Above}
	}
	limit := r.Message.Numbers["limit"]
	low, high := l1.ArchSpec(l1.Wormhole).L1Size, l1.ArchSpec(l1.Blackhole).L1Size
	return span{low - min(low, limit), high - min(high, limit)}
}

// share says how much of the region is too much, in percent.
func (r *MessageRow) share() string {
	region := r.regionSpan()
	low, high := percentText(r.Over, region.high), percentText(r.Over, region.low)
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
		parts = append(parts, coreText(m.Cores, false)+", "+shown.Plural(uint64(m.NumCores()), "core"))
	}
	if m.has("program") {
		parts = append(parts, fmt.Sprintf("program %d", m.Numbers["program"]))
	}
	return strings.Join(parts, "; ")
}

// outside returns the cores that are not on the compute grid.
func (m Message) outside() l1.CoreSet {
	const most = 256
	grid := l1.Spec{Cols: int(min(m.Numbers["cols"], most)), Rows: int(min(m.Numbers["rows"], most))}.Grid()
	return m.Cores.Cores().Minus(grid.Cores())
}

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
		out = append(out, names[field])
	}
	return strings.Join(slices.DeleteFunc(out, func(name string) bool { return name == "" }), ", ")
}

// rangeText names the region of the message.
func (m Message) rangeText() string {
	if !m.has("start", "stop") {
		return "not in the text"
	}
	return rangeText(l1.Range{Start: m.Numbers["start"], End: m.Numbers["stop"]})
}

// short is the short name of the buffers.
func (m Message) short() string {
	if m.What == Dataflow {
		return "DFB"
	}
	return "CB"
}

// noBank reports whether there is no memory of this kind at all.
func (m Message) noBank() bool { return m.has("bank") && m.Numbers["bank"] == 0 }

// option is the parameter of open_device that is the size of the memory.
func (m Message) option() string {
	return map[string]string{"L1_SMALL": "l1_small_size", "TRACE": "trace_region_size"}[m.What]
}

// least returns the size that a memory needs: all that is allocated and the buffer. Where free
// bytes lie in pieces it is the present size and the buffer. 0: the message does not say it.
func (m Message) least() uint64 {
	n, need := m.Numbers, m.Numbers["need"]
	switch {
	case !m.has("need") || need > l1.MaxAddr-max(n["bank"], n["allocated"]):
		return 0
	case m.has("free") && need <= n["free"]:
		return n["bank"] + need
	case m.has("allocated"):
		return n["allocated"] + need
	case m.has("bank") && need <= n["bank"]:
		return 0
	}
	return need
}
