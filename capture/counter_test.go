package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A node of a window is one from 0 to before its number of nodes, and a window one from 1 on.
func TestCounterOfWindows(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"0.json": graph(placeOn(0), freeOf(0)), "1.json": graph(placeOn(0), placeOn(0), freeOf(0))} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	in, _, err := Join(dir)
	require.NoError(t, err)
	for window, want := range []string{"no no no no", "0 1 no no", "2 3 4 no", "no no no no"} {
		var got [4]string
		for node := range got {
			n, err := in.Counter(uint64(window), uint64(node))
			if got[node] = fmt.Sprint(n); err != nil {
				got[node] = "no"
			}
		}
		require.Equal(t, want, fmt.Sprintf("%s %s %s %s", got[0], got[1], got[2], got[3]), "window %d", window)
	}
}
