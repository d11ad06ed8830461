package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/live/watch"
)

// pictured returns a model after 90 snapshots of a demo, a second each. The last one has the cores of
// the selected device, and all that a server may say besides.
func pictured(t *testing.T) (m watch.Model) {
	t.Helper()
	d, err := newDemo(32)
	require.NoError(t, err)
	for second := range int64(90) {
		if second == 89 {
			m.Show(watch.ViewMap) // and stays with the device
		}
		at, detail := m.Selected()
		now, err := d.look(at, detail)
		require.NoError(t, err)
		now.Time = (second + 1) * int64(time.Second)
		if second == 89 {
			now.Devices[1].Incomplete, now.Devices[2].Fleet, now.Left = true, "training", 3
			device := uint64(1)
			now.Processes = []watch.Process{{PID: 4242, Name: "python3", Device: &device, CB: 1 << 20, L1: 4096, DRAM: 1 << 30}, {PID: 4243, Dead: true}}
			now.Odd = []watch.OddityCount{{Code: "unknown-free", Count: 2}, {Fleet: "training", Code: "does-not-fit", Count: 1}}
			now.Refused, now.Leaked, now.Leaks, now.Behind = []string{"training, line 9: enqueue: program 3 does not fit"}, 17, []watch.Leak{{PID: 4243, CBs: 2, Kernels: 1}}, 4096
		}
		m.Take(now)
	}
	return m
}

// The screen at five sizes, as it is drawn. -update writes it anew: review the difference.
func TestWatchPictures(t *testing.T) {
	model := pictured(t)
	for _, size := range [][2]int{{60, 20}, {80, 24}, {160, 24}, {120, 40}, {200, 60}} {
		s := &simulated{SimulationScreen: tcell.NewSimulationScreen("UTF-8")}
		require.NoError(t, s.Init())
		s.SetSize(size[0], size[1])
		w := screenView{screen: s, model: model}
		var got strings.Builder
		for _, view := range []watch.View{watch.ViewDevices, watch.ViewChart, watch.ViewMap, watch.ViewHelp} {
			w.model.Show(view)
			w.draw()
			for line := range strings.SplitSeq(s.text, "\n") {
				got.WriteString(strings.TrimRight(line, " ") + "\n")
			}
			got.WriteString(strings.Repeat("~", size[0]) + "\n")
		}
		s.Fini()
		golden := filepath.Join("testdata", "watch", fmt.Sprintf("%dx%d.txt", size[0], size[1]))
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
			require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), got.String())
	}
}
