package render_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// TestPeakGolden compares what cbl1 peak and cbl1 check print about every capture.
func TestPeakGolden(t *testing.T) {
	_, peakSchema := compileSchema(t, "cbl1.peak-1.schema.json")
	_, checkSchema := compileSchema(t, "cbl1.check-1.schema.json")
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			result := f.replay(t)
			var b bytes.Buffer
			require.NoError(t, render.Peak(result).Detailed().Text(&b, 0))
			b.WriteString("\n")
			check := judged(result, nil)
			require.NoError(t, check.Text(&b, 0))
			requireScreen(t, b.String())
			requireGolden(t, "peak_"+f.name, b.String())

			b.Reset()
			require.NoError(t, render.Peak(result).JSON(&b))
			validate(t, peakSchema, b.Bytes())
			b.Reset()
			require.NoError(t, check.JSON(&b))
			validate(t, checkSchema, b.Bytes())
		})
	}
}

// What conv2d.json has at address 0 is not placed: nothing clashes there.
func TestAddressZeroNeverClashes(t *testing.T) {
	for _, f := range fixtures(t) {
		r := f.replay(t)
		require.Zero(t, r.Checks.Failed, f.name)
		for _, d := range r.L1 {
			if d.Peak == nil {
				continue
			}
			for _, x := range d.Peak.Residents {
				require.NotZero(t, x.Start, "%s: %+v", f.name, x)
			}
		}
	}
}

func TestPeakOfASpike(t *testing.T) {
	s := newScene(t, l1.P150b())
	s.result.L1 = []answer.DeviceL1{
		{ID: known(0), Kind: answer.KindChip, Addresses: answer.AddressesMixed, Assumed: 1, Peak: peakOf(matmul)},
		{ID: known(1), Kind: answer.KindChip, Addresses: answer.AddressesNone, Peak: peakOf(matmul)},
		{ID: known(2), Kind: answer.KindChip, Addresses: answer.AddressesNone},
	}
	s.result.Hits.Inferred = 3
	s.result.Earlier = answer.EarlierBuffers{L1: 2, Bytes: 4096}
	var b bytes.Buffer
	require.NoError(t, render.Peak(s.result).Text(&b, 0))
	requireScreen(t, b.String())
	requireGolden(t, "peak", b.String())
	b.Reset()
	require.NoError(t, render.Peak(s.result).JSON(&b))
	_, strict := compileSchema(t, "cbl1.peak-1.schema.json")
	validate(t, strict, b.Bytes())
}

// The bytes of an L1 buffer of unknown size count on no core: what is free above its address is a bound.
func TestPeakBesideABufferOfUnknownSize(t *testing.T) {
	graph := func(buffer string) string {
		return `[{"counter":0,"node_type":"buffer_allocate","params":{"address":"1368064",` + buffer + `"type":"L1"}},
			{"counter":1,"node_type":"circular_buffer_allocate","params":{"address":"111616","core_range_set":"{[0-0 - 7-7]}","size":"90000"}}]`
	}
	for buffer, want := range map[string]string{
		`"layout":"INTERLEAVED","size":"450560",`: "peak  x.json  90,000 of 1,461,248 usable bytes (6.2%, 87.9 KiB) on the fullest core\n" +
			"\n" +
			"at the peak, node 1, on core 0-0 and 63 more\n" +
			" bytes    start      end  what  whose\n" +
			"90,000  111,616  201,616  CB 0  node 1\n" +
			"\n" +
			"  free      largest gap at most 1,371,200 bytes at 201,664..1,572,864\n" +
			"  hidden    1 buffer in L1 without a size per core (node 0): tt-metal's test compares with the\n" +
			"            address alone, and no core counts a byte\n",
		`"layout":"INTERLEAVED","size":"450560","max_size_per_bank":"4096",`: "peak  x.json  94,096 of 1,461,248 usable bytes (6.4%, 91.9 KiB) on the fullest core\n" +
			"\n" +
			"at the peak, node 1, on core 0-0 and 63 more\n" +
			" bytes      start        end  what       whose\n" +
			"90,000    111,616    201,616  CB 0       node 1\n" +
			" 4,096  1,368,064  1,372,160  L1 buffer  node 0\n" +
			"\n" +
			"  free      largest gap 1,166,400 bytes at 201,664..1,368,064; highest gap 200,704 bytes at\n" +
			"            1,372,160..1,572,864\n",
	} {
		r := narrowed(t, graph(buffer), answer.Filter{})
		require.Equal(t, want, written(t, render.Peak(r)))
		var got struct{ Untold []struct{ Code answer.Code } }
		var b bytes.Buffer
		require.NoError(t, render.Peak(r).JSON(&b))
		require.NoError(t, json.Unmarshal(b.Bytes(), &got))
		require.Equal(t, r.Count(answer.CodeBufferUnsized), int64(len(got.Untold)), got.Untold)
	}
}

// narrowed replays a capture of a Blackhole, narrowed to a part of it.
func narrowed(t *testing.T, graph string, only answer.Filter) *answer.Result {
	t.Helper()
	r, err := replay.Run("x.json", capture.NewReader(strings.NewReader(graph), "x.json").Events(capture.Options{Arch: l1.Blackhole}), replay.Options{Only: only})
	require.NoError(t, err)
	return r
}

// Where L1 ends at a place that is not known, nothing is said of what was free.
func TestPeakInL1OfNoKnownSize(t *testing.T) {
	s := newScene(t, l1.P150b())
	s.result.Spec.L1Size = 0
	peak := peakOf(matmul)
	peak.Top, peak.Largest = l1.Range{}, l1.Range{}
	s.result.L1 = []answer.DeviceL1{{ID: known(0), Kind: answer.KindChip, Peak: peak}}
	var b bytes.Buffer
	require.NoError(t, render.Peak(s.result).Text(&b, 0))
	require.Contains(t, b.String(), "free      not known, as the size of L1 is not\n")
}

// Nothing at all is an answer too.
func TestPeakOfNothing(t *testing.T) {
	r := &answer.Result{Addresses: answer.AddressesNone}
	r.Spec.ArchFrom, r.Spec.BaseFrom, r.Spec.SmallFrom = event.FromAssumed, event.FromAssumed, event.FromAssumed
	var b bytes.Buffer
	require.NoError(t, render.Peak(r).Text(&b, 0))
	require.Contains(t, b.String(), "nothing is known to have been in L1")
	for name, write := range map[string]func() error{
		"cbl1.peak-1.schema.json":  func() error { return render.Peak(r).JSON(&b) },
		"cbl1.check-1.schema.json": func() error { return judged(r, budget(t, "80%")).JSON(&b) },
		"cbl1.who-1.schema.json":   func() error { return render.Who(r, r.Who(answer.Question{}, answer.Filter{})).JSON(&b) },
	} {
		b.Reset()
		require.NoError(t, write())
		_, strict := compileSchema(t, name)
		validate(t, strict, b.Bytes())
	}
	require.Equal(t, answer.CannotTell, r.Judge(answer.Terms{}).Answer)
}

// ask replays a capture of the repository with a question.
func ask(t *testing.T, file string, q answer.Question) *answer.Result {
	t.Helper()
	in := capture.Input{Path: filepath.Join("../../../capture/testdata", file)}
	r, err := replay.Run(file, in.Events(capture.Options{At: q.At}), replay.Options{Ask: &q})
	require.NoError(t, err)
	return r
}

// One row per question.
func TestWhoGolden(t *testing.T) {
	_, strict := compileSchema(t, "cbl1.who-1.schema.json")
	for _, c := range []struct {
		name, file string
		address    uint64
		at         int // -1 = the end
		core       string
		device     int // -1 = all
		held       bool
	}{
		{"everywhere", "composite_no_dispatch.json", 112_000, -1, "", -1, true},
		{"one_core", "composite_no_dispatch.json", 112_000, -1, "0-0", -1, true},
		{"a_buffer", "matmul_normal.json", 1_450_000, 13, "1-0", 0, true},
		{"freed", "matmul_normal.json", 1_450_000, -1, "", -1, false},
		{"before", "matmul_normal.json", 112_000, 3, "", -1, false},
		{"other_device", "mesh8_fanout.json", 112_000, -1, "", 99, false},
		{"one_device", "mesh8_fanout.json", 112_000, -1, "", 3, true},
		{"equal_devices", "mesh8_fanout.json", 112_000, -1, "", -1, true},
		{"below", "matmul_normal.json", 5, -1, "", -1, false},
		{"beyond", "matmul_normal.json", 1 << 40, -1, "", -1, false},
		{"many", "repeats.json", 104_000, -1, "7-7", 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, only := answer.Question{Address: c.address}, answer.Filter{}
			if c.at >= 0 {
				q.At = known(uint64(c.at))
			}
			if c.core != "" {
				core, err := l1.ParseCore(c.core)
				require.NoError(t, err)
				only.Core = event.Opt[l1.Core]{V: core, OK: true}
			}
			if c.device >= 0 {
				only.Device = known(uint64(c.device))
			}
			r := ask(t, c.file, q)
			doc := r.Who(q, only)
			require.Equal(t, c.held, len(doc.Held) > 0)
			var b bytes.Buffer
			require.NoError(t, render.Who(r, doc).Text(&b, 0))
			requireScreen(t, b.String())
			requireGolden(t, "who_"+c.name, b.String())
			b.Reset()
			require.NoError(t, render.Who(r, doc).JSON(&b))
			validate(t, strict, b.Bytes())
		})
	}
}

// Chips that hold the same are shown once. Those that hold something else are not, nor
// are meshes, whose chips are others. JSON has rows for each, and they are what Held returns.
func TestWhoFoldsDevices(t *testing.T) {
	set := func(text string) l1.CoreSet { return l1.MustParseCoreRangeSet(text).Cores() }
	p := peakOf("ttnn.add")
	same, other, none := p.Residents[:1], p.Residents[1:2], []answer.L1Resident(nil)
	var held []answer.Holders
	add := func(id uint64, kind answer.DeviceKind, cores string, resident, registered []answer.L1Resident, chips ...uint64) {
		held = append(held, answer.Holders{Device: known(id), Kind: kind, Chips: chips, Cores: set(cores), Resident: resident, Registered: registered})
	}
	const half, rest = "{[0-0 - 3-7]}", "{[4-0 - 7-7]}"
	for id := range uint64(40) {
		switch {
		case id == 7: // another buffer
			add(id, answer.KindChip, half, other, same)
			add(id, answer.KindChip, rest, none, same)
		case id == 9: // other cores
			add(id, answer.KindChip, rest, same, same)
		case id == 11: // only in the cache
			add(id, answer.KindChip, half, none, same)
			add(id, answer.KindChip, rest, none, same)
		case id == 13: // as its neighbours, and on further cores
			add(id, answer.KindChip, half, same, same)
			add(id, answer.KindChip, rest, none, same)
			add(id, answer.KindChip, "{[9-9 - 9-9]}", same, none)
		default:
			add(id, answer.KindChip, half, same, same)
			add(id, answer.KindChip, rest, none, same)
		}
	}
	add(100, answer.KindMesh, half, same, none, 0, 1)
	add(101, answer.KindMesh, half, same, none, 2, 3)
	s := newScene(t, l1.P150b())
	s.result.Held = held
	for _, h := range held {
		s.result.L1 = append(s.result.L1, answer.DeviceL1{ID: h.Device, Kind: h.Kind, Chips: h.Chips})
	}
	var b bytes.Buffer
	require.NoError(t, render.Who(s.result, s.result.Who(answer.Question{}, answer.Filter{})).Text(&b, 0))
	requireScreen(t, b.String())
	requireGolden(t, "who_folded", b.String())

	// A question about one device is answered with its rows.
	b.Reset()
	require.NoError(t, render.Who(s.result, s.result.Who(answer.Question{}, answer.Filter{Device: known(9)})).Text(&b, 0))
	require.Contains(t, b.String(), "\n32 cores [4-0 - 7-7] of device 9\n")
	require.NotContains(t, b.String(), "devices")

	b.Reset()
	require.NoError(t, render.Who(s.result, s.result.Who(answer.Question{}, answer.Filter{})).JSON(&b))
	_, strict := compileSchema(t, "cbl1.who-1.schema.json")
	validate(t, strict, b.Bytes())
	var answer struct {
		Held []struct {
			Device uint64
			Count  int
		}
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &answer))
	require.Len(t, answer.Held, len(held))
	for i, h := range held {
		require.Equal(t, h.Device.V, answer.Held[i].Device)
		require.Equal(t, h.Cores.Len(), answer.Held[i].Count)
	}
}

// The text of a question does not grow with devices that are equal.
func TestWhoOfAMesh(t *testing.T) {
	lines := func(devices uint64) int {
		s := newScene(t, l1.P150b())
		for id := range devices {
			p := peakOf("ttnn.add") // memory of its own
			p.Residents[0].Program.At += id
			s.result.Held = append(s.result.Held, answer.Holders{Device: known(id), Kind: answer.KindChip, Cores: p.Cores, Resident: p.Residents[:1]})
		}
		var b bytes.Buffer
		require.NoError(t, render.Who(s.result, s.result.Who(answer.Question{}, answer.Filter{})).Text(&b, 0))
		require.Contains(t, b.String(), ": CB 0 of ttnn.add (node 20)")
		return strings.Count(b.String(), "\n")
	}
	require.Equal(t, lines(1), lines(10_000))
}

// Names from files are escaped wherever they come out.
func TestHostileNamesInL1(t *testing.T) {
	evil := "a\x1b[2J\u202e\n > " + strings.Repeat("x", 70_000)
	s := newScene(t, l1.P150b())
	s.buffer(10, evil, grid, 1_163_264, 1_572_864)
	s.run(20, evil, circular(grid, 1<<21))
	p := peakOf(answer.Name(evil))
	p.Residents[1].Buffer.Op, p.Spike.Old.Op = answer.Name(evil), answer.Name(evil)
	s.result.L1 = []answer.DeviceL1{{ID: known(0), Kind: answer.KindChip, Peak: p}}
	s.result.File = evil
	s.result.Anomalies = []answer.AnomalyCount{{Code: answer.CodeCacheHit, Count: 1, Detail: evil}}
	s.result.Held = []answer.Holders{{Device: known(0), Kind: answer.KindChip, Cores: p.Cores, Resident: p.Residents, Registered: p.Residents[:1]}}
	check := judged(s.result, budget(t, "1%"))
	for name, write := range map[string]func(*bytes.Buffer) error{
		"check": func(b *bytes.Buffer) error { return check.Text(b, 0) },
		"peak":  func(b *bytes.Buffer) error { return render.Peak(s.result).Text(b, 0) },
		"who": func(b *bytes.Buffer) error {
			return render.Who(s.result, s.result.Who(answer.Question{}, answer.Filter{})).Text(b, 0)
		},
	} {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		requireVisible(t, b.String())
		require.Less(t, b.Len(), 6000, name)
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"check": func(b *bytes.Buffer) error { return check.JSON(b) },
		"peak":  func(b *bytes.Buffer) error { return render.Peak(s.result).JSON(b) },
		"who": func(b *bytes.Buffer) error {
			return render.Who(s.result, s.result.Who(answer.Question{}, answer.Filter{})).JSON(b)
		},
	} {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		requirePlain(t, b.String())
		require.True(t, json.Valid(b.Bytes()), name)
	}
}

// Every kind of thing in L1 has a name that the schema knows.
func TestKindNames(t *testing.T) {
	var rows []answer.L1Resident
	for k := fit.KindCB; k.InL1(); k++ {
		x := answer.L1Resident{ResidentRow: fit.NewResidentRow(k, l1.Range{Start: uint64(k), End: uint64(k) + 1}), Buffer: &answer.BufferInfo{Kind: k}}
		if k <= fit.KindScratchpad {
			x.CB, x.Program, x.Buffer = event.Some(uint64(k)), &answer.ProgramRun{}, nil
		}
		rows = append(rows, x)
	}
	s := newScene(t, l1.N150())
	s.result.Held = []answer.Holders{{Kind: answer.KindNone, Cores: l1.CoreSetOf(l1.Core{}), Resident: rows}}
	var b bytes.Buffer
	require.NoError(t, render.Who(s.result, s.result.Who(answer.Question{}, answer.Filter{})).JSON(&b))
	_, strict := compileSchema(t, "cbl1.who-1.schema.json")
	validate(t, strict, b.Bytes())
	b.Reset()
	require.NoError(t, render.Who(s.result, s.result.Who(answer.Question{}, answer.Filter{})).Text(&b, 0))
	requireGolden(t, "who_kinds", b.String())
}
