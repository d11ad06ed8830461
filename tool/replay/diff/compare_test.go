package diff_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

// A plan is what a log says: programs that are enqueued one after another on all devices,
// beside some buffers.
type plan struct {
	devices  int
	base     uint64
	programs []planned
	buffers  []uint64 // sizes, from the top of L1 down
}

// A planned program has circular buffers one behind the other from the base.
type planned struct {
	op    string
	cores string
	sizes []uint64
}

func (p planned) sum() (sum uint64) {
	for _, n := range p.sizes {
		sum += n
	}
	return sum
}

const topOfL1 = 1 << 20

func (p plan) log() string {
	var b strings.Builder
	fmt.Fprintln(&b, `{"event":"log","version":1}`)
	fmt.Fprintf(&b, `{"event":"mesh","first":0,"rows":1,"cols":%d,"spec":{"arch":"wormhole","cols":8,"rows":8,"l1_size":%d,"cb_base":%d,"cb_align":32}}`+"\n", p.devices, topOfL1, p.base)
	at := uint64(topOfL1)
	for i, size := range p.buffers {
		at -= size
		fmt.Fprintf(&b, `{"event":"allocate","buffer":%d,"kind":"l1","name":"tensor %d","parts":[{"address":%d,"size":%d}]}`+"\n", i, i, at, size)
	}
	for i, one := range p.programs {
		var cbs []string
		for _, size := range one.sizes {
			cbs = append(cbs, fmt.Sprintf(`{"cores":%q,"size":%d}`, one.cores, size))
		}
		fmt.Fprintf(&b, `{"event":"program","program":%d,"name":%q,"cbs":[%s]}`+"\n", i, one.op, strings.Join(cbs, ","))
		fmt.Fprintf(&b, `{"event":"enqueue","program":%d}`+"\n", i)
	}
	return b.String()
}

func (p plan) result(t require.TestingT, buffers bool) *answer.Result {
	return resultOf(t, p.log(), buffers)
}

func resultOf(t require.TestingT, log string, buffers bool) *answer.Result {
	r, err := replay.Run("plan.jsonl", event.NewLog(strings.NewReader(log), "plan.jsonl").Events(), replay.Options{Buffers: buffers, Groups: buffers})
	require.NoError(t, err)
	return r
}

func runOf(t require.TestingT, log string) []*diff.Run {
	return []*diff.Run{diff.Of(resultOf(t, log, true))}
}

func (p plan) run(t require.TestingT) []*diff.Run { return runOf(t, p.log()) }

func (p plan) copy() plan {
	q := p
	q.programs, q.buffers = slices.Clone(p.programs), slices.Clone(p.buffers)
	return q
}

// peak is what the fullest core holds at most: all buffers, and the largest program.
func (p plan) peak() (most uint64) {
	var buffers uint64
	for _, size := range p.buffers {
		buffers += size
	}
	for _, one := range p.programs {
		most = max(most, one.sum())
	}
	return most + buffers
}

func anyProgram() *rapid.Generator[planned] {
	return rapid.Custom(func(t *rapid.T) planned {
		return planned{
			op:    rapid.SampledFrom([]string{"ttnn.add", "ttnn.matmul", "ttnn.softmax"}).Draw(t, "op"),
			cores: rapid.SampledFrom([]string{"{[0-0 - 7-7]}", "{[0-0 - 7-3]}", "{[0-0 - 3-7]}"}).Draw(t, "cores"), /* two of a size */
			sizes: rapid.SliceOfN(rapid.SampledFrom([]uint64{2048, 4096, 8192}), 1, 3).Draw(t, "sizes"),
		}
	})
}

func anyPlan() *rapid.Generator[plan] {
	return rapid.Custom(func(t *rapid.T) plan {
		return plan{
			devices:  rapid.IntRange(1, 3).Draw(t, "devices"),
			base:     100_000 &^ 31,
			programs: rapid.SliceOfN(anyProgram(), 1, 12).Draw(t, "programs"),
			buffers:  rapid.SliceOfN(rapid.SampledFrom([]uint64{1024, 65536}), 0, 2).Draw(t, "buffers"),
		}
	})
}

// mutate changes one thing of a plan, and says what a comparison has to say of it.
func mutate(t *rapid.T, p plan) (q plan, want diff.Program, base int64) {
	q = p.copy()
	i := rapid.IntRange(0, len(p.programs)-1).Draw(t, "program")
	one := p.programs[i]
	switch rapid.SampledFrom([]string{"insert", "delete", "grow", "shrink", "base"}).Draw(t, "mutation") {
	case "insert":
		added := anyProgram().Draw(t, "added")
		q.programs = slices.Insert(q.programs, i, added)
		return q, diff.Program{State: diff.New, Op: answer.Name(added.op), New: &diff.ProgramRow{Core: added.sum()}}, 0
	case "delete":
		if len(p.programs) == 1 {
			return q, diff.Program{State: diff.Same}, 0
		}
		q.programs = slices.Delete(q.programs, i, i+1)
		return q, diff.Program{State: diff.Gone, Op: answer.Name(one.op), Old: &diff.ProgramRow{Core: one.sum()}}, 0
	case "base":
		q.base += 128
		return q, diff.Program{State: diff.Same}, 128
	case "shrink":
		q.programs[i], want = resized(t, one, -1024)
	default:
		q.programs[i], want = resized(t, one, 1024)
	}
	return q, want, 0
}

// resized changes the size of one buffer of a program.
func resized(t *rapid.T, p planned, by int64) (planned, diff.Program) {
	k := rapid.IntRange(0, len(p.sizes)-1).Draw(t, "cb")
	was := p.sum()
	p.sizes = slices.Clone(p.sizes)
	p.sizes[k] = uint64(int64(p.sizes[k]) + by)
	state := diff.Grown
	if by < 0 {
		state = diff.Shrunk
	}
	return p, diff.Program{
		State: state, Op: answer.Name(p.op), Old: &diff.ProgramRow{Core: was}, New: &diff.ProgramRow{Core: p.sum()},
		CBs: []diff.CB{{New: &diff.CBRow{Number: k}}},
	}
}

// One thing is changed, and the comparison says this and nothing else.
func TestOneMutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := anyPlan().Draw(t, "old")
		new, want, base := mutate(t, old)
		d := diff.Compare(old.run(t), new.run(t), diff.Terms{})
		require.Len(t, d.Devices, 1, "equal devices are one row")
		dev := d.Devices[0]
		require.Len(t, dev.IDs, old.devices)
		require.Equal(t, old.peak(), d.Sides.Old.Peak.Bytes)
		require.Equal(t, new.peak(), d.Sides.New.Peak.Bytes)
		require.Equal(t, int64(new.base)-int64(old.base), base)
		require.Equal(t, base, int64(d.Captures[0].Chip.New.Base)-int64(d.Captures[0].Chip.Old.Base))

		switch {
		case base != 0:
			require.Equal(t, map[diff.State]int{diff.Moved: len(old.programs)}, dev.Counts)
			for _, p := range dev.Changes {
				for _, cb := range p.CBs {
					require.Equal(t, diff.Moved, cb.State)
					require.Equal(t, cb.Old.Start.V+128, cb.New.Start.V)
				}
			}
			return
		case want.State == diff.Same:
			require.True(t, d.Equal)
			require.Empty(t, dev.Changes)
			return
		}
		require.False(t, d.Equal)
		require.Len(t, dev.Changes, 1)
		got := dev.Changes[0]
		require.Equal(t, []any{want.State, want.Op, 1, want.Change()}, []any{got.State, got.Op, got.Times, got.Change()})
		count := map[diff.State]int{want.State: 1}
		if same := min(len(old.programs), len(new.programs)); want.CBs != nil {
			count[diff.Same] = same - 1
		} else {
			count[diff.Same] = same
		}
		if count[diff.Same] == 0 {
			delete(count, diff.Same)
		}
		require.Equal(t, count, dev.Counts)
		for i, cb := range got.CBs { // the one that grew, and those behind it
			require.Equal(t, want.CBs[0].New.Number+i, cb.New.Number)
			require.Equal(t, i == 0, cb.State == want.State)
			require.Equal(t, i > 0, cb.State == diff.Moved)
		}
	})
}

// What is compared with itself is equal, also as a saved report; the other way round, new is
// gone and grown is shrunk.
func TestMirror(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyPlan().Draw(t, "a"), anyPlan().Draw(t, "b")
		resultA, resultB := a.result(t, true), b.result(t, true)
		ra, rb := []*diff.Run{diff.Of(resultA)}, []*diff.Run{diff.Of(resultB)}
		require.True(t, diff.Compare(ra, ra, diff.Terms{}).Equal)
		saved := decode(t, a.result(t, false))
		require.True(t, diff.Compare(saved, ra, diff.Terms{}).Equal)
		require.True(t, diff.Compare(ra, saved, diff.Terms{}).Equal)
		there, back := diff.Compare(ra, rb, diff.Terms{}), diff.Compare(rb, ra, diff.Terms{})
		requireLaid(t, there, resultA, resultB)
		require.Equal(t, mirrored(there), flat(back))
		require.Equal(t, there.Equal, back.Equal)
	})
}

// requireLaid wants what differs at the peaks core by core.
func requireLaid(t require.TestingT, d *diff.Document, old, new *answer.Result) {
	held := func(r *answer.Result, id event.Opt[uint64]) map[string]uint64 {
		out := map[string]uint64{}
		for _, on := range r.L1 {
			if id.OK && on.ID == id && on.Peak != nil {
				for _, g := range on.Peak.Groups {
					for c := range g.Cores.All() {
						out[c.String()] = g.Bytes
					}
				}
			}
		}
		return out
	}
	for _, dev := range d.Devices {
		for _, id := range dev.IDs {
			was, is, want, got := held(old, id.Old), held(new, id.New), map[string][2]uint64{}, map[string][2]uint64{}
			if len(was) == 0 || len(is) == 0 {
				require.Empty(t, dev.Laid)
				continue
			}
			for x := range 8 {
				for y := range 8 {
					c := fmt.Sprintf("%d-%d", x, y)
					if was[c] != is[c] {
						want[c] = [2]uint64{was[c], is[c]}
					}
				}
			}
			for _, g := range dev.Laid {
				require.Equal(t, g.Count, g.Cores.Len())
				for c := range g.Cores.All() {
					require.NotContains(t, got, c.String())
					got[c.String()] = [2]uint64{g.Tracked.Old, g.Tracked.New}
				}
			}
			require.Equal(t, want, got)
		}
	}
}

func decode(t require.TestingT, r *answer.Result) []*diff.Run {
	var b bytes.Buffer
	require.NoError(t, render.Report(r, render.Options{}).JSON(&b))
	runs, err := diff.Decode(&b, "saved.json")
	require.NoError(t, err)
	return runs
}

// flat lists everything that a comparison says of devices, in an order of its own.
func flat(d *diff.Document) (out []string) {
	for _, dev := range d.Devices {
		for _, f := range dev.Figures {
			out = append(out, fmt.Sprint(f.Name, f.Old, f.New))
		}
		for _, p := range dev.Changes {
			for _, side := range []*diff.ProgramRow{p.Old, p.New} {
				if side != nil {
					side.Counter = 0 // of the first one, which depends on the order
				}
			}
			slices.SortFunc(p.CBs, func(a, b diff.CB) int { return strings.Compare(text(a), text(b)) })
			out = append(out, text(p))
		}
		for _, p := range dev.AtPeak {
			out = append(out, text(p))
		}
		for _, g := range dev.Groups {
			out = append(out, text(g))
		}
		for _, g := range dev.Laid {
			out = append(out, text(g))
		}
		out = append(out, text(dev.Counts), string(dev.State))
	}
	slices.Sort(out)
	return out
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func mirrored(d *diff.Document) []string {
	other := map[diff.State]diff.State{
		diff.Same: diff.Same, diff.Moved: diff.Moved, diff.Grown: diff.Shrunk, diff.Shrunk: diff.Grown,
		diff.New: diff.Gone, diff.Gone: diff.New,
	}
	for i := range d.Devices {
		dev := &d.Devices[i]
		dev.State = other[dev.State]
		counts := map[diff.State]int{}
		for state, n := range dev.Counts {
			counts[other[state]] = n
		}
		dev.Counts = counts
		for k := range dev.Figures {
			f := &dev.Figures[k]
			f.Old, f.New = f.New, f.Old
		}
		for k := range dev.Changes {
			p := &dev.Changes[k]
			p.State, p.Old, p.New = other[p.State], p.New, p.Old
			for c := range p.CBs {
				cb := &p.CBs[c]
				cb.State, cb.Old, cb.New = other[cb.State], cb.New, cb.Old
			}
		}
		for k := range dev.AtPeak {
			p := &dev.AtPeak[k]
			p.State, p.Old, p.New = other[p.State], p.New, p.Old
		}
		for k := range dev.Laid {
			g := &dev.Laid[k]
			g.Tracked.Old, g.Tracked.New = g.Tracked.New, g.Tracked.Old
		}
		for k := range dev.Groups {
			g := &dev.Groups[k]
			g.State = other[g.State]
			g.Registered.Old, g.Registered.New = g.Registered.New, g.Registered.Old
			g.AlivePeak.Old, g.AlivePeak.New = g.AlivePeak.New, g.AlivePeak.Old
			g.End.Old, g.End.New = g.End.New, g.End.Old
		}
	}
	return flat(d)
}

// Devices share a composition of their peaks only if it is the same one: a run that composes the peaks on
// demand compares like one that has composed them all.
func TestPeaksAreComposedOnce(t *testing.T) {
	log := func(size int) string {
		var b strings.Builder
		fmt.Fprintln(&b, `{"event":"log","version":1}`)
		fmt.Fprintln(&b, `{"event":"mesh","first":0,"rows":1,"cols":4,"spec":{"board":"n150"}}`)
		for i := range 3 {
			fmt.Fprintf(&b, `{"event":"program","program":%d,"name":"op%d","cbs":[{"cores":"{[0-0 - 1-1]}","size":2048},{"cores":"{[0-0 - 0-0]}","size":%d}]}`+"\n", i, i, size*i+32)
			fmt.Fprintf(&b, `{"event":"allocate","buffer":%d,"kind":"l1","parts":[{"address":%d,"size":32,"cores":"[0-0 - 1-1]"}],"devices":[%d]}`+"\n", i, 900000+i*size, i)
			fmt.Fprintf(&b, `{"event":"enqueue","program":%d,"devices":[%d,3]}`+"\n", i, i)
		}
		return b.String()
	}
	runs := func(size int, one bool) []*diff.Run {
		r, err := replay.Run("plan.jsonl", event.NewLog(strings.NewReader(log(size)), "plan.jsonl").Events(),
			replay.Options{Buffers: true, Groups: true, OnePeak: one})
		require.NoError(t, err)
		return []*diff.Run{diff.Of(r)}
	}
	want := diff.Compare(runs(64, false), runs(4096, false), diff.Terms{})
	have := diff.Compare(runs(64, true), runs(4096, true), diff.Terms{})
	require.Len(t, want.Devices, 4)
	require.NotEmpty(t, want.Devices[1].AtPeak)
	require.Equal(t, flat(want), flat(have))
}
