package capture

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
)

// count reads a capture to its end.
func count(r io.Reader) (n int, err error) {
	for _, err := range NewReader(r, "trace.json.gz").nodes() {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func TestCompressed(t *testing.T) {
	half := strings.NewReader(two[:50])
	rest := strings.NewReader(two[50:])
	skippable := "\x50\x2a\x4d\x18\x04\x00\x00\x00skip"
	for name, data := range map[string][]byte{
		"gzip":                  testkit.Gzip(t, strings.NewReader(two)),
		"gzip with mark":        testkit.Gzip(t, strings.NewReader("\xef\xbb\xbf"+two)),
		"gzip members":          append(testkit.Gzip(t, half), testkit.Gzip(t, rest)...),
		"zstd":                  testkit.Zstd(t, strings.NewReader(two)),
		"zstd single segment":   testkit.Zstd(t, strings.NewReader(two), zstd.WithSingleSegment(true)),
		"zstd frames":           append(testkit.Zstd(t, strings.NewReader(two[:50])), testkit.Zstd(t, strings.NewReader(two[50:]))...),
		"zstd, frame to skip":   append([]byte(skippable), testkit.Zstd(t, strings.NewReader(two))...),
		"zstd, window of 8 MiB": testkit.Zstd(t, strings.NewReader(two), zstd.WithWindowSize(8<<20)),
	} {
		n, err := count(bytes.NewReader(data))
		require.NoError(t, err, name)
		require.Equal(t, 2, n, name)
		n, err = count(iotest.OneByteReader(bytes.NewReader(data)))
		require.NoError(t, err, name)
		require.Equal(t, 2, n, name)

		for cut := 4; cut < len(data); cut++ {
			_, err := count(bytes.NewReader(data[:cut]))
			if name == "zstd, frame to skip" && cut == len(skippable) {
				require.Error(t, err)
				continue
			}
			require.Error(t, err, "%s cut to %d bytes", name, cut)
			checkError(t, err)
		}
		for at := range data {
			flipped := bytes.Clone(data)
			flipped[at] ^= 0x40
			n, err := count(bytes.NewReader(flipped))
			if err == nil {
				// Some bits of a header say nothing about the content.
				require.Equal(t, 2, n, "%s flipped at %d", name, at)
				continue
			}
			checkError(t, err)
		}
	}
}

func TestCompressedRefused(t *testing.T) {
	gz, zs := testkit.Gzip(t, strings.NewReader(two)), testkit.Zstd(t, strings.NewReader(two))
	sum := bytes.Clone(gz)
	sum[len(sum)-5] ^= 1
	zsum := bytes.Clone(zs)
	zsum[len(zsum)-1] ^= 1
	for _, c := range []struct {
		data []byte
		want string
		err  error
	}{
		{gz[:len(gz)-1], "gzip data is cut", io.ErrUnexpectedEOF},
		{zs[:len(zs)-1], "zstd data is cut", io.ErrUnexpectedEOF},
		{sum, "gzip data is corrupt: gzip: invalid checksum", gzip.ErrChecksum},
		{zsum, "zstd data is corrupt: ", zstd.ErrCRCMismatch},
		{append(bytes.Clone(gz), "tail"...), "gzip data is c", nil},
		{append(bytes.Clone(zs), "tail"...), "zstd data is c", nil},
		{append(bytes.Clone(gz), make([]byte, 100)...), "gzip data is corrupt", nil},
		{testkit.Gzip(t, bytes.NewReader(gz)), "this is gzip data inside compressed data", event.ErrNotCapture},
		{testkit.Gzip(t, bytes.NewReader(zs)), "this is zstd data inside compressed data", event.ErrNotCapture},
		{testkit.Gzip(t, strings.NewReader("")), "this is empty input", event.ErrNotCapture},
		{testkit.Zstd(t, strings.NewReader("<html>")), "this is an HTML page", event.ErrNotCapture},
		{testkit.Gzip(t, strings.NewReader(two+two)), "a second JSON value", nil},
	} {
		_, err := count(bytes.NewReader(c.data))
		require.ErrorContains(t, err, c.want)
		checkError(t, err)
		if c.err != nil {
			require.ErrorIs(t, err, c.err)
		}
	}
}

func TestCompressedReadErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	for _, data := range [][]byte{testkit.Gzip(t, strings.NewReader(two)), testkit.Zstd(t, strings.NewReader(two))} {
		for n := 4; n <= len(data); n++ { // enough to see what it is
			_, err := count(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(broken)))
			require.ErrorIs(t, err, broken, "after %d bytes", n)
			checkError(t, err)
			require.NotContains(t, err.Error(), "corrupt")
		}
	}
}

func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("compresses some hundred MiB: needs a run without -short")
	}
	bomb := func(n int64) io.Reader {
		return io.MultiReader(strings.NewReader("["), testkit.Repeat(strings.Repeat(" ", 4096), n), strings.NewReader("]"))
	}
	const beyond = 200 << 20
	for name, data := range map[string][]byte{
		"gzip": testkit.Gzip(t, bomb(beyond)),
		"zstd": testkit.Zstd(t, bomb(beyond)),
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, err := count(bytes.NewReader(data))
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, event.ErrExpands, name)
		checkError(t, err)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), name)
	}
	// Below the line anything goes.
	n, err := count(bytes.NewReader(testkit.Zstd(t, bomb(60<<20))))
	require.NoError(t, err)
	require.Zero(t, n)
}

// TestWindow holds the memory of the zstd decoder to its limit.
func TestWindow(t *testing.T) {
	large := longGraph(40 << 20)
	fits := testkit.Zstd(t, bytes.NewReader(large), zstd.WithWindowSize(32<<20), zstd.WithEncoderLevel(zstd.SpeedFastest))
	before := testkit.Kept()
	r := NewReader(bytes.NewReader(fits), "trace.json.zst")
	most, n := int64(0), 0
	for _, err := range r.nodes() {
		require.NoError(t, err)
		if n++; n%20_000 == 0 && testkit.Nightly() { // the decoder has goroutines
			most = max(most, testkit.Kept()-before)
		}
	}
	t.Logf("at most %d bytes of heap beside the input", most)
	require.Less(t, most, int64(64<<20))

	for name, data := range map[string][]byte{
		"window":         testkit.Zstd(t, bytes.NewReader(large), zstd.WithWindowSize(64<<20), zstd.WithEncoderLevel(zstd.SpeedFastest)),
		"single segment": single64(t, large),
	} {
		_, err := count(bytes.NewReader(data))
		require.ErrorContains(t, err, "zstd data needs more than 32 MiB of memory", name)
	}
}

// single64 returns data as one frame whose window is its whole content.
func single64(t *testing.T, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true), zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	require.NoError(t, err)
	return w.EncodeAll(data, nil)
}

func TestNoGoroutinesLeft(t *testing.T) {
	data := testkit.Zstd(t, bytes.NewReader(longGraph(1<<20)))
	before := runtime.NumGoroutine()
	for range 20 {
		for _, err := range NewReader(bytes.NewReader(data), "trace.json.zst").nodes() {
			require.NoError(t, err)
			break // in the middle
		}
		_, err := count(bytes.NewReader(data))
		require.NoError(t, err)
		_, err = count(bytes.NewReader(data[:len(data)/2]))
		require.Error(t, err)
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}
