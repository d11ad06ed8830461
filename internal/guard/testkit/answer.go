package testkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
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

// Sections compares the answers to the questions of a file. A section has a title behind ==, the lines of a question,
// and behind > the lines of its answer. With update the answers are written anew.
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
		question, got := strings.Join(asked, "\n"), strings.Join(answer(asked[1:]), "\n")
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
