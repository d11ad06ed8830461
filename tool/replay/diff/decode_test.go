package diff_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

func small() plan {
	return plan{devices: 2, base: 103_712, buffers: []uint64{4096}, programs: []planned{
		{"ttnn.add", "{[0-0 - 7-7]}", []uint64{2048, 4096}}, {"ttnn.matmul", "{[0-0 - 3-7]}", []uint64{8192}},
	}}
}

func saved(t require.TestingT, p plan) string {
	var b bytes.Buffer
	require.NoError(t, render.Report(p.result(t, false), render.Options{}).JSON(&b))
	return b.String()
}

func TestIsReport(t *testing.T) {
	whole := saved(t, small())
	for text, want := range map[string]bool{
		whole: true, whole[:40]: true, " \n" + whole: true, `{"schema":"cbl1.report/3","file"`: true, // which Decode refuses
		"": false, "[]": false, `{"schema":"cbl1.check/1"}`: false, `{"event":"log"}`: false, `{"graph":[]}`: false, "\x1f\x8b": false, `{"schema":7}`: false,
	} {
		require.Equal(t, want, diff.IsReport([]byte(text)), "%.40s", text)
	}
}

func TestDecodeRefuses(t *testing.T) {
	whole := saved(t, small())
	for _, c := range []struct{ old, new, want string }{
		{whole, "", "x.json: line 1: is empty"},
		{`cbl1.report/2`, `cbl1.report/3`, "x.json: line 1: schema: is no saved report (cbl1.report/2)"},
		{`"untold":[]`, `"_":[]`, "x.json: line 1: checks.untold: is missing: the report was written by an older cbl1; write it anew"},
		{`"runs_failed":0`, `"runs_failed":77`, "x.json: line 1: checks.runs: 4 runs of which 77 failed cannot be"},
		{`"runs_failed":0`, `"runs_failed":-1`, "x.json: line 1: checks.runs: 4 runs of which -1 failed cannot be"},
		{`"highest_end":`, `"highest_end":9223372036854775808,"_":`, `x.json: line 1: devices."0".programs_detail[0]: has a number above 2^63-1`},
		{`"local_cbs":2`, `"local_cbs":-2`, `x.json: line 1: devices."0".programs_detail[0]: has a number below 0`},
		{`"residents":[`, `"residents_more":-1,"residents":[`, "x.json: line 1: l1[0].core_peak.residents_more: has a number below 0"},
		{`"cols":`, `"cols":-1,"_":`, "x.json: line 1: l1[0].cols: has a number below 0"},
		{`"logical_bytes":`, `"logical_bytes":9223372036854775808,"_":`, `x.json: line 1: devices."0".programs_detail[0]: has a number above 2^63-1`},
		{`"devices":{"0"`, `"devices":{"zero"`, `x.json: line 1: devices."zero": is no id of a device`},
		{`"tracked_bytes":`, `"tracked_bytes":9223372036854775808,"_":`, "x.json: line 1: l1[0]: has a number above 2^63-1"},
		{`"residents":[{"kind":"cb","start":`, `"residents":[{"kind":"cb","start":900000,"_":`, "x.json: line 1: l1[0].core_peak.residents[0]: range [900000, "},
		{`"core_groups":[{"cores":"`, `"core_groups":[{"cores":"x`, `x.json: line 1: is no JSON that a report has: core range set "x{`},
		{`"core_groups":[`, `"core_groups":[{"cores":"{[0-0 - 1-1]}"},`, `x.json: line 1: devices."0".core_groups[1]: has a core of another group`},
		{whole, whole[:200], "x.json: line 1: is no JSON that a report has: unexpected end of JSON input"},
		{whole, whole + "\n[]\n", "x.json: line 3: a array does not belong there"},
	} {
		text := strings.ReplaceAll(whole, c.old, c.new)
		require.NotEqual(t, whole, text, c.old)
		_, err := diff.Decode(strings.NewReader(text), "x.json")
		require.ErrorContains(t, err, c.want, c.new)
		_, ok := errors.AsType[*diff.DecodeError](err)
		require.True(t, ok)
	}
	_, err := diff.Decode(strings.NewReader("{}"), "x.json")
	require.ErrorIs(t, err, diff.ErrNotReport)
}

// Whatever a line says, it is refused or compared.
func FuzzDecode(f *testing.F) {
	whole := saved(f, small())
	f.Add(whole)
	f.Add(`{"schema":"cbl1.report/2","checks":{"untold":[]},"l1":[{"device":1},{"device":1}],"devices":{"none":{"programs":3}}}`)
	other, err := diff.Decode(strings.NewReader(whole), "x.json")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		runs, err := diff.Decode(strings.NewReader(text), "x.json")
		if err != nil {
			return
		}
		require.True(t, diff.Compare(runs, runs, diff.Terms{}).Equal)
		budget, err := answer.ParseBudget("5%")
		require.NoError(t, err)
		for _, d := range []*diff.Document{diff.Compare(runs, other, diff.Terms{MaxGrowth: &budget}), diff.Compare(other, runs, diff.Terms{MaxGrowth: &budget})} {
			for _, write := range []func(*bytes.Buffer) error{
				func(b *bytes.Buffer) error { return render.Diff(d).Text(b, 0) },
				func(b *bytes.Buffer) error { return render.Diff(d).JSON(b) },
				func(b *bytes.Buffer) error { return render.Diff(d).Markdown(b) },
			} {
				require.NoError(t, write(new(bytes.Buffer)))
			}
		}
	})
}
