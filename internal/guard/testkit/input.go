package testkit

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Gzip packs a text as one member.
func Gzip(t testing.TB, text io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	return pack(t, text, gzip.NewWriter(&b), &b)
}

// Zstd packs a text as one frame with a checksum.
func Zstd(t testing.TB, text io.Reader, opts ...zstd.EOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, append([]zstd.EOption{zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return pack(t, text, w, &b)
}

func pack(t testing.TB, text io.Reader, w io.WriteCloser, to *bytes.Buffer) []byte {
	t.Helper()
	if _, err := io.Copy(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return to.Bytes()
}

// Repeat reads a pattern again and again, n bytes in all.
func Repeat(pattern string, n int64) io.Reader { return &repeated{pattern, n, 0} }

type repeated struct {
	pattern string
	n, at   int64
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.at == r.n {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), r.n-r.at)]
	for n := 0; n < len(p); {
		m := copy(p[n:], r.pattern[r.at%int64(len(r.pattern)):])
		n += m
		r.at += int64(m)
	}
	return len(p), nil
}

// OpenCounts counts the open files and goroutines of the process of a test at a moment. Without /proc
// there are no files.
type OpenCounts struct{ Files, Goroutines int }

// Open returns the present counts.
func Open() OpenCounts {
	entries, _ := os.ReadDir("/proc/self/fd") // where there is none, none are counted
	return OpenCounts{len(entries), runtime.NumGoroutine()}
}

// RequireBack waits until no more is open than before, and fails after the Patience of the
// caller's sleep. It returns the counts of that moment.
func (before OpenCounts) RequireBack(t testing.TB, sleep func(time.Duration)) OpenCounts {
	t.Helper()
	for range Patience / time.Millisecond {
		if now := Open(); now.Files <= before.Files && now.Goroutines <= before.Goroutines {
			return now
		}
		sleep(time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Fatalf("%v before, %v now: %v\n%s", before, Open(), links(), stacks[:runtime.Stack(stacks, true)])
	return OpenCounts{}
}

// String has both numbers.
func (o OpenCounts) String() string {
	return fmt.Sprintf("%d descriptors and %d goroutines", o.Files, o.Goroutines)
}

// links returns the targets of the open descriptors.
func links() (out []string) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		to, _ := os.Readlink("/proc/self/fd/" + e.Name()) // the descriptor of the folder itself is closed
		out = append(out, e.Name()+" "+to)
	}
	return out
}
