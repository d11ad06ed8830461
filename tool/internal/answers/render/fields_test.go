package render

import (
	"encoding"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
	"github.com/stretchr/testify/require"
)

type object = map[string]any

// TestSchemaFields goes through the Go types and the schemas side by side: the same
// fields, all of them required and described.
func TestSchemaFields(t *testing.T) {
	for name, typ := range map[string]reflect.Type{
		answer.ReportSchema: reflect.TypeFor[answer.ReportDocument](),
		answer.CheckSchema:  reflect.TypeFor[answer.CheckDocument](),
		answer.PeakSchema:   reflect.TypeFor[answer.PeakDocument](),
		answer.WhoSchema:    reflect.TypeFor[answer.WhoDocument](),
		diff.Schema:         reflect.TypeFor[diff.Document](),
		answer.MapSchema:    reflect.TypeFor[answer.MapDocument](),
		answer.RoomSchema:   reflect.TypeFor[answer.RoomDocument](),
	} {
		schema := readSchema(t, strings.ReplaceAll(name, "/", "-")+".schema.json")
		require.NotEmpty(t, schema["description"])
		require.Equal(t, name, schema["title"])
		require.Equal(t, name, schema["properties"].(object)["schema"].(object)["const"])
		compareFields(t, name, typ, schema, schema)
	}
}

// membersOf returns the fields of a struct that JSON has, also of embedded structs.
func membersOf(typ reflect.Type) (members []reflect.StructField) {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	for field := range typ.Fields() {
		switch {
		case field.Anonymous:
			members = append(members, membersOf(field.Type)...)
		case isMember(field):
			members = append(members, field)
		}
	}
	return members
}

func readSchema(t *testing.T, name string) object {
	t.Helper()
	data, err := os.ReadFile("../../../docs/schemas/" + name)
	require.NoError(t, err)
	var schema object
	require.NoError(t, json.Unmarshal(data, &schema))
	return schema
}

func compareFields(t *testing.T, path string, typ reflect.Type, schema, root object) {
	t.Helper()
	for ref, ok := schema["$ref"].(string); ok; ref, ok = schema["$ref"].(string) {
		schema = root["$defs"].(object)[strings.TrimPrefix(ref, "#/$defs/")].(object)
	}
	if choice, ok := schema["oneOf"].([]any); ok { // null or what we look for
		compareFields(t, path, typ, choice[1].(object), root)
		return
	}
	if typ.Implements(reflect.TypeFor[json.Marshaler]()) || typ.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return // one value
	}
	switch typ.Kind() {
	case reflect.Pointer:
		compareFields(t, path, typ.Elem(), schema, root)
	case reflect.Map:
		compareFields(t, path+"/*", typ.Elem(), schema["additionalProperties"].(object), root)
	case reflect.Slice:
		compareFields(t, path+"/*", typ.Elem(), schema["items"].(object), root)
	case reflect.Struct:
		properties, ok := schema["properties"].(object)
		require.True(t, ok, "%s: no properties", path)
		var names, optional []string
		for _, field := range membersOf(typ) {
			name := field.Tag.Get("json")
			if field.Type == reflect.TypeFor[json.Number]() { // of logs, where an event has a time
				name = strings.TrimSuffix(name, ",omitempty")
				optional = append(optional, name)
			}
			if field.Name == "More" && strings.HasPrefix(name, "residents") { // of lists that are cut
				name = strings.TrimSuffix(name, ",omitempty")
				optional = append(optional, name)
			}
			require.NotEmpty(t, name, "%s: field %s has no name", path, field.Name)
			require.NotContains(t, name, ",", "fields are always there")
			names = append(names, name)
			property, ok := properties[name].(object)
			require.True(t, ok, "%s/%s is not in the schema", path, name)
			require.NotEmpty(t, property["description"], "%s/%s has no description", path, name)
			compareFields(t, path+"/"+name, field.Type, property, root)
		}
		require.ElementsMatch(t, names, slices.Collect(maps.Keys(properties)), "%s", path)
		for _, name := range optional {
			require.NotContains(t, schema["required"], name)
			names = slices.DeleteFunc(names, func(s string) bool { return s == name })
		}
		require.ElementsMatch(t, names, schema["required"], "%s: required", path)
	}
}

// TestSchemaSaysWhen: every figure of a device and of its groups of cores says whether it
// is one of the end or a high-water mark.
func TestSchemaSaysWhen(t *testing.T) {
	defs := readSchema(t, "cbl1.report-2.schema.json")["$defs"].(object)
	n := 0
	for _, def := range []string{"device", "group"} {
		for name, property := range defs[def].(object)["properties"].(object) {
			if !strings.HasSuffix(name, "_bytes") && name != "registered_regions" {
				continue
			}
			n++
			says := property.(object)["description"].(string)
			end := strings.HasPrefix(says, "At the end") || strings.HasSuffix(says, "at the end, in bytes.")
			require.NotEqual(t, end, strings.HasPrefix(says, "High-water mark: "), "%s: %s", name, says)
			peak := strings.Contains(name, "registered_core_peak")
			require.Equal(t, end, strings.Contains(name, "registered") && !peak || strings.Contains(name, "final"), name)
		}
	}
	require.Greater(t, n, 20)
}

// TestAnomalyCodes: the table of codes has every constant, and every code of a reader. Each code has words and stands
// in the schema, or is a reason of the judgement alone, which has a text.
func TestAnomalyCodes(t *testing.T) {
	all := codesIn(t, "../../../replay/answer/codes.go")
	require.Len(t, answer.Codes(), len(all))
	for _, reader := range []string{"../../../capture/note.go", "../../../dump/dump.go", "../../live/wire/translator.go"} {
		require.Subset(t, all, codesIn(t, reader), reader)
	}
	var codes []string
	for _, c := range all {
		require.Contains(t, answer.Codes(), answer.Code(c))
		var texts []string
		for count := range int64(2) {
			r := answer.Result{Anomalies: []answer.AnomalyCount{{Code: answer.Code(c), Count: count}}}
			texts = append(texts, r.AnomalyTexts()...)
		}
		if len(texts) > 0 && strings.Contains(texts[0], "see the documentation") {
			if answer.Code(c) != answer.CodeBuffersApart { // whose text names a device
				require.NotEqual(t, c, (&answer.Result{}).Reason(answer.Code(c)).Text)
			}
			continue
		}
		codes = append(codes, c)
		for _, text := range texts {
			require.NotContains(t, text, "  ", "a word is missing")
		}
	}
	code := readSchema(t, "cbl1.report-2.schema.json")["$defs"].(object)["anomaly"].(object)["properties"].(object)["code"].(object)
	require.ElementsMatch(t, codes, code["enum"])
	for _, c := range codes {
		require.Contains(t, code["description"], c+": ")
	}
}

// Each anomaly with one of these codes leaves open whether everything fits; with another one only a hidden one does.
func TestOpenCodes(t *testing.T) {
	open := []answer.Code{
		"bad-device-tensors", "beyond-l1", "buffer-beyond-l1", "buffer-unplaced", "cache-hit", "event-refused", "free-without-cbs", "no-cbs",
		"no-nodes", "operation-failed", "torn-line", "unattributed", "unfinished",
	}
	for _, code := range answer.Codes() {
		shown := answer.Result{Anomalies: []answer.AnomalyCount{{Code: code, Count: 1}}}
		require.Equal(t, slices.Contains(open, code), len(shown.Undecided()) == 1, code)
		hidden := answer.Result{Anomalies: []answer.AnomalyCount{{Code: code, Count: 1, Hidden: true}}}
		require.Equal(t, []answer.Code{code}, hidden.Undecided())
	}
}

// codesIn reads the constants of a file that are codes.
func codesIn(t *testing.T, path string) (out []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !codeName.MatchString(spec.Names[0].Name) {
			return true
		}
		code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		out = append(out, code)
		return true
	})
	require.NotEmpty(t, out, path)
	return out
}

var codeName = regexp.MustCompile(`^(Code|note|hidden)[A-Z]|^TensorsOnly$`)

// TestCodesPage: tool/docs/codes.md has a row for each code that check --accept takes.
func TestCodesPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/codes.md")
	require.NoError(t, err)
	var rows []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\| ").FindAllStringSubmatch(string(page), -1) {
		rows = append(rows, row[1])
	}
	var codes []string
	for _, code := range answer.Codes() {
		codes = append(codes, string(code))
	}
	require.ElementsMatch(t, codes, rows)
}
