package page

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/compare"
	"github.com/cbl1/cbl1/internal/testkit"
	"github.com/cbl1/cbl1/replay"
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
	var results []*replay.Result
	for i, text := range logs {
		name := "log " + string(rune('a'+i))
		in := capture.NewReader(strings.NewReader(`{"event":"log","version":1}`+"\n"+text), name)
		options := replay.Options{Buffers: true, Groups: true, Timeline: true, Moments: Moments}
		r, err := replay.Run(name, in.Events(capture.Options{}), options)
		require.NoError(t, err)
		results = append(results, r)
	}
	var d *compare.Diff
	if compared {
		d = compare.Compare([]*compare.Run{compare.Of(results[0])}, []*compare.Run{compare.Of(results[1])}, compare.Terms{})
	}
	data, err := block(results, replay.Terms{}, d, MaxBytes)
	require.NoError(t, err)
	return string(data)
}

// inNode returns a function that asks page.js about a page. Without node the test is skipped.
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
