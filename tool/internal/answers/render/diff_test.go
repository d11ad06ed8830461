package render_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

const diffHead = `{"event":"log","version":1}
{"event":"mesh","first":0,"rows":1,"cols":4,"spec":{"board":"n150"}}
`

func diffProgram(id int, name string, sizes ...uint64) string {
	var cbs []string
	for _, size := range sizes {
		cbs = append(cbs, fmt.Sprintf(`{"cores":"[0-0 - 7-7]","size":%d}`, size))
	}
	return fmt.Sprintf(`{"event":"program","program":%d,"name":%q,"cbs":[%s]}
{"event":"enqueue","program":%d}
`, id, name, strings.Join(cbs, ","), id)
}

const tensor = `{"event":"allocate","buffer":1,"kind":"l1","name":"weights","parts":[{"address":1000000,"size":65536}]}
`

func sideOf(t *testing.T, log string) []*diff.Run {
	t.Helper()
	return []*diff.Run{diff.Of(logged(t, log, replay.Options{Buffers: true, Groups: true}))}
}

func savedOf(t *testing.T, r *answer.Result) []*diff.Run {
	t.Helper()
	runs, err := diff.Decode(bytes.NewReader(jsonText(t, r)), "saved.json")
	require.NoError(t, err)
	return runs
}

// diffs are comparisons with answers that were read by a person.
func diffs(t *testing.T) map[string]*diff.Document {
	layers := func(third uint64) string {
		return diffHead + tensor + diffProgram(1, "norm", 4096, 8192) + diffProgram(2, "matmul", 65536, third) + diffProgram(3, "matmul", 65536, third) + diffProgram(4, "gelu", 4096)
	}
	old := layers(32768)
	grown := layers(98304) + diffProgram(5, "softmax", 16384)
	moved := strings.Replace(old, `{"board":"n150"}`, `{"board":"n150","cb_base":103840}`, 1)
	alone := strings.Replace(old, `"cols":4`, `"cols":3`, 1)
	hidden := old + `{"event":"hidden","code":"not-shown","count":1}` + "\n"
	clash := strings.Replace(old, `"address":1000000`, `"address":120000`, 1)
	beside := func(core string) string {
		return old + `{"event":"allocate","buffer":8,"kind":"l1","parts":[{"cores":"` + core + `","address":900000,"size":1024}]}` + "\n" +
			`{"event":"allocate","buffer":9,"kind":"l1","parts":[{"cores":"3-3","address":300000,"size":500000}]}` + "\n" +
			`{"event":"free","buffer":8}` + "\n"
	}
	five, err := answer.ParseBudget("5%")
	require.NoError(t, err)
	saved := savedOf(t, logged(t, old, replay.Options{}))
	return map[string]*diff.Document{
		"same":       diff.Compare(sideOf(t, old), sideOf(t, old), diff.Terms{MaxGrowth: &five}),
		"grown":      diff.Compare(sideOf(t, old), sideOf(t, grown), diff.Terms{MaxGrowth: &five}),
		"shrunk":     diff.Compare(sideOf(t, grown), sideOf(t, old), diff.Terms{}),
		"base":       diff.Compare(sideOf(t, old), sideOf(t, moved), diff.Terms{}),
		"device":     diff.Compare(sideOf(t, old), sideOf(t, alone), diff.Terms{}),
		"hidden":     diff.Compare(sideOf(t, old), sideOf(t, hidden), diff.Terms{}),
		"accepted":   diff.Compare(sideOf(t, old), sideOf(t, hidden), diff.Terms{Accept: []answer.Code{answer.CodeNotShown}}),
		"clash":      diff.Compare(sideOf(t, old), sideOf(t, clash), diff.Terms{}),
		"saved":      diff.Compare(saved, sideOf(t, grown), diff.Terms{}),
		"figures":    diff.Compare(withoutPrograms(t, old), sideOf(t, grown), diff.Terms{}),
		"two":        diff.Compare(append(sideOf(t, old), sideOf(t, grown)...), append(sideOf(t, old), sideOf(t, moved)...), diff.Terms{}),
		"one_or_two": diff.Compare(sideOf(t, old), append(sideOf(t, old), sideOf(t, moved)...), diff.Terms{}),
		"elsewhere":  diff.Compare(sideOf(t, beside("1-1")), sideOf(t, beside("2-2")), diff.Terms{}),
	}
}

// withoutPrograms is a saved report without its programs.
func withoutPrograms(t *testing.T, log string) []*diff.Run {
	t.Helper()
	text := string(jsonText(t, logged(t, log, replay.Options{})))
	for {
		before, after, ok := strings.Cut(text, `"programs_detail":[{`)
		if !ok {
			break
		}
		_, after, ok = strings.Cut(after, `}],"core_groups"`)
		require.True(t, ok)
		text = before + `"programs_detail":[],"core_groups"` + after
	}
	runs, err := diff.Decode(strings.NewReader(text), "saved.json")
	require.NoError(t, err)
	return runs
}

func TestDiffGolden(t *testing.T) {
	_, strict := compileSchema(t, "cbl1.diff-1.schema.json")
	for name, d := range diffs(t) {
		t.Run(name, func(t *testing.T) {
			var text, doc, markdown bytes.Buffer
			require.NoError(t, render.Diff(d).Text(&text, 0))
			require.NoError(t, render.Diff(d).JSON(&doc))
			require.NoError(t, render.Diff(d).Markdown(&markdown))
			requirePlain(t, text.String())
			for i, line := range strings.Split(text.String(), "\n") {
				if i > 0 {
					require.LessOrEqual(t, len(line), 100, "%s", line)
				}
			}
			requireGolden(t, "diff_"+name, text.String())
			validate(t, strict, doc.Bytes())
			if name == "grown" {
				requireGolden(t, "diff_grown_markdown", markdown.String())
			}
		})
	}
}

// Every capture is equal to itself, and to its saved report.
func TestDiffOfFixtures(t *testing.T) {
	_, strict := compileSchema(t, "cbl1.diff-1.schema.json")
	all := fixtures(t)
	var last []*diff.Run
	for _, f := range all {
		t.Run(f.name, func(t *testing.T) {
			r := f.replay(t)
			runs := []*diff.Run{diff.Of(r)}
			for _, other := range [][]*diff.Run{runs, savedOf(t, r)} {
				d := diff.Compare(runs, other, diff.Terms{})
				require.True(t, d.Equal, "%+v", d)
			}
			if last != nil { // anything with anything
				d := diff.Compare(last, runs, diff.Terms{})
				var doc, text bytes.Buffer
				require.NoError(t, render.Diff(d).JSON(&doc))
				validate(t, strict, doc.Bytes())
				require.NoError(t, render.Diff(d).Text(&text, 0))
				requireVisible(t, text.String())
			}
			last = runs
		})
	}
}

// Names are shown and steer nothing, in text and in Markdown.
func TestDiffNamesAreInert(t *testing.T) {
	const name = "a\x1b[2J|<script>alert(1)</script>[x](http://e.com) `@you` \u202e\n**b** www.e.com"
	d := diff.Compare(sideOf(t, diffHead+diffProgram(1, "a", 64)), sideOf(t, diffHead+diffProgram(1, "a", 128)), diff.Terms{})
	d.Devices[0].Changes[0].Op = name
	var text, markdown bytes.Buffer
	require.NoError(t, render.Diff(d).Text(&text, 0))
	requireVisible(t, text.String())
	require.NoError(t, render.Diff(d).Markdown(&markdown))
	requireVisible(t, markdown.String())
	for _, bad := range []string{"<", "](", "`@", "@you", "**b", "://"} {
		require.NotContains(t, strings.TrimPrefix(markdown.String(), "**"), bad)
	}
}

// What each program places is listed row by row, and adds up to its sums.
func TestProgramsBuffersOfFixtures(t *testing.T) {
	for _, f := range fixtures(t) {
		inputs, err := capture.Inputs(f.capture)
		require.NoError(t, err)
		r, err := replay.Run(f.name, inputs[0].Events(capture.Options{}), replay.Options{Buffers: true})
		require.NoError(t, err)
		for _, d := range r.Devices {
			require.Len(t, d.ProgramsBuffers, d.ProgramsDetail.Len(), f.name)
			for i, p := range d.ProgramsDetail.All() {
				var local, global int
				var logical uint64
				for _, b := range d.ProgramsBuffers[i] {
					switch {
					case b.Kind != fit.KindCB:
					case b.Global:
						global++
					default:
						local, logical = local+1, logical+b.Size*uint64(b.Cores.Len())
					}
				}
				require.Equal(t, []any{p.LocalCBs, p.GlobalCBs, p.Logical}, []any{local, global, logical}, "%s: %s", f.name, p.Op)
			}
		}
		runs := []*diff.Run{diff.Of(r)}
		d := diff.Compare(runs, runs, diff.Terms{})
		require.True(t, d.Equal)
		require.Equal(t, diff.ByBuffers, d.Basis.Programs)
		require.True(t, diff.Compare(runs, savedOf(t, r), diff.Terms{}).Equal)
	}
}
