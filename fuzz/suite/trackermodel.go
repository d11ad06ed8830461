package suite

import (
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"pgregory.net/rapid"
)

// TrackerModel returns the property that a tracker is right: one random life of a new
// tracker beside the oracle, with everything compared after every call.
func TrackerModel(newTracker func() Tracker) func(*rapid.T) {
	return func(t *rapid.T) {
		g := &game{
			tracker: newTracker(),
			world:   gen.NewWorld(gen.ToySpec().Draw(t, "spec"), gen.ToySpec().Draw(t, "other spec")),
		}
		g.model = g.world.State
		if rapid.IntRange(0, 4).Draw(t, "devices from the start") > 0 {
			for _, m := range g.world.Start() {
				g.move(t, m)
			}
			if rapid.IntRange(0, 7).Draw(t, "scattered") == 7 {
				g.scatter(t)
			}
		}
		// Drawn alike, lives would be dull: devices come and go, and nothing is on them.
		actions := map[string]func(*rapid.T){
			"":             g.check,
			"ask":          g.owners,
			"usage":        g.usage,
			"moment":       g.keep,
			"more devices": func(t *rapid.T) { g.play(t, rapid.SampledFrom(deviceOps()).Draw(t, "op")) },
			"ask for room": func(t *rapid.T) {
				g.verdict(t, g.world.Asked().Draw(t, "program"), gen.DeviceIDs(g.model.Devices()).Draw(t, "devices"))
			},
			"devices":       func(t *rapid.T) { g.play(t, rapid.SampledFrom(deviceOps()).Draw(t, "op")) },
			"capture":       g.capture,
			"place":         g.place,
			"evict":         func(t *rapid.T) { g.play(t, gen.Evict) },
			"unregisterAll": func(t *rapid.T) { g.play(t, gen.UnregisterAll) },
			"odd": func(t *rapid.T) {
				rapid.SampledFrom([]func(*rapid.T){g.overflow, g.unknown, g.flood}).Draw(t, "what")(t)
			},
		}
		for _, often := range []string{"1", "2", "3"} {
			actions["register"+often] = func(t *rapid.T) { g.play(t, gen.Register) }
			actions["register and more"+often] = func(t *rapid.T) { g.play(t, gen.Register) }
			actions["unregister"+often] = func(t *rapid.T) { g.play(t, gen.Unregister) }
			actions["replace"+often] = func(t *rapid.T) { g.play(t, gen.Replace) }
			actions["dispatch"+often] = func(t *rapid.T) { g.play(t, gen.Dispatch) }
			actions["trace"+often] = func(t *rapid.T) { g.play(t, g.traceOp(t)) }
			actions["allocate"+often] = func(t *rapid.T) { g.play(t, gen.Allocate) }
			actions["free or enqueue"+often] = func(t *rapid.T) {
				g.play(t, rapid.SampledFrom([]gen.Op{gen.Free, gen.Enqueue}).Draw(t, "op"))
			}
			actions["squeeze"+often] = g.squeeze
		}
		t.Repeat(actions)
	}
}

func deviceOps() []gen.Op {
	return []gen.Op{gen.ResetPeaks, gen.AddDevice, gen.AddMesh, gen.Remove, gen.SetHybrid, gen.SetHybrid}
}

// A game is a tracker beside the model.
type game struct {
	tracker Tracker
	model   *model.Fleet
	world   *gen.World
	kept    []moment // the last few
}

// A moment was kept of a device. It has to stay as the model says.
type moment struct {
	device    uint64
	cores     []l1.Core
	got, want model.Moment
}

// keep keeps a moment of a device, all of it or without some buffers.
func (g *game) keep(t *rapid.T) {
	id := gen.DeviceID(g.model.Devices()).Draw(t, "device")
	without := rapid.SliceOfN(rapid.SampledFrom(gen.BufferIDs()), 0, 2).Draw(t, "without")
	g.kept = append(g.kept, moment{id, g.cores(id), g.tracker.Moment(id, without...), g.model.Moment(id, without...)})
	if len(g.kept) > 3 {
		g.kept = g.kept[1:]
	}
}

// scatter dispatches in no order, and keeps a moment on the way.
func (g *game) scatter(t *rapid.T) {
	moves := gen.Scatter(g.world).Draw(t, "scatter")
	for i, m := range moves {
		if g.move(t, m); i == len(moves)-5 {
			g.keep(t)
		}
	}
	g.check(t)
}

// stayed compares moments that were kept.
func (g *game) stayed(t *rapid.T) {
	for _, m := range g.kept {
		for _, core := range m.cores {
			alike(t, m.got(core), m.want(core), "moment of core %v of device %d", core, m.device)
		}
	}
}

// play draws a call of some kind and makes it.
func (g *game) play(t *rapid.T, op gen.Op) {
	if op == gen.AddMesh && g.model.Meshes() > 3 {
		op = gen.AddDevice // enough to compare
	}
	g.move(t, gen.Moves(op, g.world).Draw(t, "move"))
}

// traceOp draws a call about traces.
func (g *game) traceOp(t *rapid.T) gen.Op {
	ops := []gen.Op{gen.Replay, gen.Replay, gen.Record, gen.EndTrace, gen.BeginTrace, gen.ReleaseTrace}
	if len(g.model.Traces()) == 0 {
		ops = append(ops, gen.BeginTrace, gen.BeginTrace, gen.BeginTrace, gen.BeginTrace, gen.BeginTrace)
	}
	return rapid.SampledFrom(ops).Draw(t, "op")
}

// capture begins a trace, records a few programs, ends it, and may replay one after
// another dispatch: drawn one by one, hardly any trace would ever be replayed.
func (g *game) capture(t *rapid.T) {
	if rapid.Bool().Draw(t, "rerun") {
		g.rerun(t)
		return
	}
	g.play(t, gen.BeginTrace)
	for range rapid.IntRange(1, 3).Draw(t, "records") {
		g.play(t, gen.Record)
	}
	g.play(t, gen.EndTrace)
	if rapid.Bool().Draw(t, "run") {
		g.play(t, gen.Dispatch)
		g.check(t)
		g.play(t, gen.Replay)
	}
}

// rerun captures a program that fits, and replays it after something else.
func (g *game) rerun(t *rapid.T) {
	for _, m := range gen.Rerun(g.world).Draw(t, "story") {
		g.move(t, m)
		g.check(t)
	}
}

// move makes a call on both and compares the answers.
func (g *game) move(t *rapid.T, m gen.Move) {
	want, wantErr := m.Play(g.model)
	got, gotErr := m.Play(g.tracker)
	t.Logf("%v -> %v, %v", m, got, gotErr)
	if w, ok := g.tracker.(witness); ok {
		if err := w.Played(m, gotErr); err != nil {
			t.Fatalf("%v", err)
		}
	}
	sameError(t, gotErr, wantErr, "%v", m)
	equal(t, got, want, "devices of %v", m)
	g.world.Note(m)
}

// overflow registers, or swaps in, a program so large that sums pass 2^63-1. If they would not, it
// calls with an unknown device: an accepted program would have to be painted.
func (g *game) overflow(t *rapid.T) {
	giant, err := gen.Giant(g.world.Specs[0], rapid.SampledFrom(gen.ProgramIDs()).Draw(t, "id"))
	if err != nil {
		t.Fatalf("giant: %v", err)
	}
	op := rapid.SampledFrom([]gen.Op{gen.Register, gen.Enqueue}).Draw(t, "op")
	m := gen.Move{Op: op, Program: giant, Devices: gen.DeviceIDs(g.model.Devices()).Draw(t, "devices")}
	if !g.model.Exceeds(nil, giant, m.Devices) {
		m.Devices = append(m.Devices, 12345)
	}
	if len(g.world.Programs) > 0 {
		old := rapid.SampledFrom(g.world.Programs).Draw(t, "old")
		if g.model.Exceeds(old, giant, nil) {
			m = gen.Move{Op: gen.Replace, Program: old, New: giant}
		}
	}
	programs := g.world.Programs
	g.move(t, m)
	g.world.Programs = programs // no other draw may return it
}

// owners compares the owners of the first and last byte of every region, and of the bytes beside
// it, on one device.
func (g *game) owners(t *rapid.T) {
	id := gen.DeviceID(g.model.Devices()).Draw(t, "device")
	for _, core := range g.cores(id) {
		asks := []uint64{0, l1.MaxAddr}
		for _, r := range g.model.Regions(id, core) {
			asks = append(asks, r.Start-1, r.Start, r.End-1, r.End)
		}
		for _, addr := range asks {
			equal(t, g.tracker.Owners(id, core, addr), g.model.Owners(id, core, addr), "owners of byte %d of core %v of device %d", addr, core, id)
		}
	}
}

// unknown queries things that do not exist.
func (g *game) unknown(t *rapid.T) {
	id := gen.DeviceID(nil).Draw(t, "device")
	_, want := g.model.Totals(id)
	_, got := g.tracker.Totals(id)
	sameError(t, got, want, "totals of device %d", id)
	_, got = g.tracker.MeshTotals(g.model.Meshes())
	sameError(t, got, model.ErrMesh, "totals of mesh %d", g.model.Meshes())
	equal(t, g.tracker.Where(12345), nil, "devices with program 12345")
}

// cores returns the cores of a device, and one outside its grid.
func (g *game) cores(id uint64) []l1.Core {
	spec, err := g.model.Spec(id)
	if err != nil {
		return []l1.Core{{}}
	}
	return append(gen.Cores(spec), l1.Core{X: 200, Y: 200})
}

// check compares every query of all devices and meshes.
func (g *game) check(t *rapid.T) {
	invariants(t, g.tracker)
	g.stayed(t)
	equal(t, g.tracker.Devices(), g.model.Devices(), "devices")
	equal(t, g.tracker.Programs(), g.model.Programs(), "programs")
	for _, id := range gen.ProgramIDs() {
		equal(t, g.tracker.Where(id), g.model.Where(id), "devices with program %d", id)
	}
	for mesh := range g.model.Meshes() {
		got, err := g.tracker.MeshTotals(mesh)
		want, wantErr := g.model.MeshTotals(mesh)
		sameError(t, err, wantErr, "totals of mesh %d", mesh)
		same(t, got, want, "totals of mesh %d", mesh)
	}
	for _, id := range g.model.Devices() {
		got, err := g.tracker.Totals(id)
		want, wantErr := g.model.Totals(id)
		sameError(t, err, wantErr, "totals of device %d", id)
		same(t, got, want, "totals of device %d", id)
		equal(t, g.tracker.ProgramsOn(id), g.model.ProgramsOn(id), "programs on device %d", id)
		for _, core := range g.cores(id) {
			same(t, g.tracker.Core(id, core), g.model.Core(id, core), "core %v of device %d", core, id)
			equal(t, g.tracker.Regions(id, core), g.model.Regions(id, core), "regions of core %v of device %d", core, id)
			got, gotRegions, gotOK := g.tracker.Resident(id, core)
			want, wantRegions, wantOK := g.model.Resident(id, core)
			same(t, got, want, "resident program on core %v of device %d", core, id)
			same(t, gotOK, wantOK, "resident on core %v of device %d", core, id)
			equal(t, gotRegions, wantRegions, "resident regions of core %v of device %d", core, id)
		}
	}
}
