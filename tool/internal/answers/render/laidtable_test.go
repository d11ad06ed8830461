package render_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A device has at most so many moments, however few rows there may be. What lay there is written once.
func TestOverviewThinsMoments(t *testing.T) {
	log := `{"event":"log","version":1}` + "\n"
	for device := range 2 {
		log += fmt.Sprintf(`{"event":"device","device":%d,"spec":{"board":"n150"}}`+"\n", device)
	}
	log += `{"event":"allocate","devices":[1],"buffer":9,"kind":"l1","name":"own","parts":[{"cores":"7-7","address":900000,"size":64}]}` + "\n"
	for range 20 {
		log += `{"event":"allocate","buffer":1,"kind":"l1","name":"x","parts":[{"cores":"0-0","address":1000000,"size":64}]}
{"event":"free","buffer":1}
`
	}
	r := logged(t, log, asked())
	for _, c := range []struct {
		moments int
		want    string
	}{{100, "41 42"}, {41, "41 41"}, {40, "40 40"}, {1, "1 1"}, {0, "0 0"}} {
		var b bytes.Buffer
		require.NoError(t, render.NewOverview([]*answer.Result{r}, answer.Terms{}, nil).Excerpt(64, c.moments).JSON(&b))
		var doc struct {
			Captures []struct {
				Alike     []struct{ Moments []struct{ Groups []int } }
				Laid      []struct{ Residents []int }
				Residents []struct{ Start uint64 }
			}
		}
		require.NoError(t, json.Unmarshal(b.Bytes(), &doc))
		one := doc.Captures[0]
		var got []string
		for _, a := range one.Alike {
			got = append(got, fmt.Sprint(len(a.Moments)))
			for _, m := range a.Moments {
				for _, n := range m.Groups {
					for _, i := range one.Laid[n].Residents {
						require.Contains(t, []uint64{900000, 1000000}, one.Residents[i].Start)
					}
				}
			}
		}
		require.Equal(t, c.want, strings.Join(got, " "))
	}
}
