package capture

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A free without a size of a bank has the address of a buffer from before, and not its size. tt-metal compares
// circular buffers with this address.
func TestFreedWithoutASize(t *testing.T) {
	for size, failed := range map[int]int64{
		900_000: 1, // it ends at 1,011,616, above the buffer at 1,000,000
		800_000: 0,
	} {
		var s script
		s.free(0)
		s.cb(0, "{[0-0 - 0-0]}", 111616, size)
		s.add("buffer_deallocate", params{"device_id": 0, "type": "L1", "buffer_type": 1, "address": 1_000_000, "size": 64}, 77)
		r := s.replay(t)
		require.Equal(t, failed, r.Checks.Failed)
		require.EqualValues(t, 1, codes(r)[answer.CodeBufferUnsized])
		require.Equal(t, answer.AddressesRecorded, l1Row(t, r, 0).Addresses)
	}
}

// A tensor of a buffer comes behind a buffer from before the capture. The peak is reached without the second one, which
// lies in bytes of the first.
func TestBuffersComeInOrder(t *testing.T) {
	var s script
	s.free(0)
	node := s.add("buffer", params{"type": "L1"}, 99)
	at := s.add("buffer_allocate", params{
		"device_id": 0, "address": 1_000_000, "size": 4096, "max_size_per_bank": 4096, "num_cores": 1, "type": "L1", "buffer_type": 1,
	}, node)
	start := s.add("function_start", params{"name": "f"})
	s.add("function_end", params{"name": "f"})
	lists := `"per_operation_buffers":{"0":[],"` + strconv.Itoa(start) + `":[{"device_id":0,"address":1000000,"buffer_type":1,"max_size_per_bank":4096},` +
		`{"device_id":0,"address":1001024,"buffer_type":1,"max_size_per_bank":1024}]}`
	r := replayFile(t, `{"graph":`+s.text(t)+`,`+lists+`}`, Options{})
	d := l1Row(t, r, 0)
	require.EqualValues(t, 4096, d.Peak.Bytes)
	require.EqualValues(t, at, d.Peak.At)
	require.Len(t, d.Peak.Residents, 1)
}

// A buffer of all devices without an address is placed below the largest L1_SMALL of them.
func TestBorderOfALateDevice(t *testing.T) {
	var s script
	s.cb(0, "{[0-0 - 0-0]}", 0, 64)
	s.add("buffer_allocate", params{"address": 0, "size": 64, "max_size_per_bank": 64, "num_cores": 0, "type": "L1", "buffer_type": 1})
	s.cb(2, "{[0-0 - 0-0]}", 0, 64)
	row := func(id, bank string) string {
		return `{"device_id":` + id + `,"worker_l1_size":1572864,"address_at_first_l1_cb_buffer":111616,"l1_bank_size":` + bank + `}`
	}
	r := replayFile(t, `{"devices":[`+row("0", "1461248")+`,`+row("2", "1457152")+`],"graph":`+s.text(t)+`}`, Options{})
	require.Equal(t, event.Some(uint64(1572864-4096-64)), r.Live.List[0].Address)
}

// A buffer from before the capture has the size of the free that ends it, where the node that stands for it has only a
// size of all banks.
func TestFreeGivesTheSize(t *testing.T) {
	for size, failed := range map[int]int64{
		900_000: 1, // it ends at 1,011,616, above the buffer at 1,000,000
		800_000: 0,
	} {
		var s script
		s.free(0)
		s.cb(0, "{[0-0 - 0-0]}", 111616, size)
		node := s.add("buffer", params{"device_id": 0, "type": "L1", "buffer_type": 1, "size": 128})
		s.free(0)
		s.add("buffer_deallocate", params{
			"device_id": 0, "type": "L1", "buffer_type": 1, "address": 1_000_000, "size": 128, "max_size_per_bank": 64,
		}, node)
		r := s.replay(t)
		require.Equal(t, failed, r.Checks.Failed)
		require.Zero(t, codes(r)[answer.CodeBufferUnsized])
		require.EqualValues(t, 64, l1Row(t, r, 0).Peak.Kinds[fit.KindL1])
	}
}

// A sharded buffer takes the place of one from before the capture, and waits for its tensor. The first one is gone by then.
func TestBufferInThePlaceOfAnEarlierOne(t *testing.T) {
	var s script
	s.free(2)
	s.cb(2, "{[0-0 - 0-0]}", 111616, 64)
	s.add("tensor", params{"device_id": 2, "address": 1_000_000, "buffer_type": 1, "type": "L1"})
	s.sharded(2, 1_000_000, 4096, `[{"start":{"x":0,"y":0},"end":{"x":0,"y":1}}]`)
	r := s.replay(t)
	d := l1Row(t, r, 2)
	require.Zero(t, d.Assumed)
	require.EqualValues(t, 2*4096+64, d.TotalPeak, "it lies on two cores")
}
