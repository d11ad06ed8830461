package clash

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

const (
	// maxMessage is how much normalised text a message may take, including the
	// prefixes repeated inside it. Real ones take about 200 bytes.
	maxMessage = 8 << 10
	// window is how much normalised text is matched at a time.
	window = 32 << 10
	// maxPrefix is how much of a line may count as a prefix of log lines.
	maxPrefix = 512
	// maxBefore is how much text in front of a message tells whether a sentence starts there.
	maxBefore = 32
	// maxLine is how long a line of the input may be, in bytes. An input with a longer one is
	// no log, and may have no end.
	maxLine = 16 << 20
	// maxEscape is how long a terminal's string sequence (a title, a link) may be.
	maxEscape = 4 << 10
)

// ErrLine says that a line of the input has more than 16 MiB.
var ErrLine = errors.New("is longer than 16 MiB: this is no log")

// A text is a sliding window over normalised input:
//
//   - a run of white space is one blank, or one '\n' if it contains a line break;
//   - escape sequences of terminals, control and invisible characters are gone.
//     (Without its NULs, UTF-16 text of ASCII characters can be read, too.)
//
// buf starts with '\n', and there is no white space at its end.
type text struct {
	in  *bufio.Reader
	buf []byte
	// starts has the lines that begin in buf, in order. The first line of buf may
	// have begun before it, at headAt < 0.
	starts []lineStart
	headAt int
	head   []byte // the first maxPrefix bytes from headAt, which may reach into the next line
	first  int64  // number of that line

	space byte  // white space not yet written: 0, ' ' or '\n'
	line  int64 // number of the input line being read
	read  int   // bytes of it
	err   error // io.EOF or why reading ended

	forms   []form
	nexts   [256]string // what may stand behind the first letter of a message
	matcher matcher     // for messageAt: no garbage for each word that begins like a message
}

type lineStart struct {
	offset int // in buf
	line   int64
}

func newText(r io.Reader) *text {
	t := &text{in: bufio.NewReaderSize(r, window), space: '\n', line: 1, forms: forms()}
	for _, f := range t.forms {
		for _, alt := range f.parts[0].alts {
			t.nexts[alt[0].lit[0]] += alt[0].lit[1:2] + "\n"
		}
	}
	return t
}

// fill reads until buf has at least n bytes or the input ends.
func (t *text) fill(n int) {
	for len(t.buf) < n && t.err == nil {
		t.words()
		t.step()
		if t.read > maxLine {
			t.err = fmt.Errorf("line %d: %w", t.line, ErrLine)
		}
	}
}

// words copies the words that are in the reader's buffer, up to the first
// character that is not plain text.
func (t *text) words() {
	ready, _ := t.in.Peek(t.in.Buffered()) // cannot fail: they are there
	from := 0
	for i, c := range ready {
		if c > ' ' && c <= '~' {
			continue
		}
		if from < i {
			t.write(ready[from:i]...)
		}
		from = i + 1
		if c != ' ' {
			_, _ = t.in.Discard(i)
			t.read += i
			return
		}
		t.blank()
	}
	if from < len(ready) {
		t.write(ready[from:]...)
	}
	_, _ = t.in.Discard(len(ready))
	t.read += len(ready)
}

// step reads one character or one escape sequence.
func (t *text) step() {
	c, err := t.in.ReadByte()
	t.read++
	switch {
	case err != nil:
		t.err = err
	case c > ' ' && c <= '~':
		t.write(c)
	case c == '\n':
		t.line++
		t.read = 0
		t.space = '\n'
	case c == '\r', c == '\v', c == '\f':
		t.space = '\n' // an overwritten or fed line; not one that editors count
	case c == ' ' || c == '\t':
		t.blank()
	case c == 0x1b:
		t.escape()
	case c >= utf8.RuneSelf:
		_ = t.in.UnreadByte() // cannot fail after ReadByte
		t.wide()
	}
}

func (t *text) blank() {
	if t.space == 0 {
		t.space = ' '
	}
}

func (t *text) write(c ...byte) {
	if t.space != 0 {
		t.buf = append(t.buf, t.space)
		if t.space == '\n' {
			t.starts = append(t.starts, lineStart{len(t.buf), t.line})
		}
		t.space = 0
	}
	t.buf = append(t.buf, c...)
}

// wide reads a character beyond ASCII.
func (t *text) wide() {
	r, _, _ := t.in.ReadRune() // cannot fail: a byte of it is there
	const (
		csi              = 0x9b
		boxFrom, boxUpTo = 0x2500, 0x257f // frames that consoles draw around errors
	)
	switch {
	case r == csi:
		t.control()
	case r == '\u2028' || r == '\u2029' || r == '\u0085':
		t.space = '\n'
	case unicode.IsSpace(r) || boxFrom <= r && r <= boxUpTo:
		t.blank()
	case unicode.Is(unicode.C, r): // control, bidi, zero width
	default:
		t.write(utf8.AppendRune(nil, r)...)
	}
}

// take reads a byte of an escape sequence if ok likes it.
func (t *text) take(ok func(byte) bool) (c byte, taken bool) {
	if t.err != nil {
		return 0, false
	}
	c, t.err = t.in.ReadByte()
	if taken = t.err == nil && ok(c); t.err == nil && !taken {
		_ = t.in.UnreadByte()
	}
	return c, taken
}

// skip reads the bytes of an escape sequence that ok likes.
func (t *text) skip(ok func(byte) bool) {
	for range maxEscape {
		if _, taken := t.take(ok); !taken {
			return
		}
	}
}

func between(low, high byte) func(byte) bool {
	return func(c byte) bool { return low <= c && c <= high }
}

// escape skips what follows ESC. A malformed sequence ends at the first byte
// that does not belong to it.
func (t *text) escape() {
	t.skip(between(' ', '/'))
	switch c, _ := t.take(between('0', '~')); c {
	case '[':
		t.control()
	case ']', 'P', 'X', '^', '_':
		t.str()
	}
}

// control skips the rest of a control sequence: parameters and a final byte.
func (t *text) control() {
	t.skip(between(' ', '?'))
	t.take(between('@', '~'))
}

// str skips a string sequence up to BEL or ESC \, or to the end of the line.
func (t *text) str() {
	const bel, esc = 0x07, 0x1b
	t.skip(func(c byte) bool { return c != '\n' && c != bel && c != esc })
	if c, ok := t.take(func(c byte) bool { return c == bel || c == esc }); ok && c == esc {
		t.take(func(c byte) bool { return c == '\\' })
	}
}

// lineOf returns the number of the line that contains buf[i], and what stands
// before i in that line, at most maxPrefix bytes of it.
func (t *text) lineOf(i int) (line int64, prefix []byte) {
	at, found := slices.BinarySearchFunc(t.starts, i, func(s lineStart, i int) int { return cmp.Compare(s.offset, i) })
	switch {
	case found:
		return t.starts[at].line, nil
	case at == 0:
		return t.first, t.head[:min(i-t.headAt, len(t.head))]
	}
	s := t.starts[at-1]
	return s.line, t.buf[s.offset:min(i, s.offset+maxPrefix)]
}

// drop forgets the first n bytes of buf. Unless the input has ended, maxPrefix
// bytes must be left, so that head is whole.
func (t *text) drop(n int) {
	at, found := slices.BinarySearchFunc(t.starts, n, func(s lineStart, n int) int { return cmp.Compare(s.offset, n) })
	switch {
	case found: // no line is cut
	case at == 0:
		const far = -1 << 30
		t.headAt = max(t.headAt-n, far)
	default:
		s := t.starts[at-1]
		t.first, t.headAt = s.line, s.offset-n
		t.head = append(t.head[:0], t.buf[s.offset:min(s.offset+maxPrefix, len(t.buf))]...)
	}
	t.buf = t.buf[:copy(t.buf, t.buf[n:])]
	t.starts = t.starts[:copy(t.starts, t.starts[at:])]
	for i := range t.starts {
		t.starts[i].offset -= n
	}
}

// exact returns an address, or a number, for people.
func exact(n uint64) string { return l1.Bytes(n).Exact() }

// amount returns n exactly and, from 1 KiB on, in the unit that suits it.
func amount(n uint64) string {
	if n < 1<<10 {
		return shown.Plural(n, "byte")
	}
	return fmt.Sprintf("%s bytes (%v)", exact(n), l1.Bytes(n))
}

// percent returns part of whole with one decimal.
func percent(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	// Rounded here, so that text and JSON show the same.
	v, _ := strconv.ParseFloat(fmt.Sprintf("%.1f", 100*float64(part)/float64(whole)), 64)
	return v
}

func percentText(part, whole uint64) string {
	v := percent(part, whole)
	if v == 0 && part != 0 {
		return "<0.1%"
	}
	return fmt.Sprintf("%.1f%%", v)
}

// ceil returns n divided by by, rounded up.
func ceil(n, by uint64) uint64 {
	if n%by != 0 {
		return n/by + 1
	}
	return n / by
}

// rangeText names the bytes from the first address up to the second.
func rangeText(r l1.Range) string { return exact(r.Start) + ".." + exact(r.End) }
