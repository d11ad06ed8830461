package oracle

import (
	"errors"
	"slices"

	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	stated "github.com/cbl1/cbl1/program"
)

// place gives the local buffers of one program that have address 0 their addresses. Recorded addresses are
// marked before any buffer of the same kind is placed.
func place(run []*buffer, l Layout) {
	run = slices.Clone(run)
	slices.SortStableFunc(run, func(a, b *buffer) int {
		switch known := a.addr != 0; {
		case known == (b.addr != 0):
			return 0
		case known:
			return -1
		}
		return 1
	})
	for i, at := range model.PlaceAsWritten(l1.Spec{CBBase: l.Base, CBAlign: l.Align}, cbsOf(run)) {
		if b := run[i]; b.local && b.addr == 0 {
			b.addr = at
		}
	}
}

func cbsOf(group []*buffer) (out []stated.CB) {
	for _, b := range group {
		var cores []l1.CoreRange
		for _, r := range b.ranges {
			cores = append(cores, l1.CoreRange{Start: r.from.l1(), End: r.to.l1()})
		}
		set, err := l1.NewCoreRangeSet(cores...)
		if err != nil {
			panic(err) // ranges are read with their ends in order
		}
		out = append(out, stated.CB{
			Kind: stated.Kind(b.kind), Cores: set, Size: b.size, Address: b.addr, Fixed: b.addr != 0, Global: !b.local,
		})
	}
	return out
}

func roundUp(n, align uint64) uint64 {
	return (n + align - 1) / align * align
}

// errTooFar guards the machine that runs the tests, not the file format.
var errTooFar = errors.New("oracle: address beyond 64 MiB")

const farthest = 64 << 20

// count returns the number of bytes in any of some ranges. Ranges that end too far do not count: they are an error.
func count(ranges []l1.Range) (n uint64, err error) {
	near := slices.DeleteFunc(slices.Clone(ranges), func(r l1.Range) bool { return r.End > farthest })
	if len(near) < len(ranges) {
		err = errTooFar
	}
	return model.Union(near...), err
}
