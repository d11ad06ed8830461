package gen

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"pgregory.net/rapid"
)

// An Op is one of the calls that change a fleet.
type Op string

// The calls that change a fleet.
const (
	AddDevice     Op = "add device"
	AddMesh       Op = "add mesh"
	Remove        Op = "remove"
	Register      Op = "register"
	Unregister    Op = "unregister"
	UnregisterAll Op = "unregister all"
	Replace       Op = "replace"
	ResetPeaks    Op = "reset peaks"
	Dispatch      Op = "dispatch"
	Evict         Op = "evict"
	BeginTrace    Op = "begin trace"
	Record        Op = "record"
	EndTrace      Op = "end trace"
	Replay        Op = "replay"
	ReleaseTrace  Op = "release trace"
	Allocate      Op = "allocate"
	Free          Op = "free"
	Enqueue       Op = "enqueue"
	SetHybrid     Op = "set HYBRID"
	Place         Op = "place"
)

// A Move is one call with its arguments.
type Move struct {
	Op         Op
	Devices    []uint64         // AddDevice, AddMesh, ResetPeaks: one, the first
	Spec       l1.Spec          // AddDevice, AddMesh
	Rows, Cols int              // AddMesh
	Program    *program.Program // of calls that name one; may be nil
	New        *program.Program // Replace; may be nil
	Trace      uint64           // Record, EndTrace, Replay, ReleaseTrace
	Buffer     model.Buffer     // Allocate, Place; Free: its ID
	On         bool             // SetHybrid
}

// String returns the call in words.
func (m Move) String() string {
	switch m.Op {
	case AddDevice:
		return fmt.Sprintf("%s %v: %v", m.Op, m.Devices, m.Spec)
	case AddMesh:
		return fmt.Sprintf("%s %dx%d from %v: %v", m.Op, m.Rows, m.Cols, m.Devices, m.Spec)
	case Remove, ResetPeaks, BeginTrace:
		return fmt.Sprintf("%s %v", m.Op, m.Devices)
	case Record:
		return fmt.Sprintf("%s %d: %s", m.Op, m.Trace, m.Program.GoString())
	case EndTrace, Replay, ReleaseTrace:
		return fmt.Sprintf("%s %d", m.Op, m.Trace)
	case UnregisterAll:
		return fmt.Sprintf("%s %s", m.Op, m.Program.GoString())
	case SetHybrid:
		return fmt.Sprintf("%s %v on %v", m.Op, m.On, m.Devices)
	case Allocate, Place:
		return fmt.Sprintf("%s %s on %v", m.Op, describeBuffer(m.Buffer), m.Devices)
	case Free:
		return fmt.Sprintf("%s buffer %d on %v", m.Op, m.Buffer.ID, m.Devices)
	case Replace:
		return fmt.Sprintf("%s %s with %s", m.Op, m.Program.GoString(), m.New.GoString())
	}
	return fmt.Sprintf("%s %s on %v", m.Op, m.Program.GoString(), m.Devices)
}

// GoString is String: rapid prints values that it draws by %#v.
func (m Move) GoString() string { return m.String() }

func describeBuffer(b model.Buffer) string {
	var parts []string
	for _, p := range b.Parts {
		parts = append(parts, fmt.Sprintf("%v on %v", p.Range, p.Cores))
	}
	backing := ""
	if b.Backing {
		backing = "backing "
	}
	mode := string(b.Mode)
	if b.Hidden.Len() > 0 {
		mode += fmt.Sprintf(" hidden on %v", b.Hidden)
	}
	return fmt.Sprintf("%s%s %d %q of %d {%s} %s", backing, b.Kind, b.ID, b.Name, b.Size, strings.Join(parts, "; "), mode)
}

// A Mover has the calls that change a fleet, with the meaning that they have in
// model.Fleet.
type Mover interface {
	AddDevice(id uint64, spec l1.Spec) error
	AddMesh(first uint64, rows, cols int, spec l1.Spec) error
	Remove(ids []uint64) error
	Register(p *program.Program, ids []uint64) (added []uint64, err error)
	Unregister(p program.ID, ids []uint64) error
	UnregisterAll(p program.ID) (removed []uint64)
	Replace(old program.ID, new *program.Program) (changed []uint64, err error)
	ResetPeaks(id uint64) error

	Dispatch(p program.ID, ids []uint64) error
	Evict(p program.ID, ids []uint64) (evicted []uint64, err error)
	BeginTrace(ids []uint64) (id uint64, err error)
	Record(trace uint64, p program.ID) error
	EndTrace(trace uint64) error
	Replay(trace uint64) error
	ReleaseTrace(trace uint64) error

	Allocate(b model.Buffer, ids []uint64) error
	Free(buffer uint64, ids []uint64) (model.Buffer, error)
	Enqueue(p *program.Program, ids []uint64) (added []uint64, err error)
	SetHybrid(ids []uint64, on bool) (changed []uint64, err error)
	Place(b model.Buffer, ids []uint64) error
}

var _ Mover = (*model.Fleet)(nil)

// Play makes the call. It returns the devices that the call returned, if it returns
// any; of BeginTrace the number of the trace, of Free the size of the buffer.
func (m Move) Play(on Mover) (devices []uint64, err error) {
	// A callee may not keep or change its arguments: the ids are spoilt afterwards.
	ids := slices.Clone(m.Devices)
	defer func() {
		for i := range ids {
			ids[i] = 99
		}
	}()
	switch m.Op {
	case AddDevice:
		return nil, on.AddDevice(ids[0], m.Spec)
	case AddMesh:
		return nil, on.AddMesh(ids[0], m.Rows, m.Cols, m.Spec)
	case Remove:
		return nil, on.Remove(ids)
	case Register:
		return on.Register(m.Program, ids)
	case Unregister:
		return nil, on.Unregister(id(m.Program), ids)
	case UnregisterAll:
		return on.UnregisterAll(id(m.Program)), nil
	case Replace:
		return on.Replace(id(m.Program), m.New)
	case ResetPeaks:
		return nil, on.ResetPeaks(ids[0])
	case Dispatch:
		return nil, on.Dispatch(id(m.Program), ids)
	case Evict:
		return on.Evict(id(m.Program), ids)
	case BeginTrace:
		trace, err := on.BeginTrace(ids)
		return []uint64{trace}, err
	case Record:
		return nil, on.Record(m.Trace, id(m.Program))
	case EndTrace:
		return nil, on.EndTrace(m.Trace)
	case Replay:
		return nil, on.Replay(m.Trace)
	case ReleaseTrace:
		return nil, on.ReleaseTrace(m.Trace)
	case Allocate, Place:
		b := m.Buffer
		b.Parts = slices.Clone(b.Parts)
		defer clear(b.Parts)
		if m.Op == Place {
			return nil, on.Place(b, ids)
		}
		return nil, on.Allocate(b, ids)
	case Free:
		b, err := on.Free(m.Buffer.ID, ids)
		defer clear(b.Parts)
		return []uint64{b.Size}, err
	case Enqueue:
		return on.Enqueue(m.Program, ids)
	case SetHybrid:
		return on.SetHybrid(ids, m.On)
	}
	panic("gen: unknown move " + string(m.Op))
}

// A World holds the material of moves: the state of a game.
type World struct {
	Specs    [2]l1.Spec         // most devices have the first
	Mixed    bool               // as many devices, programs and buffers are made for the second
	Programs []*program.Program // that were drawn before, registered or not
	Buffers  []model.Buffer     // that were allocated before, live or not
	State    *model.Fleet       // the present contents; moves do not change it
}

// NewWorld returns a world without anything in it.
func NewWorld(spec, other l1.Spec) *World {
	return &World{Specs: [2]l1.Spec{spec, other}, State: model.NewFleet()}
}

// Moves draws a call of one kind. All of it may be illegal.
func Moves(op Op, w *World) *rapid.Generator[Move] {
	return rapid.Custom(func(t *rapid.T) Move {
		m := Move{Op: op}
		switch op {
		case AddDevice, AddMesh:
			m.added(t, w)
		case Remove:
			m.Devices = DeviceIDs(w.State.Devices()).Draw(t, "devices")
			if len(m.Devices) > 2 {
				m.Devices = m.Devices[:2] // else nothing is ever left
			}
		case SetHybrid:
			m.Devices = DeviceIDs(w.State.Devices()).Draw(t, "devices")
			m.On = rapid.IntRange(0, 2).Draw(t, "on") > 0
		case ResetPeaks:
			m.Devices = []uint64{DeviceID(w.State.Devices()).Draw(t, "device")}
		case Enqueue:
			m.Program = w.enqueued().Draw(t, "program")
			m.Devices = DeviceIDs(w.made(t, m.Program)).Draw(t, "devices")
			if where := w.State.Where(id(m.Program)); len(where) > 0 && rapid.Bool().Draw(t, "from the cache") {
				m.Devices = where
			}
		case Register:
			m.Program = w.program().Draw(t, "program")
			m.Devices = DeviceIDs(w.made(t, m.Program)).Draw(t, "devices")
		case BeginTrace, Record, EndTrace, Replay, ReleaseTrace:
			m.traced(t, w)
		case Unregister, Dispatch, Evict:
			m.Program = w.registered().Draw(t, "program")
			where := w.State.Devices()
			if m.Program != nil && rapid.IntRange(0, 4).Draw(t, "where") < 4 {
				where = w.State.Where(m.Program.ID())
			}
			m.Devices = DeviceIDs(where).Draw(t, "devices")
		case Allocate:
			m.Buffer = w.buffer().Draw(t, "buffer")
			m.Devices = DeviceIDs(w.State.Devices()).Draw(t, "devices")
		case Place:
			m.Buffer = w.unplaced().Draw(t, "buffer")
			m.Devices = DeviceIDs(w.State.Devices()).Draw(t, "devices")
		case Free:
			m.Buffer.ID = rapid.SampledFrom(BufferIDs()).Draw(t, "buffer")
			where := w.allocated(m.Buffer.ID)
			if len(where) == 0 || rapid.IntRange(0, 5).Draw(t, "where") == 5 {
				where = w.State.Devices()
			}
			m.Devices = DeviceIDs(where).Draw(t, "devices")
		case UnregisterAll:
			m.Program = w.registered().Draw(t, "program")
		case Replace:
			m.Program = w.registered().Draw(t, "old")
			m.New = w.successor(m.Program).Draw(t, "new")
		}
		return m
	})
}

// added draws the arguments of a call that adds devices.
func (m *Move) added(t *rapid.T, w *World) {
	m.Devices = []uint64{rapid.SampledFrom(append(newIDs(), 0, 7)).Draw(t, "id")}
	m.Spec = w.spec().Draw(t, "spec")
	if m.Op == AddMesh {
		m.Rows = rapid.SampledFrom([]int{1, 1, 2, 2, 1, 0, -1, math.MaxInt}).Draw(t, "rows")
		m.Cols = rapid.SampledFrom([]int{2, 1, 3, 2, 1, 0, -1, math.MaxInt}).Draw(t, "cols")
	}
}

// traced draws the arguments of a call about a trace.
func (m *Move) traced(t *rapid.T, w *World) {
	switch m.Op {
	case BeginTrace:
		where := w.State.Devices()
		if p := w.registered().Draw(t, "of"); p != nil && len(w.State.Where(p.ID())) > 0 {
			where = w.State.Where(p.ID())
		}
		m.Devices = DeviceIDs(where).Draw(t, "devices")
	default:
		if m.Trace = w.trace(m.Op).Draw(t, "trace"); m.Op == Record {
			m.Program = w.recorded(m.Trace).Draw(t, "program")
		}
	}
}

// ProgramIDs are the ids that Moves gives to programs.
func ProgramIDs() []program.ID { return []program.ID{1, 2, 3, 4, 5, 0, ^program.ID(0)} }

// BufferIDs are the ids that Moves gives to buffers.
func BufferIDs() []uint64 { return []uint64{1, 2, 3, 0, math.MaxUint64} }

// buffer draws a new one, one that is known and thus may come to further devices, or
// one that has to be refused.
func (w *World) buffer() *rapid.Generator[model.Buffer] {
	return rapid.Custom(func(t *rapid.T) model.Buffer {
		which := rapid.IntRange(0, 23).Draw(t, "which")
		switch {
		case which == 23:
			return GiantBuffer(BufferIDs()...).Draw(t, "giant")
		case which > 20:
			return IllegalBuffer(w.one(t), BufferIDs()...).Draw(t, "illegal")
		case which > 18 && len(w.Buffers) > 0:
			return nearly(rapid.SampledFrom(w.Buffers).Draw(t, "known")).Draw(t, "nearly")
		case which > 15 && len(w.Buffers) > 0:
			return rapid.SampledFrom(w.Buffers).Draw(t, "known")
		case which > 6 && len(w.Programs) > 0:
			return beside(rapid.SampledFrom(w.Programs).Draw(t, "neighbour")).Draw(t, "beside")
		}
		return Buffer(w.one(t), BufferIDs()...).Draw(t, "new")
	})
}

// unplaced draws a buffer for an allocator, and now and then one that it must refuse.
func (w *World) unplaced() *rapid.Generator[model.Buffer] {
	return rapid.Custom(func(t *rapid.T) model.Buffer {
		if rapid.IntRange(0, 11).Draw(t, "any") == 11 {
			return w.buffer().Draw(t, "any buffer")
		}
		cols, rows := corner(w.one(t))
		b := model.Buffer{
			ID:   rapid.SampledFrom(append(BufferIDs(), 41, 42)).Draw(t, "id"),
			Kind: rapid.SampledFrom([]model.Kind{model.L1, model.L1, model.L1Small, model.L1Small, model.GlobalCB}).Draw(t, "kind"),
			Parts: []model.Part{{
				Cores: CoreRangeSet(cols, rows).Draw(t, "cores"),
				Range: l1.Range{End: rapid.SampledFrom([]uint64{8, 1, 16, 24, 5, 64}).Draw(t, "bytes")},
			}},
		}
		if b.Kind != model.L1Small {
			modes := []model.Mode{model.Lockstep, model.PerCore, model.RangeLockstep}
			b.Mode = rapid.SampledFrom(modes).Draw(t, "mode")
		}
		return b
	})
}

// allocated returns the devices that have a buffer with an id.
func (w *World) allocated(id uint64) (out []uint64) {
	for _, d := range w.State.Devices() {
		if slices.ContainsFunc(w.State.Buffers(d), func(b model.Buffer) bool { return b.ID == id }) {
			out = append(out, d)
		}
	}
	return out
}

func (w *World) spec() *rapid.Generator[l1.Spec] {
	return rapid.Custom(func(t *rapid.T) l1.Spec {
		switch rapid.IntRange(0, 9).Draw(t, "which") {
		case 5:
			return w.Specs[1]
		case 6, 7, 8, 9:
			return BadSpec().Draw(t, "bad")
		}
		return w.one(t)
	})
}

// one returns the first Spec or, in a mixed world, either.
func (w *World) one(t *rapid.T) l1.Spec {
	if w.Mixed {
		return rapid.SampledFrom(w.Specs[:]).Draw(t, "of the specs")
	}
	return w.Specs[0]
}

// made returns the devices that a call with a program may name: all or, in a mixed world, mostly
// the devices that the program was made for.
func (w *World) made(t *rapid.T, p *program.Program) []uint64 {
	all := w.State.Devices()
	if !w.Mixed || p == nil || rapid.IntRange(0, 3).Draw(t, "any device") == 3 {
		return all
	}
	return slices.DeleteFunc(all, func(id uint64) bool {
		spec, _ := w.State.Spec(id) // it is there
		return !spec.Places(p.Spec())
	})
}

// Asked draws a program for a query: known or new, registered or not, for another Spec, or none.
func (w *World) Asked() *rapid.Generator[*program.Program] { return w.program() }

// program draws one that is known, its equal, a new one, or none.
func (w *World) program() *rapid.Generator[*program.Program] {
	return rapid.Custom(func(t *rapid.T) *program.Program {
		which := rapid.IntRange(0, 19).Draw(t, "which")
		switch {
		case which == 19:
			return nil
		case which == 18 && rapid.Bool().Draw(t, "outside"):
			return TwiceWrong(w.Specs[1], ProgramIDs()...).Draw(t, "twice wrong")
		case which == 18:
			return Program(w.Specs[1], ProgramIDs()...).Draw(t, "other spec")
		case which < 8 || len(w.Programs) == 0:
			return Program(w.one(t), ProgramIDs()...).Draw(t, "new")
		}
		p := rapid.SampledFrom(w.Programs).Draw(t, "known")
		if which == 17 {
			return again(t, p)
		}
		return p
	})
}

// registered draws a program that is registered somewhere, or now and then any.
func (w *World) registered() *rapid.Generator[*program.Program] {
	return rapid.Custom(func(t *rapid.T) *program.Program {
		var out []*program.Program
		for _, p := range w.Programs {
			if len(w.State.Where(p.ID())) > 0 {
				out = append(out, p)
			}
		}
		if len(out) == 0 || rapid.IntRange(0, 5).Draw(t, "any") == 5 {
			return w.program().Draw(t, "program")
		}
		return rapid.SampledFrom(out).Draw(t, "registered")
	})
}

// enqueued draws a program that runs for the first time or from the cache.
func (w *World) enqueued() *rapid.Generator[*program.Program] {
	return rapid.Custom(func(t *rapid.T) *program.Program {
		if rapid.Bool().Draw(t, "registered") {
			return w.registered().Draw(t, "program")
		}
		return w.program().Draw(t, "program")
	})
}

// id returns the id of a program, of none any.
func id(p *program.Program) program.ID {
	if p == nil {
		return 0
	}
	return p.ID()
}

// trace draws the number of a trace, usually one that a call can be made with.
func (w *World) trace(op Op) *rapid.Generator[uint64] {
	return rapid.Custom(func(t *rapid.T) uint64 {
		var fit []uint64
		all := w.State.Traces()
		for _, id := range all {
			if _, ended, _ := w.State.Trace(id); ended == (op == Replay) {
				fit = append(fit, id)
			}
		}
		switch which := rapid.IntRange(0, 9).Draw(t, "which"); {
		case which < 7 && len(fit) > 0:
			return rapid.SampledFrom(fit).Draw(t, "fit")
		case which < 9 && len(all) > 0:
			return rapid.SampledFrom(all).Draw(t, "any")
		}
		return rapid.SampledFrom([]uint64{0, 1, 2, 12345}).Draw(t, "unknown")
	})
}

// recorded draws a program that is registered on all devices of a trace, or now and then
// any.
func (w *World) recorded(trace uint64) *rapid.Generator[*program.Program] {
	return rapid.Custom(func(t *rapid.T) *program.Program {
		on, _, _ := w.State.Trace(trace)
		var out []*program.Program
		for _, p := range w.Programs {
			where := w.State.Where(p.ID())
			if len(where) > 0 && !slices.ContainsFunc(on, func(id uint64) bool { return !slices.Contains(where, id) }) {
				out = append(out, p)
			}
		}
		if len(out) == 0 || rapid.IntRange(0, 5).Draw(t, "any") == 5 {
			return w.registered().Draw(t, "program")
		}
		return rapid.SampledFrom(out).Draw(t, "recorded")
	})
}

// successor draws the replacement of a program: itself with a CB of another size, another layout
// under its id, or any program.
func (w *World) successor(old *program.Program) *rapid.Generator[*program.Program] {
	return rapid.Custom(func(t *rapid.T) *program.Program {
		which := rapid.IntRange(0, 3).Draw(t, "successor")
		switch {
		case old == nil || which == 3:
			return w.program().Draw(t, "any")
		case which == 2 || old.Len() == 0:
			spec := w.Specs[0]
			if w.Mixed {
				spec = old.Spec()
			}
			return Program(spec, old.ID()).Draw(t, "same id")
		}
		cb := rapid.IntRange(0, old.Len()-1).Draw(t, "CB")
		p, err := old.Resize(cb, rapid.SampledFrom([]uint64{8, 0, 1, 16, 48}).Draw(t, "size"))
		if err != nil {
			t.Fatalf("gen: %v", err)
		}
		return p
	})
}

// Start returns calls that a life may begin with: a mesh and a lone device, of the other
// Spec in a mixed world.
func (w *World) Start() []Move {
	lone := w.Specs[0]
	if w.Mixed {
		lone = w.Specs[1]
	}
	return []Move{
		{Op: AddMesh, Devices: []uint64{0}, Rows: 1, Cols: 2, Spec: w.Specs[0]},
		{Op: AddDevice, Devices: []uint64{7}, Spec: lone},
	}
}

// Note keeps a move in mind, so that later ones meet the same programs and buffers: the
// last eight. It does not make the move.
func (w *World) Note(m Move) {
	for _, p := range []*program.Program{m.Program, m.New} {
		if p != nil && !slices.Contains(w.Programs, p) {
			w.Programs = append(w.Programs, p)
		}
	}
	if n := len(w.Programs); n > 8 {
		w.Programs = slices.Clone(w.Programs[n-8:])
	}
	if m.Op == Allocate && m.Buffer.Size < l1.MaxAddr/4 {
		w.Buffers = append(w.Buffers, m.Buffer)
	}
	if n := len(w.Buffers); n > 8 {
		w.Buffers = slices.Clone(w.Buffers[n-8:])
	}
}

// History draws a whole life in advance: calls of the given kinds, legal or not. For
// comparing implementations, or one implementation on different ways to an end.
func History(steps int, ops ...Op) *rapid.Generator[[]Move] { return history(false, steps, ops) }

// MixedHistory is History of devices, programs and buffers of two Specs alike.
func MixedHistory(steps int, ops ...Op) *rapid.Generator[[]Move] { return history(true, steps, ops) }

func history(mixed bool, steps int, ops []Op) *rapid.Generator[[]Move] {
	return rapid.Custom(func(t *rapid.T) []Move {
		w := NewWorld(ToySpec().Draw(t, "spec"), ToySpec().Draw(t, "other spec"))
		w.Mixed = mixed
		moves := w.Start()
		for _, m := range moves {
			_, _ = m.Play(w.State)
		}
		play := func(m Move) {
			_, _ = m.Play(w.State) // refusals belong to the history
			w.Note(m)
			moves = append(moves, m)
		}
		whole := !slices.ContainsFunc(rerunOps(), func(op Op) bool { return !slices.Contains(ops, op) })
		for range rapid.IntRange(0, steps).Draw(t, "steps") {
			if whole && rapid.IntRange(0, 19).Draw(t, "rerun") == 19 {
				for _, m := range Rerun(w).Draw(t, "story") {
					play(m)
				}
				continue
			}
			play(Moves(rapid.SampledFrom(ops).Draw(t, "op"), w).Draw(t, "move"))
		}
		return moves
	})
}
