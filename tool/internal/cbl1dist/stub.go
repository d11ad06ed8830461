package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// A schema is the part of a JSON Schema that has types.
type schema struct {
	Type       any               `json:"type"` // a name, or a list of names
	Ref        string            `json:"$ref"`
	OneOf      []schema          `json:"oneOf"`
	AnyOf      []schema          `json:"anyOf"`
	Enum       []any             `json:"enum"`
	Const      any               `json:"const"`
	Items      *schema           `json:"items"`
	First      []schema          `json:"prefixItems"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Defs       map[string]schema `json:"$defs"`
}

// UnmarshalJSON reads a schema, which may be true or false.
func (s *schema) UnmarshalJSON(text []byte) error {
	if *s = (schema{}); text[0] != '{' {
		return nil
	}
	type plain schema
	return json.Unmarshal(text, (*plain)(s))
}

// A stub collects the TypedDicts of documents.
type stub struct {
	defs    map[string]schema // of the document at hand
	prefix  string            // of its names
	classes map[string]string // by name
}

// stubOf returns documents.pyi: a TypedDict for each object of the documents that the Python package returns.
func stubOf(schemas fs.FS) ([]byte, error) {
	s := stub{classes: map[string]string{}}
	for _, document := range []string{"check", "diff", "peak", "report", "room", "who"} {
		names, err := fs.Glob(schemas, "cbl1."+document+"-*.schema.json")
		if err != nil || len(names) != 1 {
			return nil, fmt.Errorf("schema of %s: %v, %w", document, names, err)
		}
		text, err := fs.ReadFile(schemas, names[0])
		if err != nil {
			return nil, err
		}
		var of schema
		if err := json.Unmarshal(text, &of); err != nil {
			return nil, fmt.Errorf("%s: %w", path.Base(names[0]), err)
		}
		s.defs, s.prefix = of.Defs, camel(document)
		s.typeOf(of, s.prefix)
	}
	var out bytes.Buffer
	out.WriteString("\"\"\"The documents of cbl1, by tool/docs/schemas. make api writes this file.\"\"\"\nfrom typing import Any, NotRequired, TypedDict\n")
	for _, name := range slices.Sorted(maps.Keys(s.classes)) {
		out.WriteString("\n\n" + s.classes[name])
	}
	return out.Bytes(), nil
}

// typeOf returns the type of what a schema describes. An object that has no type yet gets the name.
func (s *stub) typeOf(of schema, name string) string {
	simple := map[any]string{"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "array": "list[Any]", "object": "dict[str, Any]"}
	var all []string
	switch names, several := of.Type.([]any); {
	case of.Ref != "":
		def := path.Base(of.Ref)
		return s.typeOf(s.defs[def], s.prefix+camel(def))
	case len(of.OneOf)+len(of.AnyOf) > 0:
		for _, one := range slices.Concat(of.OneOf, of.AnyOf) {
			all = append(all, s.typeOf(one, name))
		}
	case of.Const != nil || of.Enum != nil:
		for _, v := range append(of.Enum, of.Const) {
			switch v.(type) {
			case string:
				all = append(all, "str")
			case nil:
				if of.Const == nil && slices.Contains(of.Enum, nil) {
					all = append(all, "None")
				}
			default:
				all = append(all, "Any")
			}
		}
	case several:
		for _, n := range names {
			all = append(all, simple[n])
		}
	case of.Type == "array" && len(of.First) > 0:
		return "list[" + s.typeOf(schema{OneOf: of.First}, name+"Item") + "]"
	case of.Type == "array" && of.Items != nil:
		return "list[" + s.typeOf(*of.Items, name+"Item") + "]"
	case of.Type == "object" && len(of.Properties) > 0:
		s.class(of, name)
		return name
	case simple[of.Type] != "":
		return simple[of.Type]
	default:
		return "Any"
	}
	slices.Sort(all) // None comes before the names of types that are written small
	return strings.Join(slices.Compact(all), " | ")
}

// class writes the class of an object, once.
func (s *stub) class(of schema, name string) {
	if _, ok := s.classes[name]; ok {
		return
	}
	s.classes[name] = "" // an object may hold others of its own type
	var out strings.Builder
	head, line, tail := fmt.Sprintf("class %s(TypedDict):\n", name), "    %s: %s\n", ""
	if slices.ContainsFunc(keywords(), func(k string) bool { _, ok := of.Properties[k]; return ok }) {
		head, line, tail = fmt.Sprintf("%s = TypedDict(%[1]q, {\n", name), "    %q: %s,\n", "})\n"
	}
	out.WriteString(head)
	for _, field := range slices.Sorted(maps.Keys(of.Properties)) {
		t := s.typeOf(of.Properties[field], name+camel(field))
		if !slices.Contains(of.Required, field) {
			t = "NotRequired[" + t + "]"
		}
		fmt.Fprintf(&out, line, field, t)
	}
	s.classes[name] = out.String() + tail
}

// keywords are the words of Python that name no field of a class.
func keywords() []string {
	return strings.Fields("and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield")
}

// camel joins the words of a name: "op_budget" is "OpBudget".
func camel(name string) (out string) {
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' }) {
		out += strings.ToUpper(word[:1]) + word[1:]
	}
	return out
}
