package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay"
)

// TestReasons has each reason for "cannot tell", and the terms on which it counts, beside a program that takes bytes
// and beside one that takes none: n without a budget, b with one of a core, o with one of an operation.
func TestReasons(t *testing.T) {
	anomaly := func(a replay.AnomalyCount) func(*replay.Result) {
		return func(r *replay.Result) { r.Anomalies = append(r.Anomalies, a) }
	}
	ends := func(at uint64) func(*replay.Result) {
		return func(r *replay.Result) {
			r.Spec, r.Devices[0].HighestEnd = replay.Spec{Spec: l1.P150(), ArchFrom: event.FromAssumed}, at
		}
	}
	for _, c := range []struct {
		code          replay.Code
		set           func(*replay.Result)
		beside, alone string
	}{
		{"", func(*replay.Result) {}, "", ""},
		{replay.CodeEarlierUsed, func(r *replay.Result) { r.Earlier.L1 = 1 }, "nbo", "b"},
		{replay.CodeEarlierFreed, func(r *replay.Result) { r.Earlier.Freed = 1 }, "nbo", "b"},
		{replay.CodeBuffersApart, func(r *replay.Result) { r.Checks.Apart = []uint64{0} }, "nbo", "b"},
		{"", func(r *replay.Result) { r.Earlier.Other = 1 }, "", ""},
		{replay.CodeBufferUnsized, anomaly(replay.AnomalyCount{Code: replay.CodeBufferUnsized}), "b", "b"},
		{replay.CodePerCoreHidden, anomaly(replay.AnomalyCount{Code: replay.CodePerCoreHidden}), "b", "b"},
		{replay.CodePerCoreHidden, anomaly(replay.AnomalyCount{Code: replay.CodePerCoreHidden, Hidden: true}), "nbo", "nbo"},
		{replay.CodeBufferUnplaced, anomaly(replay.AnomalyCount{Code: replay.CodeBufferUnplaced}), "nbo", "nbo"},
		{replay.CodeEventRefused, anomaly(replay.AnomalyCount{Code: replay.CodeEventRefused, Count: 1}), "nbo", "nbo"},
		{"", anomaly(replay.AnomalyCount{Code: replay.CodeDuplicateKey}), "", ""},
		{replay.CodeL1Unknown, func(r *replay.Result) { r.Checks.Endless = 1 }, "nbo", "nbo"},
		{replay.CodeChipAssumed, ends(l1.N150().L1Size + 1), "nbo", "nbo"},
		{"", ends(l1.N150().L1Size), "", ""},
		{replay.CodeNothingRan, func(r *replay.Result) { r.Checks.Runs = 0 }, "nbo", "nbo"},
	} {
		require.Equal(t, c.beside, termsOf(t, "64@1024", c.code, c.set), "%s beside", c.code)
		require.Equal(t, c.alone, termsOf(t, "0@1024", c.code, c.set), "%s alone", c.code)
	}
}

// termsOf returns the terms on which a Result of one program cannot be judged: only for the reason given.
func termsOf(t *testing.T, size string, code replay.Code, set func(*replay.Result)) (on string) {
	t.Helper()
	budget, ops, err := replay.ParseBudgets("budgets", []byte("core = 4000\nop op1 = 4000"))
	require.NoError(t, err)
	for i, terms := range []replay.Terms{{}, {Budget: budget}, {Ops: ops}} {
		r, err := replay.Run("few", fewRuns(t, []string{"program 1 " + size, "run 1"}), replay.Options{})
		require.NoError(t, err)
		set(r)
		j := r.Judge(terms)
		if j.Answer == replay.Fits {
			require.Empty(t, j.Untold)
			continue
		}
		require.Equal(t, []replay.Code{code}, codesOf(j.Untold))
		on += "nbo"[i : i+1]
		terms.Accept = []replay.Code{code}
		j = r.Judge(terms)
		require.Equal(t, replay.Fits, j.Answer)
		require.Equal(t, []replay.Code{code}, codesOf(j.Accepted))
	}
	return on
}

func codesOf(reasons []replay.Reason) (codes []replay.Code) {
	for _, why := range reasons {
		codes = append(codes, why.Code)
	}
	return codes
}
