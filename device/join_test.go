package device

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

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
	// Later calls for both do not mix them.
	pass(9, "{[0-0 - 2-3]}", 1024, mesh.Set())
	require.Equal(t, [][3]uint64{{4096, 1024, 1024}, {1024, 4096, 1024}, {1024, 1024, 4096}, {1024, 1024, 4096}}, peaks())
	require.NoError(t, f.CheckInvariants())
}
