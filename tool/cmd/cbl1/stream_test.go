package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const eventLog = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"n150"}}
`

// A torn last line loses only itself.
func TestStreamTornLine(t *testing.T) {
	var out, errw bytes.Buffer
	code := run([]string{"stream"}, strings.NewReader(eventLog+`{"query":"anomalies"}`+"\n"+`{"event":"dis`), &out, &errw)
	require.Zero(t, code)
	require.Empty(t, errw.String())
	require.Equal(t, `{"answer":"anomalies","anomalies":[]}
{"answer":"anomaly","line":4,"event":"torn","code":"torn-line","error":"the last line is cut"}
`, out.String())
}

// A simulator writes a query and waits for the answer before it writes on. The process
// is the command itself, the pipes are real: any buffer in between would hang here.
func TestStreamAnswersAtOnce(t *testing.T) {
	cmd := command(t, "stream")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	out := bufio.NewReader(pipe)
	require.NoError(t, cmd.Start())
	say := func(line string) {
		_, err := io.WriteString(in, line)
		require.NoError(t, err)
	}
	hear := func(want string) {
		line, err := out.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, want)
	}

	say(eventLog)
	say(`{"event":"program","program":1,"cbs":[{"cores":"[0-0 - 7-7]","size":2048}]}` + "\n")
	say(`{"query":"totals","device":0,"id":1}` + "\n")
	hear(`"id":1,"device":0,"registered_union_bytes":0,`)
	for i := range 100 {
		say(`{"event":"register","program":1}` + "\n" + `{"query":"totals","device":0}` + "\n")
		hear(`"registered_union_bytes":131072,`)
		if i%10 == 0 {
			say(`{"event":"dispatch","program":2}` + "\n")
			hear(`"code":"not-registered"`)
		}
		say(`{"event":"unregister","program":1}` + "\n" + `{"query":"totals","device":0}` + "\n")
		hear(`"registered_union_bytes":0,`)
	}
	require.NoError(t, in.Close())
	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Empty(t, rest)
	require.NoError(t, cmd.Wait())
}

// A simulator that has gone away is no error of ours.
func TestStreamClosedPipe(t *testing.T) {
	cmd := command(t, "stream")
	cmd.Stdin = strings.NewReader(eventLog + strings.Repeat(`{"query":"totals","device":0}`+"\n", 1000))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var errw bytes.Buffer
	cmd.Stderr = &errw
	require.NoError(t, cmd.Start())
	require.NoError(t, out.Close())
	_ = cmd.Wait() // exit code 0, or the signal of a closed standard output
	require.Empty(t, errw.String())
}

// command returns the command as a process: TestMain turns the binary of the tests into
// it when it runs under this name.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, args...)
	cmd.Args[0] = "cbl1"
	t.Cleanup(func() {
		if cmd.Process != nil {
			_ = cmd.Process.Kill() // a test that fails leaves nobody behind
		}
	})
	return cmd
}
