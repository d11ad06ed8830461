package page

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

// A page about no capture is not green.
func TestPageOfNothing(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Write(&b, nil, answer.Terms{}, nil))
	require.Contains(t, b.String(), `<header class="answer cannot_tell">`)
	require.Contains(t, b.String(), `<p class="lead">there is no capture to look at</p>`)
}

// What is packed, to the byte: numbers on each side of what a double holds, tables, and values that
// stand in several places.
func TestPackByHand(t *testing.T) {
	const long = `{"a":"twenty bytes at least"}`
	for _, c := range []struct{ doc, want string }{
		{`[9007199254740991,9007199254740992,9007199254740993]`, `{"v":[9007199254740991,9007199254740992,{"$i":"9007199254740993"}],"r":[]}`},
		{`[-9007199254740992,-9007199254740993]`, `{"v":[-9007199254740992,{"$i":"-9007199254740993"}],"r":[]}`},
		{`[9223372036854775807,18446744073709551615]`, `{"v":[{"$i":"9223372036854775807"},{"$i":"18446744073709551615"}],"r":[]}`},
		{`[18446744073709551616,1.5,0.10,1e400]`, `{"v":[{"$t":"18446744073709551616"},1.5,{"$t":"0.10"},{"$t":"1e400"}],"r":[]}`},
		{`[{},{},{}]`, `{"v":[{},{},{}],"r":[]}`},
		{`[{"a":1},{"a":2}]`, `{"v":[{"a":1},{"a":2}],"r":[]}`},
		{`[{"a":1,"b":0},{"a":2,"b":0},{"a":1,"b":0}]`, `{"v":{"$c":{"a":[1,2,1],"b":{"$k":0}},"$n":3},"r":[]}`},
		{`[{"a":1},{"b":1},{"a":1}]`, `{"v":[{"a":1},{"b":1},{"a":1}],"r":[]}`},
		{`[{"a":1},{"a":1,"b":1},{"a":1}]`, `{"v":[{"a":1},{"a":1,"b":1},{"a":1}],"r":[]}`},
		{`[{"a":null},{"a":null},{"a":7}]`, `{"v":{"$c":{"a":[null,null,7]},"$n":3},"r":[]}`},
		{`[{"a":[]},{"a":[]},{"a":[]}]`, `{"v":{"$c":{"a":[[],[],[]]},"$n":3},"r":[]}`},
		{`[` + long + `,` + long + `]`, `{"v":[{"$r":0},{"$r":0}],"r":[` + long + `]}`},
		{`[{"a":"b"},{"b":"b"},["b"],"b"]`, `{"v":[{"a":"b"},{"b":"b"},["b"],"b"],"r":[]}`},
	} {
		packed, err := pack([]byte(c.doc))
		require.NoError(t, err)
		require.Equal(t, c.want, string(packed), c.doc)
	}
}

const (
	fits = `{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"program","program":1,"name":"add","cbs":[{"cores":"0-0","size":64}]}
{"event":"enqueue","program":1}
`
	large = `{"event":"program","program":2,"name":"big","cbs":[{"cores":"0-0","size":2000000}]}
{"event":"enqueue","program":2}
`
	unseen = `{"event":"hidden","code":"not-shown","count":1}` + "\n"
)

func replayed(t *testing.T, name, text string) *answer.Result {
	t.Helper()
	in := capture.NewReader(strings.NewReader(`{"event":"log","version":1}`+"\n"+text), name)
	r, err := replay.Run(name, in.Events(capture.Options{}), replay.Options{})
	require.NoError(t, err)
	return r
}

// Each capture has a headline. The page shows the worst: of the first capture that does not fit, else of the last one
// with "cannot tell".
func TestHeadOfPage(t *testing.T) {
	a, b, c, d := replayed(t, "<a>", fits), replayed(t, "b", fits+unseen), replayed(t, "c", fits+large), replayed(t, "d", fits+large+unseen)
	long := strings.Repeat("far/", 15) + "x.json" // 66 bytes
	far := replayed(t, long, fits)
	const unplaced = "Does not fit|Statically allocated circular buffers on core range [0-0 - 0-0] grow to 2103712 B " +
		"which is beyond max L1 size of 1499136 B"
	for _, one := range []struct {
		results []*answer.Result
		terms   answer.Terms
		want    string
	}{
		{nil, answer.Terms{}, "cbl1|cannot_tell|no capture|Cannot tell|there is no capture to look at"},
		{[]*answer.Result{a}, answer.Terms{}, "&lt;a&gt; - cbl1|fits|&lt;a&gt;|Fits|1 run, tightest 1,395,360 bytes: add (event 3); placed?"},
		{[]*answer.Result{far}, answer.Terms{}, "..." + long[9:] + " - cbl1|fits|" + long + "|Fits|1 run, tightest 1,395,360 bytes: add (event 3); placed?"},
		{[]*answer.Result{a, b}, answer.Terms{}, "&lt;a&gt; - cbl1|cannot_tell|b, 2 of 2 captures|Cannot tell|1 run, and what is known fits; placed?"},
		{[]*answer.Result{b, a}, answer.Terms{}, "b - cbl1|cannot_tell|b, 1 of 2 captures|Cannot tell|1 run, and what is known fits; placed?"},
		{[]*answer.Result{b, c, a}, answer.Terms{}, "b - cbl1|does_not_fit|c, 2 of 3 captures|" + unplaced},
		{[]*answer.Result{c, b, d}, answer.Terms{}, "c - cbl1|does_not_fit|c, 1 of 3 captures|" + unplaced},
		{[]*answer.Result{b}, answer.Terms{Accept: []answer.Code{"not-shown"}}, "b - cbl1|fits|b|Fits apart from what was accepted (not-shown)|1 run, tightest 1,395,360 bytes: add (event 3); placed?"},
	} {
		var text bytes.Buffer
		require.NoError(t, Write(&text, one.results, one.terms, nil))
		found := regexp.MustCompile(`(?s)<title>(.*?)</title>.*<header class="answer (.*?)">\s*<p class="eyebrow">(.*?)</p>\s*` +
			`<h1>(.*?)</h1>\s*<p class="lead">(.*?)</p>`).FindStringSubmatch(text.String())
		require.Equal(t, one.want, strings.Join(found[1:], "|"))
		require.Equal(t, max(1, len(one.results)), strings.Count(text.String(), "<header "))
		var verbs []string
		for _, r := range one.results {
			name := html.EscapeString(r.File)
			verbs = append(verbs, "check "+name, "report "+name, "peak "+name)
		}
		var said []string
		for _, m := range regexp.MustCompile(`<code>cbl1 (.*?)</code>`).FindAllStringSubmatch(text.String(), -1) {
			said = append(said, m[1])
		}
		require.Equal(t, verbs, said)
	}
}

// Values that stand twice are shared from 20 bytes on, about: a text and two more, an object with its members.
func TestPackSharesFrom20Bytes(t *testing.T) {
	for value, shared := range map[string]bool{
		`"a text of 16 by!"`: true, `"a text of 15 by"`: false, `{"a member of ":1}`: true, `{"a member ":1}`: false, `["nine by!!",1]`: true, `["nine by!",1]`: false,
	} {
		packed, err := pack([]byte("[[" + value + "]," + value + "]"))
		require.NoError(t, err)
		want := "{\"v\":[[" + value + "]," + value + "],\"r\":[]}"
		if shared {
			want = `{"v":[[{"$r":0}],{"$r":0}],"r":[` + value + `]}`
		}
		require.Equal(t, want, string(packed))
	}
	_, err := pack([]byte(`{"a":`))
	require.Error(t, err)
}

// A list is cut by halves until the page has room for the data, and to one row if it never has.
func TestBlockIsCut(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"event":"device","device":0,"spec":{"board":"n150"}}` + "\n")
	for p := range 40 {
		fmt.Fprintf(&text, `{"event":"program","program":%d,"name":"operation %d","cbs":[{"cores":"0-0","size":%d}]}`+"\n"+`{"event":"enqueue","program":%d}`+"\n", p, p*p, 64*(p+1), p)
	}
	results := []*answer.Result{replayed(t, "log", text.String())}
	of := func(room int) string {
		data, err := block(results, answer.Terms{}, nil, room)
		require.NoError(t, err)
		return string(data)
	}
	all := of(1 << 30)
	require.Equal(t, all, of(len(all)))
	half := of(len(all) - 1)
	require.Less(t, len(half), len(all))
	require.Contains(t, all, "operation 1521")
	least := of(1)
	require.Less(t, len(least), len(half))
	require.Equal(t, least, of(-1))
	require.Equal(t, least, of(len(least)))
}

// failing takes so many writes.
type failing struct{ writes int }

func (f *failing) Write(b []byte) (int, error) {
	if f.writes--; f.writes < 0 {
		return 0, errFull
	}
	return len(b), nil
}

var errFull = errors.New("full")

// The error of whoever is written to is that of Write, wherever it comes.
func TestWriteFails(t *testing.T) {
	results := []*answer.Result{replayed(t, "log", fits)}
	n := 0
	for ; errors.Is(Write(&failing{n}, results, answer.Terms{}, nil), errFull); n++ {
		require.Less(t, n, 100)
	}
	require.Greater(t, n, 5)
	require.NoError(t, Write(&failing{n}, results, answer.Terms{}, nil))
}

// The whole page about two logs with long names and what changed between them, without its style, script and
// data, and what the command prints in full. -update writes it anew: review the difference.
func TestFrame(t *testing.T) {
	long := strings.Repeat("a long name of a file & ", 5)
	old, changed := replayed(t, long+"1", fits), replayed(t, long+"2", fits+large)
	d := diff.Compare([]*diff.Run{diff.Of(old)}, []*diff.Run{diff.Of(changed)}, diff.Terms{})
	var text bytes.Buffer
	require.NoError(t, Write(&text, []*answer.Result{old, changed}, answer.Terms{}, d))
	got := text.String()
	for _, part := range []string{style, script} {
		require.Equal(t, 1, strings.Count(got, part))
		got = strings.Replace(got, part, "...", 1)
	}
	for _, d := range []render.Output{
		render.Check(old, old.Judge(answer.Terms{})).Detailed(), render.Report(old, render.Options{}), render.Peak(old).Detailed(),
		render.Check(changed, changed.Judge(answer.Terms{})).Detailed(), render.Report(changed, render.Options{}), render.Peak(changed).Detailed(), render.Diff(d),
	} {
		var said strings.Builder
		require.NoError(t, d.Text(&said, 100))
		pre := `<pre tabindex="0">` + html.EscapeString(said.String()) + "</pre>"
		require.Equal(t, 1, strings.Count(got, pre))
		got = strings.Replace(got, pre, "<pre>...</pre>", 1)
	}
	got = regexp.MustCompile(`sha256-[^']*`).ReplaceAllString(got, "sha256-...")
	got = regexp.MustCompile(`id="data">.*</script>`).ReplaceAllString(got, `id="data">...</script>`)
	testkit.Golden(t, flag.Lookup("update").Value.String() == "true", "testdata/frame.golden", got)
	require.Equal(t, "Fits.", upper("fits."))
	require.Equal(t, "", upper(""))
}
