package report

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/replay"
)

// The names of the forms of JSON, as the field "schema" has them.
const (
	CheckSchema = "cbl1.check/1"
	PeakSchema  = "cbl1.peak/1"
	WhoSchema   = "cbl1.who/1"
)

// What the documents of check, peak, who and report have in common about L1.

type jsonResident struct {
	fit.ResidentRow
	CB      *int        `json:"cb"`
	Program *jsonRun    `json:"program"`
	Buffer  *jsonBuffer `json:"buffer"`
}

type jsonRun struct {
	Op       string      `json:"op"`
	Counter  uint64      `json:"counter"`
	T        json.Number `json:"t,omitempty"`
	Inferred bool        `json:"inferred"`
}

type jsonBuffer struct {
	Op      string      `json:"op"`
	Counter uint64      `json:"counter"`
	T       json.Number `json:"t,omitempty"`
	Device  *uint64     `json:"device"`
	Kind    string      `json:"kind"`
	Size    uint64      `json:"size_bytes"`
	PerCore *uint64     `json:"core_max_bytes"`
	Address *uint64     `json:"address"`
	Layout  string      `json:"layout"`
}

func newResidents(rows []replay.L1Resident) []jsonResident {
	out := []jsonResident{}
	for _, r := range rows {
		out = append(out, newResident(r))
	}
	return out
}

func newResident(r replay.L1Resident) jsonResident {
	out := jsonResident{ResidentRow: fit.NewResidentRow(r.Kind, r.Range)}
	if r.Program != nil {
		run := newRun(*r.Program)
		out.CB, out.Program = &r.CB, &run
	}
	if r.Buffer != nil {
		buffer := newBuffer(*r.Buffer)
		out.Buffer = &buffer
	}
	return out
}

// clip returns a name as JSON has it.
func clip(name string) string { return shown.Clip(name, shown.MaxOutput) }

func newRun(run replay.ProgramRun) jsonRun {
	return jsonRun{clip(run.Op), run.At, json.Number(run.T), run.Inferred}
}

func newBuffer(b replay.BufferInfo) jsonBuffer {
	return jsonBuffer{clip(b.Op), b.At, json.Number(b.T), optional(b.Device), b.Kind.Name(), b.Size, optional(b.PerCore), optional(b.Address), b.Layout}
}

// newKinds returns bytes by kind, those of all kinds in L1.
func newKinds(kinds []replay.KindBytes) map[string]uint64 {
	out := map[string]uint64{}
	for _, k := range kinds {
		out[k.Kind.Name()] = k.Bytes
	}
	return out
}

// deviceID is the id of a device as a capture has it; nil if it has none.
func deviceID(id device.ID) *uint64 { return optional(captureID(id)) }

type jsonUntold struct {
	Code replay.Code `json:"code"`
	Text string      `json:"text"`
}

type jsonL1Basis struct {
	Arch        string           `json:"arch"`
	ArchFrom    event.Source     `json:"arch_from"`
	BaseFrom    event.Source     `json:"base_from"`
	L1Size      *uint64          `json:"l1_size_bytes"`
	L1Small     uint64           `json:"l1_small_bytes"`
	Small       event.Source     `json:"l1_small_from"`
	Base        uint64           `json:"cb_base"`
	Align       uint64           `json:"cb_align"`
	Usable      *uint64          `json:"usable_bytes"`
	Addresses   replay.Addresses `json:"cb_addresses"`
	Earlier     int64            `json:"earlier_l1_buffers"`
	EarlierSize uint64           `json:"earlier_l1_bytes"`
}

func newL1Basis(r *replay.Result, s replay.Spec) jsonL1Basis {
	out := jsonL1Basis{
		Arch: string(s.Arch), ArchFrom: s.ArchFrom, BaseFrom: s.BaseFrom, L1Small: s.L1Small, Small: s.SmallFrom, Base: s.CBBase, Align: s.CBAlign,
		Addresses: r.Addresses, Earlier: r.Earlier.L1, EarlierSize: r.Earlier.Bytes,
	}
	if s.L1Size > 0 {
		out.L1Size = &s.L1Size
		n := s.UsableBytes()
		out.Usable = &n
	}
	return out
}

// writeJSON writes a document as one line in ASCII.
func writeJSON(w io.Writer, v any) error {
	e := &encoder{w: bufio.NewWriterSize(w, 1<<16)}
	e.value(v)
	e.text("\n")
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}
