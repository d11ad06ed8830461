package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay/session"
)

// fed returns a session that a log has fed, which refuses nothing.
func fed(t *testing.T, log string) *session.Shared {
	t.Helper()
	var shared session.Shared
	var answers bytes.Buffer
	require.NoError(t, session.Feed(events(strings.NewReader(log), "log"), func(*event.Event) (*session.Shared, error) { return &shared, nil }, &answers))
	require.Empty(t, answers.String())
	return &shared
}

// What a moment says of programs, line for line, of logs that have two of something.
func TestMomentLineByLine(t *testing.T) {
	head := logHead + strings.ReplaceAll(`{"event":"device","device":1,SPEC}
{"event":"device","device":2,SPEC}
`, "SPEC", `"spec":{"arch":"wormhole","cols":2,"rows":1,"cb_indices":8,"l1_size":4096,"cb_base":1024,"cb_align":16,"l1_align":16}`)
	const (
		zero  = `{"event":"program","program":0,"name":"zero","cbs":[{"cores":"{[0-0 - 0-0]}","size":64}]}` + "\n"
		one   = `{"event":"program","program":1,"name":"one","cbs":[{"cores":"{[0-0 - 0-0]}","size":64}]}` + "\n"
		both  = `{"event":"program","program":1,"cbs":[{"cores":"{[0-0 - 0-0]}","size":64},{"cores":"{[1-0 - 1-0]}","size":32}]}` + "\n"
		other = `{"event":"program","program":1,"name":"other","cbs":[{"cores":"{[1-0 - 1-0]}","size":32}]}` + "\n"
	)
	registered := func(id, on string) string {
		return `{"event":"register","program":` + id + `,"devices":[` + on + `]}` + "\n"
	}
	dispatched := func(id, on string) string {
		return `{"event":"dispatch","program":` + id + `,"devices":[` + on + `]}` + "\n"
	}
	const gone = `{"event":"unregister","program":1,"devices":[1]}` + "\n"
	for _, c := range []struct{ name, log, want string }{
		{
			"two programs alike, each on a device",
			zero + registered("0", "1,2") + one + registered("1", "1,2") + dispatched("1", "1") + dispatched("0", "2"), "",
		},
		{
			"two circular buffers on two cores",
			zero + registered("0", "1,2") + both + registered("1", "1,2") + dispatched("0", "1,2") + dispatched("1", "1,2"),
			zero + registered("0", "1,2") + both + registered("1", "1,2") + dispatched("1", "1,2"),
		},
		{
			"two numbers that are in use, and one program that is gone where it ran",
			zero + registered("0", "1,2") + other + registered("1", "1,2") + dispatched("0", "1") + dispatched("1", "1") + gone,
			zero + registered("0", "1,2") + other + registered("1", "2") + dispatched("0", "1") +
				`{"event":"program","program":2,"name":"other","as_written":true,"cbs":[{"cores":"{[1-0 - 1-0]}","size":32,"address":1024}]}` + "\n" +
				registered("2", "1") + dispatched("2", "1") + strings.ReplaceAll(gone, `m":1`, `m":2`),
		},
	} {
		var out bytes.Buffer
		require.NoError(t, fed(t, head+c.log).WriteMoment(&out))
		lines := strings.SplitAfterN(out.String(), "\n", 4)
		want := c.want
		if want == "" {
			want = c.log
		}
		require.Equal(t, want+`{"event":"reset_peaks","devices":[1,2]}`+"\n", lines[3], c.name)
	}
}

// Of what logs hide a thousand events are kept, and one stands for the rest. Anomalies give way.
func TestMomentKeepsAThousandUnseen(t *testing.T) {
	for _, c := range []struct {
		hidden, odd int
		last        string
	}{
		{999, 0, `{"event":"hidden","code":"h998","count":2}`},
		{1000, 0, `{"event":"hidden","code":"h999","count":2}`},
		{1001, 0, `{"event":"hidden","code":"h1000","count":1,"detail":"more is hidden than is told apart"}`},
		{1000, 1, `{"event":"hidden","code":"h999","count":2}`},
		{999, 2, `{"event":"anomaly","code":"odd0","count":1}`},
	} {
		var log, out bytes.Buffer
		log.WriteString(logHead)
		for i := range c.hidden {
			fmt.Fprintf(&log, `{"event":"hidden","code":"h%d","count":2}`+"\n", i)
		}
		for i := range c.odd {
			fmt.Fprintf(&log, `{"event":"anomaly","code":"odd%d","count":1}`+"\n", i)
		}
		require.NoError(t, fed(t, log.String()).WriteMoment(&out))
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")[1:]
		require.Equal(t, c.last, lines[len(lines)-1], c)
		require.Len(t, lines, min(c.hidden+c.odd, 1000)+1) // and the marks begin anew
	}
}

// The operations that run in one log do not run in another one that feeds the same fleet.
func TestFeedOfTwoLogsKeepsOperationsApart(t *testing.T) {
	var ops []string
	shared := &session.Shared{Heard: func(e *event.Event, refused error) {
		if r, ok := errors.AsType[*session.RefusedError](refused); ok {
			ops = append(ops, r.Op)
		}
	}}
	start := func(op string) string { return `{"event":"op_start","name":"` + op + `"}` + "\n" }
	const wrong = `{"event":"unregister","program":9}` + "\n"
	for _, log := range []string{start("a") + wrong, wrong, start("b") + wrong} {
		err := session.Feed(events(strings.NewReader(logHead+log), "log"), func(*event.Event) (*session.Shared, error) { return shared, nil }, io.Discard)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"a", "", "b"}, ops)
}
