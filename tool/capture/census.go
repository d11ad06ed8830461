package capture

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
)

// A listedBuffer is one row of per_operation_buffers: a buffer that lived at an operation.
// Before the rows of each operation comes one with begins, which has at alone.
type listedBuffer struct {
	begins  bool
	at      uint64 // counter of the operation's function_start
	typed   bool   // kind is known
	named   device.ID
	kind    fit.Kind
	address event.Opt[uint64]
	perCore event.Opt[uint64]
}

// listedIn reads the row of an operation that begins at a node.
func listedIn(at uint64, number numberIn) listedBuffer {
	n := node{
		Buffer:   bufferNode{BufferType: number("buffer_type", jsonobject.MaxWhole)},
		DeviceID: number("device_id", jsonobject.MaxInt),
	}
	row := listedBuffer{
		at: at, named: idOf(n.DeviceID), address: number("address", jsonobject.MaxWhole),
		perCore: number("max_size_per_bank", jsonobject.MaxWhole),
	}
	row.kind, row.typed = bufferKind(&n)
	return row
}

// A census has the rows of per_operation_buffers: for each place, the operations that list a buffer there.
// Writers sort the operations as texts, so those with as many digits follow each other in order: a buffer
// is a few spans of them.
type census struct {
	first   event.Opt[uint64] // operation with a list, be it empty
	at      [21][]uint64      // operations with a list, by digits, in their order there
	places  map[listedPlace]*listedSpans
	untyped map[untypedRow]int64 // rows without a type
	// placeless counts the rows of L1, or without a type, that have no address.
	placeless int64
	devices   map[device.ID]*listedSpans // with any buffer
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

// listedSpans are spans of census.at, by digits. The digits are a list, since most buffers have one entry: an array of
// all takes 0.5 KB for each listed buffer.
type listedSpans []digitSpans

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
func (l *census) add(row listedBuffer) {
	if l.places == nil {
		l.places, l.devices = map[listedPlace]*listedSpans{}, map[device.ID]*listedSpans{}
		l.untyped = map[untypedRow]int64{}
	}
	if row.begins {
		if !l.first.OK || row.at < l.first.V {
			l.first = event.Some(row.at)
		}
		return
	}
	digits := len(strconv.FormatUint(row.at, 10)) // as its writer has it
	n := len(l.at[digits])
	if n == 0 || l.at[digits][n-1] != row.at {
		l.at[digits] = append(l.at[digits], row.at)
		n++
	}
	if l.devices[row.named] == nil {
		l.devices[row.named] = &listedSpans{}
	}
	l.devices[row.named].extend(digits, n-1, event.Opt[uint64]{})
	switch {
	case !row.address.OK && (!row.typed || row.kind == fit.KindL1):
		l.placeless++
		return
	case !row.typed:
		l.untyped[untypedRow{row.named, row.address.V, row.at}]++
		return
	case !row.kind.InL1() || row.address.V == 0:
		return
	}
	place := listedPlace{row.named, row.address.V, row.kind}
	if l.places[place] == nil {
		l.places[place] = &listedSpans{}
	}
	l.places[place].extend(digits, n-1, row.perCore)
}

func (s *listedSpans) extend(digits, i int, perCore event.Opt[uint64]) {
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
func (l *census) listings(s *listedSpans) (out []listing) {
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
func (l *census) operations(s *listedSpans) (out []uint64) {
	for _, one := range l.listings(s) {
		out = append(out, one.at)
	}
	return out
}
