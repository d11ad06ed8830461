package capture

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cbl1/cbl1/event"
)

const (
	// spoolInMemory is how much of a source that cannot seek is kept in memory, in bytes.
	spoolInMemory = 1 << 20
	// maxSpool is how much of it is kept at all, in bytes.
	maxSpool = 8 << 30
)

// A spool reads a source that cannot seek, and keeps what it has read.
type spool struct {
	src  io.Reader
	dir  string // of the file
	most int64  // how much is kept at all
	kept bytes.Buffer
	file *os.File // what is not in kept; nil = nothing
	size int64    // of both
	off  bool     // nothing is kept any more

	reason string // why something cannot be kept
	err    error  // the cause
}

// Read reads and keeps bytes. It returns an error if they cannot be kept.
func (s *spool) Read(b []byte) (int, error) {
	n, err := s.src.Read(b)
	if n > 0 && !s.off {
		err = cmp.Or(s.keep(b[:n]), err)
	}
	return n, err
}

func (s *spool) keep(b []byte) (err error) {
	if s.size += int64(len(b)); s.size <= spoolInMemory {
		s.kept.Write(b)
		return nil
	}
	switch {
	case s.dir == "":
		return s.refuse("is longer than 1 MiB, must be read twice, and Options.TempDir names no folder to keep it in", event.ErrTooLarge)
	case s.size > s.most:
		return s.refuse(fmt.Sprintf("is longer than %s, which is the most that is kept in %s to read it twice: name a file instead",
			inUnits(s.most), s.dir), event.ErrTooLarge)
	case s.file == nil:
		if s.file, err = os.CreateTemp(s.dir, "cbl1-*"); err == nil {
			_ = os.Remove(s.file.Name()) // nothing can leave it behind then; Windows refuses
		}
	}
	if err == nil {
		_, err = s.file.Write(b)
	}
	if err != nil {
		return s.refuse(fmt.Sprintf("cannot be kept in %s to read it twice: %v: name a file instead", s.dir, err), err)
	}
	return nil
}

// inUnits returns a limit in words.
func inUnits(bytes int64) string {
	if bytes%(1<<30) == 0 {
		return fmt.Sprintf("%d GiB", bytes>>30)
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

func (s *spool) refuse(reason string, err error) error {
	s.reason, s.err = reason, err
	return err
}

// drop ends the keeping.
func (s *spool) drop() {
	s.off, s.kept = true, bytes.Buffer{}
}

// again returns all that was read, from the start.
func (s *spool) again() (io.Reader, error) {
	kept := bytes.NewReader(s.kept.Bytes())
	if s.file == nil {
		return kept, nil
	}
	_, err := s.file.Seek(0, io.SeekStart)
	return io.MultiReader(kept, s.file), err
}

// close removes the file.
func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if gone := os.Remove(s.file.Name()); err == nil && !errors.Is(gone, os.ErrNotExist) {
		err = gone
	}
	return err
}
