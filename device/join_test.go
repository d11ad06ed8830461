package device

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
	f := NewFleet()
	d, err := f.AddDevice(0, spec)
	require.NoError(t, err)
	register := func(id program.ID, cbs ...program.CB) *program.Program {
		b := program.NewBuilder(id)
		for _, cb := range cbs {
			b.CB(cb)
		}
		p, err := b.Build(spec)
		require.NoError(t, err)
		_, err = f.Register(p, d.Set())
		require.NoError(t, err)
		return p
	}
	classes := func() (occupied, reserved int) {
		held := d.c.group.state.open(&f.roster)
		return len(held.occupied.classes), len(held.reservation().classes)
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
		f.UnregisterAll(p.ID())
		require.NoError(t, f.CheckInvariants())
	}
	for range 64 { // a sweep comes after as many departures as there are classes
		f.UnregisterAll(register(99, program.CB{Cores: spec.Grid(), Size: 32}).ID())
	}
	occupied, reserved := classes()
	require.Equal(t, []int{2, 1}, []int{occupied, reserved})
}

// Devices that come to the same programs and the same high-water marks, but held most on
// other cores, keep the marks of their own cores.
func TestDevicesKeepTheMarksOfTheirCores(t *testing.T) {
	f := NewFleet()
	mesh, err := f.AddMesh(0, 1, 4, l1.N150())
	require.NoError(t, err)
	pass := func(id program.ID, cores string, size uint64, on Set) { // through the devices
		p, err := program.Place(id, "", l1.N150(), program.CB{Cores: l1.MustParseCoreRangeSet(cores), Size: size})
		require.NoError(t, err)
		_, err = f.Register(p, on)
		require.NoError(t, err)
		require.NoError(t, f.Unregister(id, on))
	}
	peaks := func() (out [][3]uint64) {
		for d := range mesh.All() {
			out = append(out, [3]uint64{d.Core(l1.Core{}).Peak, d.Core(l1.Core{X: 1}).Peak, d.Core(l1.Core{X: 2, Y: 3}).Peak})
		}
		return out
	}
	cores := []string{"{[0-0 - 0-0]}", "{[1-0 - 1-0]}", "{[2-3 - 2-3]}", "{[2-3 - 2-3]}"}
	for d := range mesh.All() {
		pass(program.ID(d.ID()), cores[d.ID()], 4096, d.Set())
	}
	require.Equal(t, [][3]uint64{{4096, 0, 0}, {0, 4096, 0}, {0, 0, 4096}, {0, 0, 4096}}, peaks())
	// What they do together from then on does not mix them.
	pass(9, "{[0-0 - 2-3]}", 1024, mesh.Set())
	require.Equal(t, [][3]uint64{{4096, 1024, 1024}, {1024, 4096, 1024}, {1024, 1024, 4096}, {1024, 1024, 4096}}, peaks())
	require.NoError(t, f.CheckInvariants())
}
