package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/guard/oracle/randomcapture"
)

// pipedQuestions are a question of each verb that reads captures.
var pipedQuestions = []pipedQuestion{
	{"report", ""}, {"report --format json", ""}, {"check", ""}, {"check --format json", ""}, {"peak --format json", ""}, {"who", "111616"},
	{"room --size 4096 --format json", ""}, {"map", ""}, {"map --at 3", ""}, {"page", ""}, {"convert", ""}, {"diff --format json", "other"},
	{"export perfetto -o -", ""}, {"explain messages --format json --with", ""},
}

// A pipedQuestion is what stands before the name of the input and behind it.
type pipedQuestion [2]string

func (q pipedQuestion) about(input string) []string {
	return strings.Fields(q[0] + " " + input + " " + q[1])
}

// A pipeTest asks about captures in a file and on a pipe, plain and compressed. The name of the file is as long as the
// name of the pipe in answers, since text is wrapped by its length.
type pipeTest struct{ asked int }

func newPipeTest(t *testing.T) *pipeTest {
	other, err := os.ReadFile("../../capture/testdata/repeats.json")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("other", other, 0o600))
	require.NoError(t, os.WriteFile("messages", []byte(foreignMessages), 0o600))
	return &pipeTest{}
}

// ask compares the answers to questions. Compressed, a capture is a file for every second one and a pipe for the others.
func (p *pipeTest) ask(t *testing.T, what string, data []byte, questions []pipedQuestion) {
	t.Helper()
	const name = "input" // as long as stdin
	plain := func(a outcome) outcome {
		require.Empty(t, a.panicked, what)
		if profile, err := gzip.NewReader(strings.NewReader(a.out)); err == nil { // it names the file
			text, err := io.ReadAll(profile)
			require.NoError(t, err)
			a.out = string(text)
		}
		a.out, a.err = strings.ReplaceAll(a.out, name, "stdin"), strings.ReplaceAll(a.err, name, "stdin")
		return a
	}
	file := func(data []byte, q pipedQuestion) outcome {
		require.NoError(t, os.WriteFile(name, data, 0o600))
		return plain(ask(nil, q.about(name)...))
	}
	pipe := func(data []byte, q pipedQuestion) outcome {
		return plain(ask(bytes.NewReader(data), q.about("-")...))
	}
	packed := data
	if !strings.HasSuffix(what, ".gz") && !strings.HasSuffix(what, ".zst") {
		packed = testkit.Gzip(t, bytes.NewReader(data))
	}
	for _, q := range questions {
		want := file(data, q)
		require.Equal(t, want, pipe(data, q), "%s: %s, on a pipe", what, q)
		if p.asked++; p.asked%2 == 0 || *hammer {
			require.Equal(t, want, file(packed, q), "%s: %s, compressed in a file", what, q)
		}
		if p.asked%2 == 1 || *hammer {
			require.Equal(t, want, pipe(packed, q), "%s: %s, compressed on a pipe", what, q)
		}
	}
}

// TestPipesOfFixtures: each verb gives the same bytes for a file and for a pipe with what it has, but for the name.
// A fixture gets four questions in turn, a large one one, or with -hammer all.
func TestPipesOfFixtures(t *testing.T) {
	all := fixtures(t)
	p := newPipeTest(t)
	for i, f := range all {
		questions, n := pipedQuestions, 4
		if len(f.data) > small {
			n = 1
		}
		if !*hammer {
			questions = slices.Concat(questions, questions)[n*i%len(questions):][:n]
		}
		p.ask(t, f.name, f.data, questions)
	}
}

// TestHammerPipes: the same of captures that nobody thought of.
func TestHammerPipes(t *testing.T) {
	p := newPipeTest(t)
	n := uint64(30)
	switch {
	case *hammer:
		n = 2000
	case testing.Short():
		n = 10
	}
	for seed := range n {
		random := rand.New(rand.NewPCG(seed, 4))
		data := randomcapture.Draw(random.IntN)
		if random.IntN(3) == 0 {
			data = randomcapture.Spoil(random.IntN, data)
		}
		p.ask(t, string(data), data, pipedQuestions)
	}
}

// TestPlainFileAsInput: a process whose standard input is a file answers as about the file, and keeps no copy of it.
func TestPlainFileAsInput(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "stdin")
	require.NoError(t, os.WriteFile(name, long(t), 0o600))
	for _, q := range pipedQuestions[:7] {
		in, err := os.Open(name)
		require.NoError(t, err)
		cmd := command(t, q.about("-")...)
		var out, errw bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &errw
		cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Join(dir, "none")) // a copy would be refused
		_ = cmd.Run()
		require.NoError(t, in.Close())
		t.Chdir(dir)
		want := ask(nil, q.about("stdin")...)
		require.Equal(t, want, outcome{code: cmd.ProcessState.ExitCode(), out: out.String(), err: errw.String()}, "%s", q)
	}
}

// long is a capture of more than is kept in memory.
func long(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("../../capture/testdata/repeats.json")
	require.NoError(t, err)
	return append(bytes.Repeat([]byte(" "), 2<<20), data...)
}
