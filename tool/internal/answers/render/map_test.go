package render_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/internal/pictures/draw"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

func (f fixture) with(t *testing.T, opt replay.Options) *answer.Result {
	t.Helper()
	in := capture.Input{Path: f.capture}
	r, err := replay.Run(filepath.Base(f.capture), in.Events(capture.Options{}), opt)
	require.NoError(t, err)
	return r
}

// Pictures of every capture, and the address map of the fullest core.
func TestMapGolden(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			r := f.with(t, replay.Options{Groups: true})
			var b bytes.Buffer
			require.NoError(t, render.Map(r, event.Opt[uint64]{}).Text(&b, 0))
			core := l1.Core{}
			for _, d := range r.L1 {
				if d.Peak != nil {
					core = d.Peak.Core
					break
				}
			}
			b.WriteString("\n")
			one := f.with(t, replay.Options{Groups: true, Only: answer.Filter{Core: event.Some(core)}})
			require.NoError(t, render.Map(one, event.Opt[uint64]{}).Text(&b, 0))
			requirePlain(t, b.String())
			requireGolden(t, "map_"+f.name, b.String())
		})
	}
}

// The JSON of a map follows its schema, at the peak, at a moment and of one core.
func TestMapJSON(t *testing.T) {
	_, strict := compileSchema(t, "cbl1.map-1.schema.json")
	rows := 0
	for _, f := range fixtures(t) {
		at := event.Some[uint64](3)
		for _, c := range []struct {
			opt replay.Options
			at  event.Opt[uint64]
		}{
			{replay.Options{Groups: true}, event.Opt[uint64]{}}, {replay.Options{GroupsAt: at}, at},
			{replay.Options{Groups: true, Only: answer.Filter{Core: event.Some(l1.Core{X: 1})}}, event.Opt[uint64]{}},
		} {
			d := render.Map(f.with(t, c.opt), c.at)
			var b bytes.Buffer
			require.NoError(t, d.JSON(&b))
			validate(t, strict, b.Bytes())
			for _, one := range decoded(t, d)["devices"].([]any) {
				for _, g := range memberOf(one)["groups"].([]any) {
					rows += len(memberOf(g)["residents"].([]any))
				}
			}
		}
	}
	require.Greater(t, rows, 100)
}

// A clash is in the JSON of a map as it is drawn: the program's buffers and what they run into.
func TestMapJSONOfAClash(t *testing.T) {
	_, strict := compileSchema(t, "cbl1.map-1.schema.json")
	r := logged(t, diffHead+`{"event":"allocate","buffer":1,"kind":"l1","name":"weights","parts":[{"address":200000,"size":65536}]}
`+diffProgram(1, "norm", 150000), replay.Options{Groups: true})
	d := render.Map(r, event.Opt[uint64]{})
	var b bytes.Buffer
	require.NoError(t, d.JSON(&b))
	validate(t, strict, b.Bytes())
	clash := memberOf(decoded(t, d), "clash")
	require.Len(t, clash["residents"], 2)
	require.Equal(t, "0-0", clash["core"])
}

// Devices with L1 of different sizes are shaded, and measured, each by its own.
func TestMapOfDevicesThatDiffer(t *testing.T) {
	const log = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"device","device":1,"spec":{"board":"p150"}}
{"event":"program","program":1,"name":"norm","cbs":[{"cores":"0-0","size":1000000,"address":200000}]}
{"event":"enqueue","program":1,"devices":[1]}
`
	r := logged(t, log, replay.Options{Groups: true})
	small, large := r.SpecOf(event.Some[uint64](0)), r.SpecOf(event.Some[uint64](1))
	require.Equal(t, []uint64{l1.N150().L1Size, l1.P150b().L1Size}, []uint64{small.L1Size, large.L1Size})
	require.NotEqual(t, small.L1Size, large.L1Size)
	require.Equal(t, small, r.SpecOf(event.Some[uint64](7)), "of no device that is there")
	percent := 100 * 1000000 / float64(large.L1Size)
	doc := decoded(t, render.Report(r, render.Options{}))
	require.Equal(t, json.Number(strconv.FormatFloat(percent, 'f', -1, 64)), memberOf(doc, "fullest")["percent_of_l1"])
	require.Equal(t, memberOf(doc, "fullest")["percent_of_l1"], memberOf(doc["l1"].([]any)[1], "core_peak")["percent_of_l1"])
	var b bytes.Buffer
	for _, d := range []render.Output{render.Report(r, render.Options{}), render.Peak(r)} {
		b.Reset()
		require.NoError(t, d.Text(&b, 0))
		require.Contains(t, b.String(), "68.4%")
	}
	b.Reset()
	m := render.Map(r, event.Opt[uint64]{})
	require.NoError(t, m.Text(&b, 0))
	requireGolden(t, "map_devices_differ", b.String())
	rows := decoded(t, m)["devices"].([]any)
	require.Equal(t, json.Number(strconv.FormatUint(small.Usable().Len(), 10)), memberOf(rows[0])["usable_bytes"])
	require.Equal(t, json.Number(strconv.FormatUint(large.Usable().Len(), 10)), memberOf(rows[1])["usable_bytes"])
	b.Reset()
	require.NoError(t, render.NewOverview([]*answer.Result{r}, answer.Terms{}, nil).Excerpt(100, 1000).JSON(&b))
	var page struct {
		Captures []struct{ Alike []map[string]any }
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &page))
	require.Len(t, page.Captures[0].Alike, 2)
	require.EqualValues(t, small.L1Size, memberOf(page.Captures[0].Alike[0], "chip")["l1_size_bytes"])
	require.EqualValues(t, large.L1Size, memberOf(page.Captures[0].Alike[1], "chip")["l1_size_bytes"])
}

// Of a device whose L1 nobody knows a map says bytes, and no share.
func TestMapOfADeviceThatIsNotKnown(t *testing.T) {
	const log = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"cols":1,"rows":1}}
{"event":"program","program":1,"name":"norm","cbs":[{"cores":"0-0","size":4096,"address":4096}]}
{"event":"enqueue","program":1,"devices":[0]}
`
	r := logged(t, log, replay.Options{Groups: true})
	require.Zero(t, r.SpecOf(event.Some[uint64](0)).L1Size)
	var b bytes.Buffer
	require.NoError(t, render.Map(r, event.Opt[uint64]{}).Text(&b, 0))
	require.Contains(t, b.String(), "map  run.jsonl  4,096 bytes (4.0 KiB) on the fullest core\n")
	require.Contains(t, b.String(), "what the fullest core holds")
	require.NotContains(t, b.String(), "usable L1")
}

// The fullest core of a map holds the same as in cbl1 peak.
func TestMapFullestCore(t *testing.T) {
	compared := 0
	for _, f := range fixtures(t) {
		r := f.with(t, replay.Options{Groups: true})
		drawn := decoded(t, render.Map(r, event.Opt[uint64]{}))["devices"].([]any)
		for i, d := range decoded(t, render.Peak(r))["devices"].([]any) {
			peak := memberOf(d, "peak")
			if peak == nil {
				continue
			}
			device := memberOf(drawn[i])
			require.Equal(t, memberOf(d)["device"], device["device"], f.name)
			require.Equal(t, peak["counter"], device["counter"], f.name)
			core, err := l1.ParseCore(peak["core"].(string))
			require.NoError(t, err)
			for _, g := range device["groups"].([]any) {
				set, err := l1.ParseCoreRangeSet(memberOf(g)["cores"].(string))
				require.NoError(t, err)
				if set.Cores().Has(core) {
					require.Equal(t, peak["tracked_bytes"], memberOf(g)["tracked_bytes"], f.name)
					require.Equal(t, peak["residents"], memberOf(g)["residents"], f.name)
					compared++
				}
			}
		}
	}
	require.Greater(t, compared, 15)
}

// Devices that hold the same are drawn once, an odd one beside them.
func TestMapFoldsDevices(t *testing.T) {
	const log = `{"event":"log","version":1}
{"event":"mesh","first":0,"rows":1,"cols":4,"spec":{"board":"n150"}}
{"event":"program","program":1,"name":"a","cbs":[{"cores":"{[0-0 - 3-3]}","size":100000}]}
{"event":"enqueue","program":1}
{"event":"allocate","buffer":1,"kind":"l1","devices":[2],"parts":[{"cores":"1-1","address":600000,"size":640}]}
`
	r := logged(t, log, replay.Options{Groups: true})
	var b bytes.Buffer
	require.NoError(t, render.Map(r, event.Opt[uint64]{}).Text(&b, 0))
	require.Contains(t, b.String(), "\ndevices 0, 1, 3 (3 chips, equal), at the peak: a (event 3)\n")
	require.Contains(t, b.String(), "\ndevice 2, at the peak: ")
	require.True(t, strings.HasPrefix(b.String(), "map  run.jsonl  100,640 of 1,395,424 usable bytes (7.2%, 98.3 KiB) on the fullest core of device 2; placed?\n"), b.String())
	after := logged(t, log, replay.Options{GroupsAt: event.Some(uint64(3))})
	b.Reset()
	require.NoError(t, render.Map(after, event.Some(uint64(3))).Text(&b, 0))
	require.Contains(t, b.String(), "\ndevices 0..3 (4 chips, equal), after event 3\n")
	b.Reset()
	require.NoError(t, render.Map(logged(t, log, replay.Options{GroupsAt: event.Some(uint64(1))}), event.Some(uint64(1))).Text(&b, 0))
	require.True(t, strings.HasPrefix(b.String(), "map  run.jsonl  nothing is known to have been in L1, after event 1\n"), b.String())
}

// Devices that hold different bytes on the same cores differ, also where they differ below L1_SMALL alone.
func TestMapOfUnlikeDevices(t *testing.T) {
	const log = `{"event":"log","version":1}
{"event":"mesh","first":0,"rows":1,"cols":2,"spec":{"board":"n150","l1_small":65536}}
{"event":"allocate","buffer":1,"kind":"l1","devices":[0],"parts":[{"cores":"1-1","address":600000,"size":6400}]}
`
	for other, fullest := range map[string]string{
		`"l1","devices":[1],"parts":[{"cores":"1-1","address":600000,"size":1280}]`:        "device 0",
		`"l1_small","devices":[1],"parts":[{"cores":"1-1","address":1450000,"size":6400}]`: "device 0",
	} {
		r := logged(t, log+`{"event":"allocate","buffer":2,"kind":`+other+"}\n", replay.Options{Groups: true})
		var b bytes.Buffer
		require.NoError(t, render.Map(r, event.Opt[uint64]{}).Text(&b, 0))
		require.Contains(t, b.String(), "on the fullest core of "+fullest)
		require.Contains(t, b.String(), "\ndevice 0, at the peak: ")
		require.Contains(t, b.String(), "\ndevice 1, at the peak: ")
	}
}

// A run that does not fit is drawn with what is in its way; names are inert in each form.
func TestMapOfAClash(t *testing.T) {
	for _, evil := range append(hostileNames(), "matmul") {
		s := newScene(t, l1.P150b())
		s.result.File = evil
		s.buffer(10, evil, "{[0-0 - 1-1]}", 1_100_032, 1_200_000)
		s.run(20, evil, circular("{[0-0 - 1-1]}", 1<<20))
		d := render.Map(s.result, event.Opt[uint64]{})
		for _, s := range []draw.Style{{ASCII: true}, {Columns: 80}, {Columns: 200, Colour: true}} {
			var b bytes.Buffer
			require.NoError(t, d.Draw(&b, s))
			require.Contains(t, b.String(), "clash on core 0-0 of device 0, by 60,160 bytes")
			require.Contains(t, b.String(), "60,160  both: ")
			require.NotContains(t, strings.ReplaceAll(strings.ReplaceAll(b.String(), "\x1b[38;5;", ""), "\x1b[48;5;", ""), "\x1b[2J")
		}
		var b bytes.Buffer
		require.NoError(t, d.SVG(&b))
		require.NotContains(t, b.String(), "<script")
		require.Contains(t, b.String(), `class="f4"`)
	}
}

// Devices are one picture, one table and one row if each core holds the same of the same operation.
func TestFoldsCompareEachCore(t *testing.T) {
	const first = `"a","cbs":[{"cores":"0-0","size":64},{"cores":"1-0","size":64}]}`
	const all = "devices 0, 1 (2 chips, equal)"
	for _, c := range []struct {
		second                string
		who, peak, core, rows bool // folded
	}{
		{first, true, true, true, true},
		{`"b","cbs":[{"cores":"0-0","size":64},{"cores":"1-0","size":64}]}`, false, false, false, false},
		{`"a","cbs":[{"cores":"1-0","size":64},{"cores":"0-0","size":64}]}`, false, true, false, false},
		{`"a","cbs":[{"kind":"dataflow","cores":"0-0","size":64},{"kind":"dataflow","cores":"1-0","size":64}]}`, false, true, false, false},
		{`"a","cbs":[{"cores":"0-0","size":64},{"cores":"1-0","size":64,"address":103712,"global":true}]}`, false, false, true, false},
	} {
		log := strings.Join([]string{
			`{"event":"log","version":1}`, `{"event":"mesh","first":0,"rows":1,"cols":2,"spec":{"board":"n150"}}`,
			`{"event":"program","program":1,"name":` + first, `{"event":"program","program":2,"name":` + c.second,
			`{"event":"enqueue","program":1,"devices":[0]}`, `{"event":"enqueue","program":2,"devices":[1]}`, "",
		}, "\n")
		opt := asked()
		opt.Ask = &answer.Question{Address: 103712}
		r := logged(t, log, opt)
		var who, peak, core, rows bytes.Buffer
		require.NoError(t, render.Who(r, r.Who(*opt.Ask, answer.Filter{})).Text(&who, 0))
		require.NoError(t, render.Map(r, event.Opt[uint64]{}).Text(&peak, 0))
		require.NoError(t, render.NewOverview([]*answer.Result{r}, answer.Terms{}, nil).Excerpt(1000, 1000).JSON(&rows))
		opt.Only.Core, opt.GroupsAt = event.Some(l1.Core{}), event.Some(uint64(6))
		require.NoError(t, render.Map(logged(t, log, opt), opt.GroupsAt).Text(&core, 0))
		require.Equal(t, c.who, strings.Contains(who.String(), "\ncore 0-0 of "+all), "%s\n%s", c.second, who.String())
		require.Equal(t, c.peak, strings.Contains(peak.String(), "\n"+all), "%s\n%s", c.second, peak.String())
		require.Equal(t, c.core, strings.Contains(core.String(), "\ncore 0-0 of "+all), "%s\n%s", c.second, core.String())
		require.Equal(t, c.rows, strings.Contains(rows.String(), `"label":"devices 0, 1"`), "%s\n%s", c.second, rows.String())
	}
}
