package clash

import (
	"fmt"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// An Explanation says what a Message means. Its numbers of bytes are exact; what
// was inferred is marked in words, and by Likely.
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
	Label string `json:"label"` // "cores", "numbers", "why", "chip", "fit", "above", "likely", "try", "unknown", "program", "buffers", "lowest"
	Text  string `json:"text"`
}

// Explain says what m means. A given spec with an L1 size is used for what the
// message leaves out, unless the two contradict each other; of one without, only
// the base is used. With the zero Spec the architecture is inferred.
func Explain(m Message, given l1.Spec) Explanation {
	e := Explanation{Message: m}
	switch m.Kind {
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
	default:
		e.Summary = "a message of a kind that is not known: " + string(m.Kind)
	}
	return e
}

func (e *Explanation) note(label, format string, args ...any) {
	e.Notes = append(e.Notes, Note{label, fmt.Sprintf(format, args...)})
}

// noteCores says which cores, and how many.
func (e *Explanation) noteCores() {
	m := e.Message
	text := fmt.Sprintf("%s, %s", coreText(m.Cores, false), shown.Plural(uint64(m.NumCores()), "core"))
	if m.HasProgram {
		text += fmt.Sprintf("; program %d", m.Program)
	}
	e.note("cores", "%s", text)
}

// noteDamaged says that the numbers deny the words.
func (e *Explanation) noteDamaged() {
	e.Damaged = true
	e.note("likely", "the text was cut or altered, for example by a line break inside the last number: tt-metal prints this message only when its numbers show it")
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
