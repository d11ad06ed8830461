package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
)

// What a flag takes and what it refuses, on each side of its limits; "" is refused.
func TestFlagLimits(t *testing.T) {
	for _, c := range []struct{ flag, text, want string }{
		{"base", "0", ""}, {"base", "1", "1"}, {"base", "2G", "2147483648"},
		{"base", "0x7fffffffffffffff", "9223372036854775807"}, {"base", "0x8000000000000000", ""},
		{"set", "align=65536", "65536"}, {"set", "align=131072", ""}, {"set", "align=1", "1"},
		{"set", "align=3", ""}, {"set", "align=0", ""}, {"set", "l1=400 KiB", "409600"},
		{"set", "l1=0", ""}, {"set", "l1", ""}, {"set", "64", ""},
		{"sharded", "3-0", "{[3-0 - 3-0]}"}, {"sharded", " [0-0 - 1-1] ", "{[0-0 - 1-1]}"},
		{"sharded", "{[0-0 - 0-0], [2-0 - 2-0]}", "{[0-0 - 0-0], [2-0 - 2-0]}"}, {"sharded", "{}", ""}, {"sharded", "", ""},
		{"core", "0-0", "0-0"}, {"core", "0", ""},
		{"device", "0", "0"}, {"device", "9223372036854775807", "9223372036854775807"}, {"device", "9223372036854775808", ""},
		{"size", "64", "64"}, {"size", "0", ""}, {"size", "1KiB interleaved 64 pages", "1024 of 64"},
		{"size", "1KiB interleaved 0 pages", ""}, {"size", "100 interleaved 64 pages", ""},
		{"l1-small", "0", "0"}, {"l1-small", "", ""},
	} {
		one := newRequest(streams{}, verb{})
		set := pick(one.options(), c.flag)[0].to.(*setting)
		err := set.Set(c.text)
		if c.want == "" {
			require.Error(t, err, "%s %q", c.flag, c.text)
			continue
		}
		require.NoError(t, err, "%s %q", c.flag, c.text)
		require.Equal(t, c.text, set.String())
		got := map[string]string{
			"base": fmt.Sprint(one.opt.Base), "set": fmt.Sprint(one.opt.Align + one.opt.MaxL1), "sharded": one.room.Cores.String(), "core": one.only.Core.V.String(),
			"device": fmt.Sprint(one.only.Device.V), "size": fmt.Sprint(one.room.Size), "l1-small": fmt.Sprint(one.opt.L1Small.V),
		}[c.flag]
		if tensor := one.room.Tensor; tensor.Bytes > 0 {
			got = fmt.Sprintf("%d of %d", tensor.Bytes, tensor.Page)
		}
		require.Equal(t, c.want, got, "%s %q", c.flag, c.text)
		require.Equal(t, c.flag == "l1-small", one.opt.L1Small.OK, "0 is said, too")
		require.Equal(t, c.flag == "device", one.only.Device.OK, "0 is said, too")
	}
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
	c := newRequest(streams{}, verb{})
	require.NoError(t, c.setBudget(path))
	require.NoError(t, c.readTerms())
	require.NotNil(t, c.terms.Budget)
	require.NoError(t, c.setBudget("5%"))
	require.ErrorContains(t, c.readTerms(), "and --budget 5% is another")
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
		{[]string{shows, grown, "--max-growth", "63B"}, 1}, {[]string{shows, grown, "--max-growth", "64B"}, 3},
		{[]string{shows, grown, "--max-growth", "64B", "--accept", "not-shown"}, 0},
	} {
		code, _, stderr := call("", append([]string{"diff"}, c.args...)...)
		require.Equal(t, c.want, code, "%v %s", c.args, stderr)
	}
}
