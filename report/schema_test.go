package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/testkit"
	"github.com/cbl1/cbl1/replay"
	"github.com/cbl1/cbl1/report"
)

// compileSchema returns a schema as it is shipped, and a strict one that refuses
// fields that it does not name.
func compileSchema(t *testing.T, schemaFile string) (shipped, strict *jsonschema.Schema) {
	t.Helper()
	compile := func(edit func(any)) *jsonschema.Schema {
		data, err := os.ReadFile(schemaFile)
		require.NoError(t, err)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		require.NoError(t, err)
		edit(doc)
		c := jsonschema.NewCompiler()
		require.NoError(t, c.AddResource(schemaFile, doc))
		s, err := c.Compile(schemaFile)
		require.NoError(t, err)
		return s
	}
	return compile(func(any) {}), compile(testkit.CloseObjects)
}

func validate(t *testing.T, s *jsonschema.Schema, doc []byte) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	require.NoError(t, err)
	require.NoError(t, s.Validate(v), "%s", doc)
}

func TestSchema(t *testing.T) {
	_, strict := compileSchema(t, "cbl1.report-2.schema.json")
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) { validate(t, strict, jsonText(t, f.replay(t))) })
	}
	t.Run("zero", func(t *testing.T) {
		r := &replay.Result{Addresses: replay.AddressesNone}
		r.Spec.ArchFrom, r.Spec.BaseFrom = event.FromAssumed, event.FromAssumed
		validate(t, strict, jsonText(t, r))
	})
}

// A version may get more fields, so readers with today's schema must accept them.
func TestSchemaLetsFieldsBeAdded(t *testing.T) {
	shipped, strict := compileSchema(t, "cbl1.report-2.schema.json")
	var doc map[string]any
	require.NoError(t, json.Unmarshal(jsonText(t, fixtures(t)[0].replay(t)), &doc))
	doc["later"] = 1
	require.NoError(t, shipped.Validate(doc))
	require.Error(t, strict.Validate(doc))
	doc["schema"] = "cbl1.report/1"
	require.Error(t, shipped.Validate(doc))
	require.Equal(t, "cbl1.report/2", report.Schema)
}
