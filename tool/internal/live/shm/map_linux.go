package shm

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// noFollow keeps from links, and from waiting for the writer of a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC

func open(path string) (*Region, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	return mapped(f, path, syscall.PROT_READ, least(Version3))
}

func create(path string) (*Region, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		if err := f.Truncate(Size); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return mapped(f, path, syscall.PROT_READ|syscall.PROT_WRITE, Size)
}

// mapped maps a file, which stays open so that its size can be queried. One that is to be written
// has the size of a region exactly.
func mapped(f *os.File, path string, prot, want int) (*Region, error) {
	fail := func(err error) (*Region, error) {
		_ = f.Close() // nothing was written
		return nil, &fs.PathError{Op: "map", Path: path, Err: err}
	}
	info, err := f.Stat()
	if err != nil {
		return fail(err)
	}
	size := info.Size()
	switch {
	case !info.Mode().IsRegular():
		return fail(errors.New("is no file"))
	case size < int64(want), prot&syscall.PROT_WRITE != 0 && size != Size:
		return fail(&SizeError{Size: size, Want: int64(want)})
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(min(size, Size)), prot, syscall.MAP_SHARED)
	if err != nil {
		return fail(err)
	}
	r, err := Over(b)
	if err != nil {
		return fail(errors.Join(err, syscall.Munmap(b)))
	}
	r.unmap = func() error { return errors.Join(syscall.Munmap(b), f.Close()) }
	r.size = func() (int64, error) {
		info, err := f.Stat()
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	return r, nil
}

func alive(pid int32) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(int(pid), 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
