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

// restrict gives a socket without a path its mode: the path has that mode when it appears, without the bits
// of the umask.
func restrict(c syscall.RawConn, mode fs.FileMode) error {
	var failed error
	err := c.Control(func(fd uintptr) { failed = syscall.Fchmod(int(fd), uint32(mode.Perm())) })
	return errors.Join(err, failed)
}

// Identify queries the kernel for the process that made a connection to a Unix socket: SO_PEERCRED
// gives its id, and a pidfd reports its end. The error is ErrPlatform where this is not Linux, or
// an error of the system; the process is unknown then, as is a process of another namespace.
func Identify(conn net.Conn) (Peer, error) {
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
		Close: func() { _ = syscall.Close(pidfd) }, // it was only polled
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
