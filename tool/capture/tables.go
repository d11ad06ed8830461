package capture

import (
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
)

// Tables are the rows of a report database. A caller with a database driver implements it, so that this
// package needs none. No method is called while a row or text of another call is in use, but for Text while
// rows are read.
type Tables interface {
	// Schema returns the columns of every table, in their order, by the name of the table.
	Schema() (map[string][]string, error)
	// Rows returns the rows of a table in the order of their rowids, with the values of some
	// of its columns. After an error there are no more.
	Rows(table string, columns ...string) iter.Seq2[Row, error]
	// Text returns the text of one cell in UTF-8, which is read before the next call.
	Text(table, column string, row int64) (io.Reader, error)
}

// A Row is a row of a table.
type Row struct {
	ID     int64 // its rowid
	Values []any // int64, float64, string, []byte or nil; the list is valid until the next row
}

// A table is one of the tables of a database, with the columns that are read.
type table struct {
	*database
	name    string
	columns []string
}

// table returns a table with the given columns, as far as it has them. ok is false if there is no such
// table, or one of the first few columns is missing, which are needed.
func (d *database) table(name string, need int, columns ...string) (t table, ok bool) {
	has := d.columns[name]
	missing := func(c string) bool { return !slices.Contains(has, c) }
	if has == nil || slices.ContainsFunc(columns[:need], missing) {
		return table{}, false
	}
	return table{d, name, slices.DeleteFunc(columns, missing)}, true
}

// each passes the rows to a function, each valid until the next one, up to the first error.
func (t table) each(do func(row *cells) error) error {
	c := &cells{}
	for row, err := range t.tables.Rows(t.name, t.columns...) {
		if err != nil {
			return t.error("", row.ID, err.Error(), err)
		}
		*c = cells{t, row, nil}
		if err := do(c); err != nil {
			return err
		}
	}
	return nil
}

func (t table) error(column string, row int64, reason string, cause error) *event.InputError {
	return t.database.error(t.name, column, row, reason, cause)
}

// cells are the values of one row. Its numbers are read until one of them is wrong.
type cells struct {
	table
	Row
	err *event.InputError // about the wrong number
}

// get returns the value of a column, nil if there is none.
func (c *cells) get(column string) any {
	if i := slices.Index(c.columns, column); i >= 0 && i < len(c.Values) {
		return c.Values[i]
	}
	return nil
}

// number returns a whole number of at most most, absent if there is none.
func (c *cells) number(column string, most uint64) (v event.Opt[uint64]) {
	if c.err != nil {
		return v
	}
	value := c.get(column)
	reason := "is not a whole number"
	switch n := value.(type) {
	case nil:
		return v
	case int64:
		if n >= 0 && uint64(n) <= most {
			return event.Some(uint64(n))
		}
		reason = "is not from 0 to " + fmt.Sprint(most)
	case float64:
		if n >= 0 && n == math.Trunc(n) && n <= 1<<53 && uint64(n) <= most {
			return event.Some(uint64(n))
		}
	}
	c.err = &event.InputError{
		File: c.file, Table: c.name, Column: column, Row: c.ID, Node: -1, Value: shown.Name(fmt.Sprint(value), shown.MaxValue), Reason: reason,
	}
	return v
}

// text returns a text, "" if it is something else.
func (c *cells) text(column string) string {
	switch v := c.get(column).(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}
