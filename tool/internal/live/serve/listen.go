package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// Faults of a path to listen on, or of the platform.
var (
	ErrServed    = errors.New("another server listens there")
	ErrNotSocket = errors.New("exists and is no socket")
	ErrNotOurs   = errors.New("belongs to another user")
	ErrPlatform  = errors.New("the live side needs Linux")
)

// maxPath is how long the path of a Unix socket may be, in bytes.
const maxPath = 107

// A Listener listens on a Unix socket. It must be made by Listen.
type Listener struct {
	net.Listener
	path string
	made fs.FileInfo
}

// Listen listens on a path. The socket is made under another name in its folder and then moved into
// place. It never has permissions beyond its mode. A dead socket is replaced if it is ours. The error is
// ErrServed if a process listens there, ErrNotSocket or ErrNotOurs for another obstacle, which stays,
// ErrPlatform, or an error of the system. A process that is killed meanwhile leaves a dead socket
// .cbl1-NUMBER.
func Listen(path string, mode fs.FileMode) (*Listener, error) {
	if !supported {
		return nil, ErrPlatform
	}
	// A socket could be linked to a path that no address can hold, but no client could connect.
	if len(path) > maxPath {
		return nil, fmt.Errorf("%s: %w", path, syscall.ENAMETOOLONG)
	}
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error { return restrict(c, mode) }}
	own := beside(path)
	l, err := config.Listen(context.Background(), "unix", own)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(own) }() // its other name stays
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	made, err := place(own, path, mode)
	if err != nil {
		_ = l.Close() // no client knows it
		return nil, err
	}
	return &Listener{l, path, made}, nil
}

// beside returns a new name in the folder of a path.
func beside(path string) string {
	return filepath.Join(filepath.Dir(path), fmt.Sprintf(".cbl1-%d", rand.Uint32()))
}

// place gives a socket its mode and its path.
func place(own, path string, mode fs.FileMode) (fs.FileInfo, error) {
	if err := os.Chmod(own, mode.Perm()); err != nil {
		return nil, err
	}
	made, err := os.Lstat(own)
	if err != nil {
		return nil, err
	}
	if err := clearPath(path); err != nil {
		return nil, err
	}
	// A link fails where something has come in the meantime; a renaming would replace it.
	if err := os.Link(own, path); errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s: %w", path, ErrServed)
	} else if err != nil {
		return nil, err
	}
	return made, nil
}

// clearPath removes a dead socket of ours.
func clearPath(path string) error {
	there, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case there.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s: %w", path, ErrNotSocket)
	case !ours(there):
		return fmt.Errorf("%s: %w", path, ErrNotOurs)
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		_ = conn.Close() // it was only to see who answers
		return fmt.Errorf("%s: %w", path, ErrServed)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return displace(path, there)
}

// displace removes a dead socket. Something else that has taken its path in the meantime goes back.
func displace(path string, there fs.FileInfo) error {
	old := beside(path)
	if err := os.Rename(path, old); err != nil {
		return err
	}
	defer func() { _ = os.Remove(old) }() // it is dead, or back in its place
	moved, err := os.Lstat(old)
	if err != nil {
		return err
	}
	if !os.SameFile(there, moved) { // somebody else was quicker: it goes back
		return errors.Join(fmt.Errorf("%s: %w", path, ErrServed), os.Link(old, path))
	}
	return nil
}

// Close stops listening, and removes the socket if it is still the one that was made.
func (l *Listener) Close() error {
	err := l.Listener.Close()
	if there, lost := os.Lstat(l.path); lost == nil && os.SameFile(there, l.made) {
		err = errors.Join(err, os.Remove(l.path))
	}
	return err
}
