package suite

import (
	"slices"

	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"pgregory.net/rapid"
)

// A Registrar counts the bytes of registered programs on devices 0 and 1. It is the least that a
// tracker does. A Tracker does more, and RegistrarModel finds the same errors in smaller lives.
type Registrar interface {
	// Register adds the bytes of a program to a device. added is false, and nothing changes, if
	// the program is registered there.
	Register(p *program.Program, device uint64) (added bool, err error)

	// Unregister takes the bytes away that no other program holds. A program that is not
	// registered on the device is an error, of any kind, and changes nothing.
	Unregister(id program.ID, device uint64) error

	// Total returns the bytes that the registered programs take on a device: the sum over its
	// cores, each byte of a core once.
	Total(device uint64) uint64
}

// RegistrarModel returns the property that a registrar is right: one random life of a new one
// beside the oracle, with both totals compared after every call. A program id has one footprint
// for the whole life, all programs are legal, and both devices have the given Spec. A
// counterexample names each program in one line, with its ranges.
func RegistrarModel(newRegistrar func(spec l1.Spec) Registrar) func(*rapid.T) {
	return func(t *rapid.T) {
		spec := l1.Spec{Name: "toy", Cols: 2, Rows: 2, L1Size: 64}
		g := registering{registrar: newRegistrar(spec), model: model.NewFleet(), spec: spec, programs: make(map[program.ID]*program.Program)}
		if err := g.model.AddMesh(0, 1, devices, spec); err != nil {
			t.Fatalf("devices of the model: %v", err)
		}
		t.Repeat(map[string]func(*rapid.T){"": g.check, "register": g.register, "unregister": g.unregister, "unregister any": g.unregisterAny})
	}
}

// devices is how many devices a registrar has.
const devices = 2

// registering is a registrar beside the model.
type registering struct {
	registrar Registrar
	model     *model.Fleet
	spec      l1.Spec
	programs  map[program.ID]*program.Program // all that were drawn
	live      []registered                    // in the order of their registration
}

// registered is a program on a device.
type registered struct {
	id     program.ID
	device uint64
}

// draw draws a program id and a device.
func (g *registering) draw(t *rapid.T) registered {
	id := rapid.SampledFrom([]program.ID{1, 2, 3}).Draw(t, "id")
	return registered{id, rapid.Uint64Range(0, devices-1).Draw(t, "device")}
}

// program returns the program with an id, and draws it if it is new.
func (g *registering) program(t *rapid.T, id program.ID) *program.Program {
	if g.programs[id] == nil {
		g.programs[id] = rapid.Custom(func(t *rapid.T) *program.Program {
			b := program.NewBuilder(id)
			part := rapid.Custom(func(t *rapid.T) model.Part {
				return model.Part{Cores: gen.CoreRangeSet(g.spec.Cols, g.spec.Rows).Draw(t, "cores"), Range: gen.Range(gen.Ends(0)).Draw(t, "range")}
			})
			for _, p := range rapid.SliceOfN(part, 1, 2).Draw(t, "ranges") {
				b.Range(p.Cores, p.Range)
			}
			p, err := b.Build(g.spec)
			if err != nil {
				t.Fatalf("program %d: %v", id, err)
			}
			return p
		}).Draw(t, "program")
	}
	return g.programs[id]
}

func (g *registering) register(t *rapid.T) {
	one := g.draw(t)
	p := g.program(t, one.id)
	_, err := g.model.Register(p, []uint64{one.device})
	want := !slices.Contains(g.live, one)
	got, gotErr := g.registrar.Register(p, one.device)
	t.Logf("register %#v on device %d -> %v, %v", p, one.device, got, gotErr)
	if got != want || gotErr != nil || err != nil {
		t.Fatalf("register program %d\n got: %v, %v\nwant: %v, %v", one.id, got, gotErr, want, err)
	}
	if want {
		g.live = append(g.live, one)
	}
}

func (g *registering) unregister(t *rapid.T) {
	if len(g.live) == 0 {
		g.unregisterAny(t)
		return
	}
	g.remove(t, rapid.SampledFrom(g.live).Draw(t, "registered"))
}

func (g *registering) unregisterAny(t *rapid.T) { g.remove(t, g.draw(t)) }

func (g *registering) remove(t *rapid.T, one registered) {
	want := g.model.Unregister(one.id, []uint64{one.device})
	got := g.registrar.Unregister(one.id, one.device)
	t.Logf("unregister program %d on device %d -> %v", one.id, one.device, got)
	if (got == nil) != (want == nil) {
		t.Fatalf("unregister program %d\n got error: %v\nwant error: %v", one.id, got, want)
	}
	g.live = slices.DeleteFunc(g.live, func(l registered) bool { return l == one })
}

func (g *registering) check(t *rapid.T) {
	for device := range uint64(devices) {
		want, err := g.model.Totals(device)
		if got := g.registrar.Total(device); got != want.Registered || err != nil {
			t.Fatalf("total of device %d\n got: %d\nwant: %d", device, got, want.Registered)
		}
	}
}
