package replay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/replay"
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
	var high replay.Sample
	least := uint64(1 << 62)
	for i, s := range samples {
		require.True(t, i == 0 || samples[i-1].At <= s.At)
		if s.Registered > high.Registered {
			high = s
		}
		least = min(least, s.Headroom.Or(least))
	}
	require.EqualValues(t, 65536, high.Registered)
	require.Equal(t, "3333", high.T)
	require.EqualValues(t, 65536, high.Resident)
	require.EqualValues(t, 1499136-103712-65536, least)
	require.EqualValues(t, 1+3*steps, samples[len(samples)-1].At)
	require.Empty(t, replayLog(t, log.String(), replay.Options{}).Timeline)
}

// A moment that is the extreme of one figure alone stays, whichever figure it is.
func TestTimelineThinKeepsEachExtreme(t *testing.T) {
	for name, extreme := range map[string]replay.Sample{
		"registered": {Registered: 6, Resident: 5, Tracked: 5, Core: 5, Headroom: event.Some[uint64](5)},
		"resident":   {Registered: 5, Resident: 6, Tracked: 5, Core: 5, Headroom: event.Some[uint64](5)},
		"tracked":    {Registered: 5, Resident: 5, Tracked: 6, Core: 5, Headroom: event.Some[uint64](5)},
		"core":       {Registered: 5, Resident: 5, Tracked: 5, Core: 6, Headroom: event.Some[uint64](5)},
		"headroom":   {Registered: 5, Resident: 5, Tracked: 5, Core: 5, Headroom: event.Some[uint64](4)},
	} {
		line := replay.Timeline{Samples: slices.Repeat([]replay.Sample{{Registered: 5, Resident: 5, Tracked: 5, Core: 5, Headroom: event.Some[uint64](5)}}, 300)}
		extreme.At = 137
		line.Samples[137] = extreme
		thin := line.Thin(16).Samples
		require.True(t, slices.ContainsFunc(thin, func(s replay.Sample) bool { return s.At == 137 }), name)
	}
}

// A thinner time line has samples of the whole one, its extremes and its last.
func TestTimelineThin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := replay.Timeline{}
		for i := range rapid.IntRange(0, 300).Draw(t, "samples") {
			n := rapid.Uint64Range(0, 9).Draw(t, "bytes")
			line.Samples = append(line.Samples, replay.Sample{At: uint64(i), Registered: n, Tracked: 9 - n, Core: rapid.Uint64Range(0, 9).Draw(t, "core"), Headroom: event.Opt[uint64]{V: n, OK: n > 4}})
		}
		most := rapid.IntRange(0, 64).Draw(t, "most")
		thin := line.Thin(most).Samples
		require.LessOrEqual(t, len(thin), max(most, 16))
		var whole, kept [3]uint64
		highest := func(in []replay.Sample, out *[3]uint64) {
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
