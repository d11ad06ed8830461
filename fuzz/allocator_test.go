package fuzz_test

import (
	"testing"
	"time"

	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/fuzz/suite"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// place is package program as a suite.Allocator.
func place(spec l1.Spec, cbs []program.CB) ([]uint64, error) {
	return placeBy(program.NewBuilder(1), spec, cbs)
}

func placeAsWritten(spec l1.Spec, cbs []program.CB) ([]uint64, error) {
	return placeBy(program.NewBuilder(1).AsWritten(), spec, cbs)
}

func placeBy(b *program.Builder, spec l1.Spec, cbs []program.CB) ([]uint64, error) {
	for _, cb := range cbs {
		b.CB(cb)
	}
	p, err := b.Build(spec)
	if err != nil {
		return nil, err
	}
	out := make([]uint64, len(cbs))
	for i, cb := range p.CBs() {
		out[i] = cb.Address
	}
	return out, nil
}

func upstream() suite.Rules { return suite.Rules{Stable: true, Reference: true} }

func TestAllocatorRules(t *testing.T) {
	many(t, suite.AllocatorRules(suite.PlaceFunc(place), upstream()))
	written := upstream()
	written.AsWritten = true
	many(t, suite.AllocatorRules(suite.PlaceFunc(placeAsWritten), written))
}

// The two ways differ, and the suite notices which one an allocator goes.
func TestWaysToPlaceDiffer(t *testing.T) {
	message := fails(suite.AllocatorRules(suite.PlaceFunc(placeAsWritten), upstream()), time.Second)
	require.Contains(t, message, "as tt-metal places")
}

func FuzzAllocatorRules(f *testing.F) {
	seed(f)
	f.Fuzz(rapid.MakeFuzz(suite.AllocatorRules(suite.PlaceFunc(place), upstream())))
}

// Keep this one even if it looks like a test of nothing: tt-metal places CBs of one
// program on top of each other when their core ranges overlap without being equal
// (example F of its worked examples), and the suite has to find that by itself.
func TestUpstreamIsNotDisjoint(t *testing.T) {
	message := fails(suite.AllocatorRules(suite.PlaceFunc(place), suite.Rules{Disjoint: true}), time.Second)
	require.Contains(t, message, "share")
}

// The oracle's own placement, on the example that shows the most of it: three CBs on
// one core, five on another, then one over both and the core between them.
func TestModelPlaces(t *testing.T) {
	var cbs []program.CB
	for i := range 9 {
		cores := "{[0-0 - 0-0]}"
		switch {
		case i == 8:
			cores = "{[0-0 - 0-2]}"
		case i >= 3:
			cores = "{[0-2 - 0-2]}"
		}
		cbs = append(cbs, program.CB{Cores: l1.MustParseCoreRangeSet(cores), Size: 2048})
	}
	at := model.Place(l1.N150(), cbs)
	require.Equal(t, []uint64{103_712, 105_760, 107_808, 103_712, 105_760, 107_808, 109_856, 111_904, 113_952}, at)

	for i, cores := range []string{"{[0-0 - 0-0]}", "{[1-0 - 1-0]}", "{[0-0 - 0-0], [1-0 - 1-0]}"} {
		cbs[i] = program.CB{Cores: l1.MustParseCoreRangeSet(cores), Size: []uint64{2048, 1_100_000, 400_000}[i]}
	}
	require.Equal(t, []uint64{111_616, 111_616, 113_664}, model.Place(l1.P150(), cbs[:3]))
	require.Equal(t, []uint64{111_616, 111_616, 1_211_648}, model.PlaceAsWritten(l1.P150(), cbs[:3]))
}
