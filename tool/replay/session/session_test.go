package session_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/replay/session"
)

// TestLogConformance replays the log that any other reader of event logs can be tested
// with. Its answers were derived by hand; they name the fields that matter. An answer
// may have more fields, and so may the objects in it.
func TestLogConformance(t *testing.T) {
	log, err := os.ReadFile("../../../event/testdata/conformance.jsonl")
	require.NoError(t, err)
	want, err := os.ReadFile("../../../event/testdata/conformance.answers.jsonl")
	require.NoError(t, err)

	var s session.Session
	var out bytes.Buffer
	require.NoError(t, s.Stream(events(bytes.NewReader(log), "conformance.jsonl"), &out))
	require.NoError(t, s.Fleet().CheckInvariants())

	answers := lines(out.String())
	expected := lines(string(want))
	for i := range min(len(answers), len(expected)) {
		var have, need any
		require.NoError(t, json.Unmarshal([]byte(answers[i]), &have))
		require.NoError(t, json.Unmarshal([]byte(expected[i]), &need))
		require.True(t, contains(have, need), "answer %d\nhave %s\nwant %s", i+1, answers[i], expected[i])
	}
	require.Len(t, answers, len(expected))
}

func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// contains reports whether have is need, or an object with more members.
func contains(have, need any) bool {
	switch need := need.(type) {
	case map[string]any:
		have, ok := have.(map[string]any)
		if !ok {
			return false
		}
		for name, value := range need {
			member, ok := have[name]
			if !ok || !contains(member, value) {
				return false
			}
		}
		return true
	case []any:
		have, ok := have.([]any)
		if !ok || len(have) != len(need) {
			return false
		}
		for i := range need {
			if !contains(have[i], need[i]) {
				return false
			}
		}
		return true
	}
	return have == need
}
