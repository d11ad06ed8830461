package attack_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/steps"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/guard/attack"
)

// Each input keeps its budget of steps, and at night that of memory, and one of ten times the size costs at most twelve
// times the steps.
func TestInputsKeepTheirCosts(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("needs a run without -short and without the race detector: it counts the steps of a command of its own on inputs of megabytes")
	}
	m := newMeter(t)
	for _, source := range attack.Families() {
		for _, in := range source.Inputs {
			for _, verb := range source.Verbs {
				t.Run(source.Kind+"/"+in.Name+"/"+verb, func(t *testing.T) {
					t.Parallel() // with other commands
					small, large := m.cost(t, in, in.Size/10, verb), m.cost(t, in, in.Size, verb)
					t.Logf("%d steps, %d for a tenth; %d KiB", large.Steps, small.Steps, large.Heap>>10)
					require.LessOrEqual(t, large.Steps, in.CostLimit.Steps, "steps")
					if testkit.Nightly() { // a busy machine collects garbage later
						require.LessOrEqual(t, large.Heap, in.CostLimit.Heap, "heap")
					}
					require.LessOrEqual(t, large.Steps, 12*small.Steps, "steps of ten times the input")
				})
			}
		}
	}
}

// A meter counts what the command does.
type meter struct {
	binary string
	steps.Tally
}

// newMeter builds the command so that it counts its statements.
func newMeter(t *testing.T) meter {
	r, err := steps.NewTally()
	require.NoError(t, err)
	m := meter{filepath.Join(t.TempDir(), "cbl1"), r}
	require.NoError(t, steps.Build(m.binary, "github.com/cbl1/cbl1/tool/cmd/cbl1", "github.com/cbl1/cbl1/...", "github.com/google/btree"))
	return m
}

// cost returns what an input costs. The answer does not matter here, but there must be one.
func (m meter) cost(t *testing.T, in attack.Template, size int, verb string) attack.CostLimit {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "input")
	require.NoError(t, os.WriteFile(file, in.Text(size), 0o600))
	c := exec.Command(m.binary, attack.Args(verb, size, file)...)
	c.Stdin = strings.NewReader(attack.Messages)
	c.Env = append(os.Environ(), "GODEBUG=gctrace=1", "GOCOVERDIR="+dir)
	var told bytes.Buffer
	c.Stderr = &told
	if err := c.Run(); err != nil {
		exit := &exec.ExitError{}
		require.ErrorAs(t, err, &exit)
		require.Contains(t, []int{1, 3}, exit.ExitCode(), "%.300s", told.String())
	}
	sum, err := m.Sum(dir)
	require.NoError(t, err)
	require.Positive(t, sum)
	return attack.CostLimit{Steps: sum, Heap: largestHeap(told.String())}
}

// heapTold returns the largest heap in use at a garbage collection, in bytes, from the output of a
// process with GODEBUG=gctrace=1; 0 if it collected none.
func largestHeap(trace string) (most int64) {
	for _, match := range regexp.MustCompile(`\d+->(\d+)->\d+ MB`).FindAllStringSubmatch(trace, -1) {
		if n, err := strconv.ParseInt(match[1], 10, 64); err == nil {
			most = max(most, n<<20)
		}
	}
	return most
}
