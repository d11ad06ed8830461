package cbregion

import "github.com/cbl1/cbl1/l1"

// change adds d, which is +1 or -1, to the count of every byte of r, which is not
// empty. It returns false and changes nothing if a count would become negative.
func (v *Coverage) change(r l1.Range, d int64) bool {
	v.begin()
	if v.root.kids == nil {
		return v.changeFlat(r, d)
	}
	v.changeTree(r, d)
	if v.root.size() == 0 {
		v.bytes = 0
		return true
	}
	top := newChild(v.root)
	if top.min < 0 {
		v.changeTree(r, -d)
		return false
	}
	v.bytes = top.covered(0)
	return true
}

func (v *Coverage) changeTree(r l1.Range, d int64) {
	v.shiftBoth(&v.root, r, d)
	v.settleRoot()
}

// changeFlat is change while all boundaries are in one block: it walks over them up to
// the end of r and needs no summary.
func (v *Coverage) changeFlat(r l1.Range, d int64) bool {
	block := v.root.block
	start, count := 0, int64(0)
	for start < len(block) && block[start].addr < r.Start {
		count += block[start].delta
		start++
	}
	// The bytes with this count are about to be covered, or to be free.
	edge := int64(0)
	if d < 0 {
		edge = 1
	}
	moved, inside, ok := bytesAt(edge, r, block[start:], count)
	if !ok {
		return false
	}
	if block == nil {
		v.root.block = make([]boundary, 0, 4)
	}
	v.own(&v.root)
	v.put(&v.root, start+inside, r.End, -d)
	v.put(&v.root, start, r.Start, d)
	v.settleRoot()
	if d > 0 {
		v.bytes += moved
	} else {
		v.bytes -= moved
	}
	return true
}

// bytesAt returns the number of bytes of r whose count is edge, the number of boundaries inside r, and
// whether every count in r is at least edge. rest are the boundaries from the start of r, and before is the
// count in front of them. (As a part of changeFlat it took twice as long: too much is kept at hand there.)
func bytesAt(edge int64, r l1.Range, rest []boundary, before int64) (bytes uint64, inside int, ok bool) {
	at, count := r.Start, before
	if len(rest) > 0 && rest[0].addr == at {
		count += rest[0].delta
		inside++
	}
	for ; inside < len(rest) && rest[inside].addr < r.End; inside++ {
		b := &rest[inside]
		if count <= edge {
			if count < edge {
				return 0, 0, false
			}
			bytes += b.addr - at
		}
		at = b.addr
		count += b.delta
	}
	if count == edge {
		bytes += r.End - at
	}
	return bytes, inside, count >= edge
}
