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

// changeFlat is change while all boundaries are in one block: it walks them up to
// the end of r and needs no summary.
func (v *Coverage) changeFlat(r l1.Range, d int64) bool {
	block := v.root.block
	i, count := 0, int64(0)
	for i < len(block) && block[i].addr <= r.Start {
		count += block[i].delta
		i++
	}
	// The bytes with this count are about to be covered, or to be free.
	edge := int64(0)
	if d < 0 {
		edge = 1
	}
	at, moved := r.Start, uint64(0)
	for ; i < len(block) && block[i].addr < r.End; i++ {
		if count <= edge {
			if count < edge {
				return false
			}
			moved += block[i].addr - at
		}
		at = block[i].addr
		count += block[i].delta
	}
	switch {
	case count < edge:
		return false
	case count == edge:
		moved += r.End - at
	}
	if block == nil {
		v.root.block = make([]boundary, 0, 4)
	}
	v.shift(&v.root, r.Start, d)
	v.shift(&v.root, r.End, -d)
	v.settleRoot()
	if d > 0 {
		v.bytes += moved
	} else {
		v.bytes -= moved
	}
	return true
}
