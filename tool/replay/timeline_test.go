package replay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A time line is bounded however long the log, in the order of its events, and has the
// extremes of each figure.
func TestTimeline(t *testing.T) {
	var log strings.Builder
	log.WriteString(logHead + `{"event":"device","device":0,"spec":{"board":"n150"}}` + "\n")
	const steps = 5000
	for i := range steps {
		size := 1024 * (1 + i%7)
		if i == 3333 {
			size = 65536 // once
		}
		fmt.Fprintf(&log, `{"event":"program","program":%d,"cbs":[{"cores":"{[0-0 - 0-0]}","size":%d}]}`+"\n", i, size)
		fmt.Fprintf(&log, `{"event":"enqueue","program":%d,"t":%d}`+"\n", i, i)
		fmt.Fprintf(&log, `{"event":"unregister","program":%d}`+"\n", i)
	}
	r := replayLog(t, log.String(), replay.Options{Timeline: true})
	require.Len(t, r.Timeline, 1)
	samples := r.Timeline[0].Samples
	require.Less(t, len(samples), 1024)
	require.Greater(t, len(samples), 200)
	var high answer.Sample
	least := uint64(1 << 62)
	for i, s := range samples {
		require.True(t, i == 0 || samples[i-1].At <= s.At)
		if s.Registered > high.Registered {
			high = s
		}
		least = min(least, s.Headroom.Or(least))
	}
	require.EqualValues(t, 65536, high.Registered)
	require.EqualValues(t, "3333", high.T)
	require.EqualValues(t, 65536, high.Resident)
	require.EqualValues(t, 1499136-103712-65536, least)
	require.EqualValues(t, 1+3*steps, samples[len(samples)-1].At)
	require.Empty(t, replayLog(t, log.String(), replay.Options{}).Timeline)
}

// A moment that is the extreme of one figure alone stays, whichever figure it is.
func TestTimelineThinKeepsEachExtreme(t *testing.T) {
	for name, extreme := range map[string]answer.Sample{
		"registered": {Registered: 6, Resident: 5, Tracked: 5, Core: 5, Headroom: event.Some[uint64](5)},
		"resident":   {Registered: 5, Resident: 6, Tracked: 5, Core: 5, Headroom: event.Some[uint64](5)},
		"tracked":    {Registered: 5, Resident: 5, Tracked: 6, Core: 5, Headroom: event.Some[uint64](5)},
		"core":       {Registered: 5, Resident: 5, Tracked: 5, Core: 6, Headroom: event.Some[uint64](5)},
		"headroom":   {Registered: 5, Resident: 5, Tracked: 5, Core: 5, Headroom: event.Some[uint64](4)},
	} {
		line := answer.Timeline{Samples: slices.Repeat([]answer.Sample{{Registered: 5, Resident: 5, Tracked: 5, Core: 5, Headroom: event.Some[uint64](5)}}, 300)}
		extreme.At = 137
		line.Samples[137] = extreme
		thin := line.Thin(16).Samples
		require.True(t, slices.ContainsFunc(thin, func(s answer.Sample) bool { return s.At == 137 }), name)
	}
}

// Of samples that are equal the first of a stretch stays, and the last of all. A line that is
// short enough stays as it is, and so do its moments.
func TestTimelineThinKeepsTheFirstOfEquals(t *testing.T) {
	for _, c := range []struct {
		samples, most int
		want          []uint64
	}{
		{16, 16, []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
		{16, 0, []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
		{17, 16, []uint64{0, 2, 4, 6, 8, 10, 12, 14, 16}},
		{18, 17, []uint64{0, 2, 4, 6, 8, 10, 12, 14, 16, 17}},
		{18, 18, []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}},
	} {
		line := answer.Timeline{Device: event.Some[uint64](3), Moments: []answer.LaidMoment{{At: 5}}}
		for i := range c.samples {
			line.Samples = append(line.Samples, answer.Sample{At: uint64(i), Core: 7})
		}
		thin := line.Thin(c.most)
		var at []uint64
		for _, s := range thin.Samples {
			at = append(at, s.At)
		}
		require.Equal(t, c.want, at, "%d, %d", c.samples, c.most)
		require.Equal(t, line.Moments, thin.Moments)
		require.Equal(t, line.Device, thin.Device)
	}
}

// All samples stay while there are fewer than 1,024.
func TestTimelineStaysWhole(t *testing.T) {
	const come = `{"event":"allocate","buffer":1,"kind":"l1","parts":[{"cores":"0-0","address":1000000,"size":32}]}` + "\n"
	for steps, want := range map[int]int{1022: 1023, 1023: 257} {
		log := logHead + `{"event":"device","device":0,"spec":{"board":"n150"}}` + "\n" + strings.Repeat(come+`{"event":"free","buffer":1}`+"\n", 511)
		if steps > 1022 {
			log += come
		}
		require.Len(t, replayLog(t, log, replay.Options{Timeline: true}).Timeline[0].Samples, want, steps)
	}
}

// What each line leaves on each of two devices, with the time of the simulator.
func TestTimelineLineByLine(t *testing.T) {
	const spec = `"spec":{"arch":"wormhole","cols":2,"rows":1,"cb_indices":8,"cb_base":1024,"cb_align":16,"l1_align":16,"l1_size":4096}`
	r := replayLog(t, logHead+`{"event":"device","device":1,`+spec+`}
{"event":"device","device":2,`+spec+`}
{"event":"program","program":1,"cbs":[{"cores":"[0-0 - 1-0]","size":64}]}
{"event":"enqueue","program":1,"t":1.5}
{"event":"allocate","buffer":1,"kind":"l1","devices":[2],"parts":[{"cores":"0-0","address":2048,"size":32}],"t":2}
{"event":"unregister","program":1,"devices":[1],"t":2}
`, replay.Options{Timeline: true, Moments: 1 << 10})
	said := func(s answer.Sample) string {
		return fmt.Sprint(s.At, " ", s.T, " ", s.Registered, s.Resident, s.Tracked, s.Core, s.Headroom)
	}
	var lines []string
	for _, line := range r.Timeline {
		for _, s := range line.Samples {
			lines = append(lines, fmt.Sprint(line.Device.V, ": ", said(s)))
		}
		for _, m := range line.Moments {
			lines = append(lines, fmt.Sprint(line.Device.V, " moment: ", m.At, " ", m.T, " ", len(m.Groups())))
		}
	}
	require.Equal(t, []string{ // registered, resident and tracked on all cores, the fullest core, the headroom
		"1: 1  0 0 0 0 {0 false}", "1: 4 1.5 128 128 128 64 {3008 true}", "1: 6 2 0 128 128 64 {0 false}",
		"1 moment: 1  0", "1 moment: 4 1.5 1", "1 moment: 6 2 1",
		"2: 2  0 0 0 0 {0 false}", "2: 4 1.5 128 128 128 64 {3008 true}", "2: 5 2 128 128 160 96 {960 true}",
		"2 moment: 2  0", "2 moment: 4 1.5 1", "2 moment: 5 2 2",
	}, lines)
}

// A thinner time line has samples of the whole one, its extremes and its last.
func TestTimelineThin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := answer.Timeline{}
		for i := range rapid.IntRange(0, 300).Draw(t, "samples") {
			n := rapid.Uint64Range(0, 9).Draw(t, "bytes")
			line.Samples = append(line.Samples, answer.Sample{At: uint64(i), Registered: n, Tracked: 9 - n, Core: rapid.Uint64Range(0, 9).Draw(t, "core"), Headroom: event.Opt[uint64]{V: n, OK: n > 4}})
		}
		most := rapid.IntRange(0, 64).Draw(t, "most")
		thin := line.Thin(most).Samples
		require.LessOrEqual(t, len(thin), max(most, 16))
		var whole, kept [3]uint64
		highest := func(in []answer.Sample, out *[3]uint64) {
			for _, s := range in {
				*out = [3]uint64{max(out[0], s.Registered), max(out[1], s.Tracked), max(out[2], s.Core)}
			}
		}
		highest(line.Samples, &whole)
		highest(thin, &kept)
		require.Equal(t, whole, kept)
		at := -1
		for _, s := range thin {
			require.Greater(t, int(s.At), at)
			at = int(s.At)
			require.Equal(t, line.Samples[s.At].Registered, s.Registered)
		}
		require.Equal(t, len(line.Samples)-1, at)
	})
}
