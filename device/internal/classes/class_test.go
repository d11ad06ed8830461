package classes

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Programs that are not on the whole grid cut the cores into classes. When they have
// left, what remains must not cost more for ever.
func TestClassesAreJoinedAgain(t *testing.T) {
	spec := l1.N150()
	held := newBoard(t)
	register := func(id program.ID, cbs ...program.CB) *program.Program {
		p, err := program.Place(id, "", spec, cbs...)
		require.NoError(t, err)
		held.register(p)
		return p
	}
	classes := func() (occupied, reserved int) {
		return len(held.held.Occupied.Classes), len(held.held.Reservation().Classes)
	}
	register(1, program.CB{Cores: spec.Grid(), Size: 4096})
	// Reserves more than it occupies, so that both views are kept.
	register(2, program.CB{Cores: spec.Grid(), Size: 64, Global: true}, program.CB{Cores: l1.MustParseCoreRangeSet("{[0-0 - 0-0]}"), Size: 4096})
	var cutters []*program.Program
	for core := range spec.Grid().Cores().All() {
		one, err := l1.NewCoreRangeSet(l1.CoreRange{Start: core, End: core})
		require.NoError(t, err)
		cutters = append(cutters, register(program.ID(100+len(cutters)), program.CB{Cores: one, Size: 64}))
	}
	occupied, _ := classes()
	require.Equal(t, 64, occupied)
	for _, p := range cutters {
		held.unregister(p.ID())
		held.compare()
	}
	for range 64 { // a sweep comes after as many departures as there are classes
		held.unregister(register(99, program.CB{Cores: spec.Grid(), Size: 32}).ID())
	}
	occupied, reserved := classes()
	require.Equal(t, []int{2, 1}, []int{occupied, reserved})
}
