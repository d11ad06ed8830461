package render_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Each of more than 256 moments has what lay there then, and no other's.
func TestOverviewOfManyResidents(t *testing.T) {
	const n = 300
	var log []string
	for i := range n {
		log = append(log, fmt.Sprintf("alloc 1 l1 devices=1 @ %d 8 0-0", 1024+8*i), "free 1")
	}
	opt := asked()
	opt.Moments = 8 * n
	r := logged(t, testkit.EventLog(log...), opt)
	var b bytes.Buffer
	require.NoError(t, render.NewOverview([]*answer.Result{r}, answer.Terms{}, nil).Excerpt(2*n, 2*n).JSON(&b))
	var doc struct {
		Captures []struct {
			Alike []struct {
				Moments []struct {
					Counter uint64
					Groups  []int
				}
			}
			Laid      []struct{ Residents []int }
			Residents []struct{ Start uint64 }
		}
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &doc))
	one, seen := doc.Captures[0], 0
	for _, a := range one.Alike {
		for _, m := range a.Moments {
			for _, g := range m.Groups {
				for _, i := range one.Laid[g].Residents {
					require.Equal(t, 1024+8*((m.Counter-3)/2), one.Residents[i].Start, "event %d", m.Counter)
					seen++
				}
			}
		}
	}
	require.GreaterOrEqual(t, seen, 260)
}

// The moments of all devices share the rows for what lies on cores: where those of one device take the last of them, the
// next devices have none.
func TestOverviewSharesItsMoments(t *testing.T) {
	var log []string
	for device := range 3 {
		for i := range 40 {
			log = append(log, fmt.Sprintf("alloc %d l1 devices=%d @ %d 8 0-0", 40*device+i+1, device, 1024+8*i+1024*device))
		}
	}
	opt := asked()
	opt.Moments = len(log)
	overview := render.NewOverview([]*answer.Result{logged(t, testkit.EventLog(log...), opt)}, answer.Terms{}, nil)
	for rows := 1; rows <= 256; rows *= 2 {
		for most := range 40 {
			var b bytes.Buffer
			require.NoError(t, overview.Excerpt(rows, most).JSON(&b))
			var doc struct {
				Captures []struct {
					Alike []struct {
						Moments []struct{ Groups []int }
					}
				}
			}
			require.NoError(t, json.Unmarshal(b.Bytes(), &doc))
			moments := 0
			for _, a := range doc.Captures[0].Alike {
				moments += len(a.Moments)
			}
			require.LessOrEqual(t, moments, min(8*rows, 3*most), "%d rows, %d moments", rows, most)
		}
	}
}
