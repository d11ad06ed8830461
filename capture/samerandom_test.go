package capture_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/capture"
)

func TestSameAsReplayAtRandom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "capture.json")
	rapid.Check(t, func(t *rapid.T) {
		text := drawL1(t)
		opt := capture.Options{
			Base: 4096, Align: 64, MaxL1: 16384, L1Small: uint64(rapid.SampledFrom([]int{0, 256}).Draw(t, "L1_SMALL")),
			NoInfer: rapid.IntRange(0, 4).Draw(t, "infer") == 0,
		}
		t.Logf("%s", text)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		capture.SameAsReplay(t, path, opt)
	})
}
