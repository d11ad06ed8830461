package page

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/replay"
)

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

func replayed(t *testing.T, name, text string) *replay.Result {
	t.Helper()
	in := capture.NewReader(strings.NewReader(`{"event":"log","version":1}`+"\n"+text), name)
	r, err := replay.Run(name, in.Events(capture.Options{}), replay.Options{})
	require.NoError(t, err)
	return r
}

// The head of a page says the worst answer: of the first capture that does not fit, else of the last
// one of which it cannot be told.
func TestHeadOfPage(t *testing.T) {
	a, b, c, d := replayed(t, "<a>", fits), replayed(t, "b", fits+unseen), replayed(t, "c", fits+large), replayed(t, "d", fits+large+unseen)
	const unplaced = "Does not fit|c: Statically allocated circular buffers on core range [0-0 - 0-0] grow to 2103712 B " +
		"which is beyond max L1 size of 1499136 B"
	for _, one := range []struct {
		results []*replay.Result
		terms   replay.Terms
		want    string
	}{
		{nil, replay.Terms{}, "cbl1|fits|no capture||"},
		{[]*replay.Result{a}, replay.Terms{}, "&lt;a&gt; - cbl1|fits|&lt;a&gt;|Fits|1 program run checked"},
		{[]*replay.Result{a, b}, replay.Terms{}, "&lt;a&gt; - cbl1|cannot_tell|&lt;a&gt; and 1 more|Cannot tell|b: 1 program run checked, and what is known fits"},
		{[]*replay.Result{b, a}, replay.Terms{}, "b - cbl1|cannot_tell|b and 1 more|Cannot tell|b: 1 program run checked, and what is known fits"},
		{[]*replay.Result{b, c, a}, replay.Terms{}, "b - cbl1|does_not_fit|b and 2 more|" + unplaced},
		{[]*replay.Result{c, b, d}, replay.Terms{}, "c - cbl1|does_not_fit|c and 2 more|" + unplaced},
		{[]*replay.Result{b}, replay.Terms{Accept: []replay.Code{"not-shown"}}, "b - cbl1|fits|b|Fits apart from what was accepted (not-shown)|1 program run checked"},
	} {
		var text bytes.Buffer
		require.NoError(t, Write(&text, one.results, one.terms, nil))
		found := regexp.MustCompile(`(?s)<title>(.*?)</title>.*<header class="answer (.*?)">\s*<p class="eyebrow">(.*?)</p>\s*` +
			`<h1>(.*?)</h1>\s*<p class="lead">(.*?)</p>`).FindStringSubmatch(text.String())
		require.Equal(t, one.want, strings.Join(found[1:], "|"))
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
