package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/oracle/randomcapture"
	"github.com/cbl1/cbl1/internal/testkit"
)

// pipedQuestions are a question of each verb that reads captures.
var pipedQuestions = [][]string{
	{"report"}, {"report", "--format", "json"}, {"check"}, {"check", "--format", "json"}, {"peak", "--format", "json"}, {"who", "111616"},
	{"room", "--size", "4096", "--format", "json"}, {"map"}, {"map", "--at", "3"}, {"page"}, {"convert"},
}

// A pipeTest asks about one capture in a file, on a pipe, and compressed on a pipe. The name of the file is as long as the
// name of the pipe in answers, since text is wrapped by its length.
type pipeTest struct{ dir string }

func newPipeTest(t *testing.T) pipeTest {
	dir := t.TempDir()
	t.Chdir(dir)
	return pipeTest{dir}
}

// ask compares the answers to one question.
func (p pipeTest) ask(t *testing.T, what string, data []byte, question []string) {
	t.Helper()
	const name = "input" // as long as stdin
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, name), data, 0o600))
	args := func(input string) []string { return append([]string{question[0], input}, question[1:]...) }
	want := ask(nil, args(name)...)
	require.Empty(t, want.panicked, what)
	rename := strings.NewReplacer(name, "stdin")
	want.out, want.err = rename.Replace(want.out), rename.Replace(want.err)
	ways := map[string][]byte{"on a pipe": data}
	if !strings.HasSuffix(what, ".gz") && !strings.HasSuffix(what, ".zst") {
		ways["gzip on a pipe"] = testkit.Gzip(t, bytes.NewReader(data))
	}
	for way, text := range ways {
		got := ask(bytes.NewReader(text), args("-")...)
		got.out, got.err = rename.Replace(got.out), rename.Replace(got.err)
		require.Equal(t, want, got, "%s: %s, %s", what, question, way)
	}
}

// TestPipesOfFixtures: each verb gives the same bytes for a file and for a pipe with what it has, but for the name.
func TestPipesOfFixtures(t *testing.T) {
	all := fixtures(t)
	p := newPipeTest(t)
	for i, f := range all {
		questions := pipedQuestions
		if len(f.data) > small && testing.Short() {
			questions = questions[i%len(questions):][:1]
		}
		for _, q := range questions {
			p.ask(t, f.name, f.data, q)
		}
	}
}

// TestHammerPipes: the same of captures that nobody thought of.
func TestHammerPipes(t *testing.T) {
	p := newPipeTest(t)
	n := uint64(100)
	switch {
	case *hammer:
		n = 2000
	case testing.Short():
		n = 20
	}
	for seed := range n {
		random := rand.New(rand.NewPCG(seed, 4))
		data := randomcapture.Draw(random.IntN)
		if random.IntN(3) == 0 {
			data = randomcapture.Spoil(random.IntN, data)
		}
		for _, q := range pipedQuestions {
			p.ask(t, string(data), data, q)
		}
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
		cmd := command(t, append([]string{q[0], "-"}, q[1:]...)...)
		var out, errw bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &errw
		cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Join(dir, "none")) // a copy would be refused
		_ = cmd.Run()
		require.NoError(t, in.Close())
		t.Chdir(dir)
		want := ask(nil, append([]string{q[0], "stdin"}, q[1:]...)...)
		require.Equal(t, want, answer{code: cmd.ProcessState.ExitCode(), out: out.String(), err: errw.String()}, "%s", q)
	}
}

// long is a capture of more than is kept in memory.
func long(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("../../capture/testdata/repeats.json")
	require.NoError(t, err)
	return append(bytes.Repeat([]byte(" "), 2<<20), data...)
}
