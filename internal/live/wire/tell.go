package wire

import (
	"fmt"
	"math"
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
	Chips []int32 // of a mesh, under whose id its backing allocations stand
	DRAM  uint64  // bytes; 0: the size of its board, by DRAMOf
}

// A Teller turns effects of records into events. The zero Teller knows no device. An undeclared
// device has one core, which stands for all.
type Teller struct {
	T string // the time of the events, a number as a log has it; "" = none

	specs map[int32]l1.Spec
	ids   map[uint64]program.ID // of CBs that are live, by the serial number of their lot
	free  []program.ID          // that were given and are no one's now
}

// program returns the id under which a CB is registered. Ids of CBs that are gone are used again,
// so that a long run needs no more ids than CBs that lived at once.
func (t *Teller) program(lot *Lot) program.ID {
	if id, ok := t.ids[lot.Serial]; ok {
		return id
	}
	if t.ids == nil {
		t.ids = map[uint64]program.ID{}
	}
	id := program.ID(len(t.ids) + 1) // all below are given
	if last := len(t.free) - 1; last >= 0 {
		id, t.free = t.free[last], t.free[:last]
	}
	t.ids[lot.Serial] = id
	return id
}

// Header returns the first events of a log: its header, and that CBs are counted on every
// core.
func (t *Teller) Header() []event.Event {
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
	CodeLost        = "client-lost"     // something hidden: a client was closed, so its holdings are not known any more
)

// meshName is the name of a device that stands for the chips of a mesh.
const meshName = "mesh"

// Declare returns the event that declares a device, and remembers its grid. The name of a mesh
// begins with the word, as "mesh n150".
func (t *Teller) Declare(d DeclaredDevice) event.Event {
	if t.specs == nil {
		t.specs = map[int32]l1.Spec{}
	}
	if d.Chips != nil && d.Spec.Name != meshName {
		d.Spec.Name = strings.TrimSpace(meshName + " " + d.Spec.Name)
	}
	t.specs[d.ID] = d.Spec
	return event.Event{Kind: event.KindDevice, T: t.T, Device: device.ID(d.ID), Spec: d.Spec, DRAM: d.DRAM}
}

// known declares a device that is not declared yet.
func (t *Teller) known(out []event.Event, id int32) []event.Event {
	if _, ok := t.specs[id]; ok {
		return out
	}
	return append(out, t.Declare(DeclaredDevice{ID: id, Spec: l1.Spec{Name: "unknown", Cols: 1, Rows: 1}}))
}

// Tell returns the events of an effect: none if it changed nothing.
func (t *Teller) Tell(e *Effect) []event.Event {
	switch e.What {
	case Came, CameAgain:
		return t.Came(&e.Lot)
	case Left, Gone:
		return t.went(e)
	}
	return nil
}

// Came returns the events of a lot that is live, as a log that begins later needs them.
func (t *Teller) Came(lot *Lot) []event.Event {
	out := t.known(nil, lot.Device)
	e := event.Event{T: t.T, Process: strconv.Itoa(int(lot.PID)), Devices: on(lot)}
	switch {
	case lot.Type == TypeCBAlloc && lot.Size == 0:
		return out
	case lot.Type == TypeCBAlloc && !placed(lot):
		e.Pos.Node, e.Kind, e.Code, e.Count = -1, event.KindHidden, CodeUnplaced, 1
		e.Detail = fmt.Sprintf("CB of %d bytes at 0x%x", lot.Size, lot.ID)
	case lot.Type == TypeCBAlloc:
		define := e
		define.Kind, define.Devices, define.Program = event.KindProgram, event.Opt[[]device.ID]{}, t.program(lot)
		define.Name = fmt.Sprintf("CB 0x%x", lot.ID)
		define.CBs = []event.CB{{CB: program.CB{Cores: t.specs[lot.Device].Grid(), Size: lot.Size, Address: lot.ID, Fixed: true}}}
		out = append(out, define)
		e.Kind, e.Program = event.KindRegister, define.Program
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
	case !e.Buffer.Backing:
		e.Buffer.Unsized = true
		e.Address = event.Some(lot.ID)
		e.Parts = []event.Part{{Range: l1.Range{Start: lot.ID, End: lot.ID}}}
		e.CoresFrom = event.FromAssumed
	}
}

// went returns the events of a lot that is not live any more. If several processes shared its
// bytes, an event gives them to the next one.
func (t *Teller) went(of *Effect) []event.Event {
	lot := &of.Lot
	e := event.Event{T: t.T, Process: strconv.Itoa(int(lot.PID)), Devices: on(lot), Leaked: of.Leaked}
	switch {
	case lot.Type == TypeCBAlloc && (lot.Size == 0 || !placed(lot)):
		return nil
	case lot.Type == TypeCBAlloc:
		e.Kind, e.Program = event.KindUnregister, t.program(lot)
		t.free = append(t.free, e.Program)
		delete(t.ids, lot.Serial)
	default:
		e.Kind, e.Buffer.ID = event.KindFree, fit.BufferID(lot.Serial)
	}
	out := []event.Event{e}
	if of.Heir != (Lot{}) {
		again := t.Came(&of.Heir)
		again[len(again)-1].Corrects = true
		out = append(out, again...)
	}
	return out
}

func on(lot *Lot) event.Opt[[]device.ID] { return event.Some([]device.ID{device.ID(lot.Device)}) }

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
