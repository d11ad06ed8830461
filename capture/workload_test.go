package capture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/oracle"
	"github.com/cbl1/cbl1/replay"
)

// bothWays replays a script as a file, which can be read again, and as a pipe.
func bothWays(t *testing.T, s *script) (file, pipe *replay.Result) {
	t.Helper()
	pipe, err := replay.Run("pipe", NewReader(strings.NewReader(s.text(t)), "pipe").Events(Options{}), replay.Options{})
	require.NoError(t, err)
	return s.replay(t, Options{}), pipe
}

// Two programs of one workload with a buffer between them: the event of the first one
// may be both. It does not fit, and a second reading knows that it is one program.
func TestWorkloadSettledLate(t *testing.T) {
	s := &script{}
	s.member(2, 0)
	s.free(2)
	s.free(2)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 1_600_000)
	s.interleaved(0, 1_500_000, 1024)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 1_600_000)
	s.free(2)
	file, pipe := bothWays(t, s)
	require.Equal(t, int64(2), file.Checks.Runs)
	require.Equal(t, int64(2), file.Checks.Failed, "one after the other, neither fits")
	require.NotContains(t, file.Untold(), replay.CodeUnsettled)
	require.Equal(t, int64(1), pipe.Checks.Failed)
	require.Contains(t, pipe.Untold(), replay.CodeUnsettled)
	require.Contains(t, pipe.Untold(), replay.CodeWorkloadLate)
	require.NotContains(t, pipe.Untold(), replay.CodeMeshLate)
	require.NotContains(t, file.Untold(), replay.CodeWorkloadLate)
	require.Equal(t, int64(2), pipe.Devices[0].Programs)
}

// As before, and what the mesh has shows last: only a reading that knows it can find the
// second program, and only the one after that knows of it in time.
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
	file := s.replay(t, Options{})
	require.Equal(t, int64(3), file.Checks.Runs)
	require.Equal(t, int64(2), file.Checks.Failed)
	require.Empty(t, file.Untold())
	require.Equal(t, file.Checks, s.replay(t, Options{Ahead: true}).Checks)
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
	file := s.replay(t, Options{})
	require.Equal(t, int64(1), file.Checks.Failed, "the first may be two programs")
	require.Contains(t, file.Untold(), replay.CodeUnsettled)
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
	file, pipe := bothWays(t, s)
	require.Equal(t, file.Checks, pipe.Checks)
	require.Equal(t, int64(6), file.Checks.Runs)
	require.Equal(t, int64(3), file.Checks.Inferred)
	require.Equal(t, int64(3), file.Devices[0].Programs)
	require.Equal(t, uint64(4096), file.Devices[0].LogicalPeak)
	d := file.L1[0].Dispatched
	require.Equal(t, replay.Residue{Peak: 4096, Final: 4096, CorePeak: 4096, Executions: 5}, *d)
	require.Empty(t, file.Untold())
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
	file, pipe := bothWays(t, s)
	require.Equal(t, file.Checks, pipe.Checks)
	require.Equal(t, int64(2), file.Checks.Inferred)
	require.Zero(t, file.Checks.Failed)
	require.Contains(t, file.Untold(), replay.CodeAmbiguous)
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
	file, _ := bothWays(t, s)
	require.Equal(t, int64(3), file.Checks.Runs)
	require.Zero(t, file.Checks.Inferred)
	require.Contains(t, file.Untold(), replay.CodeNotShown)
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
	file, pipe := bothWays(t, s)
	for _, got := range []*replay.Result{file, pipe} {
		require.Equal(t, [2]int{3, 1}, [2]int{want.Runs, want.Inferred})
		require.Equal(t, [2]int64{3, 1}, [2]int64{got.Checks.Runs, got.Checks.Inferred})
		require.Empty(t, got.Untold())
	}
}

// TestHitWithinAWorkload: two frees announce two programs. The second one is open when a free of another device shows that f
// runs its first program again, which writes the cores of the program before.
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
	file, pipe := bothWays(t, s)
	for _, got := range []*replay.Result{file, pipe} {
		require.Equal(t, [2]int{4, 1}, [2]int{want.Runs, want.Inferred})
		require.Equal(t, [2]int64{4, 1}, [2]int64{got.Checks.Runs, got.Checks.Inferred})
		require.Equal(t, [2]uint64{64, 0}, [2]uint64{want.Devices["1"].TotalPeak, want.Devices["1"].Total})
		require.Equal(t, [2]uint64{64, 0}, [2]uint64{got.L1[0].TotalPeak, got.L1[0].TotalFinal})
	}
}

// TestHitBesideARunOfAnUnknownMesh: a free of a mesh announced the run that goes on when a free shows a hit, so the run is no
// program of the cache. Only the tensor behind shows that the mesh has the chip.
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
	file, pipe := bothWays(t, s)
	require.Equal(t, [2]int{2, 0}, [2]int{want.Runs, want.Inferred})
	require.Equal(t, [2]int64{2, 0}, [2]int64{file.Checks.Runs, file.Checks.Inferred})
	require.NotContains(t, file.Untold(), replay.CodeMeshLate)
	require.Contains(t, pipe.Untold(), replay.CodeMeshLate)
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
	file, pipe := bothWays(t, s)
	require.Equal(t, uint64(2*64), want.Devices["2"].Dispatched)
	require.Equal(t, uint64(2*64), file.L1[0].Dispatched.Final)
	require.NotContains(t, file.Untold(), replay.CodeMeshLate)
	require.Contains(t, pipe.Untold(), replay.CodeMeshLate)
}

// An exception comes after the events of its enqueued programs: a second reading takes them back.
func TestAbortedLate(t *testing.T) {
	s := &script{}
	s.member(2, 0)
	s.add("function_start", params{"name": "f"})
	s.free(2)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 4096)
	s.interleaved(0, 1_500_000, 1024)
	s.add("function_end", params{"name": "f", "aborted": "true", "abort_reason": "TT_FATAL: no"})
	s.op("f", nil, func() { s.free(2) })
	file, pipe := bothWays(t, s)
	require.Equal(t, int64(1), file.Checks.Runs)
	require.Zero(t, file.Hits.Inferred)
	require.Contains(t, file.Untold(), replay.CodeNotShown)
	require.Equal(t, uint64(4096), file.Devices[0].Registered)
	require.Equal(t, [2]uint64{1024 * 130, 1024 * 130}, [2]uint64{file.L1[0].TotalPeak, file.L1[0].TotalFinal})
	require.Contains(t, pipe.Untold(), replay.CodeAbortedLate, "it ran as far as anybody knew")
	require.NotContains(t, pipe.Untold(), replay.CodeMeshLate)
	require.NotContains(t, file.Untold(), replay.CodeAbortedLate)
}

// A buffer without a size per core has its cores known at the second reading, which is right.
func TestCoresOfUnsizedBuffer(t *testing.T) {
	s := &script{}
	s.member(2, 0)
	s.free(2)
	s.cb(0, "{[0-0 - 0-0]}", 111616, 4096)
	b := s.sharded(0, 0, 1024, `[{"start":{"x":0,"y":0},"end":{"x":0,"y":1}}]`)
	for _, key := range []string{"max_size_per_bank", "page_size"} {
		delete(b.params, key)
	}
	require.NotContains(t, s.replay(t, Options{}).Untold(), replay.CodeMeshLate)
}
