package replay_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// logOps are the calls of random logs.
func logOps() []gen.Op {
	return []gen.Op{
		gen.AddDevice, gen.AddDevice, gen.AddMesh, gen.Remove, gen.Register, gen.Register, gen.Register, gen.Unregister, gen.UnregisterAll,
		gen.Replace, gen.ResetPeaks, gen.Dispatch, gen.Dispatch, gen.Evict, gen.BeginTrace, gen.Record, gen.Record, gen.EndTrace, gen.Replay,
		gen.ReleaseTrace, gen.SetHybrid, gen.Allocate, gen.Allocate, gen.Allocate, gen.Free, gen.Enqueue, gen.Enqueue, gen.Enqueue,
	}
}

// Whatever happens in a log, refused or not, on devices of one Spec or of several: report,
// check, peak and who say of it what the byte oracle says.
func TestLogAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moves := gen.History(60, logOps()...)
		if rapid.Bool().Draw(t, "several specs") {
			moves = gen.MixedHistory(60, logOps()...)
		}
		logAgrees(t, moves.Draw(t, "history"), naiveQuestion{
			address: rapid.Uint64Range(0, 255).Draw(t, "address"), at: rapid.Uint64Range(0, 90).Draw(t, "asked at"),
			late: rapid.Bool().Draw(t, "composed late"),
			room: answer.RoomQuestion{
				Cores: gen.CoreRangeSet(3, 3).Draw(t, "asked cores").Cores(), Size: rapid.SampledFrom([]uint64{0, 1, 16, 40, 100}).Draw(t, "asked size"),
				At:     event.Some(rapid.Uint64Range(0, 90).Draw(t, "room at")),
				Tensor: answer.Tensor{Bytes: 20 * rapid.SampledFrom([]uint64{0, 0, 1, 12, 25}).Draw(t, "asked tensor"), Page: 20},
			},
		}, rapid.Bool().Draw(t, "polite"), map[string]int{})
	})
}

// logAgrees holds what a replay says of a log against the byte oracle. A polite log has
// nothing that is refused.
func logAgrees(t require.TestingT, moves []gen.Move, asked naiveQuestion, polite bool, seen map[string]int) {
	n := newNaive(t, seen, asked, polite)
	giant := false
	for _, m := range moves {
		giant = giant || m.Buffer.Size > l1.MaxAddr/4
		n.play(m)
	}
	r, err := replay.Run("log", events(bytes.NewReader(n.log.Bytes()), "log"), replay.Options{
		Timeline: true, Groups: true, OnePeak: asked.late, GroupsAt: event.Some(asked.at), Ask: &answer.Question{Address: asked.address, At: event.Some(asked.at)},
		Room: &asked.room, Scarce: n.allFree(),
	})
	if err != nil { // sums over everything that was ever registered may be too large
		require.True(t, giant, "%v\n%s", err, n.log.String())
		require.ErrorContains(t, err, "2^63-1")
		return
	}
	c := comparison{t, n, r}
	c.figures()
	c.peaks()
	c.checks()
	c.answer()
	c.timeline()
	c.who()
	c.groups()
	c.rooms()
	c.freeMoments()
}

// A comparison holds the naive replay of a log, and its Result.
type comparison struct {
	t    require.TestingT
	want *naive
	got  *answer.Result
}

func (c comparison) equal(want, got any, what string) {
	require.Equal(c.t, want, got, "%s\n%s", what, c.want.log.String())
}

// figures compares the rows of report.
func (c comparison) figures() {
	want, got := map[uint64]naivePeaks{}, map[uint64]naivePeaks{}
	for id, row := range c.want.rows {
		want[id] = row.peaks
	}
	for i, d := range c.got.Devices {
		on := c.got.L1[i]
		c.equal(d.ID, on.ID, "device")
		c.equal(d.ResidentFinal, d.Registered, "alive at the end")
		p := naivePeaks{
			alive: d.ResidentPeak, core: d.CorePeak, logical: d.LogicalPeak, tracked: on.TotalPeak, l1: on.L1Peak, small: on.SmallPeak,
			dram: on.DRAMPeak, final: d.Registered, finalCore: d.RegisteredCoreFinal, reserved: d.RegisteredRangeGranular,
			loose: d.RegisteredLogical, dataflow: d.Dataflow.Registered, scratchpad: d.Scratchpad.Registered, finalTrack: on.TotalFinal,
			finalL1: on.L1Final, finalSmall: on.SmallFinal, finalDRAM: on.DRAMFinal,
			needs:   naiveNeeds{on.Needs.Lowest.Value, on.Needs.Small.Value, on.Needs.Trace.Value},
			buffers: int(on.BuffersPeak), finalBuffers: int(on.BuffersFinal), programs: int(d.Programs),
		}
		if on.Dispatched != nil {
			p.dispatched, p.finalDispatched = on.Dispatched.Peak, on.Dispatched.Final
		}
		if on.Peak != nil {
			p.onCore = on.Peak.Bytes
		}
		got[d.ID.V] = p
	}
	c.equal(want, got, "figures")
}

// peaks compares what the fullest core of each device held, and when.
func (c comparison) peaks() {
	for _, on := range c.got.L1 {
		var usable naiveUsable
		if u := on.Usable; u != nil {
			usable = naiveUsable{u.Bytes, u.Tracked, u.At, slices.Collect(u.Cores.All())}
			if u.Bytes < on.Peak.Bytes {
				c.want.seen["a peak below L1_SMALL"]++
			}
		}
		c.equal(c.want.rows[on.ID.V].usable, usable, fmt.Sprint("peak below L1_SMALL of device ", on.ID.V))
		want := c.want.rows[on.ID.V].peak
		if on.Peak == nil {
			c.equal(uint64(0), want.bytes, "peak")
			continue
		}
		on.Peak = on.Peak.Composed()
		got := naivePeak{bytes: on.Peak.Bytes, at: on.Peak.At, cores: slices.Collect(on.Peak.Cores.All()), kinds: map[string]uint64{}}
		c.equal(on.Peak.Core, want.cores[0], "core of the peak")
		for k, n := range on.Peak.Kinds {
			got.kinds[k.String()] = n
		}
		for _, r := range on.Peak.Residents {
			got.held = append(got.held, spellHeld(r))
		}
		slices.Sort(got.held)
		got.groups = c.spellGroups(on.Peak.Groups)
		c.equal(want, got, fmt.Sprint("peak of device ", on.ID.V))
	}
}

// groups compares the contents of every core after the line of the query.
func (c comparison) groups() {
	if c.want.node < c.want.asked.at {
		c.want.groups = c.want.allGroups()
	}
	for _, on := range c.got.L1 {
		want := c.want.groups[on.ID.V]
		if want == nil {
			want = naiveGroups{} // it came later
		}
		c.equal(want, c.spellGroups(on.LaidGroups()), fmt.Sprint("groups of device ", on.ID.V))
		if len(want) > 0 {
			c.want.seen["groups"]++
		}
	}
}

func (c comparison) spellGroups(groups []answer.LaidGroup) naiveGroups {
	out := naiveGroups{}
	for _, g := range groups {
		var held []string
		for _, r := range g.Residents {
			held = append(held, spellHeld(r))
		}
		slices.Sort(held)
		for core := range g.Cores.All() {
			require.Nil(c.t, out[core], "%v in two groups", core)
			out[core] = append(slices.Clone(held), fmt.Sprint(g.Bytes))
		}
	}
	return out
}

func spellHeld(r answer.L1Resident) string {
	of := "buffer"
	if r.Program != nil {
		of = string(r.Program.Op)
	}
	return fmt.Sprintf("%s %v %s", r.Kind, r.Range(), of)
}

// checks compares verdicts: how many runs fit, each distinct failure, and the least room.
func (c comparison) checks() {
	var failed int64
	reasons := map[string]bool{}
	verdicts := map[[2]uint64][]string{}
	slack := ^uint64(0)
	var tightest naiveLaunch
	for _, l := range c.want.launched {
		text := spellVerdict(l.verdict)
		if l.failed() {
			failed++
			reasons[text] = true
			key := [2]uint64{l.at, l.device}
			verdicts[key] = append(verdicts[key], text)
			continue
		}
		for _, room := range l.rooms {
			if room.Free < slack || room.Free == slack && l.at == tightest.at && l.device < tightest.device {
				slack, tightest = room.Free, l
			}
		}
	}
	have := c.got.Checks
	c.equal(int64(len(c.want.launched)), have.Runs, "runs")
	c.equal(failed, have.Failed, "failed")
	var times int64
	found := map[string]bool{}
	for _, f := range have.List {
		text := spellVerdict(verdictOf(f.Verdict))
		found[text] = true
		times += f.Times
		require.Contains(c.t, verdicts[[2]uint64{f.Enqueue, f.Device.V}], text, "%s", c.want.log.String())
	}
	if have.More == 0 {
		c.equal(failed, times, "times")
		c.equal(reasons, found, "failures")
	}
	if slack >= l1.MaxAddr/2 { // the size of L1 is not known
		require.Nil(c.t, have.Tightest, "%s", c.want.log.String())
		return
	}
	require.NotNil(c.t, have.Tightest, "%s", c.want.log.String())
	c.equal([3]uint64{slack, tightest.at, tightest.device},
		[3]uint64{have.Tightest.Headroom.Free, have.Tightest.Enqueue, have.Tightest.Device.V}, "tightest")
	first := true
	for core := range have.Tightest.Headroom.Cores.All() {
		require.True(c.t, slices.ContainsFunc(tightest.rooms, func(room model.Headroom) bool {
			h := have.Tightest.Headroom
			return room.Core == core && room.Free == h.Free && room.End == h.End && room.Gap == h.Gap
		}), "%v of %v: %s", have.Tightest.Headroom, tightest.rooms, c.want.log.String())
		first = false
	}
	require.False(c.t, first)
}

// verdictOf returns a verdict in the words of the oracle, core by core.
func verdictOf(v fit.Verdict) (out model.Verdict) {
	for _, r := range v.Refusals {
		out.Refusals = append(out.Refusals, model.Refusal{Text: r.Error()})
	}
	for _, clash := range v.Clashes {
		for core := range clash.Cores.All() {
			out.Clashes = append(out.Clashes, model.Clash{Core: core, End: clash.End, Limit: clash.Limit, Grows: clash.Grows, Bytes: clash.Bytes})
		}
	}
	return out
}

// spellVerdict says what a verdict refuses, on whichever devices.
func spellVerdict(v model.Verdict) string {
	out := ""
	for _, r := range v.Refusals {
		out += r.Text + "\n"
	}
	slices.SortFunc(v.Clashes, func(a, b model.Clash) int { return a.Core.Compare(b.Core) })
	for _, clash := range v.Clashes {
		out += fmt.Sprintln(clash.Core, clash.End, clash.Limit, clash.Grows, clash.Bytes)
	}
	return out
}

// answer compares whether everything fits, and the reasons for "cannot tell".
func (c comparison) answer() {
	n := c.want
	var odd int64
	for _, a := range c.got.Anomalies {
		switch a.Code {
		case answer.CodeEventRefused, answer.CodeFreeUnknown, answer.CodeOutsideGrid:
			odd += a.Count
		}
	}
	c.equal(int64(n.refused), odd, "refused")
	got := c.got.Judge(answer.Terms{}).Answer
	failed := n.overlap || slices.ContainsFunc(n.launched, naiveLaunch.failed)
	unknown := slices.ContainsFunc(n.launched, func(l naiveLaunch) bool { return l.spec.L1Size == 0 || len(l.verdict.Doubts) > 0 })
	hidden := unknown || n.beyond || !n.placedCB || len(n.launched) == 0 ||
		slices.ContainsFunc(c.got.Anomalies, func(a answer.AnomalyCount) bool { return a.Code == answer.CodeEventRefused })
	want := answer.Fits
	switch {
	case failed:
		want = answer.DoesNotFit
	case hidden:
		want = answer.CannotTell
	}
	c.equal(want, got, "answer")
	n.seen["answer: "+string(got)]++
	if got == answer.Fits {
		specs := map[l1.Spec]bool{}
		for _, l := range n.launched {
			specs[l.spec] = true
		}
		n.seen[fmt.Sprintf("fits on %d specs", len(specs))]++
	}
}

// timeline compares every sample with what the device held after its line.
func (c comparison) timeline() {
	for _, line := range c.got.Timeline {
		for _, s := range line.Samples {
			c.equal(c.want.samples[[2]uint64{s.At, line.Device.V}], naiveSample{s.Registered, s.Resident, s.Tracked, s.Core, s.Headroom}, fmt.Sprint("line ", s.At))
		}
	}
}

// who compares the holders of the byte of the query, on each core.
func (c comparison) who() {
	got := map[string][]string{}
	for _, h := range c.got.Held {
		for core := range h.Cores.All() {
			at := fmt.Sprintf("%d %v", h.Device.V, core)
			for _, r := range h.Resident {
				got[at] = append(got[at], "resident "+spellHeld(r))
			}
			for _, r := range h.Registered {
				got[at] = append(got[at], "registered "+spellHeld(r))
			}
			slices.Sort(got[at])
		}
	}
	want := c.want.held
	if c.want.node < c.want.asked.at {
		want = c.want.who(c.want.asked.address)
	}
	if want == nil { // before the first line
		want = map[string][]string{}
	}
	c.equal(want, got, "who")
}

// Logs of devices of two Specs reach each kind of verdict, each refusal and each answer:
// if they grow dull, TestLogAgreesWithModel passes for nothing. They are the same each
// time.
func TestLogsAreNotDull(t *testing.T) {
	const most = 620
	seen := map[string]int{}
	want := []string{
		"scarce", "scarce, and fragmented", "room lockstep", "room per_core", "room at a moment", "room at a moment before all programs", "room at a moment, also per core", "a peak below L1_SMALL", "groups", "programs and buffers on several specs", "a device that comes back as another", "who: held", "who: held on several specs",
		"fits", "clash alone", "refusal alone", "refusal: grow", "refusal: clash", "refusal: grid", "refusal: service-clash",
		"answer: fits", "answer: does_not_fit", "answer: cannot_tell", "fits on 2 specs",
		"allocate on several specs", "free on several specs", "set HYBRID on several specs",
		"register refused on several specs", "enqueue refused on several specs", "refused: undefined",
	}
	for _, op := range logOps() {
		want = append(want, string(op))
	}
	for _, class := range model.Errors() {
		// Counters have those of ranges. A log names programs by ids; it has no pointers that are nil. Its buffers
		// have addresses.
		never := []error{model.ErrRange, model.ErrNotHeld, model.ErrNoProgram, model.ErrNoSpace, model.ErrHidden}
		if !slices.Contains(never, class) {
			want = append(want, "refused: "+class.Error())
		}
	}
	missing := func() []string {
		return slices.DeleteFunc(slices.Clone(want), func(what string) bool { return seen[what] > 0 })
	}
	moves := gen.MixedHistory(60, logOps()...)
	logs := 0
	for ; logs < most && len(missing()) > 0; logs++ {
		asked := naiveQuestion{address: uint64(logs) % 96, at: uint64(logs) % 60, late: logs%4 < 2, room: answer.RoomQuestion{Size: 16, At: event.Some(uint64(logs) % 70)}}
		if logs%4 == 0 {
			asked.room.Cores = l1.Rect(0, 0, 1, 1).Cores()
		}
		logAgrees(t, moves.Example(logs), asked, logs%2 == 0, seen)
	}
	t.Logf("in %d logs: %v", logs, seen)
	require.Empty(t, missing(), "in %d logs", logs)
}
