package survey

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// A place that is listed at some operations is a few spans, whatever the order of the
// operations: that of texts is the one of writers.
func TestListsAreSpans(t *testing.T) {
	var l census
	place := listedPlace{named: 0, address: 4096, kind: fit.KindL1}
	for _, at := range []uint64{1, 10, 100, 101, 11, 12, 2, 3} {
		l.add(graph.ListedBuffer{At: at, Begins: true})
		l.add(graph.ListedBuffer{At: at, Typed: true, Kind: fit.KindDRAM, Address: event.Some(uint64(1 << 20))})
		if at >= 3 && at <= 100 {
			l.add(graph.ListedBuffer{At: at, Typed: true, Kind: fit.KindL1, Address: event.Some(uint64(4096)), PerCore: event.Some(uint64(64))})
		}
	}
	require.Equal(t, []uint64{3, 10, 11, 12, 100}, l.operations(l.places[place]))
	require.Equal(t, []uint64{1, 2, 3, 10, 11, 12, 100, 101}, l.operations(l.devices[0]))
	spans, size := l.places[place], event.Some(uint64(64))
	require.Equal(t, &ListedSpans{{2, []listedSpan{{0, 2, size}}}, {3, []listedSpan{{0, 0, size}}}, {1, []listedSpan{{2, 2, size}}}}, spans)
	require.Equal(t, event.Some(uint64(1)), l.first)

	p := newPast(NewMembers())
	p.census = l
	require.Equal(t, []Resident{{
		Named: 0, Kind: fit.KindL1, Address: 4096, PerCore: event.Some(uint64(64)), Since: 3, Until: 101,
	}}, p.fromLists())
	named, _ := ofAddress(p.frees, 4096).by(0)
	*named = frees{{address: 4096, kind: fit.KindL1, at: 50}}
	found := p.fromLists()
	require.Len(t, found, 2, "freed at 50, and there again")
	require.Equal(t, []uint64{3, 50, 100, 101}, []uint64{found[0].Since, found[0].Until, found[1].Since, found[1].Until})
}

// Memory follows the places that are listed, not the lists.
func TestListsTakeLittle(t *testing.T) {
	var l census
	for at := range uint64(20_000) {
		for b := range uint64(20) {
			l.add(graph.ListedBuffer{At: at, Typed: true, Kind: fit.KindL1, Address: event.Some(4096 + 64*b), PerCore: event.Some(uint64(64))})
		}
	}
	spans := 0
	for _, place := range l.places {
		for _, d := range *place {
			spans += len(d.spans)
		}
	}
	require.Equal(t, 20*5, spans, "one for each number of digits")
}
