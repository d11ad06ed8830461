//go:build unix

package capture

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// What would need a second reading is an anomaly of a pipe, which is gone after the
// first one; waiting for it to come again would be for ever.
func TestPipeIsReadOnce(t *testing.T) {
	data, err := os.ReadFile("testdata/late_mesh.json")
	require.NoError(t, err)
	pipe := filepath.Join(t.TempDir(), "pipe.json")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	done := make(chan error)
	go func() { done <- os.WriteFile(pipe, data, 0) }()
	result, err := Input{Path: pipe}.Replay(Options{})
	require.NoError(t, err)
	require.NoError(t, <-done)
	var codes []Code
	for _, a := range result.Anomalies {
		codes = append(codes, a.Code)
	}
	require.Contains(t, codes, CodeMeshLate)
}

// Between two readings a file may have become another one.
func TestFileThatChangesBetweenReadings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	require.NoError(t, os.WriteFile(path, []byte("[]"), 0o600))
	first, err := Input{Path: path}.Open()
	require.NoError(t, err)
	require.NoError(t, first.sameAs(first.regular))
	require.NoError(t, first.Close())
	require.NoError(t, os.WriteFile(path, []byte("[ ]"), 0o600))
	again, err := Input{Path: path}.Open()
	require.NoError(t, err)
	err = again.sameAs(first.regular)
	require.ErrorIs(t, err, ErrChanged)
	var input *InputError
	require.ErrorAs(t, err, &input)
}
