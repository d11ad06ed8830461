package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/guard/oracle"
	"github.com/cbl1/cbl1/tool/internal/guard/oracle/randomcapture"
)

// randomOptions fit a capture of randomcapture.Draw. A base that it states is not overridden, as devices may have several.
func randomOptions(data []byte) oracle.Options {
	opts := oracle.Options{Arch: "blackhole", Base: randomcapture.Base, Align: randomcapture.Align, L1Size: randomcapture.L1}
	if randomcapture.StatesBase(data) {
		opts.Base = 0
	}
	return opts
}

// answers returns the answers by which two readings of a capture are compared.
func answers(t *testing.T, data []byte, opts oracle.Options) (string, *oracle.L1Results) {
	t.Helper()
	m, err := oracle.L1(data, opts)
	require.NoError(t, err, "%s", data)
	text := fmt.Sprint(m.Answer(), m.Verdicts, m.Hidden, m.Inferred, m.FreeAgain)
	for _, id := range []string{"0", "1", "2", "3", "5", "100"} {
		if d := m.Devices[id]; d != nil {
			text += fmt.Sprint(id, d.TotalPeak, d.Total, d.Dispatched, d.Unknown)
		}
	}
	return text, m
}

// wanted lists the codes and verdicts that random captures must reach.
func wanted() []string {
	return []string{
		"no infer", "answer 0", "answer 1", "answer 3",
		"hidden not-shown", "hidden ambiguous", "hidden unsettled", "hidden cache-hit", "hidden buffer-unplaced", "hidden earlier",
		"hidden unattributed", "hidden apart", "hidden id-collision", "hidden specs-differ", "hidden buffers-overlap",
		"refused grid", "refused grow", "refused clash", "clash alone", "refusal alone", "two buffers named", "chips differ", "chips agree",
		"a buffer of a mesh named", "a buffer of a chip named",
		"on a mesh", "on the other mesh", "several candidates", "inferred does not fit",
	}
}

// TestRandomCapturesAreNotDull: --no-infer changes the answers to captures, and every possible
// answer occurs. It plays captures until each occurred a few times; in fuzzing they are as
// frequent.
func TestRandomCapturesAreNotDull(t *testing.T) {
	const most, enough = 600, 4
	seen := map[string]int{}
	random := rand.New(rand.NewPCG(8, 11))
	rare := func() []string {
		return slices.DeleteFunc(wanted(), func(what string) bool { return seen[what] >= enough })
	}
	captures := 0
	for ; captures < most && len(rare()) > 0; captures++ {
		data := randomcapture.Draw(random.IntN)
		all, m := answers(t, data, randomOptions(data))
		noInfer := randomOptions(data)
		noInfer.NoInfer = true
		if text, _ := answers(t, data, noInfer); text != all {
			seen["no infer"]++
		}
		seen[fmt.Sprint("answer ", m.Answer())]++
		for code := range m.Hidden {
			seen["hidden "+code]++
		}
		see(seen, m)
	}
	require.Empty(t, rare(), "too rare in %d captures: %v", captures, seen)
	t.Logf("%d captures: %v", captures, seen)
}

// see notes what the verdicts of a capture are like.
func see(seen map[string]int, m *oracle.L1Results) {
	note := func(what string, is bool) {
		if is {
			seen[what]++
		}
	}
	for i, v := range m.Verdicts {
		for _, r := range v.Refusals {
			seen["refused "+r.Kind]++
		}
		note("clash alone", len(v.Clash) > 0 && len(v.Refusals) == 0)
		note("refusal alone", len(v.Clash) == 0 && len(v.Refusals) > 0)
		note("two buffers named", len(v.Named) > 1)
		note("a buffer of a mesh named", slices.ContainsFunc(v.Named, func(h oracle.Obstacle) bool { return h.Owner != v.Device }))
		note("a buffer of a chip named", slices.ContainsFunc(v.Named, func(h oracle.Obstacle) bool { return h.Owner == v.Device }))
		note("on a mesh", v.Device == "100")
		note("on the other mesh", v.Device == "5")
		note("several candidates", v.Candidates > 1)
		note("inferred does not fit", v.Inferred && !v.Fits)
		if i > 0 && m.Verdicts[i-1].Op == v.Op && m.Verdicts[i-1].Device < v.Device {
			note("chips differ", v.Fits != m.Verdicts[i-1].Fits)
			note("chips agree", v.Fits == m.Verdicts[i-1].Fits)
		}
	}
}

// TestVerdictsAgreeWithThemselves: what holds of every verdict, whatever the capture.
func TestVerdictsAgreeWithThemselves(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	for range 200 {
		data := randomcapture.Draw(random.IntN)
		_, m := answers(t, data, randomOptions(data))
		require.Len(t, m.Verdicts, m.Runs)
		failed := 0
		for _, v := range m.Verdicts {
			require.Equal(t, len(v.Refusals)+len(v.Clash) == 0 && v.Doubt == "", v.Fits)
			if !v.Fits && !v.Untold {
				failed++
			}
			for _, r := range v.Refusals {
				require.True(t, r.Kind == "grid" || r.End > r.Limit, "%v", r)
				if r.Kind == "clash" {
					require.True(t, slices.ContainsFunc(v.Named, func(h oracle.Obstacle) bool { return h.Addr == r.Limit }), "%v", v)
				}
			}
		}
		require.Equal(t, m.Failed, failed)
		again, _ := answers(t, data, randomOptions(data))
		first, _ := answers(t, data, randomOptions(data))
		require.Equal(t, first, again)
	}
}
