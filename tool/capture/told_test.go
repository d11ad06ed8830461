package capture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
)

// The events of fixtures, found by hand from their nodes.

// Chips 0 and 1 of mesh 2, which only a tensor says, and after it is freed twice.
func TestEventsOfLateMesh(t *testing.T) {
	require.Equal(t, strings.TrimLeft(`
0 log
0 device 0 chip []
0 device 1 chip []
0 device 2 mesh [0 1]
4 program 0: 103712+8192
6 run 0 on 0:4-4 1:5-5
10 cbs_freed [0 1]
11 program 1: 103712+4096
13 run 1 on 0:11-11 1:12-12
17 allocate 1 l1 on [2 0 1] [1497088,1499136)
21 free 1 cb on [2 0 1]
24 upstream
24 end
`, "\n"), summary(eventsOf(t, "testdata/late_mesh.json", Options{})))
}

// The first program runs on the chips in the order of the mesh, CB by CB; each chip's
// end of a program ends what it has.
func TestEventsOfMesh8(t *testing.T) {
	text := summary(eventsOf(t, "testdata/mesh8_fanout.json", Options{}))
	require.Contains(t, text, `
5 program 0: 111360+4096 115456+2048 117504+2048
29 run 0 on 0:11-27 1:12-28 2:10-26 3:9-25 4:6-22 5:7-23 6:5-21 7:8-24
33 cbs_freed [0 1 2 3 4 5 6 7]
34 program 1: 111360+16384 1540096+32768 127744+2048
`)
	require.True(t, strings.HasSuffix(text, `
82 cbs_freed [6]
83 cbs_freed [4]
86 upstream
86 end
`))
}

// Every hit runs what its function ran when it was there last; one has the same name
// within another function.
func TestEventsOfRepeats(t *testing.T) {
	events := eventsOf(t, "testdata/repeats.json", Options{})
	require.Contains(t, summary(events), `
33 run 1 on 0:30-32
33 executed [0]
38 cbs_freed [0]
39 run 0 on 0:37-37 inferred
39 executed [0]
45 run 1 on 0:43-43 inferred
45 executed [0]
49 upstream
`)
	for _, e := range events {
		if e.Inferred && e.Node == 39 { // from the run of nodes 4 and 5
			require.Equal(t, []event.RunDevice{{Device: 0, First: 37, Last: 37, CBFirst: 4, CBLast: 5}}, e.On)
			require.Equal(t, "ttnn.relu > UnaryDeviceOperation", e.Op.V)
		}
	}
	events = eventsOf(t, "testdata/repeats.json", Options{NoInfer: true})
	require.NotContains(t, summary(events), "inferred")
	require.Contains(t, summary(events), "\n10 hidden cache-hit x5 UnaryDeviceOperation\n")
}

// Programs and buffers without addresses are placed: programs from the base upwards,
// buffers from the top downwards.
func TestEventsOfComposite(t *testing.T) {
	events := eventsOf(t, "testdata/composite_no_dispatch.json", Options{})
	require.Contains(t, summary(events), `
20 free 1 cb on [1]
25 allocate 2 l1 on [1] [1562624,1572864)
28 cbs_freed [1]
29 program 1: 111616+4096 115712+6144
31 run 1 on 1:29-30
`)
	for _, e := range events {
		for _, part := range e.Parts {
			require.True(t, part.Synthesised)
		}
		for _, cb := range e.CBs {
			require.Equal(t, !cb.Global, cb.Synthesised)
		}
	}
}

// A free with the id of an unknown mesh ends nothing: the two programs
// are one run, and an anomaly says so.
func TestEventsOfUnknownMesh(t *testing.T) {
	events := eventsOf(t, "testdata/unknown_mesh.json", Options{})
	require.Equal(t, strings.TrimLeft(`
0 log
0 device 0 chip []
4 program 0: 103712+8192
5 run 0 on 0:4-4
4 program 1: 103712+8192 103712+4096
11 run 1 on 0:4-10 continues
14 upstream
9 anomaly mesh-unknown x1 id 1
14 end
`, "\n"), summary(events))
}

// With Options.At the events have the open programs as they stand.
func TestEventsOfAt(t *testing.T) {
	events := eventsOf(t, "testdata/repeats.json", Options{At: event.Some[uint64](4)})
	require.Contains(t, summary(events), `
0 device 1 mesh [0]
4 program 0: 103712+4096
5 run 0 on 0:4-4
4 program 1: 103712+4096 107808+4096
6 run 1 on 0:4-5 continues
`)
	for _, e := range events {
		if e.Kind == event.KindRun && !e.Continues {
			require.EqualValues(t, 4, e.Pos.Node)
			break
		}
	}
}
