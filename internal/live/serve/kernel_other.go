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

func identify(net.Conn) (Peer, error) { return Peer{}, ErrPlatform }
