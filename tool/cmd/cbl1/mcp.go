package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveMCP answers an assistant until it closes standard input. Each verb with answers in JSON is a tool.
func serveMCP(c *request, names []string) (o reply, err error) {
	root, err := os.OpenRoot(names[0])
	if err != nil {
		return o, fileError(names[0], err)
	}
	defer func() { _ = root.Close() }() // open for reading only
	server := mcp.NewServer(&mcp.Implementation{Name: "cbl1", Version: versionText()}, nil)
	for _, v := range verbs() {
		if v.inputs != nil && slices.Contains(v.formatNames(), "json") {
			server.AddTool(v.tool(), func(_ context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return v.callTool(root, call.Params.Arguments)
			})
		}
	}
	return o, server.Run(context.Background(), &mcp.IOTransport{Reader: io.NopCloser(c.in), Writer: unclosed{c.out}})
}

// unclosed is standard output, which outlives a session.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// An object is one of JSON.
type object = map[string]any

// tool describes a verb. Its parameters are the files, the address of who, and options.
func (v verb) tool() *mcp.Tool {
	required := []string{"files"}
	parameters := object{"files": object{
		"type": "array", "items": object{"type": "string"}, "minItems": 1, "description": "paths below the folder of the server, for: cbl1 " + v.use,
	}}
	if v.name() == "who" {
		parameters["address"], required = object{"type": "string", "description": "in bytes, like 111616 or 0x1b400"}, append(required, "address")
	}
	for _, o := range v.parameters() {
		_, yes := o.to.(*bool)
		parameters[o.name] = object{"type": map[bool]string{true: "boolean", false: "string"}[yes], "description": o.help}
	}
	return &mcp.Tool{
		Name: v.name(), Description: v.short + ".\n\n" + v.long, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
		InputSchema: object{"type": "object", "properties": parameters, "required": required, "additionalProperties": false},
		OutputSchema: object{"type": "object", "required": []string{"exit_code", "answers", "messages"}, "properties": object{
			"exit_code": object{"type": "integer", "description": "0: yes, or the figures are there; 1: no; 2: wrong usage or unreadable input; 3: cannot tell"},
			"answers":   object{"type": "array", "items": object{"type": "object"}, "description": "one for each input that can be read, as cbl1 " + v.name() + " --format json writes it"},
			"messages":  object{"type": "string", "description": "what the command says of inputs that it cannot read"},
		}},
	}
}

func (v verb) name() string { return strings.Fields(v.use)[0] }

// parameters are the options that a tool has: those about the question, and not about its output.
func (v verb) parameters() []option {
	return slices.DeleteFunc(pick(newRequest(streams{}, v).options(), v.options), func(o option) bool {
		return slices.Contains([]string{"programs", "cores", "verbose,v", "color", "format"}, o.name)
	})
}

// callTool runs a verb. Whatever is wrong with a call is a message for the assistant.
func (v verb) callTool(root *os.Root, arguments []byte) (*mcp.CallToolResult, error) {
	var out, messages bytes.Buffer
	s := streams{in: strings.NewReader(""), out: &out, err: &messages, below: root}
	code := exitUsage
	if args, err := v.arguments(root, arguments); err != nil {
		s.complain(err)
	} else {
		code = runIn(s, args)
	}
	answers := []json.RawMessage{}
	for line := range bytes.Lines(out.Bytes()) {
		answers = append(answers, bytes.TrimSpace(line))
	}
	result := object{"exit_code": code, "answers": answers, "messages": messages.String()}
	text, err := json.Marshal(result)
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, StructuredContent: result, IsError: code == exitUsage,
	}, err
}

// arguments returns the command line of a call. Its files are regular and below the folder.
func (v verb) arguments(root *os.Root, text []byte) (args []string, err error) {
	var call struct{ Files []string }
	given := map[string]any{}
	numbers := json.NewDecoder(bytes.NewReader(text))
	numbers.UseNumber() // as they are written
	if err := cmp.Or(json.Unmarshal(text, &call), numbers.Decode(&given)); err != nil {
		return nil, err
	}
	delete(given, "files")
	opened := call.Files
	args = []string{v.name(), "--format=json"}
	for _, o := range v.parameters() {
		value, is := given[o.name]
		if !is {
			continue
		}
		delete(given, o.name)
		word := fmt.Sprint(value)
		args = append(args, "--"+o.name+"="+word)
		if _, wrong := parseBudget(word); o.name == "budget" && wrong != nil {
			return nil, wrong // the name of a file, which may lie anywhere
		} else if o.name == "with" {
			opened = append(slices.Clip(opened), word)
		}
	}
	args = append(append(args, "--"), call.Files...)
	if address, is := given["address"]; is && v.name() == "who" {
		args = append(args, fmt.Sprint(address))
		delete(given, "address")
	}
	if len(given) > 0 {
		return nil, fmt.Errorf("%s has no parameter %s", v.name(), slices.Sorted(maps.Keys(given))[0])
	}
	for _, name := range opened {
		f, err := openBelow(root, name)
		if err != nil {
			return nil, fileError(name, err)
		}
		_ = f.Close() // open for reading only
	}
	return args, nil
}

// openBelow opens a regular file below a folder.
func openBelow(root *os.Root, name string) (*os.File, error) {
	if info, err := root.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("no regular file") // a pipe waits for its writer
	}
	return root.Open(name)
}
