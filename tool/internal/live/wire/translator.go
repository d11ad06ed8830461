package wire

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A DeclaredDevice holds the properties of a device that its records leave out.
type DeclaredDevice struct {
	ID    int32
	Spec  l1.Spec
	Chips []int32 // of a mesh; it may have the id of the first one, which is a device of its own then
	DRAM  uint64  // bytes; 0: the size of its board, by DRAMOf
}

// A Translator turns effects of records into events. The zero Translator knows no device. An undeclared
// device has one core, which stands for all.
type Translator struct {
	T string // the time of the events, a number as a log has it; "" = none

	specs map[int32]l1.Spec
	chips map[int32][]int32       // of a mesh
	ids   map[placedCB]program.ID // of CBs that are live
	free  []program.ID            // ids of CBs that are gone
}

// A placedCB is a CB on one of its groups of devices.
type placedCB struct {
	serial uint64 // of its lot
	group  int
}

// program returns the id under which a CB is registered. Ids of CBs that are gone are used again,
// so that a long run needs no more ids than CBs that lived at once.
func (t *Translator) program(cb placedCB) program.ID {
	if id, ok := t.ids[cb]; ok {
		return id
	}
	if t.ids == nil {
		t.ids = map[placedCB]program.ID{}
	}
	id := program.ID(len(t.ids) + 1) // all below are given
	if last := len(t.free) - 1; last >= 0 {
		id, t.free = t.free[last], t.free[:last]
	}
	t.ids[cb] = id
	return id
}

// A group is devices with one Spec. A program is built for one Spec.
type group struct {
	spec    l1.Spec
	devices []device.ID
}

// groups returns the devices on which a lot lies.
func (t *Translator) groups(lot *Lot) (out []group) {
	for _, id := range t.members(lot) {
		spec := t.specs[int32(id)]
		i := slices.IndexFunc(out, func(g group) bool { return g.spec == spec })
		if i < 0 {
			i = len(out)
			out = append(out, group{spec: spec})
		}
		out[i].devices = append(out[i].devices, id)
	}
	return out
}

// members returns the ids of the devices on which a lot lies. CBs and kernels of a mesh lie on its chips.
func (t *Translator) members(lot *Lot) (out []device.ID) {
	chips := t.chips[lot.Device]
	if chips == nil || lot.Type == TypeAlloc {
		chips = []int32{lot.Device}
	}
	for _, id := range chips {
		out = append(out, device.ID(id))
	}
	return out
}

// Header returns the first events of a log: its header, and that CBs are counted on every
// core.
func (t *Translator) Header() []event.Event {
	return []event.Event{
		{Kind: event.KindHeader},
		{Pos: event.Pos{Node: -1}, T: t.T, Kind: event.KindAnomaly, Code: CodeEveryCore, Count: 1},
	}
}

// The codes of statements of a log of live records about itself.
const (
	CodeEveryCore   = "every-core"      // an anomaly: figures of CBs are a bound, as if each were on every core
	CodeUnplaced    = "buffer-unplaced" // something hidden: a CB that ends beyond any L1, and is in no figure of a core
	CodeNotRecorded = "not-recorded"    // something hidden: a server could not write its log, so that events before this log are in none
	CodeOdd         = "odd-record"      // something hidden: a record contradicts others
	CodeLost        = "client-lost"     // something hidden: a client was closed, so its holdings are not known any more
)

// meshName is the name of a device that stands for the chips of a mesh.
const meshName = "mesh"

// Declare returns the event that declares a device, and remembers its grid and its chips. The name
// of a mesh begins with the word, as "mesh n150". A mesh with the id of its first chip has no event:
// the device of this id is the chip.
func (t *Translator) Declare(d DeclaredDevice) []event.Event {
	if t.specs == nil {
		t.specs, t.chips = map[int32]l1.Spec{}, map[int32][]int32{}
	}
	e := event.Event{Kind: event.KindDevice, T: t.T, Device: device.ID(d.ID), DRAM: d.DRAM}
	if d.Chips != nil {
		t.chips[d.ID] = d.Chips
		if d.Chips[0] == d.ID {
			return nil
		}
		if e.Role = event.RoleMesh; d.Spec.Name != meshName {
			d.Spec.Name = strings.TrimSpace(meshName + " " + d.Spec.Name)
		}
		for _, chip := range d.Chips {
			e.Chips = append(e.Chips, device.ID(chip))
		}
	}
	t.specs[d.ID], e.Spec = d.Spec, d.Spec
	return []event.Event{e}
}

// Tell returns the events of an effect. An odd record hides something that came or went.
func (t *Translator) Tell(e *Effect) (out []event.Event) {
	switch e.What {
	case Came, CameAgain:
		out = t.Came(&e.Lot)
	case Left, Gone:
		out = t.went(e)
	}
	if e.Odd != "" {
		out = append(out, event.Event{
			Pos: event.Pos{Node: -1}, T: t.T, Kind: event.KindHidden, Code: CodeOdd, Count: 1, Detail: fmt.Sprintf("%s: %v of 0x%x on device %d", e.Odd, e.Type, e.ID, e.Device)})
	}
	return out
}

// Came returns the events of a lot that is live, as a log that begins later needs them.
func (t *Translator) Came(lot *Lot) (out []event.Event) {
	for _, id := range t.members(lot) { // of which some are not declared
		if _, ok := t.specs[int32(id)]; !ok {
			out = append(out, t.Declare(DeclaredDevice{ID: int32(id), Spec: l1.Spec{Name: "unknown", Cols: 1, Rows: 1}})...)
		}
	}
	e := event.Event{T: t.T, Process: strconv.Itoa(int(lot.PID)), Devices: event.Some(t.members(lot))}
	switch {
	case lot.Type == TypeCBAlloc && lot.Size == 0:
		return out
	case lot.Type == TypeCBAlloc && !placed(lot):
		e.Pos.Node, e.Kind, e.Code, e.Count = -1, event.KindHidden, CodeUnplaced, 1
		e.Detail = fmt.Sprintf("CB of %d bytes at 0x%x", lot.Size, lot.ID)
	case lot.Type == TypeCBAlloc:
		for i, g := range t.groups(lot) {
			define := e
			define.Kind, define.Devices, define.Program = event.KindProgram, event.Opt[[]device.ID]{}, t.program(placedCB{lot.Serial, i})
			define.Name = fmt.Sprintf("CB 0x%x", lot.ID)
			define.CBs = []event.CB{{CB: program.CB{Cores: g.spec.Grid(), Size: lot.Size, Address: lot.ID, Fixed: true}}}
			e.Kind, e.Program, e.Devices = event.KindRegister, define.Program, event.Some(g.devices)
			out = append(out, define, e)
		}
		return out
	default:
		e.Kind = event.KindAllocate
		e.Buffer = fit.Buffer{ID: fit.BufferID(lot.Serial), Kind: kindOf(lot), Size: lot.Size, Backing: lot.Backing || lot.Shared, Name: fmt.Sprintf("0x%x", lot.ID)}
		place(&e, lot)
	}
	return append(out, e)
}

// place sets the address of a buffer in L1. Its bytes on a core are unknown.
func place(e *event.Event, lot *Lot) {
	switch kind := e.Buffer.Kind; {
	case kind == fit.KindDRAM, kind == fit.KindTrace, kind == fit.KindSystem, kind == fit.KindKernel:
	case !placed(lot):
		e.Unplaced = event.UnplacedBeyond
	case e.Buffer.Backing:
		e.Address = event.Some(lot.ID)
	default:
		e.Buffer.Unsized = true
		e.Address = event.Some(lot.ID)
		e.Parts = []event.Part{{Range: l1.Range{Start: lot.ID, End: lot.ID}}}
		e.CoresFrom = event.FromAssumed
	}
}

// went returns the events of a lot that is not live any more. If several processes shared its
// bytes, an event gives them to the next one.
func (t *Translator) went(of *Effect) []event.Event {
	lot := &of.Lot
	e := event.Event{T: t.T, Process: strconv.Itoa(int(lot.PID)), Devices: event.Some(t.members(lot)), Leaked: of.Leaked}
	var out []event.Event
	switch {
	case lot.Type == TypeCBAlloc && (lot.Size == 0 || !placed(lot)):
		return nil
	case lot.Type == TypeCBAlloc:
		for i, g := range t.groups(lot) {
			cb := placedCB{lot.Serial, i}
			e.Kind, e.Program, e.Devices = event.KindUnregister, t.program(cb), event.Some(g.devices)
			t.free = append(t.free, e.Program)
			delete(t.ids, cb)
			out = append(out, e)
			e.Leaked = false // one lot is one leak, on all groups
		}
		return out
	}
	e.Kind, e.Buffer.ID = event.KindFree, fit.BufferID(lot.Serial)
	out = append(out, e)
	if of.Heir != (Lot{}) {
		again := t.Came(&of.Heir)
		again[len(again)-1].Corrects = true
		out = append(out, again...)
	}
	return out
}

// placed reports whether a lot can lie in an L1: addresses there fit in 32 bits.
func placed(lot *Lot) bool {
	r, err := l1.RangeOf(lot.ID, lot.Size)
	return err == nil && r.Start <= math.MaxUint32 && (lot.Type != TypeCBAlloc || r.End <= math.MaxUint32)
}

// kindOf returns the kind of a buffer or kernel in the words of package fit.
func kindOf(lot *Lot) fit.Kind {
	if lot.Type == TypeKernelLoad {
		return fit.KindKernel
	}
	return [...]fit.Kind{fit.KindDRAM, fit.KindL1, fit.KindSystem, fit.KindL1Small, fit.KindTrace}[lot.Kind]
}
