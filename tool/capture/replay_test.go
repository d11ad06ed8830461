package capture

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// graph is a capture of nodes that are given as `"node_type":..., "params":...`.
func graphOf(nodes ...string) string {
	for i, n := range nodes {
		nodes[i] = fmt.Sprintf(`{"counter":%d,%s}`, i, n)
	}
	return "[" + strings.Join(nodes, ",") + "]"
}

func placeOn(device int) string {
	return fmt.Sprintf(`"node_type":"circular_buffer_allocate","params":{"address":111616,"size":64,`+
		`"core_range_set":"{[0-0 - 0-0]}","globally_allocated":"0","device_id":%d}`, device)
}

func freeOf(id int) string {
	return fmt.Sprintf(`"node_type":"circular_buffer_deallocate_all","params":{"device_id":%d}`, id)
}

// member says that a chip belongs to mesh 9.
func member(chip int) string {
	return fmt.Sprintf(`"node_type":"tensor","params":{"device_tensors":"[{\"device_id\":%d,\"mesh_device_id\":9}]"}`, chip)
}

// A free by a mesh's id ends the CBs of its chips. If the capture does not say which
// chips these are, programs run into each other: that must not pass in silence.
func TestFreeOfUnknownMesh(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		count int64 // 0: no anomaly
		node  answer.NodeNumber
	}{
		"unknown":             {graphOf(placeOn(0), freeOf(9), placeOn(0), freeOf(9)), 2, 1},
		"two unknown":         {graphOf(placeOn(0), freeOf(9), placeOn(0), freeOf(8)), 2, 1},
		"known":               {graphOf(member(0), placeOn(0), freeOf(9)), 0, 0},
		"known later":         {graphOf(placeOn(0), freeOf(9), member(0)), 0, 0},
		"of another chip":     {graphOf(member(1), placeOn(0), freeOf(9)), 0, 0},
		"a chip, seen later":  {graphOf(placeOn(0), freeOf(1), placeOn(1)), 0, 0},
		"a chip of a mesh":    {graphOf(member(1), placeOn(0), freeOf(1)), 0, 0},
		"nothing was alive":   {graphOf(freeOf(9), placeOn(0)), 0, 0},
		"nodes without an id": {graphOf(`"node_type":"circular_buffer_allocate","params":{"address":111616,"size":64,"core_range_set":"{[0-0 - 0-0]}"}`, freeOf(9)), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := replay.Run("trace.json", NewReader(strings.NewReader(c.text), "trace.json").Events(Options{}), replay.Options{})
			require.NoError(t, err)
			var got answer.AnomalyCount
			for _, a := range r.Anomalies {
				if a.Code == "mesh-unknown" {
					got = a
				}
			}
			require.Equal(t, c.count, got.Count)
			require.Equal(t, c.node, got.First)
			if c.count > 0 {
				require.Equal(t, "id 9", got.Detail)
			}
		})
	}
}
