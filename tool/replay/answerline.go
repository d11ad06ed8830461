package replay

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/asciijson"
)

// line returns an answer as a line of JSON in ASCII.
func line(e *event.Event, a any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a); err != nil { // numbers, texts and lists of them
		panic("replay: an answer cannot be encoded: " + err.Error())
	}
	// The id and the time of the query follow the name of the answer, unchanged.
	text := b.Bytes()
	at := bytes.IndexByte(text, ',') // no name has a comma
	if at < 0 {
		at = bytes.IndexByte(text, '}')
	}
	out := slices.Clone(text[:at])
	if e.ID != nil {
		out = append(append(out, `,"id":`...), oneLine(e.ID)...)
	}
	if e.T != "" {
		out = append(append(out, `,"t":`...), e.T...)
	}
	return asciijson.Escape(append(out, text[at:]...))
}

// oneLine returns JSON without white space: a log with old line ends may have some.
func oneLine(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil { // it was found to be valid
		return []byte("null")
	}
	return b.Bytes()
}
