package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/replay"
)

// A moment of a time line is what GroupsAt says of its node.
func TestMomentsAreThoseOfTheirNodes(t *testing.T) {
	moments := 0
	for _, folder := range []string{"../capture/testdata", "../examples"} {
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
							require.Equal(t, on.Groups, one.Groups, "%s: device %v after node %d", in.Path, line.Device, one.At)
							moments++
						}
					}
				}
			}
		}
	}
	require.Greater(t, moments, 100)
}

// Moments that say too much are thinned to every second one, every fourth one and so on, and
// the first one stays.
func TestMomentsAreBounded(t *testing.T) {
	in := capture.Input{Path: "../examples/cached_ops.json"}
	run := func(most int) replay.Timeline {
		r, err := replay.Run(in.Path, in.Events(capture.Options{}), replay.Options{Timeline: true, Moments: most})
		require.NoError(t, err)
		return r.Timeline[0]
	}
	all := run(1 << 20)
	require.Greater(t, len(all.Moments), 200)
	require.Empty(t, run(0).Moments)
	require.Equal(t, shown(all.Moments[:1]), shown(run(1).Moments))
	require.Equal(t, shown(all.Moments), shown(all.ThinMoments(1, len(all.Moments))), "few enough")
	require.Len(t, all.ThinMoments(1, len(all.Moments)-1), (len(all.Moments)+1)/2)
	for _, most := range []int{50, 500, 1500} {
		few := run(most)
		require.Equal(t, shown(few.Moments), shown(all.ThinMoments(most, 1)))
		named := 0
		step := 0
		for i, one := range few.Moments {
			for _, g := range one.Groups {
				named += len(g.Residents)
			}
			for step*i < len(all.Moments) && (i > 0 && step == 0 || all.Moments[step*i].At < one.At) {
				step++
			}
			require.Equal(t, shown(all.Moments[step*i:][:1]), shown([]replay.LaidMoment{one}))
		}
		require.LessOrEqual(t, named, most)
		require.Greater(t, named, most/4)
		require.Zero(t, step&(step-1), "a power of two")
	}
}

// unnamed takes the names of moments out of a Result, which mean nothing in another one.
func unnamed(r *replay.Result) *replay.Result {
	for i := range r.Timeline {
		r.Timeline[i].Moments = shown(r.Timeline[i].Moments)
	}
	return r
}

// shown returns moments without their names.
func shown(moments []replay.LaidMoment) (out []replay.LaidMoment) {
	for _, m := range moments {
		out = append(out, replay.LaidMoment{At: m.At, T: m.T, Op: m.Op, Groups: m.Groups})
	}
	return out
}
