package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/internal/answers/sizes"
	"github.com/cbl1/cbl1/tool/internal/clash"
	"github.com/cbl1/cbl1/tool/replay"
)

// findSizes answers with the sizes that all inputs need: runs first, then texts with messages.
func findSizes(c *request, names []string) (o reply, err error) {
	var found sizes.Answer
	var runs, texts []string
	read := false
	for _, name := range names {
		if c.isText(name) {
			texts = append(texts, name)
		} else {
			runs = append(runs, name)
		}
	}
	if c.replay.Strays = true; len(runs) > 0 {
		err = c.each(runs, func(r *replay.Result) error {
			if r.Count(replay.CodeTensorsOnly) > 0 {
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
		messages, err := c.messages(name)
		if err != nil {
			c.refuse(name, fileError(name, err))
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

// isText reports whether an input is a text and no capture, log or database, compressed or not. Folders and named
// pipes are none.
func (c *request) isText(name string) bool {
	if name == "-" {
		in := bufio.NewReader(c.in)
		if at, ok := c.in.(io.Seeker); ok {
			if begin, err := at.Seek(0, io.SeekCurrent); err == nil {
				defer func() { _, _ = at.Seek(begin, io.SeekStart) }() // a file that seeks once seeks again
				start, _ := in.Peek(magicBytes)                        // what there is
				return text(start)
			}
		}
		c.in = in
		start, _ := in.Peek(magicBytes)
		return text(start)
	}
	f, err := c.openRegular(name)
	if f == nil || err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // open for reading only
	start, _ := bufio.NewReader(f).Peek(magicBytes)
	return text(start)
}

// magicBytes are enough to tell a text.
const magicBytes = 512

// text reports whether an input begins like a text, and not like a capture, a log or a database.
func text(start []byte) bool {
	begun := bytes.TrimLeft(bytes.TrimPrefix(start, []byte("\xef\xbb\xbf")), " \t\r\n")
	known := [][]byte{[]byte("{"), []byte("["), []byte("SQLite format 3"), []byte("\x1f\x8b"), []byte("\x28\xb5\x2f\xfd")}
	return len(begun) > 0 && !slices.ContainsFunc(known, func(magic []byte) bool { return bytes.HasPrefix(begun, magic) })
}

// messages reads the messages of a text.
func (c *request) messages(name string) (clash.Messages, error) {
	if name == "-" {
		return clash.Read(c.in)
	}
	f, err := c.openFile(name)
	if err != nil {
		return clash.Messages{}, err
	}
	defer func() { _ = f.Close() }() // open for reading only
	return clash.Read(f)
}
