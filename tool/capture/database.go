package capture

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// The newest version of report databases that is known.
const (
	databaseMajor = 3
	databaseMinor = 1
)

const (
	graphTable   = "captured_graph" // and its column with the text
	buffersTable = "buffers"
	rankColumn   = "rank"

	// maxParts bounds how many captures a database may hold.
	maxParts = 64
	// shift is the number that the importer adds to the operation ids of each further file of a host
	// process.
	shift = 10_000
)

// A database is a report database that was looked through.
type database struct {
	tables  Tables
	file    string
	columns map[string][]string
	said    event.Opt[uint64] // rank, by report_metadata
	all     []*part
}

// A part is one capture in a database: the operations of one host process and, where several of its files
// were imported, of one file.
type part struct {
	*database
	rank   event.Opt[uint64] // if the tables have one
	slices []slice           // in the order of the run
}

// A slice is the graph of one operation, the text of a cell.
type slice struct {
	operation uint64
	row       int64
	start     uint64 // nodes of the slices before it; known once they were read
}

// Databases returns the captures that a report database holds, each an Input that is read through t: one
// for each host process, and for each file of it that was imported. A database of another kind, of a later
// version, or without a graph is refused. Errors are *event.InputError and say table, column and rowid. It
// reads the ids of all operations.
func Databases(t Tables, file string) ([]Input, error) {
	d := &database{tables: t, file: file}
	var err error
	if d.columns, err = t.Schema(); err != nil {
		return nil, d.error("", "", 0, err.Error(), err)
	}
	if err := d.isReport(); err != nil {
		return nil, err
	}
	imported, err := d.version()
	if err != nil {
		return nil, err
	}
	parts, err := d.parts(imported)
	if err != nil {
		return nil, err
	}
	inputs := make([]Input, len(parts))
	for i, p := range parts {
		inputs[i] = Input{Path: file + p.suffix(parts), Rank: p.rank, part: p}
	}
	return inputs, nil
}

// suffix returns the part of a file's name that distinguishes the parts of a database: "" if there is one part.
func (p *part) suffix(all []*part) string {
	if len(all) == 1 {
		return ""
	}
	text := "#"
	if p.rank.OK {
		text += "rank-" + strconv.FormatUint(p.rank.V, 10) + "-"
	}
	return text + "from-" + strconv.FormatUint(p.slices[0].operation, 10)
}

// isReport refuses a database without graphs.
func (d *database) isReport() error {
	if columns := d.columns[graphTable]; columns != nil {
		for _, column := range []string{"operation_id", graphTable} {
			if !slices.Contains(columns, column) {
				return d.error(graphTable, column, 0, "there is no such column", event.ErrNotCapture)
			}
		}
		return nil
	}
	names := slices.Sorted(maps.Keys(d.columns))
	triage := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !strings.HasPrefix(name, "dump_") && !strings.HasPrefix(name, "check_")
	})
	switch {
	case len(names) == 0:
		return d.error("", "", 0, "is an empty database: it has no tables", event.ErrNotCapture)
	case d.columns["operations"] != nil && d.columns["devices"] != nil:
		return d.error(graphTable, "", 0, "there is no such table: the report was written before September 2024, and says nothing of circular buffers", event.ErrNotCapture)
	case len(triage) > 0:
		return d.error("", "", 0, "is a database of tt-triage, which is not read yet; it holds "+d.holds(triage), event.ErrNotCapture)
	}
	return d.error("", "", 0, "is no report database: it has the tables "+graph.FirstNames(names), event.ErrNotCapture)
}

// holds says how many rows some tables have.
func (d *database) holds(names []string) string {
	const most = 1000
	texts := make([]string, 0, len(names))
	for _, name := range names[:min(len(names), graph.MaxNames+1)] {
		n := 0
		for _, err := range d.tables.Rows(name) {
			if n++; err != nil || n > most {
				break
			}
		}
		texts = append(texts, fmt.Sprintf("%s (%d rows)", shown.Name(name, 40), n))
	}
	return graph.FirstNames(texts)
}

// error returns an error about a place in the tables.
func (d *database) error(table, column string, row int64, reason string, cause error) *event.InputError {
	return &event.InputError{File: d.file, Table: table, Column: column, Row: row, Node: -1, Reason: reason, Err: cause}
}

// version refuses a later version than is known. imported reports whether an importer made the database.
// Importers distinguish files by the ids of operations; databases of 2024 have no version.
func (d *database) version() (imported bool, err error) {
	t, ok := d.table("report_metadata", 2, "key", "value")
	if !ok {
		return false, nil
	}
	err = t.each(func(row *cells) (err error) {
		switch row.text("key") {
		case "rank":
			if v, wrong := strconv.ParseUint(row.text("value"), 10, 63); wrong == nil {
				d.said = event.Some(v)
			}
		case "schema_version":
			imported, err = d.isKnown(row)
		}
		return err
	})
	return imported, err
}

// isKnown reads the version of a database, and reports whether an importer made it.
func (d *database) isKnown(row *cells) (imported bool, err error) {
	text := row.text("value")
	first, rest, _ := strings.Cut(text, ".")
	second, _, _ := strings.Cut(rest, ".")
	major, wrong := strconv.ParseUint(first, 10, 32)
	minor, minorWrong := strconv.ParseUint(cmp.Or(second, "0"), 10, 32)
	place := event.InputError{File: d.file, Table: row.name, Column: "value", Row: row.ID, Node: -1, Value: shown.Name(text, 40)}
	switch {
	case wrong != nil || minorWrong != nil:
		place.Reason = "is no version"
		return false, &place
	case major > databaseMajor, major == databaseMajor && minor > databaseMinor:
		place.Reason = fmt.Sprintf("is later than %d.%d, the newest version of report databases that is known here", databaseMajor, databaseMinor)
		place.Err = event.ErrVersion
		return false, &place
	}
	return major >= 2, nil
}

// parts finds the captures of a database. Its slices are in the order of the run as a rule, and so are the
// ids. Where they are not, the ids are sorted.
func (d *database) parts(imported bool) ([]*part, error) {
	t, _ := d.table(graphTable, 1, "operation_id", rankColumn)
	var all []*part
	last := map[event.Opt[uint64]]*part{} // by rank
	err := t.each(func(row *cells) error {
		id, rank := row.number("operation_id", jsonobject.MaxWhole), row.number(rankColumn, jsonobject.MaxWhole)
		if row.err == nil && !id.OK {
			return t.error("operation_id", row.ID, "missing", nil)
		}
		if row.err != nil {
			return row.err
		}
		p := last[rank]
		if p == nil || imported && p.ends(id.V) {
			p = &part{database: d, rank: rank}
			last[rank], all = p, append(all, p)
		}
		if len(all) > maxParts {
			return t.error("", row.ID, fmt.Sprintf("there are more than %d captures in this database", maxParts), nil)
		}
		p.slices = append(p.slices, slice{operation: id.V, row: row.ID})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, d.error(graphTable, "", 0, "has no rows: the report was recorded without graphs", event.ErrNotCapture)
	}
	for _, p := range all {
		slices.SortStableFunc(p.slices, func(a, b slice) int { return cmp.Compare(a.operation, b.operation) })
	}
	slices.SortStableFunc(all, func(a, b *part) int { return cmp.Compare(a.rank.V, b.rank.V) })
	d.all = all
	return all, nil
}

// ends reports whether an operation begins another file: the ids of each further file
// begin at a multiple of 10,000 and 1.
func (p *part) ends(next uint64) bool {
	before := p.slices[len(p.slices)-1].operation
	return next%shift == 1 && next != before+1 && next > 1
}

// owns reports whether a row with a rank is of the part: tables without ranks are of all.
func (p *part) owns(rank event.Opt[uint64]) bool { return !rank.OK || !p.rank.OK || rank == p.rank }

// slice returns the last slice of an operation.
func (p *part) slice(operation uint64) (i int, ok bool) {
	i, _ = slices.BinarySearchFunc(p.slices, operation, func(s slice, operation uint64) int {
		if s.operation <= operation {
			return -1
		}
		return 1
	})
	return i - 1, i > 0 && p.slices[i-1].operation == operation
}
