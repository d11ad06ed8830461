package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/guard/oracle/randomcapture"
)

// askBoth makes the same questions about a capture and about the database of the same run. The names are
// equally long, since text is wrapped by its length.
func askBoth(t require.TestingT, questions [][]string, capture, db string, flags ...string) {
	for _, q := range questions {
		of := func(name string) (int, string, string) {
			args := append([]string{q[0], name}, q[1:]...)
			return call("", append(args, flags...)...)
		}
		wantCode, want, wantErr := of(capture)
		code, got, stderr := of(db)
		require.Equal(t, wantErr, strings.ReplaceAll(stderr, db, capture), "%s", q)
		requireLines(t, want, ranksApart(strings.ReplaceAll(got, db, capture)), q)
		require.Equal(t, wantCode, code, "%s", q)
	}
}

// requireLines shows the first line that differs, from where it does.
func requireLines(t require.TestingT, want, got string, q []string) {
	i := 0
	for i < min(len(want), len(got)) && want[i] == got[i] {
		i++
	}
	from := max(0, i-80)
	require.Equal(t, want[from:min(len(want), i+160)], got[from:min(len(got), i+160)], "%s", q)
}

// ranksApart leaves out what a database adds.
func ranksApart(text string) string {
	return regexp.MustCompile(`"rank":\d+`).ReplaceAllString(text, `"rank":null`)
}

// known returns the run without what no database can hold: what is freed and was not allocated
// in it, or was freed before; buffers from before it; allocations without an address; and, without addresses, which buffer of an earlier operation a free is about.
func (r jsonRun) known() jsonRun {
	starts := r.cut()
	sliceOf := func(at int) (slice int) {
		for i, start := range starts {
			if start <= at {
				slice = i
			}
		}
		return slice
	}
	made := map[int]int{} // buffer node -> allocation
	for i, n := range r.nodes {
		if c := n.connections(); n.kind() == "buffer_allocate" && len(c) > 0 && n.number("address") >= 0 {
			made[c[0]] = i
		}
	}
	drop, lies := map[int]bool{}, map[int64]bool{}
	for i, n := range r.nodes {
		c := n.connections()
		lies[n.number("address")] = lies[n.number("address")] || n.kind() == "buffer_allocate"
		if n.kind() == "tensor" && n.number("buffer_type") > 0 && !lies[n.number("address")] {
			drop[i] = true
		}
		switch n.kind() {
		case "buffer_allocate":
			drop[i] = n.number("address") < 0
		case "buffer":
			if _, ok := made[i]; !ok {
				drop[i] = true
				for _, tensor := range c {
					drop[tensor] = true
				}
			}
		case "buffer_deallocate":
			at, ok := -1, false
			if len(c) > 0 {
				at, ok = made[c[0]]
				if ok {
					delete(made, c[0])
				}
			}
			drop[i] = !ok || at > i || n.number("address") <= 0 && sliceOf(at) != sliceOf(i)
		}
	}
	return r.without(drop)
}

// TestDatabasesAnswerAsCaptures: random captures written both as JSON and as a database, of
// each version, are answered about alike.
func TestDatabasesAnswerAsCaptures(t *testing.T) {
	sameDraws(t)
	t.Chdir(t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		run := readRun(t, randomcapture.Draw(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") })).known()
		version := rapid.SampledFrom(databaseVersions()).Draw(t, "version")
		const capture, db = "run.json", "b.sqlite"
		require.NoError(t, os.WriteFile(capture, run.capture(t), 0o600))
		require.NoError(t, os.RemoveAll(db))
		makeDatabase(t, db, version, run.sliced(t))
		flags := []string{"--base", strconv.Itoa(randomcapture.Base), "--set", "align=" + strconv.Itoa(randomcapture.Align), "--set", "l1=" + strconv.Itoa(randomcapture.L1)}
		askBoth(t, drawQuestions(t), capture, db, flags...)
	})
}

// TestDatabasesOfFixtures: the same of the sample captures.
func TestDatabasesOfFixtures(t *testing.T) {
	all := fixtures(t)
	t.Chdir(t.TempDir())
	for i, in := range all {
		if in.log || !strings.HasSuffix(in.name, ".json") || strings.Contains(in.name, "raw_graph") {
			continue
		}
		if strings.Contains(in.name, "overlap_backing") { // of a mesh and its chip a database lists one buffer
			continue
		}
		some := 1 // version in turn: the fixtures together have all of them
		if testkit.Nightly() {
			some = 2
		}
		versions := databaseVersions()
		for k := range some {
			version := versions[(some*i+k)%len(versions)]
			t.Run(filepath.Base(in.name)+"/"+version, func(t *testing.T) {
				const capture, db = "run.json", "b.sqlite"
				run := readRun(t, in.data).known()
				require.NoError(t, os.WriteFile(capture, run.capture(t), 0o600))
				require.NoError(t, os.RemoveAll(db))
				makeDatabase(t, db, version, run.sliced(t))
				askBoth(t, someQuestions(i), capture, db)
				_, diff, stderr := call("", "diff", "--format", "json", capture, db)
				require.Contains(t, diff, `{"schema":"cbl1.diff/1","equal":true,`, stderr)
			})
		}
	}
}
