package replay_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// checksHead is a log with two devices and a program that ends at 203,712 on core 0-0.
const checksHead = logHead + `{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"device","device":1,"spec":{"board":"n150"}}
{"event":"program","program":1,"cbs":[{"cores":"{[0-0 - 0-0]}","size":100000}]}
`

// What lives on a device belongs to the answer: of devices on which one program is
// enqueued each is judged beside its own buffers.
func TestChecksAreBesideTheirOwn(t *testing.T) {
	for _, in := range []string{"0", "1"} {
		r := replayLog(t, checksHead+`{"event":"allocate","buffer":1,"kind":"l1","devices":[`+in+`],"size":1024,"parts":[{"cores":"{[0-0 - 0-0]}","address":200000,"size":1024}]}
{"event":"enqueue","program":1}
`, replay.Options{})
		require.EqualValues(t, 2, r.Checks.Runs)
		require.EqualValues(t, 1, r.Checks.Failed)
		require.Len(t, r.Checks.List, 1)
		failed := r.Checks.List[0]
		require.Equal(t, map[string]uint64{"0": 0, "1": 1}[in], failed.Device.V)
		require.Equal(t, 1, failed.Devices)
	}
}

// Devices with equal buffers are judged together. The buffers that the verdict names are
// those of the device that it names, whose ids may be others elsewhere.
func TestChecksNameTheirOwn(t *testing.T) {
	const place = `"kind":"l1","size":1024,"parts":[{"cores":"{[0-0 - 0-0]}","address":200000,"size":1024}]}` + "\n"
	r := replayLog(t, checksHead+
		`{"event":"allocate","buffer":1,"name":"mine","devices":[0],`+place+
		`{"event":"allocate","buffer":2,"name":"theirs","devices":[1],`+place+
		`{"event":"enqueue","program":1}`+"\n", replay.Options{})
	require.Len(t, r.Checks.List, 1)
	failed := r.Checks.List[0]
	require.Equal(t, event.Some[uint64](0), failed.Device)
	require.Equal(t, 2, failed.Devices)
	require.Contains(t, failed.Verdict.Advice(), `L1 buffer 1 ("mine")`)
	require.Len(t, failed.Buffers, 1)
	require.EqualValues(t, "mine", failed.Buffers[1].Op)
}

// A program that ends in L1_SMALL is noted, though tt-metal compares it with all of L1. One that ends where
// L1_SMALL begins is not.
func TestProgramsThatEndInSmallAreNoted(t *testing.T) {
	for size, notes := range map[uint64]int64{1_362_656: 0, 1_362_688: 1} { // from 103,712; L1_SMALL begins at 1,466,368
		r := replayLog(t, logHead+`{"event":"device","device":0,"spec":{"board":"n150","l1_small":32768}}
{"event":"program","program":1,"cbs":[{"cores":"{[0-0 - 0-0]}","size":`+fmt.Sprint(size)+`}]}
{"event":"enqueue","program":1}
`, replay.Options{})
		require.EqualValues(t, 1, r.Checks.Runs)
		require.Zero(t, r.Checks.Failed)
		require.Equal(t, notes, r.Count(answer.CodeSmallReached), "%d bytes", size)
	}
}

// What was found once is the answer again where all that it depends on is as it was: not
// where a buffer of another kind lies in the same place, nor in another mode.
func TestChecksAreRememberedAsFound(t *testing.T) {
	lies := func(members string) string {
		return `{"event":"allocate","buffer":1,` + members + `,"size":1024,"parts":[{"cores":"{[5-5 - 5-5]}","address":200000,"size":1024}]}` + "\n"
	}
	const l1, small, perCore = `"kind":"l1"`, `"kind":"l1_small"`, `"kind":"l1","mode":"per_core"`
	const enqueue, free = `{"event":"enqueue","program":1,"devices":[0]}` + "\n", `{"event":"free","buffer":1}` + "\n"
	for _, log := range []string{
		lies(small) + enqueue + free + lies(l1) + enqueue,
		lies(l1) + enqueue + free + lies(small) + enqueue,
		lies(l1) + enqueue + free + lies(perCore) + enqueue,
		lies(perCore) + enqueue + free + lies(l1) + enqueue,
		lies(perCore) + enqueue + free + lies(perCore+`,"hidden":"0-0"`) + enqueue + free + lies(l1) + enqueue,
	} {
		r := replayLog(t, checksHead+log, replay.Options{})
		require.EqualValues(t, strings.Count(log, enqueue), r.Checks.Runs, log)
		require.EqualValues(t, 1, r.Checks.Failed, log)
	}
}

// Each program of a trace is judged when it is replayed.
func TestChecksOfAWholeTrace(t *testing.T) {
	const small = `{"event":"program","program":2,"cbs":[{"cores":"{[0-0 - 0-0]}","size":1024}]}` + "\n"
	const begin = `{"event":"enqueue","program":1,"devices":[0]}
{"event":"enqueue","program":2,"devices":[0]}
{"event":"trace_begin","trace":7,"devices":[0]}
`
	const end = `{"event":"trace_end","trace":7}
{"event":"allocate","buffer":1,"kind":"l1","size":1024,"parts":[{"cores":"{[0-0 - 0-0]}","address":200000,"size":1024}]}
{"event":"replay","trace":7}
`
	first, second := `{"event":"record","trace":7,"program":1}`+"\n", `{"event":"record","trace":7,"program":2}`+"\n"
	for _, recorded := range []string{first + second, second + first, second + first + second} {
		r := replayLog(t, checksHead+small+begin+recorded+end, replay.Options{})
		require.EqualValues(t, 4, r.Checks.Runs)
		require.EqualValues(t, 1, r.Checks.Failed)
	}
}

// The tightest run is the one with the least room, whichever Spec its device has and in
// whichever order they come. A Blackhole core has 1,572,864 bytes, a Wormhole core
// 1,499,136.
func TestTightestOfSeveralSpecs(t *testing.T) {
	const head = logHead + `{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"device","device":1,"spec":{"board":"p150"}}
{"event":"program","program":1,"cbs":[{"cores":"{[0-0 - 0-0]}","size":100000}]}
{"event":"program","program":2,"cbs":[{"cores":"{[0-0 - 0-0]}","size":500000}]}
`
	for _, c := range []struct {
		first, second string
		device        uint64
	}{
		{`{"event":"enqueue","program":1,"devices":[0]}`, `{"event":"enqueue","program":2,"devices":[1]}`, 1},
		{`{"event":"enqueue","program":2,"devices":[1]}`, `{"event":"enqueue","program":1,"devices":[0]}`, 1},
		{`{"event":"enqueue","program":2,"devices":[0]}`, `{"event":"enqueue","program":1,"devices":[1]}`, 0},
		{`{"event":"enqueue","program":1,"devices":[1]}`, `{"event":"enqueue","program":2,"devices":[0]}`, 0},
	} {
		r := replayLog(t, head+c.first+"\n"+c.second+"\n", replay.Options{})
		require.Equal(t, event.Some(c.device), r.Checks.Tightest.Device)
		require.EqualValues(t, map[uint64]uint64{0: 1499136 - 103712 - 500000, 1: 1572864 - 111616 - 500000}[c.device], r.Checks.Tightest.Headroom.Free)
	}
}

// The high-water marks of what lives in memory are those of any moment, not of the end.
func TestBuffersThatCameAndWent(t *testing.T) {
	r := replayLog(t, checksHead+`{"event":"allocate","buffer":1,"kind":"l1_small","size":4096,"devices":[0]}
{"event":"allocate","buffer":2,"kind":"l1_small","size":1024,"devices":[0]}
{"event":"free","buffer":1,"devices":[0]}
`, replay.Options{})
	require.Equal(t, [2]uint64{5120, 1024}, [2]uint64{r.L1[0].SmallPeak, r.L1[0].SmallFinal})
	require.Equal(t, [2]uint64{2, 1}, [2]uint64{r.L1[0].BuffersPeak, r.L1[0].BuffersFinal})
}

// High-water marks that are reset start at what is there, which may be freed next.
func TestBuffersThatGoAfterAReset(t *testing.T) {
	r := replayLog(t, checksHead+`{"event":"allocate","buffer":1,"kind":"l1_small","size":4096,"devices":[0]}
{"event":"reset_peaks"}
{"event":"free","buffer":1,"devices":[0]}
`, replay.Options{})
	require.Equal(t, [2]uint64{4096, 0}, [2]uint64{r.L1[0].SmallPeak, r.L1[0].SmallFinal})
	require.Equal(t, [2]uint64{1, 0}, [2]uint64{r.L1[0].BuffersPeak, r.L1[0].BuffersFinal})
}

// A program that is enqueued on devices of several Specs is refused as such, also where it
// has a core outside the grid of one of them: nobody has placed it for the others.
func TestEnqueueOnSeveralSpecsIsNotJudged(t *testing.T) {
	for _, order := range []string{
		`{"event":"device","device":0,"spec":{"board":"n150"}}` + "\n" + `{"event":"device","device":1,"spec":{"board":"p150"}}` + "\n",
		`{"event":"device","device":1,"spec":{"board":"p150"}}` + "\n" + `{"event":"device","device":0,"spec":{"board":"n150"}}` + "\n",
	} {
		r := replayLog(t, logHead+order+`{"event":"program","program":1,"cbs":[{"cores":"{[8-0 - 8-0]}","size":100000}]}
{"event":"enqueue","program":1}
`, replay.Options{})
		require.Zero(t, r.Checks.Runs)
		require.Equal(t, []answer.Code{answer.CodeEventRefused, answer.CodeNoCBs}, r.Undecided())
	}
}

// A program that ran where the size of L1 is not known may have been beyond it, whatever
// the first device of the log is.
func TestSizeOfL1IsThatOfTheDevice(t *testing.T) {
	const known, unknown = `{"event":"device","device":0,"spec":{"board":"n150"}}` + "\n",
		`{"event":"device","device":1,"spec":{"board":"n150","l1_size":0}}` + "\n"
	for _, devices := range []string{known + unknown, unknown + known} {
		for on, want := range []answer.Answer{answer.Fits, answer.CannotTell} {
			r := replayLog(t, logHead+devices+fmt.Sprintf(`{"event":"program","program":1,"cbs":[{"cores":"{[0-0 - 0-0]}","size":4096}]}
{"event":"enqueue","program":1,"devices":[%d]}
`, on), replay.Options{})
			j := r.Judge(answer.Terms{})
			require.Equal(t, want, j.Answer, "device %d of\n%s", on, devices)
			if want == answer.CannotTell {
				require.Equal(t, []answer.Code{answer.CodeL1Unknown}, codesOf(j.Untold))
			}
		}
	}
}

// TestTightestIsFound gives runs beside buffers that come and go, and holds the tightest
// against what each run alone has: a run with more room than the tightest so far is not
// compared further.
func TestTightestIsFound(t *testing.T) {
	const head = `{"event":"log","version":1}
{"event":"mesh","first":0,"rows":1,"cols":1,"spec":{"name":"x","cols":4,"rows":4,"l1_size":100000,"cb_base":1000,"cb_align":32,"l1_align":16,"l1_small":0,"cb_indices":32}}
`
	random := rand.New(rand.NewPCG(9, 9))
	for range 20 {
		var text strings.Builder
		text.WriteString(head)
		least := uint64(math.MaxUint64)
		live := map[int]uint64{} // start of each, which ends at the next multiple of 10,000
		for step := range 40 {
			slot := 3 + random.IntN(7)
			if _, ok := live[slot]; ok {
				fmt.Fprintf(&text, `{"event":"free","buffer":%d}`+"\n", slot)
				delete(live, slot)
			} else {
				size := uint64(16 * (1 + random.IntN(600)))
				live[slot] = uint64(slot)*10_000 + 10_000 - size
				fmt.Fprintf(&text, `{"event":"allocate","buffer":%d,"kind":"l1","size":%d,"parts":[{"address":%d,"size":%d}]}`+"\n", slot, size*16, live[slot], size)
			}
			size := uint64(32 * (1 + random.IntN(700)))
			fmt.Fprintf(&text, `{"event":"program","program":%d,"cbs":[{"cores":"{[0-0 - 1-1]}","size":%d}]}`+"\n", step, size)
			fmt.Fprintf(&text, `{"event":"enqueue","program":%d}`+"\n", step)
			above := uint64(100_000)
			for _, start := range live {
				above = min(above, start)
			}
			end := 1024 + size // 1,000 rounded up
			if end <= above {
				least = min(least, above-end)
			}
		}
		r, err := replay.Run("log", event.NewLog(strings.NewReader(text.String()), "log").Events(), replay.Options{})
		require.NoError(t, err)
		require.NotNil(t, r.Checks.Tightest)
		require.EqualValues(t, least, r.Checks.Tightest.Headroom.Free)
	}
}

// A share of L1 is as many bytes on all devices, or the answer is "cannot tell":
// 90 % of a Blackhole core are more than is usable of a Wormhole core.
func TestBudgetOfSeveralSpecs(t *testing.T) {
	const first = `{"event":"device","device":0,"spec":{"board":"p150"}}` + "\n"
	share, err := answer.ParseBudget("90%")
	require.NoError(t, err)
	bytes, err := answer.ParseBudget("1300000")
	require.NoError(t, err)
	for second, want := range map[string]answer.Answer{
		`{"event":"device","device":1,"spec":{"board":"p150"}}`:                               answer.Fits,
		`{"event":"device","device":1,"spec":{"board":"n150"}}`:                               answer.CannotTell,
		`{"event":"device","device":1,"spec":{"board":"p150","l1_small":32768}}`:              answer.CannotTell,
		`{"event":"device","device":1,"spec":{"board":"p150","l1_size":0}}`:                   answer.CannotTell,
		`{"event":"remove"}` + "\n" + `{"event":"device","device":0,"spec":{"board":"n150"}}`: answer.CannotTell,
	} {
		r := replayLog(t, logHead+first+second+`
{"event":"program","program":1,"cbs":[{"cores":"{[0-0 - 0-0]}","size":4096}]}
{"event":"enqueue","program":1,"devices":[0]}
`, replay.Options{})
		j := r.Judge(answer.Terms{Budget: &share})
		require.Equal(t, want, j.Answer, second)
		require.Equal(t, want == answer.Fits, j.Limit.OK, second)
		if want == answer.CannotTell {
			require.Equal(t, []answer.Code{answer.CodeBudgetUnknown}, codesOf(j.Untold), second)
		}
		require.Equal(t, answer.Fits, r.Judge(answer.Terms{Budget: &bytes}).Answer, second)
	}
}

// The second program may fit or not: the fleet refuses it, so no figure counts its bytes. A
// budget is then not known to be kept, also by somebody who accepts the doubt.
func TestBudgetOfProgramInDoubt(t *testing.T) {
	budget, err := answer.ParseBudget("100KiB")
	require.NoError(t, err)
	for code, buffer := range map[answer.Code]string{
		answer.CodeRangeLockstep: `"mode":"range_lockstep","parts":[{"cores":"[5-5 - 5-5]","address":300000,"size":1024}]`,
		answer.CodePerCoreHidden: `"mode":"per_core","hidden":"[0-0 - 0-0]","parts":[{"cores":"[5-5 - 5-5]","address":1400000,"size":1024}]`,
	} {
		r := replayLog(t, logHead+`{"event":"device","device":0,"spec":{"board":"p150"}}
{"event":"allocate","buffer":1,"kind":"l1",`+buffer+`}
{"event":"program","program":1,"cbs":[{"cores":"[1-0 - 1-0]","size":4096}]}
{"event":"program","program":2,"cbs":[{"cores":"[0-0 - 0-0]","size":500000}]}
{"event":"enqueue","program":1}
{"event":"enqueue","program":2}
`, replay.Options{})
		for _, terms := range []answer.Terms{
			{Budget: &budget, Accept: []answer.Code{code}},
			{Ops: []answer.OpBudget{{Op: "*", Budget: budget}}, Accept: []answer.Code{code}},
		} {
			j := r.Judge(terms)
			require.Equal(t, answer.CannotTell, j.Answer, code)
			require.Equal(t, []answer.Code{answer.CodeEventRefused}, codesOf(j.Untold), code)
			require.Contains(t, codesOf(j.Accepted), code)
		}
		// Without a budget the doubt is the one reason.
		require.Equal(t, []answer.Code{code}, codesOf(r.Judge(answer.Terms{}).Untold), code)
		require.Equal(t, answer.Fits, r.Judge(answer.Terms{Accept: []answer.Code{code}}).Answer, code)
	}
}

// A failure that comes again beside other buffers is the same one, and counts once for each device.
func TestSameFailureBesideOthers(t *testing.T) {
	r := replayLog(t, `{"event":"log","version":1}
{"event":"mesh","first":0,"rows":1,"cols":3,"spec":{"board":"n150"}}
{"event":"allocate","buffer":1,"kind":"l1","parts":[{"cores":"0-0","address":110000,"size":64}]}
{"event":"program","program":1,"name":"large","cbs":[{"cores":"0-0","size":65536}]}
{"event":"enqueue","program":1}
{"event":"allocate","buffer":2,"kind":"l1","parts":[{"cores":"1-1","address":900000,"size":64}]}
{"event":"enqueue","program":1,"devices":[0,2]}
`, replay.Options{})
	require.Len(t, r.Checks.List, 1)
	require.EqualValues(t, 3, r.Checks.List[0].Devices)
	require.EqualValues(t, 5, r.Checks.List[0].Times)
	require.EqualValues(t, 5, r.Checks.Failed)
}
