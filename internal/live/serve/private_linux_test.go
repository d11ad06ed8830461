package serve_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/live/serve"
)

// Folders that killed servers left are removed; folders in use, or perhaps of others, stay.
func TestLeftFolders(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // paths of sockets are short
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	folder := func(name string, mode os.FileMode, inside ...string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.Mkdir(path, 0o700))
		for _, file := range inside {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(path, file), Net: "unix"})
			require.NoError(t, err)
			l.SetUnlinkOnClose(false)
			require.NoError(t, l.Close())
		}
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	for _, gone := range [][]string{{".cbl1-1"}, {".cbl1-2", "s"}, {".cbl1-3", "old"}, {".cbl1-4294967295", "s", "old"}} {
		folder(gone[0], 0o700, gone[1:]...)
	}
	folder(".cbl1-5", 0o755)
	folder(".cbl1-6", 0o700, "s", "other")
	folder(".cbl1-7x", 0o700)
	folder(".cbl1-", 0o700)
	folder(".cbl2-8", 0o700)
	require.NoError(t, os.WriteFile(filepath.Join(folder(".cbl1-9", 0o700, "old"), "s"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".cbl1-10"), nil, 0o600))
	require.NoError(t, os.Symlink(".cbl2-8", filepath.Join(dir, ".cbl1-11")))
	used, err := os.Open(folder(".cbl1-12", 0o700, "s"))
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(used.Fd()), syscall.LOCK_EX))

	l, err := serve.Listen(filepath.Join(dir, "sock"), 0o600)
	require.NoError(t, err)
	want := []string{
		".cbl1-", ".cbl1-10", ".cbl1-11", ".cbl1-12", ".cbl1-12/s", ".cbl1-5", ".cbl1-6", ".cbl1-6/other", ".cbl1-6/s", ".cbl1-7x", ".cbl1-9", ".cbl1-9/old", ".cbl1-9/s", ".cbl2-8", "sock",
	}
	require.Equal(t, want, below(t, dir))
	require.NoError(t, used.Close()) // its process has ended
	require.NoError(t, l.Close())
	l, err = serve.Listen(filepath.Join(dir, "sock"), 0o600)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	want = slices.DeleteFunc(want, func(name string) bool { return strings.HasPrefix(name, ".cbl1-12") || name == "sock" })
	require.Equal(t, want, below(t, dir))
}

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
