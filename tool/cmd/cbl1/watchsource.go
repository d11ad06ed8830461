package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/shm"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/session"
)

// A looker returns the figures of now and, on request, the contents of the cores of one device.
type looker interface {
	look(at watch.DeviceKey, detail bool) (watch.Snapshot, error)
	close()
}

// source opens the watched log, server or folder.
func (in *watching) source(args []string) (looker, error) {
	if in.demo > 0 {
		if len(args) > 0 {
			return nil, errors.New("--demo invents its figures: it takes no argument")
		}
		return newDemo(in.demo)
	}
	if len(args) == 0 {
		return nil, errors.New("nothing to watch: name a log, http://ADDRESS of a server, or /dev/shm")
	}
	name := args[0]
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		return &serverSource{url: strings.TrimRight(name, "/"), client: http.Client{Timeout: httpRequest}}, nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return &regions{folder: name, board: in.board}, nil
	}
	return in.follow(name)
}

// snapshot begins one of now.
func snapshot(from watch.Feed) watch.Snapshot {
	return watch.Snapshot{
		Schema: watch.Schema, Source: from, Time: time.Now().UnixNano(), Devices: []answer.LiveDevice{}, Processes: []watch.Process{}, Odd: []watch.OddityCount{},
	}
}

// following is an event log that grows.
type following struct {
	name string
	tail *tail
	done chan struct{}

	mu      sync.Mutex // all below; a session's events come from one goroutine
	session *session.Session
	notes   *watch.Notes
	failure error
}

// follow opens a log. With --once it is read to its end at once.
func (in *watching) follow(name string) (looker, error) {
	f := &following{name: name, done: make(chan struct{})}
	f.begin()
	if in.once {
		log, shut, err := in.openLog(name)
		if err != nil {
			return nil, err
		}
		defer shut()
		close(f.done)
		f.read(log)
		return f, f.failure
	}
	if name == "-" {
		return nil, errors.New("standard input can be shown once (--once); a log that grows has a name")
	}
	file, err := in.openFile(name)
	if err != nil {
		return nil, err
	}
	before, err := file.Stat()
	if err != nil {
		_ = file.Close() // nothing was read
		return nil, err
	}
	if !before.Mode().IsRegular() {
		err = fmt.Errorf("%s: only a file can be followed; --once shows anything else", name)
	} else {
		err = beginsLog(name, file, before.Size())
	}
	if err != nil {
		_ = file.Close() // open for reading only
		return nil, err
	}
	f.tail = &tail{path: name, file: file, stop: make(chan struct{})}
	go func() {
		defer close(f.done)
		for f.read(event.NewLog(f.tail, name)); f.tail.again(); f.read(event.NewLog(f.tail, name)) {
			f.mu.Lock()
			f.begin()
			f.mu.Unlock()
		}
	}()
	return f, nil
}

// beginsLog refuses a file that does not begin as an event log. Of a file without a line end the
// first line may still be written.
func beginsLog(name string, file io.ReaderAt, size int64) error {
	start := make([]byte, min(size, 64<<10))
	n, _ := file.ReadAt(start, 0) // an error comes again when it is read
	text := bytes.TrimLeft(start[:n], " \t\r\n")
	if len(text) == 0 {
		return nil
	}
	partial := text[0] == '{' && n < 64<<10 && !bytes.Contains(text, []byte("\n"))
	for _, err := range event.NewLog(io.NewSectionReader(file, 0, size), name).Events() {
		if err == nil || partial && !errors.Is(err, event.ErrNotCapture) {
			break
		}
		return noLog(err)
	}
	return nil
}

// noLog names the verbs that read an input that is no event log.
func noLog(err error) error {
	return fmt.Errorf("no event log (cbl1 report and cbl1 page read captures, cbl1 convert makes a log of one): %w", err)
}

// begin forgets the log before.
func (f *following) begin() {
	f.session, f.notes, f.failure = &session.Session{}, &watch.Notes{}, nil
}

// read applies a log to its end.
func (f *following) read(log *event.Log) {
	session, notes, begun := f.session, f.notes, false
	for e, err := range log.Events() {
		if err == nil {
			notes.Take(e, session.Apply(e))
			begun = true
			continue
		}
		if !begun {
			err = noLog(err)
		}
		f.mu.Lock()
		f.failure = err
		f.mu.Unlock()
	}
}

func (f *following) look(at watch.DeviceKey, detail bool) (watch.Snapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failure != nil {
		return watch.Snapshot{}, f.failure
	}
	fleet := f.session.Fleet()
	now := snapshot(watch.FeedLog)
	if f.tail != nil {
		now.Behind = f.tail.behind() // before the figures: they have at least what was read by then
	}
	f.notes.Add(&now, "", fleet, math.MaxInt)
	if d, err := fleet.Device(device.ID(at.Device)); err == nil && detail {
		now.Detail = watch.DetailOf(watch.Fullest(fleet, d, f.notes.Chips(d.ID())))
		now.Detail.Device = at.Device
	}
	return now, nil
}

func (f *following) close() {
	if f.tail != nil {
		close(f.tail.stop)
	}
	<-f.done
}

// tailWait is how long the end of a log is left alone.
const tailWait = 50 * time.Millisecond

// A tail reads a file that grows. At its end it waits, until the file was cut or another one
// has its name.
type tail struct {
	path   string
	file   *os.File
	stop   chan struct{}
	at     atomic.Int64 // bytes that were read
	ended  atomic.Bool  // all was read, and what was read was taken in
	waited atomic.Bool  // that was so since the last look
}

func (t *tail) Read(b []byte) (int, error) {
	for {
		n, err := t.file.Read(b)
		t.at.Add(int64(n))
		if n > 0 || err != io.EOF {
			t.ended.Store(false)
			return n, err
		}
		t.ended.Store(true)
		t.waited.Store(true)
		select {
		case <-t.stop:
			return 0, io.EOF
		case <-time.After(tailWait):
		}
		if t.over() {
			return 0, io.EOF
		}
	}
}

// over reports whether nothing more comes: the file was cut, or another one has its name, and all
// of this one was read.
func (t *tail) over() bool {
	mine, err := t.file.Stat()
	if err != nil || mine.Size() < t.at.Load() {
		return true
	}
	there, err := os.Stat(t.path)
	return err == nil && !os.SameFile(mine, there) && mine.Size() == t.at.Load()
}

// again opens the file that has the name now, from its start. It returns false when it is to end.
func (t *tail) again() bool {
	for {
		select {
		case <-t.stop:
			_ = t.file.Close() // open for reading only
			return false
		case <-time.After(tailWait):
		}
		if !t.over() {
			continue // the log cannot be read on
		}
		next, err := os.Open(t.path)
		if err != nil {
			continue
		}
		_ = t.file.Close() // open for reading only
		t.file = next
		t.at.Store(0)
		return true
	}
}

// behind is how many bytes wait to be read, at least 1; 0 where there were none at some moment
// since the last look.
func (t *tail) behind() int64 {
	if waited := t.waited.Swap(false); waited || t.ended.Load() {
		return 0
	}
	info, err := os.Stat(t.path)
	if err != nil {
		return 0
	}
	return max(1, info.Size()-t.at.Load())
}

// A serverSource queries a server over HTTP.
type serverSource struct {
	url    string
	client http.Client
}

// maxFigures bounds what a server may answer, in bytes.
const maxFigures = 64 << 20

func (a *serverSource) look(at watch.DeviceKey, detail bool) (now watch.Snapshot, err error) {
	where := a.url + "/figures"
	if detail {
		where = fmt.Sprintf("%s?device=%d&fleet=%s", where, at.Device, url.QueryEscape(at.Fleet))
	}
	r, err := a.client.Get(where)
	if failed, ok := errors.AsType[*url.Error](err); ok { // the reason before the address
		err = fmt.Errorf("%w, asking %s", failed.Err, a.url)
	}
	if err != nil {
		return now, err
	}
	defer func() { _ = r.Body.Close() }() // it was only read
	if r.StatusCode != http.StatusOK {
		return now, fmt.Errorf("%s answers %s", a.url, r.Status)
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, maxFigures)).Decode(&now); err != nil {
		return watch.Snapshot{}, fmt.Errorf("%s: %w", where, err)
	}
	if now.Schema != watch.Schema {
		return watch.Snapshot{}, fmt.Errorf("%s: its schema is %.40q, want %s", where, now.Schema, watch.Schema)
	}
	return now, nil
}

func (a *serverSource) close() { a.client.CloseIdleConnections() }

// regions are the regions of shared memory in a folder.
type regions struct {
	folder string
	board  l1.Spec
}

func (r *regions) look(watch.DeviceKey, bool) (watch.Snapshot, error) {
	now := snapshot(watch.FeedRegions)
	found, err := shm.List(r.folder)
	if err != nil {
		return now, err
	}
	ids := map[uint64]bool{}
	var rows []answer.LiveDevice
	var chips []uint64
	var processes [][]watch.Process
	for _, one := range found {
		im, err := readRegion(one.Path)
		if err != nil {
			now.Refused = append(now.Refused, fmt.Sprintf("chip %d: %v", one.ASIC, err))
			continue
		}
		row, of := watch.Region(&im, r.board, shm.Alive)
		ids[row.Device] = true
		rows, chips, processes = append(rows, row), append(chips, one.ASIC), append(processes, of)
	}
	for i, row := range rows {
		if len(ids) < len(rows) { // processes name their devices alike: the chips distinguish them
			row.Device = chips[i]
		}
		now.Devices = append(now.Devices, row)
		for _, p := range processes[i] {
			p.Device = &row.Device
			now.Processes = append(now.Processes, p)
		}
	}
	return now, nil
}

func readRegion(path string) (shm.Image, error) {
	region, err := shm.Open(path)
	if err != nil {
		return shm.Image{}, err
	}
	defer func() { _ = region.Close() }() // it was only read
	return region.Read()
}

func (r *regions) close() {}

// parseBoard reads what chips are.
func parseBoard(s string) (l1.Spec, error) {
	like, err := deviceLike(s)
	if err == nil && (like.Chips != nil || like.DRAM != 0) {
		err = errors.New("want a board like n150")
	}
	return like.Spec, err
}
