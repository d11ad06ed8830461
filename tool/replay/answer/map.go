package answer

import (
	"encoding/json"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// MapSchema names the form of a MapDocument.
const MapSchema = "cbl1.map/1"

// A MapDocument is the answer of cbl1 map.
type MapDocument struct {
	Head
	At      event.Opt[uint64] `json:"at"` // absent: each device at its peak
	Basis   Basis             `json:"basis"`
	Untold  []Reason          `json:"untold"`
	Devices []MapDevice       `json:"devices"`
	Clash   *MapClash         `json:"clash"` // the first program run that does not fit; nil if all fit
}

// A MapDevice has the cores of a device that held something at one moment.
type MapDevice struct {
	Device  event.Opt[uint64] `json:"device"`
	Kind    DeviceKind        `json:"kind"`
	Chips   []uint64          `json:"chips"`
	Counter event.Opt[uint64] `json:"counter"`
	T       json.Number       `json:"t,omitempty"`
	Op      Name              `json:"op"`
	Cols    int               `json:"cols"`
	Rows    int               `json:"rows"`
	Sizes
	Groups []LaidGroup `json:"groups"`
}

// Sizes are the bounds of L1 in a Spec. A size that is not known is absent.
type Sizes struct {
	L1Size  event.Opt[uint64] `json:"l1_size_bytes"`
	L1Small uint64            `json:"l1_small_bytes"`
	Base    uint64            `json:"cb_base"`
	Usable  event.Opt[uint64] `json:"usable_bytes"`
}

// Sizes returns the bounds of L1.
func (s Spec) Sizes() Sizes {
	return Sizes{Known(s.L1Size, s.L1Size), s.L1Small, s.CBBase, Known(s.L1Size, s.UsableBytes())}
}

// A MapClash is a program run that does not fit, on one core, with all that is in its way.
type MapClash struct {
	Program   ProgramRun        `json:"program"`
	Enqueue   uint64            `json:"counter"`
	T         json.Number       `json:"t,omitempty"`
	Device    event.Opt[uint64] `json:"device"` // the first one
	Devices   int               `json:"-"`      // that clash alike
	Core      l1.Core           `json:"core"`
	Over      uint64            `json:"over_bytes"`
	Residents []L1Resident      `json:"residents"`
}

// Map returns what lay on the cores of each device: after the node of Options.GroupsAt if at is there, else
// at its peak (Options.Groups). All devices list at most 100,000 residents. Cost: the residents of all cores of all
// devices.
func (r *Result) Map(at event.Opt[uint64]) MapDocument {
	look := r.composer()
	doc := MapDocument{r.Head(MapSchema), at, r.Basis(r.Spec), List(r.Untracked()), []MapDevice{}, r.Clash()}
	for i := range r.L1 {
		d := &r.L1[i]
		row := MapDevice{
			Device: d.ID, Kind: d.Kind, Chips: List(d.Chips), Counter: at, Cols: d.Cols, Rows: d.Rows,
			Sizes: r.SpecOf(d.ID).Sizes(), Groups: []LaidGroup{},
		}
		if !at.OK && d.Peak != nil {
			row.Counter, row.T, row.Op = event.Some(d.Peak.At), d.Peak.T, d.Peak.Op
		}
		for _, g := range d.mapped(at, look) {
			if r.Only.HasCores(g.Cores) {
				row.Groups = append(row.Groups, g)
			}
		}
		doc.Devices = append(doc.Devices, row)
	}
	return doc
}

// Mapped returns the groups of cores of a device for Result.Map. Cost: the residents of all its cores.
func (d *DeviceL1) Mapped(at event.Opt[uint64]) []LaidGroup { return d.mapped(at, everything()) }

func (d *DeviceL1) mapped(at event.Opt[uint64], c *composer) []LaidGroup {
	switch {
	case at.OK:
		return c.after(d)
	case d.Peak != nil:
		return c.peak(d.Peak).Groups
	}
	return nil
}

// Clash returns the first program run that does not fit, on the core of Only or, without one, on the first
// core of its worst clash. It returns nil if all fit.
func (r *Result) Clash() *MapClash {
	for i := range r.Checks.List {
		f := &r.Checks.List[i]
		for _, c := range f.Verdict.Clashes {
			if !r.Only.HasCores(c.Cores) {
				continue
			}
			core := r.Only.Core.V
			if !r.Only.Core.OK {
				core, _ = c.Cores.First()
			}
			residents := f.Residents(append(f.Verdict.Own(c), f.Verdict.Above(c)...))
			return &MapClash{f.Run, f.Enqueue, f.T, CaptureID(c.Device), c.Devices, core, c.Over(), residents}
		}
	}
	return nil
}

// Residents names things in the L1 of the verdict.
func (f *FailedCheck) Residents(all []fit.Resident) []L1Resident {
	out := make([]L1Resident, 0, len(all))
	for _, held := range all {
		out = append(out, f.Resident(held))
	}
	return out
}

// Resident names something in the L1 of the verdict.
func (f *FailedCheck) Resident(held fit.Resident) L1Resident {
	out := L1Resident{ResidentRow: fit.NewResidentRow(held.Kind, held.Range)}
	if held.Program != nil {
		run := f.Run
		out.CB, out.Program = event.Some(uint64(held.CB)), &run
		return out
	}
	info, ok := f.Buffers[held.Buffer.ID]
	if !ok {
		info = BufferInfo{Kind: held.Buffer.Kind, Size: held.Buffer.Size, Op: Name(held.Buffer.Name)}
	}
	out.Buffer = &info
	return out
}
