package device

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/program"
)

// A program that is replaced again and again beside a trace that names it leaves nothing
// behind, and the trace finds the one that is registered now at once.
func TestReplacedBesideATrace(t *testing.T) {
	f, m, _ := fleetOf(t, 1, 2)
	layouts := []*program.Program{programOn(t, 1, "{[0-0 - 7-7]}", 0, 64), programOn(t, 1, "{[0-0 - 7-7]}", 0, 128)}
	mustRegister(t, f, layouts[0], m.Set())
	trace, err := f.BeginTrace(m.Set())
	require.NoError(t, err)
	require.NoError(t, f.Record(trace, 1))
	require.NoError(t, f.EndTrace(trace))
	replace := func(times int) {
		for i := range times {
			_, err := f.Replace(1, layouts[(i+1)%2])
			require.NoError(t, err)
		}
	}
	const times = 2000
	replace(10)
	before := testkit.Kept()
	replace(times)
	require.Less(t, testkit.Kept()-before, int64(50*times), "each that is kept takes hundreds of bytes")
	recorded := f.traces[trace].recorded[0]
	require.Same(t, f.programs[1], recorded.latest())
	require.Same(t, recorded.heirs, f.programs[1].heirs, "one step, however often it was replaced")
	require.NoError(t, f.Replay(trace))
	require.EqualValues(t, 64*64, f.at(0).left.Total(), "as it was recorded")
	require.NoError(t, f.CheckInvariants())

	f.UnregisterAll(1)
	require.ErrorIs(t, f.Replay(trace), ErrNotRegistered)
	mustRegister(t, f, layouts[0], m.Set())
	require.ErrorIs(t, f.Replay(trace), ErrNotRegistered, "that is another one")
}
