package capture

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/guard/oracle"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Two programs of one workload with a buffer between them: when the buffer comes, the nodes so far may be both. Those
// behind it show that they are one program, and the third reading knows it.
func TestWorkloadSettledLate(t *testing.T) {
	s := &script{}
	s.member(2, 0)
	s.free(2)
	s.free(2)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 1_600_000)
	s.interleaved(0, 1_500_000, 1024)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 1_600_000)
	s.free(2)
	got := s.replay(t, Options{})
	require.Equal(t, int64(2), got.Checks.Runs)
	require.Equal(t, int64(2), got.Checks.Failed, "one after the other, neither fits")
	require.NotContains(t, got.Undecided(), answer.CodeUnsettled)
	require.Equal(t, int64(2), got.Devices[0].Programs)
}

// As before, and the chips of the mesh show last.
func TestWorkloadSettledOfLateMesh(t *testing.T) {
	s := &script{}
	s.cb(0, "{[0-0 - 0-0]}", 111616, 64)
	s.free(2)
	s.free(2)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 1_600_000)
	s.interleaved(0, 1_500_000, 1024)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 1_600_000)
	s.free(2)
	s.member(2, 0)
	got := s.replay(t, Options{})
	require.Equal(t, int64(3), got.Checks.Runs)
	require.Equal(t, int64(2), got.Checks.Failed)
	require.NotContains(t, got.Undecided(), answer.CodeUnsettled)
}

// The second program shows only as long as nobody knows that other frees came between.
func TestWorkloadNotSettled(t *testing.T) {
	s := &script{}
	s.member(2, 0)
	s.free(2)
	s.free(2)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 1_600_000)
	s.interleaved(0, 1_500_000, 1024)
	s.free(3)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 1_600_000)
	s.member(3, 0)
	got := s.replay(t, Options{})
	require.Equal(t, int64(1), got.Checks.Failed, "the first may be two programs")
	require.Contains(t, got.Undecided(), answer.CodeUnsettled)
}

// Three programs: each is distinct from the next, and the k-th execution is of the k-th;
// what comes after them is of the last one. A hit runs all of them again.
func TestWorkloadOfThree(t *testing.T) {
	s := &script{}
	s.member(2, 0)
	execute := func() { s.add("program_execution", params{"device_id": 2, "physical_device_id": 0}) }
	s.op("f", false, func() {
		for range 3 {
			s.free(2)
		}
		for _, size := range []int{4096, 2048, 1024} {
			s.cb(0, "{[0-0 - 0-0]}", 111616, size)
		}
		for range 4 {
			execute()
		}
	})
	s.op("f", true, func() {
		for range 3 {
			s.free(2)
		}
		execute()
	})
	got := s.replay(t, Options{})
	require.Equal(t, int64(6), got.Checks.Runs)
	require.Equal(t, int64(3), got.Checks.Inferred)
	require.Equal(t, int64(3), got.Devices[0].Programs)
	require.Equal(t, uint64(4096), got.Devices[0].LogicalPeak)
	d := got.L1[0].Dispatched
	require.Equal(t, answer.Residue{Peak: 4096, Final: 4096, CorePeak: 4096, Executions: 5}, *d)
	require.Empty(t, got.Undecided())
}

// An operation ran one program, then two, of which the second does not fit any more: a hit
// may be of either.
func TestHitOfShorterWorkload(t *testing.T) {
	s := &script{}
	s.member(2, 0)
	s.op("f", false, func() {
		s.free(2)
		s.cb(0, "{[0-0 - 0-0]}", 111616, 4096)
	})
	s.op("f", false, func() {
		s.free(2)
		s.free(2)
		s.cb(0, "{[0-0 - 0-0]}", 111616, 4096)
		s.cb(0, "{[0-0 - 0-0]}", 111616, 500_000)
	})
	s.interleaved(0, 300_000, 1024)
	s.op("f", true, func() { s.free(2) })
	got := s.replay(t, Options{})
	require.Equal(t, int64(2), got.Checks.Inferred)
	require.Zero(t, got.Checks.Failed)
	require.Contains(t, got.Undecided(), answer.CodeAmbiguous)
}

// A workload that goes on is no earlier one, though two of its programs have events already: a
// free of an unknown id behind its third is no hit of the two.
func TestNoHitOfOpenWorkload(t *testing.T) {
	s := &script{}
	s.member(2, 0)
	s.op("f", nil, func() {
		for range 3 {
			s.free(2)
		}
		s.cb(0, "{[0-0 - 0-0]}", 111616, 4096)
		s.cb(0, "{[0-0 - 0-0]}", 111616, 2048)
		s.interleaved(0, 1_400_000, 1024)
		s.cb(0, "{[0-0 - 0-0]}", 111616, 1024)
		s.free(9)
	})
	got := s.replay(t, Options{})
	require.Equal(t, int64(3), got.Checks.Runs)
	require.Zero(t, got.Checks.Inferred)
	require.Contains(t, got.Undecided(), answer.CodeNotShown)
}

// TestHitBesideAnotherProgram: f ran a program, a free of the chip ended it, and another program began. f finds its own program
// in the cache, and the other one is none of its workload.
func TestHitBesideAnotherProgram(t *testing.T) {
	s := &script{}
	s.member(2, 0)
	s.member(2, 1)
	s.op("f", nil, func() {
		s.free(2)
		s.cb(0, "{[0-0 - 0-0]}", 111616, 2048)
	})
	s.interleaved(0, 1_400_000, 1024)
	s.free(0)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 4096)
	s.op("f", true, func() {})
	want, err := oracle.L1([]byte(s.text(t)), oracle.Options{})
	require.NoError(t, err)
	got := s.replay(t, Options{})
	require.Equal(t, [2]int{3, 1}, [2]int{want.Runs, want.Inferred})
	require.Equal(t, [2]int64{3, 1}, [2]int64{got.Checks.Runs, got.Checks.Inferred})
	require.Empty(t, got.Undecided())
}

// TestHitWithinAWorkload: two frees announce two programs. The second one is open when a free of another device announces one
// more, which no earlier call of f has shown.
func TestHitWithinAWorkload(t *testing.T) {
	s := &script{}
	s.add("function_start", params{"name": "f"})
	s.globalCB(1, "{[1-0 - 1-0]}", 111616, 64)
	s.free(1)
	s.free(1)
	s.globalCB(1, "{}", 111616, 64)
	s.cb(1, "{[1-0 - 1-0]}", 111616, 64)
	s.globalCB(1, "{}", 111616, 64)
	s.free(0)
	want, err := oracle.L1([]byte(s.text(t)), oracle.Options{})
	require.NoError(t, err)
	got := s.replay(t, Options{})
	require.Equal(t, [2]int{3, 0}, [2]int{want.Runs, want.Inferred})
	require.Equal(t, [2]int64{3, 0}, [2]int64{got.Checks.Runs, got.Checks.Inferred})
	require.Equal(t, [2]uint64{64, 64}, [2]uint64{want.Devices["1"].TotalPeak, want.Devices["1"].Total})
	require.Equal(t, [2]uint64{64, 64}, [2]uint64{got.L1[0].TotalPeak, got.L1[0].TotalFinal})
}

// TestHitBesideARunOfAnUnknownMesh: a free of a mesh announced the run that goes on when a free shows a hit, so the run is no
// program of the cache. The tensor behind shows that the mesh has the chip.
func TestHitBesideARunOfAnUnknownMesh(t *testing.T) {
	s := &script{}
	s.op("f", nil, func() {
		s.free(1)
		s.globalCB(2, "{}", 111616, 64)
	})
	s.add("function_start", params{"name": "f"})
	s.globalCB(2, "{}", 111616, 64)
	s.free(3)
	s.member(1, 2)
	s.add("function_end", params{"name": "f"})
	want, err := oracle.L1([]byte(s.text(t)), oracle.Options{})
	require.NoError(t, err)
	got := s.replay(t, Options{})
	require.Equal(t, [2]int{2, 0}, [2]int{want.Runs, want.Inferred})
	require.Equal(t, [2]int64{2, 0}, [2]int64{got.Checks.Runs, got.Checks.Inferred})
}

// A hit runs two programs again behind the free of a mesh, and its execution is the first node to show that the chip
// is one of the mesh. It executes the first of the two: executions before the free do not count.
func TestExecutionShowsTheMeshOfAFree(t *testing.T) {
	s := &script{}
	executes := func(mesh int) { s.add("program_execution", params{"device_id": mesh, "physical_device_id": 2}) }
	s.member(1, 2)
	s.op("f", nil, func() {
		s.free(1)
		s.free(1)
		s.cb(2, "{[0-0 - 1-0]}", 111616, 64)
		s.cb(2, "{[0-0 - 0-0]}", 111616, 128)
	})
	s.op("f", nil, func() {
		s.free(1)
		executes(1)
	})
	s.op("f", nil, func() {
		s.free(3)
		executes(3)
	})
	want, err := oracle.L1([]byte(s.text(t)), oracle.Options{})
	require.NoError(t, err)
	got := s.replay(t, Options{})
	require.Equal(t, uint64(2*64), want.Devices["2"].Dispatched)
	require.Equal(t, uint64(2*64), got.L1[0].Dispatched.Final)
}

// An exception comes after a buffer, at which its enqueued programs were complete. They did not run.
func TestAbortedLate(t *testing.T) {
	s := &script{}
	s.member(2, 0)
	s.add("function_start", params{"name": "f"})
	s.free(2)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 4096)
	s.interleaved(0, 1_500_000, 1024)
	s.add("function_end", params{"name": "f", "aborted": "true", "abort_reason": "TT_FATAL: no"})
	s.op("f", nil, func() { s.free(2) })
	got := s.replay(t, Options{})
	require.Equal(t, int64(1), got.Checks.Runs)
	require.Zero(t, got.Hits.Inferred)
	require.Contains(t, got.Undecided(), answer.CodeNotShown)
	require.Equal(t, uint64(4096), got.Devices[0].Registered)
	require.Equal(t, [2]uint64{1024 * 130, 1024 * 130}, [2]uint64{got.L1[0].TotalPeak, got.L1[0].TotalFinal})
}

// A tensor describes a buffer without a size per core, which has no place.
func TestCoresOfUnsizedBuffer(t *testing.T) {
	s := &script{}
	s.member(2, 0)
	s.free(2)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 4096)
	b := s.sharded(0, 0, 1024, `[{"start":{"x":0,"y":0},"end":{"x":0,"y":1}}]`)
	for _, key := range []string{"max_size_per_bank", "page_size"} {
		delete(b.params, key)
	}
	require.Equal(t, []answer.Code{answer.CodeBufferUnplaced}, s.replay(t, Options{}).Undecided(), "for want of a size alone")
}
