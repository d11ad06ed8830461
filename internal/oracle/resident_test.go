package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/oracle"
)

// TestWhatGoesGoesFirst: one buffer from before the capture is freed at node 1, and the list of node 2 is the first that names another one.
// They never lie there together.
func TestWhatGoesGoesFirst(t *testing.T) {
	const data = `{"graph":[
		{"counter":0,"node_type":"capture_start","params":null,"connections":[1,2,5]},
		{"counter":1,"node_type":"buffer_deallocate","params":{"address":14336,"device_id":0,"buffer_type":1,"max_size_per_bank":2048,"size":2048,"type":"L1"},"connections":[]},
		{"counter":2,"node_type":"function_start","params":{"name":"ttnn.f","inputs":"0"},"connections":[3,4]},
		{"counter":3,"node_type":"circular_buffer_allocate","params":{"address":4096,"core_range_set":"{[0-0 - 0-0]}","device_id":0,"globally_allocated":"1","size":64},"connections":[]},
		{"counter":4,"node_type":"function_end","params":{"name":"ttnn.f"},"connections":[]},
		{"counter":5,"node_type":"capture_end","params":null,"connections":[]}],
		"per_operation_buffers":{"0":[],"2":[{"address":12288,"buffer_type":1,"device_id":0,"max_size_per_bank":1024}]}}`
	m, err := oracle.L1([]byte(data), oracle.Options{Arch: "blackhole", Base: 4096, L1Size: 16384, Rules: oracle.AllRules()})
	require.NoError(t, err)
	d := m.Devices["0"]
	require.Equal(t, []uint64{2048, 130 * 2048, 130 * 1024}, []uint64{d.Peak, d.TotalPeak, d.Total}, "on 130 cores")
}
