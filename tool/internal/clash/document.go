package clash

import (
	"encoding/json"

	"github.com/cbl1/cbl1/internal/asciijson"
	"github.com/cbl1/cbl1/l1"
)

// Schema names the form of a Document.
const Schema = "cbl1.explain/1"

// A Document is the JSON form of messages and their explanations. All sizes and addresses
// are bytes. Fields and figures that a message does not give are absent; 0 never stands
// for "not known".
type Document struct {
	Schema   string       `json:"schema"`
	Messages []MessageRow `json:"messages"`
	More     int64        `json:"more"` // occurrences of messages beyond the first 1000 different ones
}

// A MessageRow is one message of a Document, with its explanation. Its numbers of bytes are exact.
type MessageRow struct {
	Message Message `json:"-"`
	align   uint64  // of the base of circular buffers; 0 = the chip is not given
	on      Device  // of the run

	Kind  Kind   `json:"kind"`
	What  string `json:"what"` // "circular" or "dataflow"
	Line  int64  `json:"line"` // of the first occurrence, from 1
	Count int64  `json:"count"`
	Text  string `json:"text"` // the message on one line

	Program  *uint64 `json:"program,omitempty"`
	Cores    string  `json:"cores,omitempty"` // "{[0-0 - 7-7]}"
	NumCores int     `json:"num_cores,omitempty"`

	Limit       *uint64 `json:"limit,omitempty"`
	LimitIs     string  `json:"limit_is,omitempty"` // "l1-size", "lowest-l1-tensor", "lowest-service-allocation", "bank-size", ...
	End         *uint64 `json:"end,omitempty"`
	Over        uint64  `json:"over,omitempty"` // absent if the numbers of the message show no excess
	OverPercent float64 `json:"over_percent,omitempty"`
	PercentOf   Whole   `json:"over_percent_of,omitempty"`

	Needed      *uint64 `json:"needed,omitempty"` // all that has to fit below Limit: of a program, of all traces, of a function
	Index       *uint64 `json:"index,omitempty"`
	Size        *uint64 `json:"size,omitempty"`
	PageSize    *uint64 `json:"page_size,omitempty"`
	Address     *uint64 `json:"address,omitempty"`
	RegionStart *uint64 `json:"region_start,omitempty"`
	RegionEnd   *uint64 `json:"region_end,omitempty"`
	GridCols    *uint64 `json:"grid_cols,omitempty"`
	GridRows    *uint64 `json:"grid_rows,omitempty"`
	Align       *uint64 `json:"alignment,omitempty"`
	Warning     bool    `json:"warning,omitempty"`
	// Missing names the fields that the text leaves out: it was shortened, or retold.
	Missing []string `json:"missing,omitempty"`

	Arch    l1.Arch `json:"arch,omitempty"`
	ArchIs  string  `json:"arch_is,omitempty"`     // "given" or "likely": inferred from the message
	L1Size  uint64  `json:"l1_size,omitempty"`     // of a core
	Base    *uint64 `json:"base,omitempty"`        // where buffers start: given, or of the latest release seen
	Region  uint64  `json:"region_size,omitempty"` // base to end
	Room    *uint64 `json:"room,omitempty"`        // base to limit
	Above   uint64  `json:"above,omitempty"`       // lowest L1 buffer to the top of L1: L1 buffers, holes, L1_SMALL
	Summary string  `json:"summary"`
	Notes   []Note  `json:"notes"`
	Damaged bool    `json:"damaged,omitempty"` // the numbers deny the words; the text was probably cut

	Shortage *ShortageRow `json:"shortage,omitempty"` // what the allocator says
	Space    *Space       `json:"space,omitempty"`    // how the free bytes of L1 lay in a capture
	Margin   *Margin      `json:"margin,omitempty"`   // how far sizes of open_device can change in a capture
	Match    *Match       `json:"match,omitempty"`    // what a capture says, if there was one to compare with
}

// A CBRow is a buffer of a program.
type CBRow struct {
	Number int    `json:"cb"`    // its place in the program, from 0
	Cores  string `json:"cores"` // "{[0-0 - 7-7]}"
	Start  uint64 `json:"start"`
	End    uint64 `json:"end"`
	Size   uint64 `json:"size"` // on each core
}

// A ShortageRow is the allocator's message about a buffer that found no space, in bytes of each
// bank. Figures that an older release does not print are absent.
type ShortageRow struct {
	Buffer       string `json:"buffer"`          // "DRAM", "L1", "L1_SMALL" or "TRACE"
	Banks        uint64 `json:"banks,omitempty"` // absent if the text leaves it out
	Dependencies bool   `json:"dependencies,omitempty"`

	Need      *uint64 `json:"needed,omitempty"`
	Bank      *uint64 `json:"bank_size,omitempty"`
	Allocated *uint64 `json:"allocated,omitempty"`
	Free      *uint64 `json:"free,omitempty"`
	Block     *uint64 `json:"largest_free_block,omitempty"`
	Placeable *uint64 `json:"placeable,omitempty"` // of Free, without the ranges of other allocators
	Window    *uint64 `json:"largest_placeable_block,omitempty"`
}

// MarshalJSON returns the document as JSON in ASCII: a name from a file cannot turn the direction
// of the text around it.
func (d Document) MarshalJSON() ([]byte, error) {
	type plain Document
	raw, err := json.Marshal(plain(d))
	return asciijson.Escape(raw), err
}

// NewDocument explains all messages. For given see Explain.
func NewDocument(found Messages, given l1.Spec) Document {
	doc := Document{Schema: Schema, Messages: []MessageRow{}, More: found.More}
	devices := found.devices(given)
	for i, m := range found.Messages {
		row := explain(m, devices[i])
		if i < len(found.Matches) {
			row.Add(found.Matches[i])
		}
		doc.Messages = append(doc.Messages, row)
	}
	return doc
}

// newRow returns m as a row, without its explanation.
func newRow(m Message) MessageRow {
	number := func(name string) *uint64 {
		n, ok := m.number(name)
		if !ok {
			return nil
		}
		return &n
	}
	r := MessageRow{
		Message: m, Kind: m.Kind, What: m.What, Line: m.Line, Count: m.Count, Text: m.Text,
		Warning: m.Warning, Missing: m.Missing,
		Program: number("program"), End: number("end"), Index: number("index"), Size: number("size"),
		PageSize: number("page"), Address: number("address"), RegionStart: number("start"), RegionEnd: number("stop"),
	}
	if m.Cores.Len() > 0 {
		r.Cores, r.NumCores = m.Cores.String(), m.NumCores()
	}
	bound, exceeded := m.bound()
	if bound.is != "" && (exceeded || m.Kind != OutOfMemory) {
		r.Limit, r.LimitIs = number(bound.atMost), bound.is
	}
	r.Over, _ = m.Over()
	switch {
	case m.Kind == Grid && m.has("cols", "rows"):
		r.GridCols, r.GridRows = number("cols"), number("rows")
	case m.Kind == KernelConfig, m.Kind == TraceRegion, m.Kind == Compiler:
		r.Needed = r.Size
	case m.Kind == AddressLimit:
		r.Limit, r.LimitIs = number("limit"), "lowest-address"
	case m.Whole:
		r.LimitIs = "buffer-size"
	case m.Kind == PersistentL1:
		r.Align, r.PageSize = r.PageSize, nil
	case m.Kind == OutOfMemory:
		r.Shortage = &ShortageRow{
			Buffer: m.What, Banks: m.Numbers["banks"], Dependencies: m.has("dependencies"),
			Need: number("need"), Bank: number("bank"),
			Allocated: number("allocated"), Free: number("free"), Block: number("block"),
			Placeable: number("placeable"), Window: number("window"),
		}
	}
	return r
}
