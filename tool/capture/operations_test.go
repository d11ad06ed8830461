package capture

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
)

// TestOperationsAlone drives the second stage without the others: the functions around each node, and hits of the
// program cache.
func TestOperationsAlone(t *testing.T) {
	start := func(name string, hit event.Opt[bool]) graph.Node {
		return graph.Node{Type: graph.TypeFunctionStart, Function: graph.FunctionNode{Name: name, CacheHit: hit}}
	}
	end := graph.Node{Type: graph.TypeFunctionEnd}
	free := graph.Node{Type: graph.TypeCircularBufferDeallocateAll, DeviceID: event.Some(uint64(1))}
	cb := graph.Node{Type: graph.TypeCircularBufferAllocate}
	hidden := free
	hidden.Unreadable = &event.InputError{}
	aborted := graph.Node{Type: graph.TypeFunctionEnd, Function: graph.FunctionNode{Aborted: true}}
	run := graph.Node{Type: graph.TypeProgramExecution, PhysicalDeviceID: event.Some(uint64(0))}
	var unknown event.Opt[bool]
	for name, c := range map[string]struct {
		nodes []graph.Node
		want  string
	}{
		"paths":                            {[]graph.Node{start("f", unknown), start("g", unknown), cb, end, cb, end, cb}, "|f|f > g|f > g ends|f|f ends|"},
		"a function that frees and places": {[]graph.Node{start("f", unknown), free, cb, end}, "|f|f|f ends"},
		"one that frees and places nothing": {
			[]graph.Node{start("f", unknown), free, end}, "|f|f ends closes 1 hit behind 1",
		},
		"one that says that it hit":     {[]graph.Node{start("f", event.Some(true)), end}, "|f ends says hit"},
		"one that says that it did not": {[]graph.Node{start("f", event.Some(false)), free, end, free}, "|f|f ends closes 1|"},
		"an outer one around a hit": {
			[]graph.Node{start("f", event.Some(true)), start("g", event.Some(true)), end, end}, "|f|f > g ends says hit|f ends says",
		},
		"what an exception ends":       {[]graph.Node{start("f", unknown), free, aborted}, "|f|f ends aborts closes 1"},
		"two frees of one workload":    {[]graph.Node{start("f", unknown), free, free, end}, "|f|f again|f ends closes 1 hit behind 1"},
		"the next program":             {[]graph.Node{start("f", unknown), free, run, free, end}, "|f|f|f closes 1 hit behind 1|f ends closes 3 hit behind 3"},
		"an execution elsewhere":       {[]graph.Node{start("f", unknown), free, run}, "|f|f"},
		"a free that cannot be read":   {[]graph.Node{start("f", unknown), hidden, free, end}, "|f hides|f hides|f ends"},
		"an end without a start":       {[]graph.Node{end}, ""},
		"a start that cannot be read":  {[]graph.Node{{Type: graph.TypeFunctionStart, Unreadable: &event.InputError{}}, free, end}, "||ends closes 1"},
		"a free behind the last start": {[]graph.Node{free, start("f", unknown), end}, "||f ends"},
	} {
		t.Run(name, func(t *testing.T) {
			s := survey.New(survey.NewMembers())
			for i := range c.nodes {
				c.nodes[i].Counter = uint64(i)
				s.Next(&c.nodes[i])
			}
			o := newOperations(s.Known)
			var got []string
			for _, n := range c.nodes {
				got = append(got, textOf(o.next(&n, false)))
			}
			require.Equal(t, c.want, strings.Join(got, "|"))
		})
	}
}

// textOf writes down a step.
func textOf(s *step) string {
	words := []string{s.call.path}
	for _, w := range []struct {
		is   bool
		word string
	}{{s.ends, "ends"}, {s.aborts, "aborts"}, {s.again, "again"}, {s.hides, "hides"}, {s.flagged, "says"}} {
		if w.is {
			words = append(words, w.word)
		}
	}
	if s.closed != nil {
		words = append(words, fmt.Sprint("closes ", s.closed.counter))
	}
	if s.hit {
		words = append(words, "hit")
	}
	if s.behind != nil {
		words = append(words, fmt.Sprint("behind ", s.behind.counter))
	}
	return strings.TrimSpace(strings.Join(words, " "))
}
