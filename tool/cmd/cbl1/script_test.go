package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	followLive(2) // as the command does: most tests call it in this process
	testscript.Main(m, map[string]func(){"cbl1": main, "client": client})
}

// client is a process that sends its standard input to a socket, says so, and waits to be killed.
func client() {
	conn, err := net.Dial("unix", os.Args[1])
	if err == nil {
		_, err = io.Copy(conn, os.Stdin)
	}
	fmt.Println("sent", err)
	select {}
}

// TestScripts runs the command as its users do: testdata/script/*.txtar. In scripts
// $CAPTURES is the folder with the test captures, $EXAMPLES that with the demo, and
// there are two commands more:
//
//	exits CODE COMMAND...   runs a command and wants this exit code
//	gzip FILE NEW           compresses a file
func TestScripts(t *testing.T) {
	captures, err := filepath.Abs("../../capture/testdata")
	require.NoError(t, err)
	examples, err := filepath.Abs("../../../examples")
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("CAPTURES", captures)
			env.Setenv("EXAMPLES", examples)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "gzip": compress},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s: exit code %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

func compress(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: gzip FILE NEW")
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o600))
}
