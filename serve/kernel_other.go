//go:build !linux

package serve

import (
	"io/fs"
	"net"
)

const supported = false

func ours(fs.FileInfo) bool { return false }

func identify(net.Conn) (Peer, error) { return Peer{}, ErrPlatform }
