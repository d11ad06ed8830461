package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// TestReasons has each reason for "cannot tell", and the terms on which it counts, beside a program that takes bytes
// and beside one that takes none: n without a budget, b with one of a core, o with one of an operation.
func TestReasons(t *testing.T) {
	anomaly := func(a answer.AnomalyCount) func(*answer.Result) {
		return func(r *answer.Result) { r.Anomalies = append(r.Anomalies, a) }
	}
	ends := func(at uint64) func(*answer.Result) {
		return func(r *answer.Result) {
			r.Spec, r.Devices[0].HighestEnd = answer.Spec{Spec: l1.P150(), ArchFrom: event.FromAssumed}, at
		}
	}
	for _, c := range []struct {
		code          answer.Code
		set           func(*answer.Result)
		beside, alone string
	}{
		{"", func(*answer.Result) {}, "", ""},
		{answer.CodeEarlierUsed, func(r *answer.Result) { r.Earlier.L1 = 1 }, "nbo", "b"},
		{answer.CodeEarlierFreed, func(r *answer.Result) { r.Earlier.Freed = 1 }, "nbo", "b"},
		{answer.CodeBuffersApart, func(r *answer.Result) { r.Checks.Apart = []uint64{0} }, "nbo", "b"},
		{"", func(r *answer.Result) { r.Earlier.Other = 1 }, "", ""},
		{answer.CodeBufferUnsized, anomaly(answer.AnomalyCount{Code: answer.CodeBufferUnsized}), "b", "b"},
		{answer.CodePerCoreHidden, anomaly(answer.AnomalyCount{Code: answer.CodePerCoreHidden}), "b", "b"},
		{answer.CodePerCoreHidden, anomaly(answer.AnomalyCount{Code: answer.CodePerCoreHidden, Hidden: true}), "nbo", "nbo"},
		{answer.CodeBufferUnplaced, anomaly(answer.AnomalyCount{Code: answer.CodeBufferUnplaced}), "nbo", "nbo"},
		{answer.CodeEventRefused, anomaly(answer.AnomalyCount{Code: answer.CodeEventRefused, Count: 1}), "nbo", "nbo"},
		{"", anomaly(answer.AnomalyCount{Code: answer.CodeDuplicateKey}), "", ""},
		{answer.CodeL1Unknown, func(r *answer.Result) { r.Checks.Endless = 1 }, "nbo", "nbo"},
		{answer.CodeChipAssumed, ends(l1.N150().L1Size + 1), "nbo", "nbo"},
		{"", ends(l1.N150().L1Size), "", ""},
		{answer.CodeNothingRan, func(r *answer.Result) { r.Checks.Runs = 0 }, "nbo", "nbo"},
	} {
		require.Equal(t, c.beside, termsOf(t, "64@1024", c.code, c.set), "%s beside", c.code)
		require.Equal(t, c.alone, termsOf(t, "0@1024", c.code, c.set), "%s alone", c.code)
	}
}

// termsOf returns the terms on which a Result of one program cannot be judged: only for the reason given.
func termsOf(t *testing.T, size string, code answer.Code, set func(*answer.Result)) (on string) {
	t.Helper()
	budget, ops, err := answer.ParseBudgets("budgets", []byte("core = 4000\nop op1 = 4000"))
	require.NoError(t, err)
	for i, terms := range []answer.Terms{{}, {Budget: budget}, {Ops: ops}} {
		r, err := replay.Run("few", fewRuns(t, []string{"program 1 " + size, "run 1"}), replay.Options{})
		require.NoError(t, err)
		set(r)
		j := r.Judge(terms)
		if j.Answer == answer.Fits {
			require.Empty(t, j.Untold)
			continue
		}
		require.Equal(t, []answer.Code{code}, codesOf(j.Untold))
		on += "nbo"[i : i+1]
		terms.Accept = []answer.Code{code}
		j = r.Judge(terms)
		require.Equal(t, answer.Fits, j.Answer)
		require.Equal(t, []answer.Code{code}, codesOf(j.Accepted))
	}
	return on
}

func codesOf(reasons []answer.Reason) (codes []answer.Code) {
	for _, why := range reasons {
		codes = append(codes, why.Code)
	}
	return codes
}
