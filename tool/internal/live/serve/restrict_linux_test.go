package serve

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A socket has its mode when its path appears: nobody else can connect before chmod.
func TestRestrict(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // paths of sockets are short
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "s")
	c := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error { return restrict(c, 0o600) }}
	l, err := c.Listen(context.Background(), "unix", path)
	require.NoError(t, err)
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, os.ModeSocket|0o600, info.Mode())
	require.NoError(t, l.Close())
}
