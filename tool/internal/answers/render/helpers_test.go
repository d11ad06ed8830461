package render_test

import (
	"bytes"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

var update = flag.Bool("update", false, "rewrite the golden files; review the difference")

// A tester is a test, or a check of a property.
type tester interface {
	require.TestingT
	Helper()
}

// A fixture is a capture and what a brute-force calculator expects of it.
type fixture struct {
	name     string // unique
	capture  string // path
	expected string // path
}

// fixtures returns the captures of the repository.
func fixtures(t *testing.T) []fixture {
	const testdata = "../../../capture/testdata"
	var out []fixture
	for _, dir := range []string{testdata, testdata + "/ranks", "../../../../examples", testdata + "/published"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		require.NoError(t, err)
		for _, file := range files {
			base := filepath.Base(file)
			stem := strings.TrimSuffix(base, ".json")
			if strings.Contains(base, ".expected.") || strings.Contains(base, ".python_io.") || base == "config.json" {
				continue
			}
			expected := filepath.Join(dir, stem+".expected.json")
			if dir == testdata+"/ranks" {
				expected = filepath.Join(testdata, "ranks_expected", stem+".expected.json")
			}
			out = append(out, fixture{stem, file, expected})
		}
	}
	require.Greater(t, len(out), 15)
	return out
}

func (f fixture) replay(t *testing.T) *answer.Result {
	t.Helper()
	inputs, err := capture.Inputs(f.capture)
	require.NoError(t, err)
	require.Len(t, inputs, 1)
	result, err := replay.Run(filepath.Base(f.capture), inputs[0].Events(capture.Options{}), replay.Options{})
	require.NoError(t, err)
	return result
}

func text(t *testing.T, r *answer.Result, opt render.Options) string {
	t.Helper()
	return written(t, render.Report(r, opt))
}

// written is the text of an Output.
func written(t *testing.T, d render.Output) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, d.Text(&b, 0))
	return b.String()
}

func jsonText(t tester, r *answer.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, render.Report(r, render.Options{}).JSON(&b))
	require.Equal(t, 1, bytes.Count(b.Bytes(), []byte("\n")), "one line")
	require.True(t, bytes.HasSuffix(b.Bytes(), []byte("\n")))
	return b.Bytes()
}

// requireGolden compares with a file in testdata.
func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	testkit.Golden(t, *update, filepath.Join("testdata", name+".golden"), got)
}

// requirePlain wants nothing but printable ASCII and line ends.
func requirePlain(t *testing.T, text string) {
	t.Helper()
	for i := range len(text) {
		require.True(t, text[i] == '\n' || ' ' <= text[i] && text[i] <= '~', "byte %#x at %d of %q", text[i], i, text)
	}
}

// requireVisible wants nothing but what a terminal shows as it stands.
func requireVisible(t *testing.T, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		require.Equal(t, shown.Visible(line), line)
	}
}

// judged judges a Result with a budget, or without.
func judged(r *answer.Result, budget *answer.Budget) render.Output {
	return render.Check(r, r.Judge(answer.Terms{Budget: budget})).Detailed()
}
