package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/report"
)

// TestExpected holds the JSON report of every capture against figures that were
// computed by something else: a brute-force calculator that keeps a set of bytes
// per core. Every field of an expectation that our report has must be equal.
func TestExpected(t *testing.T) {
	for _, dir := range []string{"../capture/testdata", "../capture/testdata/ranks", "../examples", "../../shared/traces"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.expected.json"))
		require.NoError(t, err)
		if len(files) == 0 {
			t.Run(filepath.Base(dir), func(t *testing.T) { t.Skipf("no expectations in %s", dir) })
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				data, err := os.ReadFile(file)
				require.NoError(t, err)
				var want map[string]any
				require.NoError(t, json.Unmarshal(data, &want))
				inputs, err := capture.Inputs(strings.TrimSuffix(file, ".expected.json") + ".json")
				require.NoError(t, err)
				result, err := inputs[0].Replay(capture.Options{})
				require.NoError(t, err)
				var out bytes.Buffer
				require.NoError(t, report.JSON(&out, result))
				var got map[string]any
				require.NoError(t, json.Unmarshal(out.Bytes(), &got))
				requireShared(t, "", want, got)
			})
		}
	}
}

// ours are the fields that only an expectation has: facts about the file that the
// report does not repeat.
var ours = []string{"format", "wrapper", "counters_sequential", "device_rule"}

func requireShared(t *testing.T, path string, want, got any) {
	switch want := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		require.True(t, ok, "%s: have %v, want an object", path, got)
		for key, w := range want {
			if path == "" && strings.Contains(strings.Join(ours, " "), key) {
				continue
			}
			require.Contains(t, g, key, "%s", path)
			requireShared(t, path+"/"+key, w, g[key])
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
