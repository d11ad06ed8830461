package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
)

// talk starts cbl1 mcp with a folder, and ends it when the test ends.
func talk(t *testing.T, folder string) (io.WriteCloser, io.ReadCloser) {
	t.Helper()
	in, send := io.Pipe()
	receive, out := io.Pipe()
	ended := make(chan int)
	go func() { ended <- run([]string{"mcp", folder}, in, out, io.Discard) }()
	t.Cleanup(func() {
		require.NoError(t, send.Close())
		require.NoError(t, receive.Close())
		require.Equal(t, exitOK, <-ended)
	})
	return send, receive
}

// assistant returns a session of the official client.
func assistant(t *testing.T, folder string) *mcp.ClientSession {
	t.Helper()
	send, receive := talk(t, folder)
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	s, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: receive, Writer: send}, nil)
	require.NoError(t, err)
	return s
}

// An mcpAnswer is the structured content of a tool.
type mcpAnswer struct {
	ExitCode int               `json:"exit_code"`
	Answers  []json.RawMessage `json:"answers"`
	Messages string            `json:"messages"`
}

// callTool calls a tool, whose text is its structured content.
func callTool(t *testing.T, s *mcp.ClientSession, tool string, arguments object) (a mcpAnswer) {
	t.Helper()
	result, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(t, err, tool)
	structured, err := json.Marshal(result.StructuredContent)
	require.NoError(t, err)
	text := result.Content[0].(*mcp.TextContent).Text
	require.JSONEq(t, string(structured), text)
	require.NoError(t, json.Unmarshal([]byte(text), &a))
	require.Equal(t, a.ExitCode == exitUsage, result.IsError)
	return a
}

// A session, line by line: "> " is the assistant, "< " the command.
func TestMCPTranscript(t *testing.T) {
	const golden = "testdata/mcp.txt"
	text, err := os.ReadFile(golden)
	require.NoError(t, err)
	send, receive := talk(t, "../../docs/tour")
	answers := bufio.NewReader(receive)
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		request, is := strings.CutPrefix(line, "> ")
		if !is {
			if strings.HasPrefix(line, "#") || line == "\n" {
				got.WriteString(line)
			}
			continue
		}
		got.WriteString(line)
		_, err := io.WriteString(send, request)
		require.NoError(t, err)
		if strings.Contains(request, `"id":`) {
			answer, err := answers.ReadString('\n')
			require.NoError(t, err)
			got.WriteString("< " + answer)
		}
	}
	testkit.Golden(t, *update, golden, got.String())
}

// Each verb whose answer has a JSON is a tool that changes nothing. Its answers are objects.
func TestMCPTools(t *testing.T) {
	s := assistant(t, "../../../examples")
	list, err := s.ListTools(t.Context(), nil)
	require.NoError(t, err)
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		require.True(t, tool.Annotations.ReadOnlyHint)
		answers := tool.OutputSchema.(object)["properties"].(object)["answers"].(object)
		require.Equal(t, "object", answers["items"].(object)["type"], "no list of bytes")
		parameters := tool.InputSchema.(object)["properties"].(object)
		for _, name := range []string{"output", "format", "color", "verbose"} {
			require.NotContains(t, parameters, name)
		}
		for name, p := range parameters {
			require.NotEmpty(t, p.(object)["description"], name)
		}
	}
	require.ElementsMatch(t, []string{"report", "check", "peak", "room", "sizes", "who", "diff", "explain", "map"}, names)

	// The answers are the lines of the command, under the names below the folder.
	for tool, more := range map[string][]string{
		"report": nil, "check": {"--budget=90%"}, "peak": {"--device=0"}, "room": {"--size=1MiB"}, "sizes": nil, "map": {"--core=0-0"},
		"who": {"720000", "--core=0-0"},
	} {
		file := "events.jsonl"
		arguments := object{"files": []string{file}}
		args := []string{tool, "--format", "json", filepath.Join("../../../examples", file)}
		for _, word := range more {
			args = append(args, word)
			if name, value, is := strings.Cut(strings.TrimPrefix(word, "--"), "="); is {
				arguments[name] = value
			} else {
				arguments["address"] = 720000 // a number does too
			}
		}
		code, want, _ := call("", args...)
		got := callTool(t, s, tool, arguments)
		require.Equal(t, code, got.ExitCode, tool)
		require.Len(t, got.Answers, 1)
		require.JSONEq(t, strings.ReplaceAll(want, "../../../examples/", ""), string(got.Answers[0]), tool)
	}
	got := callTool(t, s, "diff", object{"files": []string{"events.jsonl", "events.jsonl"}})
	require.Contains(t, string(got.Answers[0]), `"equal":true`)
	got = callTool(t, s, "report", object{"files": []string{"events.jsonl", "cached_ops.json"}})
	require.Len(t, got.Answers, 2)

	s = assistant(t, "../../docs/tour")
	got = callTool(t, s, "explain", object{"files": []string{"pytest.log"}, "with": "old.jsonl"})
	require.Equal(t, exitOK, got.ExitCode, got.Messages)
	_, want, _ := call("", "explain", "--format", "json", "../../docs/tour/pytest.log", "--with", "../../docs/tour/old.jsonl")
	require.JSONEq(t, strings.ReplaceAll(want, "../../docs/tour/", ""), string(got.Answers[0]))
	got = callTool(t, s, "sizes", object{"files": []string{"pytest.log", "small.jsonl"}})
	require.Contains(t, string(got.Answers[0]), `"file":"small.jsonl"`)
}

// No file outside the folder is read, by whatever way, and nothing else is opened or written.
func TestMCPStaysInItsFolder(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "inside")
	require.NoError(t, os.Mkdir(inside, 0o755))
	capture, err := os.ReadFile("../../../examples/events.jsonl")
	require.NoError(t, err)
	secret := filepath.Join(dir, "secret.jsonl")
	for _, name := range []string{secret, filepath.Join(inside, "run.jsonl"), filepath.Join(inside, "-"), filepath.Join(inside, "--output=x")} {
		require.NoError(t, os.WriteFile(name, capture, 0o600))
	}
	budgets := filepath.Join(dir, "budgets.txt")
	require.NoError(t, os.WriteFile(budgets, []byte("core = 12345\n"), 0o600))
	if os.Symlink(secret, filepath.Join(inside, "link.jsonl")) != nil {
		t.Log("no symbolic links here")
	}
	s := assistant(t, inside)
	for _, name := range []string{"../secret.jsonl", secret, "link.jsonl", "none.jsonl", "", ".", "../inside/run.jsonl"} {
		for _, tool := range []string{"check", "sizes", "map"} {
			got := callTool(t, s, tool, object{"files": []string{name}})
			require.Equal(t, exitUsage, got.ExitCode, "%s %q", tool, name)
			require.Empty(t, got.Answers)
			require.True(t, strings.HasPrefix(got.Messages, "cbl1: "), got.Messages)
		}
		require.Equal(t, exitUsage, callTool(t, s, "explain", object{"files": []string{"run.jsonl"}, "with": name}).ExitCode)
		require.Equal(t, exitUsage, callTool(t, s, "diff", object{"files": []string{name, "run.jsonl"}}).ExitCode)
	}
	for _, arguments := range []object{
		{"files": []string{"run.jsonl"}, "budget": budgets}, {"files": []string{"run.jsonl"}, "output": "x"}, {"files": "run.jsonl"},
		{"files": []string{}}, {}, {"files": []string{"run.jsonl"}, "device": "--output=x"}, {"files": []string{"run.jsonl"}, "address": "1"},
		{"files": []int{1}}, {"files": []string{"run.jsonl"}, "device": object{"a": 1}},
	} {
		got := callTool(t, s, "check", arguments)
		require.Equal(t, exitUsage, got.ExitCode, "%v", arguments)
		require.NotContains(t, got.Messages, "12345")
	}
	for _, name := range []string{"-", "--output=x", "run.jsonl"} { // names like others
		got := callTool(t, s, "check", object{"files": []string{name}})
		require.Equal(t, exitNo, got.ExitCode, got.Messages)
		require.Contains(t, string(got.Answers[0]), fmt.Sprintf(`"file":%q`, name))
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 3)
}

// The folder is one that is there.
func TestMCPFolder(t *testing.T) {
	code, _, stderr := call("", "mcp", "none")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "none")
	code, _, stderr = call("", "mcp")
	require.Equal(t, exitUsage, code)
	require.NotEmpty(t, stderr)
}
