package event_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
)

const logSchema = "../tool/docs/schemas/cbl1.events-1.schema.json"

// compileLogSchema returns the schemas of the lines of a log and of answers. The strict ones refuse
// fields that they do not name.
func compileLogSchema(t *testing.T, strict bool) (events, answers *jsonschema.Schema) {
	t.Helper()
	data, err := os.ReadFile(logSchema)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	if strict {
		testkit.CloseObjects(doc)
	}
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource(logSchema, doc))
	events, err = c.Compile(logSchema)
	require.NoError(t, err)
	answers, err = c.Compile(logSchema + "#/$defs/answer")
	require.NoError(t, err)
	return events, answers
}

func validate(s *jsonschema.Schema, line string) error {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func TestLogSchema(t *testing.T) {
	events, _ := compileLogSchema(t, true)
	log, err := os.ReadFile("testdata/conformance.jsonl")
	require.NoError(t, err)
	for _, line := range lines(string(log)) {
		switch {
		case strings.Contains(line, `"teleport"`), strings.Contains(line, `"weather"`):
			require.Error(t, validate(events, line), "%s", line)
		case strings.Contains(line, `"program":31,"program":31`): // which no schema can refuse
		default:
			require.NoError(t, validate(events, line), "%s", line)
		}
	}
	// Version 1 may get more fields, so readers with today's schema accept them.
	shipped, _ := compileLogSchema(t, false)
	const later = `{"event":"op_end","later":1}`
	require.NoError(t, validate(shipped, later))
	require.Error(t, validate(events, later))
	require.Error(t, validate(shipped, `{"event":"log","version":2}`))
}

// TestLogDocs: the lines in docs/events.md match their descriptions, and it names every event,
// query and code.
func TestLogDocs(t *testing.T) {
	events, answers := compileLogSchema(t, true)
	text, err := os.ReadFile("../docs/events.md")
	require.NoError(t, err)
	n := 0
	for _, line := range lines(string(text)) {
		switch {
		case strings.HasPrefix(line, `{"answer"`):
			require.NoError(t, validate(answers, line), "%s", line)
			n++
		case strings.HasPrefix(line, `{`):
			require.NoError(t, validate(events, line), "%s", line)
			n++
		}
	}
	require.Greater(t, n, 6)

	var doc struct {
		Defs map[string]struct {
			Enum       []string
			Properties map[string]struct {
				Const any
				Enum  []string
			}
		} `json:"$defs"`
	}
	data, err := os.ReadFile(logSchema)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &doc))
	words := append(doc.Defs["code"].Enum, doc.Defs["query"].Properties["query"].Enum...)
	for name, def := range doc.Defs {
		if event, ok := def.Properties["event"]; ok && event.Const == name && name != "log" {
			words = append(words, name)
		}
	}
	require.Greater(t, len(words), 40)
	for _, word := range words {
		require.Contains(t, string(text), "`"+word+"`")
	}
}

// The codes of the schema equal the codes of the package.
func TestLogCodes(t *testing.T) {
	source, err := os.ReadFile("code.go")
	require.NoError(t, err)
	schema, err := os.ReadFile(logSchema)
	require.NoError(t, err)
	found := regexp.MustCompile(`Code = "([a-z0-9-]+)"`).FindAllStringSubmatch(string(source), -1)
	require.Len(t, found, 27)
	for _, code := range found {
		require.Contains(t, string(schema), `"`+code[1]+`"`)
	}
}
