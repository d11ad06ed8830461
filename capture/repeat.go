package capture

import (
	"bytes"
	"hash/maphash"
	"strconv"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/jsonobject"
)

// Captures say the same thing again and again: a program that runs in each layer of a model
// has the same nodes there but for their counters. A text that came twice is not decoded
// again:
//
//	{"counter":4,"node_type":"circular_buffer_allocate","params":{...}}   decoded
//	{"counter":9,"node_type":"circular_buffer_allocate","params":{...}}   decoded, and remembered
//	{"counter":14,"node_type":"circular_buffer_allocate","params":{...}}  that node, as number 14
//
// A text is compared byte by byte with the one that is remembered; only the digits of the
// counter may differ.

// The texts that are remembered: how many, and how long they may be. When there are more,
// the decoder forgets all and starts again.
const (
	maxRepeats    = 1 << 14
	maxRepeatSize = 512 // bytes
)

// repeats are the nodes whose text came more than once.
type repeats struct {
	seed   maphash.Seed
	texts  map[uint64]*repeat // by their hashes
	once   []uint64           // hashes of texts that came, by their last bits: most never come again
	came   int                // how many there were
	last   *repeat            // that the node at hand repeats, nil if it repeats none
	digits []byte
	keyAt  int // where the key of the counter was in the last text
}

func newRepeats() repeats {
	return repeats{seed: maphash.MakeSeed(), texts: map[uint64]*repeat{}, once: make([]uint64, 256)}
}

// A repeat is a node that came twice, and its text around the digits of its counter.
type repeat struct {
	before, behind []byte
	lines          int64 // ends of lines in both
	node           node
	next           *repeat // that came behind it last
}

// A divided text is the text of a node, cut around the digits of its counter.
type divided struct {
	before, digits, behind []byte
	hash                   uint64 // of the first and the last
}

// divide divides the text of a node. It returns no digits if the text is not to be
// remembered.
func (r *repeats) divide(raw []byte) (d divided) {
	const key = `"counter":`
	if len(raw) > maxRepeatSize {
		return d
	}
	at := r.keyAt // where it was in the last text, if it is there again
	if at+len(key) > len(raw) || string(raw[at:at+len(key)]) != key {
		if at = bytes.Index(raw, []byte(key)); at < 0 {
			return d
		}
		r.keyAt = at
	}
	at += len(key)
	for raw[at] == ' ' { // a text is whole: it does not end here
		at++
	}
	end := at
	for raw[end]-'0' < 10 {
		end++
	}
	d = divided{before: raw[:at], digits: raw[at:end], behind: raw[end:]}
	d.hash = maphash.Bytes(r.seed, d.before) + 3*maphash.Bytes(r.seed, d.behind)
	return d
}

// find returns what a text repeats, and whether it is to be kept once it is decoded.
func (r *repeats) find(d divided) (found *repeat, keep bool) {
	if len(d.digits) == 0 {
		return nil, false
	}
	if t := r.texts[d.hash]; t != nil && bytes.Equal(t.behind, d.behind) && bytes.Equal(t.before, d.before) {
		return t, false
	}
	if r.came++; r.came > len(r.once) && len(r.once) < maxRepeats {
		r.once = make([]uint64, 4*len(r.once))
	}
	slot := &r.once[d.hash%uint64(len(r.once))]
	keep = *slot == d.hash
	*slot = d.hash
	return nil, keep
}

// keep remembers a node that was decoded. A node with lists is not kept, since all its repeats would share
// them.
func (r *repeats) keep(d divided, n node) {
	if n.Connections != nil || n.Tensor.DeviceTensors != nil || n.Anomaly != 0 || bytes.IndexByte(d.behind, '\r') >= 0 || bytes.IndexByte(d.before, '\r') >= 0 {
		return
	}
	n.Pos, n.Counter = event.Pos{}, 0
	if len(r.texts) == maxRepeats {
		clear(r.texts)
	}
	r.texts[d.hash] = &repeat{
		before: bytes.Clone(d.before), behind: bytes.Clone(d.behind), lines: lines(d.before) + lines(d.behind), node: n,
	}
}

// follows notes which text follows which: nil is one that repeats nothing.
func (r *repeats) follows(next *repeat) {
	if r.last != nil && next != nil {
		r.last.next = next
	}
	r.last = next
}

// ahead passes the text of a node if it is the one that followed the last text before,
// with the counter that belongs here. It returns nil if it is not, or not all of it is at
// hand.
func (r *repeats) ahead(s *jsonobject.Scanner, counter int64) *repeat {
	if r.last == nil || r.last.next == nil {
		return nil
	}
	t, text := r.last.next, s.Ahead()
	r.digits = strconv.AppendInt(r.digits[:0], counter, 10)
	middle := len(t.before) + len(r.digits)
	size := middle + len(t.behind)
	if len(text) < size || !bytes.Equal(text[middle:size], t.behind) || !bytes.Equal(text[len(t.before):middle], r.digits) ||
		!bytes.Equal(text[:len(t.before)], t.before) {
		return nil
	}
	s.Pass(size, t.lines)
	return t
}

// counts reports whether the digits of a text are the whole counter of its node, and not a value inside
// another member.
func (d divided) counts(counter []byte) bool {
	return len(counter) == len(d.digits) && &counter[0] == &d.digits[0]
}

// isNumber reports whether digits are a number, without a 0 before it.
func isNumber(digits []byte, number int64) bool {
	var text [20]byte
	return bytes.Equal(digits, strconv.AppendInt(text[:0], number, 10))
}

// lines returns the number of line ends in b: LF, CRLF or CR.
func lines(b []byte) int64 {
	return int64(bytes.Count(b, []byte("\n")) + bytes.Count(b, []byte("\r")) - bytes.Count(b, []byte("\r\n")))
}
