package replay_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A moment of a time line is what GroupsAt says of its node.
func TestMomentsMatchTheirNodes(t *testing.T) {
	moments := 0
	for _, folder := range []string{"../capture/testdata", "../../examples"} {
		inputs, err := capture.Inputs(folder)
		require.NoError(t, err)
		for _, in := range inputs {
			r, err := replay.Run(in.Path, in.Events(capture.Options{}), replay.Options{Timeline: true, Moments: 1 << 20})
			require.NoError(t, err)
			for _, line := range r.Timeline {
				step := 1 + len(line.Moments)/8
				for i := 0; i < len(line.Moments); i += step {
					one := line.Moments[i]
					at := event.Some(one.At)
					then, err := replay.Run(in.Path, in.Events(capture.Options{At: at}), replay.Options{GroupsAt: at})
					require.NoError(t, err)
					for _, on := range then.L1 {
						if on.ID == line.Device {
							require.Equal(t, on.Groups, one.Groups(), "%s: device %v after node %d", in.Path, line.Device, one.At)
							moments++
						}
					}
				}
			}
		}
	}
	require.Greater(t, moments, 100)
}

// Moments that name too much are thinned to every second one, every fourth one and so on, and the first one stays. A few
// hundred may name four times as much.
func TestMomentsAreBounded(t *testing.T) {
	in := capture.Input{Path: "../../examples/cached_ops.json"}
	run := func(most int) []shownMoment {
		r, err := replay.Run(in.Path, in.Events(capture.Options{}), replay.Options{Timeline: true, Moments: most})
		require.NoError(t, err)
		return shown(r.Timeline[0].Moments)
	}
	all := run(1 << 20)
	require.Greater(t, len(all), 200)
	require.Empty(t, run(0))
	require.Equal(t, all[:1], run(1)[:1])
	for _, most := range []int{1, 50, 500, 1500} {
		few := run(most)
		named := 0
		for _, one := range few {
			for _, g := range one.Groups {
				named += len(g.Residents)
			}
		}
		require.LessOrEqual(t, named, 4*most)
		require.GreaterOrEqual(t, named, most/2)
		step := 1
		for len(few) > 1 && all[step].At < few[1].At {
			step++
		}
		require.Zero(t, step&(step-1), "a power of two")
		for i, one := range few {
			require.Equal(t, all[step*i], one)
		}
	}
}

// A mesh has several hundred moments of each device, whatever lies there.
func TestMomentsOfFullDevices(t *testing.T) {
	log := logHead + `{"event":"mesh","first":0,"rows":1,"cols":2,"spec":{"board":"n150"}}` + "\n"
	for i := range 40 {
		log += fmt.Sprintf(`{"event":"allocate","buffer":%d,"kind":"l1","devices":[1],"parts":[{"address":%d,"size":64}]}`+"\n", i, 1_000_000+64*i)
	}
	for range 500 {
		log += `{"event":"allocate","buffer":99,"kind":"l1","parts":[{"cores":"0-0","address":800000,"size":64}]}
{"event":"free","buffer":99}
`
	}
	r := replayLog(t, log, replay.Options{Timeline: true, Moments: 1 << 14})
	require.Len(t, r.Timeline, 2)
	require.Len(t, r.Timeline[0].Moments, 1001)
	require.Len(t, r.Timeline[1].Moments, 261)
}

// Thinned moments are spread evenly over all.
func TestThinMoments(t *testing.T) {
	var all answer.Timeline
	for i := range 10 {
		all.Moments = append(all.Moments, answer.LaidMoment{At: uint64(i)})
	}
	for most, want := range map[int][]uint64{0: {}, 1: {0}, 3: {0, 3, 6}, 4: {0, 2, 5, 7}, 9: {0, 1, 2, 3, 4, 5, 6, 7, 8}, 10: {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}} {
		got := []uint64{}
		for _, m := range all.ThinMoments(most) {
			got = append(got, m.At)
		}
		require.Equal(t, want, got)
	}
	require.Nil(t, all.Moments[0].Groups(), "nothing is known of it")
}

// A shownMoment is a moment with what lay there, without its name.
type shownMoment struct {
	At     uint64
	T      json.Number
	Op     answer.Name
	Groups []answer.LaidGroup
}

func shown(moments []answer.LaidMoment) (out []shownMoment) {
	for _, m := range moments {
		out = append(out, shownMoment{m.At, m.T, m.Op, m.Groups()})
	}
	return out
}

// An unnamedResult is a Result with its moments apart. Their names mean nothing in another Result.
type unnamedResult struct {
	*answer.Result
	moments [][]shownMoment
}

func unnamed(r *answer.Result) unnamedResult {
	out := unnamedResult{Result: r}
	for i := range r.Timeline {
		out.moments = append(out.moments, shown(r.Timeline[i].Moments))
		r.Timeline[i].Moments = nil
	}
	return out
}
