package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAction runs the script of action.yml as GitHub does, with the test binary as cbl1.
func TestAction(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("needs bash: the script of the action is written in it")
	}
	t.Chdir("../..")
	for _, c := range []struct {
		name    string
		env     []string
		code    int
		summary []string // in this order
		log     string
	}{
		{"fits", []string{"CAPTURES=examples/cached_ops.json\n"}, 0,
			[]string{"## Does it fit into L1?\n\n", "87 runs"}, ""},
		{"does not fit", []string{"CAPTURES=examples/cached_ops.json\nexamples/events.jsonl"}, 1,
			[]string{"## Does it fit into L1?\n\n", "Statically allocated circular buffers in program 1 clash with L1 buffers"}, ""},
		{"budget", []string{"CAPTURES=examples/cached_ops.json", "BUDGET=100 KiB"}, 1, []string{"102,400"}, ""},
		{"cannot tell", []string{"CAPTURES=capture/testdata/unattributed.json"}, 3, []string{"cannot tell"}, ""},
		{"accepted", []string{"CAPTURES=capture/testdata/unattributed.json", "ACCEPT=unattributed", "ARCH=wormhole"}, 0, []string{"accepted"}, ""},
		{"grown", []string{"CAPTURES=docs/tour/new.jsonl", "BASELINE=docs/tour/old.jsonl", "MAX_GROWTH=5%"}, 1,
			[]string{"## Does it fit into L1?\n\n", "## What changed?\n\n", "4,096 bytes more"}, ""},
		{"grown as allowed", []string{"CAPTURES=docs/tour/new.jsonl", "BASELINE=docs/tour/old.jsonl", "MAX_GROWTH=50%"}, 0, []string{"## What changed?"}, ""},
		{"unreadable and does not fit", []string{"CAPTURES=none.json\nexamples/events.jsonl"}, 2, []string{"clash with L1 buffers"}, "none.json: no such file"},
		{"a name like an option", []string{"CAPTURES=--help"}, 2, nil, "--help: no such file"},
		{"nothing", nil, 2, nil, "no captures are named"},
		{"two and a baseline", []string{"CAPTURES=a\nb", "BASELINE=c"}, 2, nil, "a baseline is compared with one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			summary, output := filepath.Join(t.TempDir(), "summary"), filepath.Join(t.TempDir(), "output")
			cmd := exec.Command("bash", ".ci/action")
			cmd.Env = append(os.Environ(), "GITHUB_STEP_SUMMARY="+summary, "GITHUB_OUTPUT="+output)
			cmd.Env = append(cmd.Env, c.env...)
			log, err := cmd.CombinedOutput()
			code := 0
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				code = exit.ExitCode()
			}
			require.Equal(t, c.code, code, "%s", log)
			told, err := os.ReadFile(output)
			require.NoError(t, err)
			require.Equal(t, "code="+string(rune('0'+c.code))+"\n", string(told))
			require.Contains(t, string(log), c.log)
			page, _ := os.ReadFile(summary) // none without a question
			rest := string(page)
			for _, want := range c.summary {
				_, after, found := strings.Cut(rest, want)
				require.True(t, found, "%q in\n%s", want, page)
				rest = after
			}
		})
	}
}

// Each input of action.yml reaches the script, which reads no other variable of its own.
func TestActionPassesItsInputs(t *testing.T) {
	action, err := os.ReadFile("../../action.yml")
	require.NoError(t, err)
	script, err := os.ReadFile("../../.ci/action")
	require.NoError(t, err)
	head, _, _ := strings.Cut(string(action), "outputs:")
	var inputs []string
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z-]+):$`).FindAllStringSubmatch(head, -1) {
		inputs = append(inputs, m[1])
	}
	require.Len(t, inputs, 6)
	for _, input := range inputs {
		name := strings.ToUpper(strings.ReplaceAll(input, "-", "_"))
		require.Contains(t, string(action), "        "+name+": ${{ inputs."+input+" }}\n")
		require.Contains(t, string(script), "${"+name+":-}")
	}
}
