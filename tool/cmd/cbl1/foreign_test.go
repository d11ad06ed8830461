package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	safe "github.com/cbl1/cbl1/internal/shown" // tests have a function of its name
)

// Foreign text steers a terminal, ends lines, turns the direction of writing, and looks like markup.
const (
	mark    = "EVIL"
	markup  = "<b>|`]]>"
	foreign = mark + "\x1b[2J\r\n\t\x07\x7f\u0085\u009b31m\u202e\u2066\u200f\ufeff\u2028" + markup + "&\"'=\\"
)

// TestForeignText plants foreign text in each text of each source. It reaches no terminal, browser or
// spreadsheet as it is: in no verb, no format, no message. JSON has it exactly. The first input of a
// source has it in many places at once and meets all questions. An input that has it in one place meets
// some, and all of them with -hammer.
func TestForeignText(t *testing.T) {
	const some = 29
	for _, source := range foreignSources(t) {
		t.Run(source.name, func(t *testing.T) {
			folder := t.TempDir()
			files := map[string]string{"FILE": filepath.Join(folder, source.name), "OTHER": filepath.Join(folder, "other.json"), "LOG": filepath.Join(folder, "log")}
			require.NoError(t, os.WriteFile(files["OTHER"], []byte(graph("ttnn.add", goodCB)), 0o600))
			require.NoError(t, os.WriteFile(files["LOG"], []byte(foreignMessages), 0o600))
			seen, exact := 0, 0
			for i, input := range source.inputs {
				require.NoError(t, os.WriteFile(files["FILE"], input, 0o600))
				for k, q := range source.questions {
					if i > 0 && (i+k)%some != 0 && !*hammer {
						continue
					}
					stdout, there := q.ask(t, files)
					n := q.requireInert(t, stdout)
					if i == 0 {
						exact += n
					}
					if i == 0 && there {
						seen++
					}
				}
			}
			require.GreaterOrEqual(t, seen, source.seen, "answers with text of the first input")
			require.GreaterOrEqual(t, exact, source.exact, "names of it in JSON")
		})
	}
}

// A foreignSource has foreign text in its inputs: the first one in many places, the others in one.
type foreignSource struct {
	name      string // of its file
	inputs    [][]byte
	questions []question
	seen      int // at least so many answers about the first input show foreign text
	exact     int // and so many strings of their JSON have it exactly
}

// A question is a call of the command. FILE stands for the input, OTHER for a capture and LOG for
// messages without foreign text.
type question struct {
	verb, rest string
	format     string // of the answer
}

func inFormats(verb, rest, formats string) (out []question) {
	for format := range strings.FieldsSeq(formats) {
		out = append(out, question{verb + " --format " + format, rest, format})
	}
	return out
}

// runQuestions are all verbs and formats for captures, logs and databases.
func runQuestions() (out []question) {
	for _, verb := range []string{"report --programs --cores", "check", "check --budget 1B"} {
		out = append(out, inFormats(verb, "FILE", "text json csv markdown")...)
	}
	for _, verb := range []string{"room", "room --size 64KiB", "map"} {
		out = append(out, inFormats(verb, "FILE", "text json")...)
	}
	out = append(out, inFormats("peak", "FILE", "text json csv")...)
	out = append(out, inFormats("check", "FILE", "junit")...)
	out = append(out, inFormats("check --budget 1B", "FILE", "junit")...)
	out = append(out, inFormats("map", "FILE", "svg")...)
	out = append(out, inFormats("map --core 0-0", "FILE", "text svg")...)
	out = append(out, inFormats("who", "FILE 111616", "text json")...)
	out = append(out, inFormats("explain", "--with FILE LOG", "text json")...)
	out = append(out, inFormats("watch --once", "FILE", "text json")...)
	out = append(out, diffQuestions()...)
	return append(out, question{"page", "FILE", "page"}, question{"convert", "FILE", "json"}, question{"stream", "FILE", "json"},
		question{"export perfetto -o -", "FILE", "binary"})
}

func diffQuestions() []question {
	out := append(inFormats("diff", "FILE OTHER", "text json csv markdown"), inFormats("diff --max-growth 1B", "OTHER FILE", "text json csv markdown")...)
	return append(out, question{"page --against FILE", "OTHER", "page"})
}

// ask puts the question. It returns the answer, and whether foreign text stands in it or in a message.
func (q question) ask(t *testing.T, files map[string]string) (stdout string, seen bool) {
	t.Helper()
	args := strings.Fields(q.verb + " " + q.rest)
	for i, arg := range args {
		if file, ok := files[arg]; ok {
			args[i] = file
		}
	}
	_, stdout, stderr := call("", args...)
	q.requireVisible(t, stderr)
	return stdout, strings.Contains(stdout+stderr, mark)
}

// requireVisible wants lines that a terminal shows as they stand.
func (q question) requireVisible(t *testing.T, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if safe.Visible(line) != line {
			require.Fail(t, "steers a terminal", "%s: %q", q.verb, line)
		}
	}
}

// requireInert wants no sign in an answer that a terminal, a browser or a spreadsheet follows. It returns
// how many strings of JSON have foreign text exactly.
func (q question) requireInert(t *testing.T, stdout string) (exact int) {
	t.Helper()
	switch q.format {
	case "binary":
	case "json":
		return q.exact(t, stdout)
	case "page":
		steers := func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
		}
		if strings.ContainsFunc(stdout, steers) || strings.Contains(stdout, markup) {
			require.Fail(t, "signs or markup on a page", "%s", q.verb)
		}
	case "markdown", "svg", "junit":
		require.NotContains(t, stdout, markup, q.verb)
		q.requireVisible(t, stdout)
	default:
		q.requireVisible(t, stdout)
	}
	return 0
}

// exact wants lines of JSON in ASCII, and returns how many strings have foreign text as it was given.
func (q question) exact(t *testing.T, stdout string) (n int) {
	t.Helper()
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			n += strings.Count(v, foreign)
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for key, x := range v {
				walk(key)
				walk(x)
			}
		}
	}
	for line := range strings.Lines(stdout) {
		if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return r < ' ' || r > '~' }) {
			require.Fail(t, "JSON is not in ASCII", "%s: %q", q.verb, line)
		}
		var v any
		require.NoError(t, json.Unmarshal([]byte(line), &v), q.verb)
		walk(v)
	}
	return n
}
