package clash

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// A Bank holds the contents of a device's L1 at one moment of a capture, as its allocator sees it.
type Bank struct {
	Run    Run      // Capture, Log and Device of it and, of a Moment, Event, T and Op; the rest is not read
	Moment bool     // it was like this after the event of Run, else at the end
	Usable l1.Range // where L1 buffers may lie
	L1Size uint64   // where L1 ends; 0 = not known
	// SmallAssumed: the capture does not say where L1_SMALL begins, and Usable ends with L1. A
	// message that names the size of a bank does.
	SmallAssumed bool
	Laid         []Laid
}

// A Laid is a buffer on some cores.
type Laid struct {
	What  string // "L1 buffer"
	Cores l1.CoreSet
	Range l1.Range
	Event uint64 // that allocated it
	T     string // of that event of a log
	Op    string
}

// A Space says how the free bytes of L1 lay at one moment of a capture. A block is free on all cores:
// a buffer has one address on all banks.
type Space struct {
	Bank    Bank
	Free    uint64   // bytes
	Largest l1.Range // block

	// Blocks are two neighbours that would be the largest block together, and Between are the
	// buffers that keep them apart, by address. There are none if all that is free is one block.
	Blocks  [2]l1.Range
	Between []Laid

	Agrees bool // the message says the same of what is free and of the largest block
	Other  bool // the message is about a bank of another size

	unsaid string // why no moment can be compared with the message; "" if one can
}

// AddBank compares what lay in L1 with the messages of the allocator. Of several banks the first
// that agrees counts, else the first.
func (c *Comparison) AddBank(b Bank) {
	for i, m := range c.messages {
		if m.Kind == OutOfMemory && m.Shortage.Buffer == "L1" {
			c.matches[i].takeSpace(newSpace(b, m.Shortage))
		}
	}
}

func (m *Match) takeSpace(s *Space) {
	if s != nil && (m.Space == nil || s.Agrees && !m.Space.Agrees) {
		m.Space = s
	}
}

func newSpace(b Bank, says Shortage) *Space {
	if small, ok := l1.SmallBytes(b.L1Size, b.Usable.Start, says.Bank); ok && b.SmallAssumed && says.HasBank {
		b.Usable.End = b.L1Size - small
	}
	out := &Space{Bank: b, Other: says.HasBank && says.Bank != b.Usable.Len()}
	var taken []l1.Range
	for _, y := range b.Laid {
		taken = append(taken, y.Range.Intersect(b.Usable))
	}
	at := b.Usable.Start
	var last l1.Range
	for _, r := range append(l1.Merge(taken), l1.Range{Start: b.Usable.End, End: b.Usable.End}) {
		block := l1.Range{Start: at, End: r.Start}
		if at = r.End; block.IsEmpty() {
			continue
		}
		out.Free += block.Len()
		if block.Len() > out.Largest.Len() {
			out.Largest = block
		}
		if sum := last.Len() + block.Len(); !last.IsEmpty() && sum > out.Blocks[0].Len()+out.Blocks[1].Len() {
			out.Blocks = [2]l1.Range{last, block}
		}
		last = block
	}
	if between := (l1.Range{Start: out.Blocks[0].End, End: out.Blocks[1].Start}); !between.IsEmpty() {
		for _, y := range b.Laid {
			if y.Range.Overlaps(between) {
				out.Between = append(out.Between, y)
			}
		}
		slices.SortStableFunc(out.Between, func(a, b Laid) int { return a.Range.Compare(b.Range) })
	}
	out.Agrees = says.HasFree && says.HasBlock && out.Free == says.Free && out.Largest.Len() == says.Block
	switch {
	case !says.HasFree || !says.HasBlock:
		out.unsaid = "the message does not say how much was free and how large a block"
	case says.Dependencies:
		out.unsaid = "the message counts the buffers of one allocator of several"
	}
	return out
}

// addSpace adds what a capture says of the free bytes.
func (e *Explanation) addSpace(s *Space) {
	run := s.Bank.Run
	where := "at the end of " + captureName(run)
	if s.Bank.Moment {
		where = fmt.Sprintf("after %s of %s", run.place(run.Event, run.T), captureName(run))
	}
	if run.Device != "" {
		where += ", " + run.Device
	}
	if s.Bank.Moment && run.Op != "" {
		where += " (" + clip(run.Op) + ")"
	}
	text := fmt.Sprintf("%s: %s free of each bank, the largest block %s", where, shown.Plural(s.Free, "byte"), exact(s.Largest.Len()))
	if !s.Largest.IsEmpty() {
		text += " at " + rangeText(s.Largest)
	}
	switch {
	case s.Agrees:
		text += ", as the message says"
	case s.Other:
		text += fmt.Sprintf(", of %s; the bank of the message has another size: another chip, base or l1_small_size", exact(s.Bank.Usable.Len()))
	case s.unsaid != "":
		text += "; " + s.unsaid + ": no moment can be compared with it"
	default:
		text += "; no moment that was looked at is like the message: it is about another run"
	}
	e.note("free", "%s", text)
	if len(s.Between) == 0 {
		return
	}
	const most = 3
	var parts []string
	for i, y := range s.Between {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d more", len(s.Between)-most))
			break
		}
		part := fmt.Sprintf("%s of %s at %s on %s, since %s", y.What, shown.Plural(y.Range.Len(), "byte"), exact(y.Range.Start),
			shown.Plural(uint64(y.Cores.Len()), "core"), run.place(y.Event, y.T))
		if y.Op != "" {
			part += " by " + clip(y.Op)
		}
		parts = append(parts, part)
	}
	e.note("between", "%s and %s: %s", rangeText(s.Blocks[0]), rangeText(s.Blocks[1]), strings.Join(parts, "; "))
}

// captureName names the capture of a run.
func captureName(r Run) string {
	if r.Capture == "" {
		return "the " + r.source()
	}
	return clip(path.Base(r.Capture))
}

// A SpaceRow says how the free bytes of L1 lay at one moment of a capture.
type SpaceRow struct {
	Capture string       `json:"capture"`
	Device  string       `json:"device,omitempty"`
	Event   *uint64      `json:"counter,omitempty"` // after which it was like this; absent: at the end
	T       json.Number  `json:"t,omitempty"`       // of that event of a log
	Op      string       `json:"op,omitempty"`      // functions that ran then, outermost first
	Free    uint64       `json:"free"`
	Block   uint64       `json:"largest_free_block"`
	Start   uint64       `json:"largest_start"`
	Agrees  bool         `json:"agrees"` // with the message
	Blocks  [][2]uint64  `json:"blocks"` // two neighbours that would be the largest block together
	Between []BetweenRow `json:"between"`
}

// A BetweenRow is a buffer between two free blocks.
type BetweenRow struct {
	What  string      `json:"what"`
	Cores string      `json:"cores"`
	Start uint64      `json:"start"`
	End   uint64      `json:"end"`
	Event uint64      `json:"counter"` // that allocated it
	T     json.Number `json:"t,omitempty"`
	Op    string      `json:"op"`
}

func (s *Space) row() *SpaceRow {
	if s == nil {
		return nil
	}
	r := &SpaceRow{Capture: s.Bank.Run.Capture, Device: s.Bank.Run.Device, Free: s.Free, Block: s.Largest.Len(), Start: s.Largest.Start, Agrees: s.Agrees,
		Blocks: [][2]uint64{}, Between: []BetweenRow{}}
	if s.Bank.Moment {
		r.Event, r.T, r.Op = &s.Bank.Run.Event, json.Number(s.Bank.Run.T), s.Bank.Run.Op
	}
	for _, b := range s.Blocks {
		if len(s.Between) > 0 {
			r.Blocks = append(r.Blocks, [2]uint64{b.Start, b.End})
		}
	}
	for _, y := range s.Between {
		r.Between = append(r.Between, BetweenRow{y.What, y.Cores.String(), y.Range.Start, y.Range.End, y.Event, json.Number(y.T), y.Op})
	}
	return r
}
