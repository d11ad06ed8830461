package main

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// SKILL.md is for assistants. Each of its commands prints the lines that it shows and has the exit
// code that it names; "..." at the end of a line stands for its rest.
func TestSkill(t *testing.T) {
	t.Chdir("../../..")
	text, err := os.ReadFile("tool/SKILL.md")
	require.NoError(t, err)
	require.LessOrEqual(t, bytes.Count(text, []byte("\n")), 130)
	require.Regexp(t, `^---\nname: cbl1\ndescription: [^\n]+\n---\n`, string(text))

	shown := regexp.MustCompile("(?s)\\$ cbl1 ([^\n]*?)  # exit (\\d)\n(.*?)\n```").FindAllSubmatch(text, -1)
	require.Equal(t, strings.Count(string(text), "$ cbl1 "), len(shown))
	seen := make(map[int]bool)
	for _, s := range shown {
		command, page := string(s[1]), strings.Split(string(s[3]), "\n")
		want, err := strconv.Atoi(string(s[2]))
		require.NoError(t, err)
		var out, errs bytes.Buffer
		code := run(words(command), strings.NewReader(""), &out, &errs)
		require.Equal(t, want, code, "%s\n%s", command, errs.String())
		got := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
		if start, cut := strings.CutSuffix(page[0], ",..."); cut {
			require.True(t, strings.HasPrefix(got[0], start), command)
			continue
		}
		require.True(t, elided(page, got), "%s prints now\n%s", command, out.String())
		seen[code] = true
	}
	require.Len(t, seen, 3, "answers yes, no and cannot tell are shown")

	// The verbs of the table are those of the command.
	for _, v := range regexp.MustCompile("`cbl1 ([a-z]+)").FindAllSubmatch(text, -1) {
		var out, errs bytes.Buffer
		require.Zero(t, run([]string{string(v[1]), "--help"}, strings.NewReader(""), &out, &errs), "%s", v[1])
	}
}
