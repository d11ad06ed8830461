package watch_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

func text(lines []watch.Line) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line.Text + "\n")
	}
	return b.String()
}

// at is a moment at which devices 0, 1, ... hold so many of 1000 bytes on their fullest core.
func at(second int64, held ...uint64) watch.Snapshot {
	s := watch.Snapshot{Schema: watch.Schema, Source: watch.FeedLog, Time: second * int64(time.Second)}
	for i := range held {
		s.Devices = append(s.Devices, answer.LiveDevice{Device: uint64(i), Board: "n150", Cores: 10, Usable: 1000, Core: &held[i], Peak: &answer.LivePeak{Core: held[i]}})
	}
	return s
}

func TestModel(t *testing.T) {
	m := watch.Model{ASCII: true}
	m.Take(at(1, 100, 950, 800, 0))
	lines := m.Lines(80, 24)
	var looks []watch.Look
	var order []string
	for _, line := range lines[2:6] {
		looks = append(looks, line.Look)
		order = append(order, strings.Fields(strings.TrimPrefix(line.Text, ">"))[0])
	}
	require.Equal(t, []string{"1", "2", "0", "3"}, order, "the fullest first")
	require.Equal(t, []watch.Look{watch.Bad, watch.Warn, watch.Good, watch.Good}, looks)
	require.Equal(t, ">       1  n150      ###############.  95.0%         950           ?", lines[2].Text)
	require.Contains(t, text(lines), "device 1 n150: 10 cores, 10,000 bytes of usable L1\n")

	// The selected device stays, once a key has chosen it.
	m.Move(1)
	on, detail := m.Selected()
	require.Equal(t, watch.DeviceKey{Device: 2}, on)
	require.False(t, detail)
	m.Take(at(2, 100, 950, 0, 0))
	require.Contains(t, text(m.Lines(80, 24)), "device 2 n150")
	m.Move(-100)
	m.Move(+1)
	require.Contains(t, text(m.Lines(80, 24)), "device 0 n150")

	m.Show(watch.ViewChart)
	m.Take(at(3, 500, 950))
	chart := text(m.Lines(80, 24))
	require.Contains(t, chart, "the last 2s, now at the right; now 50.0%")
	require.Contains(t, chart, "  50%   #\n", "two samples below, one above")
	require.Contains(t, chart, "   5% ###\n")
	m.Show(watch.ViewMap)
	require.Contains(t, text(m.Lines(80, 24)), "nothing is known of its cores")
	m.Fail("connection refused")
	require.Equal(t, watch.Line{Text: "no answer: connection refused", Look: watch.Bad}, m.Lines(80, 24)[1])
}

// Sums beyond the physical are called accounting, and for how long. Each part of the breakdown is
// named with its share and the whole of that share.
func TestBreakdown(t *testing.T) {
	kernels := uint64(500)
	for _, c := range []struct {
		dram, trace, size uint64
		want              string
	}{
		{0, 0, 0, "  bytes in DRAM\n    buffers                               0\n    traces                                0\n"},
		{300, 100, 2000, "  bytes in DRAM, of 2,000\n    buffers                             300  15.0%\n    traces                              100   5.0%\n"},
	} {
		s := at(1, 100)
		d := &s.Devices[0]
		d.L1, d.L1Small, d.DRAM, d.Trace, d.Kernels = 1000, 50, c.dram, c.trace, &kernels
		if c.size > 0 {
			watch.SetDRAM(d, c.size)
		}
		var m watch.Model
		m.Take(s)
		lines := text(m.Lines(120, 40))
		require.Contains(t, lines, c.want)
		for name, want := range map[string]string{"L1 buffers": "1,000 10.0%", "L1_SMALL buffers": "50 kernels", "kernels": "500 5.0%"} {
			require.Contains(t, strings.Join(strings.Fields(lines), " "), " "+name+" "+want+" ")
		}
		require.NotContains(t, lines, "CB sizes")
		require.NotContains(t, lines, "resident")
	}
}

func TestAccountingSince(t *testing.T) {
	var m watch.Model
	s := at(10, 5)
	sum := uint64(10_001)
	s.Devices[0].Sum = &sum
	m.Take(s)
	s.Time += 200 * int64(time.Second)
	m.Take(s)
	require.Contains(t, text(m.Lines(120, 40)), "accounting for 3m20s: the protocol's sum, beyond its L1, counts twice")
	sum = 10_000
	m.Take(s)
	require.NotContains(t, text(m.Lines(120, 40)), "accounting")
}

// Devices of two fleets with one id are two devices.
func TestModelOfFleets(t *testing.T) {
	m := watch.Model{ASCII: true}
	for second := range int64(3) {
		s := at(second+1, 100, 900, 500)
		for i, fleet := range []string{"", "eval", "train"} {
			s.Devices[i].Fleet, s.Devices[i].Device = fleet, 0
		}
		sum := uint64(10_001)
		s.Devices[2].Logical = &sum
		s.Odd, s.Left = []watch.OddityCount{{Fleet: "train", Code: "no-device", Count: 2}}, 7
		m.Take(s)
	}
	lines := text(m.Lines(120, 40))
	require.Contains(t, lines, ">       0  n150      ##############..  90.0%         900           ? of eval\n        0  n150      ########........  50.0%         500           ? of train accounting\n")
	require.Contains(t, lines, "device 0 of eval, n150: 10 cores, ")
	require.Contains(t, lines, "odd: no-device of train 2, 7 devices of fleets are not shown\n")
	m.Move(1)
	on, _ := m.Selected()
	require.Equal(t, watch.DeviceKey{Fleet: "train"}, on)
	require.Contains(t, text(m.Lines(120, 40)), "accounting for 2s: the sum of sizes x cores, beyond")
	m.Show(watch.ViewChart)
	require.Contains(t, text(m.Lines(80, 24)), "  55%\n  50% ###\n", "three samples of its own")
	m.Show(watch.ViewMap)
	s := at(9, 5)
	s.Devices[0].Fleet, s.Devices[0].Device = "train", 0
	s.Detail = &watch.Detail{Basis: "resident", Cols: 1, Rows: 1}
	m.Take(s)
	require.Contains(t, text(m.Lines(80, 24)), "nothing is known of its cores", "those are of another one")
	s.Detail.Fleet = "train"
	m.Take(s)
	require.Contains(t, text(m.Lines(80, 24)), "device 0 of train, resident\n")
}

// A picture that is longer than the screen is seen as a whole, part by part.
func TestModelScrolls(t *testing.T) {
	var fleet device.Fleet
	d, err := fleet.AddDevice(0, l1.N150())
	require.NoError(t, err)
	m := watch.Model{ASCII: true}
	m.Show(watch.ViewMap)
	m.Take(watch.Snapshot{Devices: rowsOf(&fleet), Detail: watch.DetailOf(d)})
	all := m.Lines(80, 0)[1:]
	require.Greater(t, len(all), 9)
	require.Equal(t, all, m.Lines(80, len(all)+1)[1:], "there is room for all of it")
	var seen []watch.Line
	for page := 0; len(seen) < len(all); page++ {
		lines := m.Lines(80, 6)
		require.Len(t, lines, 6)
		last := min((page+1)*4, len(all))
		require.Equal(t, fmt.Sprintf("lines %d to %d of %d: space and b go on and back", last-3, last, len(all)), lines[5].Text)
		seen = append(seen[:last-4], lines[1:5]...)
		m.Scroll(1)
	}
	require.Equal(t, all, seen)
	m.Scroll(-100)
	require.Equal(t, all[:4], m.Lines(80, 6)[1:5])
	m.Scroll(1)
	m.Show(watch.ViewMap)
	require.Equal(t, all[:4], m.Lines(80, 6)[1:5], "a key begins at the top")
}

// The map shows the device's cores, as drawn elsewhere.
func TestDetail(t *testing.T) {
	var fleet device.Fleet
	d, err := fleet.AddDevice(0, l1.N150())
	require.NoError(t, err)
	p, err := program.Place(1, "matmul", l1.N150(), program.CB{Cores: l1.Rect(0, 0, 3, 0), Size: 1 << 20}, program.CB{Cores: l1.Rect(2, 0, 2, 0), Size: 4096})
	require.NoError(t, err)
	_, err = fleet.Register(p, fleet.Set())
	require.NoError(t, err)
	got := watch.DetailOf(d)
	require.Equal(t, "registered", got.Basis)
	require.Equal(t, "2-0", got.Core)
	require.Equal(t, 0, got.Alike)
	base := l1.N150().CBBase
	require.Equal(t, []watch.Block{
		{Start: base, End: base + 1<<20, Name: "CB 0, matmul", CB: true}, {Start: base + 1<<20, End: base + 1<<20 + 4096, Name: "CB 1, matmul", CB: true},
	}, got.Blocks)
	bytes := uint64(0)
	for _, g := range got.Groups {
		set, err := l1.ParseCoreRangeSet(g.Cores)
		require.NoError(t, err)
		bytes += g.Bytes * uint64(set.Cores().Len())
	}
	require.Equal(t, d.Registered(), bytes)
	require.NoError(t, fleet.Dispatch(1, fleet.Set()))
	require.Equal(t, "resident", watch.DetailOf(d).Basis)

	m := watch.Model{ASCII: true}
	m.Show(watch.ViewMap)
	m.Take(watch.Snapshot{Devices: rowsOf(&fleet), Detail: got})
	picture := text(m.Lines(80, 0))
	require.Contains(t, picture, "device 0, registered")
	require.Contains(t, picture, "core 2-0\n")
	require.Contains(t, picture, "CB 1, matmul")
}

// Faults are shown to their end: in parts where the screen is narrow. Longer ones end in a sign.
func TestWrongIsWhole(t *testing.T) {
	const why = "line 9: enqueue: program 3 does not fit on device 12: its circular buffers end at 1,499,136, and a buffer begins at 1,400,000"
	s := at(10, 5)
	sum := uint64(10_001)
	s.Devices[0].Logical, s.Refused = &sum, []string{why}
	s.Odd = []watch.OddityCount{{Code: "unknown-free-of-a-long-name", Count: 2}, {Code: "double-free-of-a-long-name", Count: 1}, {Code: "no-device-of-a-long-name", Count: 5}}
	m := watch.Model{ASCII: true}
	m.Take(s)
	m.Fail("dial tcp 127.0.0.1:9117: connect: connection refused, asking http://localhost.localdomain:9117")
	whole := text(m.Lines(math.MaxInt32, 0))
	for _, want := range []string{
		"no answer: dial tcp 127.0.0.1:9117: connect: connection refused, asking http://localhost.localdomain:9117\n", "refused: " + why + "\n",
		"odd: unknown-free-of-a-long-name 2, double-free-of-a-long-name 1, no-device-of-a-long-name 5\n",
		"  accounting for 0s: the sum of sizes x cores, beyond its L1, counts twice\n",
	} {
		require.Contains(t, whole, want)
		for _, columns := range []int{60, 80} {
			joined := strings.ReplaceAll(text(m.Lines(columns, 0)), "\n    ", " ")
			require.Contains(t, joined, want, "%d columns", columns)
		}
	}
	low := m.Lines(80, 10)
	require.Len(t, low, 10)
	require.Equal(t, "lines 1 to 4 of 16: space and b go on and back", low[9].Text, "below the head, a device and the source")
	require.Equal(t, "and 4 more lines, on a higher screen", m.Lines(80, 4)[3].Text)
	s.Refused[0] = strings.Repeat("very long words ", 50)
	m.Take(s)
	lines := m.Lines(80, 0)
	last := lines[len(lines)-1].Text
	require.Len(t, last, 80)
	require.True(t, strings.HasSuffix(last, "~"), last)
}

// A source without devices says so.
func TestNothing(t *testing.T) {
	for _, c := range []struct {
		s    watch.Snapshot
		want string
	}{
		{watch.Snapshot{Source: watch.FeedLog}, "   nothing is known of any device yet\n"},
		{watch.Snapshot{Source: watch.FeedRegions}, "   there are no regions: no process publishes its sums in this folder\n"},
		{watch.Snapshot{Source: watch.FeedRegions, Refused: []string{"chip 3: version 9"}}, "   there are no regions that can be read\n\nrefused: chip 3: version 9\n"},
	} {
		var m watch.Model
		m.Take(c.s)
		require.Contains(t, text(m.Lines(80, 24)), c.want)
	}
}

// listed returns the devices in the list of a screen, and how many it leaves out above and below.
func listed(t require.TestingT, lines []watch.Line) (devices []string, above, below int) {
	for _, line := range lines[2:] {
		var n int
		switch row := strings.TrimRight(line.Text, " "); {
		case strings.Contains(row, "  n150 "):
			devices = append(devices, strings.Fields(strings.TrimPrefix(row, ">"))[0])
		case scanned(row, "     ... %d above", &n):
			require.Len(t, devices, 1, "below the fullest")
			above = n
		case scanned(row, "     ... %d below", &n):
			below = n
		default:
			return devices, above, below
		}
	}
	return devices, above, below
}

func scanned(text, format string, n *int) bool {
	_, err := fmt.Sscanf(text, format, n)
	return err == nil && fmt.Sprintf(format, *n) == text
}

// A list that is too long has the fullest device and the selected one, and says how many it leaves out.
func TestListIsCut(t *testing.T) {
	m := watch.Model{ASCII: true}
	m.Take(at(1, 900, 800, 700, 600, 500, 400, 300, 200, 100, 50))
	for selected, want := range []struct {
		devices      string
		above, below int
	}{
		{"0 1 2 3 4", 0, 5},
		{"0 1 2 3 4", 0, 5},
		{"0 1 2 3 4", 0, 5},
		{"0 1 2 3 4", 0, 5},
		{"0 1 2 3 4", 0, 5},
		{"0 4 5 6", 3, 3},
		{"0 6 7 8 9", 5, 0},
		{"0 6 7 8 9", 5, 0},
		{"0 6 7 8 9", 5, 0},
		{"0 6 7 8 9", 5, 0},
	} {
		lines := m.Lines(80, 13) // the line at the top, seven of the list, five of details
		devices, above, below := listed(t, lines)
		require.Equal(t, want.devices, strings.Join(devices, " "), "device %d", selected)
		require.Equal(t, [2]int{want.above, want.below}, [2]int{above, below}, "device %d", selected)
		require.Contains(t, text(lines), fmt.Sprintf("\n> %7d  n150", selected))
		require.Contains(t, text(lines), fmt.Sprintf("\ndevice %d n150", selected))
		m.Move(1)
	}
	devices, above, below := listed(t, m.Lines(160, 12))
	require.Equal(t, "0 1 2 3 4 5 6 7 8 9", strings.Join(devices, " "), "details stand beside the list")
	require.Zero(t, above+below)
	devices, above, below = listed(t, m.Lines(80, 18))
	require.Equal(t, "0 4 5 6 7 8 9", strings.Join(devices, " "), "eight rows have all details")
	require.Equal(t, [2]int{3, 0}, [2]int{above, below})
}

// A list of any height has the fullest device and the selected one, and accounts for all others.
func TestListAccountsForAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		held := rapid.SliceOfN(rapid.Uint64Range(0, 1000), 1, 40).Draw(t, "held")
		m := watch.Model{ASCII: true}
		m.Take(at(1, held...))
		m.Move(rapid.IntRange(0, 40).Draw(t, "move"))
		rows := rapid.IntRange(7, 50).Draw(t, "rows")
		lines := m.Lines(rapid.SampledFrom([]int{80, 159, 160, 200}).Draw(t, "columns"), rows)
		require.LessOrEqual(t, len(lines), rows)
		devices, above, below := listed(t, lines)
		require.Equal(t, len(held), len(devices)+above+below)
		require.Equal(t, fmt.Sprint(fullest(held)), devices[0])
		on, _ := m.Selected()
		require.Contains(t, devices, fmt.Sprint(on.Device))
	})
}

// fullest returns the first of the largest.
func fullest(held []uint64) (at int) {
	for i, n := range held {
		if n > held[at] {
			at = i
		}
	}
	return at
}

// A wide screen has the details beside the list, each with its own look.
func TestWideScreen(t *testing.T) {
	m := watch.Model{ASCII: true}
	s := at(1, 100, 950)
	s.Refused = []string{"line 9: free: no such buffer"}
	m.Take(s)
	lines := m.Lines(160, 24)
	require.Equal(t, ">       1  n150      ###############.  95.0%         950           ?", strings.TrimRight(lines[2].Text, " "))
	require.Len(t, lines[2].Text, 82)
	require.Equal(t, watch.Bad, lines[2].Look)
	require.Equal(t, "  bytes on all cores                    now  share          peak", lines[2].Beside.Text)
	require.Equal(t, watch.Plain, lines[2].Beside.Look)
	last := lines[len(lines)-1]
	require.Equal(t, "refused: line 9: free: no such buffer", last.Beside.Text)
	require.Equal(t, watch.Warn, last.Beside.Look)
	require.Nil(t, m.Lines(159, 24)[2].Beside)
	require.Nil(t, m.Lines(160, 0)[2].Beside, "without an end")
}

// The help explains what stands on the screen, and leads back to it.
func TestHelp(t *testing.T) {
	m := watch.Model{ASCII: true}
	m.Take(at(1, 100, 950))
	for _, v := range []watch.View{watch.ViewDevices, watch.ViewChart, watch.ViewMap} {
		m.Show(v)
		before := text(m.Lines(80, 24))
		m.Show(watch.ViewHelp)
		help := text(m.Lines(80, 24))
		require.Contains(t, help, "  at most      the source names no cores")
		require.NotContains(t, help, "space and b go on and back\n", "it fits 80x24")
		m.Show(watch.ViewHelp)
		require.Equal(t, before, text(m.Lines(80, 24)))
	}
	m.Show(watch.ViewHelp)
	m.Show(watch.ViewChart)
	m.Show(watch.ViewHelp)
	m.Show(watch.ViewHelp)
	require.Contains(t, text(m.Lines(80, 24)), "now at the right")
}

// Whatever a source says, no line is wider than the screen, there are no more than its rows, and
// nothing in it moves the cursor.
func TestLinesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.SampledFrom([]uint64{0, 1, 1 << 20, 1 << 40, 1<<64 - 1})
		some := func(name string) *uint64 {
			if rapid.Bool().Draw(t, name) {
				n := number.Draw(t, name)
				return &n
			}
			return nil
		}
		word := rapid.SampledFrom([]string{"", "n150", "\x1b[2J\n", "長い名前長い名前", "\u202e", "\xff", strings.Repeat("x", 300)})
		m := watch.Model{ASCII: rapid.Bool().Draw(t, "ascii")}
		for second := range rapid.Int64Range(1, 4).Draw(t, "looks") {
			s := watch.Snapshot{Source: watch.Feed(word.Draw(t, "source")), Time: second, Behind: int64(number.Draw(t, "behind") >> 1), Leaked: second}
			for range rapid.IntRange(0, 12).Draw(t, "devices") {
				s.Devices = append(s.Devices, answer.LiveDevice{
					Device: number.Draw(t, "id"), Board: word.Draw(t, "board"), Cores: rapid.IntRange(0, 200).Draw(t, "cores"), Usable: number.Draw(t, "usable"),
					Core: some("core"), Registered: some("registered"), Dispatched: some("dispatched"), Tracked: some("tracked"), TrackedCore: some("fullest"),
					Sum: some("sum"), Logical: some("logical"), Kernels: some("kernels"), Headroom: some("headroom"), L1: number.Draw(t, "l1"), Incomplete: second == 1,
				})
			}
			for range rapid.IntRange(0, 12).Draw(t, "processes") {
				s.Processes = append(s.Processes, watch.Process{PID: -1, Name: word.Draw(t, "name"), CB: number.Draw(t, "cb")})
			}
			s.Odd, s.Refused = []watch.OddityCount{{Code: word.Draw(t, "code"), Count: second}}, []string{word.Draw(t, "refused")}
			if rapid.Bool().Draw(t, "detail") {
				s.Detail = &watch.Detail{
					Device: number.Draw(t, "id"), Cols: rapid.IntRange(-1, math.MaxInt32).Draw(t, "cols"), Rows: rapid.IntRange(-1, 300).Draw(t, "rows"), End: number.Draw(t, "end"),
					Base: number.Draw(t, "base"), Groups: []watch.Group{{Cores: "{[0-0 - 9-9]}"}, {Cores: word.Draw(t, "cores")}},
					Blocks: []watch.Block{{Start: number.Draw(t, "start"), End: number.Draw(t, "end"), Name: word.Draw(t, "block")}},
				}
			}
			m.Take(s)
			m.Move(rapid.IntRange(-3, 3).Draw(t, "move"))
			m.Show(watch.View(rapid.IntRange(0, 5).Draw(t, "view")))
			columns, rows := rapid.IntRange(0, 200).Draw(t, "columns"), rapid.IntRange(0, 60).Draw(t, "rows")
			lines := m.Lines(columns, rows)
			if rows > 0 {
				require.LessOrEqual(t, len(lines), rows)
			}
			for _, line := range lines {
				whole := line.Text
				if line.Beside != nil {
					whole += line.Beside.Text
				}
				require.LessOrEqual(t, shown.Width(whole), max(columns, 20), fmt.Sprintf("%q", whole))
				require.Equal(t, shown.Visible(whole), whole)
			}
		}
	})
}
