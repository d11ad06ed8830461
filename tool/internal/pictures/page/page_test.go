package page_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/pictures/page"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

// block returns the data block of a page.
func block(t testing.TB, text string) string {
	t.Helper()
	found := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindAllStringSubmatch(text, -1)
	require.Len(t, found, 1)
	require.True(t, json.Valid([]byte(found[0][1])))
	return found[0][1]
}

// The same results make the same bytes.
func TestDeterministic(t *testing.T) {
	r := read(t, "../../../../examples/cached_ops.json")
	require.Equal(t, written(t, nil, r), written(t, nil, read(t, "../../../../examples/cached_ops.json")))
}

// A page without a capture, and one of a capture without anything, are pages.
func TestNothing(t *testing.T) {
	require.Contains(t, written(t, nil), "<h1>Cannot tell</h1>")
	require.Contains(t, written(t, nil, log(t)), "<h1>Cannot tell</h1>")
}

// hostile are names as a file may have them, and a log that has them everywhere.
func hostile() ([]string, []string) {
	names := []string{
		`</script><script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `<!--<script>`, `]]>'"&amp;&lt;`, "\u202eevil\u2066", `javascript:alert(1)`,
		`"><svg/onload=alert(1)>`, `${alert(1)}`, `{{.}}`, "a\u2028b\u2029c\u0000\u001b[31m", `__proto__`, `constructor`, `$r`, "e" + strings.Repeat("\u0301", 50), strings.Repeat("x", 70_000),
	}
	lines := []string{`{"event":"mesh","first":0,"rows":1,"cols":2,"spec":{"board":"n150"}}`}
	for i, name := range names {
		text, _ := json.Marshal(name) // a string can be written
		lines = append(lines, fmt.Sprintf(`{"event":"op_start","name":%s}`, text),
			fmt.Sprintf(`{"event":"program","program":%d,"name":%s,"cbs":[{"cores":"[0-0 - 1-1]","size":%d}]}`, i, text, 4096*(i+1)),
			fmt.Sprintf(`{"event":"allocate","buffer":%d,"kind":"l1","name":%s,"parts":[{"cores":"0-0","address":%d,"size":64}]}`, i, text, 1_400_000-64*i),
			fmt.Sprintf(`{"event":"enqueue","program":%d}`, i))
	}
	big, _ := json.Marshal(names[1])
	return names, append(lines, fmt.Sprintf(`{"event":"allocate","buffer":99,"kind":"l1","name":%s,"parts":[{"address":120000,"size":64}]}`, big), `{"event":"enqueue","program":12}`)
}

// tags are those of a page with their attributes, each once, but for the policy and the
// answer, which differ from page to page.
func tags(text string) []string {
	text = regexp.MustCompile(`(?s)<script>.*</script>|<style>.*</style>`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`class="answer \w+"`).ReplaceAllString(text, "")
	return slices.Compact(slices.Sorted(slices.Values(regexp.MustCompile(`<[^>]*`).FindAllString(text, -1))))
}

// Markup in names is text wherever it stands: no page has another element for it, and none
// a script or style that its policy does not name.
func TestHostileNames(t *testing.T) {
	_, lines := hostile()
	r := log(t, lines...)
	r.File = `<script>alert("file")</script>`
	require.NotEmpty(t, r.Checks.List)
	text := written(t, diff.Compare([]*diff.Run{diff.Of(r)}, []*diff.Run{diff.Of(log(t, lines[:9]...))}, diff.Terms{}), r)
	require.Equal(t, tags(written(t, nil, read(t, "../../../../examples/events.jsonl"))), tags(text))
	require.Equal(t, 2, strings.Count(text, "<script"))
	require.Equal(t, 2, strings.Count(text, "</script"))
	require.NotRegexp(t, ` on\w+="| style="|<a |src="`, strings.Split(text, "<script>")[0])
	require.Less(t, len(text), page.MaxBytes)
	policy := regexp.MustCompile(`content="(default-src[^"]*)"`).FindStringSubmatch(text)[1]
	require.Regexp(t, `^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; img-src data:; base-uri 'none'; form-action 'none'$`, policy)
}

// full is what a page has to bear, at its size.
func TestFullLoad(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("needs a run without -short and without the race detector: it replays 100,000 events on 32 devices")
	}
	for name, lines := range map[string][]string{"equal devices": full(false), "devices that differ": full(true)[:10_000]} {
		begun := time.Now()
		r := log(t, lines...)
		replayed := time.Since(begun)
		begun = time.Now()
		text := written(t, nil, r)
		t.Logf("%s: %d events replayed in %v; a page of %d bytes written in %v", name, r.Nodes, replayed, len(text), time.Since(begun))
		require.LessOrEqual(t, len(text), page.MaxBytes)
		require.Greater(t, len(text), 300_000)
		b := newBrowser(t)
		t.Logf("loaded in %v", b.open(saved(t, text), 1280, 900))
		b.quiet(name)
		require.EqualValues(t, 140, b.eval(`document.querySelectorAll("#cores .grid button").length`))
		require.Regexp(t, `^[245],\d\d\d rows`, b.eval(`document.querySelector("#tables .note").textContent`))
		begun = time.Now()
		b.eval(`[...document.querySelectorAll("#tables .choice button")].find((e) => e.textContent === "CBs").click()`)
		b.eval(`const f = document.querySelector("#tables input"); f.value = "operation_7"; f.dispatchEvent(new Event("input"))`)
		require.Regexp(t, `of [123]\d,\d\d\d rows`, b.eval(`document.querySelector("#tables .note:not(.basis)").textContent`))
		t.Logf("all CBs listed and filtered in %v", time.Since(begun))
		b.quiet(name)
		picture(t, b, "full-"+strings.Fields(name)[0])
	}
}

// No page can be too large: lists are cut, and say so.
func TestTooLarge(t *testing.T) {
	var lines []string
	lines = append(lines, `{"event":"device","device":0,"spec":{"board":"n150"}}`)
	for i := range 9000 {
		lines = append(lines, fmt.Sprintf(`{"event":"program","program":%d,"name":"%d%s","cbs":[{"cores":"0-0","size":%d}]}`, i, i, strings.Repeat("long ", 100), 64*(i+1)), fmt.Sprintf(`{"event":"register","program":%d}`, i))
	}
	text := written(t, nil, log(t, lines...))
	require.LessOrEqual(t, len(text), page.MaxBytes)
	require.Contains(t, block(t, text), `"programs_more":6952`)
}
