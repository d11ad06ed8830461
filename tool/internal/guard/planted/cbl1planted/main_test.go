package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cbl1/cbl1/tool/internal/guard/planted"
	"github.com/stretchr/testify/require"
)

const product = `package p

func twice(n int) int { return n + n }

func dead(n int) int { return n * n }
`

const test = `package p

import "testing"

func TestTwice(t *testing.T) {
	t.Run("of=3", func(t *testing.T) {
		if got := twice(3); got != 6 {
			t.Error(got)
		}
	})
}
`

const bugs = `found
twice is once
in: twice
- n + n
+ n

not-found
dead code is wrong
in: dead
- n * n
+ n
`

// repository writes a module of one package, its tests and its bugs.
func repository(t *testing.T, test, bugs string) (root string) {
	root = t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module p\n\ngo 1.24\n", "p/p.go": product, "p/p_test.go": test,
		"tool/internal/guard/planted/bugs/p.txt": bugs, "bin/large": "not copied",
	} {
		name = filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
	return root
}

func cbl1planted(t *testing.T, root string, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = run(t.Context(), root, args, &o, &e)
	return code, o.String(), e.String()
}

func TestRun(t *testing.T) {
	root := repository(t, test, bugs)
	code, out, errs := cbl1planted(t, root)
	require.Equal(t, 1, code)
	require.Equal(t, "planted: not found: not-found\n", errs)
	require.Regexp(t, `(?m)^found +\d+  TestTwice/of=3$`, out)
	require.Regexp(t, `(?m)^not-found +\d+  NOBODY: dead code is wrong$`, out)

	code, out, errs = cbl1planted(t, root, "found")
	require.Equal(t, 0, code)
	require.Empty(t, errs)
	require.Contains(t, out, "planted: all 1 were found\n")

	text, err := os.ReadFile(filepath.Join(root, "p/p.go"))
	require.NoError(t, err)
	require.Equal(t, product, string(text), "bugs are planted into a copy")
}

func TestRunWithoutTests(t *testing.T) {
	root := repository(t, test, bugs)
	code, out, errs := cbl1planted(t, root, "-check")
	require.Equal(t, 0, code, errs)
	require.Equal(t, "planted: 2 bugs have their place, and compile\n", out)

	code, _, errs = cbl1planted(t, root, "-check", "unknown")
	require.Equal(t, 2, code)
	require.Equal(t, "planted: no bug has the name \"unknown\"\n", errs)

	code, _, errs = cbl1planted(t, repository(t, test, bugs+"\nstale\nx\ntests: ./p ./q\nin: twice\n- gone\n\nbroken\nx\nin: twice\n- n + n\n+ m\n"), "-sample", "1")
	require.Equal(t, 1, code)
	require.Regexp(t, `^planted: write these anew for today's code:
stale: found 0 times in twice in p, not once: "gone"
stale: no such package: ./q
broken does not compile: .*p\.go:\d+:\d+: undefined: m
$`, errs)

	code, _, errs = cbl1planted(t, repository(t, test, "# none\n"))
	require.Equal(t, 2, code)
	require.Equal(t, "planted: no bugs\n", errs)
}

func TestRunRefusesTestsThatAreRed(t *testing.T) {
	red := test + "\nfunc TestRed(t *testing.T) { t.Fatal(1) }\n"
	code, out, errs := cbl1planted(t, repository(t, red, bugs), "found")
	require.Equal(t, 1, code)
	require.Empty(t, out)
	require.Regexp(t, `(?s)--- FAIL: TestRed.*\n\./p fails without any bug\n$`, errs)
}

// An interrupted run has found nothing.
func TestRunIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	require.Equal(t, 1, run(ctx, repository(t, test, bugs), nil, &out, &errs))
	require.Empty(t, out.String())
	require.Equal(t, "planted: context canceled\n", errs.String())
}

// A bug for the race detector is skipped without a C compiler, and the exit code says so.
func TestRunWithoutCompiler(t *testing.T) {
	t.Setenv("CC", "no-such-compiler -m64")
	code, out, errs := cbl1planted(t, repository(t, test, "racing\ntwice is once\nrace: Twice\nin: twice\n- n + n\n+ n\n"))
	require.Equal(t, 3, code, errs)
	require.Regexp(t, `(?m)^racing +-  skipped: the race detector needs a C compiler$`, out)
	require.Contains(t, out, "planted: all but 1, which were skipped, of 1 were found\n")
}

func TestDraw(t *testing.T) {
	var all []planted.Bug
	for i := range 100 {
		all = append(all, planted.Bug{Name: fmt.Sprint(i)})
	}
	drawn := make(map[string]bool)
	for seed := range 50 {
		sample := draw(all, 8, fmt.Sprint(seed))
		require.Len(t, sample, 8)
		require.Equal(t, sample, draw(all, 8, fmt.Sprint(seed)))
		for _, b := range sample {
			drawn[b.Name] = true
		}
	}
	require.Greater(t, len(drawn), 90, "every bug is drawn some day")
	require.Equal(t, all, draw(all, 1000, ""))
}

func TestFailure(t *testing.T) {
	for _, c := range []struct{ output, want string }{
		{"--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/b (0s)\n        --- FAIL: TestA/b/c (0s)\n    --- FAIL: TestA/d (0s)\n--- FAIL: TestB (0s)\n", "TestA/b/c"},
		{"# p\np.go:1: undefined: x\nFAIL\tp [build failed]\n", "does not compile"},
		{"FAIL\tp [setup failed]\n", "does not compile"},
		{"panic: test timed out after 6m0s\n", "(timed out)"},
		{"WARNING: DATA RACE\nexit status 66\n", "(data race)"},
		{"exit status 2\n", "(failed without a test)"},
	} {
		require.Equal(t, c.want, failure([]byte(c.output)), c.output)
	}
}
