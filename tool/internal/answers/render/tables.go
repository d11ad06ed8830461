package render

import (
	"io"
	"iter"

	"github.com/cbl1/cbl1/tool/internal/answers/parquet"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// TableNames are the names of the tables of runs, in the order in which Tables writes them.
func TableNames() []string { return []string{"devices", "programs", "checks", "peaks", "refused"} }

// Tables writes the rows of many Results. A table has the rows that Report, Report with Programs, Check or Peak write as
// CSV. The last one has a row for each input that cannot be read.
type Tables struct {
	columns [][]leaf
	to      []rowWriter
	typed   bool // INT64 has to hold numbers
}

// A rowWriter writes rows.
type rowWriter interface {
	Write([]parquet.Value) error
	Close() error
}

// NewTables begins tables, each in a writer of its own. The format is csv or parquet.
func NewTables(format string, to []io.Writer) (*Tables, error) {
	t := &Tables{typed: format == "parquet"}
	for i, table := range append(tablesOf(&answer.Result{}, answer.Terms{}), refusedTable("", "")) {
		columns := table.leaves()
		t.columns = append(t.columns, columns)
		if t.typed {
			var named []parquet.Column
			for _, c := range columns {
				named = append(named, c.Column)
			}
			t.to = append(t.to, parquet.NewWriter(to[i], named))
			continue
		}
		w, err := newCSV(to[i], columns, true)
		if err != nil {
			return nil, err
		}
		t.to = append(t.to, w)
	}
	return t, nil
}

// tablesOf are the tables of one Result.
func tablesOf(r *answer.Result, terms answer.Terms) []flatTable {
	return []flatTable{deviceCSV(r), programCSV(r), checkCSV(check{r.Judge(terms), r}), peakCSV(r)}
}

// programCSV has a row for each program of each device.
func programCSV(r *answer.Result) flatTable {
	return listCSV(r, func(d *answer.Device) iter.Seq[answer.ProgramDetail] { return programsOf(r, d) })
}

// refusedTable has a row for an input that cannot be read.
func refusedTable(file, reason string) flatTable {
	row := []column{{"file", file}, {"reason", reason}}
	return flatTable{empty: row, rows: func(yield func([]column) bool) { yield(row) }}
}

// Add adds the rows of a Result. The error is [parquet.ErrRange] if Parquet cannot hold a number of it: no table has it
// then.
func (t *Tables) Add(r *answer.Result, terms answer.Terms) error {
	tables := tablesOf(r, terms)
	if t.typed {
		for i, table := range tables {
			if err := table.each(t.columns[i], parquet.Fits); err != nil {
				return err
			}
		}
	}
	for i, table := range tables {
		if err := table.each(t.columns[i], t.to[i].Write); err != nil {
			return err
		}
	}
	return nil
}

// Refuse adds an input that cannot be read.
func (t *Tables) Refuse(file, reason string) error {
	last := len(t.to) - 1
	return refusedTable(file, reason).each(t.columns[last], t.to[last].Write)
}

// Close ends all tables.
func (t *Tables) Close() error {
	for _, w := range t.to {
		if err := w.Close(); err != nil {
			return err
		}
	}
	return nil
}
