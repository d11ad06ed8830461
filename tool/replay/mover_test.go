package replay_test

import (
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

func deviceIDs(ids []uint64) []device.ID {
	out := make([]device.ID, len(ids))
	for i, id := range ids {
		out[i] = device.ID(id)
	}
	return out
}

// mover makes the calls of gen on a fleet.
type mover struct{ f *device.Fleet }

// on makes a call with a set of devices.
func (m mover) on(ids []uint64, call func(device.Set) (device.Set, error)) ([]uint64, error) {
	s, err := m.f.Of(deviceIDs(ids)...)
	if err == nil {
		s, err = call(s)
	}
	return idsOf(s.All()), err
}

func idsOf(all iter.Seq[device.ID]) (out []uint64) {
	for _, id := range slices.Collect(all) {
		out = append(out, uint64(id))
	}
	return out
}

func (m mover) AddDevice(id uint64, spec l1.Spec) error {
	_, err := m.f.AddDevice(device.ID(id), spec)
	return err
}

func (m mover) AddMesh(first uint64, rows, cols int, spec l1.Spec) error {
	_, err := m.f.AddMesh(device.ID(first), rows, cols, spec)
	return err
}

func (m mover) Remove(ids []uint64) error {
	_, err := m.on(ids, func(s device.Set) (device.Set, error) { return s, m.f.Remove(s) })
	return err
}

func (m mover) Register(p *program.Program, ids []uint64) ([]uint64, error) {
	return m.on(ids, func(s device.Set) (device.Set, error) { return m.f.Register(p, s) })
}

func (m mover) Unregister(p program.ID, ids []uint64) error {
	_, err := m.on(ids, func(s device.Set) (device.Set, error) { return s, m.f.Unregister(p, s) })
	return err
}

func (m mover) UnregisterAll(p program.ID) []uint64 { return idsOf(m.f.UnregisterAll(p).All()) }

func (m mover) Replace(old program.ID, new *program.Program) ([]uint64, error) {
	s, err := m.f.Replace(old, new)
	return idsOf(s.All()), err
}

func (m mover) ResetPeaks(id uint64) error {
	d, err := m.f.Device(device.ID(id))
	d.ResetPeaks()
	return err
}

func (m mover) Dispatch(p program.ID, ids []uint64) error {
	_, err := m.on(ids, func(s device.Set) (device.Set, error) { return s, m.f.Dispatch(p, s) })
	return err
}

func (m mover) Evict(p program.ID, ids []uint64) ([]uint64, error) {
	return m.on(ids, func(s device.Set) (device.Set, error) { return m.f.Evict(p, s) })
}

func (m mover) BeginTrace(ids []uint64) (id uint64, err error) {
	_, err = m.on(ids, func(s device.Set) (device.Set, error) {
		trace, err := m.f.BeginTrace(s)
		id = uint64(trace)
		return s, err
	})
	return id, err
}

func (m mover) Record(trace uint64, p program.ID) error {
	return m.f.Record(device.TraceID(trace), p)
}
func (m mover) EndTrace(trace uint64) error     { return m.f.EndTrace(device.TraceID(trace)) }
func (m mover) Replay(trace uint64) error       { return m.f.Replay(device.TraceID(trace)) }
func (m mover) ReleaseTrace(trace uint64) error { return m.f.ReleaseTrace(device.TraceID(trace)) }

// bufferOf returns the buffer that the model describes.
func bufferOf(b model.Buffer) fit.Buffer {
	given := fit.Buffer{ID: fit.BufferID(b.ID), Size: b.Size, Backing: b.Backing, Name: b.Name, Hidden: b.Hidden.Cores(), Unsized: b.Unsized}
	given.Mode = map[model.Mode]fit.Mode{model.PerCore: fit.PerCore, model.RangeLockstep: fit.RangeLockstep}[b.Mode]
	for given.Kind = fit.KindL1; given.Kind < fit.KindSystem && given.Kind.String() != string(b.Kind); given.Kind++ {
	}
	for _, p := range b.Parts {
		given.Parts = append(given.Parts, fit.Part{Cores: p.Cores.Cores(), Range: p.Range})
	}
	return given
}

func (m mover) Allocate(b model.Buffer, ids []uint64) error {
	given := bufferOf(b)
	_, err := m.on(ids, func(s device.Set) (device.Set, error) { return s, m.f.Allocate(given, s) })
	return err
}

func (m mover) Place(b model.Buffer, ids []uint64) error {
	given, size := bufferOf(b), uint64(0)
	for p := range given.All() {
		given.Cores, size = p.Cores, p.Range.Len()
	}
	given.Range, given.Parts = l1.Range{}, nil
	_, err := m.on(ids, func(s device.Set) (device.Set, error) {
		_, err := m.f.Place(given, size, s)
		return s, err
	})
	return err
}

func (m mover) Free(id uint64, ids []uint64) (model.Buffer, error) {
	_, err := m.on(ids, func(s device.Set) (device.Set, error) {
		_, err := m.f.Free(fit.BufferID(id), s)
		return s, err
	})
	return model.Buffer{}, err
}

func (m mover) Enqueue(p *program.Program, ids []uint64) ([]uint64, error) {
	return m.on(ids, func(s device.Set) (device.Set, error) { return m.f.Enqueue(p, s) })
}

func (m mover) SetHybrid(ids []uint64, on bool) ([]uint64, error) {
	return m.on(ids, func(s device.Set) (device.Set, error) { return m.f.SetHybrid(s, on) })
}
