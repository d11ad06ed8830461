package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocsAreTrue runs the commands that README.md and the pages of docs show, and compares
// what they print. A command stands behind "$ cbl1 " in a fenced block, at the root of the
// repository; a line "..." stands for any lines.
func TestDocsAreTrue(t *testing.T) {
	t.Chdir("../../..")
	files, err := filepath.Glob("tool/docs/*.md")
	require.NoError(t, err)
	commands := 0
	for _, file := range append(files, "README.md", "docs/library.md", "docs/testing.md", "docs/events.md", "docs/results.md", "docs/simulators.md") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, block := range fence.FindAllString(string(text), -1) {
			lines := strings.Split(block, "\n")
			for i := 0; i < len(lines); {
				command, is := strings.CutPrefix(lines[i], "$ cbl1 ")
				if i++; !is {
					continue
				}
				next := i
				for next < len(lines)-1 && !strings.HasPrefix(lines[next], "$ ") {
					next++
				}
				commands++
				requireShown(t, file, command, lines[i:next])
				i = next
			}
		}
	}
	require.Greater(t, commands, 12)
}

var fence = regexp.MustCompile("(?ms)^```[^\n]*\n.*?^```$")

// requireShown runs a command and compares its output with what a page shows.
func requireShown(t *testing.T, file, command string, page []string) {
	t.Helper()
	command, _, _ = strings.Cut(command, "  #")
	var out, errs bytes.Buffer
	run(words(command), strings.NewReader(""), &out, &errs)
	if got := strings.Split(strings.TrimRight(out.String(), "\n"), "\n"); errs.Len() > 0 || !elided(page, got) {
		t.Errorf("%s: cbl1 %s prints now\n%s%s", file, command, out.String(), errs.String())
	}
}

// words divides a command as a shell does, where no word has more than quotes around it.
func words(command string) (out []string) {
	for _, word := range regexp.MustCompile(`'[^']*'|[^ ]+`).FindAllString(command, -1) {
		out = append(out, strings.Trim(word, "'"))
	}
	return out
}

// elided reports whether lines are those of a page, in which "..." stands for any.
func elided(page, lines []string) bool {
	for i, line := range page {
		if line == "..." {
			for j := i; j <= len(lines); j++ {
				if elided(page[i+1:], lines[j:]) {
					return true
				}
			}
			return false
		}
		if i >= len(lines) || line != lines[i] {
			return false
		}
	}
	return len(page) == len(lines)
}
