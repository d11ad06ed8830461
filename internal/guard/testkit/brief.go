package testkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Brief returns the JSON of a value for people: a line for each object with its members in their order and, below it,
// the members that are objects. Members that are 0, false, null or empty are left out, and so are the named ones.
func Brief(t testing.TB, v any, without ...string) []string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	lines, value := brief(d, without, "", "")
	return slices.DeleteFunc(append(lines, value), func(line string) bool { return line == "" })
}

// brief returns the lines of the next value if it has objects, else its text, "" for one that is left out.
func brief(d *json.Decoder, without []string, indent, name string) (lines []string, value string) {
	switch token, _ := d.Token(); token {
	case json.Delim('['):
		var plain []string
		for d.More() {
			more, one := brief(d, without, indent, name)
			if lines = append(lines, more...); more == nil {
				plain = append(plain, one)
			}
		}
		_, _ = d.Token()
		return lines, strings.TrimPrefix(fmt.Sprint(plain), "[]")
	case json.Delim('{'):
		head := []string{indent + name}
		for d.More() {
			key, _ := d.Token()
			more, one := brief(d, without, indent+" ", key.(string))
			switch {
			case slices.Contains(without, key.(string)):
			case one == "":
				lines = append(lines, more...)
			default:
				head = append(head, fmt.Sprintf("%s=%s", key, one))
			}
		}
		_, _ = d.Token()
		if len(head) == 1 && lines == nil {
			return nil, ""
		}
		return append([]string{strings.Join(head, " ")}, lines...), ""
	case nil, false, "", json.Number("0"):
		return nil, ""
	default:
		return nil, fmt.Sprint(token)
	}
}
