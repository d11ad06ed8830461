package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/packed"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/internal/answers/sizes"
	"github.com/cbl1/cbl1/tool/internal/clash"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// findSizes answers with the sizes that all inputs need: runs first, then texts with messages.
func findSizes(c *request, names []string) (o reply, err error) {
	var found sizes.Answer
	var runs, texts []string
	read := false
	for _, name := range names {
		if c.isText(name) {
			texts = append(texts, name)
			continue
		}
		logs := c.textsIn(name)
		texts = append(texts, logs...)
		if _, err := capture.Inputs(name); err == nil || len(logs) == 0 || len(c.databasesIn(name)) > 0 {
			runs = append(runs, name)
		}
	}
	if c.replay.Strays = true; len(runs) > 0 {
		err = c.each(runs, func(r *answer.Result) error {
			if r.Count(answer.CodeTensorsOnly) > 0 {
				c.refuse(r.File, fmt.Errorf("%s: a dump of the allocator does not tell what a run needs; sizes takes captures, logs and messages", r.File))
				return nil
			}
			read = true
			found.AddRun(r)
			return nil
		})
		if err != nil && !errors.Is(err, errUnreadable) {
			return o, err
		}
	}
	for _, name := range texts {
		messages, _, err := c.messages(name)
		if err != nil {
			c.refuse(name, err)
			continue
		}
		read = true
		found.AddMessages(name, messages.Messages)
	}
	if !read {
		return o, errUnreadable
	}
	doc := found.Document(c.together)
	return reply{Output: render.Sizes(doc), answer: doc.Answer}, nil
}

// textsIn returns the texts of a folder that are called like logs, by name.
func (c *request) textsIn(folder string) (names []string) {
	if c.below != nil {
		return nil // it has no folders
	}
	entries, _ := os.ReadDir(folder) // none: it is a file, or who reads it says why
	for _, entry := range entries {
		name := filepath.Join(folder, entry.Name())
		stem := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
		if slices.Contains([]string{".log", ".txt", ".out", ".err"}, filepath.Ext(stem)) && !strings.HasPrefix(entry.Name(), ".") && c.isText(name) {
			names = append(names, name)
		}
	}
	return names
}

// isText reports whether an input is a text and no capture, log or database, compressed or not. Folders and named
// pipes are none.
func (c *request) isText(name string) bool {
	if name == "-" {
		in, begun := c.in, new(bytes.Buffer)
		c.in = io.MultiReader(begun, in)
		return text(io.TeeReader(in, begun))
	}
	f, err := c.openRegular(name)
	if f == nil || err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // open for reading only
	return text(f)
}

// text reports whether an input begins like a text, and not like a capture, an event log or a database. Lines that are
// JSON objects are a text, but for an event log.
func text(r io.Reader) bool {
	in := packed.Open(r)
	defer in.Close()
	start, _, _ := packed.Peek(in, func([]byte) bool { return false }) // what there is
	begun := bytes.TrimSpace(bytes.TrimPrefix(start, []byte("\xef\xbb\xbf")))
	if len(begun) == 0 || bytes.HasPrefix(begun, []byte(magic)) {
		return false
	}
	line, next, _ := bytes.Cut(begun, []byte("\n"))
	inside := bytes.TrimLeft(begun[1:], " \t\r\n")
	switch {
	case begun[0] == '[':
		return len(inside) > 0 && inside[0] != '{' && inside[0] != ']'
	case begun[0] != '{' || len(inside) > 0 && inside[0] != '"' && inside[0] != '}':
		return true
	}
	return !event.IsLog(start) && json.Valid(line) && bytes.HasPrefix(next, []byte("{"))
}

// messages reads the messages of a text, compressed or not. shown is its name in words.
func (c *request) messages(name string) (found clash.Messages, shown string, err error) {
	from, shown := c.in, "stdin"
	if name != "-" {
		f, err := c.openFile(name)
		if err != nil {
			return found, name, err
		}
		defer func() { _ = f.Close() }() // open for reading only
		from, shown = f, name
	}
	in := packed.Open(from)
	defer in.Close()
	if found, err = clash.Read(in); err != nil {
		err = fileError(shown, err)
	}
	return found, shown, err
}
