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
					e.value(p)
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
	Upstream  event.Upstream        `json:"upstream"`
	Anomalies []jsonAnomaly         `json:"anomalies"`
	Meshes    map[string][]uint64   `json:"mesh_members"`
	Checks    jsonChecks            `json:"checks"`
	Hits      replay.Hits           `json:"cache_hits"`
	Live      replay.Live           `json:"live_at_end"`
	Earlier   replay.Earlier        `json:"earlier_buffers"`
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
	Device  string               `json:"device"`
	Core    string               `json:"core"`
	Cores   int                  `json:"cores"`
	Bytes   uint64               `json:"bytes"`
	Percent *float64             `json:"percent_of_l1"`
	End     uint64               `json:"end"`
	Program replay.ProgramDetail `json:"program"`
	Share   uint64               `json:"program_bytes"`
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

	ProgramsDetail []replay.ProgramDetail `json:"programs_detail"`
	CoreGroups     []replay.CoreGroup     `json:"core_groups"`
}

// newReport returns all but the devices.
func newReport(r *replay.Result) jsonReport {
	out := jsonReport{
		Head: r.Head(Schema), Addresses: r.Addresses,
		Basis:     newBasis(r),
		Anomalies: []jsonAnomaly{}, Meshes: map[string][]uint64{}, Devices: map[string]jsonDevice{},
		Upstream: r.Upstream, Checks: newChecks(r), Hits: r.Hits, Live: r.Live, Earlier: r.Earlier, L1: []jsonL1{},
	}
	out.Upstream.Causes, out.Live.List = replay.List(r.Upstream.Causes), replay.List(r.Live.List)
	if r.Placed {
		out.Layout = &jsonLayout{string(r.Spec.Arch), r.Spec.CBBase, r.Spec.CBAlign}
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
			Program: f.Program, Share: f.Share,
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
		ProgramsDetail: []replay.ProgramDetail{}, CoreGroups: []replay.CoreGroup{},
	}
	for _, g := range d.CoreGroups {
		g.Count, g.Regions = g.Cores.Len(), replay.List(g.Regions)
		out.CoreGroups = append(out.CoreGroups, g)
	}
	return out
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
