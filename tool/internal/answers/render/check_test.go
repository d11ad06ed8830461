package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/internal/clash"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A scene is a device with buffers, on which programs are checked as a replay does.
type scene struct {
	t      *testing.T
	spec   l1.Spec
	fleet  *device.Fleet
	dev    device.Device
	infos  map[fit.BufferID]answer.BufferInfo
	result *answer.Result
}

func newScene(t *testing.T, spec l1.Spec) *scene {
	s := &scene{t, spec, device.NewFleet(), device.Device{}, map[fit.BufferID]answer.BufferInfo{}, &answer.Result{
		File: "scene.json", Nodes: 100, Addresses: answer.AddressesRecorded,
	}}
	s.result.Spec = answer.Spec{Spec: spec, ArchFrom: event.FromFile, BaseFrom: event.FromArch, SmallFrom: event.FromAssumed}
	var err error
	s.dev, err = s.fleet.AddDevice(0, spec)
	require.NoError(t, err)
	return s
}

// buffer allocates an L1 buffer at node at.
func (s *scene) buffer(at uint64, op, cores string, start, end uint64) {
	s.t.Helper()
	set := l1.MustParseCoreRangeSet(cores).Cores()
	b := fit.Buffer{ID: fit.BufferID(at), Kind: fit.KindL1, Parts: []fit.Part{{Cores: set, Range: l1.Range{Start: start, End: end}}}}
	require.NoError(s.t, s.fleet.Allocate(b, s.dev.Set()))
	s.infos[b.ID] = answer.BufferInfo{At: at, Op: answer.Name(op), Device: known(0), Kind: fit.KindL1, Size: (end - start) * uint64(set.Len()),
		PerCore: known(end - start), Address: known(start), Layout: "INTERLEAVED"}
}

func known(n uint64) event.Opt[uint64] { return event.Opt[uint64]{V: n, OK: true} }

// run checks a program of one circular buffer after the other.
func (s *scene) run(at uint64, op string, cbs ...program.CB) {
	s.t.Helper()
	b := program.NewBuilder(program.ID(at))
	for _, cb := range cbs {
		b.CB(cb)
	}
	p, err := b.Build(s.spec)
	require.NoError(s.t, err)
	v, err := s.fleet.Check(p, s.dev.Set())
	require.NoError(s.t, err)
	k := &s.result.Checks
	k.Runs++
	run := answer.ProgramRun{Row: 0, At: at, Op: answer.Name(op)}
	if !v.Fits() {
		k.Failed++
		k.List = append(k.List, answer.FailedCheck{Run: run, Enqueue: at + 5, Device: known(0), Devices: 1, Times: 1, Verdict: v, Buffers: s.infos})
		return
	}
	rooms, err := s.fleet.Headroom(p, s.dev.Set())
	require.NoError(s.t, err)
	for _, h := range rooms {
		if k.Tightest == nil || h.Free < k.Tightest.Headroom.Free {
			k.Tightest = &answer.TightestRun{Run: run, Enqueue: at + 5, Device: known(0), Headroom: h}
		}
	}
}

func circular(cores string, size uint64) program.CB {
	return program.CB{Cores: l1.MustParseCoreRangeSet(cores), Size: size}
}

func budget(t *testing.T, text string) *answer.Budget {
	t.Helper()
	b, err := answer.ParseBudget(text)
	require.NoError(t, err)
	return &b
}

const (
	grid   = "{[0-0 - 10-9]}"
	matmul = "ttnn.matmul > MatmulDeviceOperation"
	conv   = "ttnn.conv2d > Conv2dDeviceOperation"
)

// One row per answer that a user can get.
func TestCheckGolden(t *testing.T) {
	small := l1.P150b()
	small.L1Small = 4096
	for _, c := range []struct {
		name   string
		spec   l1.Spec
		budget string
		answer answer.Answer
		scene  func(s *scene)
	}{
		{"fits", l1.P150b(), "", answer.Fits, func(s *scene) {
			s.buffer(10, "ttnn.to_memory_config", grid, 1_400_000, 1_572_864)
			s.run(20, matmul, circular(grid, 1<<20))
			s.run(40, conv, circular(grid, 2048))
		}},
		{"fits_budget", l1.P150b(), "90%", answer.Fits, func(s *scene) { s.run(20, matmul, circular(grid, 4096)) }},
		{"clash", l1.P150b(), "", answer.DoesNotFit, func(s *scene) {
			s.buffer(10, "ttnn.to_memory_config > CopyDeviceOperation", grid, 1_163_264, 1_572_864)
			s.buffer(12, "ttnn.zeros", "{[0-0 - 3-0]}", 1_100_032, 1_130_048)
			s.run(20, matmul, circular(grid, 1<<20), circular("{[0-0 - 0-0]}", 2048))
			s.run(40, conv, circular(grid, 2048))
			s.run(50, conv, circular(grid, 1_400_000))
		}},
		// Sample 17 of the messages: 192 bytes, and L1_SMALL is what to change.
		{"clash_192", small, "", answer.DoesNotFit, func(s *scene) {
			s.buffer(10, "ttnn.ones", grid, 1_563_072, 1_568_768)
			s.run(20, matmul, circular(grid, 1_563_264-s.spec.CBBase))
		}},
		// Sample 9: 1,216 bytes beyond L1.
		{"grow_1216", l1.P150b(), "", answer.DoesNotFit, func(s *scene) {
			s.run(20, matmul, circular("{[0-0 - 6-7]}", 1_574_080-s.spec.CBBase))
		}},
		// The buffer lies on other cores: tt-metal refuses what no byte speaks against.
		{"strict", l1.P150b(), "", answer.DoesNotFit, func(s *scene) {
			s.buffer(10, "ttnn.zeros", "{[5-5 - 5-5]}", 200_000, 300_000)
			s.run(20, matmul, circular("{[0-0 - 0-0]}", 1<<20))
		}},
		{"grid", l1.P150b(), "", answer.DoesNotFit, func(s *scene) { s.run(20, matmul, circular("{[0-0 - 12-9]}", 4096)) }},
		{"cannot_tell", l1.P150b(), "", answer.CannotTell, func(s *scene) {
			s.run(20, matmul, circular(grid, 4096))
			s.result.Anomalies = []answer.AnomalyCount{{Code: answer.CodeCacheHit, Count: 2, First: 60, Detail: "BinaryNgDeviceOperation"}}
		}},
		{"nothing", l1.P150b(), "80%", answer.CannotTell, func(s *scene) {
			s.result.Anomalies = []answer.AnomalyCount{{Code: answer.CodeNoCBs, Count: 1, First: -1}}
		}},
		// What does not fit does so whatever else is hidden.
		{"fails_and_hides", l1.P150b(), "", answer.DoesNotFit, func(s *scene) {
			s.run(20, matmul, circular(grid, 1<<21))
			s.result.Anomalies = []answer.AnomalyCount{{Code: answer.CodeCacheHit, Count: 1, First: 60, Detail: "BinaryNgDeviceOperation"}}
		}},
		{"budget", l1.P150b(), "80%", answer.DoesNotFit, func(s *scene) {
			s.run(20, matmul, circular(grid, 1<<20))
			s.result.L1 = []answer.DeviceL1{{ID: known(0), Kind: answer.KindChip, Peak: peakOf(matmul), Usable: usableOf(matmul)}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, c.spec)
			c.scene(s)
			var limit *answer.Budget
			if c.budget != "" {
				limit = budget(t, c.budget)
			}
			check := judged(s.result, limit)
			require.Equal(t, c.answer, s.result.Judge(answer.Terms{Budget: limit}).Answer)
			var b bytes.Buffer
			require.NoError(t, check.Text(&b, 0))
			requireScreen(t, b.String())
			requireGolden(t, "check_"+c.name, b.String())

			var doc bytes.Buffer
			require.NoError(t, check.JSON(&doc))
			_, strict := compileSchema(t, "cbl1.check-1.schema.json")
			validate(t, strict, doc.Bytes())
		})
	}
}

// requireScreen holds text to what a screen can show. tt-metal's own messages are not
// broken into lines: scripts look for them.
func requireScreen(t *testing.T, text string) {
	t.Helper()
	requireVisible(t, text)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		require.Equal(t, strings.TrimRight(line, " "), line)
		if strings.HasPrefix(line, "FAIL  ") || strings.HasPrefix(line, "Statically allocated ") || strings.HasPrefix(line, "Circular buffer core range ") {
			continue
		}
		most := 110
		if strings.HasPrefix(line, "peak  ") || strings.HasPrefix(line, "who  ") || strings.HasPrefix(line, "ok    ") { // the answer is one line
			most = 130
		}
		require.LessOrEqual(t, len(line), most, "%s", line)
	}
}

// usableOf is the peak of peakOf, all of it below L1_SMALL.
func usableOf(op answer.Name) *answer.UsablePeak {
	cores := l1.MustParseCoreRangeSet(grid).Cores()
	return &answer.UsablePeak{Bytes: 1_253_376, Tracked: 1_253_376, At: 24, Op: op, Cores: cores, Count: cores.Len()}
}

// peakOf is a peak with a program, a buffer that shares bytes with it, and a spike.
func peakOf(op answer.Name) *answer.L1Peak {
	cores := l1.MustParseCoreRangeSet(grid).Cores()
	info := func(at uint64) answer.BufferInfo {
		return answer.BufferInfo{At: at, Op: "ttnn.to_memory_config", Device: known(0), Kind: fit.KindL1, Size: 110 * 200_000, PerCore: known(200_000), Layout: "INTERLEAVED"}
	}
	older, newer := info(3), info(9)
	return &answer.L1Peak{
		Bytes: 1_253_376, Below: 1_253_376, WithKernels: 1_253_376 + 111_616, At: 24, Op: op, Core: l1.Core{}, Cores: cores,
		Kinds:  map[fit.Kind]uint64{fit.KindCB: 1_048_576, fit.KindL1: 400_000},
		Shared: []device.Sharing{{Kinds: []fit.Kind{fit.KindCB, fit.KindL1}, Bytes: 195_200}},
		Residents: []answer.L1Resident{
			{ResidentRow: fit.NewResidentRow(fit.KindCB, l1.Range{Start: 111_616, End: 1_160_192}), CB: known(0), Program: &answer.ProgramRun{At: 20, Op: op}},
			{ResidentRow: fit.NewResidentRow(fit.KindL1, l1.Range{Start: 964_992, End: 1_164_992}), Buffer: &newer},
			{ResidentRow: fit.NewResidentRow(fit.KindL1, l1.Range{Start: 1_372_864, End: 1_572_864}), Buffer: &older},
		},
		Top: l1.Range{Start: 1_164_992, End: 1_372_864}, Largest: l1.Range{Start: 1_164_992, End: 1_372_864},
		Spike: &answer.Spike{New: newer, Old: older, FreedAt: 31, Without: 1_053_376},
	}
}

// What a failed check prints can be given to cbl1 explain.
func TestCheckSpeaksAsTTMetal(t *testing.T) {
	s := newScene(t, l1.P150b())
	s.buffer(10, "", grid, 1_563_072, 1_572_864)
	s.run(2282, matmul, circular(grid, 1_563_264-s.spec.CBBase))
	var b bytes.Buffer
	require.NoError(t, judged(s.result, nil).Text(&b, 0))
	found, err := clash.Read(&b)
	require.NoError(t, err)
	require.Len(t, found.Messages, 1)
	m := found.Messages[0]
	require.Equal(t, clash.Clash, m.Kind)
	require.EqualValues(t, 1_563_072, m.Numbers["limit"])
	require.EqualValues(t, 1_563_264, m.Numbers["end"])
	require.EqualValues(t, 2282, m.Numbers["program"])
}

func TestBudget(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "bytes", // see below
		"x":                             "bytes",
		"-1":                            "bytes",
		"101%":                          "0% to 100%",
		"%":                             "0% to 100%",
		".%":                            "0% to 100%",
		"1e2%":                          "0% to 100%",
		"1/2%":                          "0% to 100%",
		"-5%":                           "0% to 100%",
		"5%%":                           "0% to 100%",
		"1.2.3%":                        "0% to 100%",
		"100.01%":                       "0% to 100%",
		strings.Repeat("9", 1000) + "%": "0% to 100%",
	} {
		_, err := answer.ParseBudget(text)
		require.Error(t, err, text)
		if want != "bytes" {
			require.Contains(t, err.Error(), want, text)
		}
	}
	for _, text := range []string{"0", "1", "900 KiB", "0%", "100%", "33.3%", " 80 % "} {
		require.Equal(t, text, budget(t, text).String())
	}
}

// A line about an assumption names files without their common folder: one, three, or two of more.
func TestDoubtsNameFiles(t *testing.T) {
	const said, rest = "? chip not named: blackhole (--arch), in ", "? no L1_SMALL (--l1-small), in all "
	for _, c := range []struct {
		assumed, known []string
		want           string
	}{
		{[]string{"runs/b"}, []string{"runs/c"}, said + "b\n" + rest + "2 files\n"},
		{[]string{"a/x", "b/x", "c/x"}, []string{"a/y"}, said + "3 files: a/x, b/x, c/x\n" + rest + "4 files\n"},
		{[]string{"r/a", "r/b", "r/c", "r/d"}, []string{"r/e"}, said + "4 files: a, b, ...\n" + rest + "5 files\n"},
	} {
		var all render.Doubts
		for i, file := range append(c.assumed, c.known...) {
			r := newScene(t, l1.ArchSpec(l1.Blackhole)).result
			if r.File = file; i < len(c.assumed) {
				r.Spec.ArchFrom = event.FromAssumed
			}
			all.Take(judged(r, nil))
		}
		var b bytes.Buffer
		require.NoError(t, all.Text(&b, len(c.assumed)+len(c.known), 0))
		require.Equal(t, c.want, b.String())
	}
}

// One advice, with the names of the tables, stands in every format.
func TestOneAdvice(t *testing.T) {
	r := logged(t, testkit.EventLog("program 1 1024 0-0", "alloc 1 l1 devices=1 @ 2000 64 0-0", "enqueue 1 devices=1"), replay.Options{Groups: true})
	check := judged(r, nil)
	var data, page, tests bytes.Buffer
	require.NoError(t, check.JSON(&data))
	require.NoError(t, render.NewOverview([]*answer.Result{r}, answer.Terms{}, nil).Excerpt(8, 8).JSON(&page))
	require.NoError(t, render.NewJUnit(&tests).Add(check))
	for _, text := range []string{written(t, check), data.String(), page.String(), tests.String()} {
		require.Contains(t, text, "free or move b1 (event ")
		require.Contains(t, text, "), or take 48 bytes off CB 0, which has 1,024")
	}
}
