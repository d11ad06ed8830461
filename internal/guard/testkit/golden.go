package testkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Golden compares an answer with a file. With update it writes the file instead: the
// difference is to be read before it is committed.
func Golden(t testing.TB, update bool, path, got string) {
	t.Helper()
	if update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test with -update writes it", err)
	}
	if got != string(want) {
		t.Fatalf("%s is not what came out; go test with -update shows the difference\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// CloseObjects makes a JSON schema refuse members that it does not name: it adds
// additionalProperties: false wherever properties are listed.
func CloseObjects(schema any) {
	switch v := schema.(type) {
	case map[string]any:
		if _, ok := v["properties"].(map[string]any); ok {
			v["additionalProperties"] = false
		}
		for _, member := range v {
			CloseObjects(member)
		}
	case []any:
		for _, member := range v {
			CloseObjects(member)
		}
	}
}

// Brief returns the JSON of a value for people: a line for each object with its members in their order and, below it,
// the members that are objects. Members that are 0, false, null or empty are left out, and so are the named ones.
func Brief(t testing.TB, v any, without ...string) []string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	lines, value := brief(decoded(text), without, "", "")
	return slices.DeleteFunc(append(lines, value), func(line string) bool { return line == "" })
}

// brief returns the lines of a value if it has objects, else its text, "" for one that is left out.
func brief(v any, without []string, indent, name string) (lines []string, value string) {
	switch v := v.(type) {
	case []any:
		var plain []string
		for _, one := range v {
			more, text := brief(one, without, indent, name)
			if lines = append(lines, more...); more == nil {
				plain = append(plain, text)
			}
		}
		return lines, strings.TrimPrefix(fmt.Sprint(plain), "[]")
	case []member:
		head := []string{indent + name}
		for _, m := range v {
			more, text := brief(m.value, without, indent+" ", m.name)
			switch {
			case slices.Contains(without, m.name):
			case text == "":
				lines = append(lines, more...)
			default:
				head = append(head, m.name+"="+text)
			}
		}
		if len(head) == 1 && lines == nil {
			return nil, ""
		}
		return append([]string{strings.Join(head, " ")}, lines...), ""
	}
	if v == nil || v == false || v == json.Number("0") {
		return nil, ""
	}
	return nil, fmt.Sprint(v)
}

// Short returns the lines of an event log for people, without its header: the node, the event, its id and kind, and the
// other members in their order. The named members are left out, and a name that repeats the operation.
//
//	17 allocate 1 l1 op=ttnn.add on [2 0 1] [1497088,1499136) 0-0..1-0
func Short(log string, without ...string) (out []string) {
	for line := range strings.Lines(log) {
		all, ok := decoded([]byte(line)).([]member)
		switch {
		case !ok: // an error
			out = append(out, strings.TrimSpace(line))
		case all[0].value != "log":
			out = append(out, short(all, without))
		}
	}
	return out
}

// short returns members as words: first the values that need no name.
func short(all []member, without []string) string {
	var first, rest []string
	size, err := strconv.ParseUint(text(all, "size"), 10, 64)
	if start, wrong := strconv.ParseUint(text(all, "address"), 10, 64); err == nil && wrong == nil && text(all, "cores") != "" {
		first, without = append(first, fmt.Sprintf("[%d,%d)", start, start+size)), append(without, "size", "address")
	}
	for _, m := range all {
		var list []string
		switch v := m.value.(type) {
		case []member:
			m.value = "(" + short(v, without) + ")"
		case []any:
			for _, one := range v {
				if of, ok := one.([]member); ok {
					one = short(of, without)
				}
				list = append(list, fmt.Sprint(one))
			}
			m.value = "[" + strings.Join(list, " ") + "]"
		}
		switch {
		case slices.Contains(without, m.name), m.name == "name" && m.value == text(all, "op"):
		case m.name == "node":
			first = append([]string{fmt.Sprint(m.value)}, first...)
		case m.name == "event", m.name == "buffer", m.name == "kind", m.name == "code", m.name == text(all, "event"):
			first = append(first, fmt.Sprint(m.value))
		case m.name == "cores":
			first = append(first, strings.NewReplacer("{[", "", "]}", "", "], [", ",", " - ", "..").Replace(fmt.Sprint(m.value)))
		case m.name == "devices", m.name == "on":
			rest = append(rest, fmt.Sprint("on ", m.value))
		case m.name == "cbs", m.name == "parts":
			rest = append(rest, strings.Join(list, " & "))
		case m.value == true:
			rest = append(rest, m.name)
		default:
			rest = append(rest, fmt.Sprintf("%s=%v", m.name, m.value))
		}
	}
	return strings.Join(append(first, rest...), " ")
}

// A member is one of a JSON object. Its value is a list of members, a list of values, or a token.
type member struct {
	name  string
	value any
}

// text returns the text of a member, "" if there is none.
func text(all []member, name string) string {
	for _, m := range all {
		if m.name == name {
			return fmt.Sprint(m.value)
		}
	}
	return ""
}

// decoded returns JSON with the members of objects in their order, nil if it is none.
func decoded(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return decodedNext(d)
}

func decodedNext(d *json.Decoder) any {
	token, _ := d.Token()
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			list = append(list, decodedNext(d))
		}
		_, _ = d.Token()
		return list
	case json.Delim('{'):
		all := []member{}
		for d.More() {
			name, _ := d.Token()
			all = append(all, member{fmt.Sprint(name), decodedNext(d)})
		}
		_, _ = d.Token()
		return all
	}
	return token
}

// Sections compares the answers to the questions of a file. A section has a title behind ==, the lines of a question,
// and behind > the lines of its answer, which are wrapped after 120 columns. With update the answers are written anew.
func Sections(t *testing.T, file string, update bool, answer func(asked []string) []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut("\n"+string(data), "\n== ")
	var out strings.Builder
	out.WriteString(strings.TrimPrefix(head, "\n"))
	for section := range strings.SplitSeq(rest, "\n== ") {
		var asked, want []string
		for line := range strings.SplitSeq(strings.TrimRight(section, "\n"), "\n") {
			if text, ok := strings.CutPrefix(line, "> "); ok {
				want = append(want, text)
			} else if line != "" {
				asked = append(asked, line)
			}
		}
		question, got := strings.Join(asked, "\n"), wrapped(answer(asked[1:]))
		if !update && got != strings.Join(want, "\n") {
			t.Fatalf("%s\nanswered:\n%s\nwant:\n%s", question, got, strings.Join(want, "\n"))
		}
		fmt.Fprintf(&out, "\n== %s\n> %s\n", question, strings.ReplaceAll(got, "\n", "\n> "))
	}
	if update {
		if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// wrapped joins lines. A long one goes on, indented, behind a space at which it is broken.
func wrapped(lines []string) string {
	const most, deeper = 118, "      "
	var out strings.Builder
	for i, line := range lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		for len(line) > most {
			at := strings.LastIndexByte(line[:most+1], ' ')
			if at <= len(deeper) {
				break
			}
			out.WriteString(line[:at] + "\n")
			line = deeper + line[at+1:]
		}
		out.WriteString(line)
	}
	return out.String()
}
