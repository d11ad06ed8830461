package replay_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/session"
)

// What a Writer has seen of a fleet, a Session makes again: whatever was called,
// legal or not.
func TestWriterAndSession(t *testing.T) {
	ops := []gen.Op{
		gen.AddDevice, gen.AddMesh, gen.Remove, gen.Register, gen.Register, gen.Register, gen.Unregister, gen.UnregisterAll, gen.Replace,
		gen.ResetPeaks, gen.Dispatch, gen.Dispatch, gen.Evict, gen.BeginTrace, gen.Record, gen.Record, gen.Record, gen.EndTrace,
		gen.EndTrace, gen.Replay, gen.Replay, gen.Replay, gen.ReleaseTrace,
		gen.Allocate, gen.Allocate, gen.Place, gen.Free, gen.Enqueue, gen.Enqueue,
	}
	rapid.Check(t, func(t *rapid.T) {
		var log bytes.Buffer
		w := event.NewWriter(&log)
		fleet := device.NewFleet()
		refused := 0
		fleet.Observe(func(e device.Notice) {
			if w.Observe(e); e.Kind == device.NoticeRefused {
				refused++
			}
		})
		for _, m := range gen.History(120, ops...).Draw(t, "history") {
			_, _ = m.Play(mover{fleet}) // of what is refused only what does not fit leaves an event
		}
		require.NoError(t, w.Err())
		var s session.Session
		var out bytes.Buffer
		require.NoError(t, s.Stream(events(bytes.NewReader(log.Bytes()), "log"), &out))
		require.Empty(t, out.String(), log.String())
		require.Equal(t, refused, strings.Count(log.String(), `"refused":true`), log.String())
		require.NoError(t, s.Fleet().CheckInvariants())
		require.Equal(t, state(fleet), state(s.Fleet()), "%s", log.String())
	})
}

// state returns the answers of all queries of a fleet of small devices, as text.
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

// A trace that changes what is resident, which random lives seldom reach; its number in
// the fleet that reads is another one.
func TestWriterTrace(t *testing.T) {
	var log strings.Builder
	w := event.NewWriter(&log)
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

	var s session.Session
	require.NoError(t, s.Stream(events(strings.NewReader(log.String()), "log"), io.Discard))
	require.Empty(t, s.Anomalies())
	require.Equal(t, state(fleet), state(s.Fleet()))
}

// A log that begins now has what a fleet has: whatever was called before.
func TestMomentOfShared(t *testing.T) {
	ops := []gen.Op{
		gen.AddDevice, gen.AddMesh, gen.Remove, gen.Register, gen.Register, gen.Register, gen.Unregister, gen.UnregisterAll, gen.Replace,
		gen.Dispatch, gen.Dispatch, gen.Dispatch, gen.Evict, gen.BeginTrace, gen.Record, gen.Record, gen.EndTrace, gen.EndTrace, gen.Replay, gen.Replay,
		gen.Allocate, gen.Allocate, gen.Free, gen.Enqueue, gen.Enqueue,
	}
	rapid.Check(t, func(t *rapid.T) {
		var shared session.Shared
		fleet := shared.Fleet()
		for _, m := range gen.History(80, ops...).Draw(t, "history") {
			_, _ = m.Play(mover{fleet}) // whatever is refused
		}
		for d := range fleet.Devices() {
			if rapid.Bool().Draw(t, "hybrid") {
				_, err := fleet.SetHybrid(d.Set(), true)
				require.NoError(t, err)
			}
			d.ResetPeaks()
		}
		var log bytes.Buffer
		require.NoError(t, shared.WriteMoment(&log))
		var again session.Session
		var out bytes.Buffer
		require.NoError(t, again.Stream(events(bytes.NewReader(log.Bytes()), "log"), &out))
		require.Empty(t, out.String(), "%s", log.String())
		require.NoError(t, again.Fleet().CheckInvariants())
		require.Equal(t, state(fleet), state(again.Fleet()), "%s", log.String())
		for d := range fleet.Devices() {
			same, err := again.Fleet().Device(d.ID())
			require.NoError(t, err)
			require.Equal(t, d.Hybrid(), same.Hybrid())
		}
	})
}

// The last dispatch is written last, as the program that it was where it still is registered; what
// has gone does not come back.
func TestMomentOfDispatches(t *testing.T) {
	const defined = `{"event":"log","version":1}
{"event":"device","device":1,"spec":{"board":"n150"}}
{"event":"device","device":2,"spec":{"board":"n150"}}
{"event":"program","program":1,"cbs":[{"cores":"{[0-0 - 1-0]}","size":2048,"address":111616}]}
{"event":"program","program":2,"cbs":[{"cores":"{[0-0 - 3-0]}","size":4096,"address":111616}]}
{"event":"program","program":3,"cbs":[{"cores":"{[1-0 - 1-0]}","size":4096,"address":111616,"global":true}]}
{"event":"register","program":1}
{"event":"register","program":2}
{"event":"register","program":3}
`
	for _, c := range []struct {
		name, events string
		parts        int // of programs that are there for a moment
	}{
		{"the smaller one last", `{"event":"dispatch","program":2}` + "\n" + `{"event":"dispatch","program":1}`, 0},
		{"the larger one last", `{"event":"dispatch","program":1}` + "\n" + `{"event":"dispatch","program":2}`, 0},
		{"other orders", `{"event":"dispatch","program":2}` + "\n" + `{"event":"dispatch","program":1}` + "\n" + `{"event":"dispatch","program":2,"devices":[2]}`, 0},
		{"evicted", `{"event":"dispatch","program":2}` + "\n" + `{"event":"dispatch","program":1}` + "\n" + `{"event":"evict","program":1}`, 1},
		{"unregistered", `{"event":"dispatch","program":2}` + "\n" + `{"event":"dispatch","program":1}` + "\n" + `{"event":"unregister","program":2}`, 1},
		{"on one device alone", `{"event":"dispatch","program":2}` + "\n" + `{"event":"unregister","program":2,"devices":[2]}`, 1},
		{"emptied", `{"event":"dispatch","program":2}` + "\n" + `{"event":"dispatch","program":3}`, 1},
		{"hidden", `{"event":"hidden","code":"elsewhere","count":3,"devices":[2]}` + "\n" + `{"event":"anomaly","code":"odd","count":1}`, 0},
	} {
		var shared session.Shared
		var answers bytes.Buffer
		require.NoError(t, session.Feed(events(strings.NewReader(defined+c.events+"\n"), "log"), func(*event.Event) (*session.Shared, error) { return &shared, nil }, &answers))
		require.Empty(t, answers.String(), c.name)
		var log bytes.Buffer
		require.NoError(t, shared.WriteMoment(&log))
		var again session.Session
		require.NoError(t, again.Stream(events(bytes.NewReader(log.Bytes()), "log"), &answers))
		require.Empty(t, answers.String(), c.name)
		for d := range shared.Fleet().Devices() {
			d.ResetPeaks()
		}
		require.Equal(t, state(shared.Fleet()), state(again.Fleet()), c.name)
		require.Equal(t, c.parts, strings.Count(log.String(), `"event":"unregister"`), "%s\n%s", c.name, log.String())
		if c.name == "hidden" {
			require.Contains(t, log.String(), `{"event":"hidden","code":"elsewhere","count":3,"devices":[2]}`)
			require.Contains(t, log.String(), `{"event":"anomaly","code":"odd"`)
		}
	}
}

// Two programs that had one id are written in the order of what they left, wherever they lie in memory: here
// the first program of an id lies below the second one in half of the tries.
func TestMomentOfOneID(t *testing.T) {
	logs := map[string]struct{}{}
	for i := range 40 {
		var built [2]*program.Program
		for j := range built {
			x := uint8((i + j) % 2) // the order of building changes
			p, err := program.NewBuilder(7).CB(program.CB{Cores: l1.Rect(x, 0, x, 0), Size: 64}).Build(l1.N150())
			require.NoError(t, err)
			built[x] = p
		}
		var shared session.Shared
		fleet := shared.Fleet()
		d, err := fleet.AddDevice(1, l1.N150())
		require.NoError(t, err)
		for _, p := range built {
			_, err = fleet.Register(p, d.Set())
			require.NoError(t, err)
			require.NoError(t, fleet.Dispatch(7, d.Set()))
			require.NoError(t, fleet.Unregister(7, d.Set()))
		}
		var log bytes.Buffer
		require.NoError(t, shared.WriteMoment(&log))
		logs[log.String()] = struct{}{}
	}
	require.Len(t, logs, 1)
}
