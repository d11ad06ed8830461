//go:build unix

package capture

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNamedPipe: the bytes of a pipe are gone after the first reading, and its answer is that of the file.
func TestNamedPipe(t *testing.T) {
	const file = "testdata/late_mesh.json"
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "pipe.json")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	done := make(chan error)
	go func() { done <- os.WriteFile(name, data, 0) }()
	events := eventsOf(t, name, Options{})
	require.NoError(t, <-done)
	require.Equal(t, eventsOf(t, file, Options{}), events)
}
