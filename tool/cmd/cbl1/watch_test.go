package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/live/shm"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A stand is a source that says what a test says.
type stand struct {
	mu     sync.Mutex
	looks  int
	detail bool
	fail   error
	wait   chan struct{} // nil, or what a look waits for
}

func (s *stand) look(at watch.DeviceKey, detail bool) (watch.Snapshot, error) {
	if s.wait != nil {
		<-s.wait
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	s.detail = detail
	now := snapshot(watch.FeedLog)
	for i := range uint64(32) {
		held := 20 * (i + 1)
		now.Devices = append(now.Devices, answer.LiveDevice{Device: i, Board: "n150", Cores: 64, Usable: 1000, Core: &held})
	}
	if detail {
		now.Detail = &watch.Detail{Device: at.Device, Basis: "resident", Cols: 8, Rows: 8, Usable: 1000, End: 1000, Groups: []watch.Group{{Cores: "{[0-0 - 1-1]}", Bytes: 500, Below: 500}}}
	}
	return now, s.fail
}

func (s *stand) close() {}

// A simulated screen remembers what it showed last.
type simulated struct {
	tcell.SimulationScreen
	mu   sync.Mutex
	text string
}

func (s *simulated) Show() {
	s.SimulationScreen.Show()
	cells, columns, _ := s.GetContents()
	var out strings.Builder
	for i, c := range cells {
		if i > 0 && i%columns == 0 {
			out.WriteByte('\n')
		}
		out.WriteString(string(c.Runes))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = out.String()
}

func onScreen(t *testing.T, columns, rows int, from looker) (s *simulated, ticks chan time.Time, ended chan struct{}) {
	s = &simulated{SimulationScreen: tcell.NewSimulationScreen("UTF-8")}
	require.NoError(t, s.Init())
	s.SetSize(columns, rows)
	ticks, ended = make(chan time.Time), make(chan struct{})
	go func() {
		defer close(ended)
		watchOn(s, from, ticks)
	}()
	return s, ticks, ended
}

func (s *simulated) requireShows(t *testing.T, want string) {
	t.Helper()
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return strings.Contains(s.text, want)
	}, testkit.Patience, time.Millisecond, "%s", want)
}

// Keys choose what is shown, at sizes from 80x24 to 200x60, and q ends it.
func TestWatchScreen(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		from := &stand{}
		s, ticks, ended := onScreen(t, size[0], size[1], from)
		s.requireShows(t, "> "+"     31  n150      ██████████░░░░░░  64.0%         640")
		s.requireShows(t, "device 31 n150")
		s.InjectKey(tcell.KeyRune, 'j', 0)
		s.requireShows(t, "device 30 n150")
		s.InjectKey(tcell.KeyDown, 0, 0)
		s.InjectKey(tcell.KeyUp, 0, 0)
		s.InjectKey(tcell.KeyRune, 'k', 0)
		s.requireShows(t, "device 31 n150")
		s.InjectKey(tcell.KeyRune, '2', 0)
		s.requireShows(t, ", now at the right; now 64.0%")
		ticks <- time.Time{}
		s.InjectKey(tcell.KeyRune, '3', 0)
		ticks <- time.Time{}
		s.requireShows(t, "device 31, resident")
		s.InjectKey(tcell.KeyRune, '?', 0)
		s.requireShows(t, "select the next device")
		s.InjectKey(tcell.KeyRune, '?', 0)
		s.requireShows(t, "device 31, resident")
		s.SetSize(100, 30)
		_ = s.PostEvent(tcell.NewEventResize(100, 30))
		s.InjectKey(tcell.KeyRune, '1', 0)
		s.requireShows(t, "of usable L1")
		s.InjectKey(tcell.KeyRune, 'q', 0)
		<-ended
		s.Fini()
	}
}

// A source that does not answer is said to be slow, and keys go on.
func TestWatchSlow(t *testing.T) {
	from := &stand{wait: make(chan struct{})}
	s, ticks, ended := onScreen(t, 80, 24, from)
	ticks <- time.Time{}
	s.requireShows(t, "no answer: the last look takes")
	close(from.wait)
	s.requireShows(t, "device 31 n150")
	from.mu.Lock()
	require.Equal(t, 1, from.looks, "one at a time")
	from.fail = errors.New("gone away")
	from.mu.Unlock()
	ticks <- time.Time{}
	s.requireShows(t, "no answer: gone away")
	s.requireShows(t, "device 31 n150")
	s.InjectKey(tcell.KeyCtrlC, 0, 0)
	<-ended
	s.Fini()
}

// waitFor looks until what is seen is as it should be.
func waitFor(t *testing.T, from looker, is func(now watch.Snapshot) bool) (now watch.Snapshot) {
	t.Helper()
	require.Eventually(t, func() (ok bool) {
		var err error
		now, err = from.look(watch.DeviceKey{}, true)
		return err == nil && is(now)
	}, testkit.Patience, 5*time.Millisecond)
	return now
}

// A log that grows is followed, also where a line comes in parts; and so is the one that takes
// its place, and one that was cut.
func TestWatchLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(file, []byte(eventLog), 0o600))
	in := watching{}
	from, err := in.source([]string{file})
	require.NoError(t, err)
	n := len(waitFor(t, from, func(now watch.Snapshot) bool { return len(now.Devices) > 0 && now.Behind == 0 }).Devices)
	add := func(text string) {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	add(`{"event":"device","device":9000,"spec":{"bo`)
	add(`ard":"n150"}}` + "\n" + `{"event":"free","buffer":77}` + "\n" + `{"event":"anomaly","code":"every-core","count":1}` + "\n")
	now := waitFor(t, from, func(now watch.Snapshot) bool {
		return len(now.Devices) == n+1 && len(now.Refused) == 1 && now.Devices[0].Bound
	})
	require.EqualValues(t, 9000, now.Devices[n].Device)
	require.Len(t, now.Odd, 1)

	require.NoError(t, os.Rename(file, file+".1"))
	require.NoError(t, os.WriteFile(file, []byte(eventLog), 0o600))
	now = waitFor(t, from, func(now watch.Snapshot) bool { return len(now.Devices) == n })
	require.Empty(t, now.Odd)
	require.False(t, now.Devices[0].Bound)

	header, _, _ := strings.Cut(eventLog, "\n")
	require.NoError(t, os.WriteFile(file, []byte(header+"\n"), 0o600)) // cut in place
	waitFor(t, from, func(now watch.Snapshot) bool { return len(now.Devices) == 0 })
	from.close()
}

// One snapshot of a log, a server and shared memory, as text and as JSON.
func TestWatchOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(file, []byte(eventLog), 0o600))
	code, stdout, stderr := call("", "watch", "--once", file)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "of usable L1")
	code, fromInput, _ := call(eventLog, "watch", "--once", "-")
	require.Zero(t, code)
	require.Equal(t, stdout, fromInput)
	code, stdout, stderr = call("", "watch", "--once", "--format", "json", file)
	require.Zero(t, code, stderr)
	var now watch.Snapshot
	require.NoError(t, json.Unmarshal([]byte(stdout), &now))
	require.Equal(t, watch.FeedLog, now.Source)

	s := busyStage(t)
	web := httptest.NewServer((&exposing{}).handler(s.server))
	defer web.Close()
	code, stdout, stderr = call("", "watch", "--once", web.URL)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, ">       0  n150      ############....  75.1%   1,048,576     139,808 at most\n")
	require.Contains(t, stdout, "     101       0     1,310,720        4,096          100\n")
	require.Contains(t, stdout, "odd: unknown-free 1\n")
	asked, err := (&watching{}).source([]string{web.URL})
	require.NoError(t, err)
	got, err := asked.look(watch.DeviceKey{}, true)
	require.NoError(t, err)
	require.Equal(t, s.server.Detail("", 0), got.Detail)
	require.NotEmpty(t, got.Detail.Blocks)
	require.Nil(t, s.server.Detail("", 77))

	if runtime.GOOS != "linux" {
		return // which has no regions
	}
	folder := t.TempDir()
	for i, chip := range []uint64{5, 6} {
		p := attach(t, folder, shm.Claim{Version: shm.Version3, ASIC: chip, Device: uint32(i)})
		require.NoError(t, p.Put(shm.Counters{CB: 64 << 20, DRAM: 7}))
	}
	emptyRegion(t, folder, 7)
	code, stdout, stderr = call("", "watch", "--once", "--board", "n150", folder)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, ">       0  n150      ############....  75.1%  67,108,864           ?\n")
	require.Contains(t, stdout, "model")
	require.Contains(t, stdout, "\nrefused: chip 7: the region is not set up\n")
	code, stdout, stderr = call("", "watch", "--once", t.TempDir())
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "there are no regions: no process publishes its sums in this folder\n")
	// Two that call their chip by one number, behind one that cannot be read.
	emptyRegion(t, folder, 3)
	require.NoError(t, attach(t, folder, shm.Claim{Version: shm.Version4, ASIC: 5, Device: 1}).Close())
	code, stdout, stderr = call("", "watch", "--once", "--format", "json", folder)
	require.Zero(t, code, stderr)
	now = watch.Snapshot{}
	require.NoError(t, json.Unmarshal([]byte(stdout), &now))
	require.EqualValues(t, 5, now.Devices[0].Device)
	require.EqualValues(t, 6, now.Devices[1].Device)
	require.EqualValues(t, 6, *now.Processes[0].Device)
}

// emptyRegion creates the region of a chip. No process has set it up.
func emptyRegion(t *testing.T, folder string, chip uint64) *shm.Region {
	region, err := shm.Create(folder, chip)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, region.Close()) })
	return region
}

// attach takes a slot in the region of a chip, for this process under the name "model".
func attach(t *testing.T, folder string, c shm.Claim) *shm.Publisher {
	c.PID, c.Name, c.Alive, c.Now, c.Wait = int32(os.Getpid()), "model", shm.Alive, time.Now, func() {}
	p, err := shm.Attach(emptyRegion(t, folder, c.ASIC), c)
	require.NoError(t, err)
	return p
}

// The row of a mesh is a view of its chips wherever one looks: in a server and in its recording. CBs and kernels under its
// id count on each chip. Buffers under its id back the chips' and count in no sum.
func TestWatchMesh(t *testing.T) {
	s := newStage(t)
	s.client(t,
		wire.Record{Type: wire.TypeCBAlloc, Device: 32, Size: 1 << 20, ID: 111616},
		wire.Record{Type: wire.TypeAlloc, Device: 32, Size: 8192, Kind: 1, ID: 1 << 20},
		wire.Record{Type: wire.TypeAlloc, Size: 4096, Kind: 1, ID: 1 << 20},
		wire.Record{Type: wire.TypeKernelLoad, Device: 32, Size: 77, ID: 9})
	web := httptest.NewServer((&exposing{}).handler(s.server))
	defer web.Close()
	s.server.Sweep() // its log is written out
	rows := func(args ...string) string {
		code, stdout, stderr := call(s.record.String(), append([]string{"watch", "--once", "--format", "json"}, args...)...)
		require.Zero(t, code, stderr)
		var now watch.Snapshot
		require.NoError(t, json.Unmarshal([]byte(stdout), &now))
		var out strings.Builder
		for _, d := range now.Devices {
			fmt.Fprintln(&out, d.Device, d.Board, d.Cores, *d.Registered, *d.Core, *d.Logical, d.Peak.Core, *d.Programs, d.L1, d.DRAM, *d.Kernels)
		}
		return out.String()
	}
	want := "0 n150 64 67108864 1048576 67108864 1048576 1 4096 0 77\n" +
		"1 p150 130 136314880 1048576 136314880 1048576 1 0 0 77\n" +
		"32 mesh 194 203423744 1048576 203423744 1048576 2 4096 0 154\n"
	require.Equal(t, want, rows(web.URL))
	require.Equal(t, want, rows("-"))
}

// A recording shows the processes that its server shows, and what leaked.
func TestWatchRecording(t *testing.T) {
	s := busyStage(t)
	s.client(t, wire.Record{Type: wire.TypeAlloc, Size: 4096, Kind: 1, ID: 1300000}, wire.Record{Type: wire.TypeCBAlloc, Size: 64, ID: 1 << 20})
	web := httptest.NewServer((&exposing{}).handler(s.server))
	defer web.Close()
	look := func(args ...string) (now watch.Snapshot, text string) {
		code, stdout, stderr := call(s.record.String(), append([]string{"watch", "--once", "--format", "json"}, args...)...)
		require.Zero(t, code, stderr)
		require.NoError(t, json.Unmarshal([]byte(stdout), &now))
		_, text, _ = call(s.record.String(), append([]string{"watch", "--once"}, args...)...)
		return now, text
	}
	requireSame := func(processes, leaks int) {
		s.server.Sweep() // its log is written out
		want, _ := look(web.URL)
		got, text := look("-")
		require.Len(t, got.Processes, processes)
		require.Equal(t, want.Processes, got.Processes)
		require.Len(t, got.Leaks, leaks)
		require.Equal(t, want.Leaks, got.Leaks)
		require.Equal(t, want.Leaked, got.Leaked)
		require.Equal(t, leaks, strings.Count(text, "\nleaked by process "))
		require.Contains(t, text, "\n     103       0            64        4,096            0\n")
	}
	requireSame(4, 0)
	s.kill(101) // 103 has its buffer, too
	require.NoError(t, s.open[0].Close())
	require.Eventually(t, func() bool { s.server.Sweep(); return s.server.Snapshot().Leaked == 5 }, testkit.Patience, time.Millisecond)
	requireSame(3, 1)
}

// What goes to no terminal is not cut, and an answer that does not come says why before from where.
func TestWatchWhole(t *testing.T) {
	long := strings.Repeat("long", 50)
	header, _, _ := strings.Cut(eventLog, "\n")
	code, stdout, stderr := call(header+"\n"+`{"event":"enqueue","program":1,"process":"p","devices":[77],"name":"`+long+`"}`+"\n"+
		`{"event":"free","buffer":7,"devices":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35]}`+"\n", "watch", "--once", "-")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "nothing is known of any device yet\n")
	require.Equal(t, 2, strings.Count(stdout, "\nrefused: "), stdout)
	require.NotContains(t, stdout, "~")
	_, _, stderr = call("", "watch", "--once", "http://localhost:1")
	require.Regexp(t, `^cbl1: dial tcp .*connection refused, asking http://localhost:1\n$`, stderr)
}

func TestWatchChanges(t *testing.T) {
	five := uint64(5)
	now := snapshot(watch.FeedLog)
	now.Time, now.Devices = 0, []answer.LiveDevice{{Device: 1, Usable: 10, Core: &five, Registered: &five, Bound: true}}
	last := map[watch.DeviceKey]string{}
	var out bytes.Buffer
	require.NoError(t, changes(&out, &now, last))
	require.NoError(t, changes(&out, &now, last))
	require.Equal(t, "1970-01-01T00:00:00Z device 1: 5 bytes of 10, 50.0%, registered CBs on the fullest core; CBs 5, L1 buffers 0, DRAM 0; at most\n", out.String())
}

func TestWatchUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "nothing to watch"},
		{"--once nowhere", "nowhere"},
		{"-", "can be shown once"},
		{"--interval 1ms --demo 1", "at least 10ms"},
		{"--demo 2000", "1024 devices at most"},
		{"--demo 2 file", "takes no argument"},
		{"--board n151 --once run.go", "want one of"},
		{"--board mesh:0-1 --once run.go", "want a board like n150"},
		{"--board n150:8GiB --once run.go", "want a board like n150"},
		{os.DevNull, "only a file can be followed"},
		{"--once http://localhost:1", "connection refused"},
		{"--once run.go", "no event log (cbl1 report and cbl1 page read captures, cbl1 convert makes a log of one): run.go:1: "},
		{"run.go", "no event log"},
		{"../../../examples/cached_ops.json", "no event log"},
		{"--once ../../../examples/cached_ops.json", "no event log"},
		{"../../../examples/cpp/alloc_client.cpp", "no event log"},
	} {
		code, stdout, stderr := call("", append([]string{"watch"}, strings.Fields(c.args)...)...)
		require.Equal(t, exitUsage, code, "%s: %s", c.args, stderr)
		require.Empty(t, stdout)
		require.Contains(t, stderr, c.want, c.args)
		requireOneLine(t, stderr)
	}
	code, stdout, stderr := call("", "watch", "--demo", "3", "--once")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "  bytes in DRAM, of 12,884,901,888\n    buffers                   2,147,483,648  16.7%\n")
	require.Contains(t, stdout, "    L1 buffers                    8,388,608   9.4%\n")
	_, again, _ := call("", "watch", "--demo", "3", "--once")
	require.Equal(t, stdout, again, "the same each time")
	made, err := newDemo(32)
	require.NoError(t, err)
	var now watch.Snapshot
	for range 90 {
		now, err = made.look(watch.DeviceKey{}, false)
		require.NoError(t, err)
	}
	require.Len(t, now.Refused, 3, "the last ones")
	require.Contains(t, now.Refused[0], "clash with L1 buffers")
	require.Greater(t, now.Odd[0].Count, int64(3))
}

// TestWatchKeepsUp reads a log of 32 devices and says how many events a second that was, with
// looks beside.
func TestWatchKeepsUp(t *testing.T) {
	const events = 20_000
	var log strings.Builder
	log.WriteString(strings.SplitN(eventLog, "\n", 2)[0] + "\n")
	for d := range 32 {
		fmt.Fprintf(&log, `{"event":"device","device":%d,"spec":{"board":"n150"}}`+"\n", 100+d)
	}
	for i := range events / 2 {
		fmt.Fprintf(&log, `{"event":"program","program":%d,"cbs":[{"cores":"{[0-0 - %d-7]}","size":%d}]}`+"\n", i, i%8, 1024*(1+i%64))
		fmt.Fprintf(&log, `{"event":"enqueue","program":%d,"devices":[%d]}`+"\n", i, 100+i%32)
	}
	file := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(file, []byte(log.String()), 0o600))
	begun := time.Now()
	from, err := (&watching{}).source([]string{file})
	require.NoError(t, err)
	looks := 0
	now := waitFor(t, from, func(now watch.Snapshot) bool {
		looks++
		return now.Behind == 0 && len(now.Devices) == 32
	})
	t.Logf("%.0f events a second, %d looks", events/time.Since(begun).Seconds(), looks)
	programs := 0
	for _, d := range now.Devices {
		programs += *d.Programs
	}
	require.Equal(t, events/2, programs)
	require.Empty(t, now.Refused)
	from.close()
}
