package clash_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

// enqueued is a run with one buffer on a rectangle, and the address of the lowest
// tensor when it was enqueued (0 = none).
type enqueued struct {
	op     string
	cores  string
	end    uint64
	lowest uint64
	edit   func(*clash.ProgramRun)
}

const base = 111_616

func compared(t testing.TB, log string, given l1.Spec, runs ...enqueued) clash.Messages {
	t.Helper()
	found := read(t, log)
	c := clash.Compare(found, given)
	for i, r := range runs {
		add(c, uint64(10*i), r)
	}
	found.Matches = c.Matches()
	require.Len(t, found.Matches, len(found.Messages))
	return found
}

func add(c *clash.Comparison, event uint64, r enqueued) {
	var lowest []clash.LowestBuffer
	if r.lowest != 0 {
		lowest = []clash.LowestBuffer{{Address: r.lowest, PerCore: 4096, Event: event + 1, Op: "ttnn.zeros", Layout: "INTERLEAVED"}}
	}
	addLowest(c, event, r, lowest)
}

func addLowest(c *clash.Comparison, event uint64, r enqueued, lowest []clash.LowestBuffer) {
	set := l1.MustParseCoreRangeSet("{" + r.cores + "}")
	run := clash.ProgramRun{
		Capture: "captures/run.json", Event: event, Op: r.op, Device: "device 0", What: clash.Circular, Base: base,
		CBs: []clash.CB{
			{Number: 0, Cores: set, Range: l1.Range{Start: base, End: base + 2048}},
			{Number: 1, Cores: set, Range: l1.Range{Start: base + 2048, End: r.end}},
			{Number: 2, Cores: set},
		},
	}
	for cores := range set.All() {
		run.Entries = append(run.Entries, clash.Entry{Cores: cores, End: r.end})
	}
	if r.edit != nil {
		r.edit(&run)
	}
	c.Add(run, func() []clash.LowestBuffer { return lowest })
}

func clashes(cores string, end uint64) string {
	return fmt.Sprintf("Statically allocated circular buffers in program 7 clash with L1 buffers on core range %s. "+
		"L1 buffer allocated at 800000 and static circular buffer region ends at %d\n", cores, end)
}

func TestCompare(t *testing.T) {
	const all, left = "[0-0 - 7-7]", "[0-0 - 3-7]"
	placed := func(r *clash.ProgramRun) { r.Synthesised = true }
	grow := "Statically allocated circular buffers on core range [0-0 - 7-7] grow to 1600000 B which is beyond max L1 size of 1572864 B\n"
	for _, c := range []struct {
		name  string
		log   string
		given l1.Spec
		runs  []enqueued

		level   clash.Level
		op      string
		n       int64
		ops     []string
		lowest  uint64
		capture string // what the note says
	}{
		{
			name: "the same cores, end and lowest address", log: clashes(all, 900_000),
			runs:  []enqueued{{"a", all, 900_000, 900_000, nil}, {"b", all, 900_000, 800_000, nil}, {"c", left, 900_000, 800_000, nil}},
			level: clash.MatchExact, op: "b", n: 1, ops: []string{"b"}, lowest: 800_000,
			capture: "b, node 10 of run.json, device 0: same cores and region end, same lowest address",
		},
		{
			name: "several: the first, and how many", log: clashes(all, 900_000),
			runs:  []enqueued{{"a", all, 900_000, 800_000, nil}, {"b", all, 900_000, 800_000, nil}, {"a", all, 900_000, 800_000, nil}},
			level: clash.MatchExact, op: "a", n: 3, ops: []string{"a", "b"}, lowest: 800_000,
			capture: "a, node 0 of run.json, device 0: same cores and region end, same lowest address; the first of 3 that agree, others in b",
		},
		{
			name: "a message of two ranges: a run that is on both agrees once", log: clashes("{[0-0 - 3-7], [4-0 - 7-7]}", 900_000),
			runs:  []enqueued{{"a", "[0-0 - 3-7], [4-0 - 7-7]", 900_000, 800_000, nil}},
			level: clash.MatchExact, op: "a", n: 1, ops: []string{"a"}, lowest: 800_000,
			capture: "a, node 0 of run.json, device 0: same cores and region end, same lowest address",
		},
		{
			name: "another lowest address: the nearest, said so", log: clashes(all, 900_000),
			runs:  []enqueued{{"a", all, 900_000, 0, nil}, {"b", all, 900_000, 1_500_000, nil}, {"c", all, 900_000, 801_024, nil}},
			level: clash.MatchLowest, op: "c", n: 3, ops: []string{"a", "b", "c"}, lowest: 801_024,
			capture: "c, node 20 of run.json, device 0: same cores and region end; lowest address differs: 801,024 instead of 800,000; the nearest of 3 that agree, others in a and more",
		},
		{
			name: "nothing in L1", log: clashes(all, 900_000), runs: []enqueued{{"", all, 900_000, 0, nil}},
			level: clash.MatchLowest, n: 1, ops: []string{""},
			capture: "a program, node 0 of run.json, device 0: same cores and region end; no L1 buffer is live there, the message has one at 800,000",
		},
		{
			name: "a region beyond L1 has no lowest address", log: grow, runs: []enqueued{{"a", all, 1_600_000, 1_500_000, nil}},
			level: clash.MatchExact, op: "a", n: 1, ops: []string{"a"}, lowest: 1_500_000,
			capture: "a, node 0 of run.json, device 0: same cores and region end",
		},
		{
			name: "no addresses, another base of some release: the size of the region", log: clashes(all, 900_000-256),
			runs:  []enqueued{{"a", all, 900_000, 800_000, placed}},
			level: clash.MatchSize, op: "a", n: 1, ops: []string{"a"}, lowest: 800_000,
			capture: "a, node 0 of run.json, device 0: same cores and region size; the capture has no addresses: with base 111,616 the region ends at 900,000 instead of 899,744",
		},
		{
			name: "the base that is given decides", log: clashes(all, 900_000-256), given: l1.Spec{CBBase: 103_712},
			runs: []enqueued{{"a", all, 900_000, 800_000, placed}}, level: clash.MatchNone, op: "a",
			capture: "no program has a region with this end on these cores; nearest is a, node 0 of run.json, device 0, which ends at 900,000",
		},
		{
			name: "recorded addresses do not move", log: clashes(all, 900_000-256),
			runs: []enqueued{{"far", all, 300_000, 800_000, nil}, {"a", all, 900_000, 800_000, nil}}, level: clash.MatchNone, op: "a",
			capture: "no program has a region with this end on these cores; nearest is a, node 10 of run.json, device 0, which ends at 900,000",
		},
		{
			name: "other cores", log: clashes(all, 900_000), runs: []enqueued{{"a", left, 900_000, 800_000, nil}},
			level:   clash.MatchNone,
			capture: "no program has a region with this end on these cores, and none is on exactly these cores",
		},
		{
			name: "other kind of buffers", log: clashes(all, 900_000),
			runs:    []enqueued{{"a", all, 900_000, 800_000, func(r *clash.ProgramRun) { r.What = clash.Dataflow }}},
			level:   clash.MatchNone,
			capture: "no program has a region with this end on these cores, and none is on exactly these cores",
		},
		{
			name: "placed at the same base, from the cache", log: clashes(all, 900_000),
			runs:  []enqueued{{"a", all, 900_000, 800_000, func(r *clash.ProgramRun) { r.Synthesised, r.Inferred = true, true }}},
			level: clash.MatchExact, op: "a", n: 1, ops: []string{"a"}, lowest: 800_000,
			capture: "a, node 0 of run.json, device 0 (from the program cache): same cores and region end, same lowest address; the capture has no addresses: these are placed by tt-metal's rule",
		},
		{
			name: "one of several that the cache had", log: clashes(all, 900_000),
			runs:  []enqueued{{"a", all, 900_000, 800_000, func(r *clash.ProgramRun) { r.OneOf, r.Inferred = 3, true }}},
			level: clash.MatchExact, op: "a", n: 1, ops: []string{"a"}, lowest: 800_000,
			capture: "a, node 0 of run.json, device 0 (from the program cache: one of 3 that may have run): same cores and region end, same lowest address",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := compared(t, c.log, c.given, c.runs...)
			m := found.Matches[0]
			require.Equal(t, c.level, m.Level)
			best := cmp.Or(m.ProgramRun, &clash.ProgramRun{})
			require.Equal(t, c.op, best.Op)
			require.Equal(t, c.n, m.Runs)
			require.Equal(t, c.ops, m.Ops)
			if c.lowest != 0 {
				require.Equal(t, c.lowest, m.Tensors[0].Address)
			}
			e := clash.Explain(found.Messages[0], c.given)
			before := len(e.Notes)
			e.Add(m)
			require.Equal(t, c.capture, note(t, e, "program"))
			require.LessOrEqual(t, len(e.Notes), before+2)
			unknown := slices.ContainsFunc(e.Notes, func(n clash.Note) bool { return n.Label == "unknown" })
			require.Equal(t, c.level == clash.MatchNone, unknown, "what is known is not unknown")
		})
	}
}

func note(t testing.TB, e clash.MessageRow, label string) string {
	i := slices.IndexFunc(e.Notes, func(n clash.Note) bool { return n.Label == label })
	require.GreaterOrEqual(t, i, 0, "no note %s", label)
	return e.Notes[i].Text
}

// Names from a capture are data: they are short, and cannot command a terminal.
func TestNamesFromCaptures(t *testing.T) {
	op := strings.Repeat("very::long::", 100) + "\x1b[31m\u202e"
	found := compared(t, clashes("[0-0 - 7-7]", 900_000), l1.Spec{}, enqueued{op, "[0-0 - 7-7]", 900_000, 800_000, nil})
	row := clash.NewDocument(found, l1.Spec{})
	for _, n := range row.Messages[0].Notes {
		require.LessOrEqual(t, len(n.Text), 500)
	}
	doc, err := json.Marshal(row)
	require.NoError(t, err)
	require.Contains(t, string(doc), `"level":"exact"`)
}

// What messages do not name cannot be looked for.
func TestNothingToCompare(t *testing.T) {
	found := compared(t, "Total circular buffer size 100 B must be divisible by page size 64 B", l1.Spec{}, enqueued{"a", "[0-0 - 7-7]", 900_000, 800_000, nil})
	require.Equal(t, clash.Match{}, found.Matches[0])
	doc := clash.NewDocument(found, l1.Spec{})
	require.Nil(t, doc.Messages[0].Match)
}
