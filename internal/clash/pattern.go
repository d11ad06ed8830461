package clash

import (
	"math"
	"slices"
	"strings"
)

// A form is one wording of a message, in parts that follow each other; see forms.
type form struct {
	says  MessageNumbers // that its words tell
	bare  bool           // it has no numbers
	parts []part
}

// A part is read in the first of its wordings that fits. After dots it may also be read in one
// of later, and begins at its first word.
type part struct {
	mark        byte
	alts, later [][]token
}

// A token is fixed text, or a field.
type token struct {
	lit, field string
	end        string // "." and " B": a number that may end the message, without and with its unit
}

// Marks of parts that may be missing.
const (
	retold  = '~' // people leave it out: its fields are missing
	release = '?' // releases do not have it: its fields are missing only where dots are
	rare    = '*' // its fields are never missing
)

// parse makes a form of its wording: parts, each with a mark, of wordings between bars, of
// text and {fields}.
func parse(says MessageNumbers, wording ...string) form {
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
			p.later = append(p.later, tokens)
			f.bare = f.bare && !slices.ContainsFunc(tokens, func(t token) bool { return isNumber(t.field) })
		}
		f.parts = append(f.parts, p)
	}
	return f
}

func tokensOf(text string) (out []token) {
	for text != "" {
		lit, rest, _ := strings.Cut(text, "{")
		if lit != "" {
			out = append(out, token{lit: lit})
		}
		field, after, ok := strings.Cut(rest, "}")
		if ok {
			name, end, _ := strings.Cut(field, "/")
			out = append(out, token{field: name, end: end})
		}
		text = after
	}
	return out
}

// message reads the message that begins at the start of m into msg.
func (m *matcher) message(forms []form, msg *Message) bool {
	for i := range forms {
		f := &forms[i]
		if !slices.ContainsFunc(f.parts[0].alts, func(alt []token) bool { return alt[0].lit[0] == m.b[0] }) {
			continue
		}
		*msg = Message{MessageNumbers: f.says, Count: 1}
		m.i, m.text, m.fields, m.missing = 0, m.text[:0], m.fields[:0], m.missing[:0]
		m.read = 0
		if m.from(f.parts, msg) && m.complete(f, msg) && !(wordByte(m.b[m.i-1]) && wordByte(m.at(m.i))) {
			msg.Text, msg.read = string(m.text), append([]string(nil), m.fields...)
			msg.Missing = append([]string(nil), m.missing...)
			return true
		}
	}
	return false
}

// complete reports whether enough was read to be a message: a figure, or in a form that has none
// a part.
func (m *matcher) complete(f *form, msg *Message) bool {
	has := func(field string) bool { return slices.Contains(m.fields, field) }
	msg.HasProgram = has("program")
	s := &msg.Shortage
	s.Dependencies, s.HasNeed, s.HasBank = has("dependencies"), has("need"), has("bank")
	s.HasAllocated, s.HasFree, s.HasBlock = has("allocated"), has("free"), has("block")
	s.HasPlaceable = has("placeable") && has("window")
	return (f.bare && m.read > 0 || slices.ContainsFunc(m.fields, isNumber)) && msg.Region.Check() == nil
}

// isNumber reports whether a field is a number that makes a message.
func isNumber(field string) bool {
	return field == "rows" || field != "program" && new(Message).number(field) != nil
}

// from reads parts, up to the end of the message.
func (m *matcher) from(parts []part, msg *Message) bool {
	for k, p := range parts {
		read, cut := m.oneOf(p.alts, msg)
		switch {
		case read:
			m.read++
		case cut:
			return m.behindDots(parts[k:], msg)
		case p.mark == 0:
			return false
		case p.mark == retold:
			m.miss(p)
		}
	}
	return true
}

// oneOf reads the first wording that fits. cut says that none fits, and that one is cut short
// by dots, which are read then.
func (m *matcher) oneOf(alts [][]token, msg *Message) (read, cut bool) {
	saved, was, stop := *m, *msg, m.i
	var begun string // a wording that dots cut short
	for _, tokens := range alts {
		m.stop = m.i
		if m.tokens(tokens, msg) {
			return true, false
		}
		if m.stop > stop {
			if stop = m.stop; m.dotsAt(stop) > 0 || m.dotsAt(stop+1) > 0 {
				begun = string(m.text[len(saved.text):])
			}
		}
		m.back(saved)
		*msg = was
	}
	if len(m.text) == 0 { // else the words before the dots say enough
		m.text = append(m.text, begun...)
	}
	return false, m.dots(stop) || m.dots(m.i)
}

// behindDots reads on at the first of the parts that stands behind dots. Without any the
// message ends there.
func (m *matcher) behindDots(parts []part, msg *Message) bool {
	saved, was := *m, *msg
	for k, p := range parts {
		m.blank()
		if read, _ := m.oneOf(p.later, msg); read {
			if m.read++; m.from(parts[k+1:], msg) {
				return true
			}
		}
		m.back(saved)
		*msg = was
		if p.mark != rare {
			m.miss(p)
			saved.missing = m.missing
		}
	}
	return true
}

// miss notes that the fields of a part are missing.
func (m *matcher) miss(p part) {
	for _, t := range p.alts[0] {
		if t.field != "" && t.field != "what" && !slices.Contains(m.fields, t.field) && !slices.Contains(m.missing, t.field) {
			m.missing = append(m.missing, t.field)
		}
	}
}

// tokens reads fixed text and fields.
func (m *matcher) tokens(tokens []token, msg *Message) bool {
	for _, t := range tokens {
		switch {
		case t.field == "":
			if !m.lit(t.lit) {
				return false
			}
		case m.field(t, msg):
			m.fields = append(m.fields, t.field)
		case m.placeholder(t.end):
			m.miss(part{alts: [][]token{{t}}})
		default:
			m.stop = max(m.stop, m.i)
			return false
		}
	}
	return true
}

// field reads a field into msg.
func (m *matcher) field(t token, msg *Message) (ok bool) {
	var n uint64
	switch t.field {
	case "what":
		return m.word(&msg.What, Circular, Dataflow)
	case "buffer":
		return m.word(&msg.Shortage.Buffer, "DRAM", "L1_SMALL", "L1", "TRACE")
	case "type":
		return m.capitals(&msg.What)
	case "cores":
		msg.Cores, ok = m.cores()
		return ok
	case "core":
		msg.Cores, ok = m.core()
		return ok
	case "cols":
		return m.side(&msg.Cols)
	case "rows":
		return m.side(&msg.Rows)
	case "dependencies": // the words before it are all
		return true
	case "program", "device":
		n, ok = m.number(true, math.MaxUint64)
	default:
		n, ok = m.bytes(t.end)
	}
	if into := msg.number(t.field); ok && into != nil {
		*into = n
	}
	return ok
}

// side reads a side of a grid.
func (m *matcher) side(into *int) bool {
	const most = 1 << 16 // far above any coordinate
	n, ok := m.number(true, most)
	*into = int(n)
	return ok
}

// number returns where a number of a message is kept; nil for other fields.
func (m *Message) number(field string) *uint64 {
	s := &m.Shortage
	for _, f := range [...]struct {
		name string
		at   *uint64
	}{
		{"program", &m.Program}, {"end", &m.End}, {"limit", &m.Limit}, {"address", &m.Address}, {"start", &m.Region.Start},
		{"stop", &m.Region.End}, {"index", &m.Index}, {"size", &m.Size}, {"tensor", &m.Bank}, {"page", &m.Page},
		{"banks", &s.Banks}, {"need", &s.Need}, {"bank", &s.Bank}, {"allocated", &s.Allocated}, {"free", &s.Free},
		{"block", &s.Block}, {"placeable", &s.Placeable}, {"window", &s.Window},
	} {
		if f.name == field {
			return f.at
		}
	}
	return nil
}
