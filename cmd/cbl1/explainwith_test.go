package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/clash"
	"github.com/cbl1/cbl1/internal/testkit"
	"github.com/cbl1/cbl1/replay"
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
				require.Equal(t, failed.Run.Op, row.Match.Op)
				require.Equal(t, failed.Run.At, *row.Match.Event)
				require.Equal(t, c.synthesised, row.Match.Synthesised)
				require.Equal(t, row.End, row.Match.End)
				require.Equal(t, *row.Limit, row.Match.Tensors[0].Address)
				require.Equal(t, *row.End, row.Match.CBs[0].End, "the first one reaches up")
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
