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
	"github.com/cbl1/cbl1/internal/packed"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
	"github.com/cbl1/cbl1/tool/tensor"
)

// An Input is one capture: a file, or a part of a report database.
type Input struct {
	Path string
	Rank event.Opt[uint64] // of the host process, from a name like graph_capture_0_of_4.json or from a database

	part *part // of a database; nil if it is a file
}

// Inputs returns the captures that path names: the file itself, or those in the folder. In a folder these
// are the files graph_capture_<rank>_of_<world>.json by rank; if there are none, all *.json by name,
// numbers in names by value; then the event logs, *.jsonl, and the allocator's dumps, *detailed_memory_usage.csv, by name. Files may also end in .gz or .zst.
// Sidecars (*.python_io.json, *.comparison_records.json, config.json) and hidden files are left out, folders inside are not entered.
// Answers of cbl1 and other files with such names are passed over: see [List]. A rank that comes twice and a folder without
// captures are refused. Errors are *event.InputError.
func Inputs(path string) ([]Input, error) {
	l, err := List(path)
	return l.Inputs, err
}

// A Listing has the captures that a path names.
type Listing struct {
	Inputs []Input
	Passed []Lookalike // by name
}

// A Lookalike is a file that is called like an input and is none.
type Lookalike struct{ Path, Why string }

// List returns the result of Inputs, and the files that it passes over.
func List(path string) (l Listing, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return l, fileError(path, err)
	}
	if !info.IsDir() {
		l.Inputs = []Input{newInput(path)}
		return l, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return l, fileError(path, err)
	}
	var ranks, others, logs, dumps []Input
	for _, entry := range entries {
		full := filepath.Join(path, entry.Name())
		stem, ending := inputStem(entry.Name())
		// A link may lead to a folder; one that leads nowhere is kept and fails.
		info, err := os.Stat(full)
		if ending == "" || sideFile(stem) || strings.HasPrefix(entry.Name(), ".") || err == nil && info.IsDir() {
			continue
		}
		why := ""
		if strings.HasSuffix(stem, ".expected") || strings.HasSuffix(stem, ".right") {
			why = "it says what a test expects"
		}
		switch {
		case err == nil && !info.Mode().IsRegular():
			why = Irregular(info.Mode())
		case why == "" && isAnswer(full):
			why = "it is an answer of cbl1: cbl1 diff and cbl1 page --against read saved reports"
		}
		in := newInput(full)
		switch {
		case why != "":
			l.Passed = append(l.Passed, Lookalike{full, why})
		case ending == dumpEnding:
			dumps = append(dumps, in)
		case ending == ".jsonl":
			logs = append(logs, in)
		case in.Rank.OK:
			ranks = append(ranks, in)
		default:
			others = append(others, in)
		}
	}
	slices.SortFunc(dumps, func(a, b Input) int { return natural(a.Path, b.Path) })
	return l.order(path, ranks, others, logs, dumps)
}

// order orders the files of a folder.
func (l Listing) order(path string, ranks, others, logs, dumps []Input) (Listing, error) {
	byName := func(a, b Input) int { return natural(a.Path, b.Path) }
	slices.SortFunc(others, byName)
	slices.SortFunc(logs, byName)
	if len(ranks) > 0 {
		for _, in := range others {
			l.Passed = append(l.Passed, Lookalike{in.Path, "the captures of the ranks are beside it"})
		}
		var err error
		if others, err = byRank(path, ranks); err != nil {
			return Listing{}, err
		}
	}
	slices.SortFunc(l.Passed, func(a, b Lookalike) int { return natural(a.Path, b.Path) })
	if l.Inputs = slices.Concat(others, logs, dumps); len(l.Inputs) == 0 {
		return l, &event.InputError{
			File: path, Node: -1, Reason: "no captures, logs or dumps (*.json, *.jsonl, *detailed_memory_usage.csv, also with .gz or .zst) in this folder", Err: fs.ErrNotExist,
		}
	}
	return l, nil
}

// sideFile reports whether a file is one that ttnn and its viewer write beside captures: a
// part of the report, and nothing to be read.
func sideFile(stem string) bool {
	return stem == "config" || strings.HasSuffix(stem, ".python_io") || strings.HasSuffix(stem, ".comparison_records") ||
		strings.Contains(stem, "cluster_descriptor") || strings.Contains(stem, "mesh_coordinate_mapping")
}

// isAnswer reports whether a file is a JSON answer of this program, such as a saved report. It reads the first
// bytes. A file that cannot be read is no answer.
func isAnswer(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // open for reading only
	plain := packed.Open(f)
	defer plain.Close()
	start, _, _ := packed.Peek(plain, func([]byte) bool { return false })
	return strings.HasPrefix(strings.Join(strings.Fields(string(start)), ""), `{"schema":"cbl1.`)
}

// Irregular returns a text about a file that is not regular, like "it is a socket", or "". Opening such a
// file may wait for ever.
func Irregular(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "it is a pipe: name it to read it"
	case mode&fs.ModeSocket != 0:
		return "it is a socket"
	case mode&fs.ModeDevice != 0:
		return "it is a device"
	}
	return ""
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
	stem, _ := inputStem(filepath.Base(path))
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

// dumpEnding ends the names of the allocator's dumps.
const dumpEnding = "detailed_memory_usage.csv"

// inputStem returns a file name without its ending, and .json, .jsonl or dumpEnding if it has one of
// these.
func inputStem(name string) (stem, ending string) {
	for _, packed := range []string{"", ".gz", ".zst"} {
		for _, ending := range []string{".json", ".jsonl", dumpEnding} {
			if stem, ok := strings.CutSuffix(name, ending+packed); ok {
				return stem, ending
			}
		}
	}
	return "", ""
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

// open opens the file. Iterating over the Reader's nodes closes it. A regular file that is written to in
// the meantime is refused at the end with event.ErrChanged, because its bytes may be half old and half new.
// A pipe is kept while it is read, since a capture is read twice. An event log may grow while it is read.
func (in Input) open() (*Reader, error) {
	if in.part != nil {
		return &Reader{doc: graph.Document{File: in.Path}, part: in.part}, nil
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
	r.opened.close, r.beside = f.Close, in.Path
	if before.Mode().IsRegular() {
		r.opened.regular, r.opened.stat = before, f.Stat
	}
	return r, nil
}

// fileError wraps an error of the operating system, whose text repeats the path.
func fileError(path string, err error) error {
	reason := err.Error()
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		reason = e.Op + ": " + e.Err.Error()
	}
	return &event.InputError{File: path, Node: -1, Reason: reason, Err: err}
}

// Options add facts that a capture lacks, or override its own. The zero value leaves everything to the
// capture.
type Options struct {
	Arch  l1.Arch // "" = by the file's L1 size, or Blackhole
	Base  uint64  // where circular buffers start; 0 = by file or architecture
	Align uint64  // alignment of their addresses; 0 = by architecture
	// L1Small is the size of the L1_SMALL area at the top of L1. Absent: the file gives it by
	// the size of a bank, or there is none. L1 buffers without an address are placed below it.
	L1Small event.Opt[uint64]
	MaxL1   uint64 // size of L1; 0 = by file or architecture
	// NoInfer leaves operations that found their program in the cache without one.
	NoInfer bool
	// At, if present, is the counter of a node. After it the source yields the open programs
	// as they stand, so that a query of this moment sees them.
	At event.Opt[uint64]
	// TempDir is the folder for a temporary file with what a pipe, or another source that cannot seek, has
	// beyond 1 MiB. Such a source is refused with event.ErrTooLarge if TempDir is "".
	TempDir string
	// Operations yields the start and the end of each function. Without it, events name the
	// functions that run (Event.Op), and a function in which nothing happens has no event.
	Operations bool
	// Again keeps a source that cannot seek for another call of Events. Reader.Close ends that.
	Again bool
	// Tensors, if not nil, gets the tensors of L1 buffers before the first event. A log or a dump has none.
	Tensors *tensor.Table
}

func (o Options) overrides() survey.Overrides {
	return survey.Overrides{Arch: o.Arch, Base: o.Base, Align: o.Align, MaxL1: o.MaxL1, L1Small: o.L1Small}
}
