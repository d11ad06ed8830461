package main

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
)

// hammer makes the tests below try everything; make hammer sets it.
var hammer = flag.Bool("hammer", false, "TestHammer: every cut, 10,000 changes, 10,000 made inputs")

// small is up to which size in bytes a fixture is cut at every place by make hammer,
// with all questions at each cut. A larger one is cut at random places, and at every
// place with one question.
const small = 20 << 10

// doses is how much the tests try.
type doses struct {
	cuts    int // of each fixture; of a small one 0 means all
	large   int // of each fixture that is not small
	changes int // of all fixtures together
	made    int // inputs that no fixture was
	files   int // of the broken inputs, so many are read from a file too
}

func dose() doses {
	if *hammer {
		return doses{large: 2000, changes: 10_000, made: 10_000, files: 500}
	}
	return doses{cuts: 2, large: 1, changes: 60, made: 60, files: 10}
}

// A whole is an input that is whole.
type whole struct {
	name string
	data []byte
	log  bool // an event log; else a capture
}

// fixtures returns the captures and event logs of the repository, by name, and two of
// them compressed.
func fixtures(tb testing.TB) []whole {
	var out []whole
	for _, folder := range []string{"../../capture/testdata", "../../../event/testdata", "testdata", "../../../examples"} {
		require.NoError(tb, filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !input(name) {
				return err
			}
			data, err := os.ReadFile(name)
			out = append(out, whole{name, data, strings.HasSuffix(name, ".jsonl")})
			return err
		}))
	}
	captures, logs := 0, 0
	for _, f := range out {
		if f.log {
			logs++
		} else {
			captures++
		}
	}
	require.GreaterOrEqual(tb, captures, 20, "captures")
	require.GreaterOrEqual(tb, logs, 2, "event logs")
	for _, f := range slices.Clone(out) {
		switch {
		case strings.HasSuffix(f.name, "/raw_graph.json"):
			out = append(out, whole{f.name + ".gz", testkit.Gzip(tb, bytes.NewReader(f.data)), false})
		case strings.HasSuffix(f.name, "/mixed_addresses.json"):
			out = append(out, whole{f.name + ".zst", testkit.Zstd(tb, bytes.NewReader(f.data)), false})
		}
	}
	return out
}

// input reports whether a file is an input, not what is expected of one, nor what lies
// beside one.
func input(name string) bool {
	base := filepath.Base(name)
	for _, other := range []string{".expected.json", ".right.json", ".explain.json", ".answers.jsonl", ".python_io.json", "config.json"} {
		if strings.HasSuffix(base, other) {
			return false
		}
	}
	return strings.HasSuffix(base, ".json") || strings.HasSuffix(base, ".jsonl")
}

// A tally counts what came of the broken inputs. It may be used by several tests at
// once.
type tally struct {
	mu     sync.Mutex
	inputs int
	codes  [4]int        // exit codes of check
	held   int           // inputs in which something holds the byte of the question
	slow   time.Duration // the longest that all questions about one input took
	slowIs string
	broken int
}

// add records the answers about one input, and reports the laws that they break.
func (c *tally) add(t *testing.T, what string, input []byte, in inspection) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inputs++
	if 0 <= in.check.code && in.check.code < len(c.codes) {
		c.codes[in.check.code]++
	}
	if in.held {
		c.held++
	}
	if in.took > c.slow {
		c.slow, c.slowIs = in.took, what
	}
	for _, b := range in.list {
		if c.broken++; c.broken <= 20 { // one bug breaks thousands
			t.Errorf("%s: %s\n%d bytes of input in %s", what, b, len(input), kept(t, input))
		}
	}
}

// kept writes an input to a file for a review.
func kept(t *testing.T, input []byte) string {
	f, err := os.CreateTemp("", "cbl1-hammer-*.json")
	require.NoError(t, err)
	_, err = f.Write(input)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return f.Name()
}

func (c *tally) String() string {
	return fmt.Sprintf("%d inputs; check: %d fit, %d do not, %d cannot be told, %d cannot be read; somebody holds the byte in %d; slowest %v: %s",
		c.inputs, c.codes[exitOK], c.codes[exitNo], c.codes[exitTell], c.codes[exitUsage], c.held, c.slow.Round(time.Millisecond), c.slowIs)
}

// TestHammerWhole holds the laws against what nobody has broken.
func TestHammerWhole(t *testing.T) {
	var c tally
	for _, f := range fixtures(t) {
		in := inspect(f.data)
		require.NotEqual(t, exitUsage, in.report.code, "%s: %s", f.name, in.report.err)
		c.add(t, f.name, f.data, in)
	}
	t.Log(&c)
}

// TestHammerCuts cuts every fixture at many places, or with -hammer at all. A cut
// capture is refused; a cut event log is one that ends earlier.
func TestHammerCuts(t *testing.T) {
	var c tally
	t.Run("fixtures", func(t *testing.T) {
		for i, f := range fixtures(t) {
			t.Run(filepath.Base(f.name), func(t *testing.T) {
				t.Parallel()
				for _, n := range cuts(f, dose(), uint64(i)) {
					in := inspect(f.data[:n])
					in.cut(f, n)
					c.add(t, fmt.Sprintf("%s cut after %d bytes", f.name, n), f.data[:n], in)
				}
			})
		}
	})
	t.Log(&c)
	require.Positive(t, c.codes[exitUsage])
	require.Positive(t, c.codes[exitOK]+c.codes[exitNo])
}

// cuts returns where to cut a fixture.
func cuts(f whole, d doses, seed uint64) []int {
	n := d.cuts
	if len(f.data) > small {
		n = d.large
	}
	var out []int
	if n == 0 {
		for i := range f.data {
			out = append(out, i)
		}
		return out
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	out = append(out, len(f.data)-1)
	for range n {
		out = append(out, rng.IntN(len(f.data)))
	}
	return out
}

// cut checks what is true of a fixture that ends after n bytes.
func (in *inspection) cut(f whole, n int) {
	in.verb = "report"
	if !f.log {
		whole := n >= len(bytes.TrimRight(f.data, " \r\n\t"))
		in.hold(whole || in.report.code == exitUsage, lawCut, "%s", shown(in.report))
		return
	}
	// A log that ends inside a line says so; its check is green in no case.
	atEnd := n > 0 && (f.data[n-1] == '\n' || f.data[n] == '\n' || f.data[n] == '\r')
	if !atEnd && n > bytes.IndexByte(f.data, '\n') {
		in.hold(strings.Contains(in.report.out, `"torn-line"`), lawCut, "%s", shown(in.report))
		in.hold(in.check.code != exitOK, lawCut, "check: %s", shown(in.check))
	}
}

// TestHammerAllCuts makes one question at each cut of the fixtures that are not small.
func TestHammerAllCuts(t *testing.T) {
	if !*hammer {
		t.Skip("needs -hammer, as in make hammer")
	}
	const parts = 4
	for _, f := range fixtures(t) {
		if len(f.data) <= small {
			continue
		}
		require.False(t, f.log, "what is refused is a cut capture")
		end := len(bytes.TrimRight(f.data, " \r\n\t"))
		for part := range parts {
			t.Run(fmt.Sprintf("%s/%d", filepath.Base(f.name), part), func(t *testing.T) {
				t.Parallel()
				n := end * part / parts
				for ; n < end*(part+1)/parts; n++ {
					requireRefused(t, f.data[:n], n)
				}
				t.Logf("%d cuts, one question each: all are refused", n-end*part/parts)
			})
		}
	}
}

// requireRefused runs one of the verbs, in turn, on a capture that is cut.
func requireRefused(t *testing.T, input []byte, turn int) {
	verbs := [][]string{{"report", "-"}, {"check", "-"}, {"peak", "-"}, {"room", "-"}, {"who", "-", "111616"}}
	args := verbs[turn%len(verbs)]
	in := inspection{breaches: breaches{verb: args[0]}}
	a := ask(bytes.NewReader(input), args...)
	in.hold(a.panicked == "", lawPanic, "%s", a.panicked)
	in.exit(args[0], a)
	in.hold(a.code == exitUsage, lawCut, "%s", shown(a))
	require.Empty(t, in.list, "cut after %d bytes", len(input))
}

// TestHammerChanges changes bits, bytes, numbers and pieces of fixtures at random.
func TestHammerChanges(t *testing.T) {
	all := fixtures(t)
	var c tally
	const parts = 4
	t.Run("seeds", func(t *testing.T) {
		for part := range uint64(parts) {
			t.Run(fmt.Sprint(part), func(t *testing.T) {
				t.Parallel()
				for seed := part; seed < uint64(dose().changes); seed += parts {
					what, input := changed(all, seed)
					c.add(t, what, input, inspect(input))
				}
			})
		}
	})
	t.Log(&c)
	require.Equal(t, dose().changes, c.inputs)
	read := c.inputs - c.codes[exitUsage]
	require.Greater(t, read, c.inputs/5, "enough of the changed inputs can still be read")
	if !testing.Short() {
		for code, n := range c.codes {
			require.Positive(t, n, "check never gives exit code %d", code)
		}
	}
}

// changed returns the fixture with one change to three that a seed stands for, and what
// it is in words. Even seeds change bits and bytes anywhere. Odd seeds know what a number
// is and what a text is, so that most of what they make can still be read.
func changed(all []whole, seed uint64) (what string, input []byte) {
	rng := rand.New(rand.NewPCG(seed, 2))
	f := all[rng.IntN(len(all))]
	if len(f.data) > small && rng.IntN(4) > 0 { // large ones take their time
		f = all[rng.IntN(len(all))]
	}
	changes := []func(*rand.Rand, []byte) []byte{flipBit, changeByte}
	if seed%2 == 1 {
		changes = []func(*rand.Rand, []byte) []byte{changeDigit, changeNumber, copyNumber, copyText}
		if f.log {
			changes = append(changes, dropLine, doubleLine)
		}
	}
	input = bytes.Clone(f.data)
	for range 1 + rng.IntN(3) {
		input = changes[rng.IntN(len(changes))](rng, input)
	}
	return fmt.Sprintf("%s with change %d", f.name, seed), input
}

func flipBit(rng *rand.Rand, b []byte) []byte {
	if len(b) > 0 {
		b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
	}
	return b
}

func changeByte(rng *rand.Rand, b []byte) []byte {
	if len(b) > 0 {
		b[rng.IntN(len(b))] = byte(rng.Uint32())
	}
	return b
}

// numberAt returns where a number near a random place starts and ends; of none, both
// are the same.
func numberAt(rng *rand.Rand, b []byte) (start, end int) {
	digit := func(i int) bool { return '0' <= b[i] && b[i] <= '9' }
	if len(b) == 0 {
		return 0, 0
	}
	for start = rng.IntN(len(b)); start < len(b) && !digit(start); start++ {
	}
	for start > 0 && start < len(b) && digit(start-1) {
		start--
	}
	for end = start; end < len(b) && digit(end); end++ {
	}
	return start, end
}

// textAt returns where the text between two quotes near a random place starts and ends;
// of none, both are the same.
func textAt(rng *rand.Rand, b []byte) (start, end int) {
	if len(b) == 0 {
		return 0, 0
	}
	at := rng.IntN(len(b))
	open := bytes.IndexByte(b[at:], '"')
	if open < 0 {
		return at, at
	}
	start = at + open + 1
	length := bytes.IndexByte(b[start:], '"')
	return start, start + max(0, length)
}

func changeDigit(rng *rand.Rand, b []byte) []byte {
	if start, end := numberAt(rng, b); start < end {
		b[start+rng.IntN(end-start)] = byte('0' + rng.IntN(10))
	}
	return b
}

// changeNumber puts numbers at which sums wrap, and the ends of L1.
func changeNumber(rng *rand.Rand, b []byte) []byte {
	numbers := []string{
		"0", "1", "31", "32", "65535", "111616", "1499136", "1499137", "1572864", "1572865", "4294967295", "4294967296",
		"9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "1e3", "-1",
	}
	start, end := numberAt(rng, b)
	if start == end {
		return b
	}
	return slices.Concat(b[:start], []byte(numbers[rng.IntN(len(numbers))]), b[end:])
}

// copyNumber puts one number of the input where another one is.
func copyNumber(rng *rand.Rand, b []byte) []byte {
	fromStart, fromEnd := numberAt(rng, b)
	start, end := numberAt(rng, b)
	return slices.Concat(b[:start], b[fromStart:fromEnd], b[end:])
}

// copyText puts one text of the input where another one is: a kind of node, a name, a
// key, sometimes what lies between two texts.
func copyText(rng *rand.Rand, b []byte) []byte {
	fromStart, fromEnd := textAt(rng, b)
	start, end := textAt(rng, b)
	return slices.Concat(b[:start], b[fromStart:fromEnd], b[end:])
}

// lineAt returns where a random line starts, and where the next one does.
func lineAt(rng *rand.Rand, b []byte) (start, end int) {
	if len(b) == 0 {
		return 0, 0
	}
	at := rng.IntN(len(b))
	start = bytes.LastIndexByte(b[:at], '\n') + 1
	if n := bytes.IndexByte(b[at:], '\n'); n >= 0 {
		return start, at + n + 1
	}
	return start, len(b)
}

func dropLine(rng *rand.Rand, b []byte) []byte {
	start, end := lineAt(rng, b)
	return slices.Delete(b, start, end)
}

func doubleLine(rng *rand.Rand, b []byte) []byte {
	start, end := lineAt(rng, b)
	return slices.Concat(b[:end], b[start:end], b[end:])
}

// TestHammerFiles reads some broken inputs from a file. The answer is that of a pipe, but for the name.
func TestHammerFiles(t *testing.T) {
	all := fixtures(t)
	name := filepath.Join(t.TempDir(), "input.json")
	files := 0
	for seed := range uint64(dose().files) {
		what, input := changed(all, 1_000_000+seed)
		require.NoError(t, os.WriteFile(name, input, 0o600))
		piped := ask(bytes.NewReader(input), "check", "--format", "json", "-")
		for range 2 {
			a := ask(nil, "check", "--format", "json", name)
			in := inspection{breaches: breaches{verb: "check"}}
			in.hold(a.panicked == "", lawPanic, "%s", a.panicked)
			in.exit("check", a)
			a.out, a.err = strings.ReplaceAll(a.out, name, "stdin"), strings.ReplaceAll(a.err, name, "stdin")
			in.hold(a == piped, lawAgree, "from a file %s, from a pipe %s", shown(a), shown(piped))
			for _, b := range in.list {
				t.Errorf("%s: %s", what, b)
			}
		}
		files++
	}
	t.Logf("%d files", files)
}
