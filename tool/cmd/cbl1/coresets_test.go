package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
)

var (
	coreSetMember = regexp.MustCompile(`"core_range_set"\s*:\s*"(\{[^"]*\})"`)
	ownFigures    = regexp.MustCompile(`\n  ttnn      .*(\n            .*)*`)
)

// coreSetsAsJSON writes the sets of cores of a capture as JSON arrays, or as strings that hold these.
func coreSetsAsJSON(t *testing.T, data []byte, inString bool) []byte {
	return coreSetMember.ReplaceAllFunc(data, func(member []byte) []byte {
		set := l1.MustParseCoreRangeSet(string(coreSetMember.FindSubmatch(member)[1]))
		type corner struct {
			X uint8 `json:"x"`
			Y uint8 `json:"y"`
		}
		list := []map[string]any{}
		for r := range set.All() {
			list = append(list, map[string]any{"start": corner(r.Start), "end": corner(r.End), "cores": 7})
		}
		text, err := json.Marshal(list)
		require.NoError(t, err)
		if inString {
			text, err = json.Marshal(string(text))
			require.NoError(t, err)
		}
		return slices.Concat([]byte(`"core_range_set":`), text)
	})
}

// TestCoreSetsAsJSON: sets of cores mean the same in each spelling, to every verb. Arrays prove a release
// whose own figures count per core, so that the note about these is absent. Each fixture meets some of the
// questions in turn, and with -hammer all of them.
func TestCoreSetsAsJSON(t *testing.T) {
	inputs := fixtures(t)
	t.Chdir(t.TempDir())
	const name = "a.json"
	verbs := slices.Concat(questions(), [][]string{
		{"report", "--format", "csv"}, {"check", "--format", "junit"}, {"map"}, {"map", "--core", "0-0"}, {"room", "--format", "json"},
		{"page", "-o", "-"}, {"export", "perfetto", "-o", "-"},
	})
	ask := func(data []byte, q []string) string {
		require.NoError(t, os.WriteFile(name, data, 0o600))
		code, stdout, stderr := call("", append(slices.Clone(q), name)...)
		return fmt.Sprintln(q, code, stdout, stderr)
	}
	rewritten := 0
	for _, in := range inputs {
		if in.log || !coreSetMember.Match(in.data) {
			continue
		}
		rewritten++
		t.Run(filepath.Base(in.name), func(t *testing.T) {
			array, text := coreSetsAsJSON(t, in.data, false), coreSetsAsJSON(t, in.data, true)
			for i, q := range verbs {
				if i%6 != rewritten%6 && !*hammer {
					continue
				}
				want := ask(in.data, q)
				requireSameText(t, want, ask(text, q))
				got := ask(array, q)
				require.NotContains(t, got, "before September 2026")
				requireSameText(t, ownFigures.ReplaceAllString(want, ""), ownFigures.ReplaceAllString(got, ""))
			}
		})
	}
	require.Greater(t, rewritten, 20)
}

// requireSameText shows where two long texts begin to differ.
func requireSameText(t *testing.T, want, got string) {
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	require.Equal(t, clip(want, at), clip(got, at), "%.80q at byte %d", want, at)
}

func clip(text string, at int) string { return text[max(0, at-200):min(len(text), at+200)] }
