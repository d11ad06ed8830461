package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// What a flag takes and what it refuses, on each side of its limits; "" is refused.
func TestFlagLimits(t *testing.T) {
	for _, c := range []struct {
		flag       pflag.Value
		text, want string
	}{
		{new(bytesFlag), "0", ""}, {new(bytesFlag), "1", "1"}, {new(bytesFlag), "2G", "2147483648"},
		{new(bytesFlag), "0x7fffffffffffffff", "9223372036854775807"}, {new(bytesFlag), "0x8000000000000000", ""},
		{new(setFlag), "align=65536", "align=65536"}, {new(setFlag), "align=131072", ""}, {new(setFlag), "align=1", "align=1"}, {new(setFlag), "align=3", ""},
		{new(setFlag), "align=0", ""}, {new(setFlag), "l1=400 KiB", "l1=409600"}, {new(setFlag), "l1=0", ""}, {new(setFlag), "l1", ""}, {new(setFlag), "64", ""},
		{new(coresFlag), "3-0", "{[3-0 - 3-0]}"}, {new(coresFlag), " [0-0 - 1-1] ", "{[0-0 - 1-1]}"},
		{new(coresFlag), "{[0-0 - 0-0], [2-0 - 2-0]}", "{[0-0 - 0-0], [2-0 - 2-0]}"}, {new(coresFlag), "{}", ""}, {new(coresFlag), "", ""},
		{new(coreFlag), "0-0", "0-0"}, {new(coreFlag), "0", ""},
		{new(numberFlag), "0", "0"}, {new(numberFlag), "9223372036854775807", "9223372036854775807"}, {new(numberFlag), "9223372036854775808", ""},
		{new(roomSizeFlag), "64", "64"}, {new(roomSizeFlag), "0", ""}, {new(roomSizeFlag), "1KiB interleaved 64 pages", "1024 interleaved 64 pages"},
		{new(roomSizeFlag), "1KiB interleaved 0 pages", ""}, {new(roomSizeFlag), "100 interleaved 64 pages", ""},
	} {
		err := c.flag.Set(c.text)
		if c.want == "" {
			require.Error(t, err, "%T %q", c.flag, c.text)
			continue
		}
		require.NoError(t, err, "%T %q", c.flag, c.text)
		require.Equal(t, c.want, c.flag.String(), "%T %q", c.flag, c.text)
	}
	var small smallFlag
	require.NoError(t, small.Set("0"))
	require.True(t, small.OK, "there is none, and somebody says so")
	for _, text := range []string{"1,000.5", "7,1"} {
		_, err := parseAddress(text)
		require.Error(t, err, text)
	}
	for _, text := range []string{"wormhole_a0", "grayskull_a0"} {
		arch, err := parseArch(text)
		require.NoError(t, err)
		require.Equal(t, l1.Arch(strings.TrimSuffix(text, "_a0")), arch)
	}
}

// Of two words that are as near the first one is meant. Slips that are likely grow with the word.
func TestNearestOfTwo(t *testing.T) {
	long := strings.Repeat("n", 255)
	for _, c := range []struct {
		written string
		words   []string
		want    string
	}{
		{"bat", []string{"cat", "hat"}, "cat"}, {"hat", []string{"cat", "hat"}, "hat"}, {"abc", []string{"abcdef", "abcd"}, "abcdef"},
		{"abc", []string{"abcdef", "abc"}, "abc"}, {"abxx", []string{"abcd"}, ""}, {"abcxx", []string{"abcde"}, "abcde"}, {"abxxx", []string{"abcde"}, ""},
		{"abcdefgxxx", []string{"abcdefghij"}, "abcdefghij"}, {"abcdefghijkxxxx", []string{"abcdefghijklmno"}, ""},
		{long, []string{long}, long}, {long + "n", []string{long}, ""},
	} {
		require.Equal(t, c.want, nearest(c.written, c.words), "%.20q", c.written)
	}
}

// A file of budgets has a budget of a core, or --budget has it.
func TestBudgetOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budgets")
	require.NoError(t, os.WriteFile(path, []byte("core = 64 KiB\n"), 0o600))
	b := budgetsFlag{file: path}
	terms, err := b.terms(nil)
	require.NoError(t, err)
	require.NotNil(t, terms.Budget)
	require.NoError(t, b.Set("5%"))
	_, err = b.terms([]replay.Code{})
	require.ErrorContains(t, err, "and --budget 5% is another")
}

// The exit code of diff: growth that passes its limit, then what either side hides, then nothing.
func TestDiffExits(t *testing.T) {
	const head = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"program","program":1,"cbs":[{"cores":"0-0","size":%d}]}
{"event":"enqueue","program":1}
%s`
	const hides = `{"event":"hidden","code":"not-shown","count":1}` + "\n"
	dir := t.TempDir()
	write := func(name string, size int, more string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, head, size, more), 0o600))
		return path
	}
	shows, hidden, grown := write("shows", 64, ""), write("hidden", 64, hides), write("grown", 128, hides)
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{shows, shows}, 0}, {[]string{hidden, shows}, 3}, {[]string{shows, hidden}, 3},
		{[]string{shows, grown, "--max-growth", "63"}, 1}, {[]string{shows, grown, "--max-growth", "64"}, 3},
		{[]string{shows, grown, "--max-growth", "64", "--accept", "not-shown"}, 0},
	} {
		code, _, stderr := call("", append([]string{"diff"}, c.args...)...)
		require.Equal(t, c.want, code, "%v %s", c.args, stderr)
	}
}
