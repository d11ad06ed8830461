package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	sqlite "github.com/ncruces/go-sqlite3"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture"
)

// A database is an open report database, for package capture, which knows no driver. It is
// read in one transaction, which excludes writers.
type database struct {
	conn  *sqlite.Conn
	blob  *sqlite.Blob // of the last text
	size  int64        // of the file
	texts map[int64]int64
	sum   int64 // of texts: their sizes by rowid
}

// What only a file that was made so can say: SQLite itself follows pages that stand in two
// places, or in a circle, as long as they last.
var (
	errAgain = errors.New("is damaged: a table has the same row twice")
	errLong  = errors.New("is damaged: its texts are longer than the file")
)

const (
	// patience is how long a writer may hold the lock of a database.
	patience = time.Second
	// maxHeap bounds what the driver holds, in bytes, whatever a broken file says.
	maxHeap = 256 << 20
)

// isDatabase reports whether a file is a database: by its first bytes or, as an encrypted one
// begins with anything, by its name.
func isDatabase(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	start, err := head(path)
	if err != nil {
		return false
	}
	if bytes.HasPrefix(start, []byte(magic)) || len(start) == 0 && named(path) {
		return true
	}
	text := func(c byte) bool { return c >= ' ' && c < 0x7f || c == '\n' || c == '\r' || c == '\t' }
	packed := bytes.HasPrefix(start, []byte("\x1f\x8b")) || bytes.HasPrefix(start, []byte("\x28\xb5\x2f\xfd"))
	return named(path) && !packed && slices.ContainsFunc(start, func(c byte) bool { return !text(c) })
}

// magic is how every database begins that is not encrypted.
const magic = "SQLite format 3\x00"

// named reports whether a file is called like a database.
func named(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".sqlite", ".sqlite3", ".db":
		return true
	}
	return false
}

// head returns the header of a database, or what there is of it.
func head(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // open for reading only
	start := make([]byte, 100)
	n, err := io.ReadFull(f, start)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return start[:n], err
}

// openDatabase opens a database for reading. Errors are *event.InputError.
func openDatabase(path string) (*database, error) {
	refuse := func(reason string, cause error) error {
		return &event.InputError{File: path, Node: -1, Reason: reason, Err: cause}
	}
	start, err := head(path)
	switch {
	case err != nil:
		return nil, refuse(err.Error(), err)
	case len(start) == 0:
		return nil, refuse("is empty", event.ErrNotCapture)
	case !bytes.HasPrefix(start, []byte(magic)):
		return nil, refuse("is called like a SQLite database and does not begin like one: it is encrypted, or something else", event.ErrNotCapture)
	case len(start) < 100:
		return nil, refuse("is cut: it ends inside the header of a SQLite database", io.ErrUnexpectedEOF)
	case start[18] > 2 || start[19] > 2:
		return nil, refuse("is a SQLite database of a later format than is known here", event.ErrVersion)
	case start[19] == 2:
		// Without the log the last changes may be missing.
		if log, err := os.Stat(path + "-wal"); err != nil || log.Size() == 0 {
			return nil, refuse(`is a SQLite database with a write-ahead log, and its log (`+filepath.Base(path)+`-wal) is not beside it: copy both, or run sqlite3 FILE "PRAGMA journal_mode=DELETE" where it was written`, fs.ErrNotExist)
		}
	}
	d := &database{texts: map[int64]int64{}}
	if info, err := os.Stat(path); err == nil {
		d.size = info.Size()
		if log, err := os.Stat(path + "-wal"); err == nil {
			d.size += log.Size()
		}
	}
	if err := guard(func() error { return d.open(path) }); err != nil {
		_ = d.close() // nothing was read from it
		return nil, refuse(err.Error(), err)
	}
	return d, nil
}

func (d *database) open(path string) error {
	full, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(full), RawQuery: "mode=ro"}
	if d.conn, err = sqlite.OpenFlags(name.String(), sqlite.OPEN_READONLY|sqlite.OPEN_URI); err != nil {
		return err
	}
	d.conn.HardHeapLimit(maxHeap)
	if err := d.conn.BusyTimeout(patience); err != nil {
		return err
	}
	// What a hostile schema could make the driver do is forbidden, and pages are checked.
	if err := d.conn.Exec(`PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; BEGIN; SELECT count(*) FROM sqlite_schema`); err != nil {
		return err
	}
	var encoding string
	err = d.each("PRAGMA encoding", func(s *sqlite.Stmt) { encoding = s.ColumnText(0) })
	if err == nil && encoding != "UTF-8" {
		err = fmt.Errorf("its texts are %.20q, not UTF-8", encoding)
	}
	return err
}

// close gives the database back. It is harmless where open failed.
func (d *database) close() error {
	return guard(func() error {
		if d.conn == nil {
			return nil
		}
		return errors.Join(d.blob.Close(), d.conn.Close())
	})
}

// guard calls a function of the driver. A panic of it, which a broken file may provoke, is
// an error like others.
func guard(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the database cannot be read: its reader gave up (%.100v)", p)
		}
	}()
	return inWords(do())
}

// inWords says in our words what the driver says with a code.
func inWords(err error) error {
	words := ""
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sqlite.READONLY_ROLLBACK):
		words = "its writer died: open it once with the sqlite3 command, which takes back what was half written"
	case errors.Is(err, sqlite.BUSY), errors.Is(err, sqlite.LOCKED):
		words = "is locked: another program writes to it"
	case errors.Is(err, sqlite.NOTADB):
		words = "is no SQLite database, or an encrypted one"
	case errors.Is(err, sqlite.CORRUPT):
		words = "is damaged"
	case errors.Is(err, sqlite.NOMEM):
		words = fmt.Sprintf("needs more than %d MiB to be read", maxHeap>>20)
	default:
		return err
	}
	return fmt.Errorf("%s (%w)", words, err)
}

// each calls do with each row that a statement returns.
func (d *database) each(sql string, do func(*sqlite.Stmt)) error {
	s, _, err := d.conn.Prepare(sql)
	if err != nil {
		return err
	}
	for s.Step() {
		do(s)
	}
	return errors.Join(s.Err(), s.Close())
}

// Schema implements capture.Tables. Virtual tables are left out: they are programs.
func (d *database) Schema() (map[string][]string, error) {
	tables := map[string][]string{}
	err := guard(func() error {
		return d.each(`SELECT t.name, c.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
			WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%'`, func(s *sqlite.Stmt) {
			tables[s.ColumnText(0)] = append(tables[s.ColumnText(0)], s.ColumnText(1))
		})
	})
	return tables, err
}

// Rows implements capture.Tables.
func (d *database) Rows(table string, columns ...string) iter.Seq2[capture.Row, error] {
	return func(yield func(capture.Row, error) bool) {
		what := []string{"rowid"}
		for _, column := range columns {
			what = append(what, sqlite.QuoteIdentifier(column))
		}
		sql := "SELECT " + strings.Join(what, ", ") + " FROM " + sqlite.QuoteIdentifier(table) + " NOT INDEXED ORDER BY rowid"
		values := make([]any, 1+len(columns))
		row := capture.Row{Values: values[1:]}
		var s *sqlite.Stmt
		defer func() { _ = guard(func() error { return s.Close() }) }() // Step has said what is wrong
		more, last := false, int64(math.MinInt64)
		step := func() (err error) {
			if s == nil {
				if s, _, err = d.conn.Prepare(sql); err != nil {
					return err
				}
			}
			if more = s.Step(); !more {
				return s.Err()
			}
			if row.ID = s.ColumnInt64(0); row.ID <= last {
				return errAgain
			}
			last = row.ID
			return s.Columns(values...)
		}
		for {
			if err := guard(step); err != nil {
				yield(row, err)
				return
			}
			if !more || !yield(row, nil) {
				return
			}
		}
	}
}

// Text implements capture.Tables. The text is read piece by piece.
func (d *database) Text(table, column string, row int64) (io.Reader, error) {
	err := guard(func() (err error) {
		if d.blob != nil {
			err = d.blob.Close()
			d.blob = nil
		}
		if err == nil {
			d.blob, err = d.conn.OpenBlob("main", table, column, row, false)
		}
		if err == nil {
			d.sum += d.blob.Size() - d.texts[row]
			d.texts[row] = d.blob.Size()
		}
		if d.sum > d.size {
			err = errLong
		}
		return err
	})
	return textReader{d.blob}, err
}

// A textReader reads the text of a cell.
type textReader struct{ blob *sqlite.Blob }

func (t textReader) Read(p []byte) (n int, err error) {
	err = guard(func() error {
		var wrong error
		n, wrong = t.blob.Read(p)
		return wrong
	})
	return n, err
}

// find returns the captures that an argument names: files, and the captures of a folder or of a
// database. A database beside captures holds the same run, which is read only once.
func (in *inputs) find(arg string, read func()) (iter.Seq[capture.Input], error) {
	if isDatabase(arg) {
		return in.databases([]string{arg}, read), nil
	}
	listed, err := capture.List(arg)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return slices.Values[[]capture.Input](nil), err
	}
	for _, p := range listed.Passed {
		in.complain(fmt.Errorf("%s: passed over: %s", p.Path, p.Why))
	}
	files := slices.Values(listed.Inputs)
	there := in.databasesIn(arg)
	switch {
	case len(there) == 0:
		return files, err
	case err != nil:
		return in.databases(there, read), nil
	}
	for _, name := range there {
		in.complain(fmt.Errorf("%s: passed over: it is the same run as the JSON beside it, which is read", name))
	}
	return files, nil
}

// databasesIn returns the databases of a folder, by name. It reports other files with such a
// name.
func (in *inputs) databasesIn(folder string) (names []string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		name := filepath.Join(folder, entry.Name())
		if strings.HasPrefix(entry.Name(), ".") || !named(name) {
			continue
		}
		info, err := os.Stat(name)
		switch {
		case err != nil:
			in.complain(fmt.Errorf("%s: passed over: %w", name, errors.Unwrap(err)))
		case capture.Irregular(info.Mode()) != "":
			in.complain(fmt.Errorf("%s: passed over: %s", name, capture.Irregular(info.Mode())))
		case isDatabase(name):
			names = append(names, name)
		}
	}
	return names
}

// databases opens databases one after the other, until shut, and calls read behind each. One that cannot be read is
// named on standard error.
func (in *inputs) databases(names []string, read func()) iter.Seq[capture.Input] {
	return func(yield func(capture.Input) bool) {
		for _, name := range names {
			var parts []capture.Input
			d, err := openDatabase(name)
			if err == nil {
				in.open = append(in.open, d)
				parts, err = capture.Databases(d, name)
			}
			if err != nil {
				in.refuse(name, err)
			}
			for _, part := range parts {
				if !yield(part) {
					return
				}
			}
			read()
		}
	}
}

// shut closes the databases that are open.
func (in *inputs) shut() {
	for _, d := range in.open {
		_ = d.close() // open for reading only
	}
	for _, f := range in.pipes {
		_ = f.Close() // open for reading only
	}
	in.open, in.pipes = nil, nil
}

// located returns the events of an input, for the node that --at names in it.
func (in *inputs) located(file capture.Input) source {
	if err := in.locate(file); err != nil {
		return source{name: file.Path, err: err}
	}
	return in.read(file.Path, file)
}

// locate finds the node that --at names by an operation of a database.
func (in *inputs) locate(file capture.Input) error {
	if !in.at.operation.OK {
		return nil
	}
	n, err := file.Counter(in.at.operation.V, in.at.node)
	if err == nil {
		in.at.V = n
		in.opt.At = event.Some(n)
		if in.replay.Room != nil {
			in.replay.Room.At = in.opt.At
		}
		if in.replay.GroupsAt = in.opt.At; in.replay.Ask != nil {
			in.replay.Ask.At, in.replay.GroupsAt.OK = in.opt.At, false
		}
	}
	return err
}
