package watch_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/shm"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// The chart names the CBs that a source has: before version 4 a region has registered ones, from then
// on resident ones. A log has both, and cores.
func TestChartNamesItsBars(t *testing.T) {
	some := uint64(1)
	for want, row := range map[string]func() answer.LiveDevice{
		"device 3 n150: # registered CBs of all cores":                            func() answer.LiveDevice { return region(shm.Version3) },
		"device 3 n150: # resident CBs of all cores":                              func() answer.LiveDevice { return region(shm.Version4) },
		"device 0: # registered CBs, : what more is tracked, of the fullest core": func() answer.LiveDevice { return answer.LiveDevice{Core: &some} },
	} {
		m := watch.Model{ASCII: true}
		m.Take(watch.Snapshot{Devices: []answer.LiveDevice{row()}})
		m.Show(watch.ViewChart)
		require.Equal(t, want, m.Lines(100, 20)[1].Text)
	}
}

func region(version uint32) answer.LiveDevice {
	row, _ := watch.Region(&shm.Image{Version: version, Device: 3}, l1.N150(), func(int32) bool { return true })
	return row
}
