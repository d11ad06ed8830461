//go:build cbl1faults

package device

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// An injector fails an operation at one of its steps.
type injector struct {
	at  int // the step to fail at, from 1; 0 for none
	met int // steps so far
	err error
}

func (i *injector) inject() error {
	if i.met++; i.met == i.at {
		return i.err
	}
	return nil
}

// arm makes the next operation of f fail at step at.
func arm(f *Fleet, at int) *injector {
	i := &injector{at: at, err: fmt.Errorf("injected at step %d", at)}
	f.faults.inject = i.inject
	return i
}

// A player is a Fleet that moves can be played on.
type player struct{ *Fleet }

func (p player) set(ids []uint64) (Set, error) {
	named := make([]ID, len(ids))
	for i, id := range ids {
		named[i] = ID(id)
	}
	return p.Of(named...)
}

func numbersOf(s Set) (ids []uint64) {
	for id := range s.All() {
		ids = append(ids, uint64(id))
	}
	return ids
}

func (p player) AddDevice(id uint64, spec l1.Spec) error {
	_, err := p.Fleet.AddDevice(ID(id), spec)
	return err
}

func (p player) AddMesh(first uint64, rows, cols int, spec l1.Spec) error {
	_, err := p.Fleet.AddMesh(ID(first), rows, cols, spec)
	return err
}

func (p player) Remove(ids []uint64) error {
	s, err := p.set(ids)
	if err != nil {
		return err
	}
	return p.Fleet.Remove(s)
}

func (p player) Register(prog *program.Program, ids []uint64) ([]uint64, error) {
	s, err := p.set(ids)
	if err != nil {
		return nil, err
	}
	added, err := p.Fleet.Register(prog, s)
	return numbersOf(added), err
}

func (p player) Unregister(prog program.ID, ids []uint64) error {
	s, err := p.set(ids)
	if err != nil {
		return err
	}
	return p.Fleet.Unregister(prog, s)
}

func (p player) SetHybrid(ids []uint64, on bool) ([]uint64, error) {
	s, err := p.set(ids)
	if err != nil {
		return nil, err
	}
	changed, err := p.Fleet.SetHybrid(s, on)
	return numbersOf(changed), err
}

func (p player) Place(b model.Buffer, ids []uint64) error {
	s, err := p.set(ids)
	if err != nil || len(b.Parts) == 0 {
		return err
	}
	on := b.Parts[0]
	_, err = p.Fleet.Place(fit.Buffer{ID: fit.BufferID(b.ID), Kind: fit.KindL1, Cores: on.Cores.Cores(), Mode: fit.PerCore}, on.Range.Len(), s)
	return err
}

func (p player) UnregisterAll(prog program.ID) []uint64 {
	return numbersOf(p.Fleet.UnregisterAll(prog))
}

func (p player) Dispatch(prog program.ID, ids []uint64) error {
	s, err := p.set(ids)
	if err != nil {
		return err
	}
	return p.Fleet.Dispatch(prog, s)
}

func (p player) Evict(prog program.ID, ids []uint64) ([]uint64, error) {
	s, err := p.set(ids)
	if err != nil {
		return nil, err
	}
	evicted, err := p.Fleet.Evict(prog, s)
	return numbersOf(evicted), err
}

func (p player) BeginTrace(ids []uint64) (uint64, error) {
	s, err := p.set(ids)
	if err != nil {
		return 0, err
	}
	id, err := p.Fleet.BeginTrace(s)
	return uint64(id), err
}

func (p player) Record(trace uint64, prog program.ID) error {
	return p.Fleet.Record(TraceID(trace), prog)
}

func (p player) EndTrace(trace uint64) error     { return p.Fleet.EndTrace(TraceID(trace)) }
func (p player) Replay(trace uint64) error       { return p.Fleet.Replay(TraceID(trace)) }
func (p player) ReleaseTrace(trace uint64) error { return p.Fleet.ReleaseTrace(TraceID(trace)) }

func (p player) Replace(old program.ID, new *program.Program) ([]uint64, error) {
	on, err := p.Fleet.Replace(old, new)
	return numbersOf(on), err
}

func (p player) ResetPeaks(id uint64) error {
	d, err := p.Device(ID(id))
	if err == nil {
		d.ResetPeaks()
	}
	return err
}

func (p player) Allocate(b model.Buffer, ids []uint64) error {
	s, err := p.set(ids)
	if err != nil {
		return err
	}
	given := fit.Buffer{ID: fit.BufferID(b.ID), Kind: 200, Size: b.Size, Backing: b.Backing, Name: b.Name}
	for k := range numKinds {
		if k.String() == string(b.Kind) {
			given.Kind = k
		}
	}
	for _, part := range b.Parts {
		given.Parts = append(given.Parts, fit.Part{Cores: part.Cores.Cores(), Range: part.Range})
	}
	return p.Fleet.Allocate(given, s)
}

func (p player) Free(id uint64, ids []uint64) (model.Buffer, error) {
	s, err := p.set(ids)
	if err != nil {
		return model.Buffer{}, err
	}
	b, err := p.Fleet.Free(fit.BufferID(id), s)
	return model.Buffer{ID: uint64(b.ID), Size: b.Size}, err
}

func (p player) Enqueue(prog *program.Program, ids []uint64) ([]uint64, error) {
	s, err := p.set(ids)
	if err != nil {
		return nil, err
	}
	on, err := p.Fleet.Enqueue(prog, s)
	return numbersOf(on), err
}

// meshesOf returns the meshes with a remaining device.
func meshesOf(f *Fleet) (out []*mesh) {
	for c := range f.shares(f.live) {
		if m := c.mesh; m != nil && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// everything is all that can be seen of a fleet, and how much is kept for it.
type everything struct {
	Snapshot   *Snapshot
	Registered map[ID]uint64                 // the atomic totals
	Cores      map[ID]map[l1.Core]CoreTotals // with peaks
	Meshes     []Totals
	Published  []uint64
	Programs   []*program.Program
	Where      map[program.ID][]uint64
	Charge     wide
	Kept       counts
}

func see(t require.TestingT, f *Fleet) everything {
	require.NoError(t, f.CheckInvariants())
	all := everything{
		Snapshot:   f.Snapshot(),
		Registered: map[ID]uint64{},
		Cores:      map[ID]map[l1.Core]CoreTotals{},
		Programs:   slices.Collect(f.Programs()),
		Where:      map[program.ID][]uint64{},
		Charge:     f.charge,
	}
	seenAs := func(d Device) partKey {
		c := f.at(d.c.slot)
		return partKey{c.state, c.cores, c.peak}
	}
	detailed := map[partKey]map[l1.Core]CoreTotals{} // devices with the same are alike
	for d := range f.Devices() {
		all.Registered[d.ID()] = d.Registered()
		as := seenAs(d)
		if detailed[as] == nil {
			cores := map[l1.Core]CoreTotals{}
			for c := range d.Spec().Grid().Cores().All() {
				cores[c] = d.Core(c)
			}
			detailed[as] = cores
		}
		all.Cores[d.ID()] = detailed[as]
	}
	for _, m := range meshesOf(f) {
		all.Meshes = append(all.Meshes, Mesh{m}.Totals())
		all.Published = append(all.Published, m.registered.Load())
	}
	for _, p := range all.Programs {
		all.Where[p.ID()] = numbersOf(f.Where(p.ID()))
	}
	all.Kept = count(f) // queried contents stay
	return all
}

// figures returns everything except kept memory, which differs if a fleet was queried on the way.
func (all everything) figures() everything {
	all.Kept = counts{}
	return all
}

// An outcome is the result of a call.
type outcome struct {
	Devices []uint64
	Err     string
}

func play(f *Fleet, m gen.Move) outcome {
	devices, err := m.Play(player{f})
	if err != nil {
		return outcome{devices, err.Error()}
	}
	return outcome{devices, ""}
}

func replay(moves []gen.Move) *Fleet {
	f := NewFleet()
	for _, m := range moves {
		play(f, m)
	}
	return f
}

// TestFaults fails every operation at every step, on fleets with a past of any kind. A
// failure has changed nothing, and does not show in what the operation does when it
// is called again.
func TestFaults(t *testing.T) {
	ops := []gen.Op{gen.Register, gen.Unregister, gen.Replace, gen.Remove, gen.AddMesh, gen.AddDevice, gen.Dispatch}
	injected := map[gen.Op]int{}
	property := func(t *rapid.T) {
		w := gen.NewWorld(gen.ToySpec().Draw(t, "spec"), gen.ToySpec().Draw(t, "other spec"))
		var past []gen.Move
		do := func(m gen.Move) {
			_, _ = m.Play(w.State)
			w.Note(m)
			past = append(past, m)
		}
		do(gen.Move{Op: gen.AddMesh, Devices: []uint64{0}, Rows: 2, Cols: 4, Spec: w.Specs[0]})
		do(gen.Move{Op: gen.AddDevice, Devices: []uint64{1000}, Spec: w.Specs[0]})
		if rapid.Bool().Draw(t, "giant") { // then overflows are looked for device by device (too large for w.State)
			giant, err := gen.Giant(w.Specs[0], 77)
			require.NoError(t, err)
			past = append(past, gen.Move{Op: gen.Register, Program: giant, Devices: []uint64{1000}})
		}
		usual := []gen.Op{
			gen.Register, gen.Register, gen.Register, gen.Register, gen.Unregister, gen.Unregister,
			gen.Replace, gen.UnregisterAll, gen.ResetPeaks, gen.Remove, gen.AddMesh, gen.AddDevice,
			gen.Dispatch, gen.Dispatch,
		}
		for range rapid.IntRange(0, 30).Draw(t, "moves") {
			do(gen.Moves(rapid.SampledFrom(usual).Draw(t, "op"), w).Draw(t, "move"))
		}
		for i := range 5 * len(ops) {
			op := ops[i%len(ops)]
			m := gen.Moves(op, w).Draw(t, string(op))
			f := replay(past)
			before := see(t, f)
			said := play(f, m)
			after := see(t, f).figures()
			for k := 1; ; k++ {
				f := replay(past)
				i := arm(f, k)
				got := play(f, m)
				if i.met < k { // untouched
					require.Equal(t, said, got)
					require.Equal(t, after, see(t, f).figures())
					break
				}
				injected[op]++
				require.Equal(t, outcome{nil, i.err.Error()}, got, "%v, step %d", m, k)
				require.Equal(t, before, see(t, f), "%v, step %d", m, k)
				require.Equal(t, said, play(f, m), "%v, after step %d", m, k)
				require.Equal(t, after, see(t, f).figures(), "%v, after step %d", m, k)
			}
		}
	}
	rapid.Check(t, property)
	clear(injected) // luck had a part in them
	defer testkit.SameDraws(1, 20)()
	rapid.Check(t, property)
	t.Log("faults:", injected)
	for _, op := range ops { // a run that did too little proves nothing
		require.Greater(t, injected[op], 4, op)
	}
}

// TestFaultsOnTenThousandDevices fails at every one of the tens of thousands of steps
// that an operation on 10,000 devices in 50 states takes.
func TestFaultsOnTenThousandDevices(t *testing.T) {
	const devices, states = 10_000, 50
	spec := l1.N150()
	build := func(id program.ID, cores string, size uint64) *program.Program {
		p, err := program.NewBuilder(id).CB(program.CB{Cores: l1.MustParseCoreRangeSet(cores), Size: size}).Build(spec)
		require.NoError(t, err)
		return p
	}
	known, news := build(1, "{[0-0 - 7-7]}", 4096), build(2, "{[1-1 - 5-5]}", 8192)
	larger := build(1, "{[0-0 - 6-7]}", 8192)
	prepare := func() *Fleet {
		f := NewFleet()
		m, err := f.AddMesh(0, 100, devices/100, spec)
		require.NoError(t, err)
		lone, err := f.AddDevice(devices, spec)
		require.NoError(t, err)
		giant, err := gen.Giant(spec, 77) // with it, overflows are looked for device by device
		require.NoError(t, err)
		_, err = f.Register(giant, lone.Set())
		require.NoError(t, err)
		for s := range states {
			var on []ID
			for d := s; d < devices; d += states {
				on = append(on, ID(d))
			}
			some, err := f.Of(on...)
			require.NoError(t, err)
			_, err = f.Register(build(program.ID(100+s), fmt.Sprintf("{[0-0 - %d-7]}", s%8), uint64(64+s)), some)
			require.NoError(t, err)
		}
		_, err = f.Register(known, m.Set())
		require.NoError(t, err)
		return f
	}
	f, twin := prepare(), prepare()
	mesh := func(f *Fleet) Set { return Mesh{f.at(0).mesh}.Set() }
	for _, op := range []struct {
		name string
		do   func(f *Fleet) (Set, error)
		most int // steps, at least
	}{
		{"register", func(f *Fleet) (Set, error) { return f.Register(news, mesh(f)) }, 2 * devices},
		{"register again", func(f *Fleet) (Set, error) { return f.Register(known, mesh(f)) }, devices},
		{"replace", func(f *Fleet) (Set, error) { return f.Replace(known.ID(), larger) }, devices},
		{"unregister", func(f *Fleet) (Set, error) { return Set{}, f.Unregister(larger.ID(), mesh(f)) }, devices},
		{"add mesh", func(f *Fleet) (Set, error) { m, err := f.AddMesh(1<<20, 100, devices/100, spec); return m.Set(), err }, devices},
		{"remove", func(f *Fleet) (Set, error) { return Set{}, f.Remove(mesh(f)) }, devices},
	} {
		before, totals := see(t, f), make([]uint64, len(f.slots))
		for slot := range f.slots {
			totals[slot] = f.at(slot).registered.Load()
		}
		// same is the part of see that can be done after every step.
		same := func() bool {
			for slot, c := range f.slots {
				if c == nil || f.at(slot).registered.Load() != totals[slot] {
					return false
				}
			}
			for i, m := range meshesOf(f) {
				if m.registered.Load() != before.Published[i] || m.peak != before.Meshes[i].Peak {
					return false
				}
			}
			return count(f) == before.Kept && len(f.programs) == len(before.Where) && f.charge == before.Charge &&
				len(f.slots) == len(totals) && len(f.ids) == len(totals) && len(meshesOf(f)) == len(before.Meshes)
		}
		k := 1
		for ; ; k++ {
			i := arm(f, k)
			on, err := op.do(f)
			if i.met < k {
				require.NoError(t, err)
				want, err := op.do(twin)
				require.NoError(t, err)
				require.Equal(t, numbersOf(want), numbersOf(on))
				break
			}
			if !errors.Is(err, i.err) || on.Len() != 0 || !same() {
				require.FailNow(t, "trace of a failure", "%s, step %d: %v", op.name, k, err)
			}
			if k == 1 || k%4999 == 0 {
				require.Equal(t, before, see(t, f), "%s, step %d", op.name, k)
			}
		}
		require.GreaterOrEqual(t, k, op.most, op.name)
		f.faults.inject = nil
		got, want := see(t, f), see(t, twin)
		require.Equal(t, want, got, op.name)
		t.Logf("%s: failed at %d steps", op.name, k-1)
	}
}
