package graph

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/cbl1/cbl1/internal/jsonobject"
)

// Captures say the same thing again and again, with other numbers. Such nodes have one shape: a text with
// holes for its numbers. The second node of a shape is decoded and makes it. All later ones are
// compared with its text byte by byte, and their numbers are written into its node:
//
//	{"counter":4,"node_type":"buffer","params":{"size":64,"type":"L1"}}   decoded
//	{"counter":9,"node_type":"buffer","params":{"size":96,"type":"L1"}}   decoded: a shape with two holes
//	{"counter":14,"node_type":"buffer","params":{"size":32,"type":"L1"}}  that shape: number 14, size 32
//
// A report with whole texts in place of shapes takes 1.2 times the processor time on a dense graph, and 1.3
// times beside buffers whose sizes vary.

// The shapes that are remembered: how many, how many of one hash, and how long their texts may be. When there
// are more, the decoder forgets all and starts again.
const (
	maxShapes    = 1 << 12
	maxAlike     = 8
	maxShapeSize = 512 // bytes
	maxDigits    = 18  // of a number in a hole: each such number is below 2^63
)

// A shape is a text with holes, and the node that it describes. Its node is valid until the shape is
// found again.
type shape struct {
	text        []byte
	holes       []hole // in the order of the text
	lines       int64  // ends of lines
	node        Node
	connections []uint64
	alike       *shape // another one with the same hash
	next        *shape // that came behind it last
}

// A hole is a whole number of a text, from 0 to most.
type hole struct {
	start, end int
	most       uint64
	to         *uint64 // of the node; nil if no field has the number
}

// shapes are the shapes of a capture, and the one that is made.
type shapes struct {
	hash   func(text []byte) uint64 // of a text without the digits of its numbers
	known  map[uint64]*shape        // by the hashes of their texts without digits
	count  int
	once   map[uint64]struct{} // hashes of texts that came and are no shape: most never come again
	last   *shape              // of the node at hand, nil if it has none
	holes  []hole              // that the decoder found in the node at hand
	learns bool                // it has to find them
}

func newShapes() shapes {
	return shapes{hash: newHash(), known: map[uint64]*shape{}, once: map[uint64]struct{}{}}
}

// match reads a text that begins with a node of this shape, and returns the node's length. It is 0 if the text
// has another shape, or not all of it is there.
func (s *shape) match(text []byte, counter uint64) int {
	at, from := 0, 0
	for i := range s.holes {
		h := &s.holes[i]
		piece := s.text[from:h.start]
		if len(text)-at <= len(piece) || !bytes.Equal(text[at:at+len(piece)], piece) {
			return 0
		}
		at += len(piece)
		v, n := digits(text[at:])
		if n == 0 || v > h.most {
			return 0
		}
		if h.to != nil {
			*h.to = v
		}
		at, from = at+n, h.end
	}
	if piece := s.text[from:]; s.node.Counter != counter || !bytes.HasPrefix(text[at:], piece) {
		return 0
	}
	s.node.Connections = slices.Clone(s.connections)
	return at + len(s.text) - from
}

// digits returns the number at the start of a text, and its length: 0 if there is none, if it begins with a 0 too
// many, or if it is too long.
func digits(text []byte) (v uint64, n int) {
	for n < len(text) && text[n]-'0' < 10 {
		v = 10*v + uint64(text[n]-'0')
		n++
	}
	if n > maxDigits || n > 1 && text[0] == '0' {
		return 0, 0
	}
	return v, n
}

// ahead passes a node of the shape that followed the last shape before. It returns nil if another one comes.
func (r *shapes) ahead(s *jsonobject.Scanner, counter int64) *shape {
	if r.last == nil || r.last.next == nil {
		return nil
	}
	next := r.last.next
	n := next.match(s.Ahead(), uint64(counter))
	if n == 0 {
		return nil
	}
	s.Pass(n, next.lines)
	return next
}

// find returns the shape of a whole text. If it is not known, the second such text is to make it.
func (r *shapes) find(raw []byte, counter int64) (found *shape, hash uint64) {
	r.learns = false
	if len(raw) > maxShapeSize {
		return nil, 0
	}
	hash = r.hash(raw)
	alike := 0
	for s := r.known[hash]; s != nil; s = s.alike {
		if s.match(raw, uint64(counter)) == len(raw) {
			return s, hash
		}
		alike++
	}
	if len(r.once) == maxShapes {
		clear(r.once)
	}
	_, came := r.once[hash]
	r.learns = came && alike < maxAlike
	r.once[hash], r.holes = struct{}{}, r.holes[:0]
	return nil, hash
}

// newHash returns a hash of texts without the digits of their numbers. Older writers have numbers in quotes.
func newHash() func(text []byte) uint64 {
	seed := maphash.MakeSeed()
	var to []byte
	return func(text []byte) uint64 {
		inText, number := false, true
		to = to[:0]
		for i := 0; i < len(text); i++ {
			c := text[i]
			if number && c-'0' < 10 {
				continue
			}
			to = append(to, c)
			switch number = !inText; c {
			case '"':
				inText, number = !inText, true
			case '\\':
				i++
			}
		}
		return maphash.Bytes(seed, to)
	}
}

// hole notes where the node at hand has a number, and reports whether it begins as the numbers in holes do.
func (r *shapes) hole(raw []byte, at jsonobject.Span, most uint64, to *uint64) bool {
	if raw[at.Start] == '"' {
		at.Start, at.End = at.Start+1, at.End-1
	}
	if _, n := digits(raw[at.Start:at.End]); n == 0 {
		return false
	}
	r.holes = append(r.holes, hole{at.Start, at.End, most, to})
	return true
}

// keep remembers a shape whose node was decoded. A node with lists of its own is not kept, since all nodes of
// the shape would share them.
func (r *shapes) keep(s *shape, hash uint64, raw []byte) {
	if s.node.Tensor.DeviceTensors != nil || s.node.Function.Inputs != nil || s.node.Function.Returns != nil || s.node.Anomaly != 0 || s.node.Unreadable != nil ||
		bytes.IndexByte(raw, '\r') >= 0 {
		return
	}
	if r.count == maxShapes {
		clear(r.known)
		r.count, r.last = 0, nil
	}
	slices.SortFunc(r.holes, func(a, b hole) int { return cmp.Compare(a.start, b.start) })
	s.text, s.holes, s.lines = bytes.Clone(raw), slices.Clone(r.holes), lines(raw)
	s.connections, s.node.Connections = s.node.Connections, slices.Clone(s.node.Connections)
	s.alike = r.known[hash]
	r.known[hash] = s
	r.count++
	r.follows(s)
}

// follows notes which shape follows which: nil is a node of none.
func (r *shapes) follows(next *shape) {
	if r.last != nil && next != nil {
		r.last.next = next
	}
	r.last = next
}

// lines returns the number of line ends in b: LF, CRLF or CR.
func lines(b []byte) int64 {
	return int64(bytes.Count(b, []byte("\n")) + bytes.Count(b, []byte("\r")) - bytes.Count(b, []byte("\r\n")))
}
