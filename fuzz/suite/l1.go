package suite

import (
	"fmt"

	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"pgregory.net/rapid"
)

// usage compares the live buffers and the L1 contents of one device, core by core, for resident or
// for registered programs.
func (g *game) usage(t *rapid.T) {
	id := gen.DeviceID(g.model.Devices()).Draw(t, "device")
	registered := rapid.Bool().Draw(t, "registered")
	alike(t, g.tracker.Buffers(id), g.model.Buffers(id), "buffers on device %d", id)
	alike(t, g.tracker.Usage(id, registered), g.model.Usage(id, registered), "usage of device %d, registered %v", id, registered)
	for _, core := range g.cores(id) {
		what := fmt.Sprintf("core %v of device %d, registered %v", core, id, registered)
		alike(t, g.tracker.CoreUsage(id, core, registered), g.model.CoreUsage(id, core, registered), "usage of %s", what)
		alike(t, g.tracker.Residents(id, core, registered), g.model.Residents(id, core, registered), "residents of %s", what)
	}
}

// squeeze allocates a buffer, perhaps right beside a program, and compares whether a known program
// fits and runs: drawn one by one, hardly any would just fit.
func (g *game) squeeze(t *rapid.T) {
	run := gen.Moves(gen.Enqueue, g.world).Draw(t, "run")
	const id = 66 // no other buffer's
	apart := run.Program != nil && rapid.Bool().Draw(t, "apart")
	if apart {
		g.move(t, gen.Move{Op: gen.Allocate, Buffer: gen.Apart(run.Program, id).Draw(t, "buffer"), Devices: run.Devices})
	} else {
		g.play(t, gen.Allocate)
	}
	g.verdict(t, run.Program, run.Devices)
	g.grow(t, run.Program, run.Devices)
	if rapid.Bool().Draw(t, "again") {
		g.move(t, run) // it fits, or not
		g.play(t, rapid.SampledFrom([]gen.Op{gen.Free, gen.Allocate}).Draw(t, "op"))
	}
	g.move(t, run)
	if apart {
		g.move(t, gen.Move{Op: gen.Free, Buffer: model.Buffer{ID: id}, Devices: run.Devices})
	}
}

// place lets the allocator find addresses, or one beside a buffer with a hidden address.
func (g *game) place(t *rapid.T) {
	const id = 55 // no other buffer's
	if rapid.Bool().Draw(t, "several") {
		for range 3 {
			g.play(t, gen.Place)
		}
		return
	}
	m := gen.Moves(gen.Place, g.world).Draw(t, "place")
	hidden := model.Buffer{ID: id, Kind: model.L1, Mode: model.PerCore, Hidden: gen.CoreRangeSet(4, 3).Draw(t, "hidden cores")}
	g.move(t, gen.Move{Op: gen.Allocate, Buffer: hidden, Devices: m.Devices})
	g.move(t, m)
	g.move(t, gen.Move{Op: gen.Free, Buffer: model.Buffer{ID: id}, Devices: m.Devices})
}

// flood leaves room for a few bytes on some devices, runs a program there, and takes the
// flood away.
func (g *game) flood(t *rapid.T) {
	const id = 77 // unused elsewhere
	run := gen.Moves(rapid.SampledFrom([]gen.Op{gen.Enqueue, gen.Dispatch}).Draw(t, "op"), g.world).Draw(t, "run")
	water := gen.Move{Op: gen.Allocate, Buffer: gen.GiantBuffer(id).Draw(t, "giant"), Devices: run.Devices}
	g.move(t, water)
	g.move(t, run)
	g.check(t)
	g.move(t, gen.Move{Op: gen.Free, Buffer: model.Buffer{ID: id}, Devices: run.Devices})
}

// verdict compares whether a program fits, and how much room there is.
func (g *game) verdict(t *rapid.T, p *program.Program, ids []uint64) {
	what := fmt.Sprintf("%v on %v", p.GoString(), ids)
	got, gotErr := g.tracker.Check(p, ids)
	want, wantErr := g.model.Check(p, ids)
	sameError(t, gotErr, wantErr, "check of %s", what)
	alike(t, got.Refusals, want.Refusals, "refusals of %s", what)
	alike(t, got.Hybrid, want.Hybrid, "refusals in HYBRID mode of %s", what)
	alike(t, got.Clashes, want.Clashes, "clashes of %s", what)
	alike(t, got.Doubts, want.Doubts, "doubts of %s", what)
	g.room(t, p, ids)
}

// room compares the room over a program, and over all registered ones.
func (g *game) room(t *rapid.T, p *program.Program, ids []uint64) {
	for _, p := range []*program.Program{p, nil} {
		got, gotErr := g.tracker.Headroom(p, ids)
		want, wantErr := g.model.Headroom(p, ids)
		sameError(t, gotErr, wantErr, "headroom of %s on %v", p.GoString(), ids)
		alike(t, got, want, "headroom of %s on %v", p.GoString(), ids)
	}
	on := gen.CoreRangeSet(4, 3).Draw(t, "cores")
	for _, mode := range []model.Mode{model.Lockstep, model.PerCore, model.RangeLockstep} {
		free, gotErr := g.tracker.Room(mode, on, ids)
		wantFree, wantErr := g.model.Room(mode, on, ids)
		sameError(t, gotErr, wantErr, "room in mode %q on %v of %v", mode, on, ids)
		alike(t, free, wantFree, "room in mode %q on %v of %v", mode, on, ids)
	}
}

// grow queries by how much a buffer of a program may grow: by that much it fits, by one byte more
// it does not. Smaller sizes may not fit; the suite does not check them.
func (g *game) grow(t *rapid.T, p *program.Program, ids []uint64) {
	if p == nil || p.Len() == 0 {
		return
	}
	cb := rapid.IntRange(0, p.Len()-1).Draw(t, "CB")
	if len(ids) == 0 || p.Spec().L1Size == 0 {
		return // there is no end
	}
	var size uint64
	for i, placed := range p.CBs() {
		if i == cb {
			size = placed.Size
			if placed.Cores.Len() == 0 {
				return // it takes nothing, however large
			}
		}
	}
	what := fmt.Sprintf("CB %d of %s on %v", cb, p.GoString(), ids)
	got, ok, err := g.tracker.MayGrow(p, cb, ids)
	_, wantOK, wantErr := g.model.MayGrow(p, cb, ids)
	sameError(t, err, wantErr, "growth of %s", what)
	same(t, ok, wantOK, "growth of %s", what)
	if !ok {
		return
	}
	for _, grown := range []uint64{got, got + 1} {
		next, err := p.Resize(cb, size+grown)
		if err != nil || size+grown > l1.MaxAddr {
			t.Fatalf("growth of %s by %d: %v", what, got, err)
		}
		v, err := g.model.Check(next, ids)
		if fits := v.Fits() && !g.model.AboveUsable(p, next, ids); err != nil || fits != (grown == got) {
			t.Fatalf("growth of %s: got %d\nby %d it fits: %v, %v", what, got, grown, fits, err)
		}
	}
}
