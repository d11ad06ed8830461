package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/clash"
	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Functions that the verbs share, each called by itself with values on both sides of its limits.

// The nearest of some things: all up to ten, in order of distance, then of length, then as text.
func TestNearestOfThings(t *testing.T) {
	some := func(n int) map[int]bool {
		all := map[int]bool{}
		for i := range n {
			all[i] = true
		}
		return all
	}
	far := func(n int) int { return max(n, 5) - min(n, 5) }
	for n, want := range map[int]string{
		0: "; there is none", 1: "; there is 1 thing: 0", 2: "; there are 2 things: 1, 0",
		10: "; there are 10 things: 5, 4, 6, 3, 7, 2, 8, 1, 9, 0",
		11: "; the nearest of 11 things: 5, 4, 6, 3, 7, 2, 8, 1, 9, 0",
		12: "; the nearest of 12 things: 5, 4, 6, 3, 7, 2, 8, 1, 9, 0",
	} {
		require.Equal(t, want, nearestOf(some(n), "thing", far))
	}
	same := func(string) int { return 1 }
	require.Equal(t, "; there are 3 names: b, aa, ab", nearestOf(map[string]bool{"ab": true, "b": true, "aa": true}, "name", same))
}

// What is known of a filter after some events.
func TestKnownTakes(t *testing.T) {
	device := func(id uint64) answer.Filter { return answer.Filter{Device: event.Some(id)} }
	op := func(text answer.Name) answer.Filter { return answer.Filter{Op: text} }
	calls := []event.Event{
		{Kind: event.KindOpEnd}, // which ended nothing
		{Kind: event.KindOpStart, Name: "outer"}, {Kind: event.KindOpStart, Name: "inner"}, {Kind: event.KindOpEnd},
		{Kind: event.KindOpStart, Name: "other"},
	}
	mesh := []event.Event{{Kind: event.KindMesh, Device: 4, Rows: 2, Cols: 3}, {Kind: event.KindDevice, Device: answer.NoDevice}}
	for _, c := range []struct {
		filter  answer.Filter
		events  []event.Event
		op, dev bool
		names   string
		devices int
	}{
		{device(4), mesh, true, true, "map[]", 6}, {device(9), mesh, true, true, "map[]", 6}, {device(10), mesh, true, false, "map[]", 6},
		{device(uint64(answer.NoDevice)), mesh, true, false, "map[]", 6},
		{device(3), []event.Event{{Kind: event.KindDevice, Device: 3}}, true, true, "map[]", 1},
		{op("outer"), calls, true, true, "map[inner:true other:true outer:true]", 0},
		{op("inner"), calls, true, true, "map[inner:true other:true outer:true]", 0},
		{op("nothing"), calls, false, true, "map[inner:true other:true outer:true]", 0},
		{op("f"), []event.Event{{Kind: event.KindRun, Op: event.Some("g > f")}}, true, true, "map[f:true g:true]", 0},
		{op("p"), []event.Event{{Kind: event.KindProgram, Name: "p"}}, true, true, "map[p:true]", 0},
	} {
		one := newKnown(c.filter)
		var path []string
		for i := range c.events {
			path = one.take(&c.events[i], path)
		}
		require.Equal(t, c.op, one.op, "%+v", c.filter)
		require.Equal(t, c.dev, one.device, "%+v", c.filter)
		require.Equal(t, c.names, fmt.Sprint(one.names))
		require.Len(t, one.devices, c.devices)
	}
}

// Cores of a filter are those of a grid, those that a program took, or any where no grid is known.
func TestKnownCores(t *testing.T) {
	grid := func(cols, rows int) *answer.Result {
		return &answer.Result{L1: []answer.DeviceL1{{Cols: cols, Rows: rows}}}
	}
	took := grid(1, 1)
	took.Devices = []answer.Device{{CoreGroups: []answer.CoreGroup{{Cores: l1.CoreSetOf(l1.Core{X: 3, Y: 2})}}}}
	for _, c := range []struct {
		r     *answer.Result
		core  bool
		cores int
	}{
		{grid(4, 3), true, 12}, {grid(3, 3), false, 9}, {grid(4, 2), false, 8}, {grid(0, 0), true, 0}, {took, true, 1}, {&answer.Result{}, true, 0}, {nil, false, 0},
	} {
		k := newKnown(answer.Filter{Core: event.Some(l1.Core{X: 3, Y: 2})})
		k.add(c.r)
		require.Equal(t, c.core, k.core)
		require.Len(t, k.cores, c.cores)
	}
}

// Results wait for the first input that knows the filter, and then come in their order.
func TestKnownHolds(t *testing.T) {
	var got []string
	stop := errors.New("enough")
	do := func(r *answer.Result) error {
		if got = append(got, r.File); r.File == "bad" {
			return stop
		}
		return nil
	}
	k := newKnown(answer.Filter{Op: "f"})
	hold := k.holding(do)
	for _, name := range []string{"a", "b"} {
		require.NoError(t, hold(&answer.Result{File: name}))
	}
	require.Empty(t, got)
	require.ErrorContains(t, k.unknown(), "--op f: no input has it; there is none")
	k.op = true
	require.NoError(t, hold(&answer.Result{File: "c"}))
	require.Equal(t, []string{"a", "b", "c"}, got)
	require.NoError(t, k.unknown())
	require.ErrorIs(t, hold(&answer.Result{File: "bad"}), stop)

	// The device is named before the operation, and that before the core.
	k = newKnown(answer.Filter{Op: "f", Device: event.Some(uint64(7)), Core: event.Some(l1.Core{X: 1})})
	k.waiting = []*answer.Result{{}}
	k.devices = map[uint64]bool{5: true, 8: true, 10: true}
	require.EqualError(t, k.unknown(), "--device 7: no input has it; there are 3 devices: 8, 5, 10")
	k.device = true
	k.names = map[string]bool{"matmul": true, "xF": true, "g": true}
	require.EqualError(t, k.unknown(), "--op f: no input has it; there are 3 operations: xF, g, matmul")
	k.op = true
	k.cores = map[l1.Core]bool{{X: 0, Y: 2}: true, {X: 3, Y: 0}: true, {X: 2, Y: 1}: true}
	require.EqualError(t, k.unknown(), "--core 1-0: it lies outside the grid of all inputs; there are 3 cores: 2-1, 3-0, 0-2")
}

// The line of a device, with and without each of its parts. A device whose line stays is not printed again.
func TestWatchLines(t *testing.T) {
	n := func(v uint64) *uint64 { return &v }
	now := watch.Snapshot{Time: 1_500_000_000, Behind: 3, Devices: []answer.LiveDevice{
		{Device: 1}, {Device: 1, Fleet: "a\x1b"}, {Device: 2, Core: n(3), L1: 4, DRAM: 5, Incomplete: true},
		{Device: 3, Registered: n(7), Cores: 2, Usable: 8, Bound: true}, {Device: 4, Core: n(1), Usable: 3, Dispatched: n(9)},
	}}
	last := map[watch.DeviceKey]string{}
	var out strings.Builder
	require.NoError(t, changes(&out, &now, last))
	at := "1970-01-01T00:00:01Z "
	require.Equal(t, strings.Join([]string{
		at + "device 1: 0 bytes, L1 buffers 0, DRAM 0", at + `device 1 of a\x1b: 0 bytes, L1 buffers 0, DRAM 0`,
		at + "device 2: 3 bytes, registered CBs on the fullest core, L1 buffers 4, DRAM 5; incomplete",
		at + "device 3: 7 bytes of 16, 43.8%, registered CBs; CBs 7, L1 buffers 0, DRAM 0; at most",
		at + "device 4: 1 bytes of 3, 33.3%, registered CBs on the fullest core; CBs 9, L1 buffers 0, DRAM 0", "behind by 3 bytes\n",
	}, "\n"), out.String())
	out.Reset()
	now.Behind, now.Time, now.Devices[1].L1 = 0, 2_000_000_000, 1
	require.NoError(t, changes(&out, &now, last))
	require.Equal(t, `1970-01-01T00:00:02Z device 1 of a\x1b: 0 bytes, L1 buffers 1, DRAM 0`+"\n", out.String())
}

// What a server answers to watch: another status, schema or document is an error that names the address.
func TestWatchQueriesAServer(t *testing.T) {
	answer, asked := "", ""
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked = r.URL.RequestURI(); answer == "" {
			w.WriteHeader(http.StatusAccepted)
		}
		_, _ = io.WriteString(w, answer) // the test sees what is missing
	}))
	defer web.Close()
	from := &serverSource{url: web.URL}
	look := func(at watch.DeviceKey, detail bool) error {
		_, err := from.look(at, detail)
		return err
	}
	require.EqualError(t, look(watch.DeviceKey{}, false), web.URL+" answers 202 Accepted")
	require.Equal(t, "/figures", asked)
	answer = "{"
	require.EqualError(t, look(watch.DeviceKey{Fleet: "a b&c", Device: 7}, true), web.URL+"/figures?device=7&fleet=a+b%26c: unexpected EOF")
	require.Equal(t, "/figures?device=7&fleet=a+b%26c", asked)
	answer = `{"schema":"other"}`
	require.EqualError(t, look(watch.DeviceKey{}, false), web.URL+`/figures: its schema is "other", want `+watch.Schema)
	answer = `{"schema":"` + watch.Schema + `","behind":4}`
	require.NoError(t, look(watch.DeviceKey{}, false))
}

// A tail is behind by what waits, at least 1, and not at all where its end was seen since the last look.
func TestTailIsBehind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte("12345"), 0o600))
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	one := &tail{path: path, file: file}
	require.EqualValues(t, 5, one.behind())
	one.at.Store(4)
	require.EqualValues(t, 1, one.behind())
	require.False(t, one.over())
	one.at.Store(5)
	require.EqualValues(t, 1, one.behind(), "it was read, and not taken in")
	require.False(t, one.over())
	one.waited.Store(true)
	require.Zero(t, one.behind())
	require.EqualValues(t, 1, one.behind(), "that was before the last look")
	one.ended.Store(true)
	require.Zero(t, one.behind())
	one.at.Store(6)
	require.True(t, one.over(), "it was cut")

	require.NoError(t, os.Rename(path, path+".1"))
	one.at.Store(5)
	require.False(t, one.over(), "nothing has its name yet")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.True(t, one.over())
	one.at.Store(4)
	require.False(t, one.over(), "a byte waits in the old one")
}

// Devices of a flag, as they are printed: ids, boards, DRAM and chips, on each side of each limit.
func TestDevicesFlag(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"0-1=n150,5=p150", "0 n150 0, 1 n150 0, 5 p150 0"}, {"2147483647=n150", "2147483647 n150 0"}, {"2147483648=n150", "want devices"},
		{"3-3=n150", "3 n150 0"}, {"3-2=n150", "want devices"}, {"n150", "want devices"}, {"0=", "want one of"},
		{"0=n150:1MiB", "0 n150 1048576"}, {"0=n150:1048575", "want 1MiB"}, {"0=n150:9223372036854775807", "0 n150 9223372036854775807"},
		{"0=n150,8=mesh:0-1", "0 n150 0, 8 n150 0 [0 1]"}, {"8=mesh:0-1,0=n150", "8 n150 0 [0 1], 0 n150 0"}, {"1=n150,8=mesh:0-1", "1 n150 0, 8 mesh 0 [0 1]"},
		{"8=mesh:8", "8 mesh 0 [8]"}, {"0-1=n150,0=mesh:0-1", "0 n150 0, 1 n150 0, 0 n150 0 [0 1]"}, {"0=mesh:0-1,0=n150", "0 n150 0 [0 1], 0 n150 0"},
		{"0=mesh:0-1,8=mesh:0-1", "0 mesh 0 [0 1], 8 mesh 0 [0 1]"}, {"0=mesh:1,0=n150", "device 0 comes twice"}, {"0=n150,0=mesh:1", "device 0 comes twice"},
		{"0=n150,0=p150", "device 0 comes twice"}, {"0=mesh:0,0=mesh:0-1", "device 0 comes twice"}, {"0=mesh:1-2,8=mesh:0-1", "mesh 8: its chip 0 is a mesh"},
		{"9=mesh:1,8=mesh:9", "mesh 8: its chip 9 is a mesh"}, {"9=mesh:8,8=mesh:1", "mesh 9: its chip 8 is a mesh"},
	} {
		var f devicesFlag
		if err := f.Set(c.text); err != nil {
			require.ErrorContains(t, err, c.want, c.text)
			require.Empty(t, f, "a failure changes nothing")
			continue
		}
		var got []string
		for _, d := range f {
			text := fmt.Sprintf("%d %s %d", d.ID, d.Spec.Name, d.DRAM)
			if d.Chips != nil {
				text += fmt.Sprintf(" %v", d.Chips)
			}
			got = append(got, text)
		}
		require.Equal(t, c.want, strings.Join(got, ", "), c.text)
	}
	ids, err := deviceIDs("0-65535")
	require.NoError(t, err)
	require.Len(t, ids, 1<<16)
	_, err = deviceIDs("0-65536")
	require.Error(t, err)
	var f devicesFlag
	require.NoError(t, f.Set("0=n150"))
	require.EqualError(t, f.Set("1=n150,0=n150"), "device 0 comes twice")
	require.Len(t, f, 1)
	require.NoError(t, f.Set("4=n150"))
	require.Len(t, f, 2)
}

// What is published: a device of a fleet whose name has signs of the flag, and a chip of 64 bits.
func TestPublishFlag(t *testing.T) {
	var f publishFlag
	require.NoError(t, f.Set("0=1234,a=b/c/1=18446744073709551615"))
	require.Equal(t, publishedChip{"", 0, 1234}, f[0])
	require.Equal(t, publishedChip{"a=b/c", 1, 1<<64 - 1}, f[1])
	for _, twice := range []string{"0=5", "2=1234", "a=b/c/1=7"} {
		require.ErrorContains(t, f.Set(twice), "comes twice")
	}
	require.NoError(t, f.Set("a=b/c/2=7,1=8"))
	require.Len(t, f, 4)
	for _, wrong := range []string{"", "=", "/0=5", "0", "x=5", "0=x", "0-1=5"} {
		require.ErrorContains(t, f.Set(wrong), "want a device", wrong)
	}
}

// Numbers of a server: permissions, limits, sweeps of processes, and descriptors.
func TestServeNumbers(t *testing.T) {
	mode, err := parseMode("777")
	require.NoError(t, err)
	require.EqualValues(t, 0o777, mode)
	for _, wrong := range []string{"1000", "8"} {
		_, err = parseMode(wrong)
		require.Error(t, err, wrong)
	}
	limit, err := parseLimit("2147483647")
	require.NoError(t, err)
	require.Equal(t, 2147483647, limit)
	_, err = parseLimit("2147483648")
	require.EqualError(t, err, "2147483648 is above 2^31-1")
	for delay, want := range map[time.Duration]time.Duration{
		0: 100, time.Second: 100, 1200 * time.Millisecond: 100, 3 * time.Second: 250, 6 * time.Second: 500, time.Minute: 500,
	} {
		require.Equal(t, want*time.Millisecond, sweepEvery(delay))
	}
	for _, c := range [][4]int{{0, 0, 2, 2}, {16, 0, 2, 2}, {24, 0, 3, 5}, {24, 1, 3, 3}, {24, 2, 3, 2}, {1024, 0, 128, 880}, {1024, 10, 128, 860}, {16384, 0, 2048, 14320}, {16392, 0, 2048, 14328}} {
		require.Equal(t, c[2], files(c[0]).http())
		require.Equal(t, c[3], files(c[0]).clients(c[1]), "%v", c)
	}
	in := serving{record: "x", recordSize: 1<<62 + 1}
	require.EqualValues(t, uint64(1)<<62, in.config().Record.Most)
	in.recordSize = 5
	require.EqualValues(t, 5, in.config().Record.Most)
	in = serving{quiet: true, streams: streams{out: io.Discard}}
	require.Nil(t, in.config().Out)
	require.True(t, in.config().Quiet)
	require.Nil(t, in.config().Record)
	for _, in := range []*serving{{delay: -1}, {stats: -1}} {
		_, err := in.run(newRequest(streams{}, verb{}), nil)
		require.EqualError(t, err, "a time is below 0")
	}
}

// Names under which a server answers, and how it says that it cannot.
func TestServeNames(t *testing.T) {
	in := exposing{hosts: []string{"Farm", "b"}}
	for host, want := range map[string]bool{
		"farm": true, "farm:80": true, "b:1": true, "c": false, "farm.b": false, "": false, "localhost": true, "LocalHost:1": true,
		"10.0.0.7": true, "10.0.0.7:9": true, "::1": true, "[::1]": true, "[::1]:9": true, "10.0.0": false, "localhost.b": false,
	} {
		require.Equal(t, want, in.knows(host), host)
	}
	for _, c := range []struct {
		err  error
		code int
		body string
	}{
		{nil, 200, "text"}, {fmt.Errorf("x\x1b: %w", serve.ErrNoFleet), 404, `x\x1b: ` + serve.ErrNoFleet.Error() + "\n"}, {errors.New("y"), 500, "y\n"},
	} {
		w := httptest.NewRecorder()
		respond(w, "text/x", []byte("text"), c.err)
		require.Equal(t, c.code, w.Code)
		require.Equal(t, c.body, w.Body.String())
		require.Equal(t, c.err == nil, w.Header().Get("Content-Type") == "text/x")
	}
}

// What is taken for a database: by its first bytes, or by its name where it is no text.
func TestDatabasesAreRecognised(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, content string
		is            bool
	}{
		{"a.json", magic, true}, {"b.json", magic[:15], false}, {"c.db", "", true}, {"d.json", "", false}, {"e.SQLite", "\x01", true}, {"f.sqlite3", "\x7f", true},
		{"g.db", "[1]\r\n\t ~", false}, {"h.db", "\x1f\x8bxx", false}, {"i.db", "\x28\xb5\x2f\xfdxx", false}, {"j.db", "\x1f", true}, {"k.bin", "\x01", false},
		{"l.db", strings.Repeat(" ", 100) + "\x01", false}, {"m.db", strings.Repeat(" ", 99) + "\x01", true},
	} {
		path := filepath.Join(dir, c.name)
		require.NoError(t, os.WriteFile(path, []byte(c.content), 0o600))
		require.Equal(t, c.is, isDatabase(path), c.name)
	}
	require.False(t, isDatabase(dir))
	header := func(write, read byte, size int) string {
		return magic + "\x10\x00" + string([]byte{write, read}) + strings.Repeat("\x00", size-20)
	}
	path := filepath.Join(dir, "x.db")
	for _, c := range []struct{ content, want string }{
		{header(1, 1, 99), "is cut: it ends inside the header of a SQLite database"}, {header(3, 1, 100), "of a later format"}, {header(1, 3, 100), "of a later format"},
		{header(2, 2, 100), "its log (x.db-wal) is not beside it"}, {header(1, 2, 100), "is not beside it"}, {"", "is empty"}, {magic[:15], "is called like a SQLite database"},
	} {
		require.NoError(t, os.WriteFile(path, []byte(c.content), 0o600))
		_, err := openDatabase(path)
		require.ErrorContains(t, err, c.want)
		var e *event.InputError
		require.ErrorAs(t, err, &e)
		require.Equal(t, []any{path, int64(-1)}, []any{e.File, e.Node})
	}
}

// A file that is written is there whole, readable by all, or as it was before.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	put := func(text string, err error) error {
		return writeFile(path, func(w io.Writer) error {
			_, _ = io.WriteString(w, text) // to a file of a temporary folder
			return err
		})
	}
	failed := errors.New("failed")
	require.ErrorIs(t, put("half", failed), failed)
	require.NoFileExists(t, path)
	require.NoError(t, put("first", nil))
	require.ErrorIs(t, put("second", failed), failed)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "first", string(data))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o644), info.Mode())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
	err = writeFile(filepath.Join(dir, "none", "out"), nil)
	require.ErrorContains(t, err, filepath.Join("none", "out")+": open: no such file")
}

// The base that is given lies in the L1 of the chip, and sizes lie around it.
func TestSizesAgree(t *testing.T) {
	for _, c := range []struct {
		arch l1.Arch
		base uint64
		want string
	}{
		{"", 1572863, ""}, {"", 1572864, "base 1572864 (--base) does not lie in the L1 of a blackhole"},
		{"wormhole", 1499135, ""}, {"wormhole", 1499136, "base 1499136 (--base) does not lie in the L1 of a wormhole"}, {"grayskull", 0, ""},
	} {
		err := checkBase(capture.Options{Arch: c.arch, Base: c.base})
		require.Equal(t, c.want == "", err == nil)
		if err != nil {
			require.EqualError(t, err, c.want)
		}
	}
	require.Equal(t, l1.Spec{}, specOf(capture.Options{}))
	require.Equal(t, l1.Spec{CBBase: 7}, specOf(capture.Options{Base: 7}))
	spec := l1.ArchSpec(l1.Wormhole)
	require.Equal(t, spec, specOf(capture.Options{Arch: "wormhole"}))
	spec.CBBase = 7
	require.Equal(t, spec, specOf(capture.Options{Arch: "wormhole", Base: 7}))

	none, some := l1.Spec{Arch: l1.Wormhole, CBBase: 9}, l1.Spec{L1Size: 100}
	for _, c := range []struct {
		opt  capture.Options
		spec l1.Spec
		want string
	}{
		{capture.Options{}, none, ""}, {capture.Options{MaxL1: 5}, none, "an L1 of 5 bytes (--set l1) ends below address 9, where circular buffers start"}, {capture.Options{MaxL1: 5}, some, ""},
		{capture.Options{Base: 9}, none, "base 9 (--base) does not lie in the L1 of a wormhole"}, {capture.Options{Base: 9}, some, ""},
		{capture.Options{L1Small: event.Some[uint64](7)}, some, "an L1_SMALL area of 7 bytes does not fit into an L1 of 100"}, {capture.Options{L1Small: event.Some[uint64](7)}, none, ""},
		{capture.Options{L1Small: event.Some[uint64](7)}, l1.Spec{L1Size: 100, L1Small: 7}, ""}, {capture.Options{L1Small: event.Some[uint64](0)}, some, ""},
	} {
		err := (&inputs{opt: c.opt}).agrees(c.spec)
		require.Equal(t, c.want == "", err == nil, "%v", err)
		if err != nil {
			require.EqualError(t, err, c.want)
		}
	}
}

// A moment behind the last node is refused, and the last node is none.
func TestMomentsEnd(t *testing.T) {
	var errw bytes.Buffer
	for at, want := range map[uint64]bool{0: false, 4: false, 5: true, 6: true} {
		in := inputs{streams: streams{err: &errw}, at: instant{Opt: event.Some(at)}}
		require.Equal(t, want, in.ended(&answer.Result{File: "f", Nodes: 5}), "%d", at)
		require.Equal(t, want, in.unreadable)
	}
	in := inputs{}
	require.False(t, in.ended(&answer.Result{}), "it is not given")
	for _, c := range []struct {
		at    string
		given bool
		n     uint64
	}{{"7", true, 7}, {"3:2", false, 0}} {
		one := newRequest(streams{}, verb{})
		require.NoError(t, one.at.Set(c.at))
		require.NoError(t, one.start([]string{"file"}))
		require.Equal(t, event.Opt[uint64]{V: c.n, OK: c.given}, one.opt.At)
	}
	one := newRequest(streams{}, verb{})
	at := &one.at
	for _, wrong := range []string{"3:", ":2", "x:1", "1:x", "x"} {
		require.Error(t, at.Set(wrong), wrong)
	}
	require.NoError(t, at.Set("3:2"))
	require.EqualError(t, one.start([]string{"-"}), "--at operation:node is for databases, which are files")
	require.NoError(t, at.Set("4"))
	require.False(t, at.operation.OK, "the last one counts")
	for _, c := range []struct{ args, want string }{
		{"", "nothing to read: name a file or a folder, or - for standard input"}, {"a - b", ""}, {"- a -", "standard input (-) can be read only once"},
	} {
		err := checkInputs(strings.Fields(c.args))
		require.Equal(t, c.want == "", err == nil)
		if err != nil {
			require.EqualError(t, err, c.want)
		}
	}
	require.EqualError(t, checkInputs([]string{"a", ""}), "an empty name is no file")
}

// How far sizes can change: the room of the tightest run, the largest L1_SMALL, and whether any device used it.
func TestMarginOf(t *testing.T) {
	of := func(id uint64, small uint64, peak uint64) answer.DeviceL1 {
		return answer.DeviceL1{ID: event.Some(id), Spec: &answer.Spec{Spec: l1.Spec{L1Size: 1000, CBBase: 100 - id, L1Small: small}}, SmallPeak: peak}
	}
	r := &answer.Result{File: "f", Log: true, L1: []answer.DeviceL1{of(0, 64, 0), of(1, 32, 0)}}
	_, ok := marginOf(r)
	require.False(t, ok, "nothing ran")
	r.Checks.Tightest = &answer.TightestRun{Run: answer.ProgramRun{At: 7, T: "1.5", Op: "g", Inferred: true}, Headroom: fit.Headroom{Free: 9}}
	m, ok := marginOf(r)
	require.True(t, ok)
	require.Equal(t, clash.Margin{Capture: "f", Log: true, Event: 7, T: "1.5", Op: "g", Inferred: true, Free: 9, Small: 64, SmallFree: 32, Spec: l1.Spec{L1Size: 1000, CBBase: 99, L1Small: 32}}, m)
	r.Checks.Tightest, r.Checks.Failed, r.L1[1].SmallPeak, r.L1[0].Needs.Small.Value, r.L1[1].Needs.Small.Value = nil, 2, 1, 937, 999
	m, ok = marginOf(r)
	require.True(t, ok)
	require.Equal(t, clash.Margin{Capture: "f", Log: true, Failed: 2, Small: 64, SmallUsed: true, SmallFree: 1, Spec: m.Spec}, m, "the least of the devices that have such an area")
	r.L1[0].Needs.Small.Value, r.L1[1].Spec.L1Small = 900, 0
	m, _ = marginOf(r)
	require.Zero(t, m.SmallFree, "below the area there is none of it")
	r.L1[0].Needs.Small.Value = 1064
	m, _ = marginOf(r)
	require.EqualValues(t, 64, m.SmallFree, "it ends with the area")
}

// What lay in a bank: each buffer once with all of its cores, and no program.
func TestBankOf(t *testing.T) {
	on := func(x uint8) l1.CoreSet { return l1.CoreSetOf(l1.Core{X: x}) }
	buffer := func(at uint64, start uint64) answer.L1Resident {
		return answer.L1Resident{ResidentRow: fit.NewResidentRow(fit.KindL1, l1.Range{Start: start, End: start + 8}), Buffer: &answer.BufferInfo{At: at, T: "2", Op: "f"}}
	}
	groups := []answer.LaidGroup{
		{Cores: on(0), Residents: []answer.L1Resident{{ResidentRow: fit.ResidentRow{Kind: fit.KindL1}}, buffer(3, 100), buffer(4, 200)}},
		{Cores: on(1), Residents: []answer.L1Resident{buffer(3, 100), buffer(5, 200)}},
	}
	r := &answer.Result{File: "f", Spec: answer.Spec{Spec: l1.Spec{L1Size: 1000, CBBase: 50, L1Small: 10}, SmallFrom: event.FromAssumed}}
	laid := func(event uint64, start uint64, cores l1.CoreSet) clash.PlacedBuffer {
		return clash.PlacedBuffer{What: fit.KindL1.String(), Cores: cores, Start: start, End: start + 8, Event: event, T: "2", Op: "f"}
	}
	want := clash.Bank{
		Run: clash.ProgramRun{Capture: "f", Device: "device 6"}, Usable: l1.Range{Start: 50, End: 990}, L1Size: 1000, Align: 1, SmallAssumed: true,
		Laid: []clash.PlacedBuffer{laid(3, 100, on(0).Union(on(1))), laid(4, 200, on(0)), laid(5, 200, on(1))},
	}
	require.Equal(t, want, bankOf(r, answer.DeviceL1{ID: event.Some(uint64(6))}, groups))
	r.Spec.SmallFrom = event.FromFile
	require.Equal(t, clash.Bank{Run: clash.ProgramRun{Capture: "f"}, Usable: l1.Range{Start: 50, End: 990}, L1Size: 1000, Align: 1}, bankOf(r, answer.DeviceL1{}, nil))
}
