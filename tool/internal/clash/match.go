package clash

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/l1"
)

// A matcher reads one message from normalised text. A method that fails does not move.
// Each byte is read once or twice.
type matcher struct {
	b      []byte // the text from the start of the message on, at most maxMessage
	before []byte // the text in front of b, some of it
	prefix []byte // what stood before the message on its line
	i      int
	stop   int    // where reading a part failed
	text   []byte // the message so far, on one line

	msg     Message  // the words so far
	numbers []number // so far
	missing []string // fields that the text leaves out
	read    int      // parts
}

// A number is one of a message, by its field.
type number struct {
	field string
	value uint64
}

// at returns b[i], or 0 behind the end: there is no NUL in normalised text.
func (m *matcher) at(i int) byte {
	if i < len(m.b) {
		return m.b[i]
	}
	return 0
}

// lit reads fixed text. If it fails, the text so far ends with the part of s that was read. Where
// s has a blank the text may have a line break. A line may also break inside a word.
func (m *matcher) lit(s string) bool {
	i := m.i
	for k := range len(s) {
		if s[k] == ' ' {
			if m.at(i) == ' ' {
				i++
			} else if m.at(i) != '\n' {
				return m.endsAt(i, s[:k])
			}
			continue // a line break is passed with the character behind it
		}
		i = m.pass(i, func(c byte) bool { return c == s[k] })
		if m.at(i) != s[k] {
			return m.endsAt(i, s[:k])
		}
		i++
	}
	m.i = i
	m.text = append(m.text, s...)
	return true
}

// endsAt notes that fixed text is read up to i, and no farther. It returns false.
func (m *matcher) endsAt(i int, read string) bool {
	m.stop = max(m.stop, i)
	m.text = append(m.text, read...)
	return false
}

// pass returns the place where the message continues after a line break at i: after the
// repeated prefix, or else directly. It returns i if neither place has a wanted byte.
func (m *matcher) pass(i int, want func(byte) bool) int {
	if m.at(i) != '\n' {
		return i
	}
	rest := m.b[min(i+1, len(m.b)):]
	if n := repeated(m.prefix, rest); n > 0 && want(m.at(i+1+n)) {
		return i + 1 + n
	}
	if want(m.at(i + 1)) {
		return i + 1
	}
	return i
}

// repeated returns the length of the part of a line that repeats the words with
// which the message's first line begins. Words that are dates and times may differ
// in their digits. If what stood before the message is repeated to its very end,
// that end need not be a whole word: "> text" or ">text".
func repeated(prefix, line []byte) (n int) {
	for {
		word := bytes.IndexByte(prefix, ' ') + 1
		if word == 0 {
			if bytes.HasPrefix(line, prefix) {
				n += len(prefix)
			}
			return n
		}
		if len(line) < word || !sameWord(prefix[:word], line[:word]) {
			return n
		}
		n += word
		prefix, line = prefix[word:], line[word:]
	}
}

// sameWord compares two words of equal length.
func sameWord(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	digits := 0
	for i := range a {
		switch {
		case digit(a[i]) && digit(b[i]):
			digits++
		case a[i] != b[i] || bytes.IndexByte([]byte("-:.,/+TZ[] "), a[i]) < 0:
			return false
		}
	}
	return digits >= 4 // not a rank ("0:"), the number of a process
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func wordByte(c byte) bool {
	return digit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

// number reads a decimal number of at most most. If joined, its digits may be
// spread over several lines: right if a word must follow, because no message has
// two numbers with only white space between them.
func (m *matcher) number(joined bool, most uint64) (uint64, bool) {
	var digits []byte
	var i int
	for next := m.passNumber(m.i); ; {
		for i = next; digit(m.at(i)); i++ {
			digits = append(digits, m.at(i))
		}
		if next = m.passNumber(i); next == i || !joined || len(digits) == 0 {
			break
		}
	}
	n, err := strconv.ParseUint(string(digits), 10, 64)
	m.stop = max(m.stop, i)
	if err != nil || n > most || m.dotsAt(i) > 0 { // it is cut
		return 0, false
	}
	m.i = i
	m.text = append(m.text, digits...)
	return n, true
}

// passNumber is pass for a number. A repeated prefix is never taken for digits.
func (m *matcher) passNumber(i int) int {
	next := m.pass(i, digit)
	if next == i+1 && repeated(m.prefix, m.b[i+1:]) > 0 {
		return i
	}
	return next
}

// bytes reads a number of bytes, or an address. Fixed text follows, or after the end of the
// message: nothing, or a unit. That may be missing, as if a selection had stopped one
// character short.
func (m *matcher) bytes(end string) (n uint64, ok bool) {
	saved := *m
	switch end {
	case "":
		return m.number(true, l1.MaxAddr)
	case "n":
		return m.amount()
	}
	if end == " B" {
		if n, ok = m.number(true, l1.MaxAddr); ok && m.lit(end) && m.boundary() {
			return n, true
		}
		m.back(saved)
	}
	if n, ok = m.number(false, l1.MaxAddr); ok && m.boundary() {
		return n, true
	}
	m.back(saved)
	return 0, false
}

// amount reads a number of bytes as people write it: "1,572,864 B (1.5 MB)", "2048B/bank".
func (m *matcher) amount() (n uint64, ok bool) {
	i := m.pass(m.i, digit)
	bracket, end := i > 0 && m.b[i-1] == '(', i
	for digit(m.at(end)) || m.at(end) == ',' && digit(m.at(end+1)) {
		end++
	}
	groups := strings.Split(string(m.b[i:end]), ",")
	k := 1
	for len(groups[0]) <= 3 && k < len(groups) && len(groups[k]) == 3 {
		k++
	}
	i += len(strings.Join(groups[:k], ","))
	n, err := strconv.ParseUint(strings.Join(groups[:k], ""), 10, 64)
	if err != nil || n > l1.MaxAddr || m.dotsAt(i) > 0 {
		return 0, false
	}
	m.i, m.text = i, append(m.text, strings.Join(groups[:k], ",")...)
	m.choice(" B", "B", " bytes")
	m.choice("/bank", " per bank", " a bank")
	if !m.boundary() {
		return 0, false
	}
	if bracket {
		m.choice(")")
	}
	m.rough()
	return n, true
}

// rough reads "(1.5 MB)" behind a number.
func (m *matcher) rough() {
	const most = 24
	saved, scaled := *m, false
	if !m.choice(" (~", " (") {
		return
	}
	for i := m.i; i < saved.i+most; i++ {
		i = m.pass(i, func(c byte) bool { return c != 0 })
		c := m.at(i)
		m.text = append(m.text, c)
		if scaled = scaled || c == 'K' || c == 'M' || c == 'G'; c == ')' && scaled {
			m.i = i + 1
			return
		}
	}
	*m = saved
}

// choice reads one of several texts, as whole words. "$" stands for the end of a sentence.
func (m *matcher) choice(texts ...string) bool {
	for _, text := range texts {
		switch {
		case text == "" || text == "$" && m.sentenceEnds():
			return true
		case !m.mayRead(text):
			continue
		}
		saved := *m
		if m.lit(text) && !(wordByte(text[len(text)-1]) && wordByte(m.at(m.i))) {
			return true
		}
		m.back(saved)
	}
	return false
}

// mayRead reports whether what follows has the first byte of some fixed text. A line may break there.
func (m *matcher) mayRead(text string) bool {
	c := m.at(m.i)
	if c == '\n' && text[0] != ' ' {
		c = m.at(m.pass(m.i, func(c byte) bool { return c == text[0] }))
	}
	return c == text[0] || c == '\n'
}

// sentenceEnds reports whether nothing more follows in the sentence. Dots stand for more.
func (m *matcher) sentenceEnds() bool {
	c := m.at(m.i)
	if c == ' ' {
		c = m.at(m.i + 1)
	}
	saved := *m
	cut := m.dots(m.i)
	*m = saved
	return !cut && (c == 0 || bytes.IndexByte([]byte("\n.,;:()|\"'"), c) >= 0)
}

// words reads words of people, up to the verb.
func (m *matcher) words() bool {
	const most = 120
	for range most {
		saved := *m
		found := m.lit(" is ")
		if *m = saved; found {
			return true
		}
		i := m.pass(m.i, wordByte)
		c := m.at(i)
		if !wordByte(c) && c != ' ' && c != '-' {
			break
		}
		if i > m.i {
			m.text = append(m.text, ' ') // of the line break
		}
		m.i, m.text = i+1, append(m.text, c)
	}
	return false
}

// startsSentence reports whether a sentence may start here: behind a mark or some words that link sentences, or at the
// start of a line. Words that belong to a noun may stand between.
func (m *matcher) startsSentence() bool {
	before := m.before
	for {
		before = bytes.TrimSuffix(before, []byte(" "))
		word := before[bytes.LastIndexAny(before, " \n")+1:]
		switch string(word) {
		case "the", "The", "its", "static", "Static", "total", "all":
			before = before[:len(before)-len(word)]
		case "", "that", "because", "since", "as", "when":
			return true
		default:
			last := word[len(word)-1]
			return !wordByte(last) && last != ','
		}
	}
}

// back returns to a saved state, and notes where reading failed.
func (m *matcher) back(saved matcher) {
	saved.stop = m.stop
	*m = saved
}

// placeholder reads what stands for a number or for cores: <id>, {}, [...] or N, or more digits than a number has.
func (m *matcher) placeholder(unit string) bool {
	i, c := m.i, m.at(m.i)
	last := bytes.IndexByte(m.b[min(i+1, len(m.b)):min(i+24, len(m.b))], map[byte]byte{'<': '>', '{': '}', '[': ']'}[c])
	switch {
	case digit(c):
		for digit(m.at(i)) {
			i++
		}
		if i-m.i < len("9223372036854775808") {
			return false
		}
	case c == 'N' || c == 'X':
		i++
	case last >= 0 && bytes.IndexByte([]byte("<{["), c) >= 0 && !bytes.ContainsAny(m.b[i+1:i+1+last], "0123456789\n<{["):
		i += last + 2
	default:
		return false
	}
	if wordByte(m.at(i)) && !digit(c) { // a unit may follow digits
		return false
	}
	m.text = append(m.text, m.b[m.i:i]...)
	m.i = i
	if saved := *m; unit != "" && unit != "." && !m.lit(unit) {
		*m = saved
	}
	return true
}

// dotsAt returns how long the dots at i are, with a blank in front and in brackets; 0: there are none.
func (m *matcher) dotsAt(i int) int {
	for _, dots := range []string{"...", "\u2026", "[...]", "[\u2026]", "(...)"} {
		if bytes.HasPrefix(m.b[min(i, len(m.b)):], []byte(dots)) {
			return len(dots)
		}
	}
	return 0
}

// dots reads dots at i, or behind a blank or line break there.
func (m *matcher) dots(i int) bool {
	if m.at(i) == ' ' {
		i++
	}
	i = m.pass(i, func(c byte) bool { return c == '.' || c == '[' || c == '(' || c == "\u2026"[0] })
	n := m.dotsAt(i)
	if n == 0 {
		return false
	}
	m.i = i + n
	m.text = append(bytes.TrimRight(m.text, " "), " ... "...)
	return true
}

// blank passes a blank or line break behind dots.
func (m *matcher) blank() {
	if m.at(m.i) == ' ' {
		m.i++
	}
	m.i = m.pass(m.i, func(c byte) bool { return c != 0 })
}

// word reads one of some words. The first one of a message counts.
func (m *matcher) word(words ...string) bool {
	for _, word := range words {
		saved := *m
		if m.lit(word) && m.boundary() {
			m.msg.What = cmp.Or(m.msg.What, word)
			return true
		}
		m.back(saved)
	}
	return false
}

// boundary reports whether a number or word may end here. It may not inside a fraction, a date or
// a time, with which the next line of a log begins, nor before a unit of more bytes.
func (m *matcher) boundary() bool {
	c := m.at(m.i)
	unit := c == ' ' && bytes.IndexByte([]byte("kKMG"), m.at(m.i+1)) >= 0 && (m.at(m.i+2) == 'B' || m.at(m.i+2) == 'i')
	return !unit && !wordByte(c) && !((c == '.' || c == '-' || c == ':') && digit(m.at(m.i+1)))
}

// capitals reads a name of one of tt-metal's enumerations.
func (m *matcher) capitals() bool {
	n := m.i
	for c := m.at(n); 'A' <= c && c <= 'Z' || c == '_' || n > m.i && digit(c); c = m.at(n) {
		n++
	}
	name := m.b[m.i:min(n, len(m.b))]
	m.i, m.text, m.msg.What = n, append(m.text, name...), string(name)
	return len(name) > 1 && m.boundary()
}

// core reads one core in either spelling.
func (m *matcher) core() bool {
	n := m.i
	for c := m.at(n); c != 0 && bytes.IndexByte([]byte("(xy=,-)0123456789"), c) >= 0; c = m.at(n) {
		n++
	}
	core := m.b[m.i:n]
	set, err := l1.ParseCoreRangeSet(fmt.Sprintf("{[%s - %s]}", core, core))
	if err != nil {
		return false
	}
	m.i, m.text, m.msg.Cores = n, append(m.text, core...), set
	return true
}

// cores reads a rectangle or a set of rectangles in either spelling, or as (0,0)-(7,9).
func (m *matcher) cores() bool {
	var raw []byte
	open := func(c byte) bool { return c == '[' || c == '{' || c == '(' }
	dash := func(c byte) bool { return c == '-' }
	part := func(c byte) bool { return digit(c) || c != 0 && bytes.IndexByte([]byte("[](){}xy=,- "), c) >= 0 }
	i := m.pass(m.i, open)
	if !open(m.at(i)) {
		return false
	}
	first := m.at(i)
	format, last := "{%s}", first+2 // in ASCII the closing bracket
	switch first {
	case '{':
		format = "%s"
	case '(':
		last = ')'
	}
	for part(m.at(i)) {
		c := m.at(i)
		raw = append(raw, c)
		i++
		if c == last && (c != ')' || bytes.Count(raw, []byte(")")) == 2 || !dash(m.at(m.pass(i, dash))) && !(m.at(i) == ' ' && dash(m.at(i+1)))) {
			break
		}
		i = m.pass(i, part)
	}
	set, err := l1.ParseCoreRangeSet(fmt.Sprintf(format, raw))
	if n := bytes.FieldsFunc(raw, func(r rune) bool { return r < '0' || r > '9' }); err != nil && format != "%s" && raw[len(raw)-1] == last && (len(n) == 2 || len(n) == 4) {
		set, err = l1.ParseCoreRangeSet(fmt.Sprintf("{[%s-%s - %s-%s]}", n[0], n[1], n[len(n)-2], n[len(n)-1]))
	}
	if err != nil {
		return false
	}
	m.i, m.msg.Cores = i, set
	m.text = append(m.text, coreText(set, bytes.IndexByte(raw, 'x') >= 0)...)
	return true
}

// coreText returns a set as tt-metal prints it: one rectangle without braces.
func coreText(s l1.CoreRangeSet, legacy bool) string {
	text := s.String()
	if legacy {
		text = s.Legacy()
	}
	if s.Len() == 1 {
		return text[1 : len(text)-1]
	}
	return text
}
