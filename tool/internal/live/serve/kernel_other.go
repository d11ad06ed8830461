//go:build !linux

package serve

import (
	"io/fs"
	"net"
	"syscall"
)

const supported = false

func ours(fs.FileInfo) bool { return false }

func restrict(syscall.RawConn, fs.FileMode) error { return ErrPlatform }

// Identify fails: the error is ErrPlatform.
func Identify(net.Conn) (Peer, error) { return Peer{}, ErrPlatform }
