package answer

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
)

// ReportSchema names the form of a ReportDocument.
const ReportSchema = "cbl1.report/2"

// A ReportDocument is the answer of cbl1 report.
type ReportDocument struct {
	ReportHead
	L1      []DeviceL1        `json:"l1"`
	Devices map[string]Device `json:"devices"` // by DeviceKey
}

// A ReportHead is a report without its devices.
type ReportHead struct {
	Head
	Addresses Addresses           `json:"addresses"`
	Layout    *Layout             `json:"layout"` // nil if nothing was placed
	Basis     ReportBasis         `json:"basis"`
	Fullest   *FullestCore        `json:"fullest"` // of the device with the fullest core; nil if there is none
	Upstream  event.Upstream      `json:"upstream"`
	Anomalies []AnomalyCount      `json:"anomalies"`
	Meshes    map[uint64][]uint64 `json:"mesh_members"` // chips by mesh
	Checks    Checks              `json:"checks"`
	Hits      Hits                `json:"cache_hits"`
	Live      LiveBuffers         `json:"live_at_end"`
	Earlier   EarlierBuffers      `json:"earlier_buffers"`
}

// A Layout is the rule by which circular buffers without addresses were placed.
type Layout struct {
	Arch  l1.Arch `json:"arch"`
	Base  uint64  `json:"base"`
	Align uint64  `json:"align"`
}

// A ReportBasis says with which chip the figures were reckoned, and which bytes they count.
type ReportBasis struct {
	Chip
	Physical string   `json:"physical"`
	Includes []string `json:"includes"`
	Excludes []string `json:"excludes"`
}

// Report returns the figures of all devices. Cost: as for ReportL1, and the programs if Only has an operation.
func (r *Result) Report() ReportDocument {
	doc := ReportDocument{r.ReportHead(), List(slices.Collect(r.ReportL1())), make(map[string]Device, len(r.Devices))}
	for i := range r.Devices {
		doc.Devices[DeviceKey(r.Devices[i].ID)] = r.Devices[i].Document(r.Only)
	}
	return doc
}

// ReportL1 returns ReportDocument.L1. All devices list at most 100,000 residents. Cost: the residents at all peaks, once
// for devices that held the same.
func (r *Result) ReportL1() iter.Seq[DeviceL1] {
	return func(yield func(DeviceL1) bool) {
		look := r.composer()
		for _, d := range r.L1 {
			if !yield(d.document(r.SpecOf(d.ID), look)) {
				return
			}
		}
	}
}

// ReportHead returns the report without its devices.
func (r *Result) ReportHead() ReportHead {
	doc := ReportHead{
		Head: r.Head(ReportSchema), Addresses: r.Addresses, Basis: ReportBasis{
			Chip:     r.Spec.Chip(),
			Physical: "occupied: union of the local circular buffers on each core",
			Includes: []string{"local circular buffers"},
			Excludes: []string{
				"globally allocated circular buffers (their bytes belong to an L1 buffer)",
				"dataflow buffers and scratchpads (own fields)", "L1 buffers", "kernels and the reserved area",
				"circular buffers of operations that the capture does not show (see anomalies)",
			},
		},
		Upstream: r.Upstream, Anomalies: List(r.Anomalies), Meshes: map[uint64][]uint64{},
		Checks: r.Checks, Hits: r.Hits, Live: r.Live, Earlier: r.Earlier,
	}
	doc.Upstream.Causes, doc.Live.List = List(r.Upstream.Causes), List(r.Live.List)
	j := r.Judge(Terms{})
	doc.Checks.Answer, doc.Checks.Untold, doc.Checks.Tightest = j.Answer, CodesOf(j.Untold), r.Checks.Tightest.Document()
	if r.Placed {
		doc.Layout = &Layout{r.Spec.Arch, r.Spec.CBBase, r.Spec.CBAlign}
	}
	for _, m := range r.Meshes {
		doc.Meshes[m.ID] = m.Chips
	}
	if d := r.FullestDevice(); d != nil {
		f := *d.Fullest
		f.Device, f.Percent = DeviceKey(d.ID), r.SpecOf(d.ID).Percent(f.Bytes)
		doc.Fullest = &f
	}
	return doc
}

// Document returns the device as documents have it. If only has an operation, other programs are left out.
func (d Device) Document(only Filter) Device {
	programs := d.ProgramsDetail
	if programs == nil || only.Op != "" {
		d.ProgramsDetail = &Programs{}
		for _, p := range programs.All() {
			if only.HasOp(p.Op) {
				d.ProgramsDetail.Add(p)
			}
		}
	}
	d.Chips, d.CoreGroups = List(d.Chips), List(d.CoreGroups)
	return d
}

// Document returns the device as documents have it: its peak is composed, with its share of the L1 of a Spec.
func (d DeviceL1) Document(s Spec) DeviceL1 { return d.document(s, everything()) }

func (d DeviceL1) document(s Spec, c *composer) DeviceL1 {
	d.Chips, d.Peak = List(d.Chips), d.Peak.document(s, c)
	return d
}

// DeviceKey names a device in ReportDocument.Devices: by its id, or "none".
func DeviceKey(id event.Opt[uint64]) string {
	if !id.OK {
		return "none"
	}
	return fmt.Sprint(id.V)
}

// FullestDevice returns the device with the fullest core, the first of equals; nil if there is none.
func (r *Result) FullestDevice() *Device {
	var best *Device
	for i := range r.Devices {
		if d := &r.Devices[i]; d.Fullest != nil && (best == nil || d.Fullest.Bytes > best.Fullest.Bytes) {
			best = d
		}
	}
	return best
}

// CodesOf returns the codes of reasons, each once.
func CodesOf(reasons []Reason) []Code {
	codes := []Code{}
	for _, why := range reasons {
		if !slices.Contains(codes, why.Code) {
			codes = append(codes, why.Code)
		}
	}
	return codes
}

// A NodeNumber is the counter of a node or event. -1 stands for the whole input, and is null in JSON.
type NodeNumber int64

// MarshalJSON returns the number, or null.
func (n NodeNumber) MarshalJSON() ([]byte, error) {
	if n < 0 {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(n), 10), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *NodeNumber) UnmarshalJSON(text []byte) error {
	*n = -1
	if string(text) == "null" {
		return nil
	}
	return json.Unmarshal(text, (*int64)(n))
}

// MarshalJSON returns the rows as a list.
func (p *Programs) MarshalJSON() ([]byte, error) {
	rows := make([]ProgramDetail, 0, p.Len())
	for _, row := range p.All() {
		rows = append(rows, row)
	}
	return json.Marshal(rows)
}

// UnmarshalJSON reads the rows of a list.
func (p *Programs) UnmarshalJSON(text []byte) error {
	var rows []ProgramDetail
	err := json.Unmarshal(text, &rows)
	for _, row := range rows {
		p.Add(row)
	}
	return err
}
