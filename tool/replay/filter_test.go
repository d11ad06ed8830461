package replay_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A source replays one input at each call.
type source struct {
	name string
	run  func(replay.Options) *answer.Result
}

func sources(t *testing.T) (out []source) {
	t.Helper()
	files, err := filepath.Glob("../capture/testdata/*.json")
	require.NoError(t, err)
	for _, file := range append(files, "../../examples/cached_ops.json") {
		if strings.Contains(file, ".expected.") {
			continue
		}
		out = append(out, source{filepath.Base(file), func(opt replay.Options) *answer.Result {
			in := capture.Input{Path: file}
			r, err := replay.Run(file, in.Events(capture.Options{}), opt)
			require.NoError(t, err)
			return r
		}})
	}
	for _, file := range []string{"../../examples/events.jsonl", "../../event/testdata/conformance.jsonl"} {
		log, err := os.ReadFile(file)
		require.NoError(t, err)
		out = append(out, source{filepath.Base(file), func(opt replay.Options) *answer.Result { return replayLog(t, string(log), opt) }})
	}
	require.Greater(t, len(out), 15)
	return out
}

// Devices, taken one by one, have the rows that they have together, and as many runs.
func TestFilterByDevice(t *testing.T) {
	for _, s := range sources(t) {
		whole := s.run(replay.Options{})
		var runs, failed int64
		for i, d := range whole.L1 {
			if !d.ID.OK {
				runs, failed = whole.Checks.Runs, whole.Checks.Failed
				continue
			}
			one := s.run(replay.Options{Only: answer.Filter{Device: d.ID}})
			require.Equal(t, []answer.DeviceL1{whole.L1[i]}, one.L1, s.name)
			for _, w := range whole.Devices {
				if w.ID == d.ID {
					require.Equal(t, []answer.Device{w}, one.Devices, s.name)
				}
			}
			runs, failed = runs+one.Checks.Runs, failed+one.Checks.Failed
		}
		require.Equal(t, whole.Checks.Runs, runs, s.name)
		require.Equal(t, whole.Checks.Failed, failed, s.name)
		none := s.run(replay.Options{Only: answer.Filter{Device: event.Some(uint64(77))}})
		require.Empty(t, none.L1)
		require.Equal(t, answer.CannotTell, none.Judge(answer.Terms{}).Answer, "nothing ran there")
	}
}

// The peak of a core is the most that it holds after any node, and the fullest core is one of
// them.
func TestFilterByCore(t *testing.T) {
	compared := 0
	for _, s := range sources(t) {
		whole := s.run(replay.Options{})
		if whole.Nodes > 100 || s.name == "conformance.jsonl" { // whose high-water marks are reset
			continue
		}
		type place struct {
			device event.Opt[uint64]
			core   l1.Core
		}
		cores := []l1.Core{{}, {X: 1}, {X: 7, Y: 7}, {X: 3, Y: 2}}
		most := map[place]uint64{}
		for at := range uint64(whole.Nodes) {
			for _, d := range s.run(replay.Options{GroupsAt: event.Some(at)}).L1 {
				for _, g := range d.Groups {
					for _, core := range cores {
						if g.Cores.Has(core) {
							most[place{d.ID, core}] = max(most[place{d.ID, core}], g.Bytes)
						}
					}
				}
			}
		}
		for _, core := range cores {
			for i, d := range s.run(replay.Options{Only: answer.Filter{Core: event.Some(core)}}).L1 {
				got := uint64(0)
				if d.Peak != nil {
					got = d.Peak.Bytes
					require.Equal(t, core, d.Peak.Core)
				}
				require.Equal(t, most[place{d.ID, core}], got, "%s, core %v", s.name, core)
				if whole := whole.L1[i].Peak; whole != nil && whole.Core == core {
					require.Equal(t, whole.Bytes, got)
					require.Equal(t, whole.Residents, d.Peak.Residents, "%s", s.name)
				}
				compared++
			}
		}
		for _, d := range whole.Devices {
			for _, g := range d.CoreGroups {
				for core := range g.Cores.All() {
					one := s.run(replay.Options{Only: answer.Filter{Core: event.Some(core), Device: d.ID}}).Devices[0]
					require.Len(t, one.CoreGroups, 1)
					require.Equal(t, g.Registered, one.Fullest.Bytes)
					require.Equal(t, core, one.Fullest.Core)
					break
				}
			}
		}
	}
	require.Greater(t, compared, 50)
}

// Every run is of one operation. No figure of a core is narrowed to an operation: it holds buffers of all.
func TestFilterByOperation(t *testing.T) {
	for _, s := range sources(t) {
		whole := s.run(replay.Options{Runs: true})
		ops := map[answer.Name]bool{}
		for _, one := range whole.Runs {
			ops[one.Run.Op] = true
		}
		if len(ops) > 12 || ops[""] || len(whole.L1) == 0 {
			continue
		}
		var runs int64
		for op := range ops {
			one := s.run(replay.Options{Only: answer.Filter{Op: op}})
			runs += one.Checks.Runs
			require.Equal(t, whole.L1, one.L1, s.name)
			require.Equal(t, whole.Devices, one.Devices, s.name)
		}
		if strings.HasSuffix(s.name, ".json") { // in the log one is inside another
			require.Equal(t, whole.Checks.Runs, runs, s.name)
		}
	}
}

func TestFilterHasOp(t *testing.T) {
	const op = "model > ttnn.matmul > MatmulDeviceOperation"
	for pattern, want := range map[string]bool{
		"": true, "ttnn.matmul": true, "*matmul": true, "Matmul*": true, "*at*ul*": true, "*": true, op: true, "model > *": true, "m*l": true,
		"matmul": false, "ttnn": false, "ttnn.matmul2": false, "*matmul2": false, "l*m": false, "**x**": false, "MATMUL*": false,
	} {
		require.Equal(t, want, answer.Filter{Op: answer.Name(pattern)}.HasOp(op), pattern)
	}
	require.True(t, answer.Filter{Op: "a*b"}.HasOp("a*b"))
	require.False(t, answer.Filter{Op: "ab*b"}.HasOp("ab"), "no byte stands for two")
	require.False(t, answer.Filter{Op: "x"}.HasOp(""))
}

func TestParseBudgets(t *testing.T) {
	core, ops, err := answer.ParseBudgets("b.txt", []byte("\ufeff# all\r\n\ncore = 90%\r\nop ttnn.matmul = 300 KiB\n  op a = b* = 1\n"))
	require.NoError(t, err)
	require.Equal(t, "90%", core.String())
	require.Len(t, ops, 2)
	require.Equal(t, answer.OpBudget{Op: "ttnn.matmul", Line: 4, Budget: ops[0].Budget}, ops[0])
	n, ok := ops[0].Of(0)
	require.True(t, ok)
	require.EqualValues(t, 300<<10, n)
	require.Equal(t, "a = b*", ops[1].Op)
	for text, want := range map[string]string{
		"core = 1\ncore = 2": "b.txt:2: the budget of a core is there already", "op a = 1\n\nop a = 2": "b.txt:3: op a has a budget already",
		"cores = 1": `b.txt:1: want "core = BUDGET" or "op NAME = BUDGET", not "cores = 1"`, "op = 1": "b.txt:1: want", "op  = 1": "b.txt:1: want",
		"90%": "b.txt:1: want", "core = 101%": "b.txt:1: want bytes", "core = \x1b[2J": `b.txt:1: `, "\xff\xfe": "b.txt:1: want", "op x = ": "b.txt:1: ",
		strings.Repeat("#", 1<<20+1):                                               "b.txt:1: 1048577 bytes are too many",
		"op a" + strings.Repeat("*", 101) + " = 1":                                 "a file of budgets has at most 100 *",
		"op " + strings.Repeat("*", 100) + " = 1\n\nop a = 1\nop *b = 1\nop c = 1": "b.txt:4: op *b: a file of budgets has at most 100 *",
	} {
		_, _, err := answer.ParseBudgets("b.txt", []byte(text))
		var bad *answer.BudgetError
		require.ErrorAs(t, err, &bad, "%q", text)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\x1b")
		require.LessOrEqual(t, len(err.Error()), 300)
	}
}

// A share is rounded down; a value on each side of each limit.
func TestParseBudget(t *testing.T) {
	for text, want := range map[string]uint64{
		"0%": 0, "100%": 1000, "33.39%": 333, "99.99%": 999, " 50 % ": 500, "7": 7, "1KB": 1000, "900 kB": 900_000, "00000000000000000050%": 500,
	} {
		b, err := answer.ParseBudget(text)
		require.NoError(t, err, text)
		got, ok := b.Of(1000)
		require.True(t, ok)
		require.Equal(t, want, got, text)
		_, ok = b.Of(0)
		require.Equal(t, !b.IsShare(), ok, text)
	}
	for _, text := range []string{"100.01%", "101%", "-1%", "%", "1e1%", "1/2%", "000000000000000000050%", "", "x"} {
		_, err := answer.ParseBudget(text)
		require.Error(t, err, text)
	}
	for _, text := range []string{strings.Repeat("#", 1<<20), "op a" + strings.Repeat("*", 100) + " = 1\nop b = 1"} {
		_, _, err := answer.ParseBudgets("b.txt", []byte(text))
		require.NoError(t, err, "%.20s", text)
	}
}

// A program that takes just as much keeps to a budget. Of equals the first one is the worst, and
// one whose operation has a name twice counts once.
func TestJudgeTiesOfBudgets(t *testing.T) {
	r := &answer.Result{Devices: make([]answer.Device, 2)}
	for i := range r.Devices {
		r.Devices[i].ProgramsDetail = &answer.Programs{}
		for k, core := range []uint64{100, 102, 101, 102} {
			r.Devices[i].ProgramsDetail.Add(answer.ProgramDetail{Op: "f > f", Core: core, First: uint64(10*i + k)})
		}
	}
	_, ops, err := answer.ParseBudgets("b", []byte("op f = 101\nop * = 102\nop f > f = 0%"))
	require.NoError(t, err)
	j := r.Judge(answer.Terms{Ops: ops})
	for i, want := range []answer.OpJudgement{
		{Limit: event.Some[uint64](101), Programs: 8, Over: 4, Worst: &answer.ProgramExcess{Device: r.Devices[0].ID, Op: "f > f", First: 1, Core: 102, Over: 1}},
		{Limit: event.Some[uint64](102), Programs: 8},
		{Programs: 8},
	} {
		want.Op, want.Line, want.Budget, want.Text = answer.Name(ops[i].Op), ops[i].Line, ops[i].Budget, ops[i].String()
		require.Equal(t, want, j.Ops[i])
	}
	require.Equal(t, answer.DoesNotFit, j.Answer)
}

// TestJudgeFindsBudgets: a budget judges the programs that a Filter with its pattern leaves,
// in whatever order and however often budgets name them.
func TestJudgeFindsBudgets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "b", "ab", "a > b", " > ", ">", ""})
		text := func(label string) string { return strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, label), "") }
		r := &answer.Result{Devices: make([]answer.Device, 2)}
		var ops []string
		for i := range r.Devices {
			r.Devices[i].ProgramsDetail = &answer.Programs{}
			for range rapid.IntRange(0, 6).Draw(t, "programs") {
				ops = append(ops, text("op"))
				r.Devices[i].ProgramsDetail.Add(answer.ProgramDetail{Op: answer.Name(ops[len(ops)-1])})
			}
		}
		var terms answer.Terms
		for range rapid.IntRange(1, 6).Draw(t, "budgets") {
			pattern := text("pattern")
			if rapid.Bool().Draw(t, "star") {
				pattern += "*" + text("end")
			}
			terms.Ops = append(terms.Ops, answer.OpBudget{Op: pattern})
		}
		for _, j := range r.Judge(terms).Ops {
			want := 0
			for _, op := range ops {
				if (answer.Filter{Op: j.Op}).HasOp(answer.Name(op)) {
					want++
				}
			}
			if j.Op != "" { // a file has none
				require.EqualValues(t, want, j.Programs, "%q among %q", j.Op, ops)
			}
		}
	})
}

func FuzzParseBudgets(f *testing.F) {
	f.Add([]byte("core = 90%\nop ttnn.matmul = 300 KiB\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, ops, err := answer.ParseBudgets("b", text)
		for _, op := range ops {
			require.NoError(t, err)
			require.NotEmpty(t, op.Op)
		}
	})
}

// The programs of each line of a file of budgets are those of the table of programs.
func TestJudgeByOperation(t *testing.T) {
	for _, s := range sources(t) {
		r := s.run(replay.Options{})
		for _, limit := range []string{"0", "9000", "1%", "100%"} {
			_, ops, err := answer.ParseBudgets("b", []byte("op * = "+limit+"\nop nothing of the kind = 0"))
			require.NoError(t, err)
			j := r.Judge(answer.Terms{Ops: ops})
			bytes, ok := ops[0].Of(r.Spec.Usable().Len())
			ok = ok && j.Ops[0].Limit.OK // on all devices the same
			var programs, over int64
			worst := uint64(0)
			for _, d := range r.Devices {
				for _, p := range d.ProgramsDetail.All() {
					programs++
					if ok && p.Core > bytes {
						over++
						worst = max(worst, p.Core)
					}
				}
			}
			require.Equal(t, programs, j.Ops[0].Programs)
			require.Equal(t, over, j.Ops[0].Over, "%s %s", s.name, limit)
			require.Equal(t, over > 0, j.Ops[0].Worst != nil)
			if over > 0 {
				require.Equal(t, worst, j.Ops[0].Worst.Core)
			}
			require.Zero(t, j.Ops[1].Programs)
			if over > 0 {
				require.Equal(t, answer.DoesNotFit, j.Answer)
			} else if ok {
				require.Equal(t, r.Judge(answer.Terms{}).Answer, j.Answer)
			}
		}
	}
}
