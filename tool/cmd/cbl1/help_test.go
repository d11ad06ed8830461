package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// Help fits 100 columns, and names no file that a user of the binary lacks.
func TestHelpFits(t *testing.T) {
	var walk func(path []string, cmd *cobra.Command)
	seen := 0
	walk = func(path []string, cmd *cobra.Command) {
		_, stdout, stderr := call("", append(path, "--help")...)
		require.Empty(t, stderr)
		require.NotContains(t, stdout, "docs/", path)
		for line := range strings.Lines(stdout) {
			if !strings.HasPrefix(line, "  cbl1 ") { // an example is one line
				require.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), helpColumns, line)
			}
		}
		seen++
		for _, sub := range cmd.Commands() {
			walk(append(slices.Clip(path), sub.Name()), sub)
		}
	}
	walk(nil, newRoot(streams{}))
	require.Greater(t, seen, 17)
}

// A shell completes the values of flags, and file names only where a file is meant.
func TestValuesAreCompleted(t *testing.T) {
	for _, c := range []struct {
		args string
		want []string // words, and the directive: 4 keeps files away
	}{
		{"room --format", []string{"text", "json", ":4"}}, {"check --format", []string{"text", "json", "csv", "markdown", "junit", ":4"}},
		{"report --arch", []string{"wormhole", "blackhole", "grayskull", "quasar", ":4"}}, {"peak --set", []string{"align=64", "l1=1499136", ":4"}},
		{"map --color", []string{"auto", "always", "never", ":4"}}, {"serve --publish-version", []string{"3", "4", ":4"}},
		{"peak --device", []string{":4"}}, {"check --budget", []string{":0"}}, {"page --output", []string{":0"}}, {"explain --with", []string{":0"}},
		{"completion", []string{"bash", "zsh", "fish", "powershell", ":4"}},
	} {
		_, stdout, _ := call("", append([]string{"__complete"}, append(strings.Fields(c.args), "")...)...)
		require.Equal(t, c.want, strings.Fields(stdout), c.args)
	}
	_, stdout, _ := call("", "__complete", "help", "")
	require.Contains(t, stdout, "check\n")
	require.Contains(t, stdout, "words\n")
	_, stdout, _ = call("", "__complete", "check", "--accept", "cache-")
	require.Contains(t, stdout, "cache-hit\n")
}
