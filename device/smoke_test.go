package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

func TestExampleH(t *testing.T) {
	f := device.NewFleet()
	d, err := f.AddDevice(0, l1.N150())
	require.NoError(t, err)
	build := func(id program.ID, cores string, size uint64) *program.Program {
		p, err := program.NewBuilder(id).CB(program.CB{Cores: l1.MustParseCoreRangeSet(cores), Size: size}).Build(d.Spec())
		require.NoError(t, err)
		return p
	}
	p1, p2, p3 := build(1, "{[0-0 - 1-0]}", 4096), build(2, "{[0-0 - 1-0]}", 4096), build(3, "{[1-0 - 2-0]}", 6144)
	for _, step := range []struct {
		do   func() error
		want uint64
	}{
		{func() error { return nil }, 0},
		{func() error { _, err := f.Register(p1, d.Set()); return err }, 8192},
		{func() error { _, err := f.Register(p2, d.Set()); return err }, 8192},
		{func() error { _, err := f.Register(p2, d.Set()); return err }, 8192},
		{func() error { _, err := f.Register(p3, d.Set()); return err }, 16384},
		{func() error { f.UnregisterAll(p1); return nil }, 16384},
		{func() error { f.UnregisterAll(p2); return nil }, 12288},
		{func() error { f.UnregisterAll(p3); return nil }, 0},
	} {
		require.NoError(t, step.do())
		require.Equal(t, step.want, d.Registered())
		require.NoError(t, f.CheckInvariants())
	}
	require.EqualValues(t, 16384, d.Totals().Peak.Registered)
}
