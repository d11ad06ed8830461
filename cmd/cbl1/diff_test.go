package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

// The page about diff shows what the command prints of the files of its script.
func TestDiffPage(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/script/diff.txtar")
	require.NoError(t, err)
	dir := t.TempDir()
	for _, f := range archive.Files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600))
	}
	page, err := os.ReadFile("../../docs/diff.md")
	require.NoError(t, err)
	t.Chdir(dir)
	const command = "$ cbl1 diff --max-growth 5% old.jsonl new.jsonl\n"
	_, shown, ok := strings.Cut(string(page), command)
	require.True(t, ok)
	shown, _, ok = strings.Cut(shown, "```")
	require.True(t, ok)
	var out, complaints bytes.Buffer
	require.Equal(t, exitNo, run(strings.Fields(command)[2:], nil, &out, &complaints))
	require.Empty(t, complaints.String())
	require.Equal(t, shown, out.String())
}
