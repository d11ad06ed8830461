package jsonobject

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Unquote returns the text of a JSON string. Half surrogate pairs and bytes that
// are not UTF-8 become U+FFFD.
func Unquote(raw []byte) string {
	text := raw[1 : len(raw)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		var s string
		if err := json.Unmarshal(raw, &s); err == nil {
			return s
		}
	}
	if !utf8.Valid(text) {
		return strings.ToValidUTF8(string(text), "\ufffd")
	}
	return string(text)
}

// Same reports whether two JSON values are equal: up to white space, escapes and
// the spelling of whole numbers.
func Same(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if a[0] == '"' && b[0] == '"' {
		return Unquote(a) == Unquote(b)
	}
	if a[0] == '"' || b[0] == '"' {
		return false
	}
	v, wrong := Whole(a)
	w, alsoWrong := Whole(b)
	if wrong == "" && alsoWrong == "" {
		return v == w
	}
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
