package render

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/fold"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A named is a device as texts name it.
type named struct {
	id    event.Opt[uint64]
	kind  answer.DeviceKind
	chips []uint64
}

func namedDevice(d *answer.Device) named { return named{d.ID, d.Kind, d.Chips} }

func namedL1(d *answer.DeviceL1) named { return named{d.ID, d.Kind, d.Chips} }

// A deviceFold stands for devices with equal rows.
type deviceFold[T any] struct {
	names
	first *T // the row of the first device
}

// foldDevices folds the rows of devices that have equal keys, in order of the first ones. Only chips are folded: ids of
// meshes mean different sets of chips.
func foldDevices[T any](rows []T, name func(*T) named, key func(*T) string) []deviceFold[T] {
	var out []deviceFold[T]
	at := map[string]int{}
	for i := range rows {
		row := &rows[i]
		device, k := name(row), fmt.Sprint(i)
		if device.kind == answer.KindChip && len(rows) > 1 {
			k = "chip " + key(row)
		}
		f := fold.At(at, &out, k)
		if f.names = append(f.names, device); f.first == nil {
			f.first = row
		}
	}
	return out
}

// figures are the figures of a device in the table of a report.
func figures(d *answer.Device) string {
	op := ""
	if d.Fullest != nil {
		op = string(d.Fullest.Program.Op)
	}
	return fmt.Sprint(d.CBNodes, d.LocalCBs, d.GlobalCBs, d.Programs, d.Cores, d.RegisteredCorePeak, d.RegisteredCoreFinal,
		d.Registered, d.ResidentPeak, d.RegisteredLogical, d.HighestEnd, d.Dataflow, d.Scratchpad, op)
}

// A names is devices that a text names together.
type names []named

// label names the devices in a table: "0", "0..7 (8 chips, equal)",
// "mesh 1 (chip 0)", "mesh 1 (8 chips, equal)", "no id".
func (all names) label() string {
	d := all[0]
	switch {
	case d.kind == answer.KindNone:
		return "no id"
	case d.kind == answer.KindMesh && len(d.chips) == 1:
		return fmt.Sprintf("mesh %d (chip %d)", d.id.V, d.chips[0])
	case d.kind == answer.KindMesh:
		return fmt.Sprintf("mesh %d (%d chips, equal)", d.id.V, len(d.chips))
	case len(all) == 1:
		return fmt.Sprint(d.id.V)
	}
	return fmt.Sprintf("%s (%d chips, equal)", all.ids(), len(all))
}

// title names the devices above a table or a picture: "device 0", "devices 0..7 (8 chips, equal)".
func (all names) title(r *answer.Result) string {
	if len(all) > 1 {
		return "devices " + all.label()
	}
	return deviceName(r, all[0].id)
}

// where names the devices in a sentence.
func (all names) where() string {
	switch {
	case all[0].kind == answer.KindNone:
		return "device not named"
	case all[0].kind == answer.KindMesh:
		return all.label()
	case len(all) == 1:
		return "device " + all.label()
	}
	return "devices " + all.ids()
}

// ids lists the devices' ids: "0..2, 4..7".
func (all names) ids() string {
	const most = 3 // runs shown
	var runs []string
	for i := 0; i < len(all); {
		from := all[i].id.V
		to := from
		for i++; i < len(all) && all[i].id.V == to+1; i++ {
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
