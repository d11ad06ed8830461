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
	PercentOf Basis   // "" if there is no percentage

	// What the numbers below were reckoned with. Fields are zero where neither the
	// caller nor the message says.
	Arch   l1.Arch
	Likely bool   // inferred from the message
	L1Size uint64 // of a core
	Base   uint64 // where circular buffers start

	Region uint64 // from Base to the end of the region; 0 = not known, as are Room and PercentOf then
	Room   uint64 // from Base to the limit
	Above  uint64 // from the lowest allocation to the top of L1: L1 buffers, holes and L1_SMALL; 0 = not known

	lower bool // a lower base of circular buffers may help
}

// A Basis names what a percentage is of.
type Basis string

// What percentages are of.
const (
	OfRegion Basis = "region"     // the bytes from the base to the end of the region
	OfEnd    Basis = "region end" // the address at which the region ends, the base not being known
	OfSize   Basis = "size"       // the size of the buffer
)

// A Note is one line of an Explanation.
type Note struct {
	Label string `json:"label"` // "cores", "numbers", "why", "chip", "fit", "above", "likely", "try", "open", "change", "unknown", "retold", "program", "buffers", "lowest", ...
	Text  string `json:"text"`
}

// Explain interprets m. A given spec with an L1 size completes the message, unless the two
// contradict each other. A given spec without an L1 size gives only the base. With the zero
// Spec the architecture is inferred.
func Explain(m Message, given l1.Spec) Explanation {
	e := Explanation{Message: m}
	switch {
	case m.lacks("end", "limit", "tensor", "page", "rows", "cols", "index", "address", "start", "stop"), m.lacks("cores") && m.Kind == Grid,
		m.lacks("size") && (m.Kind == BackingBuffer || m.Kind == PageSize):
		m = Message{Kind: e.partOf(m.Kind), Missing: m.Missing}
	}
	switch m.Kind {
	case "":
	case Grow, Clash, ServiceClash:
		e.region(given)
	case Grid:
		e.grid()
	case Append:
		e.appending()
	case IndexReuse:
		e.index()
	case BackingBuffer:
		e.backing()
	case PageSize:
		e.pageSize()
	case OutOfMemory:
		e.shortage()
	case KernelConfig:
		e.kernelConfig()
	case TraceRegion:
		e.traceRegion()
	case UnsafeAllocation:
		e.unsafe()
	case PersistentL1, PersistentSealed:
		e.persistent()
	default:
		e.Summary = "a message of a kind that is not known: " + string(m.Kind)
	}
	if len(m.Missing) > 0 {
		e.note("retold", "shortened, or told again by somebody: the text leaves out %s", m.missing())
	}
	return e
}

func (e *Explanation) note(label, format string, args ...any) {
	e.Notes = append(e.Notes, Note{label, fmt.Sprintf(format, args...)})
}

// partOf explains the meaning of a message that lacks the numbers for more. It returns kind where
// the explanation of the kind itself can do without them, else "".
func (e *Explanation) partOf(kind Kind) Kind {
	happened := map[Kind]string{
		Grow: "too large for L1: the " + e.Message.long() + " end beyond L1", Clash: "clash with L1 buffers: the " + e.Message.long() + " end above the lowest L1 buffer",
		ServiceClash: "clash with a service core: CBs end above L1 that a service has taken", Grid: "cores outside the grid: a CB is on cores that are not on the compute grid",
		Append: "placement conflict: a CB was to start inside what is taken already", IndexReuse: "index reuse: two CBs of one program use one buffer index on a core",
		BackingBuffer: "larger than its tensor: a CB is larger than the tensor that it lies in", PageSize: "not whole pages: the size of a CB is no multiple of its page size",
	}[kind]
	if happened == "" {
		return kind
	}
	m := e.Message
	e.Summary = happened
	e.noteCores()
	for _, c := range []struct {
		field, format string
		n             uint64
	}{
		{"end", "the region ends at %s", m.End}, {"limit", m.limitIs() + " %s", m.Limit}, {"size", "the CB has %s bytes", m.Size},
		{"tensor", "the tensor has %s bytes", m.Bank}, {"page", "a page has %s bytes", m.Page}, {"address", "the CB was to start at %s", m.Address},
	} {
		if c.n != 0 && !m.lacks(c.field) {
			e.note("numbers", c.format, exact(c.n))
		}
	}
	if kind == Grow || kind == Clash || kind == ServiceClash {
		e.note("why", "%s", m.why())
	}
	if kind == Grow || kind == Clash {
		e.note("open", "it depends on how much is too much, and that is not in the text")
	} else {
		e.note("open", noOption)
	}
	e.note("try", "paste the whole message, as it stands in the log")
	return ""
}

// noteCores says which cores, and how many, and which program, as far as the text has them.
func (e *Explanation) noteCores() {
	m := e.Message
	var parts []string
	if m.Cores.Len() > 0 {
		parts = append(parts, fmt.Sprintf("%s, %s", coreText(m.Cores, false), shown.Plural(uint64(m.NumCores()), "core")))
	}
	if m.HasProgram {
		parts = append(parts, fmt.Sprintf("program %d", m.Program))
	}
	if len(parts) > 0 {
		e.note("cores", "%s", strings.Join(parts, "; "))
	}
}

// missing names in words what the text leaves out.
func (m Message) missing() string {
	names := map[string]string{
		"program": "the program", "cores": "the cores", "end": "where the region ends", "stop": "where the region ends", "page": "the page size", "index": "the index",
		"limit": "the limit", "size": "the size", "tensor": "the size of the tensor", "banks": "the banks", "need": "the bytes of each bank", "bank": "the size of a bank",
		"allocated": "what is allocated", "free": "what is free", "block": "the largest free block", "placeable": "what others leave", "device": "the device",
		"type": "the type of the cores", "address": "the address", "start": "where the region starts", "buffer": "the kind of memory",
	}
	var out []string
	for _, field := range m.Missing {
		if name := names[field]; name != "" {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

// noteDamaged says that the numbers deny the words.
func (e *Explanation) noteDamaged() {
	e.Damaged = true
	e.note("likely", "the text was cut or altered, for example by a line break inside the last number: tt-metal "+
		"prints this message only when its numbers show it")
	e.note("try", "paste the message again from the original log")
}

// short and long names of the buffers.
func (m Message) short() string {
	if m.What == Dataflow {
		return "DFB"
	}
	return "CB"
}

func (m Message) long() string {
	if m.What == Dataflow {
		return "dataflow buffers"
	}
	return "circular buffers"
}
