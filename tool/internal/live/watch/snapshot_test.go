package watch_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/internal/live/shm"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Rows of a fleet have the figures of its devices.
func TestFleet(t *testing.T) {
	var fleet device.Fleet
	_, err := fleet.AddDevice(3, l1.N150())
	require.NoError(t, err)
	p, err := program.Place(1, "p", l1.N150(), program.CB{Cores: l1.Rect(0, 0, 1, 1), Size: 4096})
	require.NoError(t, err)
	_, err = fleet.Enqueue(p, fleet.Set())
	require.NoError(t, err)
	q, err := program.Place(2, "q", l1.N150(), program.CB{Cores: l1.Rect(0, 0, 0, 0), Size: 1024})
	require.NoError(t, err)
	_, err = fleet.Register(q, fleet.Set())
	require.NoError(t, err)
	for i, kind := range []fit.Kind{fit.KindDRAM, fit.KindL1, fit.KindL1Small, fit.KindTrace, fit.KindKernel} {
		b := fit.Buffer{ID: fit.BufferID(i), Kind: kind, Size: uint64(77 + i), Unsized: kind.InL1()}
		require.NoError(t, fleet.Allocate(b, fleet.Set()))
	}
	rows := rowsOf(&fleet)
	require.Len(t, rows, 1)
	d := rows[0]
	base := l1.N150().CBBase
	n := func(n uint64) *uint64 { return &n }
	two := 2
	require.Equal(t, answer.LiveDevice{
		Device: 3, Board: "n150", Cores: 64, Usable: l1.N150().Usable().Len(), Registered: n(4 * 4096), Core: n(4096), Dispatched: n(4 * 4096), Tracked: n(4 * 4096),
		TrackedCore: n(4096), Below: n(4096), Headroom: n(l1.N150().Usable().End - base - 4096), Logical: n(4*4096 + 1024), Programs: &two, DRAM: 77, L1: 78, L1Small: 79, Trace: 80, Kernels: n(81), DRAMSize: n(12 << 30),
		Peak: &answer.LivePeak{Registered: n(4 * 4096), Core: 4096, Dispatched: n(4 * 4096), Tracked: n(4 * 4096), TrackedCore: n(4096)},
	}, d)
}

// Version 3 publishes registered bytes, version 4 resident ones.
func TestRegion(t *testing.T) {
	im := shm.Image{Version: 3, Device: 2, Totals: shm.Counters{DRAM: 1, L1: 2, L1Small: 3, Trace: 4, CB: 5}}
	im.Processes[9] = shm.Slot{PID: 70, Name: "python3", Counters: im.Totals}
	im.Processes[10] = shm.Slot{PID: 71, Counters: shm.Counters{CB: 1}}
	im.Processes[11] = shm.Slot{PID: -1, Counters: shm.Counters{CB: 1}}
	im.Processes[12] = shm.Slot{PID: 1, Counters: shm.Counters{CB: 1}}
	alive := func(pid int32) bool { return pid == 70 }
	d, processes := watch.Region(&im, l1.Spec{}, alive)
	five, two := uint64(5), uint64(2)
	require.Equal(t, answer.LiveDevice{Device: 2, Registered: &five, DRAM: 1, L1: 2, L1Small: 3, Trace: 4}, d)
	require.Equal(t, []watch.Process{
		{PID: 70, Name: "python3", Device: &two, CB: 5, DRAM: 1, L1: 2, L1Small: 3, Trace: 4}, {PID: 71, Device: &two, Dead: true, CB: 1},
		{PID: 1, Device: &two, Dead: true, CB: 1},
	}, processes)
	im.Version = 4
	d, _ = watch.Region(&im, l1.N150(), alive)
	require.Nil(t, d.Registered)
	require.Equal(t, &five, d.Dispatched)
	require.Equal(t, 64, d.Cores)
	require.Equal(t, uint64(12<<30), *d.DRAMSize)
}

// Labels are escaped, and unknown figures have no series.
func TestAppendMetrics(t *testing.T) {
	five := uint64(5)
	s := watch.Snapshot{
		Devices:   []answer.LiveDevice{{Device: 1, Board: "a\"b\\c\nd\xff"}, {Device: 2, Registered: &five}},
		Processes: []watch.Process{{PID: 7, Name: `x"`, CB: 3}}, Odd: []watch.OddityCount{{Code: "size", Count: 2}}, Leaked: 4,
	}
	text := string(s.AppendMetrics([]byte("before\n"), true))
	require.True(t, strings.HasPrefix(text, "before\n# HELP "))
	require.Contains(t, text, `cbl1_device_l1_buffer_bytes{device="1",board="a\"b\\\\c\\nd\\xff"} 0`+"\n")
	require.Contains(t, text, "# TYPE cbl1_device_registered_bytes gauge\ncbl1_device_registered_bytes{device=\"2\"} 5\n")
	require.Contains(t, text, `cbl1_process_cb_bytes{pid="7",process="x\""} 3`+"\n")
	require.Contains(t, text, "cbl1_odd_total{code=\"size\"} 2\n")
	require.True(t, strings.HasSuffix(text, "cbl1_leaked_total 4\n"))
	require.NotContains(t, text, "dispatched")
	require.NotContains(t, text, "cbl1_device_cores")
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		series, _, _ := strings.Cut(line, "} ")
		require.False(t, seen[series], "twice: %s", line)
		seen[series] = true
	}
}

// Text of fleets, boards, processes, codes and refusals steers no terminal: not in metrics, not in JSON,
// not on a screen. JSON has it exactly.
func TestForeignText(t *testing.T) {
	const foreign = "EVIL\x1b[2J\r\n\t\x00\x07\x7f\u0085\u009b31m\u202e\u2066\u200f\ufeff\u2028\"\\"
	var s watch.Snapshot
	fill(reflect.ValueOf(&s).Elem(), foreign)
	for line := range strings.SplitSeq(string(s.AppendMetrics(nil, true)), "\n") {
		require.Equal(t, shown.Visible(line), line)
	}
	text, err := s.AppendJSON(nil)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(string(text), "}\n"))
	require.Equal(t, shown.Escape(string(text[:len(text)-1])), string(text[:len(text)-1]))
	var back watch.Snapshot
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, s, back)
	m := watch.Model{}
	for _, view := range []watch.View{watch.ViewDevices, watch.ViewChart, watch.ViewMap} {
		m.Show(view)
		m.Take(s)
		m.Fail(foreign)
		for _, width := range []int{80, 200} {
			for _, line := range m.Lines(width, 60) {
				require.Equal(t, shown.Visible(line.Text), line.Text)
				if line.Beside != nil {
					require.Equal(t, shown.Visible(line.Beside.Text), line.Beside.Text)
				}
			}
		}
	}
}

// Names that differ have labels that differ, whatever signs they have.
func TestLabelsDiffer(t *testing.T) {
	names := []string{"a\x1bb", `a\x1bb`, `a\\x1bb`, "a\nb", `a\nb`, "\xff", `\xff`, "\ufffd", `\ufffd`, `"`, `\"`, "\u202e", `\u202e`, "ä"}
	labels := map[string]string{}
	for _, name := range names {
		s := watch.Snapshot{Odd: []watch.OddityCount{{Code: name}}}
		_, label, _ := strings.Cut(string(s.AppendMetrics(nil, false)), `cbl1_odd_total{code="`)
		label, _, _ = strings.Cut(label, `"} 0`)
		require.Empty(t, labels[label], "%q and %q", name, labels[label])
		labels[label] = name
	}
}

// All metrics of a moment with two devices and two processes, each figure another number.
func TestAllMetrics(t *testing.T) {
	s := fullSnapshot()
	testkit.Golden(t, *update, "testdata/metrics.golden", string(s.AppendMetrics(nil, true)))
	require.NotContains(t, string(s.AppendMetrics(nil, false)), "cbl1_process")
	s.Processes, s.Server = nil, nil
	require.NotRegexp(t, "cbl1_process|cbl1_server", string(s.AppendMetrics(nil, true)))
}

// A region has the figures of the row of a device, each version its own kind of CB bytes.
func TestUsage(t *testing.T) {
	all := answer.LiveDevice{DRAM: 1, L1: 2, L1Small: 3, Trace: 4}
	registered, both := all, all
	registered.Registered = new(uint64(5))
	both.Registered, both.Dispatched = new(uint64(5)), new(uint64(6))
	for _, c := range []struct {
		device   answer.LiveDevice
		version  uint32
		wantsCBs uint64
	}{
		{all, shm.Version3, 0}, {all, shm.Version4, 0}, {registered, shm.Version3, 5}, {registered, shm.Version4, 5}, {both, shm.Version3, 5}, {both, shm.Version4, 6},
	} {
		require.Equal(t, shm.Counters{DRAM: 1, L1: 2, L1Small: 3, Trace: 4, CB: c.wantsCBs}, watch.UsageOf(&c.device, c.version))
	}
}

// A row shows missing headroom and DRAM as missing; the board's size stands unless another one was
// given.
func TestRowOfUnknown(t *testing.T) {
	var fleet device.Fleet
	d, err := fleet.AddDevice(0, l1.Spec{Cols: 1, Rows: 1})
	require.NoError(t, err)
	row := answer.NewLiveDevice(d)
	require.Nil(t, row.Headroom)
	require.Nil(t, row.DRAMSize)
	watch.SetDRAM(&row, 5)
	require.EqualValues(t, 5, *row.DRAMSize)
	watch.SetDRAM(&row, 0)
	require.Nil(t, row.DRAMSize)
}

// rowsOf returns the rows of a fleet, with the DRAM of their boards.
func rowsOf(f *device.Fleet) (rows []answer.LiveDevice) {
	for d := range f.Devices() {
		row := answer.NewLiveDevice(d)
		watch.SetDRAM(&row, 0)
		rows = append(rows, row)
	}
	return rows
}
