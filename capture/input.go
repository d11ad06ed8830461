package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
)

// An Input is one capture: a file, or a part of a report database.
type Input struct {
	Path string
	Rank event.Opt[uint64] // of the host process, from a name like graph_capture_0_of_4.json or from a database

	part *part // of a database; nil if it is a file
}

// Inputs returns the captures that path names: the file itself, or those in the
// folder. In a folder these are the files graph_capture_<rank>_of_<world>.json by
// rank; if there are none, all *.json by name, numbers in names by value. Files may
// also end in .json.gz or .json.zst. Sidecars (*.python_io.json, config.json) and
// hidden files are left out, folders inside are not entered. A rank that comes twice
// and a folder without captures are refused. Errors are *event.InputError.
func Inputs(path string) ([]Input, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	if !info.IsDir() {
		return []Input{newInput(path)}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	var ranks, others []Input
	for _, entry := range entries {
		name := entry.Name()
		stem, ok := jsonStem(name)
		if !ok || strings.HasPrefix(name, ".") || stem == "config" || strings.HasSuffix(stem, ".python_io") {
			continue
		}
		full := filepath.Join(path, name)
		// A link may lead to a folder; one that leads nowhere is kept and fails.
		if info, err := os.Stat(full); err == nil && info.IsDir() {
			continue
		}
		if in := newInput(full); in.Rank.OK {
			ranks = append(ranks, in)
		} else {
			others = append(others, in)
		}
	}
	if len(ranks) > 0 {
		return byRank(path, ranks)
	}
	if len(others) == 0 {
		return nil, &event.InputError{File: path, Node: -1, Reason: "no captures (*.json, *.json.gz, *.json.zst) in this folder", Err: fs.ErrNotExist}
	}
	slices.SortFunc(others, func(a, b Input) int { return natural(a.Path, b.Path) })
	return others, nil
}

func byRank(path string, inputs []Input) ([]Input, error) {
	slices.SortStableFunc(inputs, func(a, b Input) int { return cmp.Compare(a.Rank.V, b.Rank.V) })
	for i := 1; i < len(inputs); i++ {
		if a, b := inputs[i-1], inputs[i]; a.Rank == b.Rank {
			return nil, &event.InputError{File: path, Node: -1, Reason: fmt.Sprintf("rank %d is there twice: %s and %s",
				a.Rank.V, shown.Head(filepath.Base(a.Path), 60), shown.Head(filepath.Base(b.Path), 60))}
		}
	}
	return inputs, nil
}

func newInput(path string) Input {
	in := Input{Path: path}
	stem, _ := jsonStem(filepath.Base(path))
	if rest, ok := strings.CutPrefix(stem, "graph_capture_"); ok {
		if rank, world, ok := strings.Cut(rest, "_of_"); ok {
			r, rankErr := strconv.ParseUint(rank, 10, 63)
			_, worldErr := strconv.ParseUint(world, 10, 63)
			if rankErr == nil && worldErr == nil {
				in.Rank = event.Some(r)
			}
		}
	}
	return in
}

// jsonStem returns a file name without its ending, if that is one of ours.
func jsonStem(name string) (stem string, ok bool) {
	for _, ending := range []string{".json", ".json.gz", ".json.zst"} {
		if stem, ok := strings.CutSuffix(name, ending); ok {
			return stem, true
		}
	}
	return "", false
}

// natural compares names so that runs of digits count as numbers: a9 before a10.
func natural(a, b string) int {
	whole := cmp.Compare(a, b)
	for a != "" && b != "" {
		na, nb := digitRun(a), digitRun(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), whole)
}

func digitRun(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// open opens the file. Iterating over the Reader's nodes closes it. A regular file
// that is written to in the meantime is refused at the end with event.ErrChanged, because
// what was read may be half old and half new; a pipe is read once, as it comes. An event
// log may grow while it is read.
func (in Input) open() (*Reader, error) {
	if in.part != nil {
		return &Reader{file: in.Path, part: in.part}, nil
	}
	f, err := os.Open(in.Path)
	if err != nil {
		return nil, fileError(in.Path, err)
	}
	before, err := f.Stat()
	if err == nil && before.IsDir() {
		err = errors.New("is a folder")
	}
	if err != nil {
		_ = f.Close() // nothing was written to it
		return nil, fileError(in.Path, err)
	}
	r := NewReader(f, in.Path)
	r.close = f.Close
	if before.Mode().IsRegular() {
		r.regular, r.stat = before, f.Stat
	}
	return r, nil
}

// unchanged reports whether a file looks as it did before.
func unchanged(before, after fs.FileInfo) bool {
	return os.SameFile(before, after) && after.Size() == before.Size() && after.ModTime().Equal(before.ModTime())
}

// sameAs refuses, and closes, a file that is not the one that was read before.
func (r *Reader) sameAs(before fs.FileInfo) error {
	if r.part != nil || r.regular != nil && unchanged(before, r.regular) {
		return nil
	}
	_ = r.shut() // nothing was read from it
	return &event.InputError{File: r.file, Node: -1, Reason: "file " + event.ErrChanged.Error(), Err: event.ErrChanged}
}

// fileError wraps an error of the operating system, whose text repeats the path.
func fileError(path string, err error) error {
	reason := err.Error()
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		reason = e.Op + ": " + e.Err.Error()
	}
	return &event.InputError{File: path, Node: -1, Reason: reason, Err: err}
}
