package page

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

// TestScript runs page.js in node, on pages about a few events. testdata/script.txt has a section for each page:
// its events ("capture" begins another log, "diff" compares the first one with the second), expressions in the
// scope of page.js, and behind > their values. testdata/dom.js stands for the browser; show spells elements, and
// click, fire and put are what a reader does to them.
func TestScript(t *testing.T) {
	ask := inNode(t)
	testkit.Sections(t, "testdata/script.txt", flag.Lookup("update").Value.String() == "true", func(lines []string) []string {
		var logs, asks []string
		compared := false
		for _, line := range lines {
			switch {
			case line == "capture":
				logs = append(logs, "")
			case line == "diff":
				compared = true
			case strings.HasPrefix(line, `{"event":`):
				if len(logs) == 0 {
					logs = append(logs, "")
				}
				logs[len(logs)-1] += line + "\n"
			default:
				asks = append(asks, line)
			}
		}
		return ask(dataOf(t, logs, compared), asks)
	})
}

// dataOf returns the data block of a page about some logs.
func dataOf(t *testing.T, logs []string, compared bool) string {
	t.Helper()
	var results []*answer.Result
	for i, text := range logs {
		name := "log " + string(rune('a'+i))
		in := capture.NewReader(strings.NewReader(`{"event":"log","version":1}`+"\n"+text), name)
		options := replay.Options{Buffers: true, Groups: true, Timeline: true, Moments: Moments}
		r, err := replay.Run(name, in.Events(capture.Options{}), options)
		require.NoError(t, err)
		results = append(results, r)
	}
	var d *diff.Document
	if compared {
		d = diff.Compare([]*diff.Run{diff.Of(results[0])}, []*diff.Run{diff.Of(results[1])}, diff.Terms{})
	}
	data, err := block(results, answer.Terms{}, d, MaxBytes)
	require.NoError(t, err)
	return string(data)
}

// inNode returns a function that runs questions about a page in page.js. Without node the test is skipped.
func inNode(t *testing.T) func(data string, asks []string) []string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node, which is not installed here; on Debian: apt-get install nodejs")
	}
	if exec.Command(path, "-e", "[].findLastIndex.length").Run() != nil {
		t.Skip("needs node 18 or later, and the one in PATH is older")
	}
	cmd := exec.Command(path, "testdata/dom.js")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close() // which ends it
		_ = cmd.Wait()
	})
	answers := bufio.NewReader(out)
	return func(data string, asks []string) []string {
		line, err := json.Marshal(map[string]any{"script": script, "data": data, "asks": asks})
		require.NoError(t, err)
		_, err = in.Write(append(line, '\n'))
		require.NoError(t, err)
		line, err = answers.ReadBytes('\n')
		require.NoError(t, err)
		var said []string
		require.NoError(t, json.Unmarshal(bytes.TrimSpace(line), &said))
		return strings.Split(strings.Join(said, "\n"), "\n")
	}
}

// The picture of the whole run has at each moment of the page the boxes that the fullest core held then, as Options.GroupsAt
// says, and no others.
func TestPictureIsTheMapOfEachMoment(t *testing.T) {
	ask := inNode(t)
	text, err := os.ReadFile("../../../../examples/cached_ops.json")
	require.NoError(t, err)
	run := func(o replay.Options, at event.Opt[uint64]) *answer.Result {
		in := capture.NewReader(bytes.NewReader(text), "cached_ops.json")
		r, err := replay.Run("cached_ops.json", in.Events(capture.Options{At: at}), o)
		require.NoError(t, err)
		return r
	}
	r := run(replay.Options{Groups: true, Timeline: true, Moments: Moments}, event.Opt[uint64]{})
	core := r.L1[0].Peak.Core
	data, err := block([]*answer.Result{r}, answer.Terms{}, nil, MaxBytes)
	require.NoError(t, err)
	type box struct {
		Kind             string
		Start, End, From uint64
		To               *uint64
	}
	var boxes []box
	said := ask(string(data), []string{
		`lives(device(), device().l1.core_peak.core).map((b) => ({ kind: b.r.kind, start: b.r.start, end: b.r.end, from: b.from, to: b.to }))`,
	})
	require.NoError(t, json.Unmarshal([]byte(said[0]), &boxes))
	for i, m := range r.Timeline[0].Moments {
		if i%16 > 0 {
			continue
		}
		var want, got []string
		for _, g := range run(replay.Options{GroupsAt: event.Some(m.At)}, event.Some(m.At)).L1[0].Groups {
			for _, held := range g.Residents {
				if g.Cores.Has(core) {
					want = append(want, fmt.Sprint(held.Kind.Name(), held.Range()))
				}
			}
		}
		for _, b := range boxes {
			if b.From <= m.At && (b.To == nil || m.At < *b.To) {
				got = append(got, fmt.Sprint(b.Kind, l1.Range{Start: b.Start, End: b.End}))
			}
		}
		require.ElementsMatch(t, want, got, "after node %d", m.At)
	}
}
