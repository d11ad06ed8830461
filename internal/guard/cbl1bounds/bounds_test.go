package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/steps"
)

// What counts may differ by that follow the same bound.
const (
	slack  = 1.25 // nodes of trees are fuller or less full
	copies = 2.5  // slices that grow are copied, the more often the larger they are
)

// The steps of a call, and its allocations, grow as the table of bounds promises, in the worst
// histories.
func TestBounds(t *testing.T) {
	const module = "github.com/cbl1/cbl1/"
	dir := t.TempDir()
	binary := filepath.Join(dir, "cbl1bounds")
	self := module + "internal/guard/cbl1bounds"
	require.NoError(t, steps.Build(binary, self, self, // which has to count as well, or nothing does
		module+"device", module+"device/internal/...", module+"cbregion", module+"l1", module+"fit", module+"program", "github.com/google/btree"))
	var out, complaints bytes.Buffer
	c := exec.Command(binary, dir)
	c.Env = append(os.Environ(), "GOCOVERDIR="+dir)
	c.Stdout, c.Stderr = &out, &complaints
	require.NoError(t, c.Run(), "%s", &complaints)
	played := map[string]playing{}
	for in := json.NewDecoder(&out); in.More(); {
		var p playing
		require.NoError(t, in.Decode(&p))
		require.NotContains(t, played, p.Folder)
		played[p.Folder] = p
	}
	counters, err := steps.NewTally()
	require.NoError(t, err)
	steps := func(p playing) float64 {
		sum, err := counters.Sum(filepath.Join(dir, p.Folder))
		require.NoError(t, err)
		require.Positive(t, sum)
		return float64(sum) / float64(p.Calls)
	}
	for _, h := range histories() {
		for _, c := range h.made(h.sizes[0]) {
			name := h.folder(c)
			t.Run(name, func(t *testing.T) {
				small, large := played[filepath.Join(name, strconv.Itoa(h.sizes[0]))], played[filepath.Join(name, strconv.Itoa(h.sizes[1]))]
				h.requireGrowth(t, "steps", 16, slack, c.steps, steps(small), steps(large))
				if c.bytes.name == "nothing" { // but for what the runtime may do meanwhile
					require.Less(t, large.Objects, uint64(large.Calls)/8, "objects")
					return
				}
				h.requireGrowth(t, "bytes", 512, copies, c.bytes, small.bytes(), large.bytes())
			})
		}
	}
}

// bytes returns what a call allocates.
func (p playing) bytes() float64 { return float64(p.Bytes) / float64(p.Calls) }

// requireGrowth requires that a count grows with the size as is claimed. A few may be spared in
// the small one by chance.
func (h *history) requireGrowth(t *testing.T, what string, few, slack float64, claim growth, small, large float64) {
	a, b := float64(h.sizes[0]), float64(h.sizes[1])
	t.Logf("%s a call: %.0f with %d, %.0f with %d: %.2f times; O(%s)", what, small, h.sizes[0], large, h.sizes[1], large/small, claim.name)
	require.LessOrEqual(t, large, few+slack*small*claim.of(b)/claim.of(a), "%s of O(%s)", what, claim.name)
}

// Each line of the table in the comment on package device has calls, and each call a line.
func TestEveryBoundIsCounted(t *testing.T) {
	text, err := os.ReadFile("../../../device/doc.go")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "# Bounds")
	require.True(t, found)
	table, _, found = strings.Cut(table, "These parts of a call hold the lock")
	require.True(t, found)
	lines, told := map[string]bool{}, []string{}
	for line := range strings.Lines(table) {
		if row, ok := strings.CutPrefix(line, "//\t"); ok && row[0] != ' ' || strings.HasPrefix(row, "  ") && row[2] != ' ' {
			name, _, _ := strings.Cut(strings.TrimSpace(row), "  ")
			told = append(told, name)
		}
	}
	for _, h := range histories() {
		for _, c := range h.made(h.sizes[0]) {
			lines[c.line] = true
		}
	}
	require.ElementsMatch(t, told, slices.Collect(maps.Keys(lines)))
}
