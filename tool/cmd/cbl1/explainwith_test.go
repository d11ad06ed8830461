package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/clash"
	"github.com/cbl1/cbl1/tool/replay"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata; review the diff")

// What the check of a capture refuses, in tt-metal's own words, leads back to the
// program: check, message, explain --with.
func TestExplainWithTheCaptureThatFails(t *testing.T) {
	for _, c := range []struct {
		capture string

		synthesised bool
	}{
		{capture: "clashing"},
		{capture: "clashing_no_dispatch", synthesised: true},
	} {
		t.Run(c.capture, func(t *testing.T) {
			name := filepath.Join("testdata", c.capture+".json")
			inputs, err := capture.Inputs(name)
			require.NoError(t, err)
			result, err := replay.Run(name, inputs[0].Events(capture.Options{}), replay.Options{})
			require.NoError(t, err)
			require.NotEmpty(t, result.Checks.List)
			var log strings.Builder
			for _, failed := range result.Checks.List {
				log.WriteString("RuntimeError: TT_THROW @ program.cpp:1\ninfo:\n" + failed.Verdict.Refusals[0].Error() + "\n")
			}

			var out, errw bytes.Buffer
			args := []string{"explain", "--with", name, "--format", "json"}
			require.Zero(t, run(args, strings.NewReader(log.String()), &out, &errw), "%s", &errw)
			require.Empty(t, errw.String())
			var doc clash.Document
			require.NoError(t, json.Unmarshal(out.Bytes(), &doc))
			for i, row := range doc.Messages {
				failed := result.Checks.List[i]
				require.Equal(t, clash.MatchExact, row.Match.Level)
				require.EqualValues(t, failed.Run.Op, row.Match.Op)
				require.Equal(t, failed.Run.At, row.Match.Event)
				require.Equal(t, c.synthesised, row.Match.Synthesised)
				require.Equal(t, *row.End, row.Match.End)
				require.Equal(t, *row.Limit, row.Match.Tensors[0].Address)
				require.Equal(t, *row.End, row.Match.Buffers[0].End, "the first one reaches up")
			}
			var indented bytes.Buffer
			require.NoError(t, json.Indent(&indented, out.Bytes(), "", " "))
			testkit.Golden(t, *update, filepath.Join("testdata", c.capture+".explain.json"), indented.String())

			out.Reset()
			require.Zero(t, run([]string{"explain", "--with", name}, strings.NewReader(log.String()), &out, &errw))
			testkit.Golden(t, *update, filepath.Join("testdata", c.capture+".explain.golden"), out.String())
		})
	}
}

// What a hit of the cache ran may be of two programs: a message is about the earlier one.
func TestExplainWithAnEarlierCandidate(t *testing.T) {
	const message = "Statically allocated circular buffers in program 7 clash with L1 buffers on core range [0-0 - 3-3]. " +
		"L1 buffer allocated at 500000 and static circular buffer region ends at 898048"
	var out, errw bytes.Buffer
	args := []string{"explain", "--with", filepath.Join(rightDir, "02_both_clash.json"), "--format", "json"}
	require.Zero(t, run(args, strings.NewReader(message), &out, &errw), "%s", &errw)
	var doc clash.Document
	require.NoError(t, json.Unmarshal(out.Bytes(), &doc))
	m := doc.Messages[0].Match
	require.Equal(t, clash.MatchExact, m.Level)
	require.Equal(t, 2, m.OneOf)
	require.True(t, m.Inferred)
	require.EqualValues(t, 1, m.Runs)
	require.EqualValues(t, 898048, m.End)
}
