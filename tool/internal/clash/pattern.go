package clash

import (
	"bytes"
	"math"
	"slices"
	"strings"
)

// A form is one wording of a message, in parts that follow each other; see forms.
type form struct {
	says  Message // by its words alone
	bare  bool    // it has no numbers
	free  []token // what may stand before each of the parts behind the first one, which come in any order; nil: in theirs
	parts []part
}

// A part is read in the first of its wordings that fits. After dots it may also be read in one
// of later, and begins at its first word.
type part struct {
	mark        byte
	alts, later [][]token
}

// A token is fixed text, one of several texts, or a field.
type token struct {
	lit, field string
	one        []string
	starts     bool   // a sentence starts with it
	end        string // "." and " B": a number that may end the message, without and with its unit; see amount for "n"
}

// Marks of parts that may be missing.
const (
	retold  = '~' // people leave it out: its fields are missing
	release = '?' // releases do not have it: its fields are missing only where dots are
	rare    = '*' // its fields are never missing
)

// parse makes a form of its wording: parts, each with a mark, of wordings between bars, of
// text, {fields} and «one/of/several/texts». A first text that follows ^ starts a sentence.
func parse(says Message, wording ...string) form {
	f := form{says: says, bare: true}
	for _, text := range wording {
		var p part
		if strings.IndexByte("~?*", text[0]) >= 0 {
			p.mark, text = text[0], text[1:]
		}
		for alt := range strings.SplitSeq(text, "|") {
			rest, later := strings.CutPrefix(alt, "...")
			tokens := tokensOf(rest)
			if !later {
				p.alts = append(p.alts, tokens)
				tokens = tokensOf(strings.TrimLeft(rest, " .,("))
			}
			if alt != "«$»" { // dots are no end
				p.later = append(p.later, tokens)
			}
			f.bare = f.bare && !slices.ContainsFunc(tokens, func(t token) bool { return isFigure(t.field) })
		}
		f.parts = append(f.parts, p)
	}
	return f
}

func tokensOf(text string) (out []token) {
	for text != "" {
		at := strings.IndexAny(text+"{", "{«")
		if lit, starts := strings.CutPrefix(text[:at], "^"); lit != "" {
			out = append(out, token{lit: lit, starts: starts})
		}
		if field, ok := strings.CutPrefix(text[at:], "{"); ok {
			field, text, _ = strings.Cut(field, "}")
			name, end, _ := strings.Cut(field, "/")
			out = append(out, token{field: name, end: end})
		} else if field, ok = strings.CutPrefix(text[at:], "«"); ok {
			field, text, _ = strings.Cut(field, "»")
			out = append(out, token{one: strings.Split(field, "/")})
		} else {
			text = ""
		}
	}
	return out
}

// message reads the message that begins at the start of m, in the form that gives most numbers.
func (m *matcher) message(forms []form) bool {
	best, found := *m, false
	begins := func(alt []token) bool {
		const most = 6
		n := min(len(alt[0].lit), len(m.b), most)
		return alt[0].lit[:n] == string(m.b[:n]) || alt[0].lit[0] == m.b[0] && bytes.IndexByte(m.b[:n], '\n') > 0
	}
	for _, f := range forms {
		if found && f.free != nil && best.msg.Kind != OutOfMemory || !slices.ContainsFunc(f.parts[0].alts, begins) {
			continue // the allocator's messages may end early and go on in other words
		}
		*m = matcher{b: m.b, before: m.before, prefix: m.prefix, msg: f.says, text: m.text[:0], numbers: m.numbers[:0], missing: m.missing[:0]}
		if m.form(f) && (!found || len(m.msg.Numbers) > len(best.msg.Numbers)) {
			best, found = *m, true
			m.text, m.numbers, m.missing = nil, nil, nil
		}
	}
	if found {
		*m = best
	}
	return found
}

// form reads the message in one form.
func (m *matcher) form(f form) bool {
	read := m.from
	if f.free != nil {
		read = func(parts []part) bool { return m.inAnyOrder(f.free, parts) }
	}
	if !read(f.parts) || !m.enough(f) || wordByte(m.b[m.i-1]) && wordByte(m.at(m.i)) {
		return false
	}
	numbers := map[string]uint64{}
	for _, n := range m.numbers {
		numbers[n.field] = n.value
	}
	m.msg.Text, m.msg.Count, m.msg.Numbers = string(m.text), 1, numbers
	m.msg.Missing = append(m.msg.Missing, m.missing...)
	if !m.msg.has("placeable", "window") { // one says nothing without the other
		delete(numbers, "placeable")
		delete(numbers, "window")
	}
	return !m.msg.has("start", "stop") || numbers["start"] <= numbers["stop"]
}

// enough reports whether enough was read to be a message: a figure, or in a form that has none
// a part.
func (m *matcher) enough(f form) bool {
	return f.bare && m.read > 0 || slices.ContainsFunc(m.numbers, func(n number) bool { return isFigure(n.field) })
}

// isFigure reports whether a field is a number that makes a message.
func isFigure(field string) bool {
	return !slices.Contains([]string{
		"", "what", "buffer", "type", "cores", "core", "program", "device", "cols",
		"dependencies", "ranges", "more", "windows", "words",
	}, field)
}

// from reads parts, up to the end of the message.
func (m *matcher) from(parts []part) bool {
	for k, p := range parts {
		read, cut := m.oneOf(p.alts)
		switch {
		case read:
			m.read++
		case cut:
			return m.behindDots(parts[k:])
		case p.mark == 0:
			return false
		case p.mark == retold:
			m.miss(p.alts[0])
		}
	}
	return true
}

// inAnyOrder reads the first part, and then the others in the order of the text, each once and behind a joint.
func (m *matcher) inAnyOrder(joint []token, parts []part) bool {
	if read, _ := m.oneOf(parts[0].alts); !read {
		return false
	}
	left := slices.Clone(parts[1:])
	for k := 0; k >= 0; {
		before := *m
		m.tokens(joint)
		behind := *m
		k = slices.IndexFunc(left, func(p part) bool {
			*m = behind // dots, too, are unread
			read, _ := m.oneOf(p.alts)
			return read
		})
		if k < 0 {
			*m = before
			break
		}
		m.read++
		left = slices.Delete(left, k, k+1)
	}
	for _, p := range left {
		switch p.mark {
		case 0:
			return false
		case retold:
			m.miss(p.alts[0])
		}
	}
	return true
}

// oneOf reads the first wording that fits. cut says that none fits, and that one is cut short
// by dots, which are read then.
func (m *matcher) oneOf(alts [][]token) (read, cut bool) {
	saved, stop := *m, m.i
	var begun string // a wording that dots cut short
	for _, tokens := range alts {
		if first := tokens[0].lit; first != "" && !m.mayRead(first) {
			continue
		}
		m.stop = m.i
		if m.tokens(tokens) {
			if slices.Contains(tokens[0].one, "$") {
				m.miss(alts[0]) // the message ends before them
			}
			return true, false
		}
		if m.stop > stop {
			if stop = m.stop; m.dotsAt(stop) > 0 || m.dotsAt(stop+1) > 0 {
				begun = string(m.text[len(saved.text):])
			}
		}
		*m = saved
	}
	if len(m.text) == 0 { // else the words before the dots say enough
		m.text = append(m.text, begun...)
	}
	return false, m.dots(stop) || m.dots(m.i)
}

// behindDots reads on at the first of the parts that stands behind dots. Without any the
// message ends there.
func (m *matcher) behindDots(parts []part) bool {
	saved := *m
	for k, p := range parts {
		m.blank()
		if read, _ := m.oneOf(p.later); read {
			if m.read++; m.from(parts[k+1:]) {
				return true
			}
		}
		*m = saved
		if p.mark != rare {
			m.miss(p.alts[0])
			saved.missing = m.missing
		}
	}
	return true
}

// miss notes that the fields of a wording are missing.
func (m *matcher) miss(tokens []token) {
	for _, t := range tokens {
		if t.field != "" && t.field != "what" && !slices.Contains(m.missing, t.field) {
			m.missing = append(m.missing, t.field)
		}
	}
}

// tokens reads fixed text and fields.
func (m *matcher) tokens(tokens []token) bool {
	for _, t := range tokens {
		switch {
		case t.one != nil:
			if !m.choice(t.one...) {
				return false
			}
		case t.field == "":
			if t.starts && !m.startsSentence() || !m.lit(t.lit) {
				return false
			}
		case m.field(t):
		case m.placeholder(t.end):
			m.miss([]token{t})
		default:
			m.stop = max(m.stop, m.i)
			return false
		}
	}
	return true
}

// field reads a field.
func (m *matcher) field(t token) (ok bool) {
	const most = 1 << 16 // a side of a grid: far above any coordinate
	n := uint64(1)
	switch t.field {
	case "words":
		return m.words()
	case "what":
		return m.word(Circular, Dataflow)
	case "buffer":
		return m.word("DRAM", "L1_SMALL", "L1", "TRACE")
	case "type":
		return m.capitals()
	case "cores":
		return m.cores()
	case "core":
		return m.core()
	case "dependencies": // the words before it are all
		ok = true
	case "cols", "rows":
		n, ok = m.number(true, most)
	case "program":
		n, ok = m.number(true, math.MaxUint64)
	case "device":
		_, ok = m.number(true, math.MaxUint64)
		return ok // no explanation needs it, nor those below
	case "ranges", "more", "windows":
		_, ok = m.bytes(t.end)
		return ok
	default:
		n, ok = m.bytes(t.end)
	}
	if ok {
		m.numbers = append(m.numbers, number{t.field, n})
	}
	return ok
}
