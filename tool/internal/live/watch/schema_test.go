package watch_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A snapshot has the fields that the schema names and no others, with all that may be known and
// with nothing.
func TestSnapshotSchema(t *testing.T) {
	data, err := os.ReadFile("../../../docs/schemas/cbl1.watch-1.schema.json")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	require.Equal(t, watch.Schema, doc.(map[string]any)["title"])
	names := 0
	countNames(doc, &names)
	testkit.CloseObjects(doc)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("rows", doc))
	rows, err := c.Compile("rows")
	require.NoError(t, err)

	var full watch.Snapshot
	fields := fill(reflect.ValueOf(&full).Elem(), "x")
	full.Schema, full.Detail.Basis = watch.Schema, "resident"
	require.Equal(t, fields, names, "names of fields")
	for _, source := range []watch.Feed{watch.FeedRecords, watch.FeedLog, watch.FeedRegions} {
		full.Source = source
		none := watch.Snapshot{Schema: watch.Schema, Source: source, Devices: []answer.LiveDevice{{}}, Processes: []watch.Process{{}}, Odd: []watch.OddityCount{{}}}
		for _, s := range []watch.Snapshot{full, none} {
			text, err := json.Marshal(s)
			require.NoError(t, err)
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			require.NoError(t, err)
			require.NoError(t, rows.Validate(v), "%s", text)
		}
	}
}

// countNames counts the properties that a schema names.
func countNames(schema any, n *int) {
	switch s := schema.(type) {
	case map[string]any:
		for key, v := range s {
			if p, ok := v.(map[string]any); ok && key == "properties" {
				*n += len(p)
			}
			countNames(v, n)
		}
	case []any:
		for _, v := range s {
			countNames(v, n)
		}
	}
}

// fill gives each field a value, text to strings, and returns how many fields the structs have that it met, each
// struct once in its place.
func fill(v reflect.Value, text string) (fields int) {
	switch v.Kind() {
	case reflect.Struct:
		fields = v.NumField()
		for _, field := range v.Fields() {
			fields += fill(field, text)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fields = fill(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fields = fill(v.Index(0), text)
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint64:
		v.SetUint(1<<64 - 1)
	default:
		v.SetInt(1)
	}
	return fields
}
