package capture

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/replay/answer"
)

// lowL1 is a capture of chip 0 of mesh 1: a buffer that ends at 114,688, a program that is recorded from
// 114,688 on, and one without addresses. change changes the buffer, and where the programs are.
func lowL1(t *testing.T, change func(buffer, recorded, zero params)) string {
	var s script
	s.member(1, 0)
	on := func(address int) params {
		return params{"device_id": 0, "core_range_set": "{[0-0 - 1-1]}", "address": address, "size": 64, "globally_allocated": "0"}
	}
	buffer := params{"device_id": 1, "type": "L1", "address": 112640, "size": 4096, "max_size_per_bank": 2048, "num_cores": 2}
	recorded, zero := on(114688), on(0)
	change(buffer, recorded, zero)
	node := s.add("buffer", params{"device_id": 1})
	s.add("buffer_allocate", buffer, node)
	for _, cb := range []params{recorded, zero} {
		s.op("f", false, func() {
			s.free(1)
			s.add("circular_buffer_allocate", cb)
		})
	}
	return s.text(t)
}

// What shows persistent pages, and for which programs the answer is "cannot tell" then.
func TestPersistentPages(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(buffer, recorded, zero params)
		want   int64
	}{
		{"a buffer that ends where the recorded program starts", func(_, _, _ params) {}, 2},
		{"one byte beyond", func(b, _, _ params) { b["max_size_per_bank"] = 2049 }, 0},
		{"on the chip", func(b, _, _ params) { b["device_id"] = 0 }, 2},
		{"on another chip", func(b, _, _ params) { b["device_id"] = 7 }, 0},
		{"without a size", func(b, _, _ params) { delete(b, "max_size_per_bank") }, 0},
		{"in DRAM", func(b, _, _ params) { b["type"] = "DRAM" }, 0},
		{"in L1_SMALL", func(b, _, _ params) { b["buffer_type"] = 3 }, 0},
		{"without an address", func(b, _, _ params) { b["address"] = 0 }, 0},
		{"all programs have addresses", func(_, _, zero params) { zero["address"] = 120000 }, 0},
		{"no program has an address", func(_, recorded, _ params) { recorded["address"] = 0 }, 0},
		{"the recorded program takes no bytes", func(_, recorded, _ params) { recorded["size"] = 0 }, 0},
		{"the recorded program names no core", func(_, recorded, _ params) { recorded["core_range_set"] = "{}" }, 0},
		{"the other program is global", func(_, _, zero params) { zero["globally_allocated"] = "1" }, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := replayFile(t, lowL1(t, test.change))
			count := int64(0)
			for _, a := range got.Anomalies {
				if a.Code == answer.CodePersistentL1 {
					count = a.Count
				}
			}
			require.Equal(t, test.want, count)
			if count > 0 {
				require.Zero(t, got.Checks.Failed)
			}
		})
	}
}

// A program with some addresses shows nothing: its lowest CB may be one without.
func TestPersistentPagesBelowAMixedProgram(t *testing.T) {
	var s script
	s.interleaved(0, 112640, 2048)
	s.op("f", false, func() {
		s.free(0)
		s.cb(0, "{[0-0 - 1-1]}", 114688, 64)
		s.cb(0, "{[0-0 - 1-1]}", 0, 64)
	})
	got := replayFile(t, s.text(t))
	require.NotContains(t, fmt.Sprint(got.Anomalies), answer.CodePersistentL1)
	require.EqualValues(t, 1, got.Checks.Failed, "the buffer is an ordinary one")
}

// The chips of the mesh show last: only then do its frees end programs, and the second one is seen to
// start above the buffer.
func TestPersistentPagesOfALateMesh(t *testing.T) {
	var s script
	s.interleaved(1, 112640, 2048)
	for _, address := range []int{0, 114688} {
		s.op("f", false, func() {
			s.free(1)
			s.cb(0, "{[0-0 - 1-1]}", address, 64)
		})
	}
	s.member(1, 0)
	got := replayFile(t, s.text(t))
	require.Contains(t, fmt.Sprint(got.Undecided()), answer.CodePersistentL1)
	require.Zero(t, got.Checks.Failed)
}
