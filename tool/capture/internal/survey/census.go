package survey

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// A census has the rows of per_operation_buffers: for each place, the operations that list a buffer there.
// Writers sort the operations as texts, so those with as many digits follow each other in order: a buffer
// is a few spans of them.
type census struct {
	first   event.Opt[uint64] // operation with a list, be it empty
	at      [21][]uint64      // operations with a list, by digits, in their order there
	places  map[listedPlace]*ListedSpans
	untyped map[untypedRow]int64 // rows without a type
	// placeless counts the rows of L1, or without a type, that have no address.
	placeless int64
	devices   map[device.ID]*ListedSpans // with any buffer
}

// An untypedRow is a row of an operation that may be of L1 or of DRAM.
type untypedRow struct {
	named       device.ID
	address, at uint64
}

// A listedPlace is where a buffer is listed.
type listedPlace struct {
	named   device.ID
	address uint64
	kind    fit.Kind
}

// ListedSpans are spans of census.at, by digits. The digits are a list, since most buffers have one entry: an array of
// all takes 0.5 KB for each listed buffer.
type ListedSpans []digitSpans

type digitSpans struct {
	digits int
	spans  []listedSpan
}

// A listedSpan is operations from one to another, both included, that list a place with the same size.
type listedSpan struct {
	from, to int
	perCore  event.Opt[uint64]
}

// add records one row.
func (l *census) add(row graph.ListedBuffer) {
	if l.places == nil {
		l.places, l.devices = map[listedPlace]*ListedSpans{}, map[device.ID]*ListedSpans{}
		l.untyped = map[untypedRow]int64{}
	}
	if row.Begins {
		if !l.first.OK || row.At < l.first.V {
			l.first = event.Some(row.At)
		}
		return
	}
	digits := len(strconv.FormatUint(row.At, 10)) // as its writer has it
	n := len(l.at[digits])
	if n == 0 || l.at[digits][n-1] != row.At {
		l.at[digits] = append(l.at[digits], row.At)
		n++
	}
	if l.devices[row.Named] == nil {
		l.devices[row.Named] = &ListedSpans{}
	}
	l.devices[row.Named].extend(digits, n-1, event.Opt[uint64]{})
	switch {
	case !row.Address.OK && (!row.Typed || row.Kind == fit.KindL1):
		l.placeless++
		return
	case !row.Typed:
		l.untyped[untypedRow{row.Named, row.Address.V, row.At}]++
		return
	case !row.Kind.InL1() || row.Address.V == 0:
		return
	}
	place := listedPlace{row.Named, row.Address.V, row.Kind}
	if l.places[place] == nil {
		l.places[place] = &ListedSpans{}
	}
	l.places[place].extend(digits, n-1, row.PerCore)
}

func (s *ListedSpans) extend(digits, i int, perCore event.Opt[uint64]) {
	n := slices.IndexFunc(*s, func(d digitSpans) bool { return d.digits == digits })
	if n < 0 {
		n = len(*s)
		*s = append(*s, digitSpans{digits: digits})
	}
	of := &(*s)[n].spans
	last := &listedSpan{to: -2}
	if n := len(*of); n > 0 {
		last = &(*of)[n-1]
	}
	switch {
	case last.to == i && (last.perCore.OK || !perCore.OK): // its first row counts
	case last.to == i && last.from == i:
		last.perCore = perCore
	case last.to == i:
		last.to--
		*of = append(*of, listedSpan{i, i, perCore})
	case last.to == i-1 && last.perCore == perCore:
		last.to = i
	default:
		*of = append(*of, listedSpan{i, i, perCore})
	}
}

// A listing is an operation that lists a place, and the size that it says.
type listing struct {
	at      uint64
	perCore event.Opt[uint64]
}

// listings returns the operations of spans, ascending, with their sizes.
func (l *census) listings(s *ListedSpans) (out []listing) {
	for _, d := range *s {
		for _, span := range d.spans {
			for _, at := range l.at[d.digits][span.from : span.to+1] {
				out = append(out, listing{at, span.perCore})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b listing) int { return cmp.Compare(a.at, b.at) })
	return slices.CompactFunc(out, func(a, b listing) bool { return a.at == b.at })
}

// operations returns the operations of spans, ascending.
func (l *census) operations(s *ListedSpans) (out []uint64) {
	for _, one := range l.listings(s) {
		out = append(out, one.at)
	}
	return out
}
