package render_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

// csvOf returns the rows of a document by the names of their columns.
func csvOf(t *testing.T, d render.Output) (rows []map[string]string, head []string) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, d.CSV(&b, true))
	all, err := csv.NewReader(&b).ReadAll() // which wants as many cells in each
	require.NoError(t, err)
	head = all[0]
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(head))), len(head), "a name twice")
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, name := range head {
			row[name] = cells[i]
		}
		rows = append(rows, row)
	}
	return rows, head
}

func decoded(t *testing.T, d render.Output) map[string]any {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, d.JSON(&b))
	dec := json.NewDecoder(&b)
	dec.UseNumber()
	var doc map[string]any
	require.NoError(t, dec.Decode(&doc))
	return doc
}

// requireCells holds the cells of a row to an object of JSON: each member that is one value is
// the cell of its name. It returns how many it has compared.
func requireCells(t *testing.T, row map[string]string, prefix string, v any) (n int) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			n += requireCells(t, row, strings.TrimPrefix(prefix+"_"+name, "_"), member)
		}
		return n
	case []any: // rows of their own, or one cell
		cell, ok := row[prefix]
		if !ok {
			return 0
		}
		var words []string
		for _, one := range v {
			words = append(words, strings.ReplaceAll(strings.Trim(fmt.Sprint(one), "[]"), " ", "-"))
		}
		require.Equal(t, strings.Join(words, " "), cell, prefix)
		return 1
	case nil:
		if cell, ok := row[prefix]; ok {
			require.Empty(t, cell, prefix)
		}
		return 0
	}
	cell, ok := row[prefix]
	require.True(t, ok, "no column %s", prefix)
	require.Equal(t, fmt.Sprint(v), cell, prefix)
	return 1
}

func memberOf(v any, path ...string) map[string]any {
	for _, name := range path {
		v = v.(map[string]any)[name]
	}
	m, _ := v.(map[string]any)
	return m
}

// without returns an object without some members: those that are lists of rows.
func without(m map[string]any, names ...string) map[string]any {
	out := map[string]any{}
	for name, v := range m {
		if !slices.Contains(names, name) {
			out[name] = v
		}
	}
	return out
}

// Every figure of a CSV is that of the JSON, and every figure of JSON that is about the same
// thing is there.
func TestCSVIsTheJSON(t *testing.T) {
	compared := map[string]int{}
	for _, f := range fixtures(t) {
		r := f.replay(t)
		doc := decoded(t, render.Report(r, render.Options{}))
		devices := memberOf(doc["devices"])
		key := func(row map[string]string) map[string]any {
			return memberOf(devices[row["device"]])
		}

		rows, _ := csvOf(t, render.Report(r, render.Options{}))
		require.Len(t, rows, len(doc["l1"].([]any)))
		for i, row := range rows {
			compared["devices"] += requireCells(t, row, "", without(key(row), "programs_detail", "core_groups"))
			on := without(memberOf(doc["l1"].([]any)[i]), "core_peak")
			compared["devices"] += requireCells(t, row, "l1", on)
			require.Equal(t, memberOf(doc["checks"])["answer"], row["answer"])
		}
		for _, list := range []struct {
			name string
			opt  render.Options
		}{{"programs_detail", render.Options{Programs: true}}, {"core_groups", render.Options{Cores: true}}} {
			rows, _ := csvOf(t, render.Report(r, list.opt))
			next := map[string]int{}
			for _, row := range rows {
				all := key(row)[list.name].([]any)
				compared[list.name] += requireCells(t, row, "", all[next[row["device"]]])
				next[row["device"]]++
			}
			n := 0
			for _, d := range devices {
				n += len(memberOf(d)[list.name].([]any))
			}
			require.Len(t, rows, n, list.name)
		}

		peak := decoded(t, render.Peak(r))
		rows, _ = csvOf(t, render.Peak(r))
		at := 0
		for _, d := range peak["devices"].([]any) {
			all, _ := memberOf(d, "peak")["residents"].([]any)
			for i := range max(len(all), 1) {
				row := rows[at]
				at++
				compared["peak"] += requireCells(t, row, "", without(peak, "devices", "fullest", "schema", "untold", "basis", "hits_inferred"))
				compared["peak"] += requireCells(t, row, "", without(memberOf(peak["basis"]), "arch_from", "base_from", "l1_size_bytes",
					"l1_small_from", "cb_base", "cb_align", "earlier_l1_buffers", "earlier_l1_bytes"))
				compared["peak"] += requireCells(t, row, "", without(memberOf(d), "peak"))
				compared["peak"] += requireCells(t, row, "peak", without(memberOf(d, "peak"), "residents", "kinds", "shared", "largest_gap", "highest_gap"))
				if len(all) > 0 {
					compared["peak"] += requireCells(t, row, "resident", all[i])
				}
			}
		}
		require.Len(t, rows, at)

		check := decoded(t, judged(r, budget(t, "1%")))
		rows, _ = csvOf(t, judged(r, budget(t, "1%")))
		require.Len(t, rows, 1, "nothing fails in these")
		compared["check"] += requireCells(t, rows[0], "", without(check, "schema", "basis", "untold", "accepted", "budget", "tightest", "failures", "aborted"))
		compared["check"] += requireCells(t, rows[0], "tightest", without(memberOf(check["tightest"]), "may_grow"))
		require.Equal(t, fmt.Sprint(len(memberOf(check["budget"])["exceeded"].([]any))), rows[0]["budget_exceeded"])
	}
	for _, name := range []string{"devices", "programs_detail", "core_groups", "peak", "check"} {
		require.Greater(t, compared[name], 100, name)
	}
}

// A row of a failure has the figures of the JSON.
func TestCSVOfFailures(t *testing.T) {
	s := newScene(t, l1.P150b())
	s.run(20, matmul, circular("{[0-0 - 1-1]}", 1<<21))
	rows, _ := csvOf(t, judged(s.result, nil))
	doc := decoded(t, judged(s.result, nil))
	failures := doc["failures"].([]any)
	require.Len(t, rows, len(failures))
	for i, row := range rows {
		n := requireCells(t, row, "failure", without(memberOf(failures[i]), "verdict"))
		require.Greater(t, n, 5)
		require.Equal(t, memberOf(failures[i], "verdict")["message"], row["failure_verdict_message"])
		require.NotEqual(t, "0", row["failure_over_bytes"])
		require.Equal(t, "does_not_fit", row["answer"])
	}
}

// What differs in JSON is a row each, and no other: the changes of a kind sum up to the same.
func TestCSVOfDiffs(t *testing.T) {
	seen := map[string]int{}
	for name, d := range diffs(t) {
		want, got := map[string]int64{}, map[string]int64{}
		count := func(about string, change int64) { want[about]++; want[about+" bytes"] += change }
		for _, c := range d.Captures {
			if old, now := c.Chip.Old.Base, c.Chip.New.Base; old != now {
				count("chip", int64(now)-int64(old))
			}
			for _, p := range c.Left {
				count("left", p.Change())
			}
		}
		for _, one := range d.Devices {
			for _, f := range one.Figures {
				if f.Old != f.New {
					count("figure", f.Change())
				}
			}
			for _, p := range one.AtPeak {
				count("at_peak", p.Change())
			}
			for _, g := range one.Laid {
				count("peak_group", int64(g.Tracked.New)-int64(g.Tracked.Old))
			}
			for _, g := range one.Groups {
				count("group", int64(g.Registered.New)-int64(g.Registered.Old))
			}
			for _, p := range one.Changes {
				count("program", p.Change())
				for _, cb := range p.CBs {
					count("buffer", number(t, cbCell(cb.New))-number(t, cbCell(cb.Old)))
				}
			}
		}
		count("verdict", d.Sides.New.Failed-d.Sides.Old.Failed)
		count("verdict", int64(bytesAt(d.Sides.New.Peak))-int64(bytesAt(d.Sides.Old.Peak)))
		rows, _ := csvOf(t, render.Diff(d))
		for _, row := range rows {
			requireCells(t, row, "old", map[string]any{"answer": string(d.Sides.Old.Answer), "untold": anys(d.Sides.Old.Untold), "accepted": anys(d.Sides.Old.Accepted)})
			requireCells(t, row, "new", map[string]any{"answer": string(d.Sides.New.Answer), "untold": anys(d.Sides.New.Untold), "accepted": anys(d.Sides.New.Accepted)})
			change := number(t, row["change"])
			got[row["about"]]++
			got[row["about"]+" bytes"] += change
			seen[row["about"]]++
			require.Equal(t, number(t, row["new_value"])-number(t, row["old_value"]), change, "%s: %v", name, row)
			require.NotEmpty(t, row["state"])
		}
		require.Equal(t, want, got, name)
		require.Equal(t, d.Equal || name == "hidden" || name == "accepted", int64(len(rows)) == want["verdict"], name)
	}
	for _, about := range []string{"chip", "figure", "at_peak", "peak_group", "group", "program", "buffer", "left"} {
		require.Positive(t, seen[about], about)
	}
}

func bytesAt(p *diff.Peak) uint64 {
	if p == nil {
		return 0
	}
	return p.Bytes
}

func anys[T any](list []T) []any {
	out := []any{}
	for _, one := range list {
		out = append(out, one)
	}
	return out
}

func cbCell(cb *diff.CBRow) string {
	if cb == nil {
		return ""
	}
	return fmt.Sprint(cb.Bytes)
}

// number is a cell, 0 if it is empty.
func number(t *testing.T, cell string) int64 {
	t.Helper()
	if cell == "" {
		return 0
	}
	n, err := strconv.ParseInt(cell, 10, 64)
	require.NoError(t, err)
	return n
}

// hostileNames are what a spreadsheet, a Markdown viewer or a reader of XML would act on.
func hostileNames() []string {
	return []string{
		`=HYPERLINK("http://x","y")`, "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1", "'quoted", "a,b", `a"b`, "a\nb", "a\r\nb", "a;b",
		"| a | b |", "**bold**", "`code`", "<script>alert(1)</script>", "[x](javascript:1)", "![x](http://x)", "]]>", "&lt;", "\x00\x1b[2J", "\u202e", "\xff",
		"http://example.com", "@everyone", "#1", "{{1}}", "%s%n",
	}
}

// Names are inert wherever they stand.
func TestNamesAreInert(t *testing.T) {
	for _, evil := range hostileNames() {
		s := newScene(t, l1.P150b())
		s.result.File = evil
		s.run(20, evil, circular("{[0-0 - 1-1]}", 1<<21))
		s.result.L1 = []answer.DeviceL1{{ID: known(0), Kind: answer.KindChip, Peak: peakOf(answer.Name(evil))}}
		s.result.Devices = []answer.Device{{ID: known(0), Kind: answer.KindChip, ProgramsDetail: programs(answer.ProgramDetail{Op: answer.Name(evil), Core: 1, Bytes: 1})}}
		documents := []render.Output{
			render.Report(s.result, render.Options{Programs: true}), render.Report(s.result, render.Options{}), render.Peak(s.result),
			judged(s.result, nil),
		}
		for _, d := range documents {
			rows, _ := csvOf(t, d)
			for _, row := range rows {
				for name, cell := range row {
					require.NotContains(t, cell, "\n", name)
					require.NotContains(t, cell, "\x1b", name)
					trimmed := strings.TrimLeft(cell, " ")
					require.False(t, strings.HasPrefix(trimmed, "=") || strings.HasPrefix(trimmed, "+") || strings.HasPrefix(trimmed, "-") ||
						strings.HasPrefix(trimmed, "@") || strings.HasPrefix(trimmed, "＝"), "%s: %q", name, cell)
				}
			}
			var b bytes.Buffer
			require.NoError(t, d.Markdown(&b))
			for _, bad := range []string{"<script", "](javascript", "](http", "**bold**", "`code`", "| a | b |", "\x1b", "http://", "@everyone"} {
				require.NotContains(t, b.String(), bad)
			}
			cells := 0
			for line := range strings.Lines(b.String()) {
				if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); n > 0 {
					require.True(t, cells == 0 || cells == n, "%q has other cells than the line above", line)
					cells = n
				} else {
					cells = 0
				}
			}
		}
		var b bytes.Buffer
		junit := render.NewJUnit(&b)
		require.NoError(t, junit.Add(judged(s.result, nil)))
		require.NoError(t, junit.Refuse(fmt.Errorf("%s: no capture", evil)))
		require.NoError(t, junit.Close())
		requireXML(t, b.String())
	}
}

func requireXML(t *testing.T, text string) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := dec.Token()
		if token == nil {
			require.ErrorContains(t, err, "EOF")
			return
		}
		if start, ok := token.(xml.StartElement); ok {
			require.Contains(t, []string{"testsuites", "testsuite", "testcase", "failure", "error", "system-out"}, start.Name.Local)
		}
	}
}

// An apostrophe that was put in front is taken away again by whoever reads.
func TestCSVNamesComeBack(t *testing.T) {
	for _, name := range []string{"=1", "'=1", "''", "plain", "- x", "a'b"} {
		r := &answer.Result{File: name, L1: []answer.DeviceL1{{ID: known(0), Kind: answer.KindChip}}}
		rows, _ := csvOf(t, render.Report(r, render.Options{}))
		require.Equal(t, name, strings.TrimPrefix(rows[0]["file"], "'"))
		require.Equal(t, strings.ContainsAny(name[:1], "=-'"), strings.HasPrefix(rows[0]["file"], "'"))
	}
}

// The page about CSV names every column, in its order.
func TestCSVColumnsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/csv.md")
	require.NoError(t, err)
	_, basis, ok := strings.Cut(string(page), "```\n") // the columns that the others begin with
	require.True(t, ok)
	basis, _, _ = strings.Cut(basis, "```")
	r := &answer.Result{}
	for verb, d := range map[string]render.Output{
		"report": render.Report(r, render.Options{}), "report --programs": render.Report(r, render.Options{Programs: true}),
		"report --cores": render.Report(r, render.Options{Cores: true}), "check": judged(r, nil), "diff": render.Diff(&diff.Document{}), "peak": render.Peak(r),
	} {
		_, head := csvOf(t, d)
		section, ok := strings.CutPrefix(string(page[strings.Index(string(page), "### `cbl1 "+verb+"`\n"):]), "### `cbl1 "+verb+"`\n")
		require.True(t, ok, verb)
		_, block, ok := strings.Cut(section, "```\n")
		require.True(t, ok, verb)
		block, _, _ = strings.Cut(block, "```")
		if verb != "diff" && verb != "report" {
			block = basis + block
		}
		require.Equal(t, head, braces(block), verb)
	}
}

// braced is a word with braces that have none in them.
var braced = regexp.MustCompile(`([^\s,{}]*)\{([^{}]*)\}((?:[^\s,{}]|\{[^{}]*\})*)`)

// braces returns the words of a text, in which a_{b,c} stands for a_b and a_c, as in a shell.
func braces(text string) []string {
	for braced.MatchString(text) {
		text = braced.ReplaceAllStringFunc(text, func(word string) string {
			m := braced.FindStringSubmatch(word)
			parts := strings.Split(m[2], ",")
			for i, part := range parts {
				parts[i] = m[1] + strings.TrimSpace(part) + m[3]
			}
			return strings.Join(parts, ",")
		})
	}
	return strings.Fields(strings.ReplaceAll(text, ",", " "))
}

func TestBraces(t *testing.T) {
	require.Equal(t, []string{"a_b", "a_c_x", "a_c_y", "d"}, braces("a_{b,c_{x,\n  y}}\nd"))
	require.Equal(t, []string{"a_b", "a_c", "d_b", "d_c"}, braces("{a,d}_{b,c}"))
}

// Golden files of each format, of one capture that fits and one scene that does not.
func TestFormatsGolden(t *testing.T) {
	for _, f := range fixtures(t) {
		if f.name != "repeats" {
			continue
		}
		r := f.replay(t)
		var b bytes.Buffer
		for _, d := range []render.Output{render.Report(r, render.Options{}), render.Report(r, render.Options{Programs: true}),
			render.Report(r, render.Options{Cores: true}), render.Peak(r), judged(r, nil)} {
			require.NoError(t, d.CSV(&b, true))
		}
		requireGolden(t, "csv_repeats", b.String())
		b.Reset()
		require.NoError(t, render.Report(r, render.Options{Programs: true, Cores: true}).Markdown(&b))
		requireGolden(t, "markdown_repeats", b.String())
		b.Reset()
		s := newScene(t, l1.P150b())
		s.run(20, matmul, circular("{[0-0 - 10-9]}", 1<<21))
		require.NoError(t, judged(s.result, budget(t, "80%")).Markdown(&b))
		requireGolden(t, "markdown_check", b.String())
		b.Reset()
		junit := render.NewJUnit(&b)
		require.NoError(t, junit.Add(judged(s.result, budget(t, "80%"))))
		require.NoError(t, junit.Add(judged(r, nil)))
		s.result.Checks, s.result.Anomalies = answer.Checks{}, []answer.AnomalyCount{{Code: answer.CodeNotShown, Count: 1, Hidden: true}}
		require.NoError(t, junit.Add(judged(s.result, nil)))
		require.NoError(t, junit.Refuse(fmt.Errorf("x.json: empty")))
		require.NoError(t, junit.Close())
		requireXML(t, b.String())
		requireGolden(t, "junit", b.String())
	}
}

// On a terminal, tables keep to its width; names get what is free.
func TestTablesFollowTheTerminal(t *testing.T) {
	longest := 0
	for _, f := range fixtures(t) {
		r := f.replay(t)
		for _, columns := range []int{80, 120, 200} {
			for _, d := range []render.Output{render.Report(r, render.Options{Programs: true}), render.Peak(r), judged(r, nil)} {
				var b bytes.Buffer
				require.NoError(t, d.Text(&b, columns))
				for i, line := range strings.Split(b.String(), "\n") {
					if i == 0 || strings.Contains(line, f.name+".json") || strings.Contains(line, "per core first") || strings.Contains(line, "(CBs share bytes)") { // sentences
						continue
					}
					require.LessOrEqual(t, len(line), columns, "%s: %s", f.name, line)
					longest = max(longest, len(line))
				}
			}
		}
	}
	require.Greater(t, longest, 150, "names get what is free")
}
