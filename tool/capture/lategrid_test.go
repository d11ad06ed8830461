package capture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// The grid of a device that stands behind the graph counts from the first node on: programs are
// refused from its first column and row outside.
func TestGridBehindTheGraph(t *testing.T) {
	for core, want := range map[string]answer.Answer{
		"7-7": answer.Fits, "8-0": answer.DoesNotFit, "0-8": answer.DoesNotFit, "8-8": answer.DoesNotFit,
	} {
		path := filepath.Join(t.TempDir(), "late.json")
		nodes := graphOf(strings.ReplaceAll(placeOn(0), "[0-0 - 0-0]", "["+core+" - "+core+"]"))
		text := `{"graph":` + nodes + `,"devices":[{"device_id":0,"num_x_compute_cores":8,"num_y_compute_cores":8}]}`
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		r, err := replay.Run(path, newInput(path).Events(Options{}), replay.Options{})
		require.NoError(t, err)
		require.Equal(t, want, r.Judge(answer.Terms{}).Answer, core)
	}
}
