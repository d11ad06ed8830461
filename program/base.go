package program

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// A Base is the lowest address of the CBs that are placed on some cores. Persistent pages
// may lie below it.
type Base struct {
	Cores   l1.CoreRangeSet
	Address uint64 // bytes
}

// maxBases bounds the bases of a program: no board has so many cores.
const maxBases = 256

// Base makes Build place CBs on some cores at an address, in bytes, or above it, and returns b. It
// counts for CBs of all kinds that are to be placed and name one of the cores, including CBs
// appended before it. The highest base of a CB's cores counts, and is rounded up as any address.
// Given addresses stay.
//
//	bases  64 on 0-0, 128 on 1-0       CB X {[0-0 - 0-0]} starts at 64
//	                                   CB Y {[0-0 - 1-0]} starts at 128 on both cores
//
// tt-metal keeps pages that outlive programs at the bottom of L1, and places CBs above the
// highest page on any of their cores: PersistentL1Arena::high_water_mark of
// tt_metal/impl/allocator/persistent_l1_arena.cpp.
//
// Build refuses a base below the Spec's or beyond its L1, a base on cores outside the grid, and
// more than 256 bases, with an *Error. Cost: a base visits each core range set that the CBs name.
func (b *Builder) Base(cores l1.CoreRangeSet, address uint64) *Builder {
	b.bases = append(b.bases, Base{cores, address})
	return b
}

// Like makes Build place as p was placed, and returns b: with core ranges as written or
// merged, and above the same bases.
func (b *Builder) Like(p *Program) *Builder {
	b.written, b.bases = p.written, slices.Clip(p.bases)
	return b
}

// Bases returns the bases of the program, as they were given to [Builder.Base].
func (p *Program) Bases() iter.Seq[Base] { return slices.Values(p.bases) }

// checkBases returns the complaints about the bases as given.
func (b *Builder) checkBases(spec l1.Spec) (errs []error) {
	bad := func(i int, field, value, reason string) {
		errs = append(errs, &Error{b.id, b.name, "base", i, field, value, errors.New(reason)})
	}
	if n := len(b.bases); n > maxBases {
		return []error{&Error{Program: b.id, Name: b.name, Field: "Bases", Err: fmt.Errorf("%d bases: more than %d", n, maxBases)}}
	}
	for i, base := range b.bases {
		switch at := fmt.Sprint(base.Address); {
		case base.Address < spec.CBBase:
			bad(i, "Address", at, fmt.Sprintf("below the base of the device, %d", spec.CBBase))
		case base.Address > l1.MaxAddr:
			bad(i, "Address", at, "beyond 2^63-1")
		case spec.L1Size > 0 && base.Address > spec.L1Size:
			bad(i, "Address", at, fmt.Sprintf("beyond L1, which ends at %d", spec.L1Size))
		}
		for r := range base.Cores.All() {
			if !spec.Has(r.End) {
				bad(i, "Cores", r.String(), fmt.Sprintf("outside the %dx%d grid", spec.Cols, spec.Rows))
				break
			}
		}
	}
	return errs
}
