package oracle_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/guard/oracle"
)

// TestFreesPrecedeTheList: one buffer from before the capture is freed at node 1, and the list of node 2 is the first that names another one.
// They never lie there together.
func TestFreesPrecedeTheList(t *testing.T) {
	const data = `{"graph":[
		{"counter":0,"node_type":"capture_start","params":null,"connections":[1,2,5]},
		{"counter":1,"node_type":"buffer_deallocate","params":{"address":14336,"device_id":0,"buffer_type":1,"max_size_per_bank":2048,"size":2048,"type":"L1"},"connections":[]},
		{"counter":2,"node_type":"function_start","params":{"name":"ttnn.f","inputs":"0"},"connections":[3,4]},
		{"counter":3,"node_type":"circular_buffer_allocate","params":{"address":4096,"core_range_set":"{[0-0 - 0-0]}","device_id":0,"size":0},"connections":[]},
		{"counter":4,"node_type":"function_end","params":{"name":"ttnn.f"},"connections":[]},
		{"counter":5,"node_type":"capture_end","params":null,"connections":[]}],
		"per_operation_buffers":{"0":[],"2":[{"address":12288,"buffer_type":1,"device_id":0,"max_size_per_bank":1024}]}}`
	m, err := oracle.L1([]byte(data), oracle.Options{Arch: "blackhole", Base: 4096, L1Size: 16384})
	require.NoError(t, err)
	d := m.Devices["0"]
	require.Equal(t, []uint64{2048, 130 * 2048, 130 * 1024}, []uint64{d.Peak, d.TotalPeak, d.Total}, "on 130 cores")
}

// TestDRAMEndsNoBufferInL1: DRAM has addresses of its own. What comes and goes there leaves a buffer at the same address of L1 alone,
// and the program behind it fails.
func TestDRAMEndsNoBufferInL1(t *testing.T) {
	const (
		begin   = `{"counter":0,"node_type":"function_start","params":{"name":"ttnn.f"}}`
		tensor  = `{"counter":0,"node_type":"tensor","params":{"address":12288,"device_id":0,"buffer_type":1}}`
		list    = `{"0":[{"address":12288,"buffer_type":1,"device_id":0,"max_size_per_bank":1024}]}`
		buffer  = `"params":{"address":12288,"device_id":0,"buffer_type":%[2]d,"max_size_per_bank":1024,"size":1024}`
		program = `"params":{"address":4096,"core_range_set":"{[0-0 - 0-0]}","device_id":0,"size":9000}`
	)
	for _, c := range []struct {
		name, first, list string
		kind, failed      int
	}{
		{"in a list, DRAM", begin, list, 0, 1},
		{"in a list, L1", begin, list, 1, 0},
		{"of a tensor, DRAM", tensor, "{}", 0, 1},
		{"of a tensor, L1", tensor, "{}", 1, 0},
	} {
		data := fmt.Sprintf(`{"graph":[%[1]s,{"counter":1,"node_type":"function_end"},
			{"counter":2,"node_type":"buffer_allocate","connections":[9],`+buffer+`},
			{"counter":3,"node_type":"buffer_deallocate","connections":[9],`+buffer+`},
			{"counter":4,"node_type":"buffer_deallocate",`+buffer+`},
			{"counter":5,"node_type":"circular_buffer_allocate",`+program+`}],"per_operation_buffers":%[3]s}`, c.first, c.kind, c.list)
		m, err := oracle.L1([]byte(data), oracle.Options{Arch: "blackhole", Base: 4096, L1Size: 16384})
		require.NoError(t, err)
		require.Equal(t, []int{1, c.failed}, []int{m.Runs, m.Failed}, c.name)
	}
}
