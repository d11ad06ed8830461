package capture_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// What a LogWriter has seen of a fleet, a Session makes again: whatever was called,
// legal or not.
func TestLogWriterAndSession(t *testing.T) {
	schema, _ := compileLogSchema(t, true)
	ops := []gen.Op{
		gen.AddDevice, gen.AddMesh, gen.Remove, gen.Register, gen.Register, gen.Register, gen.Unregister, gen.UnregisterAll, gen.Replace,
		gen.ResetPeaks, gen.Dispatch, gen.Dispatch, gen.Evict, gen.BeginTrace, gen.Record, gen.Record, gen.Record, gen.EndTrace,
		gen.EndTrace, gen.Replay, gen.Replay, gen.Replay, gen.ReleaseTrace,
		gen.Allocate, gen.Allocate, gen.Allocate, gen.Free, gen.Enqueue, gen.Enqueue,
	}
	rapid.Check(t, func(t *rapid.T) {
		var log bytes.Buffer
		w := capture.NewLogWriter(&log)
		fleet := device.NewFleet()
		refused := 0
		fleet.Observe(func(e device.Event) {
			if w.Observe(e); e.Kind == device.EventRefused {
				refused++
			}
		})
		for _, m := range gen.History(120, ops...).Draw(t, "history") {
			_, _ = m.Play(mover{fleet}) // of what is refused only what does not fit leaves an event
		}
		require.NoError(t, w.Err())
		for _, line := range lines(log.String()) {
			require.NoError(t, validate(schema, line), "%s", line)
		}

		var s capture.Session
		var out bytes.Buffer
		require.NoError(t, s.Stream(capture.NewLog(bytes.NewReader(log.Bytes()), "log"), &out))
		for answer := range strings.Lines(out.String()) {
			require.Contains(t, answer, `"code":"does-not-fit"`, "%s", log.String())
			refused--
		}
		require.Zero(t, refused, "%s", log.String())
		require.NoError(t, s.Fleet().CheckInvariants())
		require.Equal(t, state(fleet), state(s.Fleet()), "%s", log.String())
	})
}

// state is everything that can be asked about a fleet of small devices, as text.
func state(f *device.Fleet) string {
	var b strings.Builder
	for d := range f.Devices() {
		fmt.Fprintf(&b, "device %d %v: %+v\n", d.ID(), d.Spec(), d.Totals())
		for p := range d.Programs() {
			fmt.Fprintf(&b, "  %v\n", p)
		}
		for buffer := range d.Buffers() {
			fmt.Fprintf(&b, "  %+v\n", buffer)
		}
		for g := range d.UsageGroups(device.BasisResident) {
			fmt.Fprintf(&b, "  %v %+v %v\n", g.Cores, g.Usage, g.Regions)
		}
		for x := range 4 {
			for y := range 3 {
				core := l1.Core{X: uint8(x), Y: uint8(y)}
				fmt.Fprintf(&b, "  %v %+v\n", core, d.Core(core))
			}
		}
	}
	return b.String()
}

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

func (m mover) SetHybrid(ids []uint64, on bool) ([]uint64, error) {
	return m.on(ids, func(s device.Set) (device.Set, error) { return m.f.SetHybrid(s, on) })
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

func (m mover) Allocate(b model.Buffer, ids []uint64) error {
	given := device.Buffer{ID: device.BufferID(b.ID), Size: b.Size, Backing: b.Backing, Name: b.Name}
	for given.Kind = device.KindL1; given.Kind < device.KindSystem && given.Kind.String() != string(b.Kind); given.Kind++ {
	}
	for _, p := range b.Parts {
		given.Parts = append(given.Parts, device.Part{Cores: p.Cores.Cores(), Range: p.Range})
	}
	_, err := m.on(ids, func(s device.Set) (device.Set, error) { return s, m.f.Allocate(given, s) })
	return err
}

func (m mover) Free(id uint64, ids []uint64) (model.Buffer, error) {
	_, err := m.on(ids, func(s device.Set) (device.Set, error) {
		_, err := m.f.Free(device.BufferID(id), s)
		return s, err
	})
	return model.Buffer{}, err
}

func (m mover) Enqueue(p *program.Program, ids []uint64) ([]uint64, error) {
	return m.on(ids, func(s device.Set) (device.Set, error) { return m.f.Enqueue(p, s) })
}

// The lines of one small life, as they are written.
func TestLogWriterLines(t *testing.T) {
	var log strings.Builder
	w := capture.NewLogWriter(&log)
	w.Process = "sim"
	fleet := device.NewFleet()
	fleet.Observe(w.Observe)
	spec := l1.ArchSpec(l1.Wormhole)
	spec.Name = ""
	m, err := fleet.AddMesh(4, 1, 2, spec)
	require.NoError(t, err)
	p, err := program.NewBuilder(9).
		CB(program.CB{Cores: l1.MustParseCoreRangeSet("{[0-0 - 1-0]}"), Size: 64, Indices: []program.Index{{Number: 3, PageSize: 32}, {Number: 4}}}).
		Range(l1.MustParseCoreRangeSet("{[0-0 - 0-0]}"), l1.Range{Start: 0, End: 8}).
		Build(spec)
	require.NoError(t, err)
	dfb := program.CB{Kind: program.DataflowBuffer, Cores: l1.MustParseCoreRangeSet("{[2-0 - 2-0]}"), Size: 8, Alias: -5}
	q, err := program.NewBuilder(10).CB(dfb).CB(dfb).Build(spec)
	require.NoError(t, err)

	w.T = "1.5e3"
	_, err = fleet.Register(p, m.Set())
	require.NoError(t, err)
	_, err = fleet.Register(p, m.Set()) // changes nothing
	require.NoError(t, err)
	w.T, w.Tag = "", "after"
	require.NoError(t, fleet.Unregister(p.ID(), m.Set()))
	_, err = fleet.Register(q, m.Set())
	require.NoError(t, err)
	_, err = fleet.Replace(q.ID(), p)
	require.NoError(t, err)
	require.NoError(t, fleet.Allocate(device.Buffer{ID: 1, Kind: device.KindGlobalCB, Name: "g", Parts: []device.Part{
		{Cores: l1.MustParseCoreRangeSet("{[0-0 - 0-1]}").Cores(), Range: l1.Range{Start: 16, End: 32}},
	}}, m.Set()))
	require.NoError(t, w.Err())
	require.Equal(t, `{"event":"log","version":1}
{"event":"mesh","process":"sim","first":4,"rows":1,"cols":2,"spec":{"name":"","arch":"wormhole","cols":0,"rows":0,"l1_size":1499136,"cb_base":103712,"cb_align":32,"l1_align":16,"l1_small":0,"cb_indices":32}}
{"event":"program","t":1.5e3,"process":"sim","program":9,"cbs":[{"cores":"{[0-0 - 1-0]}","size":64,"indices":[{"index":3,"page_size":32},{"index":4}]},{"cores":"{[0-0 - 0-0]}","size":8,"address":0}]}
{"event":"register","t":1.5e3,"process":"sim","program":9,"devices":[4,5]}
{"event":"unregister","process":"sim","tag":"after","program":9,"devices":[4,5]}
{"event":"program","process":"sim","tag":"after","program":10,"cbs":[{"kind":"dataflow","cores":"{[2-0 - 2-0]}","size":8,"alias":1},{"kind":"dataflow","cores":"{[2-0 - 2-0]}","size":8,"alias":1}]}
{"event":"register","process":"sim","tag":"after","program":10,"devices":[4,5]}
{"event":"program","process":"sim","tag":"after","program":9,"cbs":[{"cores":"{[0-0 - 1-0]}","size":64,"indices":[{"index":3,"page_size":32},{"index":4}]},{"cores":"{[0-0 - 0-0]}","size":8,"address":0}]}
{"event":"replace","process":"sim","tag":"after","program":10,"with":9}
{"event":"allocate","process":"sim","tag":"after","buffer":1,"kind":"global_cb","name":"g","devices":[4,5],"size":32,"parts":[{"cores":"{[0-0 - 0-1]}","address":16,"size":16}]}
`, log.String())
}

// The first error stays: of the writer, of a time that is no number, of an
// architecture that no reader knows.
func TestLogWriterFails(t *testing.T) {
	in, out := io.Pipe()
	require.NoError(t, in.CloseWithError(fs.ErrPermission))
	require.ErrorIs(t, capture.NewLogWriter(out).Err(), fs.ErrPermission)

	for _, c := range []struct {
		name, t string
		spec    l1.Spec
	}{
		{"time", "now", l1.Spec{}},
		{"architecture", "", l1.Spec{Arch: "quasar"}},
	} {
		var log strings.Builder
		w := capture.NewLogWriter(&log)
		w.T = c.t
		fleet := device.NewFleet()
		fleet.Observe(w.Observe)
		_, err := fleet.AddDevice(1, c.spec)
		require.NoError(t, err)
		require.Error(t, w.Err(), c.name)
		_, err = fleet.AddDevice(2, l1.Spec{})
		require.NoError(t, err)
		require.Equal(t, logHead, log.String(), c.name)
	}
}

// A trace that changes what is resident, which random lives seldom reach; its number in
// the fleet that reads is another one.
func TestLogWriterTrace(t *testing.T) {
	var log strings.Builder
	w := capture.NewLogWriter(&log)
	fleet := device.NewFleet()
	_, err := fleet.BeginTrace(fleet.Set()) // before anybody watches
	require.NoError(t, err)
	fleet.Observe(w.Observe)
	d, err := fleet.AddDevice(0, l1.N150())
	require.NoError(t, err)
	var programs []*program.Program
	for id, size := range []uint64{16384, 4096} {
		p, err := program.NewBuilder(program.ID(id)).CB(program.CB{Cores: l1.N150().Grid(), Size: size}).Build(l1.N150())
		require.NoError(t, err)
		_, err = fleet.Enqueue(p, d.Set())
		require.NoError(t, err)
		programs = append(programs, p)
	}
	trace, err := fleet.BeginTrace(d.Set())
	require.NoError(t, err)
	require.NoError(t, fleet.Record(trace, programs[0].ID()))
	require.NoError(t, fleet.EndTrace(trace))
	require.NoError(t, fleet.Replay(trace))
	require.EqualValues(t, 1048576, d.Resident())
	require.NoError(t, fleet.ReleaseTrace(trace))

	var s capture.Session
	require.NoError(t, s.Stream(capture.NewLog(strings.NewReader(log.String()), "log"), io.Discard))
	require.Empty(t, s.Anomalies())
	require.Equal(t, state(fleet), state(s.Fleet()))
}

// A fleet tells what happens in it, and the log of that makes another fleet like it.
func ExampleLogWriter() {
	var log bytes.Buffer
	w := capture.NewLogWriter(&log)
	fleet := device.NewFleet()
	fleet.Observe(w.Observe)

	d, err := fleet.AddDevice(0, l1.N150())
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := program.NewBuilder(1).CB(program.CB{Cores: l1.N150().Grid(), Size: 2048}).Build(l1.N150())
	if err != nil {
		fmt.Println(err)
		return
	}
	w.T = "120.5"
	if _, err := fleet.Enqueue(p, d.Set()); err != nil || w.Err() != nil {
		fmt.Println(err, w.Err())
		return
	}
	for line := range strings.Lines(log.String()) {
		if !strings.Contains(line, "spec") {
			fmt.Print(line)
		}
	}
	// Output:
	// {"event":"log","version":1}
	// {"event":"program","t":120.5,"program":1,"cbs":[{"cores":"{[0-0 - 7-7]}","size":2048}]}
	// {"event":"register","t":120.5,"program":1,"devices":[0]}
	// {"event":"dispatch","t":120.5,"program":1,"devices":[0]}
}
