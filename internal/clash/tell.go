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

// A teller fills the words with the facts about one message.
type teller struct {
	message Message
	numbers map[string]uint64
	texts   map[string]string
	holds   map[string]bool
}

// tell adds the summary and the notes of a block.
func (e *Explanation) tell(t teller, block string) {
	label, done := "", false
	for r := range rowsOf(block) {
		if r.label != "" {
			label, done = r.label, false
		}
		if done || !t.allHold(r.when) {
			continue
		}
		done = true
		switch text := t.fill(r.text); {
		case label == "=":
			e.Summary = text
		case text == "", label == "try" && len(e.Notes) >= maxLines-2: // the summary and the last note count, too
		default:
			e.Notes = append(e.Notes, Note{label, text})
		}
	}
}

// pick returns the first row of a block that holds, or all of them.
func (t teller) pick(block string, all bool) (text string) {
	for r := range rowsOf(block) {
		if t.allHold(r.when) {
			if text += t.fill(r.text); !all {
				break
			}
		}
	}
	return text
}

// allHold reports whether all conditions hold. A number holds if the message has it and it is not 0.
func (t teller) allHold(when []string) bool {
	for _, name := range when {
		name, denied := strings.CutPrefix(name, "!")
		holds := t.holds[name]
		if n, ok := t.number(name); ok {
			holds = n != 0 && !t.message.lacks(name)
		}
		if holds == denied {
			return false
		}
	}
	return true
}

// number returns a number of the message, or one that was reckoned.
func (t teller) number(name string) (n uint64, ok bool) {
	if at := t.message.number(name); at != nil {
		return *at, true
	}
	n, ok = t.numbers[name]
	return n, ok
}

// fill puts values in place of the fields of a text.
func (t teller) fill(text string) string {
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
func (t teller) value(field string) string {
	name, noun, counted := strings.Cut(field, "#")
	name, sized := strings.CutSuffix(name, "+")
	name, plain := strings.CutSuffix(name, "%")
	n, ok := t.number(name)
	switch lacks := t.message.lacks(name); {
	case ok && lacks && sized:
		return "an unknown number of bytes"
	case ok && lacks:
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
	if text, ok := t.texts[name]; ok {
		return text
	}
	block, all := strings.CutPrefix(name, "*")
	return t.pick(block, all)
}
