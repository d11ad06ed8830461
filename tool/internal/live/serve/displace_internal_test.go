package serve

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A dead socket goes. A socket that another server has put in its place since it was looked at stays.
func TestDisplace(t *testing.T) {
	dir := t.TempDir()
	dead, path := filepath.Join(dir, "dead"), filepath.Join(dir, "path")
	for _, name := range []string{dead, path} {
		require.NoError(t, os.WriteFile(name, []byte(name), 0o600))
	}
	looked, err := os.Lstat(dead)
	require.NoError(t, err)
	require.ErrorIs(t, displace(path, looked), ErrServed)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, path, string(text))
	require.NoError(t, displace(dead, looked))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "the other one, under its own name")
}
