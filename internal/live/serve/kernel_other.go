//go:build !linux

package serve

import (
	"io/fs"
	"net"
	"os"
)

const supported = false

func ours(fs.FileInfo) bool { return false }

func hold(string) (*os.File, error) { return nil, ErrPlatform }

func identify(net.Conn) (Peer, error) { return Peer{}, ErrPlatform }
