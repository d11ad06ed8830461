package report

import (
	"encoding/json"
	"io"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/replay"
)

// MapSchema is the name of the JSON of map, as the field "schema" has it.
const MapSchema = "cbl1.map/1"

type jsonMap struct {
	replay.Head
	At      *uint64         `json:"at"`
	Basis   replay.Basis    `json:"basis"`
	Untold  []replay.Reason `json:"untold"`
	Devices []jsonMapDevice `json:"devices"`
	Clash   *jsonMapClash   `json:"clash"`
}

type jsonMapDevice struct {
	jsonMoment
	Cols int `json:"cols"`
	Rows int `json:"rows"`
	jsonChip
	Groups []jsonOnCore `json:"groups"`
}

// A jsonMoment is a device, and the moment of it that is drawn.
type jsonMoment struct {
	Device  *uint64           `json:"device"`
	Kind    replay.DeviceKind `json:"kind"`
	Chips   []uint64          `json:"chips"`
	Counter *uint64           `json:"counter"`
	T       json.Number       `json:"t,omitempty"`
	Op      replay.Name       `json:"op"`
}

// A jsonChip is with what the figures of a device were reckoned.
type jsonChip struct {
	L1Size  *uint64 `json:"l1_size_bytes"`
	L1Small uint64  `json:"l1_small_bytes"`
	Base    uint64  `json:"cb_base"`
	Usable  *uint64 `json:"usable_bytes"`
}

func newChip(s replay.Spec) jsonChip {
	out := jsonChip{L1Small: s.L1Small, Base: s.CBBase}
	if s.L1Size > 0 {
		n := s.UsableBytes()
		out.L1Size, out.Usable = &s.L1Size, &n
	}
	return out
}

// jsonOnCore is what each of some cores held at one moment.
type jsonOnCore struct {
	Cores     string              `json:"cores"`
	Count     int                 `json:"count"`
	Bytes     uint64              `json:"tracked_bytes"`
	Residents []replay.L1Resident `json:"residents"`
}

func newOnCore(g replay.LaidGroup) jsonOnCore {
	return jsonOnCore{g.Cores.String(), g.Cores.Len(), g.Bytes, replay.List(g.Residents)}
}

// A jsonMapClash is a program run that does not fit, on one core, with what is in its way.
type jsonMapClash struct {
	Program   replay.ProgramRun   `json:"program"`
	Counter   uint64              `json:"counter"`
	T         json.Number         `json:"t,omitempty"`
	Device    *uint64             `json:"device"`
	Core      string              `json:"core"`
	Over      uint64              `json:"over_bytes"`
	Residents []replay.L1Resident `json:"residents"`
}

// writeMapJSON writes what a Map draws, each device for itself, as cbl1.map-1.schema.json
// describes it.
func writeMapJSON(w io.Writer, r *replay.Result, at event.Opt[uint64]) error {
	out := jsonMap{
		Head: r.Head(MapSchema), At: optional(at), Basis: r.Basis(r.Spec),
		Untold: replay.List(r.Hidden()), Devices: []jsonMapDevice{},
	}
	for i := range r.L1 {
		d := &r.L1[i]
		row := jsonMapDevice{newMoment(d, at), d.Cols, d.Rows, newChip(r.SpecOf(d.ID)), []jsonOnCore{}}
		for _, g := range laid(d, at) {
			if r.Only.HasCores(g.Cores) {
				row.Groups = append(row.Groups, newOnCore(g))
			}
		}
		out.Devices = append(out.Devices, row)
	}
	if c, ok := firstClash(r); ok {
		out.Clash = &jsonMapClash{
			c.check.Run, c.check.Enqueue, c.check.T, deviceID(c.clash.Device), c.core.String(), c.clash.Over(), replay.List(c.residents),
		}
	}
	return writeJSON(w, out)
}

func newMoment(d *replay.DeviceL1, at event.Opt[uint64]) jsonMoment {
	out := jsonMoment{Device: optional(d.ID), Kind: d.Kind, Chips: append([]uint64{}, d.Chips...), Counter: optional(at)}
	if !at.OK && d.Peak != nil {
		out.Counter, out.T, out.Op = &d.Peak.At, d.Peak.T, d.Peak.Op
	}
	return out
}
