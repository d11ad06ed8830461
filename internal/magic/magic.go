// Package magic names the format of an input that is not JSON, by its first bytes: [Name]. It has
// no state and reads only the given bytes.
package magic

import (
	"bytes"
	"slices"
	"strings"
)

// Name names the format of an input that cannot be JSON, by its first bytes, or returns "" if it
// may be JSON. The words go on after "this is". Invalid JSON is left to the JSON reader.
func Name(start []byte) string {
	magic := []struct{ magic, what string }{
		{"SQLite format 3\x00", "a SQLite database; cbl1 report, check, peak, who and convert read it from a file, as it is: not compressed, and not from a pipe"},
		{"PK\x03\x04", "a zip archive; unpack it"},
		{"PK\x05\x06", "an empty zip archive"},
		{"\x1f\x8b", "gzip data inside compressed data; unpack it"},
		{"\x28\xb5\x2f\xfd", "zstd data inside compressed data; unpack it"},
		{"BZh", "bzip2 data; unpack it"},
		{"\xfd7zXZ\x00", "xz data; unpack it"},
		{"version https://git-lfs", "a git LFS pointer, not the file; run git lfs pull"},
		{"\xff\xfe", "UTF-16 text; save it as UTF-8"},
		{"\xfe\xff", "UTF-16 text; save it as UTF-8"},
		{"[\x00", "UTF-16 text; save it as UTF-8"},
		{"{\x00", "UTF-16 text; save it as UTF-8"},
		{"\x00[", "UTF-16 text; save it as UTF-8"},
		{"\x00{", "UTF-16 text; save it as UTF-8"},
	}
	for _, m := range magic {
		if bytes.HasPrefix(start, []byte(m.magic)) {
			return m.what
		}
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(start, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case len(start) == 0:
		return "empty input"
	case len(text) == 0 || text[0] == '{' || text[0] == '[' && !printed(text[:min(len(text), 14)]):
		return ""
	case text[0] == '<':
		lower := strings.ToLower(string(text))
		if strings.Contains(lower, "<html") || strings.HasPrefix(lower, "<!doctype html") {
			return "an HTML page, not JSON"
		}
		return "XML or HTML, not JSON"
	}
	if printed(text) {
		return "output of an allocation server, which has no addresses; record with cbl1 serve --record"
	}
	for _, c := range text {
		if c < ' ' && c != '\t' && c != '\r' && c != '\n' && c != '\f' && c != '\x1b' {
			return "binary data, not JSON"
		}
	}
	return ""
}

// printed reports whether a text has words that allocation servers print.
func printed(text []byte) bool {
	return slices.ContainsFunc([]string{
		"✓ [", "✗ [", "⚠ [", "[CB_ALLOC] ", "[CB_FREE] ", "[KERNEL_LOAD] ", "[KERNEL_UNL", "(buffer_id=0x", "Freed buffer ", "📊 Current Statistics", ": CBs ",
	}, func(words string) bool { return bytes.Contains(text, []byte(words)) })
}
