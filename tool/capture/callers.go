package capture

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
)

// callers are the places in Python from which operations were called, "model.py:12". A nil *callers knows none.
type callers struct {
	byName      map[string][]string // of a sidecar: those that were not yet asked for
	byOperation map[uint64]string   // of a database
	part        *part
	slice       int // at hand
}

// maxSidecar is how much of a sidecar is read, in bytes.
const maxSidecar = 256 << 20

// callersBeside reads the sidecar of a capture, <report>.python_io.json: a record for each call, the calls of one
// name in their order. One that cannot be read says nothing.
func callersBeside(path string) *callers {
	stem, ending := inputStem(path)
	if ending != ".json" {
		return nil
	}
	f, err := os.Open(stem + ".python_io.json")
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // open for reading only
	var records []struct {
		Name  string   `json:"name"`
		Trace []string `json:"python_stack_trace"`
	}
	if json.NewDecoder(io.LimitReader(f, maxSidecar)).Decode(&records) != nil {
		return nil
	}
	c := &callers{byName: map[string][]string{}}
	for _, r := range records {
		c.byName[r.Name] = append(c.byName[r.Name], placeIn(strings.Join(r.Trace, "\n")))
	}
	return c
}

// callersOf reads the stack traces of a database. A table that cannot be read says nothing, nor does a row without a number.
func callersOf(p *part) *callers {
	t, ok := p.table("stack_traces", 2, "operation_id", "stack_trace", rankColumn)
	if !ok {
		return nil
	}
	c := &callers{byOperation: map[uint64]string{}, part: p}
	err := t.each(func(row *cells) error {
		id, rank := row.number("operation_id", 1<<62), row.number(rankColumn, 1<<62)
		if id.OK && (!rank.OK || rank.V == p.rank.V) {
			c.byOperation[id.V] = placeIn(row.text("stack_trace"))
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return c
}

// Of returns where a function was called. Each call is asked about once, in the order of the calls.
func (c *callers) Of(name string, outermost bool) string {
	switch {
	case c == nil:
	case c.part != nil && outermost:
		return c.byOperation[c.part.slices[c.slice].operation]
	case len(c.byName[name]) > 0:
		place := c.byName[name][0]
		c.byName[name] = c.byName[name][1:]
		return place
	}
	return ""
}

// Next says that the next slice of a database begins.
func (c *callers) Next() {
	if c != nil {
		c.slice++
	}
}

// placeIn returns the first file and line in a stack trace of Python, without its folder.
func placeIn(trace string) string {
	for line := range strings.Lines(trace) {
		line = strings.TrimSpace(line)
		file, rest, ok := strings.Cut(strings.TrimPrefix(line, `File "`), `", line `)
		if !ok {
			if file, rest, ok = strings.Cut(line, ":"); !ok {
				continue
			}
		}
		number := rest[:digitRun(rest)]
		if number == "" || strings.TrimLeft(rest[len(number):], "0123456789:") != "" && !strings.HasPrefix(rest[len(number):], ", in ") {
			continue
		}
		return shown.Start(shown.Visible(filepath.Base(strings.ReplaceAll(file, `\`, "/"))), 60) + ":" + number
	}
	return ""
}
