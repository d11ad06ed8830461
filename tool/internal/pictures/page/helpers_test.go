package page_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/pictures/page"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

// -shots DIR writes pictures of the pages that the browser opens, for a review.
func shots() string { return flag.Lookup("shots").Value.String() }

func TestMain(m *testing.M) {
	flag.String("shots", "", "a folder for pictures of pages")
	flag.Bool("update", false, "write golden files anew")
	flag.Parse()
	os.Exit(m.Run())
}

// picture writes what a browser shows, with -shots.
func picture(t *testing.T, b *browser, name string) {
	t.Helper()
	if dir := shots(); dir != "" {
		b.shot(filepath.Join(dir, name+".png"))
	}
}

func options() replay.Options {
	return replay.Options{Buffers: true, Groups: true, Timeline: true, Moments: page.Moments}
}

// read replays a file.
func read(t testing.TB, path string) *answer.Result {
	t.Helper()
	r, err := replay.Run(filepath.Base(path), capture.NewReader(open(t, path), filepath.Base(path)).Events(capture.Options{}), options())
	require.NoError(t, err)
	return r
}

func open(t testing.TB, path string) *bytes.Reader {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return bytes.NewReader(text)
}

// log replays a log.
func log(t testing.TB, lines ...string) *answer.Result {
	t.Helper()
	text := `{"event":"log","version":1}` + "\n" + strings.Join(lines, "\n") + "\n"
	r, err := replay.Run("log.jsonl", capture.NewReader(strings.NewReader(text), "log.jsonl").Events(capture.Options{}), options())
	require.NoError(t, err)
	return r
}

// written returns the page about some results.
func written(t testing.TB, d *diff.Document, results ...*answer.Result) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, page.Write(&b, results, answer.Terms{}, d))
	return b.String()
}

// saved writes a page to a file of its own.
func saved(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// full is a log as large as a page has to bear: a mesh of 32 devices of 140 cores, 5,000
// programs and 100,000 events. The last devices differ from the others if odd says so.
func full(odd bool) []string {
	const programs, events = 5000, 100_000
	lines := []string{`{"event":"mesh","first":0,"rows":4,"cols":8,"spec":{"arch":"blackhole","cols":14,"rows":10,"l1_size":1572864,"cb_base":111616,"cb_align":64}}`}
	for p := range programs {
		var cbs []string
		for k := range 6 {
			x, y := (p*7+k)%7, (p*3+k)%5
			cbs = append(cbs, fmt.Sprintf(`{"cores":"[%d-%d - %d-%d]","size":%d,"indices":[{"index":%d,"page_size":64}]}`, x, y, x+6-k%3, y+4-k%2, 64*(1+(p*131+k*977)%1500), k))
		}
		lines = append(lines, fmt.Sprintf(`{"event":"program","program":%d,"name":"ttnn.operation_%d > Program%dDeviceOperation","cbs":[%s]}`, p, p%211, p%977, strings.Join(cbs, ",")))
	}
	for i := 0; len(lines) < events-1; i++ {
		devices := ""
		if odd && i%97 == 0 {
			devices = fmt.Sprintf(`,"devices":[%d]`, i%32)
		}
		switch i % 4 {
		case 0:
			lines = append(lines, fmt.Sprintf(`{"event":"allocate","buffer":%d,"kind":"l1","name":"tensor %d","parts":[{"address":%d,"size":%d}]%s}`, i, i%50, 1572864-64*(1+i%6000), 64*(1+i%6000), devices))
		case 2:
			lines = append(lines, fmt.Sprintf(`{"event":"free","buffer":%d}`, i-2))
		default:
			lines = append(lines, fmt.Sprintf(`{"event":"enqueue","program":%d%s}`, (i/2*7)%programs, devices))
		}
	}
	return lines
}
