package watch_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/session"
)

// noted are the notes of an event log behind its header, and the fleet that it makes.
func noted(t *testing.T, lines ...string) (*watch.Notes, *device.Fleet) {
	t.Helper()
	text := `{"event":"log","version":1}` + "\n" + strings.Join(lines, "\n") + "\n"
	var n watch.Notes
	var s session.Session
	for e, err := range event.NewLog(strings.NewReader(text), "log").Events() {
		require.NoError(t, err)
		n.Take(e, s.Apply(e))
	}
	return &n, s.Fleet()
}

// held returns the allocations and leaks of processes in a recording.
func held(t *testing.T, lines ...string) (out []string) {
	t.Helper()
	n, fleet := noted(t, lines...)
	var s watch.Snapshot
	n.Add(&s, "", fleet, 100)
	require.Empty(t, s.Refused)
	for _, p := range s.Processes {
		figures := fmt.Sprintf("CB %d, L1 %d, L1_SMALL %d, DRAM %d, TRACE %d, kernels %d", p.CB, p.L1, p.L1Small, p.DRAM, p.Trace, p.Kernels)
		parts := slices.DeleteFunc(strings.Split(figures, ", "), func(part string) bool { return strings.HasSuffix(part, " 0") })
		out = append(out, fmt.Sprintf("%d on %d: %s", p.PID, *p.Device, cmp.Or(strings.Join(parts, ", "), "nothing")))
	}
	for _, l := range s.Leaks {
		out = append(out, fmt.Sprintf("%d leaked %d CBs, %d buffers, %d kernels", l.PID, l.CBs, l.Buffers, l.Kernels))
	}
	return append(out, fmt.Sprintf("leaked %d", s.Leaked))
}

const (
	bound   = `{"event":"anomaly","code":"every-core","count":1}`
	devices = `{"event":"mesh","first":0,"rows":1,"cols":2,"spec":{"board":"n150"}}`
)

func allocates(pid, buffer int, kind string, size int, more string) string {
	return fmt.Sprintf(`{"event":"allocate","process":"%d","buffer":%d,"kind":"%s","size":%d%s}`, pid, buffer, kind, size, more)
}

func frees(pid, buffer int, more string) string {
	return fmt.Sprintf(`{"event":"free","process":"%d","buffer":%d%s}`, pid, buffer, more)
}

func defines(id int, sizes ...int) string {
	var cbs []string
	for i, size := range sizes {
		cbs = append(cbs, fmt.Sprintf(`{"cores":"{[0-0 - 0-0]}","size":%d,"address":%d}`, size, 200_000+i*10_000))
	}
	return fmt.Sprintf(`{"event":"program","program":%d,"cbs":[%s]}`, id, strings.Join(cbs, ","))
}

func registers(pid, program int, more string) string {
	return fmt.Sprintf(`{"event":"register","process":"%d","program":%d%s}`, pid, program, more)
}

func unregisters(pid, program int, more string) string {
	return fmt.Sprintf(`{"event":"unregister","process":"%d","program":%d%s}`, pid, program, more)
}

// What a recording says of its processes: whose each thing is, and what the dead had.
func TestHolders(t *testing.T) {
	const on0, on1, both, leaked = `,"devices":[0]`, `,"devices":[1]`, `,"devices":[0,1]`, `,"leaked":true`
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"each kind in its figure, by process and device", []string{
			allocates(42, 1, "l1", 2, `,"unsized":true`+both), allocates(42, 2, "l1_small", 3, on1), allocates(42, 3, "dram", 4, on1),
			allocates(42, 4, "trace", 5, on1), allocates(42, 5, "kernel", 6, on1), allocates(42, 6, "system", 7, on1),
			allocates(5, 7, "dram", 8, on1), defines(1, 96, 32), registers(42, 1, on1),
		}, []string{
			"5 on 1: DRAM 8", "42 on 0: L1 2",
			"42 on 1: CB 128, L1 2, L1_SMALL 3, DRAM 4, TRACE 5, kernels 6", "leaked 0",
		}},
		{"two programs", []string{defines(1, 64), defines(2, 32), registers(42, 1, on0), registers(42, 2, on1)}, []string{"42 on 0: CB 64", "42 on 1: CB 32", "leaked 0"}},
		{"a program without owner, left by a dead process", []string{defines(1, 64), strings.Replace(registers(42, 1, on0), "42", "me", 1), unregisters(42, 1, on0+leaked)},
			[]string{"42 leaked 1 CBs, 0 buffers, 0 kernels", "leaked 1"}},
		{"a buffer without owner, left by a dead process", []string{strings.Replace(allocates(42, 1, "kernel", 7, on0), "42", "me", 1), frees(42, 1, on0+leaked)},
			[]string{"42 leaked 0 CBs, 1 buffers, 0 kernels", "leaked 1"}},
		{"a process that has no number of 32 bits", []string{
			strings.Replace(allocates(42, 1, "dram", 7, on0), "42", "2147483648", 1), strings.Replace(frees(42, 1, on0+leaked), "42", "2147483648", 1),
		}, []string{"leaked 0"}},
		{"a row ends with its last thing, also of no bytes", []string{allocates(42, 1, "system", 7, on0), allocates(42, 2, "system", 7, on0), frees(42, 1, on0)},
			[]string{"42 on 0: nothing", "leaked 0"}},
		{"a row that has ended", []string{allocates(42, 1, "dram", 7, on0), frees(42, 1, on0)}, []string{"leaked 0"}},
		{"a free of another process, everywhere", []string{allocates(42, 1, "dram", 7, both), allocates(42, 2, "dram", 1, both), frees(43, 1, "")},
			[]string{"42 on 0: DRAM 1", "42 on 1: DRAM 1", "leaked 0"}},
		{"a free on one device of two", []string{allocates(42, 1, "dram", 7, both), frees(42, 1, on0)}, []string{"42 on 1: DRAM 7", "leaked 0"}},
		{"a registered program keeps its owner", []string{defines(1, 64), registers(42, 1, on0), registers(43, 1, both)},
			[]string{"42 on 0: CB 64", "43 on 1: CB 64", "leaked 0"}},
		{"a program and a buffer of one id", []string{defines(1, 64), registers(42, 1, on0), allocates(42, 1, "dram", 7, on0), unregisters(42, 1, on0)},
			[]string{"42 on 0: DRAM 7", "leaked 0"}},
		{"it is another process that has a buffer", []string{allocates(42, 1, "dram", 7, on0), allocates(43, 1, "dram", 7, on0+`,"corrects":true`)},
			[]string{"43 on 0: DRAM 7", "leaked 0"}},
		{"devices that are removed", []string{allocates(42, 1, "dram", 7, both), `{"event":"remove","devices":[1]}`}, []string{"42 on 0: DRAM 7", "leaked 0"}},
		{"all devices are removed", []string{allocates(42, 1, "dram", 7, both), `{"event":"remove"}`}, []string{"leaked 0"}},
		{"a process that is no number", []string{
			strings.Replace(allocates(42, 1, "dram", 7, on0), "42", "me", 1), strings.Replace(frees(42, 1, on0+leaked), "42", "me", 1),
		}, []string{"leaked 0"}},
		{"leaks of each kind; one death is one leak", []string{
			allocates(42, 1, "dram", 7, on0), allocates(42, 2, "kernel", 7, on0), allocates(42, 3, "kernel", 7, on0), defines(1, 64), registers(42, 1, on0),
			unregisters(42, 1, on0+leaked), frees(42, 3, on0+leaked), frees(42, 2, on0+leaked), frees(42, 1, on0+leaked),
		}, []string{"42 leaked 1 CBs, 1 buffers, 2 kernels", "leaked 4"}},
		{"the last three deaths", []string{
			allocates(1, 1, "dram", 7, on0), allocates(2, 2, "dram", 7, on0), allocates(3, 3, "dram", 7, on0), allocates(4, 4, "dram", 7, on0),
			frees(1, 1, on0+leaked), frees(2, 2, on0+leaked), frees(3, 3, on0+leaked), frees(4, 4, on0+leaked),
		}, []string{"2 leaked 0 CBs, 1 buffers, 0 kernels", "3 leaked 0 CBs, 1 buffers, 0 kernels", "4 leaked 0 CBs, 1 buffers, 0 kernels", "leaked 4"}},
		{"two deaths of one id, with life between", []string{
			allocates(42, 1, "dram", 7, on0), allocates(42, 2, "dram", 7, on0), allocates(9, 3, "dram", 7, on0),
			frees(42, 1, on0+leaked), frees(9, 3, on0), frees(42, 2, on0+leaked),
		}, []string{"42 leaked 0 CBs, 1 buffers, 0 kernels", "42 leaked 0 CBs, 1 buffers, 0 kernels", "leaked 2"}},
		{"two deaths of one id, with an allocation between", []string{
			allocates(42, 1, "dram", 7, on0), allocates(42, 2, "dram", 7, on0),
			frees(42, 1, on0+leaked), allocates(42, 3, "dram", 5, on0), frees(42, 2, on0+leaked),
		}, []string{"42 on 0: DRAM 5", "42 leaked 0 CBs, 1 buffers, 0 kernels", "42 leaked 0 CBs, 1 buffers, 0 kernels", "leaked 2"}},
		{"two deaths of one id, with a free and another owner between", []string{
			allocates(42, 1, "dram", 7, on0), allocates(42, 2, "dram", 7, on0), allocates(9, 3, "dram", 7, on0), allocates(42, 4, "dram", 7, on0),
			frees(42, 1, on0+leaked), frees(9, 3, on0), allocates(43, 4, "dram", 7, on0+`,"corrects":true`), frees(42, 2, on0+leaked),
		}, []string{"43 on 0: DRAM 7", "42 leaked 0 CBs, 1 buffers, 0 kernels", "42 leaked 0 CBs, 1 buffers, 0 kernels", "leaked 2"}},
		{"a shared buffer passes to another process, in the middle of a death", []string{
			allocates(42, 1, "dram", 7, on0), allocates(42, 2, "dram", 7, on0), allocates(43, 3, "dram", 7, on0+`,"backing":true`),
			frees(42, 3, on0+leaked), allocates(43, 2, "dram", 7, on0+`,"corrects":true`), frees(42, 1, on0+leaked),
		}, []string{"43 on 0: DRAM 7", "42 leaked 0 CBs, 2 buffers, 0 kernels", "leaked 2"}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, held(t, append([]string{bound, devices}, c.lines...)...)) })
	}
	require.Equal(t, []string{"leaked 0"}, held(t, devices, allocates(42, 1, "dram", 7, on0)), "a log that knows of cores is no recording")
}

// A program has the bytes of its last definition, global buffers none.
func TestHoldersDefine(t *testing.T) {
	global := `{"event":"program","program":1,"cbs":[{"cores":"{[0-0 - 0-0]}","size":64},{"cores":"{[0-0 - 0-0]}","size":32,"global":true}]}`
	require.Equal(t, []string{"42 on 0: CB 64", "leaked 0"},
		held(t, bound, devices, defines(1, 160), global, registers(42, 1, `,"devices":[0]`)))
}

// A hidden event makes devices incomplete: the devices that it names, or all.
func TestHidden(t *testing.T) {
	rows := func(lines ...string) (out []string) {
		n, fleet := noted(t, append([]string{devices}, lines...)...)
		var s watch.Snapshot
		n.Add(&s, "eval", fleet, 100)
		for _, d := range s.Devices {
			out = append(out, fmt.Sprintf("%s/%d at most: %t, incomplete: %t", d.Fleet, d.Device, d.Bound, d.Incomplete))
		}
		return out
	}
	require.Equal(t, []string{"eval/0 at most: false, incomplete: false", "eval/1 at most: false, incomplete: false"}, rows(`{"event":"anomaly","code":"overlap","count":1}`))
	require.Equal(t, []string{"eval/0 at most: true, incomplete: false", "eval/1 at most: true, incomplete: false"}, rows(bound, `{"event":"anomaly","code":"overlap","count":1}`))
	require.Equal(t, []string{"eval/0 at most: false, incomplete: false", "eval/1 at most: false, incomplete: true"}, rows(`{"event":"hidden","code":"x","count":1,"devices":[1]}`))
	require.Equal(t, []string{"eval/0 at most: false, incomplete: true", "eval/1 at most: false, incomplete: true"}, rows(`{"event":"hidden","code":"x","count":1}`))
	require.Equal(t, []string{"eval/0 at most: false, incomplete: true", "eval/1 at most: false, incomplete: true"},
		rows(`{"event":"hidden","code":"x","count":1,"devices":[0]}`, `{"event":"hidden","code":"x","count":1,"devices":[1]}`))
}

// After 65,536 devices with something hidden, one more means all.
func TestHiddenOfMany(t *testing.T) {
	var n watch.Notes
	var fleet device.Fleet
	d, err := fleet.AddDevice(1<<20, l1.N150())
	require.NoError(t, err)
	hides := func(count int) bool {
		e := event.Event{Kind: event.KindHidden, Devices: event.Some(make([]device.ID, count))}
		for i := range e.Devices.V {
			e.Devices.V[i] = device.ID(i)
		}
		n.Take(&e, nil)
		return n.Row(&fleet, d).Incomplete
	}
	require.False(t, hides(1<<16))
	require.True(t, hides(1))
}

// How much DRAM devices have is forgotten with them.
func TestDRAMOfDevices(t *testing.T) {
	const mesh = `{"event":"mesh","first":4,"rows":1,"cols":4,"spec":{"board":"n150"},"dram_bytes":1000}`
	sizes := func(lines ...string) (out []uint64) {
		n, fleet := noted(t, lines...)
		for id := device.ID(3); id <= 8; id++ {
			out = append(out, n.DRAM(id))
			if d, err := fleet.Device(id); err == nil && n.DRAM(id) > 0 {
				require.Equal(t, n.DRAM(id), *n.Row(fleet, d).DRAMSize)
			}
		}
		return out
	}
	require.Equal(t, []uint64{0, 1000, 1000, 1000, 1000, 0}, sizes(mesh))
	require.Equal(t, []uint64{0, 1000, 0, 1000, 1000, 7}, sizes(mesh, `{"event":"device","device":8,"spec":{"board":"n150"},"dram_bytes":7}`, `{"event":"remove","devices":[5]}`))
	require.Equal(t, []uint64{0, 0, 0, 0, 0, 0}, sizes(mesh, `{"event":"remove"}`))
	require.Equal(t, []uint64{0, 1000, 1000, 1000, 1000, 0}, sizes(mesh, `{"event":"reset_peaks"}`, defines(1, 64)))
	require.Equal(t, []uint64{0, 1000, 1000, 1000, 1000, 0}, sizes(mesh, `{"event":"device","device":5,"spec":{"board":"n150"},"dram_bytes":7}`), "what is refused says nothing")
}

// Refusals count by their codes; the last three of a fleet are kept as text, eight of all.
func TestRefusals(t *testing.T) {
	const again = `{"event":"device","device":0,"spec":{"board":"n150"}}`
	n, fleet := noted(t, devices, again, `{"event":"dispatch","program":9}`, again, again)
	var s watch.Snapshot
	for range 3 {
		n.Add(&s, "eval", fleet, 0)
	}
	n.Add(&s, "", fleet, 0)
	at := func(line int) string {
		if line == 4 {
			return "line 4: dispatch: program 9: program is not registered"
		}
		return fmt.Sprintf("line %d: device: device 0: device exists already", line)
	}
	require.Len(t, s.Refused, 8)
	for i, text := range s.Refused {
		require.Contains(t, text, map[int]string{0: "eval, line 4: dispatch", 1: "eval, line 5: device", 2: "eval, line 6: device"}[i%3], at(4))
	}
	require.Equal(t, []watch.OddityCount{
		{Fleet: "eval", Code: "device-exists", Count: 3}, {Fleet: "eval", Code: "not-registered", Count: 1}, {Fleet: "eval", Code: "device-exists", Count: 3},
		{Fleet: "eval", Code: "not-registered", Count: 1}, {Fleet: "eval", Code: "device-exists", Count: 3}, {Fleet: "eval", Code: "not-registered", Count: 1},
		{Code: "device-exists", Count: 3}, {Code: "not-registered", Count: 1},
	}, s.Odd)
	require.Empty(t, s.Devices)
	require.Equal(t, 8, s.Left, "two devices, four times")
}

// Rows have room up to a number of them, and how many are left out is counted.
func TestRowsLeft(t *testing.T) {
	n, fleet := noted(t, `{"event":"mesh","first":0,"rows":1,"cols":3,"spec":{"board":"n150"}}`)
	for most, want := range [][2]int{{0, 3}, {1, 2}, {2, 1}, {3, 0}, {3, 0}} {
		var s watch.Snapshot
		n.Add(&s, "", fleet, most)
		require.Equal(t, want, [2]int{len(s.Devices), s.Left})
	}
	s := watch.Snapshot{Devices: make([]answer.LiveDevice, 5), Left: 1}
	n.Add(&s, "", fleet, 4)
	require.Equal(t, 4, s.Left)
}

// A Detail has the contents of the fullest core, the first of equal ones: programs and buffers by
// their addresses, without kernels.
func TestDetailOf(t *testing.T) {
	var fleet device.Fleet
	spec := l1.N150()
	d, err := fleet.AddDevice(6, spec)
	require.NoError(t, err)
	empty := watch.DetailOf(d)
	require.Equal(t, &watch.Detail{
		Device: 6, Basis: "registered", Cols: 8, Rows: 8, Base: spec.CBBase, End: spec.L1Size, Usable: spec.UsableBytes(),
		Groups: []watch.Group{}, Core: "0-0", Blocks: []watch.Block{},
	}, empty)

	p, err := program.Place(1, "matmul", spec,
		program.CB{Cores: l1.Rect(2, 1, 3, 1), Size: 64}, program.CB{Kind: program.Scratchpad, Cores: l1.Rect(2, 1, 3, 1), Size: 32}, program.CB{Cores: l1.Rect(5, 5, 5, 5), Size: 64})
	require.NoError(t, err)
	_, err = fleet.Register(p, fleet.Set())
	require.NoError(t, err)
	all := l1.Rect(0, 0, 7, 7).Cores()
	for i, b := range []fit.Buffer{
		{Kind: fit.KindL1, Name: "weights", Range: l1.Range{Start: 1_000_000, End: 1_000_008}},
		{Kind: fit.KindKernel, Size: 500, Range: l1.Range{Start: 1_000, End: 1_500}},
	} {
		b.ID, b.Cores = fit.BufferID(i+1), all
		require.NoError(t, fleet.Allocate(b, fleet.Set()))
	}
	want := &watch.Detail{
		Device: 6, Basis: "registered", Cols: 8, Rows: 8, Base: spec.CBBase, End: spec.L1Size, Usable: spec.UsableBytes(), Core: "2-1", Alike: 1,
		Groups: []watch.Group{
			{Cores: "{[0-0 - 7-0], [0-1 - 1-1], [0-2 - 7-4], [0-5 - 4-5], [0-6 - 7-7], [4-1 - 7-1], [6-5 - 7-5]}", Bytes: 8, Below: 8},
			{Cores: "{[2-1 - 3-1]}", Bytes: 72, Below: 72}, {Cores: "{[5-5 - 5-5]}", Bytes: 72, Below: 72},
		},
		Blocks: []watch.Block{
			{Start: spec.CBBase, End: spec.CBBase + 32, Name: "scratchpad 1, matmul", CB: true}, {Start: spec.CBBase, End: spec.CBBase + 64, Name: "CB 0, matmul", CB: true},
			{Start: 1_000_000, End: 1_000_008, Name: "L1 buffer weights"},
		},
	}
	require.Equal(t, want, watch.DetailOf(d))
	require.NoError(t, fleet.Dispatch(1, fleet.Set()))
	want.Basis = "resident"
	require.Equal(t, want, watch.DetailOf(d))
}

// A Detail has 1000 blocks, and counts the others.
func TestDetailIsCut(t *testing.T) {
	for _, n := range []uint64{1_000, 1_002} {
		var fleet device.Fleet
		d, err := fleet.AddDevice(0, l1.N150())
		require.NoError(t, err)
		for i := range n {
			at := 1_000_000 + 32*i
			require.NoError(t, fleet.Allocate(fit.Buffer{
				ID: fit.BufferID(i + 1), Kind: fit.KindL1, Name: strings.Repeat("x", 300), Cores: l1.CoreSetOf(l1.Core{}), Range: l1.Range{Start: at, End: at + 8},
			}, fleet.Set()))
		}
		got := watch.DetailOf(d)
		require.Len(t, got.Blocks, 1_000)
		require.Equal(t, int(n)-1_000, got.Left)
		require.Len(t, got.Blocks[0].Name, 200)
	}
}

// A Detail has 1000 groups, and counts the others: one for each core that holds other bytes.
func TestGroupsAreCut(t *testing.T) {
	var fleet device.Fleet
	spec := l1.N150()
	spec.Cols, spec.Rows = 200, 6
	d, err := fleet.AddDevice(0, spec)
	require.NoError(t, err)
	for i := range uint64(1_002) {
		require.NoError(t, fleet.Allocate(fit.Buffer{
			ID: fit.BufferID(i + 1), Kind: fit.KindL1, Cores: l1.CoreSetOf(l1.Core{X: uint8(i % 200), Y: uint8(i / 200)}), Range: l1.Range{Start: 1_000_000, End: 1_000_001 + i},
		}, fleet.Set()))
	}
	got := watch.DetailOf(d)
	require.Len(t, got.Groups, 1_000)
	require.Equal(t, 2, got.Left)
	require.Equal(t, "1-5", got.Core)
}
