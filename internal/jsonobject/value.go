package jsonobject

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Unquote returns the text of a JSON string. Half surrogate pairs and bytes that
// are not UTF-8 become U+FFFD.
func Unquote(raw []byte) string { return strings.ToValidUTF8(string(unescaped(raw)), "\ufffd") }

// unescaped returns the text of a JSON string.
func unescaped(raw []byte) []byte {
	text := raw[1 : len(raw)-1]
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	var s string
	_ = json.Unmarshal(raw, &s) // raw is valid JSON
	return []byte(s)
}

// same reports whether two JSON values are equal: up to white space, escapes and
// the spelling of whole numbers.
func same(a, b []byte) bool { return bytes.Equal(a, b) || plainest(a) == plainest(b) }

// plainest returns a text that is the same for equal values, and for no others.
func plainest(raw []byte) string {
	if raw[0] == '"' {
		return `"` + Unquote(raw)
	}
	if v, wrong := Whole(raw); wrong == "" {
		return strconv.FormatUint(v, 10)
	}
	var b bytes.Buffer
	_ = json.Compact(&b, raw) // raw is valid JSON
	return b.String()
}
