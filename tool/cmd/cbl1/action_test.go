package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
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
	t.Chdir("../../..")
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
		{"cannot tell", []string{"CAPTURES=tool/capture/testdata/unattributed.json"}, 3, []string{"cannot tell"}, ""},
		{"accepted", []string{"CAPTURES=tool/capture/testdata/unattributed.json", "ACCEPT=unattributed", "ARCH=wormhole"}, 0, []string{"accepted"}, ""},
		{"grown", []string{"CAPTURES=tool/docs/tour/new.jsonl", "BASELINE=tool/docs/tour/old.jsonl", "MAX_GROWTH=5%"}, 1,
			[]string{"## Does it fit into L1?\n\n", "## What changed?\n\n", "4,096 bytes more"}, ""},
		{"grown as allowed", []string{"CAPTURES=tool/docs/tour/new.jsonl", "BASELINE=tool/docs/tour/old.jsonl", "MAX_GROWTH=50%"}, 0, []string{"## What changed?"}, ""},
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

// The action takes the binary of its release if that has the published checksum, and builds where none is published.
func TestActionBinary(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs " + tool + ": the action fetches its binary with it")
		}
	}
	releases := t.TempDir()
	binary := []byte("#!/bin/sh\n")
	sums := fmt.Sprintf("%x  cbl1-linux-amd64\n%x  cbl1-darwin-arm64\n%x  cbl1-windows-amd64.exe\n", sha256.Sum256(binary), sha256.Sum256(nil), sha256.Sum256(binary))
	require.NoError(t, os.Mkdir(filepath.Join(releases, "v0.1.0"), 0o777))
	for name, text := range map[string][]byte{
		"SHA256SUMS": []byte(sums), "cbl1-linux-amd64": binary, "cbl1-darwin-arm64": binary, "cbl1-windows-amd64.exe": binary,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(releases, "v0.1.0", name), text, 0o666))
	}
	script, err := filepath.Abs("../../../.ci/action-binary")
	require.NoError(t, err)
	for _, c := range []struct {
		name, ref, system, arch string
		code                    int
		output, file            string
	}{
		{"published", "v0.1.0", "Linux", "X64", 0, "found=true\n", "cbl1"},
		{"on Windows", "v0.1.0", "Windows", "X64", 0, "found=true\n", "cbl1.exe"},
		{"another checksum", "v0.1.0", "macOS", "ARM64", 1, "", ""},
		{"no such system", "v0.1.0", "Linux", "ARM64", 0, "found=false\n", ""},
		{"no such processor", "v0.1.0", "Linux", "ARM", 0, "found=false\n", ""},
		{"no such release", "v0.2.0", "Linux", "X64", 0, "found=false\n", ""},
		{"a branch", "main", "Linux", "X64", 0, "found=false\n", ""},
		{"no version", "", "Linux", "X64", 0, "found=false\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder, output := filepath.Join(t.TempDir(), "cbl1"), filepath.Join(t.TempDir(), "output")
			cmd := exec.Command("bash", script, folder)
			cmd.Env = append(os.Environ(), "REF="+c.ref, "RUNNER_OS="+c.system, "RUNNER_ARCH="+c.arch, "GITHUB_OUTPUT="+output, "RELEASES=file://"+releases)
			log, err := cmd.CombinedOutput()
			require.Equal(t, c.code != 0, err != nil, "%s", log)
			told, _ := os.ReadFile(output) // none where it fails
			require.Equal(t, c.output, string(told))
			if c.file != "" {
				info, err := os.Stat(filepath.Join(folder, c.file))
				require.NoError(t, err)
				require.NotZero(t, info.Mode()&0o100, "it can be run")
			}
		})
	}
}

// Each input of action.yml reaches the script, which reads no other variable of its own.
func TestActionPassesItsInputs(t *testing.T) {
	action, err := os.ReadFile("../../../action.yml")
	require.NoError(t, err)
	script, err := os.ReadFile("../../../.ci/action")
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
