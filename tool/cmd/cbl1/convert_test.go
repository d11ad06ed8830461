package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/guard/oracle/randomcapture"
)

// questions are put to a capture and to a log that was made of it.
func questions() [][]string { return append(jsonQuestions(), textQuestions()...) }

// jsonQuestions have answers with all figures. An address of the first circular buffers and
// one of tensors are among them.
func jsonQuestions() [][]string {
	return [][]string{
		{"report", "--format", "json"}, {"check", "--format", "json"}, {"peak", "--format", "json"}, {"room", "--format", "json"},
		{"who", "112000", "--format", "json"}, {"who", "1568768", "--format", "json"},
	}
}

// textQuestions have answers in words, which are made of the same figures.
func textQuestions() [][]string {
	return [][]string{
		{"report", "--programs", "--cores"}, {"check"}, {"check", "--budget", "50%"}, {"peak"}, {"room", "--size", "700000"}, {"who", "112000"},
	}
}

// someQuestions returns the questions with all figures, and one in words, in turn. At night
// it returns all.
func someQuestions(turn int) [][]string {
	if testkit.Nightly() {
		return questions()
	}
	words := textQuestions()
	return append(jsonQuestions(), words[turn%len(words)])
}

// drawQuestions returns some questions at random.
func drawQuestions(t *rapid.T) [][]string {
	return someQuestions(rapid.IntRange(0, len(textQuestions())-1).Draw(t, "question"))
}

// requireSame converts an input, in the current folder, and compares the answers about both. The names of the two
// files are equally long, since text is wrapped by its length.
func requireSame(t require.TestingT, data []byte, questions [][]string, flags ...string) {
	const capture, log = "a.json", "b.json"
	require.NoError(t, os.WriteFile(capture, data, 0o600))
	code, stdout, stderr := call("", append([]string{"convert", "-o", log, capture}, flags...)...)
	require.Equal(t, exitOK, code, stderr)
	require.Empty(t, stdout)
	for _, q := range questions {
		of := func(name string, flags ...string) (int, string, string) {
			args := append([]string{q[0], name}, q[1:]...)
			return call("", append(args, flags...)...)
		}
		wantCode, want, wantErr := of(capture, flags...)
		code, got, stderr := of(log)
		require.Equal(t, wantCode, code, "%s", q)
		require.Equal(t, want, strings.ReplaceAll(got, log, capture), "%s", q)
		require.Equal(t, wantErr, strings.ReplaceAll(stderr, log, capture), "%s", q)
	}
}

// TestConvertKeepsAnswers: a log that was made of a capture or log is answered about
// as the input is, byte for byte, and needs none of the flags with which it was made. A capture gets flags in turn.
func TestConvertKeepsAnswers(t *testing.T) {
	inputs := fixtures(t)
	t.Chdir(t.TempDir())
	for i, in := range inputs {
		t.Run(filepath.Base(in.name), func(t *testing.T) {
			flags := [][]string{nil, {"--no-infer"}, {"--arch", "wormhole", "--base", "104000", "--set", "align=64", "--l1-small", "8192", "--set", "l1=1400000"}}
			switch {
			case in.log:
				flags = flags[:1]
			case !testkit.Nightly():
				flags = flags[i%len(flags):][:1]
			}
			for _, f := range flags {
				requireSame(t, in.data, someQuestions(i), f...)
			}
		})
	}
}

// TestConvertKeepsAnswersOfRandomCaptures: the same of captures that nobody thought of.
func TestConvertKeepsAnswersOfRandomCaptures(t *testing.T) {
	t.Chdir(t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
		data := randomcapture.Draw(pick)
		if rapid.IntRange(0, 2).Draw(t, "spoil") == 0 {
			data = randomcapture.Spoil(pick, data)
		}
		var flags []string
		if rapid.IntRange(0, 2).Draw(t, "infer") == 0 {
			flags = append(flags, "--no-infer")
		}
		requireSame(t, data, drawQuestions(t), flags...)
	})
}

// TestConvertLeavesNothingBroken: a capture that cannot be read to its end makes no file, and nothing on standard
// output. The questions of a moment before the cut have no answer either.
func TestConvertLeavesNothingBroken(t *testing.T) {
	data, err := os.ReadFile("../../capture/testdata/repeats.json")
	require.NoError(t, err)
	folder := t.TempDir()
	cut, to := filepath.Join(folder, "cut.json"), filepath.Join(folder, "log.jsonl")
	require.NoError(t, os.WriteFile(cut, data[:len(data)/2], 0o600))
	code, stdout, stderr := call("", "convert", cut, "-o", to)
	require.Equal(t, exitUsage, code)
	require.Empty(t, stdout)
	requireOneLine(t, stderr)
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, left, 1)

	for _, args := range [][]string{{"convert", "-"}, {"map", "--at", "4", "-"}, {"who", "--at", "4", "-", "111616"}} {
		code, stdout, stderr = call(string(data[:len(data)/2]), args...)
		require.Equal(t, exitUsage, code, "%v", args)
		require.Empty(t, stdout, "%v", args)
		requireOneLine(t, stderr)
	}

	code, _, stderr = call("", "convert", "../../capture/testdata/ranks")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "has 2 captures")
}

// TestConvertWritesOverNothingElse: neither the input nor a folder is replaced, and a
// device is written to.
func TestConvertWritesOverNothingElse(t *testing.T) {
	data, err := os.ReadFile("../../capture/testdata/repeats.json")
	require.NoError(t, err)
	folder := t.TempDir()
	input := filepath.Join(folder, "run.json")
	require.NoError(t, os.WriteFile(input, data, 0o600))
	for to, says := range map[string]string{input: "is the input", folder: "is a folder"} {
		code, stdout, stderr := call("", "convert", input, "-o", to)
		require.Equal(t, exitUsage, code)
		require.Empty(t, stdout)
		requireOneLine(t, stderr)
		require.Contains(t, stderr, says)
	}
	// The same file by other ways: as standard input, and as standard output.
	for _, args := range [][]string{{"convert", "-", "-o", input}, {"convert", "-"}, {"convert", input}} {
		file, err := os.OpenFile(input, os.O_RDWR|os.O_APPEND, 0)
		require.NoError(t, err)
		var stderr bytes.Buffer
		require.Equal(t, exitUsage, run(args, file, file, &stderr))
		require.NoError(t, file.Close())
		requireOneLine(t, stderr.String())
		require.Contains(t, stderr.String(), "is the input")
	}
	after, err := os.ReadFile(input)
	require.NoError(t, err)
	require.Equal(t, data, after)
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, left, 1)

	code, _, stderr := call("", "convert", input, "-o", input+"l")
	require.Equal(t, exitOK, code, stderr)
	code, _, stderr = call("", "convert", input, "-o", input+"l")
	require.Equal(t, exitOK, code, stderr)

	null := filepath.Join(folder, "null")
	require.NoError(t, os.Symlink(os.DevNull, null))
	code, _, stderr = call("", "convert", input, "-o", null)
	require.Equal(t, exitOK, code, stderr)
	link, err := os.Lstat(null)
	require.NoError(t, err)
	require.False(t, link.Mode().IsRegular())
}

// TestConvertedNamesAreCutOnce: a log of a capture with long names gets the answers of the
// capture, with the lengths that names have there.
func TestConvertedNamesAreCutOnce(t *testing.T) {
	for _, length := range [][2]int{{20, 65_535}, {20, 65_536}, {20, 70_000}, {3000, 70_000}, {3000, 20}, {70_000, 65_536}} {
		outer, inner := strings.Repeat("o", length[0]), strings.Repeat("i", length[1])
		kept := min(length[0], 1<<10) + len(" > ") + min(length[1], 64<<10)
		capture := `[{"counter":0,"node_type":"function_start","params":{"name":"` + outer + `"},"connections":[]},` +
			`{"counter":1,"node_type":"function_start","params":{"name":"` + inner + `"},"connections":[]},` +
			`{"counter":2,"node_type":"circular_buffer_allocate","params":{` + goodCB + `},"connections":[]},` +
			`{"counter":3,"node_type":"function_end","params":{},"connections":[]},` +
			`{"counter":4,"node_type":"function_end","params":{},"connections":[]}]`
		log := ask(strings.NewReader(capture), "convert", "-")
		require.Equal(t, exitOK, log.code, log.err)
		op := regexp.MustCompile(`"op":"[^"]+"`) // that of a filter is empty
		for _, verb := range [][]string{{"report", "-"}, {"peak", "-"}, {"who", "-", "111616"}, {"check", "-", "--budget", "1B"}} {
			verb = append(verb, "--format", "json")
			want := op.FindAllString(ask(strings.NewReader(capture), verb...).out, -1)
			require.NotEmpty(t, want)
			for _, one := range want {
				require.LessOrEqual(t, len(one), 1<<10+len(`"op":""`))
				require.True(t, strings.HasSuffix(one, fmt.Sprintf(` (%d,%03d bytes)"`, kept/1000, kept%1000)), one[max(0, len(one)-40):])
			}
			require.Equal(t, want, op.FindAllString(ask(strings.NewReader(log.out), verb...).out, -1), "%v of names of %v bytes", verb, length)
		}
	}
}
