package capture

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
)

// TestOperationsAlone drives the second stage without the others: the functions around each node, and hits of the
// program cache.
func TestOperationsAlone(t *testing.T) {
	start := func(name string, hit event.Opt[bool]) node {
		return node{Type: typeFunctionStart, Function: functionNode{Name: name, CacheHit: hit}}
	}
	end := node{Type: typeFunctionEnd}
	free := node{Type: typeCircularBufferDeallocateAll, DeviceID: event.Some(uint64(1))}
	cb := node{Type: typeCircularBufferAllocate}
	hidden := free
	hidden.Unreadable = &event.InputError{}
	aborted := node{Type: typeFunctionEnd, Function: functionNode{Aborted: true}}
	run := node{Type: typeProgramExecution, PhysicalDeviceID: event.Some(uint64(0))}
	var unknown event.Opt[bool]
	for name, c := range map[string]struct {
		nodes []node
		want  string
	}{
		"paths":                            {[]node{start("f", unknown), start("g", unknown), cb, end, cb, end, cb}, "|f|f > g|f > g ends|f|f ends|"},
		"a function that frees and places": {[]node{start("f", unknown), free, cb, end}, "|f|f|f ends"},
		"one that frees and places nothing": {
			[]node{start("f", unknown), free, end}, "|f|f ends closes 1 hit behind 1",
		},
		"one that says that it hit":     {[]node{start("f", event.Some(true)), end}, "|f ends says hit"},
		"one that says that it did not": {[]node{start("f", event.Some(false)), free, end, free}, "|f|f ends closes 1|"},
		"an outer one around a hit": {
			[]node{start("f", event.Some(true)), start("g", event.Some(true)), end, end}, "|f|f > g ends says hit|f ends says",
		},
		"what an exception ends":       {[]node{start("f", unknown), free, aborted}, "|f|f ends aborts closes 1"},
		"two frees of one workload":    {[]node{start("f", unknown), free, free, end}, "|f|f again|f ends closes 1 hit behind 1"},
		"the next program":             {[]node{start("f", unknown), free, run, free, end}, "|f|f|f closes 1 hit behind 1|f ends closes 3 hit behind 3"},
		"an execution elsewhere":       {[]node{start("f", unknown), free, run}, "|f|f"},
		"a free that cannot be read":   {[]node{start("f", unknown), hidden, free, end}, "|f hides|f hides|f ends"},
		"an end without a start":       {[]node{end}, ""},
		"a start that cannot be read":  {[]node{{Type: typeFunctionStart, Unreadable: &event.InputError{}}, free, end}, "||ends closes 1"},
		"a free behind the last start": {[]node{free, start("f", unknown), end}, "||f ends"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSurvey(NewReader(nil, ""), newMembers())
			for i := range c.nodes {
				c.nodes[i].Counter = uint64(i)
				s.next(&c.nodes[i])
			}
			o := newOperations(s.known)
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
	}{{s.ends, "ends"}, {s.aborts, "aborts"}, {s.again, "again"}, {s.hides, "hides"}, {s.says, "says"}} {
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
