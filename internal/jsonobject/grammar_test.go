package jsonobject

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// A sentence is a text and whether the grammar of RFC 8259 has it.
type sentence struct {
	name string
	text string
	ok   bool
}

// numbers returns the variations of a number.
func numbers() []sentence {
	return []sentence{
		{"zero", "0", true},
		{"minus zero", "-0", true},
		{"minus zero with a fraction", "-0.0", true},
		{"one digit", "7", true},
		{"many digits", "12345678901234567890123456789", true},
		{"a fraction", "1.5", true},
		{"a fraction that ends in zeros", "1.000", true},
		{"zero before the point", "0.25", true},
		{"a long fraction", "0." + strings.Repeat("123456789", 50), true},
		{"exponent", "1e5", true},
		{"capital exponent", "1E5", true},
		{"exponent with plus", "1e+5", true},
		{"exponent with minus", "1e-5", true},
		{"exponent of zero", "0e0", true},
		{"exponent with leading zeros", "1e0005", true},
		{"fraction and exponent", "-12.5E+07", true},
		{"too large for a float", "1e400", true},
		{"too large by far", "-1e99999999999999999999", true},
		{"too small for a float", "1e-400", true},
		{"2^64", "18446744073709551616", true},
		{"in an array, before a space", "[4 ]", true},

		{"no digits", "-", false},
		{"no digits, in an array", "[-]", false},
		{"two minuses", "--1", false},
		{"a minus behind", "1-", false},
		{"a plus in front", "+1", false},
		{"a space after the minus", "- 1", false},
		{"leading zero", "01", false},
		{"two zeros", "00", false},
		{"leading zero after the minus", "-01", false},
		{"leading zero before a point", "00.5", false},
		{"nothing after the point", "1.", false},
		{"nothing after the point, in an array", "[1.]", false},
		{"nothing before the point", ".5", false},
		{"a minus, and nothing before the point", "-.5", false},
		{"exponent right after the point", "1.e5", false},
		{"two points", "1.2.3", false},
		{"two points in a row", "1..2", false},
		{"no exponent", "1e", false},
		{"no exponent after its plus", "1e+", false},
		{"no exponent after its minus", "1E-", false},
		{"two signs of an exponent", "1e+-5", false},
		{"two exponents", "1e5e5", false},
		{"a broken exponent", "1e5.5", false},
		{"only an exponent", "e5", false},
		{"hexadecimal", "0x1F", false},
		{"hexadecimal digits", "1F", false},
		{"octal", "0o17", false},
		{"binary", "0b1", false},
		{"grouped with commas", "[1,000,]", false},
		{"grouped with underscores", "1_000", false},
		{"grouped with spaces", "[1 000]", false},
		{"not a number", "NaN", false},
		{"not a number, small", "nan", false},
		{"infinite", "Infinity", false},
		{"infinite below", "-Infinity", false},
		{"infinite, short", "inf", false},
		{"digits of another script", "[\u0661\u0662]", false},
		{"full-width digit", "\uff11", false},
		{"a suffix", "1n", false},
		{"a NUL inside", "1\x002", false},
	}
}

// texts returns the variations of a text between quotes.
func texts() []sentence {
	long := strings.Repeat("words ", 2000)
	return []sentence{
		{"empty", `""`, true},
		{"letters", `"abc"`, true},
		{"long", `"` + long + `"`, true},
		{"each short escape", `"\" \\ \/ \b \f \n \r \t"`, true},
		{"a slash as it is", `"a/b"`, true},
		{"an apostrophe", `"it's"`, true},
		{"hexadecimal, small", `"\u00e9\uabcd"`, true},
		{"hexadecimal, capital", `"\u00E9\uABCD"`, true},
		{"escaped NUL", `"\u0000"`, true},
		{"escaped control characters", `"\u0001\u001f\u007f"`, true},
		{"a pair of surrogates", `"\ud834\udd1e"`, true},
		{"the first surrogate alone", `"\ud834"`, true},
		{"the second surrogate alone", `"\udd1e"`, true},
		{"surrogates the wrong way round", `"\udd1e\ud834"`, true},
		{"a first surrogate before a letter", `"\ud834x"`, true},
		{"a first surrogate before another escape", `"\ud834\n"`, true},
		{"two first surrogates", `"\ud834\ud834"`, true},
		{"noncharacters", `"\ufffe\uffff\ufdd0"`, true},
		{"an escaped backslash before the quote", `"\\"`, true},
		{"a letter u after an escaped backslash", `"\\u12"`, true},
		{"two bytes", "\"\u00e9\"", true},
		{"three bytes", "\"\u20ac\"", true},
		{"four bytes", "\"\U0001d11e\"", true},
		{"line separators as they are", "\"\u2028\u2029\"", true},
		{"delete as it is", "\"\x7f\"", true},
		{"a byte order mark", "\"\ufeff\"", true},
		{"comments", `"/* a */ // b # c"`, true},
		{"brackets", `"]}[{,:"`, true},
		// Bytes that are not UTF-8 are taken as encoding/json takes them.
		{"a lone continuation byte", "\"\x80\"", true},
		{"a byte that UTF-8 never has", "\"\xff\"", true},
		{"a cut sequence", "\"\xe2\x82\"", true},
		{"an overlong sequence", "\"\xc0\xaf\"", true},
		{"a surrogate in UTF-8", "\"\xed\xa0\x80\"", true},
		{"beyond the last code point", "\"\xf4\x90\x80\x80\"", true},
		{"Latin-1", "\"caf\xe9\"", true},

		{"only a quote", `"`, false},
		{"no quote at the end", `"abc`, false},
		{"an escaped quote at the end", `"abc\"`, false},
		{"nothing after the backslash", `"\`, false},
		{"apostrophes for quotes", `'abc'`, false},
		{"backquotes", "`abc`", false},
		{"curly quotes", "\u201cabc\u201d", false},
		{"no quotes", `abc`, false},
		{"an escape that C has", `"\a"`, false},
		{"another that C has", `"\v"`, false},
		{"an octal escape", `"\012"`, false},
		{"a hexadecimal escape of C", `"\x41"`, false},
		{"an escaped apostrophe", `"\'"`, false},
		{"a capital U", `"\U0041"`, false},
		{"an escaped line end", "\"a\\\nb\"", false},
		{"an escaped NUL byte", "\"\\\x00\"", false},
		{"an escaped letter of two bytes", "\"\\\u00e9\"", false},
		{"no hexadecimal digits", `"\u"`, false},
		{"three hexadecimal digits", `"\u123"`, false},
		{"a digit that is none", `"\u12G4"`, false},
		{"a sign among the digits", `"\u+123"`, false},
		{"braces around the digits", `"\u{41}"`, false},
		{"the input ends in the digits", `"\u12`, false},
		{"the second surrogate is cut", `"\ud834\udd"`, false},
		{"the second surrogate has no digits", `"\ud834\u"`, false},
		{"the second surrogate has no letter", `"\ud834\"`, false},
		{"a line feed", "\"a\nb\"", false},
		{"a carriage return", "\"a\rb\"", false},
		{"a tab", "\"a\tb\"", false},
		{"a NUL", "\"a\x00b\"", false},
		{"an escape character", "\"\x1b[2J\"", false},
		{"the last control character", "\"\x1f\"", false},
		{"two in a row", `"a" "b"`, false},
		{"two joined", `"a"+"b"`, false},
	}
}

// structures is how values stand together.
func structures() []sentence {
	return []sentence{
		{"empty array", `[]`, true},
		{"empty object", `{}`, true},
		{"an array of everything", `[1,"a",true,false,null,[],{}]`, true},
		{"nested", `{"a":[{"b":[{}]}],"c":{"d":{"e":[]}}}`, true},
		{"a key twice", `{"a":1,"a":2}`, true},
		{"an empty key", `{"":0}`, true},
		{"a key with escapes", `{"\u0000\n":0}`, true},
		{"true", `true`, true},
		{"false", `false`, true},
		{"null", `null`, true},
		{"each kind of white space", " \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n", true},
		{"white space around a colon", "{ \"a\" \n:\t1 \r}", true},
		{"a line end behind", "{}\n", true},
		{"much white space", strings.Repeat(" \n", 5000) + "[]" + strings.Repeat("\t\r", 5000), true},

		{"nothing", ``, false},
		{"only white space", " \t\r\n", false},
		{"only a comma", `,`, false},
		{"only a colon", `:`, false},
		{"a comma before the first", `[,1]`, false},
		{"a comma behind the last", `[1,]`, false},
		{"a comma behind the last member", `{"a":1,}`, false},
		{"only a comma in an array", `[,]`, false},
		{"only a comma in an object", `{,}`, false},
		{"two commas", `[1,,2]`, false},
		{"two commas in an object", `{"a":1,,"b":2}`, false},
		{"no comma", `[1 2]`, false},
		{"no comma between texts", `["a""b"]`, false},
		{"no comma in an object", `{"a":1 "b":2}`, false},
		{"a semicolon", `[1;2]`, false},
		{"no colon", `{"a" 1}`, false},
		{"a comma for the colon", `{"a",1}`, false},
		{"an equals sign for the colon", `{"a"=1}`, false},
		{"two colons", `{"a"::1}`, false},
		{"a colon in an array", `["a":1]`, false},
		{"no value", `{"a":}`, false},
		{"no value and a comma", `{"a":,"b":1}`, false},
		{"no key", `{:1}`, false},
		{"no key and no colon", `{1}`, false},
		{"a key without quotes", `{a:1}`, false},
		{"a key with apostrophes", `{'a':1}`, false},
		{"a number for a key", `{1:1}`, false},
		{"null for a key", `{null:1}`, false},
		{"an array for a key", `{[]:1}`, false},
		{"an open array", `[`, false},
		{"an open array after a value", `[1`, false},
		{"an open array after a comma", `[1,`, false},
		{"an open object", `{`, false},
		{"an open object after a key", `{"a"`, false},
		{"an open object after a colon", `{"a":`, false},
		{"an open object after a value", `{"a":1`, false},
		{"an open object after a comma", `{"a":1,`, false},
		{"open inside", `[{"a":[]}`, false},
		{"closed and never opened", `]`, false},
		{"an object closed and never opened", `}`, false},
		{"closed twice", `[]]`, false},
		{"an object closed twice", `{}}`, false},
		{"closed as something else", `[}`, false},
		{"closed as something else, with a member", `{"a":1]`, false},
		{"crossed", `[{]}`, false},
		{"round brackets", `(1)`, false},
		{"two values", `1 2`, false},
		{"two arrays", `[] []`, false},
		{"two objects without a space", `{}{}`, false},
		{"two lines", "{}\n{}", false},
		{"a letter behind", `[]x`, false},
		{"a comma behind the value", `[],`, false},
		{"a cut true", `tru`, false},
		{"a cut null", `[nul]`, false},
		{"a longer true", `truer`, false},
		{"a longer null", `[null0]`, false},
		{"capitals", `True`, false},
		{"all capitals", `NULL`, false},
		{"Python's nothing", `None`, false},
		{"undefined", `undefined`, false},
		{"a comment of C", `[1/* one */]`, false},
		{"a comment of C in front", `/**/[]`, false},
		{"a comment to the end of the line", "[1 // one\n]", false},
		{"a comment of a shell", "# one\n[]", false},
		{"a comment behind", `[] // all`, false},
		{"a NUL in front", "\x00[]", false},
		{"a NUL inside", "[\x00]", false},
		{"a NUL behind", "[]\x00", false},
		{"a vertical tab", "[\v1]", false},
		{"a form feed", "[\f1]", false},
		{"a no-break space", "[\u00a01]", false},
		{"a next-line character", "[\u00851]", false},
		{"a line separator", "[1]\u2028", false},
		{"a word joiner", "[\u20601]", false},
		{"a byte order mark inside", "[\ufeff]", false},
		{"a byte order mark behind", "[]\ufeff", false},
		{"UTF-16", "\xff\xfe[\x00]\x00", false},
		{"UTF-16, the other end first", "\xfe\xff\x00[\x00]", false},
		{"a letter of two bytes", "[\u00e9]", false},
		{"a byte that is no character", "[\xff]", false},
		{"an escaped bracket", `\u005b]`, false},
		{"an escape outside quotes", `[\n]`, false},
		{"a function call", `callback({})`, false},
		{"three points", `[1,...]`, false},
		{"a tag", `<null>`, false},
	}
}

// nest puts one bracket into the other, n deep, around a value.
func nest(open, inside, end string, n int) string {
	return strings.Repeat(open, n) + inside + strings.Repeat(end, n)
}

// TestGrammar reads every sentence by each route, as it comes and byte by byte. It is
// accepted or refused by all, and encoding/json says the same.
func TestGrammar(t *testing.T) {
	total := 0
	for group, sentences := range map[string][]sentence{"numbers": numbers(), "texts": texts(), "structures": structures()} {
		seen := map[string]bool{}
		for _, s := range sentences {
			require.False(t, seen[s.name], "%s: two are called %q", group, s.name)
			seen[s.name] = true
			total++
			t.Run(group+"/"+s.name, func(t *testing.T) {
				require.Equal(t, s.ok, json.Valid([]byte(s.text)), "encoding/json about %.100q", s.text)
				requireVerdict(t, s.text, s.ok)
				// An invalid text is invalid inside another one, and a valid text stays valid.
				inside := `{"a":[` + s.text + `]}`
				requireVerdict(t, inside, json.Valid([]byte(inside)))
			})
		}
	}
	require.Greater(t, total, 200)
}

// TestGrammarBeyond tests the differences from encoding/json: depth, and a byte order mark.
func TestGrammarBeyond(t *testing.T) {
	const mark = "\xef\xbb\xbf"
	for _, s := range []sentence{
		{"arrays, as deep as may be", nest("[", "", "]", 1000), true},
		{"arrays, one too deep", nest("[", "", "]", 1001), false},
		{"objects, as deep as may be", nest(`{"a":`, "1", "}", 1000), true},
		{"objects, one too deep", nest(`{"a":`, "1", "}", 1001), false},
		{"both in turn, as deep as may be", nest(`[{"a":`, "1", "}]", 500), true},
		{"both in turn, one too deep", nest(`[{"a":`, "[]", "}]", 500), false},
		{"deep, and a second time", "[" + nest("[", "", "]", 999) + "," + nest("[", "", "]", 999) + "]", true},
		{"deep and never closed", strings.Repeat("[", 100_000), false},
		{"a mark in front", mark + "[]", true},
		{"a mark in front of white space", mark + " \n{}", true},
		{"a mark alone", mark, false},
		{"two marks", mark + mark + "[]", false},
		{"half a mark", mark[:2] + "[]", false},
		{"a mark after white space", " " + mark + "[]", false},
	} {
		t.Run(s.name, func(t *testing.T) { requireVerdict(t, s.text, s.ok) })
	}
	require.ErrorIs(t, skipped(strings.NewReader(nest("[", "", "]", 1001)), 64), ErrDepth)
}

// requireVerdict reads a text by every route.
func requireVerdict(t *testing.T, text string, ok bool) {
	t.Helper()
	for name, route := range map[string]func(io.Reader, int) error{"skip": skipped, "capture": held, "walk": visited} {
		for _, size := range []int{16, 4096} {
			for how, r := range map[string]io.Reader{"whole": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text))} {
				err := route(r, size)
				require.Equal(t, ok, err == nil, "%s, %s, buffer of %d: %.100q: %v", name, how, size, text, err)
				var e *Error
				if err != nil {
					require.ErrorAs(t, err, &e)
					require.LessOrEqual(t, e.Offset, int64(len(text)))
				}
			}
		}
	}
}

// skipped reads a document without looking at it.
func skipped(r io.Reader, size int) error {
	s := New(r, size)
	return errors.Join(s.Skip(), s.End())
}

// held reads a document as one value.
func held(r io.Reader, size int) error {
	s := New(r, size)
	_, err := s.Capture(1 << 20)
	return errors.Join(err, s.End())
}

// visited goes into every array and object, and decodes every key and text.
func visited(r io.Reader, size int) error {
	s := New(r, size)
	return errors.Join(visit(s), s.End())
}

func visit(s *Scanner) error {
	k, err := s.Kind()
	switch {
	case err != nil:
		return err
	case k == KindString:
		r, err := s.Text()
		if err == nil {
			_, err = io.Copy(io.Discard, r)
		}
		return err
	case k != KindArray && k != KindObject:
		return s.Skip()
	}
	if err := s.Enter(); err != nil {
		return err
	}
	for {
		more, err := s.More()
		if err != nil || !more {
			return err
		}
		if k == KindObject {
			if _, _, err := s.Key(); err != nil {
				return err
			}
		}
		if err := visit(s); err != nil {
			return err
		}
	}
}
