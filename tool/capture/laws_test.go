package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// captures returns the captures of this repository.
func captures(t testing.TB) (files []string) {
	for _, pattern := range []string{"testdata/*.json", "testdata/ranks/graph_capture_?_of_2.json", traces + "/*.json"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range found {
			if !strings.HasSuffix(file, ".expected.json") {
				files = append(files, file)
			}
		}
	}
	return files
}

// laws hold a stream against what must be true of every stream.
type laws struct {
	t        require.TestingT
	declared map[device.ID]*event.Event
	programs map[program.ID]*event.Event
	live     map[fit.BufferID]map[device.ID]bool
	alive    map[device.ID]*event.RunDevice
	size     map[device.ID]int // nodes of what is alive
	nodes    map[device.ID]int // nodes of runs that have events
	last     event.Pos
}

func newLaws(t require.TestingT) *laws {
	return &laws{
		t: t, declared: map[device.ID]*event.Event{}, programs: map[program.ID]*event.Event{},
		live: map[fit.BufferID]map[device.ID]bool{}, alive: map[device.ID]*event.RunDevice{}, size: map[device.ID]int{},
		nodes: map[device.ID]int{},
	}
}

func (l *laws) event(e *event.Event) {
	if e.Pos.Node >= 0 {
		require.GreaterOrEqual(l.t, e.Pos.Node, l.last.Node)
		l.last = e.Pos
	}
	switch e.Kind {
	case event.KindDevice:
		l.declared[e.Device] = e
	case event.KindProgram:
		require.NotContains(l.t, l.programs, e.Program)
		l.programs[e.Program] = e
		l.placed(e)
	case event.KindRun:
		l.run(e)
	case event.KindCBsFreed:
		for _, id := range e.Devices.V {
			require.Contains(l.t, l.alive, id)
			delete(l.alive, id)
			delete(l.size, id)
		}
	case event.KindExecuted:
		if e.Known {
			require.Contains(l.t, l.programs, e.Program)
		}
	case event.KindAllocate:
		l.allocate(e)
	case event.KindFree:
		if e.Unknown {
			return
		}
		require.Contains(l.t, l.live, e.Buffer.ID)
		require.Len(l.t, l.live[e.Buffer.ID], len(e.Devices.V))
		for _, id := range e.Devices.V {
			require.True(l.t, l.live[e.Buffer.ID][id])
		}
		delete(l.live, e.Buffer.ID)
	}
}

func (l *laws) run(e *event.Event) {
	require.NotEmpty(l.t, e.On)
	require.Contains(l.t, l.programs, e.Program)
	for i := range e.On {
		on := &e.On[i]
		require.Contains(l.t, l.declared, on.Device)
		require.LessOrEqual(l.t, on.First, on.Last)
		if i > 0 {
			require.Negative(l.t, graph.CompareDevices(e.On[i-1].Device, on.Device))
		}
		if e.Inferred {
			continue
		}
		size := len(l.programs[e.Program].CBs)
		if e.Continues {
			require.Contains(l.t, l.alive, on.Device)
			require.Equal(l.t, l.alive[on.Device].First, on.First)
			require.Greater(l.t, size, l.size[on.Device])
		} else {
			require.NotContains(l.t, l.alive, on.Device)
		}
		l.nodes[on.Device] += size - l.size[on.Device]
		l.alive[on.Device], l.size[on.Device] = on, size
	}
}

func (l *laws) allocate(e *event.Event) {
	if e.Earlier && len(e.Parts) == 0 {
		require.False(l.t, e.Devices.OK)
		require.Empty(l.t, e.Parts)
		return
	}
	if l.live[e.Buffer.ID] == nil {
		require.False(l.t, e.Corrects)
		l.live[e.Buffer.ID] = map[device.ID]bool{}
	}
	for _, id := range e.Devices.V {
		require.Contains(l.t, l.declared, id)
		require.Equal(l.t, e.Corrects, l.live[e.Buffer.ID][id], "buffer %d on %d", e.Buffer.ID, id)
		l.live[e.Buffer.ID][id] = true
	}
	if e.Unplaced != "" {
		require.Empty(l.t, e.Parts)
	}
	for _, part := range e.Parts {
		require.True(l.t, e.Buffer.Kind == fit.KindL1 || e.Buffer.Kind == fit.KindL1Small)
		require.Equal(l.t, e.PerCore.V, part.Range.Len())
		if part.Range.Len() > 0 {
			require.Equal(l.t, e.Address.V, part.Range.Start)
			require.False(l.t, part.Cores.V.IsEmpty())
		}
	}
}

// placed holds that a program is the same with the addresses of its event and, where they
// were not recorded, with addresses that are found again.
func (l *laws) placed(e *event.Event) {
	var spec l1.Spec
	for _, d := range l.declared {
		spec = d.Spec
		spec.Cols, spec.Rows = 0, 0
	}
	for _, circular := range []bool{true, false} {
		asTold, again := program.NewBuilder(1), program.NewBuilder(1)
		for _, cb := range e.CBs {
			if (cb.Kind == program.CircularBuffer) != circular {
				continue
			}
			asTold.CB(cb.CB)
			cb.Fixed = cb.Fixed && !cb.Synthesised
			again.CB(cb.CB)
		}
		one, err := asTold.Build(spec)
		require.NoError(l.t, err)
		other, err := again.Build(spec)
		require.NoError(l.t, err)
		addresses := func(p *program.Program) (all []uint64) {
			for _, cb := range p.CBs() {
				all = append(all, cb.Address)
			}
			return all
		}
		require.Equal(l.t, addresses(other), addresses(one))
		for kind := program.CircularBuffer; kind <= program.Scratchpad; kind++ {
			require.Equal(l.t, other.Occupied(kind).Bytes(), one.Occupied(kind).Bytes())
			require.Equal(l.t, other.Reserved(kind).Bytes(), one.Reserved(kind).Bytes())
		}
	}
}

// requireLaws holds a whole stream against them, and against the nodes it comes from.
func requireLaws(t require.TestingT, events []*event.Event, data []byte) {
	l := newLaws(t)
	for i, e := range events {
		require.Equal(t, i == 0, e.Kind == event.KindHeader)
		require.Equal(t, i == len(events)-1, e.Kind == event.KindEnd)
		l.event(e)
	}
	placed := map[device.ID]int{}
	nodes := int64(0)
	for n, err := range NewReader(bytes.NewReader(data), "laws.json").nodes() {
		require.NoError(t, err)
		nodes++
		switch n.Type {
		case graph.TypeCircularBufferAllocate, graph.TypeDataflowBufferAllocate, graph.TypeScratchpadAllocate:
			placed[graph.DeviceOf(n.DeviceID)]++
		}
	}
	require.Equal(t, placed, l.nodes)
	require.Equal(t, nodes, events[len(events)-1].Nodes)
}

// TestLaws checks the events of every capture here against laws that hold for all captures. The file, a pipe and a
// compressed pipe have the same events.
func TestLaws(t *testing.T) {
	for _, file := range captures(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, opt := range []Options{{}, {NoInfer: true, L1Small: event.Some(uint64(4096)), Arch: l1.Wormhole}} {
				whole := eventsOf(t, file, opt)
				requireLaws(t, whole, data)
				for _, source := range [][]byte{data, testkit.Gzip(t, bytes.NewReader(data))} {
					events, err := copied(piped(source, opt))
					require.NoError(t, err)
					last := len(whole) - 1 // the name of the file may say the rank
					require.Equal(t, whole[:last], events[:last])
					events[last].Rank = whole[last].Rank
					require.Equal(t, whole, events)
				}
			}
		})
	}
}

// TestCuts checks that a cut capture has no events, and an error that names the place of the cut.
func TestCuts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, file := range captures(t) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for range 50 {
			n := random.IntN(len(bytes.TrimSpace(data)))
			events, err := copied(piped(data[:n], Options{}))
			require.Empty(t, events, "%s cut at %d", file, n)
			var input *event.InputError
			require.ErrorAs(t, err, &input)
			require.True(t, errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, event.ErrNotCapture), "%v", err)
		}
	}
}

// TestStops checks that no event follows once the caller stops.
func TestStops(t *testing.T) {
	const file = "testdata/late_mesh.json"
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	whole := eventsOf(t, file, Options{})
	for most := 1; most < len(whole); most++ {
		for _, events := range []iter.Seq2[*event.Event, error]{Input{Path: file}.Events(Options{}), piped(data, Options{})} {
			n := 0
			for _, err := range events {
				require.NoError(t, err)
				if n++; n == most {
					break
				}
			}
			require.Equal(t, most, n)
		}
	}
}

// summary writes a stream down, one event a line, as far as captures of a few nodes
// need it.
func summary(events []*event.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%d %s", e.Node, e.Kind)
		switch e.Kind {
		case event.KindDevice:
			fmt.Fprintf(&b, " %d %s %v", e.Device, e.Role, e.Chips)
		case event.KindProgram:
			fmt.Fprintf(&b, " %d:", e.Program)
			for _, cb := range e.CBs {
				fmt.Fprintf(&b, " %d+%d", cb.Address, cb.Size)
			}
		case event.KindRun:
			fmt.Fprintf(&b, " %d on", e.Program)
			for _, on := range e.On {
				fmt.Fprintf(&b, " %d:%d-%d", on.Device, on.First, on.Last)
			}
			for word, set := range map[string]bool{" inferred": e.Inferred, " continues": e.Continues} {
				if set {
					b.WriteString(word)
				}
			}
		case event.KindAllocate, event.KindFree:
			fmt.Fprintf(&b, " %d %s on %v", e.Buffer.ID, e.Buffer.Kind.Name(), e.Devices.V)
			for _, part := range e.Parts {
				fmt.Fprintf(&b, " %v", part.Range)
			}
		case event.KindCBsFreed, event.KindExecuted:
			fmt.Fprintf(&b, " %v", e.Devices.V)
		case event.KindHidden, event.KindAnomaly:
			fmt.Fprintf(&b, " %s x%d %s", e.Code, e.Count, e.Detail)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestEventsOfLog holds that the events of an event log are those of the log.
func TestEventsOfLog(t *testing.T) {
	text := `{"event":"log","version":1}` + "\n" + `{"event":"program","program":7}` + "\n" + `{"event":"op_start","name":"f"}` + "\n"
	path := filepath.Join(t.TempDir(), "log.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	var want []*event.Event
	for e, err := range event.NewLog(strings.NewReader(text), path).Events() {
		require.NoError(t, err)
		want = append(want, new(*e))
	}
	require.Len(t, want, 3)
	require.Equal(t, want, eventsOf(t, path, Options{}))
	events, err := copied(piped([]byte(text), Options{}))
	require.NoError(t, err)
	require.Equal(t, want, events)
	events, err = copied(piped([]byte(text+"[]\n"), Options{}))
	require.Error(t, err)
	require.Equal(t, want, events)
	for _, err := range NewReader(strings.NewReader(text), path).Events(Options{}) {
		require.NoError(t, err)
		break // and no event follows
	}
}

// loop writes a capture that does the same again and again: a program that is placed, the
// program from the cache, and buffers that come and go.
type loop struct {
	rounds, done int
	rest         []byte
}

func (l *loop) Read(b []byte) (int, error) {
	for len(l.rest) == 0 {
		if l.done > l.rounds {
			return 0, io.EOF
		}
		l.rest = l.round()
		l.done++
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// nodesPerRound is how many nodes a round has.
const nodesPerRound = 12

func (l *loop) round() []byte {
	if l.done == l.rounds {
		return []byte("\n]")
	}
	var b bytes.Buffer
	first := l.done * nodesPerRound
	for i, node := range []string{
		`"function_start","params":{"name":"f"}`,
		`"circular_buffer_deallocate_all","params":{"device_id":1}`,
		`"circular_buffer_allocate","params":{"address":4096,"size":64,"core_range_set":"{[0-0 - 7-7]}","device_id":0}`,
		`"circular_buffer_allocate","params":{"address":4160,"size":64,"core_range_set":"{[0-0 - 7-7]}","device_id":0}`,
		`"buffer","params":{}`,
		fmt.Sprintf(`"buffer_allocate","params":{"address":1000000,"max_size_per_bank":64,"size":64,"type":"L1","device_id":1},"connections":[%d]`, first+4),
		`"tensor","params":{"device_tensors":"[{\"device_id\":0,\"mesh_device_id\":1}]"}`,
		fmt.Sprintf(`"buffer_deallocate","params":{"address":1000000,"type":"L1","device_id":1},"connections":[%d]`, first+4),
		`"function_end","params":{"name":"f"}`,
		`"function_start","params":{"name":"f","program_cache_hit":true}`,
		`"program_execution","params":{"device_id":1,"physical_device_id":0}`,
		`"function_end","params":{"name":"f"}`,
	} {
		separator := ",\n"
		if first+i == 0 {
			separator = "[\n"
		}
		fmt.Fprintf(&b, `%s{"counter":%d,"node_type":%s}`, separator, first+i, node)
	}
	return b.Bytes()
}

// TestMemoryFollowsPrograms holds that a capture which repeats itself needs no more memory
// the longer it is.
func TestMemoryFollowsPrograms(t *testing.T) {
	const rounds = 4000
	var heap []int64
	runs, programs := 0, 0
	for e, err := range NewReader(&loop{rounds: rounds}, "loop.json").Events(Options{TempDir: t.TempDir()}) {
		require.NoError(t, err)
		switch e.Kind {
		case event.KindProgram:
			programs++
		case event.KindRun:
			if runs++; runs == rounds/4 || runs == 2*rounds-1 {
				heap = append(heap, testkit.Kept())
			}
		case event.KindEnd:
			require.EqualValues(t, rounds*nodesPerRound, e.Nodes)
		}
	}
	require.Equal(t, 1, programs)
	require.Equal(t, 2*rounds, runs)
	require.Less(t, heap[1], heap[0]+256<<10)
}

// BenchmarkEvents reads a capture that repeats itself.
func BenchmarkEvents(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range NewReader(&loop{rounds: 1000}, "loop.json").Events(Options{TempDir: b.TempDir()}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1000*nodesPerRound), "ns/node")
}

// FuzzEvents reads any bytes: no panic, the same events twice, laws that hold up to the error.
func FuzzEvents(f *testing.F) {
	for _, file := range captures(f) {
		if data, err := os.ReadFile(file); err == nil && len(data) < 20<<10 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := copied(piped(data, Options{}))
		again, errAgain := copied(NewReader(bytes.NewReader(data), "pipe.json").Events(Options{}))
		require.Equal(t, once, again)
		require.Equal(t, err, errAgain)
		if event.IsLog(data) {
			return
		}
		l := newLaws(t)
		for _, e := range once {
			l.event(e)
		}
	})
}

// TestCopiesStay copies events while their source goes on: what a copy says does not change,
// although the event itself becomes the next one.
func TestCopiesStay(t *testing.T) {
	again := false
	for _, path := range captures(t) {
		var copies []event.Event
		var lines []string
		line := func(e event.Event) string { return fmt.Sprintf("%+v", e) }
		memory := map[*event.Event]bool{}
		for e, err := range (Input{Path: path}).Events(Options{}) {
			require.NoError(t, err, path)
			again = again || memory[e]
			memory[e] = true
			copies, lines = append(copies, *e), append(lines, line(*e))
		}
		for i, e := range copies {
			require.Equal(t, lines[i], line(e), "%s: event %d", path, i)
		}
	}
	require.True(t, again, "no event has the memory of another one")
}
