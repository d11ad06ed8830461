package capture

import (
	"slices"
	"strconv"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/internal/shown"
)

const listsKey = "per_operation_buffers" // of a report

// A listedBuffer is one row of per_operation_buffers: a buffer that lived at an operation.
// Before the rows of each operation comes one with begins, which has at alone.
type listedBuffer struct {
	begins  bool
	at      uint64 // counter of the operation's function_start
	window  uint64 // of the first node of its window
	named   device.ID
	kind    fit.Kind
	address uint64
	perCore uint64
}

// operationBuffers reads {"4": [{"device_id": 0, "address": 1024, ...}, ...], ...}, which
// may be larger than all the rest of a report: one row at a time.
func (r *Reader) operationBuffers(s *jsonobject.Scanner) error {
	k, err := s.Kind()
	if err != nil || r.listed == nil || k == jsonobject.KindNull {
		if err == nil {
			err = s.Skip()
		}
		return r.scanError(err)
	}
	if k != jsonobject.KindObject {
		r.info.Listed.add(&event.InputError{Field: listsKey, Reason: "is " + k.String() + ", not an object"})
		return r.scanError(s.Skip())
	}
	if err := s.Enter(); err != nil {
		return r.scanError(err)
	}
	for {
		more, err := s.More()
		if err != nil || !more {
			return r.scanError(err)
		}
		raw, _, err := s.Key()
		if err != nil {
			return r.scanError(err)
		}
		at, wrong := strconv.ParseUint(string(raw), 10, 63)
		k, err := s.Kind()
		if err != nil {
			return r.scanError(err)
		}
		if wrong != nil || k != jsonobject.KindArray {
			r.info.Listed.add(&event.InputError{Field: listsKey, Reason: "is no list of the buffers of an operation"})
			if err := s.Skip(); err != nil {
				return r.scanError(err)
			}
			continue
		}
		if err := r.operationRows(s, at); err != nil {
			return err
		}
	}
}

// operationRows reads the list of one operation.
func (r *Reader) operationRows(s *jsonobject.Scanner, at uint64) error {
	if err := s.Enter(); err != nil {
		return r.scanError(err)
	}
	r.listed(listedBuffer{begins: true, at: at})
	var in jsonobject.Reader
	for {
		more, err := s.More()
		if err != nil || !more {
			return r.scanError(err)
		}
		if _, err := s.Kind(); err != nil {
			return r.scanError(err)
		}
		raw, err := s.Capture(maxNode)
		if err != nil {
			return r.scanError(err)
		}
		o := in.Read(raw)
		n := node{BufferType: numberOf(o, "buffer_type", jsonobject.MaxWhole), DeviceID: deviceID(o, "device_id")}
		row := listedBuffer{at: at, named: idOf(n.DeviceID), address: addressOf(o, jsonobject.MaxWhole).V}
		row.perCore = numberOf(o, "max_size_per_bank", jsonobject.MaxWhole).V
		row.kind, _ = bufferKind(&n)
		if e := in.Err(); e != nil {
			r.info.Listed.add(&event.InputError{Field: listsKey + "." + e.Path, Value: shown.Value(e.Value), Reason: e.Reason})
			continue
		}
		r.listed(row)
	}
}

// A census is what per_operation_buffers says: for each place, at which operations a buffer
// is listed there. Writers sort the operations as texts, so those with as many digits
// follow each other in order: a buffer is a few spans of them.
type census struct {
	first   map[uint64]uint64 // operation with a list, be it empty, by window
	at      [21][]uint64      // operations with a list, by digits, in their order there
	places  map[listedPlace]*listedSpans
	devices map[device.ID]*listedSpans // with any buffer
}

// A listedPlace is where a buffer is listed.
type listedPlace struct {
	named   device.ID
	address uint64
	kind    fit.Kind
	window  uint64
}

// listedSpans are spans of census.at, both ends included.
type listedSpans struct {
	perCore uint64 // in the first list
	spans   [21][][2]int
}

// add takes in one row.
func (l *census) add(row listedBuffer) {
	if l.places == nil {
		l.places, l.devices, l.first = map[listedPlace]*listedSpans{}, map[device.ID]*listedSpans{}, map[uint64]uint64{}
	}
	if row.begins {
		if first, ok := l.first[row.window]; !ok || row.at < first {
			l.first[row.window] = row.at
		}
		return
	}
	digits := len(strconv.FormatUint(row.at-row.window, 10)) // as its writer has it
	n := len(l.at[digits])
	if n == 0 || l.at[digits][n-1] != row.at {
		l.at[digits] = append(l.at[digits], row.at)
		n++
	}
	if l.devices[row.named] == nil {
		l.devices[row.named] = &listedSpans{}
	}
	l.devices[row.named].extend(digits, n-1)
	if !row.kind.InL1() || row.kind < fit.KindL1 || row.address == 0 {
		return
	}
	place := listedPlace{row.named, row.address, row.kind, row.window}
	if l.places[place] == nil {
		l.places[place] = &listedSpans{perCore: row.perCore}
	}
	l.places[place].extend(digits, n-1)
}

func (s *listedSpans) extend(digits, i int) {
	of := &s.spans[digits]
	switch last := len(*of) - 1; {
	case last >= 0 && (*of)[last][1] == i:
	case last >= 0 && (*of)[last][1] == i-1:
		(*of)[last][1] = i
	default:
		*of = append(*of, [2]int{i, i})
	}
}

// operations returns the operations of spans, ascending.
func (l *census) operations(s *listedSpans) (out []uint64) {
	for digits, spans := range s.spans {
		for _, span := range spans {
			out = append(out, l.at[digits][span[0]:span[1]+1]...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// byAddress returns the places that are listed, by address.
func (l *census) byAddress() map[uint64][]listedPlace {
	out := map[uint64][]listedPlace{}
	for place := range l.places {
		out[place.address] = append(out[place.address], place)
	}
	return out
}
