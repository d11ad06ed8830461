package render_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExpected holds the JSON report of every capture against figures that were
// computed by something else: a brute-force calculator that keeps a set of bytes
// per core. Every field of an expectation that our report has must be equal.
func TestExpected(t *testing.T) {
	compared := 0
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			data, err := os.ReadFile(f.expected)
			require.NoError(t, err)
			var want, got map[string]any
			require.NoError(t, json.Unmarshal(data, &want))
			require.NoError(t, json.Unmarshal(jsonText(t, f.replay(t)), &got))
			for _, key := range factsOfTheFile() {
				delete(want, key)
			}
			requireShared(t, "", want, got)
			compared++
		})
	}
	require.Greater(t, compared, 15)
}

// factsOfTheFile are fields of an expectation that the report does not repeat.
func factsOfTheFile() []string {
	return []string{"format", "wrapper", "counters_sequential", "device_rule"}
}

// requireShared wants everything in want to be in got. Of figures there must be
// the same rows, but rows of got may say more.
func requireShared(t tester, path string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		require.True(t, ok, "%s: have %v, want an object", path, got)
		if slices.Contains([]string{"/devices", "/mesh_members"}, path) {
			require.Len(t, g, len(want), "%s", path)
		}
		for _, key := range slices.Sorted(maps.Keys(want)) { // always the same failure
			require.Contains(t, g, key, "%s", path)
			requireShared(t, path+"/"+key, want[key], g[key])
		}
	case []any:
		g, ok := got.([]any)
		require.True(t, ok, "%s: have %v, want a list", path, got)
		require.Len(t, g, len(want), "%s", path)
		for i := range want {
			requireShared(t, path, want[i], g[i])
		}
	default:
		require.Equal(t, want, got, "%s", path)
	}
}
