package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/cbl1/cbl1/tool/internal/answers/parquet"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

func askTables(c *request) error {
	if c.folder == "" {
		return errors.New("name the folder to write into with --out")
	}
	return c.readTerms()
}

// writeTables writes the tables of all inputs into a folder.
func writeTables(c *request, names []string) (reply, error) {
	var files []string
	for _, name := range render.TableNames() {
		files = append(files, name+"."+c.format)
	}
	return reply{}, intoFolder(c.folder, files, func(to []io.Writer) error { return c.fillTables(names, to) })
}

// fillTables reads each input once. Inputs that cannot be read are rows too.
func (c *request) fillTables(names []string, to []io.Writer) error {
	tables, err := render.NewTables(c.format, to)
	if err != nil {
		return err
	}
	var full error // of the table of refused inputs
	c.refused = func(file string, why error) {
		if err := tables.Refuse(file, why.Error()); full == nil {
			full = err
		}
	}
	err = c.each(names, func(r *answer.Result) error {
		err := tables.Add(r, c.terms)
		if errors.Is(err, parquet.ErrRange) {
			c.refuse(r.File, fmt.Errorf("%s: %w", r.File, err))
			return nil
		}
		return err
	})
	if err != nil && !errors.Is(err, errUnreadable) {
		return err
	}
	return errors.Join(full, tables.Close()) // printWhole says whether an input was refused
}

// intoFolder writes files, which appear in the folder when all are complete. Until then they are in a folder in it,
// which a signal or an error removes.
func intoFolder(folder string, names []string, write func([]io.Writer) error) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fileError(folder, err)
	}
	beside := filepath.Join(folder, fmt.Sprintf(".cbl1-%d", rand.Uint64()))
	defer removeOnSignal(beside)()
	defer func() { _ = os.RemoveAll(beside) }() // it is empty, or to be forgotten
	if err := os.Mkdir(beside, 0o777); err != nil {
		return fileError(folder, err)
	}
	var files []*os.File
	var buffers []*bufio.Writer
	var to []io.Writer
	defer func() {
		for _, f := range files {
			_ = f.Close() // again, if all went well
		}
	}()
	for i := range names {
		f, err := os.Create(filepath.Join(beside, fmt.Sprint(i))) // a name that no engine takes for a table
		if err != nil {
			return fileError(folder, err)
		}
		buffer := bufio.NewWriterSize(f, 1<<16)
		files, buffers, to = append(files, f), append(buffers, buffer), append(to, buffer)
	}
	if err := write(to); err != nil {
		return err
	}
	for i, f := range files {
		if err := errors.Join(buffers[i].Flush(), f.Close()); err != nil {
			return fileError(folder, err)
		}
	}
	for i, name := range names {
		if err := os.Rename(files[i].Name(), filepath.Join(folder, name)); err != nil {
			return fileError(name, err)
		}
	}
	return nil
}
