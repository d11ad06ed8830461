package replay

import (
	"bytes"
	"encoding/json"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/asciijson"
)

// line returns an answer to an event as a line of JSON in ASCII.
func line(e *event.Event, a StreamAnswer) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a.to(repeated(e.ID), repeated([]byte(e.T)))); err != nil { // numbers, texts and lists of them
		panic("replay: an answer cannot be encoded: " + err.Error())
	}
	return asciijson.Escape(b.Bytes())
}

// repeated returns JSON that an answer repeats, null if it is none.
func repeated(raw []byte) json.RawMessage {
	if len(raw) > 0 && !json.Valid(raw) {
		return json.RawMessage("null")
	}
	return raw
}
