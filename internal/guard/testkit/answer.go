package testkit

import (
	"os"
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
