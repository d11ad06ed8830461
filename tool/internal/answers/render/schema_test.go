package render_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// compileSchema returns a schema as it is shipped, and a strict one that refuses
// fields that it does not name.
func compileSchema(t *testing.T, schemaFile string) (shipped, strict *jsonschema.Schema) {
	t.Helper()
	compile := func(edit func(any)) *jsonschema.Schema {
		data, err := os.ReadFile("../../../docs/schemas/" + schemaFile)
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
		r := &answer.Result{Addresses: answer.AddressesNone}
		r.Spec.ArchFrom, r.Spec.BaseFrom, r.Spec.SmallFrom = event.FromAssumed, event.FromAssumed, event.FromAssumed
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
	require.Equal(t, "cbl1.report/2", answer.ReportSchema)
}

// Ids of the devices of a log are any number of 64 bits, other numbers have 63.
func TestSchemasTakeAnyID(t *testing.T) {
	const log = `{"event":"log","version":1}
{"event":"device","device":18446744073709551615,"spec":{"board":"n150"}}
{"event":"device","device":9223372036854775808,"spec":{"board":"n150"}}
{"event":"program","program":1,"cbs":[{"cores":"0-0","size":100000}]}
{"event":"enqueue","program":1,"devices":[18446744073709551615]}
{"event":"allocate","buffer":1,"kind":"l1","parts":[{"cores":"0-0","address":200000,"size":64}]}
{"event":"enqueue","program":1}
`
	r := logged(t, log, replay.Options{Ask: &answer.Question{Address: 200000}, Room: &answer.RoomQuestion{Size: 1400000}})
	for name, write := range map[string]func(io.Writer) error{
		"cbl1.report-2.schema.json": func(w io.Writer) error { return render.Report(r, render.Options{}).JSON(w) },
		"cbl1.check-1.schema.json":  render.Check(r, r.Judge(answer.Terms{})).JSON,
		"cbl1.room-1.schema.json":   render.Room(r, r.Room(nil)).JSON,
		"cbl1.peak-1.schema.json":   func(w io.Writer) error { return render.Peak(r).JSON(w) },
		"cbl1.who-1.schema.json":    func(w io.Writer) error { return render.Who(r, r.Who(answer.Question{}, answer.Filter{})).JSON(w) },
	} {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		shipped, _ := compileSchema(t, name)
		validate(t, shipped, b.Bytes())
		const id = `"device":9223372036854775808`
		require.Contains(t, b.String(), id, name)
		for _, c := range []struct{ old, new string }{
			{id, `"device":18446744073709551616`},
			{`"nodes":7`, `"nodes":9223372036854775808`},
		} {
			text := strings.Replace(b.String(), c.old, c.new, 1)
			require.NotEqual(t, b.String(), text, name)
			wrong, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			require.NoError(t, err)
			require.Error(t, shipped.Validate(wrong), "%s: %s", name, c.new)
		}
	}
}
