package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A rightAnswer is what a NN_name.right.json says: what cbl1 has to answer to a capture, worked out by hand.
type rightAnswer struct {
	Answer  int    `json:"answer"`
	Why     string `json:"why"`
	Capture string `json:"capture"` // "" is the file beside it
	Stdin   bool   `json:"stdin"`   // the capture comes on a pipe

	Args   []string       `json:"args"` // more flags of check
	Exit   int            `json:"exit"` // of check
	Check  map[string]any `json:"check"`
	Report map[string]any `json:"report"`

	// Codes are the codes of check's "cannot tell" and of the anomalies of the report; Without are not among them.
	Codes   []string `json:"codes"`
	Without []string `json:"without"`

	// Says are expressions that the texts of check and report match, Never those that they do not match. Lines are joined.
	Says      []string `json:"says"`
	Never     []string `json:"never"`
	FirstLine string   `json:"first_line"` // of check
	Explain   *struct {
		Message string `json:"message"`
		Says    string `json:"says"`
	} `json:"explain"`
}

const rightDir = "../../capture/testdata/right"

// TestRightAnswers runs the command with each question of testdata/right.
func TestRightAnswers(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(rightDir, "*.right.json"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 75)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".right.json")
		t.Run(name, func(t *testing.T) {
			want := readRight(t, file)
			require.True(t, strings.HasPrefix(name, fmt.Sprintf("%02d_", want.Answer)), "the number of the answer")
			require.Empty(t, want.differences(t), want.Why)
		})
	}
}

// TestRightCaptures: no capture of the folder goes without an answer, and each of answers 1 to 14 has one.
func TestRightCaptures(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(rightDir, "*.json"))
	require.NoError(t, err)
	answers := map[int]bool{}
	for _, file := range files {
		if name, ok := strings.CutSuffix(file, ".right.json"); ok {
			want := readRight(t, file)
			answers[want.Answer] = true
			require.NotEmpty(t, want.Why, file)
			if want.Capture == "" {
				require.FileExists(t, name+".json")
			}
			continue
		}
		require.FileExists(t, strings.TrimSuffix(file, ".json")+".right.json")
	}
	require.Len(t, answers, 14)
}

func readRight(t *testing.T, file string) rightAnswer {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	d.DisallowUnknownFields()
	var want rightAnswer
	require.NoError(t, d.Decode(&want), file)
	if want.Capture == "" {
		want.Capture = strings.TrimSuffix(filepath.Base(file), ".right.json") + ".json"
	}
	want.Capture = filepath.Join(rightDir, want.Capture)
	return want
}

// ask runs a verb on the capture.
func (want rightAnswer) ask(t *testing.T, args ...string) (code int, stdout string) {
	t.Helper()
	stdin := ""
	if want.Stdin {
		data, err := os.ReadFile(want.Capture)
		require.NoError(t, err)
		stdin = string(data)
		args = append(args, "-")
	} else {
		args = append(args, want.Capture)
	}
	code, stdout, _ = call(stdin, args...)
	return code, stdout
}

// differences says in which points cbl1 answers otherwise.
func (want rightAnswer) differences(t *testing.T) (bad []string) {
	t.Helper()
	code, text := want.ask(t, append([]string{"check", "--format", "json"}, want.Args...)...)
	if code != want.Exit {
		bad = append(bad, fmt.Sprintf("exit %d, want %d", code, want.Exit))
	}
	check := decodeAny(t, text)
	bad = append(bad, different(check, want.Check)...)

	_, text = want.ask(t, "report", "--format", "json")
	report := decodeAny(t, text)
	bad = append(bad, different(report, want.Report)...)
	codes := append(column(check, "untold", "code"), column(report, "anomalies", "code")...)
	for _, c := range want.Codes {
		if !slices.Contains(codes, c) {
			bad = append(bad, fmt.Sprintf("code %q is not among %q", c, codes))
		}
	}
	for _, c := range want.Without {
		if slices.Contains(codes, c) {
			bad = append(bad, fmt.Sprintf("code %q is among %q", c, codes))
		}
	}
	return append(bad, want.texts(t)...)
}

// texts checks the texts that people read.
func (want rightAnswer) texts(t *testing.T) (bad []string) {
	t.Helper()
	_, checked := want.ask(t, append([]string{"check", "-v"}, want.Args...)...)
	_, reported := want.ask(t, "report")
	text := strings.Join(strings.Fields(checked+reported), " ")
	for _, s := range want.Says {
		if !regexp.MustCompile(s).MatchString(text) {
			bad = append(bad, "does not say "+s)
		}
	}
	for _, s := range want.Never {
		if regexp.MustCompile(s).MatchString(text) {
			bad = append(bad, "says "+s)
		}
	}
	first, _, _ := strings.Cut(checked, "\n")
	if !regexp.MustCompile(want.FirstLine).MatchString(first) {
		bad = append(bad, fmt.Sprintf("the first line is %q", first))
	}
	if e := want.Explain; e != nil {
		_, explained, _ := call(e.Message, "explain", "--with", want.Capture)
		if !strings.Contains(strings.Join(strings.Fields(explained), " "), e.Says) {
			bad = append(bad, "explain does not say "+e.Says)
		}
	}
	return bad
}

func decodeAny(t *testing.T, text string) (v any) {
	t.Helper()
	if text == "" { // wrong usage
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	return v
}

// different compares the values at some paths. A path is keys and indices with dots between; # is the length of a list.
func different(v any, want map[string]any) (bad []string) {
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if got := at(v, path); got != want[path] {
			bad = append(bad, fmt.Sprintf("%s is %v, want %v", path, got, want[path]))
		}
	}
	return bad
}

// at returns the value at a path, or nil.
func at(v any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[key]
		case []any:
			i, err := strconv.Atoi(key)
			switch {
			case key == "#":
				v = json.Number(strconv.Itoa(len(in)))
			case err != nil || i >= len(in):
				return nil
			default:
				v = in[i]
			}
		default:
			return nil
		}
	}
	return v
}

// column returns one field of each object of a list.
func column(v any, list, field string) (out []string) {
	rows, _ := at(v, list).([]any)
	for _, r := range rows {
		if s, ok := at(r, field).(string); ok {
			out = append(out, s)
		}
	}
	return out
}
