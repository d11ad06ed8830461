package capture

import (
	"cmp"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
)

// windows are the captures of one run that was recorded in several files. Each counts its nodes
// from 0; all together are counted as one capture.
type windows struct {
	inputs []Input
	stats  []fs.FileInfo // of each file when it was opened first
	starts []uint64      // counter of the first node of each, as far as they were read
	next   uint64        // counter behind the last node of those
}

// Join returns one Input that reads the captures at some paths as windows of one run, in the
// order of the paths. A folder stands for the captures in it, by name, numbers in names by value. Names
// of tt-mlir's runtime (main_pid7_tid8_exec9.json) are ordered by the number of the execution.
// Join returns the files that a folder passes over, too. It refuses captures of several ranks,
// processes or threads, and a file that comes twice. Errors are *event.InputError.
func Join(paths ...string) (Input, []Lookalike, error) {
	var all []Input
	var passed []Lookalike
	for _, path := range paths {
		l, err := List(path)
		if err != nil {
			return Input{}, nil, err
		}
		byExecution(l.Inputs)
		all, passed = append(all, l.Inputs...), append(passed, l.Passed...)
	}
	if len(all) == 0 {
		return Input{}, nil, &event.InputError{Node: -1, Reason: "there are no windows to join", Err: fs.ErrNotExist}
	}
	before := map[string]bool{}
	for _, in := range all {
		reason, path := differs(in, all[0]), filepath.Clean(in.Path)
		if before[path] {
			reason = "comes twice among the windows of one run"
		}
		if before[path] = true; reason != "" {
			return Input{}, nil, &event.InputError{File: in.Path, Node: -1, Reason: reason}
		}
	}
	if len(all) == 1 {
		return all[0], passed, nil
	}
	name := paths[0]
	if len(paths) > 1 {
		name = fmt.Sprintf("%s and %s", name, shown.Plural(int64(len(all)-1), "more window"))
	}
	return Input{Path: name, Rank: all[0].Rank, windows: all}, passed, nil
}

// differs says why a window is not of the run of another one, or "".
func differs(in, first Input) string {
	mine, _, ok := execution(in.Path)
	its, _, also := execution(first.Path)
	switch {
	case in.Rank != first.Rank:
		return fmt.Sprintf("is of another rank than %s: windows of one run are of one process", shown.Name(first.Path, 60))
	case ok && also && mine != its:
		return fmt.Sprintf("is of %s, and %s is of %s: windows of one run are of one thread", mine, shown.Name(first.Path, 60), its)
	}
	return ""
}

// execution returns what a name of tt-mlir's runtime says: "pid7_tid8", and the number of the
// first execution in the file.
func execution(path string) (thread string, index uint64, ok bool) {
	stem, _ := inputStem(filepath.Base(path))
	at, digits := strings.LastIndex(stem, "_pid"), strings.LastIndex(stem, "_exec")
	if at < 0 || digits < at {
		return "", 0, false
	}
	index, err := strconv.ParseUint(stem[digits+len("_exec"):], 10, 63)
	return stem[at+1 : digits], index, err == nil
}

// byExecution orders windows whose names all say at which execution they begin.
func byExecution(all []Input) {
	index := func(in Input) uint64 {
		_, n, _ := execution(in.Path)
		return n
	}
	for _, in := range all {
		if _, _, ok := execution(in.Path); !ok {
			return
		}
	}
	slices.SortStableFunc(all, func(a, b Input) int { return cmp.Compare(index(a), index(b)) })
}

// joined reads windows into one document.
type joined struct {
	*document
	windows *windows
}

// join reads windows one after the other.
func (r *joined) join() error {
	w := r.windows
	var last event.Pos
	for i := range w.inputs {
		one, err := w.open(i)
		if err != nil {
			return err
		}
		one.before = shifted{nodes: w.next, bytes: last.Offset, lines: last.Line}
		var refused error
		one.yield = func(n *node) bool {
			if n.Pos.Node == int64(w.next) && one.info.Early {
				if refused = r.takes(i, one.info); refused != nil {
					return false
				}
			}
			last = n.Pos
			return r.yield(n)
		}
		if r.listed != nil {
			one.listed = func(row listedBuffer) {
				row.at, row.window = row.at+w.next, w.next
				r.listed(row)
			}
		}
		w.starts = append(w.starts, w.next)
		if err = one.run(); err == nil {
			err = r.takes(i, one.info)
		}
		r.info.Unread.addAll(one.info.Unread)
		r.info.Listed.addAll(one.info.Listed)
		err = cmp.Or(refused, err)
		_ = one.shut() // of a file open for reading only
		if err != nil {
			return err
		}
		start := w.next
		w.next += uint64(one.count)
		if r.ended == nil {
			continue
		}
		if err := r.ended(start, w.next); err != nil {
			return err
		}
	}
	return nil
}

// open opens a window. It has to be the file that an earlier reading has seen.
func (w *windows) open(i int) (*Reader, error) {
	one, err := w.inputs[i].open()
	switch {
	case err != nil:
		return nil, err
	case one.opened.regular == nil:
		_ = one.shut() // nothing was read from it
		return nil, &event.InputError{File: one.file, Node: -1, Reason: "is no regular file: windows are read twice"}
	case i == len(w.stats):
		w.stats = append(w.stats, one.opened.regular)
	case !unchanged(w.stats[i], one.opened.regular):
		_ = one.shut() // nothing was read from it
		return nil, errChanged(one.file)
	}
	one.log = func(iter.Seq2[*event.Event, error]) error {
		return &event.InputError{File: one.file, Line: 1, Node: -1, Reason: "is no capture, and so no window of a run", Err: event.ErrNotCapture}
	}
	return one, nil
}

// takes adds what one window says of the run to what the others say.
// Devices are known early if the first window says all of them before its graph.
func (r *joined) takes(i int, one reportInfo) error {
	refuse := func(field, reason string) error {
		return &event.InputError{File: r.windows.inputs[i].Path, Node: -1, Field: field, Reason: reason + " than in " + shown.Name(r.windows.inputs[0].Path, 60)}
	}
	if r.info.Rank.OK && one.Rank.OK && r.info.Rank != one.Rank {
		return refuse("metadata.rank", "is another one")
	}
	if !r.info.Rank.OK {
		r.info.Rank = one.Rank
	}
	r.info.Anomaly |= one.Anomaly
	before := r.info.Devices
	for _, d := range one.Devices {
		if slices.Contains(before, d) {
			continue
		}
		for _, o := range before {
			switch {
			case o.Unreadable || d.Unreadable: // it says nothing
			case o.ID == d.ID:
				return refuse("devices", fmt.Sprintf("says otherwise of device %d", d.ID))
			case o.Arch != d.Arch:
				return refuse("devices", fmt.Sprintf("has device %d of another architecture", d.ID))
			}
		}
		r.info.Devices, r.info.Early = append(r.info.Devices, d), i == 0 && one.Early
	}
	return nil
}

// inWindow returns the counter among all nodes of one in a window. It reads the windows before it.
func inWindow(in Input, number, node uint64) (uint64, error) {
	if number == 0 || number > uint64(len(in.windows)) {
		return 0, &event.InputError{File: in.Path, Node: -1, Reason: fmt.Sprintf("there is no window %d: it has %d of them, counted from 1", number, len(in.windows))}
	}
	r := &Reader{document: document{file: in.Path}, windows: &windows{inputs: in.windows[:number]}}
	for _, err := range r.nodes() {
		if err != nil {
			return 0, err
		}
	}
	start := r.windows.starts[number-1]
	if n := r.windows.next - start; node >= n {
		return 0, &event.InputError{File: in.windows[number-1].Path, Node: -1, Reason: fmt.Sprintf("there is no node %d: it has %d of them, counted from 0", node, n)}
	}
	return start + node, nil
}

// list returns the windows, as far as they were read.
func (w *windows) list() (out []event.Window) {
	if w == nil {
		return nil
	}
	for i, start := range w.starts {
		out = append(out, event.Window{File: w.inputs[i].Path, First: start})
	}
	return out
}
