package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/asciijson"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// Schema is the value of the JSON report's field "schema".
const Schema = "cbl1.report/2"

// writeReport writes one line of JSON for one capture, in ASCII only. Its fields are
// described in cbl1.report-2.schema.json. Programs, of which there may be hundreds of
// thousands, are written as they are encoded.
func writeReport(w io.Writer, r *replay.Result) error {
	e := &encoder{w: bufio.NewWriterSize(w, 1<<16)}
	head := newReport(r)
	head.L1 = newL1(r)
	e.around(head, `"devices":{}`, func() {
		e.text(`"devices":{`)
		for i := range r.Devices {
			if i > 0 {
				e.text(",")
			}
			d := &r.Devices[i]
			e.value(deviceKey(d.ID))
			e.text(":")
			e.around(newDevice(d), `"programs_detail":[]`, func() {
				e.text(`"programs_detail":[`)
				k := 0
				for p := range programsOf(r, d) {
					if k++; k > 1 {
						e.text(",")
					}
					e.value(newProgram(p))
				}
				e.text("]")
			})
		}
		e.text("}")
	})
	e.text("\n")
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}

// An encoder writes JSON piece by piece and remembers the first error.
type encoder struct {
	w   *bufio.Writer
	b   bytes.Buffer
	err error
}

func (e *encoder) text(s string) {
	if e.err == nil {
		_, e.err = e.w.WriteString(s)
	}
}

// encode returns the JSON of a value, valid until the next call.
func (e *encoder) encode(v any) []byte {
	e.b.Reset()
	enc := json.NewEncoder(&e.b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil && e.err == nil {
		e.err = fmt.Errorf("encode report: %w", err)
	}
	return bytes.TrimSuffix(e.b.Bytes(), []byte("\n"))
}

func (e *encoder) value(v any) { e.text(string(asciijson.Escape(e.encode(v)))) }

// around writes a value with an empty member of it replaced by what inside writes.
// No text in the value can look like the member: its quotes would be escaped.
func (e *encoder) around(v any, member string, inside func()) {
	before, after, _ := strings.Cut(string(asciijson.Escape(e.encode(v))), member)
	e.text(before)
	inside()
	e.text(after)
}

type jsonReport struct {
	replay.Head
	Addresses replay.Addresses      `json:"addresses"`
	Layout    *jsonLayout           `json:"layout"`
	Basis     jsonBasis             `json:"basis"`
	Fullest   *jsonFullest          `json:"fullest"`
	Upstream  jsonUpstream          `json:"upstream"`
	Anomalies []jsonAnomaly         `json:"anomalies"`
	Meshes    map[string][]uint64   `json:"mesh_members"`
	Checks    jsonChecks            `json:"checks"`
	Hits      jsonHits              `json:"cache_hits"`
	Live      jsonLive              `json:"live_at_end"`
	Earlier   jsonEarlier           `json:"earlier_buffers"`
	L1        []jsonL1              `json:"l1"`
	Devices   map[string]jsonDevice `json:"devices"`
}

type jsonLayout struct {
	Arch  string `json:"arch"`
	Base  uint64 `json:"base"`
	Align uint64 `json:"align"`
}

type jsonBasis struct {
	replay.Chip
	Physical string   `json:"physical"`
	Includes []string `json:"includes"`
	Excludes []string `json:"excludes"`
}

type jsonFullest struct {
	Device  string      `json:"device"`
	Core    string      `json:"core"`
	Cores   int         `json:"cores"`
	Bytes   uint64      `json:"bytes"`
	Percent *float64    `json:"percent_of_l1"`
	End     uint64      `json:"end"`
	Program jsonProgram `json:"program"`
	Share   uint64      `json:"program_bytes"`
}

type jsonUpstream struct {
	PeakCB         *uint64 `json:"peak_cb"`
	PeakL1         *uint64 `json:"peak_l1"`
	PeakDataflow   *uint64 `json:"peak_dataflow_buffer"`
	PeakScratchpad *uint64 `json:"peak_scratchpad"`
	PeakTotal      *uint64 `json:"peak_total"`
	Wrapped        bool    `json:"wrapped"`

	Causes []jsonCause `json:"causes"`
}

type jsonCause struct {
	Code     event.CauseCode `json:"code"`
	Figure   string          `json:"figure"`
	Upstream uint64          `json:"upstream_bytes"`
	Exact    uint64          `json:"exact_bytes"`
	Count    int             `json:"count"`
}

type jsonAnomaly struct {
	Code   replay.Code `json:"code"`
	Count  int64       `json:"count"`
	First  *int64      `json:"first_counter"`
	T      json.Number `json:"t,omitempty"`
	Detail string      `json:"detail"`
}

type jsonDevice struct {
	Kind  replay.DeviceKind `json:"kind"`
	Chips []uint64          `json:"chips"`

	CBNodes   int64 `json:"cb_nodes"`
	LocalCBs  int64 `json:"local_cbs"`
	GlobalCBs int64 `json:"global_cbs"`
	Programs  int64 `json:"programs"`
	Cores     int   `json:"cores"`

	LogicalPeak      uint64 `json:"logical_peak_bytes"`
	LogicalSizesPeak uint64 `json:"logical_sizes_peak_bytes"`
	ResidentPeak     uint64 `json:"resident_peak_bytes"`
	ResidentFinal    uint64 `json:"resident_final_bytes"`
	CorePeak         uint64 `json:"core_peak_bytes"`
	HighestEnd       uint64 `json:"highest_end"`
	UnattributedPeak uint64 `json:"unattributed_peak_bytes"`

	Registered              uint64 `json:"registered_union_bytes"`
	RegisteredCorePeak      uint64 `json:"registered_core_peak_bytes"`
	RegisteredLogical       uint64 `json:"registered_logical_bytes"`
	RegisteredRangeGranular uint64 `json:"registered_range_granular_bytes"`

	DataflowBuffers    int64  `json:"dataflow_buffers"`
	DataflowLocal      int64  `json:"dataflow_local"`
	DataflowBorrowed   int64  `json:"dataflow_borrowed"`
	DataflowPeak       uint64 `json:"dataflow_resident_peak_bytes"`
	DataflowCorePeak   uint64 `json:"dataflow_core_peak_bytes"`
	DataflowRegistered uint64 `json:"dataflow_registered_union_bytes"`
	DataflowRegCore    uint64 `json:"dataflow_registered_core_peak_bytes"`
	DataflowRegLogical uint64 `json:"dataflow_registered_logical_bytes"`

	Scratchpads          int64  `json:"scratchpads"`
	ScratchpadPeak       uint64 `json:"scratchpad_resident_peak_bytes"`
	ScratchpadCorePeak   uint64 `json:"scratchpad_core_peak_bytes"`
	ScratchpadRegistered uint64 `json:"scratchpad_registered_union_bytes"`
	ScratchpadRegCore    uint64 `json:"scratchpad_registered_core_peak_bytes"`
	ScratchpadRegLogical uint64 `json:"scratchpad_registered_logical_bytes"`

	ProgramsDetail []jsonProgram `json:"programs_detail"`
	CoreGroups     []jsonGroup   `json:"core_groups"`
}

type jsonProgram struct {
	First      uint64      `json:"first_counter"`
	Last       uint64      `json:"last_counter"`
	T          json.Number `json:"t,omitempty"`
	Op         replay.Name `json:"op"`
	LocalCBs   int         `json:"local_cbs"`
	GlobalCBs  int         `json:"global_cbs"`
	Cores      int         `json:"cores"`
	Logical    uint64      `json:"logical_bytes"`
	Bytes      uint64      `json:"resident_bytes"`
	Core       uint64      `json:"core_max_bytes"`
	HighestEnd uint64      `json:"highest_end"`
	Overlap    bool        `json:"cbs_overlap"`
}

type jsonGroup struct {
	Cores      string     `json:"cores"`
	Count      int        `json:"count"`
	Registered uint64     `json:"registered_bytes"`
	AlivePeak  uint64     `json:"core_peak_bytes"`
	Programs   int        `json:"programs"`
	Regions    []l1.Range `json:"registered_regions"`
}

// newReport returns all but the devices.
func newReport(r *replay.Result) jsonReport {
	out := jsonReport{
		Head: r.Head(Schema), Addresses: r.Addresses,
		Basis:     newBasis(r),
		Anomalies: []jsonAnomaly{}, Meshes: map[string][]uint64{}, Devices: map[string]jsonDevice{},
		Upstream: jsonUpstream{
			optional(r.Upstream.PeakCB), optional(r.Upstream.PeakL1), optional(r.Upstream.PeakDataflow),
			optional(r.Upstream.PeakScratchpad), optional(r.Upstream.PeakTotal), r.Upstream.Wrapped, []jsonCause{},
		},
		Checks:  newChecks(r),
		Hits:    jsonHits{r.Hits.Inferred, r.Hits.Unknown},
		Live:    newLive(r.Live),
		Earlier: jsonEarlier{r.Earlier.L1, r.Earlier.Other, r.Earlier.Bytes},
		L1:      []jsonL1{},
	}
	if r.Placed {
		out.Layout = &jsonLayout{string(r.Spec.Arch), r.Spec.CBBase, r.Spec.CBAlign}
	}
	for _, c := range r.Upstream.Causes {
		out.Upstream.Causes = append(out.Upstream.Causes, jsonCause(c))
	}
	for _, a := range r.Anomalies {
		ja := jsonAnomaly{Code: a.Code, Count: a.Count, T: a.T, Detail: a.Detail}
		if a.First >= 0 {
			ja.First = &a.First
		}
		out.Anomalies = append(out.Anomalies, ja)
	}
	for _, m := range r.Meshes {
		out.Meshes[fmt.Sprint(m.ID)] = m.Chips
	}
	if d := fullestDevice(r); d != nil {
		f := d.Fullest
		out.Fullest = &jsonFullest{
			Device: deviceKey(d.ID), Core: f.Core.String(), Cores: f.Cores, Bytes: f.Bytes, End: f.End,
			Program: newProgram(f.Program), Share: f.Share,
		}
		out.Fullest.Percent = r.SpecOf(d.ID).Percent(f.Bytes)
	}
	return out
}

func newBasis(r *replay.Result) jsonBasis {
	return jsonBasis{
		Chip:     r.Spec.Chip(),
		Physical: "occupied: union of the local circular buffers on each core",
		Includes: []string{"local circular buffers"},
		Excludes: []string{
			"globally allocated circular buffers (their bytes belong to an L1 buffer)",
			"dataflow buffers and scratchpads (own fields)", "L1 buffers", "kernels and the reserved area",
			"circular buffers of operations that the capture does not show (see anomalies)",
		},
	}
}

// newDevice returns all but the programs.
func newDevice(d *replay.Device) jsonDevice {
	out := jsonDevice{
		Kind: d.Kind, Chips: append([]uint64{}, d.Chips...),
		CBNodes: d.CBNodes, LocalCBs: d.LocalCBs, GlobalCBs: d.GlobalCBs, Programs: d.Programs, Cores: d.Cores,
		LogicalPeak: d.LogicalPeak, LogicalSizesPeak: d.LogicalSizesPeak,
		ResidentPeak: d.ResidentPeak, ResidentFinal: d.ResidentFinal, CorePeak: d.CorePeak,
		HighestEnd: d.HighestEnd, UnattributedPeak: d.UnattributedPeak,
		Registered: d.Registered, RegisteredCorePeak: d.RegisteredCorePeak,
		RegisteredLogical: d.RegisteredLogical, RegisteredRangeGranular: d.RegisteredRangeGranular,
		DataflowBuffers: d.Dataflow.Nodes, DataflowLocal: d.Dataflow.Local, DataflowBorrowed: d.Dataflow.Borrowed,
		DataflowPeak: d.Dataflow.ResidentPeak, DataflowCorePeak: d.Dataflow.CorePeak, DataflowRegistered: d.Dataflow.Registered,
		DataflowRegCore: d.Dataflow.RegisteredCorePeak, DataflowRegLogical: d.Dataflow.RegisteredLogical,
		Scratchpads: d.Scratchpad.Nodes, ScratchpadPeak: d.Scratchpad.ResidentPeak,
		ScratchpadCorePeak: d.Scratchpad.CorePeak, ScratchpadRegistered: d.Scratchpad.Registered,
		ScratchpadRegCore: d.Scratchpad.RegisteredCorePeak, ScratchpadRegLogical: d.Scratchpad.RegisteredLogical,
		ProgramsDetail: []jsonProgram{}, CoreGroups: []jsonGroup{},
	}
	for _, g := range d.CoreGroups {
		jg := jsonGroup{
			Cores: g.Cores.String(), Count: g.Cores.Len(), Registered: g.Registered, AlivePeak: g.AlivePeak,
			Programs: g.Programs, Regions: replay.List(g.Regions),
		}
		out.CoreGroups = append(out.CoreGroups, jg)
	}
	return out
}

func newProgram(p replay.ProgramDetail) jsonProgram {
	return jsonProgram{
		First: p.First, Last: p.Last, T: p.T, Op: p.Op, LocalCBs: p.LocalCBs, GlobalCBs: p.GlobalCBs, Cores: p.Cores,
		Logical: p.Logical, Bytes: p.Bytes, Core: p.Core, HighestEnd: p.HighestEnd, Overlap: p.Overlapping,
	}
}

func optional(v event.Opt[uint64]) *uint64 {
	if !v.OK {
		return nil
	}
	return &v.V
}

// deviceKey names a device as the capture does.
func deviceKey(id event.Opt[uint64]) string {
	if !id.OK {
		return "none"
	}
	return fmt.Sprint(id.V)
}

// fullestDevice returns the device with the fullest core, the first of equals; nil
// if there is none.
func fullestDevice(r *replay.Result) *replay.Device {
	var best *replay.Device
	for i := range r.Devices {
		if d := &r.Devices[i]; d.Fullest != nil && (best == nil || d.Fullest.Bytes > best.Fullest.Bytes) {
			best = d
		}
	}
	return best
}
