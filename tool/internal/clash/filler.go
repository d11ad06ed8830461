package clash

import (
	"iter"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
)

// A row is one row of words.
type row struct {
	label, text string
	when        []string
}

// rowsOf yields the rows of a block of words.
func rowsOf(block string) iter.Seq[row] {
	return func(yield func(row) bool) {
		_, rest, _ := strings.Cut(words, "\n@"+block+"\n")
		rest, _, _ = strings.Cut(rest, "\n@")
		for line := range strings.SplitSeq(strings.ReplaceAll(rest, "\n\t", " "), "\n") {
			label, after, ok := strings.Cut(line, "|")
			when, text, _ := strings.Cut(after, "|")
			conditions := strings.FieldsFunc(when, func(c rune) bool { return c == ',' })
			if ok && !yield(row{label, text, conditions}) {
				return
			}
		}
	}
}

// A filler fills the words with the facts about one message.
type filler struct {
	message Message
	numbers map[string]uint64
	texts   map[string]string
	holds   map[string]bool
}

// notes returns the first row that holds of each label of a block, with its fields filled.
func (t filler) notes(block string) (out []Note) {
	label, done := "", false
	for row := range rowsOf(block) {
		if row.label != "" {
			label, done = row.label, false
		}
		if !done && t.allHold(row.when) {
			out, done = append(out, Note{label, t.fill(row.text)}), true
		}
	}
	return out
}

// tell adds the summary and the notes of a block.
func (r *MessageRow) tell(t filler, block string) {
	for _, n := range t.notes(block) {
		switch {
		case n.Label == "=":
			r.Summary = n.Text
		case n.Text == "", n.Label == "try" && len(r.Notes) >= maxLines-2: // the summary and the last note count, too
		default:
			r.Notes = append(r.Notes, n)
		}
	}
}

// allHold reports whether all conditions hold.
func (t filler) allHold(when []string) bool {
	for _, name := range when {
		name, denied := strings.CutPrefix(name, "!")
		holds := t.holds[name]
		if number, asked := strings.CutSuffix(name, "?"); asked {
			holds = t.message.has(number)
		} else if n, ok := t.number(name); ok {
			holds = n != 0
		}
		if holds == denied {
			return false
		}
	}
	return true
}

// number returns a number of the message, or one that was reckoned.
func (t filler) number(name string) (n uint64, ok bool) {
	if n, ok = t.message.number(name); !ok {
		n, ok = t.numbers[name]
	}
	return n, ok
}

// fill puts values in place of the fields of a text.
func (t filler) fill(text string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		field, after, _ := strings.Cut(rest, "}")
		b.WriteString(t.value(field))
		text = after
	}
}

// value returns the value of a field of a text.
func (t filler) value(field string) string {
	name, noun, counted := strings.Cut(field, "#")
	name, sized := strings.CutSuffix(name, "+")
	name, plain := strings.CutSuffix(name, "%")
	text, isText := t.texts[name]
	n, ok := t.number(name)
	switch {
	case isText:
		return text
	case t.message.lacks(name) && sized:
		return "an unknown number of bytes"
	case t.message.lacks(name):
		return "an unknown number"
	case ok && sized:
		return amount(n)
	case ok && counted:
		return shown.Plural(n, noun)
	case ok && plain:
		return strings.ReplaceAll(exact(n), ",", "")
	case ok:
		return exact(n)
	}
	for _, part := range t.notes(name) {
		text += part.Text
	}
	return text
}
