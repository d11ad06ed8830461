package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/answers/sizes"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Sizes returns the sizes with which a device has to be opened: a row for each, and a line of Python to paste.
func Sizes(doc sizes.Document) Output {
	var p page
	word := map[answer.Answer]string{answer.Fits: "sizes", answer.DoesNotFit: "no sizes work", answer.CannotTell: "cannot tell"}[doc.Answer]
	p.line("%s  %s", word, sizesAnswer(doc))
	rows := headed("<size", "in use", "works", "<sure", "<set by", "<why")
	for _, s := range doc.Sizes {
		by := shown.End(s.File, 40)
		if s.At.OK {
			by += fmt.Sprintf(":%d", s.At.V)
		}
		rows.add(s.Name, s.Used, s.Works, strings.ReplaceAll(string(s.Sure), "_", " "), by, s.Text)
	}
	p.table("", rows)
	var notes []note
	if doc.Answer == answer.CannotTell && doc.Why != "" {
		notes = append(notes, note{"because", doc.Why})
	}
	if doc.Python != "" {
		notes = append(notes, note{"paste", doc.Python})
	}
	p.apart(notes)
	return Output{page: p, json: func(w io.Writer) error { return writeJSON(w, doc) }}
}

// sizesAnswer says whether the sizes fit together.
func sizesAnswer(doc sizes.Document) string {
	var untold []string
	for _, s := range doc.Sizes {
		if s.Sure == sizes.CannotTell {
			untold = append(untold, s.Name)
		}
	}
	room := "an unknown number of"
	if doc.Room.OK {
		room = grouped(doc.Room.V)
	}
	switch {
	case doc.Answer == answer.DoesNotFit && doc.Why != "":
		return doc.Why
	case doc.Answer == answer.DoesNotFit:
		return fmt.Sprintf("they take %s bytes more of each core, and the tightest run leaves %s", grouped(doc.Taken), room)
	case doc.Taken > 0:
		return fmt.Sprintf("they take %s bytes more of each core, of %s that the tightest run leaves", grouped(doc.Taken), room)
	case len(untold) > 0:
		return strings.Join(untold, " and ")
	}
	return "they take no more of L1 than those in use"
}
