package render

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/replay"
)

// A fold is a set of devices with the same figures.
type fold struct {
	first   *replay.Device // which stands for all
	devices []*replay.Device
}

// foldDevices puts devices with equal keys together, in order of the first ones.
// Only chips are folded: ids of meshes mean different sets of chips.
func foldDevices(devices []replay.Device, key func(*replay.Device) string) []fold {
	var out []fold
	at := map[string]int{}
	for i := range devices {
		d := &devices[i]
		k := fmt.Sprint(i)
		if d.Kind == replay.KindChip {
			k = "chip " + key(d)
		}
		f := folding(at, &out, k)
		f.devices = append(f.devices, d)
		f.first = f.devices[0]
	}
	return out
}

// figures are the figures of a device in the table of a report.
func figures(d *replay.Device) string {
	op := ""
	if d.Fullest != nil {
		op = string(d.Fullest.Program.Op)
	}
	return fmt.Sprint(d.CBNodes, d.LocalCBs, d.GlobalCBs, d.Programs, d.Cores, d.RegisteredCorePeak, d.CorePeak,
		d.Registered, d.ResidentPeak, d.RegisteredLogical, d.HighestEnd, d.Dataflow, d.Scratchpad, op)
}

// label names the devices in a table: "0", "0..7 (8 chips, equal)",
// "mesh 1 (chip 0)", "mesh 1 (8 chips, equal)", "no id".
func (f fold) label() string {
	d := f.first
	switch {
	case d.Kind == replay.KindNone:
		return "no id"
	case d.Kind == replay.KindMesh && len(d.Chips) == 1:
		return fmt.Sprintf("mesh %d (chip %d)", d.ID.V, d.Chips[0])
	case d.Kind == replay.KindMesh:
		return fmt.Sprintf("mesh %d (%d chips, equal)", d.ID.V, len(d.Chips))
	case len(f.devices) == 1:
		return fmt.Sprint(d.ID.V)
	}
	return fmt.Sprintf("%s (%d chips, equal)", f.ids(), len(f.devices))
}

// where names the devices in a sentence.
func (f fold) where() string {
	switch {
	case f.first.Kind == replay.KindNone:
		return "device not named"
	case f.first.Kind == replay.KindMesh:
		return f.label()
	case len(f.devices) == 1:
		return "device " + f.label()
	}
	return "devices " + f.ids()
}

// ids lists the devices' ids: "0..2, 4..7".
func (f fold) ids() string {
	const most = 3 // runs shown
	var runs []string
	for i := 0; i < len(f.devices); {
		from := f.devices[i].ID.V
		to := from
		for i++; i < len(f.devices) && f.devices[i].ID.V == to+1; i++ {
			to++
		}
		if len(runs) == most {
			return strings.Join(runs, ", ") + ", " + shown.Ellipsis
		}
		switch to - from {
		case 0:
			runs = append(runs, fmt.Sprint(from))
		case 1:
			runs = append(runs, fmt.Sprint(from), fmt.Sprint(to))
		default:
			runs = append(runs, fmt.Sprintf("%d..%d", from, to))
		}
	}
	return strings.Join(runs, ", ")
}
