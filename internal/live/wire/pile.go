package wire

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/google/btree"
)

// A pile has the lots under one key. It is never empty in a Ledger.
type pile struct {
	few  []*Lot           // by serial, while there are at most maxFew
	many *[orders]*lotsIn // from then on
}

type lotsIn = btree.BTreeG[*Lot]

// maxFew is how many lots of a pile are searched one by one.
const maxFew = 16

// An order sorts lots. Lots that are alike are neighbours, by serial.
type order int

const (
	bySerial order = iota // all are alike
	byOwner
	bySize
	byOwnerAndSize
	byShared
	orders
)

// compare is 0 for two lots that are alike.
func (o order) compare(a, b *Lot) int {
	switch o {
	case byOwner:
		return cmp.Compare(a.Owner, b.Owner)
	case bySize:
		return cmp.Compare(a.Size, b.Size)
	case byOwnerAndSize:
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Size, b.Size))
	case byShared:
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
	return cmp.Or(o.compare(a, b), cmp.Compare(a.Serial, b.Serial)) < 0
}

func (p *pile) len() int {
	switch {
	case p == nil:
		return 0
	case p.many != nil:
		return p.many[bySerial].Len()
	}
	return len(p.few)
}

// all returns the lots in the order of their serials.
func (p *pile) all() iter.Seq[*Lot] {
	if p.many == nil {
		return slices.Values(p.few)
	}
	return func(yield func(*Lot) bool) { p.many[bySerial].Ascend(yield) }
}

// first returns the first lot that is alike, from the serial of like on; nil if there is none.
func (p *pile) first(o order, like Lot) (found *Lot) {
	if p == nil {
		return nil
	}
	if p.many == nil {
		if i := slices.IndexFunc(p.few, func(lot *Lot) bool { return o.compare(lot, &like) == 0 && lot.Serial >= like.Serial }); i >= 0 {
			found = p.few[i]
		}
		return found
	}
	p.many[o].AscendGreaterOrEqual(&like, func(lot *Lot) bool {
		found = lot
		return false
	})
	return alike(o, found, &like)
}

// last returns the last lot that is alike; nil if there is none.
func (p *pile) last(o order, like Lot) (found *Lot) {
	if p == nil {
		return nil
	}
	like.Serial = math.MaxUint64
	if p.many == nil {
		for _, lot := range slices.Backward(p.few) {
			if o.compare(lot, &like) == 0 {
				return lot
			}
		}
		return nil
	}
	p.many[o].DescendLessOrEqual(&like, func(lot *Lot) bool {
		found = lot
		return false
	})
	return alike(o, found, &like)
}

// alike returns a lot that was found if it is like another one, else nil.
func alike(o order, found, like *Lot) *Lot {
	if found == nil || o.compare(found, like) != 0 {
		return nil
	}
	return found
}

// add adds a lot.
func (p *pile) add(lot *Lot) {
	if p.many != nil {
		for _, tree := range p.many {
			tree.ReplaceOrInsert(lot)
		}
		return
	}
	i, _ := p.at(lot)
	if p.few = slices.Insert(p.few, i, lot); len(p.few) <= maxFew {
		return
	}
	p.many = &[orders]*lotsIn{}
	for o := range orders {
		p.many[o] = btree.NewG(16, o.less)
		for _, lot := range p.few {
			p.many[o].ReplaceOrInsert(lot)
		}
	}
	p.few = nil
}

// remove gives back a lot that is there.
func (p *pile) remove(lot *Lot) {
	if p.many == nil {
		i, _ := p.at(lot)
		p.few = slices.Delete(p.few, i, i+1)
		return
	}
	for _, tree := range p.many {
		tree.Delete(lot)
	}
}

// at returns where a lot is among few, or belongs.
func (p *pile) at(lot *Lot) (int, bool) {
	return slices.BinarySearchFunc(p.few, lot, func(a, b *Lot) int { return cmp.Compare(a.Serial, b.Serial) })
}
