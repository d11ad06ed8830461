package page_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
)

// A browser is a headless Chromium that is spoken to through two pipes: messages of the
// DevTools protocol, each ended by a zero byte. One browser has one tab. It reports the
// errors of the page and its requests to the network.
type browser struct {
	t       *testing.T
	to      io.Writer
	replies chan reply
	session string
	id      int
	noise   []string // console messages, errors and requests
}

type reply struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// newBrowser starts a browser, or skips the test and says why.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a run without -short: it starts a browser")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("needs Chromium, which is not installed here; on Debian: apt-get install chromium")
	}
	in, out := pipe(t), pipe(t)
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--remote-debugging-pipe",
		"--no-first-run", "--disable-extensions", "--hide-scrollbars", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{in.r, out.w} // 3 and 4
	require.NoError(t, cmd.Start())
	b := &browser{t: t, to: in.w, replies: make(chan reply, 4096)}
	go listen(out.r, b.replies)
	t.Cleanup(func() {
		_, _ = io.WriteString(in.w, `{"id":1000000,"method":"Browser.close"}`+"\x00") // it may be gone
		kill := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // however it ended
		kill.Stop()
	})
	require.NoError(t, in.r.Close())
	require.NoError(t, out.w.Close())
	var target struct{ TargetID string }
	b.call("Target.createTarget", object{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log", "Security"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

type object = map[string]any

type ends struct{ r, w *os.File }

func pipe(t *testing.T) ends {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	return ends{r, w}
}

// listen reads the messages of the browser until it ends.
func listen(from io.Reader, to chan<- reply) {
	defer close(to)
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m reply
		if json.Unmarshal(bytes.TrimRight(text, "\x00"), &m) == nil {
			to <- m
		}
	}
}

// call makes a call and waits for its end.
func (b *browser) call(method string, params object, into any) {
	b.t.Helper()
	b.id++
	message := object{"id": b.id, "method": method}
	if params != nil {
		message["params"] = params
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	require.NoError(b.t, err)
	_, err = b.to.Write(append(text, 0))
	require.NoError(b.t, err)
	m := b.until(func(m reply) bool { return m.ID == b.id })
	require.Nil(b.t, m.Error, "%s: %v", method, m.Error)
	if into != nil {
		require.NoError(b.t, json.Unmarshal(m.Result, into), method)
	}
}

// until reads messages up to one.
func (b *browser) until(is func(reply) bool) reply {
	b.t.Helper()
	patience := time.After(testkit.Patience)
	for {
		select {
		case m, ok := <-b.replies:
			require.True(b.t, ok, "the browser is gone")
			b.notice(m)
			if is(m) {
				return m
			}
		case <-patience:
			require.FailNow(b.t, "the browser does not answer")
		}
	}
}

// notice keeps what a quiet page does not do.
func (b *browser) notice(m reply) {
	var request struct{ Request struct{ URL string } }
	switch m.Method {
	case "Network.requestWillBeSent":
		if json.Unmarshal(m.Params, &request) == nil && (strings.HasPrefix(request.Request.URL, "file://") && !strings.Contains(request.Request.URL, "/elsewhere") || strings.HasPrefix(request.Request.URL, "data:,")) {
			return // the page itself
		}
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening", "Page.windowOpen":
	default:
		return
	}
	b.noise = append(b.noise, m.Method+" "+string(m.Params))
}

// open loads a file on a screen of some size, and returns how long that took.
func (b *browser) open(path string, width, height int, features ...object) time.Duration {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}, nil)
	b.call("Emulation.setEmulatedMedia", object{"features": append([]object{}, features...)}, nil)
	begun := time.Now()
	b.call("Page.navigate", object{"url": "file://" + path}, nil)
	b.until(func(m reply) bool { return m.Method == "Page.loadEventFired" })
	b.eval("1") // after what the page's script does at once
	return time.Since(begun)
}

// eval returns the value of an expression on the page.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", object{"expression": expression, "returnByValue": true, "awaitPromise": true}, &out)
	require.Nil(b.t, out.ExceptionDetails, "%s: %v", expression, out.ExceptionDetails)
	return out.Result.Value
}

// press presses a key.
func (b *browser) press(key string) {
	b.t.Helper()
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", object{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": map[string]int{"Tab": 9, "Enter": 13, "ArrowRight": 39, "ArrowDown": 40}[key]}, nil)
	}
	if key == "Enter" {
		b.call("Input.dispatchKeyEvent", object{"type": "char", "text": "\r"}, nil)
	}
}

// shot writes a picture of the whole page.
func (b *browser) shot(path string) {
	b.t.Helper()
	var picture struct{ Data string }
	b.call("Page.captureScreenshot", object{"format": "png", "captureBeyondViewport": true}, &picture)
	data, err := base64.StdEncoding.DecodeString(picture.Data)
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(path, data, 0o600))
}

// quiet requires that the page reported no error and made no request.
func (b *browser) quiet(what string) {
	b.t.Helper()
	require.Empty(b.t, b.noise, "%s: %s", what, fmt.Sprint(b.noise))
}
