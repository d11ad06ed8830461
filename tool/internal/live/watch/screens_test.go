package watch_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

var update = flag.Bool("update", false, "rewrite the golden files; review the difference")

// drawn is a screen as text: each line behind the sign of its look, and what stands beside it.
func drawn(lines []watch.Line) string {
	var b strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&b, "%c|%s", " hgWB"[line.Look], line.Text)
		if line.Beside != nil {
			fmt.Fprintf(&b, "|%c|%s", " hgWB"[line.Beside.Look], line.Beside.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// fullSnapshot returns a moment with two devices and all figures, each another number.
func fullSnapshot() watch.Snapshot {
	programs := 3
	all := answer.LiveDevice{
		Fleet: "eval", Device: 17, Board: "n150", Cores: 10, Usable: 10_000, Bound: true, Incomplete: true,
		Registered: new(uint64(41_001)), Core: new(uint64(5_002)), Dispatched: new(uint64(41_003)), Tracked: new(uint64(41_004)), TrackedCore: new(uint64(5_005)), Headroom: new(uint64(4_006)), Logical: new(uint64(100_007)), Sum: new(uint64(100_008)),
		Peak:     &answer.LivePeak{Registered: new(uint64(42_001)), Core: 6_002, Dispatched: new(uint64(42_003)), Tracked: new(uint64(42_004)), TrackedCore: new(uint64(6_005))},
		Programs: &programs, L1: 1_009, L1Small: 2_010, DRAM: 3_011, Trace: 4_012, Kernels: new(uint64(5_013)), DRAMSize: new(uint64(30_014)),
	}
	other := all
	other.Fleet, other.Device, other.Incomplete, other.Dispatched, other.Peak, other.Kernels = "", 18, false, nil, nil, nil
	other.Logical, other.Sum = new(uint64(100_000)), new(uint64(99_999))
	return watch.Snapshot{
		Schema: watch.Schema, Source: watch.FeedRecords, Time: 3_723 * int64(time.Second), Devices: []answer.LiveDevice{all, other}, Left: 1,
		Processes: []watch.Process{
			{PID: 41, Name: "python3", Device: new(uint64(17)), CB: 1_001, L1: 1_002, L1Small: 1_003, DRAM: 1_004, Trace: 1_005, Kernels: 1_006},
			{PID: 42, Dead: true, CB: 2_001, L1: 2_002, L1Small: 2_003, DRAM: 2_004, Trace: 2_005, Kernels: 2_006},
		},
		Odd: []watch.OddityCount{{Code: "size", Count: 1}, {Fleet: "eval", Code: "mesh", Count: 2}}, Leaked: 6,
		Leaks: []watch.Leak{{PID: 42, CBs: 1, Buffers: 2, Kernels: 3}, {PID: 43, CBs: 2, Buffers: 1, Kernels: 1}}, Behind: 4_096, Refused: []string{"first", "second"},
		Server: &watch.ServerCounts{Clients: 11, Records: 12, Refused: 13, Closed: 14, NotRecorded: 15, Unprinted: 16},
	}
}

// pictured is a moment with the cores of a device.
func pictured() watch.Snapshot {
	s := at(1, 600)
	s.Detail = &watch.Detail{
		Basis: "registered", Cols: 3, Rows: 1, Base: 100, End: 1_100, Usable: 1_000, Core: "0-0", Alike: 1, Left: 1,
		Groups: []watch.Group{{Cores: "{[0-0 - 0-0]}", Bytes: 700, Below: 600}, {Cores: "{[1-0 - 1-0]}", Bytes: 100, Below: 100}},
		Blocks: []watch.Block{{Start: 100, End: 400, Name: "CB 0, matmul", CB: true}, {Start: 800, End: 1_100, Name: "L1 buffer a"}},
	}
	return s
}

// charted gives a model the snapshots of a device that held so many of 1000 bytes in CBs, and so many in all.
func charted(m *watch.Model, cbs, all []uint64) {
	for i := range cbs {
		s := at(int64(60*i+1), cbs[i])
		s.Devices[0].TrackedCore = &all[i]
		m.Take(s)
	}
}

// The whole screen, for inputs of a few devices. -update writes it anew: review the difference.
func TestScreens(t *testing.T) {
	alone := func(s watch.Snapshot) func(*watch.Model) { return func(m *watch.Model) { m.Take(s) } }
	var got strings.Builder
	for _, c := range []struct {
		name          string
		columns, rows int
		model         func(m *watch.Model)
	}{
		{"all figures", 110, 0, func(m *watch.Model) { m.Take(fullSnapshot()); m.Fail("why") }},
		{"a device of no fleet, registered and not dispatched", 110, 30, func(m *watch.Model) {
			m.Take(fullSnapshot())
			m.Move(1)
			s := fullSnapshot()
			s.Time, s.Processes, s.Odd, s.Leaked, s.Leaks, s.Left, s.Refused, s.Behind = s.Time+90*int64(time.Second), nil, nil, 0, nil, 0, nil, 2
			m.Take(s)
		}},
		{"nothing is known", 100, 24, alone(watch.Snapshot{Source: watch.FeedRegions, Devices: []answer.LiveDevice{{Device: 5}}})},
		{"sums of processes", 80, 24, alone(watch.Snapshot{Source: watch.FeedRegions, Devices: []answer.LiveDevice{
			{Device: 5, Cores: 2, Usable: 10, Dispatched: new(uint64(21))}, {Device: 6, Cores: 2, Usable: 10, Registered: new(uint64(21))}, {Device: 7, Cores: 2, Usable: 10, Registered: new(uint64(20))},
		}})},
		{"looks and bars, beside the limits of each", 80, 24, alone(at(1, 1_001, 1_000, 900, 899, 750, 749, 32, 31, 0))},
		{"devices as full as each other stay in their order", 80, 24, alone(at(1, 500, 600, 500, 600))},
		{"more lines than rows", 80, 12, alone(fullSnapshot())},
		{"one line more than rows", 80, 2, alone(fullSnapshot())},
		{"a narrow screen", 60, 8, alone(at(1, 5))},
		{"as many rows as lines", 80, 11, alone(at(1, 5))},
		{"a row more than lines", 80, 12, alone(at(1, 5))},
		{"as many columns as the first line", 74, 4, alone(at(1, 5))},
		{"a column less than the first line", 73, 4, alone(at(1, 5))},
		{"a list that is cut", 80, 11, func(m *watch.Model) {
			m.Take(at(1, 50, 900, 100, 800, 200, 700, 300, 600, 400, 500))
			m.Move(6)
		}},
		{"a list that is cut, in few rows", 80, 4, alone(at(1, 50, 900, 100, 800, 200, 700, 300, 600, 400, 500))},
		{"texts as long as a line, and longer: in words, in parts, cut", 40, 0, func(m *watch.Model) {
			s := at(1, 5)
			s.Refused = []string{strings.Repeat("x", 31), strings.Repeat("x", 32), "a " + strings.Repeat("x", 38), strings.Repeat("words ", 7), strings.Repeat("many words ", 20)}
			m.Take(s)
		}},
		{"no columns", 0, 4, alone(at(1, 5))},
		{"a chart of no sample", 80, 24, func(m *watch.Model) { m.Show(watch.ViewChart) }},
		{"a chart of three samples", 80, 8, func(m *watch.Model) {
			charted(m, []uint64{100, 300, 375}, []uint64{125, 350, 1_000})
			m.Show(watch.ViewChart)
		}},
		{"a chart in 14 rows", 80, 14, func(m *watch.Model) { charted(m, []uint64{250}, []uint64{950}); m.Show(watch.ViewChart) }},
		{"a chart in 13 rows", 80, 13, func(m *watch.Model) { charted(m, []uint64{250}, []uint64{950}); m.Show(watch.ViewChart) }},
		{"a chart without an end", 80, 0, func(m *watch.Model) { charted(m, []uint64{250}, []uint64{950}); m.Show(watch.ViewChart) }},
		{"a chart of more samples than columns: the most of each", 20, 8, func(m *watch.Model) {
			cbs := []uint64{0, 0, 0, 900, 0, 0, 600, 0, 0, 0, 0, 0, 0, 0, 0, 0, 300}
			charted(m, cbs, cbs)
			m.Show(watch.ViewChart)
		}},
		{"a chart of more samples than columns, of CBs and all", 20, 8, func(m *watch.Model) {
			cbs, all := make([]uint64, 28), make([]uint64, 28)
			cbs[0], all[1], cbs[26], all[26] = 600, 900, 300, 700
			charted(m, cbs, all)
			m.Show(watch.ViewChart)
		}},
		{"a chart of sums", 80, 8, func(m *watch.Model) {
			m.Take(watch.Snapshot{Time: 1, Devices: []answer.LiveDevice{{Device: 5, Cores: 2, Usable: 10, Registered: new(uint64(10))}}})
			m.Show(watch.ViewChart)
		}},
		{"cores and addresses", 80, 0, func(m *watch.Model) { m.Show(watch.ViewMap); m.Take(pictured()) }},
		{"cores beside addresses", 130, 24, func(m *watch.Model) { m.Show(watch.ViewMap); m.Take(pictured()) }},
		{"cores beside addresses, just so", 126, 24, func(m *watch.Model) { m.Show(watch.ViewMap); m.Take(pictured()) }},
		{"cores above addresses, just so", 125, 6, func(m *watch.Model) { m.Show(watch.ViewMap); m.Take(pictured()) }},
		{"an empty device in few columns", 80, 24, func(m *watch.Model) {
			s := pictured()
			s.Detail.Blocks = nil
			m.Show(watch.ViewMap)
			m.Take(s)
		}},
		{"cores of an empty device, of a fleet", 130, 24, func(m *watch.Model) {
			s := pictured()
			s.Devices[0].Fleet, s.Detail.Fleet, s.Detail.Blocks, s.Detail.Alike, s.Detail.Left = "eval", "eval", nil, 0, 0
			m.Take(s)
			m.Show(watch.ViewMap)
		}},
		{"cores that are not there yet", 80, 24, func(m *watch.Model) { m.Show(watch.ViewMap); m.Take(at(1, 5)) }},
		{"cores of regions", 80, 24, func(m *watch.Model) { m.Show(watch.ViewMap); m.Take(watch.Snapshot{Source: watch.FeedRegions}) }},
		{"help", 80, 24, func(m *watch.Model) { m.Show(watch.ViewHelp); m.Take(at(1, 5)) }},
	} {
		m := watch.Model{ASCII: true}
		c.model(&m)
		fmt.Fprintf(&got, "== %s, %dx%d\n%s", c.name, c.columns, c.rows, drawn(m.Lines(c.columns, c.rows)))
	}
	testkit.Golden(t, *update, "testdata/screens.golden", got.String())
}

// A terminal that shows more than ASCII has bars of blocks, and one sign where a line is cut.
func TestSigns(t *testing.T) {
	var m watch.Model
	m.Take(at(1, 500))
	require.Equal(t, "g|>       0  n150      ████████░░░░░░░░  50.0%     …", strings.Split(drawn(m.Lines(50, 8)), "\n")[2])
	m.Show(watch.ViewChart)
	charted(&m, []uint64{300}, []uint64{600})
	require.Equal(t, "h|device 0 n150: █ registered CBs, ░ what more is tracked, of the fullest core\n"+
		"W| 100%\n"+"g|  75%\n"+"g|  50% ░\n"+"g|  25% █\n"+" |      the last 0s, now at the right; now 60.0%\n",
		strings.SplitAfterN(drawn(m.Lines(80, 8)), "\n", 2)[1])
	m.Show(watch.ViewMap)
	m.Take(pictured())
	require.Equal(t, " |  0  ▓ 60 ░ 10 ·", strings.Split(drawn(m.Lines(80, 0)), "\n")[3])
}

// The fullest device is selected until a key has chosen one: by moving, or for a view of one.
func TestChosen(t *testing.T) {
	for view, chosen := range map[watch.View]bool{watch.ViewDevices: false, watch.ViewChart: true, watch.ViewMap: true, watch.ViewHelp: false} {
		var m watch.Model
		m.Take(at(1, 500, 100))
		m.Show(view)
		m.Take(at(2, 500, 900))
		on, detail := m.Selected()
		require.Equal(t, view == watch.ViewMap, detail)
		require.Equal(t, watch.DeviceKey{Device: map[bool]uint64{false: 1, true: 0}[chosen]}, on)
		m.Show(watch.ViewDevices)
		_, detail = m.Selected()
		require.False(t, detail)
	}
}

// A picture is scrolled to its last page and no further, and begins at its top when it was seen as a whole.
func TestScrolledToItsEnd(t *testing.T) {
	m := watch.Model{ASCII: true}
	m.Show(watch.ViewHelp)
	m.Take(at(1, 5))
	last := func(rows int) string {
		lines := m.Lines(80, rows)
		return lines[len(lines)-1].Text
	}
	require.Equal(t, "lines 1 to 4 of 21: space and b go on and back", last(6))
	m.Scroll(100)
	require.Equal(t, "lines 18 to 21 of 21: space and b go on and back", last(6))
	m.Scroll(-1)
	require.Equal(t, "lines 14 to 17 of 21: space and b go on and back", last(6))
	require.Equal(t, "  ?            the source does not tell", last(22))
	require.Equal(t, "lines 1 to 4 of 21: space and b go on and back", last(6))
	require.Equal(t, "lines 1 to 1 of 21: space and b go on and back", last(3))
	require.Equal(t, "and 2 more lines, on a higher screen", last(2))
}

// A Model keeps 600 samples of a device, of 256 devices, and one for each moment.
func TestSamples(t *testing.T) {
	last := func(m *watch.Model) string {
		lines := m.Lines(700, 8)
		return lines[len(lines)-1].Text
	}
	m := watch.Model{ASCII: true}
	m.Show(watch.ViewChart)
	for second := range int64(600) {
		m.Take(at(second+1, 1_000))
	}
	require.Contains(t, last(&m), "the last 9m59s, ")
	m.Take(at(601, 1_000))
	require.Contains(t, last(&m), "the last 9m59s, ", "the first one has gone")
	m.Take(at(601, 1_000))
	require.Contains(t, last(&m), "the last 9m59s, ", "another look at one moment is the same sample")
	m.Take(at(700))
	m.Take(at(701, 1_000))
	require.Contains(t, last(&m), "the last 0s, ", "a device that was not there begins anew")

	many := watch.Model{ASCII: true}
	many.Take(at(1, make([]uint64, 257)...))
	many.Take(at(61, make([]uint64, 257)...))
	many.Show(watch.ViewChart)
	many.Move(255)
	require.Contains(t, last(&many), "the last 1m0s, ")
	many.Move(1)
	require.Contains(t, last(&many), "the last 0s, ", "there is no room for one more")
}

// Sums that are accounting again have been so since then.
func TestAccountingAgain(t *testing.T) {
	var m watch.Model
	take := func(second int64, sum uint64) string {
		s := at(second, 5)
		s.Devices[0].Sum = &sum
		m.Take(s)
		return text(m.Lines(120, 40))
	}
	require.Contains(t, take(10, 10_001), "accounting for 0s")
	require.NotContains(t, take(20, 10_000), "accounting")
	require.Contains(t, take(30, 10_001), "accounting for 0s")
	require.Contains(t, take(35, 10_001), "accounting for 5s")
	m.Take(at(40))
	require.Contains(t, take(50, 10_001), "accounting for 0s", "a device that was not there")
}
