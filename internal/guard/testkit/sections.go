package testkit

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Sections compares the answers to the questions of a file. A section has a title behind ==, the lines of a question,
// and behind > the lines of its answer. With update the answers are written anew.
func Sections(t *testing.T, file string, update bool, answer func(asked []string) []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut("\n"+string(data), "\n== ")
	var out strings.Builder
	out.WriteString(strings.TrimPrefix(head, "\n"))
	for section := range strings.SplitSeq(rest, "\n== ") {
		var asked, want []string
		for line := range strings.SplitSeq(strings.TrimRight(section, "\n"), "\n") {
			if text, ok := strings.CutPrefix(line, "> "); ok {
				want = append(want, text)
			} else if line != "" {
				asked = append(asked, line)
			}
		}
		question, got := strings.Join(asked, "\n"), strings.Join(answer(asked[1:]), "\n")
		if !update && got != strings.Join(want, "\n") {
			t.Fatalf("%s\nanswered:\n%s\nwant:\n%s", question, got, strings.Join(want, "\n"))
		}
		fmt.Fprintf(&out, "\n== %s\n> %s\n", question, strings.ReplaceAll(got, "\n", "\n> "))
	}
	if update {
		if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
