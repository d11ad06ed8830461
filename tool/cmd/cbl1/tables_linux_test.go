package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
)

// One pass takes at most 0.45 of the processor time of the four commands, in each format.
func TestTablesTakeOnePass(t *testing.T) {
	if !testkit.Nightly() {
		t.Skip("measures time")
	}
	dir := t.TempDir()
	files, err := filepath.Glob("../../capture/testdata/*.json")
	require.NoError(t, err)
	files = append(files, "../../../examples/cached_ops.json", "../../../examples/events.jsonl")
	for i := range 200 {
		data, err := os.ReadFile(files[i%len(files)])
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d_%s", i, filepath.Base(files[i%len(files)]))), data, 0o600))
	}
	took := func(args ...string) time.Duration {
		var before, after syscall.Rusage
		require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &before))
		call("", args...)
		require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &after))
		return time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
	}
	var four time.Duration
	for _, verb := range verbsOfTables() {
		four += took(slices.Concat(verb, []string{"--format", "csv", dir})...)
	}
	for _, format := range []string{"csv", "parquet"} {
		one := took("tables", "--format", format, "--out", t.TempDir(), dir)
		t.Logf("%s: %.2f of the four commands, which take %v", format, one.Seconds()/four.Seconds(), four)
		require.LessOrEqual(t, one.Seconds()/four.Seconds(), 0.45, format)
	}
}
