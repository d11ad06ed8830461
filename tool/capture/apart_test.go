package capture

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Bytes of buffers that no check can query never count as room.
func TestL1Unseen(t *testing.T) {
	run := func(s *script, id int) {
		s.op("ttnn.matmul", nil, func() { s.cb(id, "{[0-0 - 1-1]}", 111616, 1048576) })
	}
	freed := func(s *script, address int) {
		s.add("buffer_deallocate", params{"device_id": 0, "type": "L1", "buffer_type": 1, "address": address, "max_size_per_bank": 65536, "size": 4194304})
	}
	tests := []struct {
		name   string
		events func(s *script)
		unseen bool
		apart  []uint64
	}{
		{"a buffer under the id of a program", func(s *script) { s.interleaved(0, 1_400_000, 65536); run(s, 0) }, false, nil},
		{"under an unknown id", func(s *script) { s.interleaved(1, 900_000, 65536); run(s, 0) }, true, []uint64{1}},
		{"under a mesh of the chip", func(s *script) { s.member(1, 0); s.interleaved(1, 1_400_000, 65536); run(s, 0) }, false, nil},
		{"under a chip of the mesh that runs", func(s *script) { s.member(1, 0); s.interleaved(0, 900_000, 65536); run(s, 1) }, true, []uint64{0}},
		{"under another chip", func(s *script) { s.member(1, 0); s.member(2, 5); s.interleaved(5, 900_000, 65536); run(s, 0) }, false, nil},
		{"no program", func(s *script) { s.interleaved(1, 900_000, 65536) }, false, nil},
		{"a buffer from before that is used", func(s *script) {
			s.add("buffer", params{"size": 4194304, "type": "L1", "layout": "INTERLEAVED", "device_id": 0})
			run(s, 0)
		}, true, nil},
		{"a buffer from before that is freed after a program, and where", func(s *script) { run(s, 0); freed(s, 1_200_000) }, false, nil},
		{"and not where", func(s *script) { run(s, 0); freed(s, 0) }, true, nil},
		{"or before any", func(s *script) { freed(s, 900_000); run(s, 0) }, false, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var s script
			test.events(&s)
			r := s.replay(t)
			require.Zero(t, r.Checks.Failed)
			require.Equal(t, test.apart, r.Checks.Apart)
			require.Equal(t, test.unseen, len(r.Unseen()) > 0)
		})
	}
}
