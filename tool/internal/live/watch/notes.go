package watch

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/session"
)

// The limits of Notes: refusals kept as text, and devices with something hidden. With more of
// these, all devices count as such.
const (
	maxRefused = 3
	maxTold    = 8 // refusals of all fleets
	maxHidden  = 1 << 16
)

// Notes hold the statements of the event logs of one fleet about themselves, and their refused
// events. The zero Notes are empty and ready to use. Their methods may be called at the same time.
type Notes struct {
	mu      sync.Mutex // all below
	odd     map[event.Code]int64
	refused []string
	bound   bool                 // CBs count as if on every core
	hidden  map[device.ID]bool   // devices with something that is not shown
	unseen  bool                 // something of any device is not shown
	held    holders              // of a log that is bound
	dram    map[device.ID]uint64 // of devices with a known size
	meshes  map[device.ID][]device.ID
}

// Take records an event, and the error of Session.Apply for it.
func (n *Notes) Take(e *event.Event, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.odd == nil {
		n.odd, n.hidden, n.dram, n.meshes = map[event.Code]int64{}, map[device.ID]bool{}, map[device.ID]uint64{}, map[device.ID][]device.ID{}
		n.held = holders{on: map[device.ID]map[thing]stake{}, sizes: map[uint64]uint64{}}
	}
	if refused, ok := errors.AsType[*session.RefusedError](err); ok {
		n.odd[refused.Code]++
		n.refused = append(n.refused, refused.Error())
		n.refused = n.refused[max(0, len(n.refused)-maxRefused):]
	}
	if err == nil {
		n.happened(e)
	}
	switch {
	case e.Kind == event.KindAnomaly:
		n.bound = n.bound || e.Code == wire.CodeEveryCore
	case e.Kind != event.KindHidden:
	case e.Devices.OK && len(n.hidden)+len(e.Devices.V) <= maxHidden:
		for _, id := range e.Devices.V {
			n.hidden[id] = true
		}
	default:
		n.unseen = true
	}
}

// happened records an event that changed the fleet.
func (n *Notes) happened(e *event.Event) {
	switch {
	case e.DRAM > 0:
		for i := range max(1, e.Rows*e.Cols) {
			n.dram[e.Device+device.ID(i)] = e.DRAM
		}
	case e.Kind == event.KindRemove && !e.Devices.OK:
		clear(n.dram)
	case e.Kind == event.KindRemove:
		for _, id := range e.Devices.V {
			delete(n.dram, id)
		}
	}
	if n.bound {
		n.held.take(e)
		if e.Kind == event.KindDevice && e.Role == event.RoleMesh {
			n.meshes[e.Device] = e.Chips
		}
	}
}

// DRAM returns the bytes of DRAM of a device by the logs; 0 if they have none.
func (n *Notes) DRAM(id device.ID) uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dram[id]
}

// Chips returns the chips of a mesh of a recording; nil for other devices.
func (n *Notes) Chips(id device.ID) []device.ID {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.meshes[id]
}

// Row returns the row of a device of the fleet. In a recording the row of a mesh is a view of its chips.
func (n *Notes) Row(f *device.Fleet, d device.Device) answer.LiveDevice {
	var chips []answer.LiveDevice
	for _, id := range n.Chips(d.ID()) {
		if chip, err := f.Device(id); err == nil {
			chips = append(chips, n.row(chip))
		}
	}
	row := n.row(d)
	if chips != nil {
		mesh := answer.MeshOf(row.Device, row.Board, chips)
		mesh.Incomplete = mesh.Incomplete || row.Incomplete
		return mesh
	}
	return row
}

func (n *Notes) row(d device.Device) answer.LiveDevice {
	row := answer.NewLiveDevice(d)
	n.mu.Lock()
	defer n.mu.Unlock()
	row.Bound, row.Incomplete = n.bound, n.unseen || n.hidden[d.ID()]
	SetDRAM(&row, n.dram[d.ID()])
	return row
}

// Add adds the rows of the devices of the fleet, and its refusals, under the name of the fleet. It
// adds devices up to most rows in all; Snapshot.Left counts the others. For a fleet without a name
// it adds the processes and leaks of its log.
func (n *Notes) Add(to *Snapshot, name string, f *device.Fleet, most int) {
	devices := f.Set().Len()
	if room := max(0, most-len(to.Devices)); devices > room {
		to.Left += devices - room
		devices = room
	}
	if devices > 0 {
		for d := range f.Devices() {
			if devices--; devices < 0 {
				break
			}
			row := n.Row(f, d)
			row.Fleet = name
			to.Devices = append(to.Devices, row)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if name == "" {
		n.held.add(to)
	}
	for _, code := range slices.Sorted(maps.Keys(n.odd)) {
		to.Odd = append(to.Odd, OddityCount{Fleet: name, Code: string(code), Count: n.odd[code]})
	}
	for _, text := range n.refused[:max(0, min(len(n.refused), maxTold-len(to.Refused)))] {
		if name != "" {
			text = name + ", " + text
		}
		to.Refused = append(to.Refused, text)
	}
}
