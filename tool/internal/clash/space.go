package clash

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// A Bank holds the contents of a device's L1 at one moment of a capture, as its allocator sees it.
type Bank struct {
	Run    ProgramRun // Capture, Log and Device of it and, of a Moment, Event, T and Op; the rest is not read
	Moment bool       // it was like this after the event of Run, else at the end
	Usable l1.Range   // where L1 buffers may lie
	L1Size uint64     // where L1 ends; 0 = not known
	Align  uint64     // of L1 buffers, which take whole steps of it; 0 = 1
	// SmallAssumed: the capture does not say where L1_SMALL begins, and Usable ends with L1. A
	// message that names the size of a bank does.
	SmallAssumed bool
	Laid         []PlacedBuffer
}

// A PlacedBuffer is a buffer on some cores.
type PlacedBuffer struct {
	What  string      `json:"what"` // "L1 buffer"
	Cores l1.CoreSet  `json:"cores"`
	Start uint64      `json:"start"`
	End   uint64      `json:"end"`
	Event uint64      `json:"counter"`     // that allocated it
	T     json.Number `json:"t,omitempty"` // of that event of a log
	Op    string      `json:"op"`
}

func (y PlacedBuffer) at() l1.Range { return l1.Range{Start: y.Start, End: y.End} }

// A Space says how the free bytes of L1 lay at one moment of a capture. A block is free on all cores:
// a buffer has one address on all banks.
type Space struct {
	Capture string      `json:"capture"`
	Device  string      `json:"device,omitempty"`
	Event   *uint64     `json:"counter,omitempty"` // after which it was like this; nil: at the end
	T       json.Number `json:"t,omitempty"`       // of that event of a log
	Op      string      `json:"op,omitempty"`      // functions that ran then, outermost first
	Free    uint64      `json:"free"`              // bytes
	Largest uint64      `json:"largest_free_block"`
	Start   uint64      `json:"largest_start"`
	Agrees  bool        `json:"agrees"` // the message says the same of the free bytes and the largest block

	// Blocks are two neighbours that would be the largest block together, start and end of each.
	// Between are the buffers that keep them apart, by address. Both are empty if all free bytes
	// are one block.
	Blocks  [][2]uint64    `json:"blocks"`
	Between []PlacedBuffer `json:"between"`

	Other bool `json:"-"` // the message is about a bank of another size
	bank  Bank
}

// AddBank compares what lay in L1 with the messages of the allocator. Of several banks the first
// that agrees counts, else the first.
func (c *Comparison) AddBank(b Bank) {
	for i, m := range c.messages {
		if m.Kind == OutOfMemory && m.What == "L1" {
			match, s := &c.matches[i], newSpace(b, m)
			if match.Space == nil || s.Agrees && !match.Space.Agrees {
				match.Space = s
			}
		}
	}
}

func newSpace(b Bank, says Message) *Space {
	if small, ok := l1.SmallBytes(b.L1Size, b.Usable.Start, says.Numbers["bank"]); ok && b.SmallAssumed && says.has("bank") {
		b.Usable.End = b.L1Size - small
	}
	out := &Space{
		Capture: b.Run.Capture, Device: b.Run.Device, Other: says.has("bank") && says.Numbers["bank"] != b.Usable.Len(), bank: b,
		Blocks: [][2]uint64{}, Between: []PlacedBuffer{},
	}
	if b.Moment {
		out.Event, out.T, out.Op = &b.Run.Event, b.Run.T, b.Run.Op
	}
	var taken []l1.Range
	for _, y := range b.Laid {
		taken = append(taken, y.at())
	}
	var low, high, last l1.Range // the neighbours, and the block before
	for _, block := range fit.FreeBlocks(b.Usable, b.Align, taken) {
		out.Free += block.Len()
		if block.Len() > out.Largest {
			out.Largest, out.Start = block.Len(), block.Start
		}
		if !last.IsEmpty() && last.Len()+block.Len() > low.Len()+high.Len() {
			low, high = last, block
		}
		last = block
	}
	for _, y := range b.Laid {
		if y.at().Overlaps(l1.Range{Start: low.End, End: high.Start}) {
			out.Between = append(out.Between, y)
		}
	}
	if len(out.Between) > 0 {
		out.Blocks = [][2]uint64{{low.Start, low.End}, {high.Start, high.End}}
	}
	slices.SortStableFunc(out.Between, func(a, b PlacedBuffer) int { return a.at().Compare(b.at()) })
	out.Agrees = says.has("free", "block") && out.Free == says.Numbers["free"] && out.Largest == says.Numbers["block"]
	return out
}

// addSpace adds what a capture says of the free bytes.
func (r *MessageRow) addSpace(s *Space) {
	run := s.bank.Run
	where := "at the end of " + captureName(run)
	if s.bank.Moment {
		where = fmt.Sprintf("after %s of %s", run.Place(run.Event, run.T), captureName(run))
	}
	if run.Device != "" {
		where += ", " + run.Device
	}
	if run.Op != "" {
		where += " (" + clip(run.Op) + ")"
	}
	free := shown.Plural(s.Free, "byte")
	text := fmt.Sprintf("%s: %s free of each bank, the largest block %s", where, free, exact(s.Largest))
	if s.Largest > 0 {
		text += " at " + rangeText(l1.Range{Start: s.Start, End: s.Start + s.Largest})
	}
	switch {
	case s.Agrees:
		text += ", as the message says"
	case s.Other:
		text += fmt.Sprintf(", of %s; the bank of the message has another size: another chip, base or l1_small_size",
			exact(s.bank.Usable.Len()))
	case !r.Message.has("free", "block"):
		text += "; the message does not say how much was free and how large a block: no moment can be compared with it"
	case r.Message.has("dependencies"):
		text += "; the message counts the buffers of one allocator of several: no moment can be compared with it"
	default:
		text += "; no moment that was looked at is like the message: it is about another run"
	}
	r.Notes = append(r.Notes, Note{"free", text})
	if len(s.Between) == 0 {
		return
	}
	var parts []string
	for _, y := range s.Between {
		part := fmt.Sprintf("%s of %s at %s on %s, since %s", y.What, shown.Plural(y.End-y.Start, "byte"), exact(y.Start),
			shown.Plural(uint64(y.Cores.Len()), "core"), run.Place(y.Event, y.T))
		if y.Op != "" {
			part += " by " + clip(y.Op)
		}
		parts = append(parts, part)
	}
	text = ""
	for _, b := range s.Blocks {
		text += " and " + rangeText(l1.Range{Start: b[0], End: b[1]})
	}
	r.Notes = append(r.Notes, Note{"between", strings.TrimPrefix(text, " and ") + ": " + firstOf(parts, 3, "more")})
}

// captureName names the capture of a run.
func captureName(r ProgramRun) string {
	if r.Capture == "" {
		return "the " + r.source()
	}
	return clipFile(r.Capture)
}
