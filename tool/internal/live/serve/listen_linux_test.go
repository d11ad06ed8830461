package serve_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/live/serve"
)

func below(t *testing.T, dir string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if path != dir {
			names = append(names, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	}))
	return names
}

// Servers that start in one folder at once do not remove each other's files: of several for one
// path, one gets it.
func TestListenAtOnce(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // paths of sockets are short
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	for range 20 {
		var all sync.WaitGroup
		var mu sync.Mutex
		got := map[string][]*serve.Listener{}
		for i := range 12 {
			path := filepath.Join(dir, []string{"a", "b", "c"}[i%3])
			all.Go(func() {
				l, err := serve.Listen(path, 0o600)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					got[path] = append(got[path], l)
				case !errors.Is(err, serve.ErrServed):
					t.Error(err)
				}
			})
		}
		all.Wait()
		require.Len(t, got, 3)
		for _, ls := range got {
			require.Len(t, ls, 1)
			require.NoError(t, ls[0].Close())
		}
		require.Empty(t, below(t, dir))
	}
}
