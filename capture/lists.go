package capture

import (
	"cmp"
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

// lists are what per_operation_buffers says: for each place, at which operations a buffer
// is listed there. Writers sort the operations as texts, so those with as many digits
// follow each other in order: a buffer is a few spans of them.
type lists struct {
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

// listedSpans are spans of lists.at, both ends included.
type listedSpans struct {
	perCore uint64 // in the first list
	spans   [21][][2]int
}

// add takes in one row.
func (l *lists) add(row listedBuffer) {
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
func (l *lists) operations(s *listedSpans) (out []uint64) {
	for digits, spans := range s.spans {
		for _, span := range spans {
			out = append(out, l.at[digits][span[0]:span[1]+1]...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// fromLists returns the listed buffers that no allocation of the capture explains. One
// lives from the first list that names it, which for the first list of all is the start,
// to its free, or to the next list of its device without it.
func (p *past) fromLists(known *learnt) (out []resident) {
	places := make([]listedPlace, 0, len(p.lists.places))
	for place := range p.lists.places {
		places = append(places, place)
	}
	slices.SortFunc(places, func(a, b listedPlace) int {
		return cmp.Or(byID(a.named, b.named), cmp.Compare(a.address, b.address), cmp.Compare(a.kind, b.kind), cmp.Compare(a.window, b.window))
	})
	var listings []uint64 // of the id of the last place
	var made made         // of its address
	for i, place := range places {
		next := i == 0 || place.named != places[i-1].named
		if next {
			listings = p.listings(place.named)
		}
		if next || place.address != places[i-1].address {
			made = p.madeAt(known, place.named, place.address)
		}
		out = append(out, p.fromPlace(known, place, p.within(listings, place.window), made)...)
	}
	return out
}

// within cuts operations, which are ascending, to one window: the window begins at a node.
func (p *past) within(all []uint64, window uint64) []uint64 {
	from, _ := slices.BinarySearch(all, window)
	to, _ := slices.BinarySearch(all, p.border(window))
	return all[from:to]
}

// fromPlace returns the residents of one place. all are the operations of its window that list
// anything of its device, made what the capture allocated there.
func (p *past) fromPlace(known *learnt, place listedPlace, all []uint64, made made) (out []resident) {
	spans := p.lists.places[place]
	var now *resident
	end := func(at uint64) {
		if now != nil {
			now.until = min(now.until, at)
			out = append(out, *now)
			now = nil
		}
	}
	next := 0 // in all
	for _, at := range p.lists.operations(spans) {
		i, _ := slices.BinarySearch(all[next:], at)
		if i > 0 { // lists came between that lack it
			end(p.goneBy(all[next]))
		}
		next += i + 1
		if made.during(at, p.endOf(at)) {
			end(at)
			continue
		}
		if now != nil && now.until > at {
			continue
		}
		end(at)
		since := at
		hidden := p.hidden.OK && p.hidden.V < at
		if p.lists.first[place.window] == at && !hidden && p.freed(known, place.named, place.address, place.window) >= at {
			since = place.window
		}
		now = &resident{
			named: place.named, kind: place.kind, address: place.address, perCore: event.Some(spans.perCore), since: since,
			until: p.freed(known, place.named, place.address, since),
		}
	}
	if next < len(all) {
		end(p.goneBy(all[next]))
	}
	end(p.border(place.window))
	return out
}

// made are the lives of a place by their start; the ends are the latest so far.
type made []life

func (p *past) madeAt(known *learnt, id device.ID, address uint64) (out made) {
	for h := range p.lives[address].sharing(known, id) {
		for _, l := range h.lives {
			out = append(out, *l)
		}
	}
	slices.SortFunc(out, func(a, b life) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(out); i++ {
		out[i].to = max(out[i].to, out[i-1].to)
	}
	return out
}

// during reports whether one of them lived at some time of a span, both ends included.
func (m made) during(from, to uint64) bool {
	i, _ := slices.BinarySearchFunc(m, to, func(l life, to uint64) int {
		if l.from <= to {
			return -1
		}
		return 1
	})
	return i > 0 && m[i-1].to > from
}

// A span is where a function begins and ends.
type span struct{ start, end uint64 }

// enters and leaves take in that a function begins, or that the innermost one ends.
func (p *past) enters(at uint64) {
	if p != nil && p.listable && !p.sliced {
		p.open = append(p.open, len(p.spans))
		p.spans = append(p.spans, span{at, forever})
	}
}

func (p *past) leaves(at uint64) {
	if p == nil || len(p.open) == 0 {
		return
	}
	last := len(p.open) - 1
	p.spans[p.open[last]].end = at
	p.open = p.open[:last]
}

// endOf returns where the function ends that begins at a node.
func (p *past) endOf(at uint64) uint64 {
	i, ok := slices.BinarySearchFunc(p.spans, at, func(s span, at uint64) int { return cmp.Compare(s.start, at) })
	if !ok {
		return forever
	}
	return p.spans[i].end
}
