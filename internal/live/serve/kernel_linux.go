package serve

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"
	"unsafe"
)

const supported = true

// Of include/uapi/asm-generic; package syscall lacks them.
const (
	soPeerPIDFD  = 77
	sysPIDFDOpen = 434
	pollIn       = 1
)

// ours reports whether a file belongs to this process's user.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// hold opens and locks a folder until the file is closed, or its process ends. The error is errHeld
// if another process does, or an error of the system.
func hold(path string) (*os.File, error) {
	f, err := os.OpenFile(path, syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = errHeld
	case err == nil:
		err = sameFolder(f, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sameFolder returns an error if an open folder is not the one that has a path now.
func sameFolder(f *os.File, path string) error {
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := os.Lstat(path)
	if err == nil && !os.SameFile(mine, there) {
		err = fs.ErrNotExist
	}
	return err
}

// identify queries the kernel for the process at the other end of a Unix socket.
func identify(conn net.Conn) (Peer, error) {
	unix, ok := conn.(syscall.Conn)
	if !ok {
		return Peer{}, errors.New("no socket")
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var cred *syscall.Ucred
	var failed error
	pidfd := -1
	err = raw.Control(func(fd uintptr) {
		if cred, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); failed != nil || cred.Pid == 0 {
			return
		}
		// It is the process that connected, even if its id is another one's by now.
		if got, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, soPeerPIDFD); err == nil {
			pidfd = got
		} else if got, _, no := syscall.Syscall(sysPIDFDOpen, uintptr(cred.Pid), 0, 0); no == 0 {
			pidfd = int(got)
		} else {
			failed = no
		}
	})
	if err = errors.Join(err, failed); err != nil || pidfd < 0 {
		return Peer{}, err
	}
	return Peer{
		PID:   cred.Pid,
		Dead:  func() bool { return readable(pidfd) },
		Close: func() { _ = syscall.Close(pidfd) }, // it was only looked at
	}, nil
}

// readable reports whether a descriptor can be read now. A pidfd can once its process has ended,
// waited for or not.
func readable(fd int) bool {
	poll := struct {
		fd            int32
		events, given int16
	}{fd: int32(fd), events: pollIn}
	var now syscall.Timespec
	n, _, no := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
	return no == 0 && n == 1
}
