package wire

import (
	"cmp"
	"math"
	"slices"

	"github.com/google/btree"
)

// An order sorts lots by their place, which is a type, a device and an id, then by some of their
// other fields, and then by serial. Lots with the same place and the same other fields are alike:
// they are neighbours.
type order int

// The orders, by the other fields. Frees of CBs and kernels have a size, frees of buffers have none.
const (
	byShared order = iota // of buffers alone
	bySerial              // none
	byOwner               // before the place, so that the lots of an owner are neighbours, too
	bySize                // of CBs and kernels alone, as the next one
	byOwnerAndSize
	orders
)

// compare returns 0 for two lots that are alike.
func (o order) compare(a, b *Lot) int {
	switch {
	case o == byOwner && a.Owner != b.Owner:
		return cmp.Compare(a.Owner, b.Owner)
	case a.ID != b.ID:
		return cmp.Compare(a.ID, b.ID)
	case a.Device != b.Device || a.Type != b.Type:
		return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Type, b.Type))
	case o == bySize:
		return cmp.Compare(a.Size, b.Size)
	case o == byOwnerAndSize:
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Size, b.Size))
	case o == byShared:
		return cmp.Compare(bit(a.Shared), bit(b.Shared))
	}
	return 0
}

func bit(on bool) int {
	if on {
		return 1
	}
	return 0
}

func (o order) less(a, b *Lot) bool {
	if a.ID != b.ID && (o != byOwner || a.Owner == b.Owner) {
		return a.ID < b.ID // nearly always
	}
	return cmp.Or(o.compare(a, b), cmp.Compare(a.Serial, b.Serial)) < 0
}

// An index holds lots in each order. It must be made by newIndex.
type index [orders]*btree.BTreeG[*Lot]

func newIndex() *index {
	x := &index{}
	for o := range orders {
		x[o] = btree.NewG(64, o.less)
	}
	return x
}

// of returns the lots of an owner.
func (x *index) of(owner Client) (out []*Lot) {
	x[byOwner].AscendGreaterOrEqual(&Lot{Owner: owner}, func(lot *Lot) bool {
		if lot.Owner == owner {
			out = append(out, lot)
		}
		return lot.Owner == owner
	})
	return inOrder(out)
}

// all returns all lots.
func (x *index) all() (out []*Lot) {
	x[bySerial].Ascend(func(lot *Lot) bool {
		out = append(out, lot)
		return true
	})
	return inOrder(out)
}

// inOrder sorts lots by serial.
func inOrder(lots []*Lot) []*Lot {
	slices.SortFunc(lots, func(a, b *Lot) int { return cmp.Compare(a.Serial, b.Serial) })
	return lots
}

// first returns the first lot that is alike, from the serial of like on; nil if there is none.
func (x *index) first(o order, like Lot) (found *Lot) {
	x[o].AscendGreaterOrEqual(&like, func(lot *Lot) bool {
		if o.compare(lot, &like) == 0 {
			found = lot
		}
		return false
	})
	return found
}

// last returns the last lot that is alike; nil if there is none.
func (x *index) last(o order, like Lot) (found *Lot) {
	like.Serial = math.MaxUint64
	x[o].DescendLessOrEqual(&like, func(lot *Lot) bool {
		if o.compare(lot, &like) == 0 {
			found = lot
		}
		return false
	})
	return found
}

// trees returns the trees of lots of a type.
func (x *index) trees(t Type) []*btree.BTreeG[*Lot] {
	if t == TypeAlloc {
		return x[:bySize]
	}
	return x[bySerial:]
}

func (x *index) add(lot *Lot) {
	for _, tree := range x.trees(lot.Type) {
		tree.ReplaceOrInsert(lot)
	}
}

func (x *index) remove(lot *Lot) {
	for _, tree := range x.trees(lot.Type) {
		tree.Delete(lot)
	}
}
