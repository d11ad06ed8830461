package clash

import (
	"encoding/json"
	"slices"

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

// A MessageRow is one message of a Document.
type MessageRow struct {
	Kind  Kind   `json:"kind"`
	What  string `json:"what"` // "circular" or "dataflow"
	Line  int64  `json:"line"` // of the first occurrence, from 1
	Count int64  `json:"count"`
	Text  string `json:"text"` // the message on one line

	Program  *uint64 `json:"program,omitempty"`
	Cores    string  `json:"cores,omitempty"` // "{[0-0 - 7-7]}"
	NumCores *int    `json:"num_cores,omitempty"`

	Limit       *uint64 `json:"limit,omitempty"`
	LimitIs     string  `json:"limit_is,omitempty"` // "l1-size", "lowest-l1-tensor", "lowest-service-allocation", "bank-size", ...
	End         *uint64 `json:"end,omitempty"`
	Over        *uint64 `json:"over,omitempty"` // absent if the numbers of the message show no excess
	OverPercent float64 `json:"over_percent,omitempty"`
	PercentOf   Whole   `json:"over_percent_of,omitempty"`

	Index       *uint64 `json:"index,omitempty"`
	Size        *uint64 `json:"size,omitempty"`
	PageSize    *uint64 `json:"page_size,omitempty"`
	Address     *uint64 `json:"address,omitempty"`
	RegionStart *uint64 `json:"region_start,omitempty"`
	RegionEnd   *uint64 `json:"region_end,omitempty"`
	GridCols    *int    `json:"grid_cols,omitempty"`
	GridRows    *int    `json:"grid_rows,omitempty"`
	Align       *uint64 `json:"alignment,omitempty"`
	Warning     bool    `json:"warning,omitempty"`
	// Missing names what the text leaves out: somebody shortened it, or told it again.
	Missing []string `json:"missing,omitempty"`

	Arch    l1.Arch `json:"arch,omitempty"`
	ArchIs  string  `json:"arch_is,omitempty"`     // "given" or "likely": inferred from the message
	L1Size  *uint64 `json:"l1_size,omitempty"`     // of a core
	Base    *uint64 `json:"base,omitempty"`        // where buffers start: given, or of the latest release seen
	Region  *uint64 `json:"region_size,omitempty"` // base to end
	Room    *uint64 `json:"room,omitempty"`        // base to limit
	Above   *uint64 `json:"above,omitempty"`       // lowest L1 buffer to the top of L1: L1 buffers, holes, L1_SMALL
	Summary string  `json:"summary"`
	Notes   []Note  `json:"notes"`
	Damaged bool    `json:"damaged,omitempty"` // the numbers deny the words; the text was probably cut

	Shortage *ShortageRow `json:"shortage,omitempty"` // what the allocator says
	Space    *Space       `json:"space,omitempty"`    // how the free bytes of L1 lay in a capture
	Margin   *Margin      `json:"margin,omitempty"`   // how far sizes of open_device can change in a capture
	Match    *MatchRow    `json:"match,omitempty"`    // what a capture says, if there was one to compare with
}

// A MatchRow says which programs of a capture a message may be about. From capture on
// it is about one of them: the first, or where the lowest address differs, the first of
// those where it is nearest, or if level is "none", the one on these cores whose region
// ends nearest.
type MatchRow struct {
	Level Level    `json:"level"`         // "exact", "lowest", "size" or "none"
	Runs  int64    `json:"runs"`          // that agree at this level
	Ops   []string `json:"ops,omitempty"` // of these, each once, at most 4

	Capture     string      `json:"capture,omitempty"`
	Event       *uint64     `json:"counter,omitempty"` // counter of the first node of the program
	T           json.Number `json:"t,omitempty"`       // of that event of a log
	Op          string      `json:"op,omitempty"`      // functions that ran, outermost first
	Device      string      `json:"device,omitempty"`
	Inferred    bool        `json:"inferred,omitempty"`    // from the program cache: known by an earlier run
	OneOf       int         `json:"one_of,omitempty"`      // so many may have run, and this is one of them
	Synthesised bool        `json:"synthesised,omitempty"` // the capture has no addresses of these buffers
	Base        *uint64     `json:"base,omitempty"`
	End         *uint64     `json:"end,omitempty"` // of the region on these cores

	Log bool `json:"-"` // the capture is an event log: it has events, not nodes

	CBs     []CBRow        `json:"cbs,omitempty"`     // on these cores, the highest end first
	Tensors []LowestBuffer `json:"tensors,omitempty"` // in L1, that lay lowest
}

// Place names a node of the capture, or an event of the log.
func (m MatchRow) Place(event uint64) string { return ProgramRun{Log: m.Log}.place(event, "") }

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
func NewDocument(found Found, given l1.Spec) Document {
	doc := Document{Schema: Schema, Messages: []MessageRow{}, More: found.More}
	for i := range found.Messages {
		row := found.explain(i, given).row()
		if i < len(found.Matches) {
			match := found.Matches[i]
			row.Match, row.Space, row.Margin = match.row(found.Messages[i]), match.Space, match.Margin
		}
		doc.Messages = append(doc.Messages, row)
	}
	return doc
}

func (e Explanation) row() MessageRow {
	m := e.Message
	r := MessageRow{
		Kind: m.Kind, What: m.What, Line: m.Line, Count: m.Count, Text: m.Text,
		Warning: m.Warning, Missing: m.Missing, Summary: e.Summary, Notes: e.Notes,
	}
	if m.HasProgram {
		r.Program = &m.Program
	}
	if m.Cores.Len() > 0 {
		n := m.NumCores()
		r.Cores, r.NumCores = m.Cores.String(), &n
	}
	r.Limit, r.End, r.Size, r.PageSize = m.has("limit"), m.has("end"), m.has("size"), m.has("page")
	r.Address, r.RegionStart, r.RegionEnd, r.Index = m.has("address"), m.has("start"), m.has("stop"), m.has("index")
	r.LimitIs = map[Kind]string{
		Grow: "l1-size", Clash: "lowest-l1-tensor", ServiceClash: "lowest-service-allocation", BackingBuffer: "bank-size",
		KernelConfig: "kernel-config-ring", TraceRegion: "trace-region",
	}[m.Kind]
	switch {
	case m.Kind == Grid && !m.lacks("cols", "rows"):
		r.GridCols, r.GridRows = &m.Cols, &m.Rows
	case m.Kind == BackingBuffer:
		if r.Limit = m.has("tensor"); m.Whole {
			r.LimitIs = "buffer-size"
		}
	case m.Kind == PersistentL1:
		r.Align, r.PageSize = r.PageSize, nil
	case m.Kind == OutOfMemory:
		m.Shortage.fill(&r)
	}
	e.reckoned(&r)
	return r
}

// has returns a number of the message, or nil if the text leaves it out.
func (m Message) has(field string) *uint64 {
	if !slices.Contains(m.read, field) {
		return nil
	}
	return m.number(field)
}

// reckoned fills in what the message itself does not say.
func (e Explanation) reckoned(r *MessageRow) {
	r.Damaged = e.Damaged
	if e.Over != 0 {
		r.Over = &e.Over
		r.OverPercent, r.PercentOf = e.Percent, e.PercentOf
	}
	if e.Arch != "" {
		r.Arch, r.ArchIs = e.Arch, "given"
		if e.Likely {
			r.ArchIs = "likely"
		}
	}
	if e.L1Size != 0 {
		r.L1Size = &e.L1Size
	}
	if e.Region != 0 {
		r.Base, r.Region, r.Room = &e.Base, &e.Region, &e.Room
	}
	if e.Above != 0 {
		r.Above = &e.Above
	}
}
