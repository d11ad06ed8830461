package cpp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay/session"
)

// A value is one of an answer that is no object and no list.
type value struct {
	key string
	v   any
}

// valuesOf returns the values of an answer, in its order.
func valuesOf(t *testing.T, line string) (out []value) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	type level struct{ object, key bool } // key: the next text is one
	var levels []level
	key := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err, line)
		top := len(levels) - 1
		switch delim, is := token.(json.Delim); {
		case is && (delim == '{' || delim == '['):
			levels = append(levels, level{delim == '{', delim == '{'})
			continue
		case is:
			levels = levels[:top]
			top--
		case top >= 0 && levels[top].key:
			key, levels[top].key = token.(string), false
			continue
		default:
			out = append(out, value{key, token})
		}
		if top >= 0 {
			levels[top].key = levels[top].object
		}
	}
}

// TestAnswer: the header reads each value of the answers to the log that other implementations are tested with, and of
// lines with odd texts; nothing in lines that are cut.
func TestAnswer(t *testing.T) {
	log, err := os.ReadFile("../event/testdata/conformance.jsonl")
	require.NoError(t, err)
	var answers bytes.Buffer
	require.NoError(t, new(session.Session).Stream(event.NewLog(bytes.NewReader(log), "log").Events(), &answers))
	odd := `{"answer":"error","error":"a \"q\" \\ \/ \b\f\n\r\t \u00e9 \u20ac \ud83d\ude00 {}[],:","n":18446744073709551615,"fits":true,"null":null}` + "\n"
	lines := strings.Split(strings.TrimSuffix(answers.String()+odd, "\n"), "\n")
	var asked strings.Builder
	var wants []string
	ask := func(key string, n int, line, want string) {
		fmt.Fprintf(&asked, "%s %d\t%s\n", key, n, line)
		wants = append(wants, want)
	}
	for _, line := range lines {
		seen := map[string]int{}
		first := map[string]any{}
		for _, v := range valuesOf(t, line) {
			text := fmt.Sprint(v.v)
			if v.v == nil {
				text = "null"
			}
			number := text
			if _, is := v.v.(json.Number); !is {
				number = "?"
			}
			n := seen[v.key]
			if n == 0 {
				first[v.key] = v.v
			}
			ask(v.key, n, line, fmt.Sprintf("%s %d %q", number, map[bool]int{true: 1}[first[v.key] == true], text))
			seen[v.key]++
		}
		for key, n := range seen {
			ask(key, n, line, fmt.Sprintf("0 %d \"\"", map[bool]int{true: 1}[first[key] == true]))
		}
	}
	for cut := range odd {
		ask("fits", 1, strings.TrimSuffix(odd[:cut], "\n"), "")
	}
	for _, compiler := range compilers(t) {
		flags := slices.Concat(strict, []string{"-std=c++17", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"})
		cmd := exec.Command(compile(t, compiler, "testdata/answers.cpp", header(t), flags...))
		cmd.Stdin = strings.NewReader(asked.String())
		out, err := cmd.Output()
		require.NoError(t, err)
		got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		require.Len(t, got, len(wants))
		for i, want := range wants {
			if want == "" { // of a cut line: that it does not crash is enough
				continue
			}
			var is string
			all := strings.SplitN(got[i], " ", 3)
			require.NoError(t, json.Unmarshal([]byte(all[2]), &is))
			if strings.HasPrefix(want, "?") { // a text that is no number
				all[0] = "?"
			}
			require.Equal(t, want, fmt.Sprintf("%s %s %q", all[0], all[1], is), strings.Split(asked.String(), "\n")[i])
		}
	}
}
