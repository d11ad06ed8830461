package render_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// result returns a result with chips 0..n-1, all alike.
func result(n int) *answer.Result {
	r := &answer.Result{
		File: "run.json", Nodes: 100, Addresses: answer.AddressesRecorded,
		Spec: answer.Spec{Spec: l1.N150(), ArchFrom: event.FromFile, BaseFrom: event.FromFile, SmallFrom: event.FromFile},
	}
	for i := range n {
		r.Devices = append(r.Devices, chip(uint64(i), 4096))
	}
	return r
}

// chip has one program with one CB of so many bytes on four cores.
func chip(id, bytes uint64) answer.Device {
	base := l1.N150().CBBase
	p := answer.ProgramDetail{
		First: id, Last: id + 100, Op: "ttnn.add > Binary", LocalCBs: 1, Cores: 4,
		Logical: 4 * bytes, Bytes: 4 * bytes, Core: bytes, HighestEnd: base + bytes,
	}
	return answer.Device{
		ID: event.Opt[uint64]{V: id, OK: true}, Kind: answer.KindChip, CBNodes: 1, LocalCBs: 1, Programs: 1, Cores: 4,
		LogicalPeak: 4 * bytes, LogicalSizesPeak: bytes, ResidentPeak: 4 * bytes, CorePeak: bytes, HighestEnd: base + bytes,
		Registered: 4 * bytes, RegisteredCorePeak: bytes, RegisteredCoreFinal: bytes, RegisteredLogical: 4 * bytes, RegisteredRangeGranular: 4 * bytes,
		ProgramsDetail: programs(p),
		CoreGroups: []answer.CoreGroup{{
			Cores:      l1.CoreSetOf(l1.Core{}, l1.Core{X: 1}, l1.Core{Y: 1}, l1.Core{X: 1, Y: 1}),
			Registered: bytes, AlivePeak: bytes, Regions: []l1.Range{{Start: base, End: base + bytes}}, Programs: 1,
		}},
		Fullest: &answer.FullestCore{Cores: 4, Bytes: bytes, End: base + bytes, Program: p, Share: bytes},
	}
}

// programs are rows of them.
func programs(rows ...answer.ProgramDetail) *answer.Programs {
	out := &answer.Programs{}
	for _, p := range rows {
		out.Add(p)
	}
	return out
}

// rename gives the first program of a device the name of another operation.
func rename(d *answer.Device, op answer.Name) {
	p := d.ProgramsDetail.At(0)
	p.Op = op
	d.ProgramsDetail.Set(0, p)
}

func firstLine(t *testing.T, r *answer.Result) string {
	line, _, _ := strings.Cut(text(t, r, render.Options{}), "\n")
	return line
}

func TestEqualDevicesAreOneRow(t *testing.T) {
	r := result(8)
	require.Contains(t, text(t, r, render.Options{}), "\n0..7 (8 chips, equal)        -       4,096   4,096      16,384")
	require.Equal(t, "cannot tell  run.json  4,096 of 1,395,424 usable bytes (0.3%, 4.0 KiB) registered on the fullest core", firstLine(t, r))
	all := text(t, r, render.Options{Programs: true, Cores: true})
	require.Equal(t, 1, strings.Count(all, "programs of devices 0..7"))
	require.Equal(t, 1, strings.Count(all, "cores of devices 0..7"))

	r.Devices[3] = chip(3, 8192)
	all = text(t, r, render.Options{Programs: true, Cores: true})
	require.Contains(t, all, "\n0..2, 4..7 (7 chips, equal) ")
	require.Contains(t, all, "\n3                           ")
	require.Contains(t, all, "cores of device 3,")
	require.Equal(t, "cannot tell  run.json  8,192 of 1,395,424 usable bytes (0.6%, 8.0 KiB) registered on the fullest core of device 3", firstLine(t, r))
}

// Every second chip is different from every other.
func TestManyDevicesStayOnAScreen(t *testing.T) {
	r := result(32)
	for i := range r.Devices {
		if i%2 == 1 {
			r.Devices[i] = chip(uint64(i), 8192+uint64(i))
		}
	}
	got := text(t, r, render.Options{})
	require.LessOrEqual(t, strings.Count(got, "\n"), 24, "%s", got)
	require.Contains(t, got, "the fullest core of device 31\n")
	require.NotContains(t, got, "0, 2, 4")
	require.Contains(t, got, "\n11 more, none of them fuller: --format json shows all\n")
	for i := range r.Devices { // fuller ones first
		if i%2 == 0 {
			r.Devices[i] = chip(uint64(i), 65536)
		}
	}
	require.Contains(t, text(t, r, render.Options{}), "\n0, 2, 4, ... (16 chips, equal) ")
}

// Equal programs are one row, and a column that says nothing is left out.
func TestPrograms(t *testing.T) {
	r := result(1)
	all := text(t, r, render.Options{Programs: true})
	require.Contains(t, all, "CBs are local+global\nnodes  CBs  cores  per core     sum      end  operation\n")
	p := r.Devices[0].ProgramsDetail.At(0)
	p.First, p.Last = 7, 7
	small := p
	small.Core, small.Logical, small.GlobalCBs, small.Op = 64, 9999, 2, ""
	for _, p := range []answer.ProgramDetail{small, p, p} {
		r.Devices[0].ProgramsDetail.Add(p)
	}
	all = text(t, r, render.Options{Programs: true})
	require.Contains(t, all, `; nodes are those of the first of equal ones
nodes  times  CBs  cores  per core     sum  logical      end  operation
0-100      3  1+0      4     4,096  16,384   16,384  107,808  ttnn.add > Binary
7          1  1+2      4        64  16,384    9,999  107,808  (outside any function)
`)
}

func TestMeshes(t *testing.T) {
	r := result(1)
	r.Devices[0].Kind, r.Devices[0].Chips = answer.KindMesh, []uint64{4}
	require.Contains(t, text(t, r, render.Options{}), "\nmesh 0 (chip 4)  ")
	r.Devices[0].Chips = []uint64{0, 1, 2, 3}
	require.Contains(t, text(t, r, render.Options{}), "\nmesh 0 (4 chips, equal)  ")
	r.Devices[0].Kind, r.Devices[0].ID.OK = answer.KindNone, false
	require.Contains(t, text(t, r, render.Options{}), "\nno id  ")
}

func TestFirstLine(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*answer.Result)
		want string
	}{
		"assumed": {
			func(r *answer.Result) {
				r.Spec.Spec, r.Spec.ArchFrom = l1.ArchSpec(l1.Blackhole), event.FromAssumed
			}, "cannot tell  run.json  4,096 of 1,461,248 usable bytes (0.3%, 4.0 KiB) registered on the fullest core; blackhole?",
		},
		"L1 not known": {
			func(r *answer.Result) { r.Spec.L1Size = 0 },
			"cannot tell  run.json  4,096 bytes (4.0 KiB) registered on the fullest core",
		},
		"beyond L1": {
			func(r *answer.Result) { r.Anomalies = []answer.AnomalyCount{{Code: answer.CodeBeyondL1, Count: 1}} },
			"does not fit  run.json  4,096 of 1,395,424 usable bytes (0.3%, 4.0 KiB) registered on the fullest core",
		},
		"few bytes": {
			func(r *answer.Result) { r.Devices[0].Fullest.Bytes = 64 },
			"cannot tell  run.json  64 of 1,395,424 usable bytes (<0.1%) registered on the fullest core",
		},
		"rank, filter": {
			func(r *answer.Result) {
				r.Rank, r.Only.Device, r.Placed = event.Some[uint64](3), event.Some[uint64](0), true
			},
			"cannot tell  run.json (rank 3) (only device 0)  4,096 of 1,395,424 usable bytes (0.3%, 4.0 KiB) registered on the fullest core; placed?",
		},
		"no nodes": {
			func(r *answer.Result) { *r = answer.Result{} },
			"cannot tell    the capture has no nodes",
		},
		"no CBs": {
			func(r *answer.Result) { r.Devices = nil },
			"cannot tell  run.json  the capture places no circular buffer",
		},
		"cache hit": {
			func(r *answer.Result) {
				r.Devices, r.Anomalies = nil, []answer.AnomalyCount{{Code: answer.CodeCacheHit, Count: 1}}
			}, "cannot tell  run.json  programs ran, but the capture shows none of their circular buffers",
		},
		"dataflow alone": {
			func(r *answer.Result) {
				r.Devices = []answer.Device{{Kind: answer.KindNone, Dataflow: answer.Dataflow{Nodes: 1}}}
			}, "cannot tell  run.json  0 bytes, device not named: no circular buffers, but 1 dataflow buffer",
		},
		"dataflow and a cache hit": {
			func(r *answer.Result) {
				r.Devices = []answer.Device{
					{Kind: answer.KindNone, Dataflow: answer.Dataflow{Nodes: 1, RegisteredCorePeak: 64}},
					{
						Kind: answer.KindNone, Dataflow: answer.Dataflow{Nodes: 2, RegisteredCorePeak: 4096},
						Scratchpad: answer.Scratchpad{Nodes: 1, RegisteredCorePeak: 512},
					},
				}
				r.Anomalies = []answer.AnomalyCount{{Code: answer.CodeNoCBs, Count: 1, First: -1}, {Code: answer.CodeCacheHit, Count: 1}}
			}, "cannot tell  run.json  0 bytes, device not named, device not named: no circular buffers, but 3 dataflow buffers and 1 scratchpad",
		},
		"scratchpads alone": {
			func(r *answer.Result) {
				r.Devices = []answer.Device{{Kind: answer.KindNone, Scratchpad: answer.Scratchpad{Nodes: 2, RegisteredCorePeak: 512}}}
			}, "cannot tell  run.json  0 bytes, device not named: no circular buffers, but 2 scratchpads",
		},
		"views": {
			func(r *answer.Result) {
				r.Devices = []answer.Device{{Kind: answer.KindNone, CBNodes: 1, GlobalCBs: 1}}
			}, "cannot tell  run.json  0 bytes, device not named: the only CB is a view of tensors, without bytes of their own",
		},
		"another core": {
			func(r *answer.Result) {
				r.Only.Core = event.Some(l1.Core{X: 7, Y: 9})
				r.Devices = []answer.Device{{Kind: answer.KindNone, CBNodes: 1, LocalCBs: 1, CorePeak: 4096, Registered: 4096}}
			}, "cannot tell  run.json (only core 7-9)  core 7-9: 0 bytes, device not named: nothing is registered on it",
		},
		"all is gone": {
			func(r *answer.Result) {
				r.Log = true
				r.Devices = []answer.Device{{Kind: answer.KindNone, CBNodes: 1, LocalCBs: 1, CorePeak: 4096}}
			}, "cannot tell  run.json  0 bytes, device not named: nothing is registered any more; 4,096 bytes at most before",
		},
		"no cores": {
			func(r *answer.Result) {
				d := answer.Device{Kind: answer.KindNone, CBNodes: 1, LocalCBs: 1}
				r.Devices = []answer.Device{d, d, d, d}
			}, "cannot tell  run.json  0 bytes, 4 devices: the 4 local CBs cover no core or no byte",
		},
	} {
		r := result(1)
		c.edit(r)
		require.Equal(t, c.want, firstLine(t, r), name)
	}
}

func TestBeyondL1(t *testing.T) {
	r := result(1)
	r.Devices[0].Fullest.End = r.Spec.L1Size + 64
	require.Contains(t, strings.Join(strings.Fields(written(t, render.Report(r, render.Options{}).Detailed())), " "), "end at 1,499,200 (64 beyond L1);")
}

// Anomalies come in words, the most important one first, without a code.
func TestAnomalies(t *testing.T) {
	r := result(1)
	r.Anomalies = []answer.AnomalyCount{
		{Code: answer.CodeFreeUnknown, Count: 2, First: 7},
		{Code: answer.CodeUnfinished, Count: 1, First: -1, Detail: "ttnn.\x1b[2Jadd"},
		{Code: answer.CodeBeyondL1, Count: 1, First: 5, Detail: "ttnn.matmul"},
		{Code: answer.CodeSpecsDiffer, Count: 3, First: -1},
		{Code: "later", Count: 1, First: -1},
	}
	got := text(t, r, render.Options{})
	requirePlain(t, got)
	at := 0
	for _, want := range []string{
		`because   1 function did not end (ttnn.\x1b[2Jadd): the run threw`,
		"1 program ends beyond L1 (node 5, ttnn.matmul): does not fit",
		"3 devices or meshes differ in base or L1 size: the first",
		"2 frees of buffers from before the capture (first at node 7): no effect on CBs",
		"1 later: see the documentation",
	} {
		i := strings.Index(got[at:], want)
		require.GreaterOrEqual(t, i, 0, "%s in\n%s", want, got[at:])
		at += i
	}
}

func TestPlaced(t *testing.T) {
	for from, want := range map[event.Source]string{
		event.FromOption: "", event.FromFile: "", event.FromArch: " (--base)", event.FromAssumed: " (--base)",
	} {
		r := result(1)
		r.Placed, r.Spec.BaseFrom = true, from
		for addresses, what := range map[answer.Addresses]string{
			answer.AddressesSynthesised: "CBs placed",
			answer.AddressesMixed:       "some CBs placed",
			answer.AddressesRecorded:    "dataflow buffers and scratchpads placed",
		} {
			r.Addresses = addresses
			require.Contains(t, text(t, r, render.Options{}), what+" from 103,712"+want+"\n")
		}
	}
}

func TestUpstream(t *testing.T) {
	some := func(n uint64) event.Opt[uint64] { return event.Opt[uint64]{V: n, OK: true} }
	for _, c := range []struct {
		devices int
		peak    uint64
		sizes   uint64
		want    string // "" = no line
	}{
		{1, 4096, 4096, ""},
		{2, 4096, 4096, ""},
		{2, 8192, 4096, "releases before September 2026 print a peak_cb of 8,192 where the fullest core had 4,096 alive: they add the copies on 2 devices"},
		{2, 8192, 8192, "alive: they add CBs whatever their cores and addresses"}, // one device explains it
		{1, 8192, 8192, "alive: they add CBs whatever their cores and addresses"},
		{2, 16384, 8192, "they add the copies on 2 devices, and they add CBs whatever their cores and addresses"},
		{1, 1024, 4096, "their frees reach every device"},
	} {
		r := result(c.devices)
		r.Upstream.PeakCB = some(c.peak)
		for i := range r.Devices {
			r.Devices[i].LogicalSizesPeak = c.sizes
		}
		got := strings.Join(strings.Fields(written(t, render.Report(r, render.Options{}).Detailed())), " ")
		if c.want == "" {
			require.NotContains(t, got, "peak_cb")
		} else {
			require.Contains(t, got, c.want)
		}
		r.Upstream.PerCore = true
		require.NotContains(t, written(t, render.Report(r, render.Options{}).Detailed()), "peak_cb")
	}
}

// Names from files are shown escaped and cut in tables, whole in JSON.
func TestHostileNames(t *testing.T) {
	_, strict := compileSchema(t, "cbl1.report-2.schema.json")
	for _, evil := range []string{
		"\x1b]0;title\x07\x1b[2J", "\u009b31m", "\u202etxt.exe", "two\nlines\r", "\x00", "\xff\xfe",
		"%s%d%!", strings.Repeat("x", 64<<10), strings.Repeat("\u202e", 64<<10), strings.Repeat("a > ", 16<<10),
	} {
		r := result(1)
		r.File = evil
		r.Devices[0].Fullest.Program.Op = answer.Name(evil + " > " + evil)
		rename(&r.Devices[0], answer.Name(evil))
		r.Anomalies = []answer.AnomalyCount{{Code: answer.CodeOperationFailed, Count: 1, Detail: evil}}
		got := text(t, r, render.Options{Programs: true, Cores: true})
		requireVisible(t, got)
		require.Less(t, len(got), 4000)
		require.NotContains(t, got, "(MISSING)")
		line := jsonText(t, r)
		requirePlain(t, string(line))
		validate(t, strict, line)
		if len(evil) == 64<<10 && evil[0] == 'x' {
			require.Contains(t, string(line), evil)
		}
	}
}

// The code of something odd or hidden may come from a log. It is cut and escaped as names are.
func TestHostileCodes(t *testing.T) {
	for _, evil := range []string{"\x1b[2J", "\u009b31m", "\u202egnp", "two\nlines", strings.Repeat("x", 64<<10)} {
		r := result(1)
		r.Anomalies = []answer.AnomalyCount{{Code: answer.Code(evil), Count: 1, First: -1}}
		j := answer.Judgement{Answer: answer.CannotTell, Untold: []answer.Reason{r.Reason(answer.Code(evil))}}
		for _, d := range []render.Output{render.Report(r, render.Options{}), render.Check(r, j).Detailed(), render.Peak(r), render.Map(r, event.Opt[uint64]{})} {
			var b bytes.Buffer
			require.NoError(t, d.Text(&b, 0))
			require.NoError(t, d.Markdown(&b))
			requireVisible(t, b.String())
			require.Less(t, b.Len(), 4000)
		}
	}
}

// Names in other scripts are shown, and what stands in columns stays in them.
func TestNamesInOtherScripts(t *testing.T) {
	_, strict := compileSchema(t, "cbl1.report-2.schema.json")
	const name = "modell.größe > 层.加法"
	r := result(2)
	r.File = "/データ/größe.json"
	for i := range r.Devices {
		r.Devices[i].Fullest.Program.Op = name
		rename(&r.Devices[i], name)
	}
	r.Anomalies = []answer.AnomalyCount{{Code: answer.CodeOperationFailed, Count: 1, Detail: name}}
	got := text(t, r, render.Options{Programs: true, Cores: true})
	requireVisible(t, got)
	require.Contains(t, got, name)
	require.Contains(t, got, "  /データ/größe.json  ")
	line := jsonText(t, r)
	requirePlain(t, string(line))
	validate(t, strict, line)
}

// full is a writer that has room for so many bytes.
type full int

var errFull = errors.New("no space left")

func (n full) Write(p []byte) (int, error) {
	if len(p) > int(n) {
		return int(n), errFull
	}
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	require.ErrorIs(t, render.Report(result(1), render.Options{}).Text(full(10), 0), errFull)
	require.ErrorIs(t, render.Report(result(1), render.Options{}).JSON(full(10)), errFull)
}

// TestAnyResult prints results that no capture gives: nothing panics, text is
// plain, JSON follows the schema.
func TestAnyResult(t *testing.T) {
	_, strict := compileSchema(t, "cbl1.report-2.schema.json")
	number := rapid.OneOf(rapid.SampledFrom([]uint64{0, 1, 1023, 1024, l1.MaxAddr}), rapid.Uint64Range(0, l1.MaxAddr))
	count := rapid.Int64Range(0, 1<<62)
	optional := func(t *rapid.T, name string) event.Opt[uint64] {
		return event.Opt[uint64]{V: number.Draw(t, name), OK: rapid.Bool().Draw(t, name+" known")}
	}
	source := rapid.SampledFrom([]event.Source{event.FromOption, event.FromFile, event.FromArch, event.FromAssumed})
	draw := func(t *rapid.T) *answer.Result {
		r := result(rapid.IntRange(0, 9).Draw(t, "devices"))
		r.File, r.Nodes, r.Rank = rapid.String().Draw(t, "file"), count.Draw(t, "nodes"), optional(t, "rank")
		r.Spec.L1Size, r.Spec.CBBase = number.Draw(t, "L1"), number.Draw(t, "base")
		r.Spec.Arch = rapid.SampledFrom([]l1.Arch{l1.Wormhole, l1.Blackhole, l1.Grayskull}).Draw(t, "arch")
		r.Spec.ArchFrom, r.Spec.BaseFrom, r.Spec.SmallFrom = source.Draw(t, "arch from"), source.Draw(t, "base from"), source.Draw(t, "L1_SMALL from")
		r.Placed = rapid.Bool().Draw(t, "placed")
		r.Addresses = rapid.SampledFrom([]answer.Addresses{
			answer.AddressesNone, answer.AddressesRecorded, answer.AddressesSynthesised, answer.AddressesMixed,
		}).Draw(t, "addresses")
		r.Upstream = event.Upstream{PeakCB: optional(t, "peak_cb"), PeakL1: optional(t, "peak_l1"), Wrapped: rapid.Bool().Draw(t, "wrapped")}
		for i := range r.Devices {
			d := &r.Devices[i]
			label := fmt.Sprint("device ", i)
			d.Kind = rapid.SampledFrom([]answer.DeviceKind{answer.KindChip, answer.KindMesh}).Draw(t, label)
			d.Chips = rapid.SliceOfN(number, 0, 3).Draw(t, label)
			d.RegisteredCorePeak, d.Registered = number.Draw(t, label), number.Draw(t, label)
			d.RegisteredLogical, d.UnattributedPeak = number.Draw(t, label), number.Draw(t, label)
			d.Programs, d.LocalCBs, d.GlobalCBs = count.Draw(t, label), count.Draw(t, label), count.Draw(t, label)
			d.Dataflow = answer.Dataflow{Nodes: count.Draw(t, label), Borrowed: count.Draw(t, label)}
			d.Scratchpad.Nodes = count.Draw(t, label)
			switch rapid.IntRange(0, 2).Draw(t, label) {
			case 0:
				d.Fullest, d.CoreGroups, d.ProgramsDetail = nil, nil, nil
			case 1:
				d.Fullest.Bytes, d.Fullest.End, d.Fullest.Share = number.Draw(t, label), number.Draw(t, label), number.Draw(t, label)
				d.Fullest.Program.Op = answer.Name(rapid.String().Draw(t, label))
			}
		}
		return r
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := draw(rt)
		requireVisible(t, text(t, r, render.Options{Programs: true, Cores: true}))
		validate(t, strict, jsonText(t, r))
	})
}

// Narrowed to operations, a report is about their runs: a core holds buffers of all operations.
func TestReportOfOperations(t *testing.T) {
	const graph = `[
		{"counter":0,"node_type":"function_start","params":{"name":"a"}},
		{"counter":1,"node_type":"circular_buffer_allocate","params":{"address":"111616","core_range_set":"{[0-0 - 7-7]}","size":"4096"}},
		{"counter":2,"node_type":"function_end","params":{"name":"a"}},
		{"counter":3,"node_type":"function_start","params":{"name":"b"}},
		{"counter":4,"node_type":"circular_buffer_deallocate_all","params":{}},
		{"counter":5,"node_type":"circular_buffer_allocate","params":{"address":"111616","core_range_set":"{[0-0 - 3-3]}","size":"2048"}},
		{"counter":6,"node_type":"function_end","params":{"name":"b"}}
	]`
	require.Equal(t, "fits  x.json (only b)  1 run\n"+
		"\n"+
		"  tightest  1,459,200 bytes free above b (node 5)\n"+
		"\n"+
		"programs of device not named, largest per core first; CBs are local+global\n"+
		"nodes  CBs  cores  per core     sum      end  operation\n"+
		"5      1+0     16     2,048  32,768  113,664  b\n",
		text(t, narrowed(t, graph, answer.Filter{Op: "b"}), render.Options{Programs: true}))
}

// Programs that were unregistered stay in the table: L1 peak, the most that was registered at once, and the end.
func TestReportOfUnregisteredPrograms(t *testing.T) {
	const log = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"program","program":1,"name":"a","cbs":[{"cores":"0-0","size":4096,"address":103712}]}
{"event":"register","program":1,"devices":[0]}
{"event":"allocate","buffer":1,"kind":"l1","parts":[{"cores":"0-0","address":600000,"size":64}],"devices":[0]}
{"event":"enqueue","program":1,"devices":[0]}
{"event":"program","program":2,"name":"b","cbs":[{"cores":"{[0-0 - 1-0]}","size":1024,"address":103712}]}
{"event":"register","program":2,"devices":[0]}
{"event":"unregister","program":1,"devices":[0]}
`
	const head = "fits  run.jsonl  4,160 of 1,395,424 usable bytes (0.3%, 4.1 KiB) on the fullest core\n" +
		"\n" +
		"        ------ fullest core -------  ---------- all cores ----------\n" +
		"device  L1 peak  registered  at end  registered  alive peak  logical  programs\n"
	const tail = "\n" +
		"at the peak, a (event 5), on core 0-0\n" +
		"bytes  what                  from       to  whose\n" +
		"4,096  1 circular buffer  103,712  107,808  a (event 5)\n" +
		"   64  1 L1 buffer        600,000  600,064  event 4\n" +
		"\n" +
		"  tightest  492,192 bytes free above a (event 5)\n"
	require.Equal(t, head+"0         4,160       4,096   1,024       5,120       5,120    6,144         2\n"+tail,
		text(t, logged(t, log, replay.Options{}), render.Options{}))
	const unregister = `{"event":"unregister","program":2,"devices":[0]}` + "\n"
	require.Equal(t, head+"0         4,160       4,096       0       5,120       5,120    6,144         2\n"+tail,
		text(t, logged(t, log+unregister, replay.Options{}), render.Options{}))
}
