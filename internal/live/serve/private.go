package serve

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A private is a folder in which a socket is made. Only this user can read it, and it is locked as
// long as its process needs it and lives.
type private struct {
	path string
	lock *os.File
}

// The prefix of the names of private folders, before digits, and how often a name is tried.
const (
	privatePrefix = ".cbl1-"
	privateTries  = 10
)

// The files of a private folder: the new socket, and the one before it.
const (
	socketNew = "s"
	socketOld = "old"
)

// newPrivate makes a private folder in a folder. What killed servers left there goes first.
func newPrivate(in string) (*private, error) {
	clearPrivates(in)
	for range privateTries {
		path, err := os.MkdirTemp(in, privatePrefix)
		if err != nil {
			return nil, err
		}
		// A clearing process may be quicker than the lock.
		if lock, err := hold(path); err == nil {
			return &private{path, lock}, nil
		} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errHeld) {
			return nil, errors.Join(err, os.Remove(path))
		}
	}
	return nil, errHeld
}

// errHeld: another process has a folder.
var errHeld = errors.New("a folder for the socket is taken away again and again")

func (p *private) file(name string) string { return filepath.Join(p.path, name) }

// remove takes the folder away, and then its lock.
func (p *private) remove() {
	for _, name := range [...]string{p.file(socketNew), p.file(socketOld), p.path} {
		_ = os.Remove(name) // it may not be there
	}
	_ = p.lock.Close() // it has only a lock
}

// clearPrivates removes the private folders of this user whose processes were killed.
func clearPrivates(in string) {
	entries, err := os.ReadDir(in)
	if err != nil {
		return // who makes one says why not
	}
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), privatePrefix)
		info, err := e.Info()
		if !ok || err != nil || number == "" || strings.Trim(number, "0123456789") != "" || info.Mode() != fs.ModeDir|0o700 || !ours(info) {
			continue
		}
		p := private{path: filepath.Join(in, e.Name())}
		if p.lock, err = hold(p.path); err != nil {
			continue // it is in use, or has gone
		}
		if p.known() {
			p.remove()
		} else {
			_ = p.lock.Close() // it has only a lock
		}
	}
}

// known reports whether nothing but sockets of servers is in the folder.
func (p *private) known() bool {
	entries, err := os.ReadDir(p.path)
	for _, e := range entries {
		if e.Type() != fs.ModeSocket || e.Name() != socketNew && e.Name() != socketOld {
			return false
		}
	}
	return err == nil
}
