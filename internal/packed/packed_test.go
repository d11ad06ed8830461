package packed_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/internal/packed"
)

const text = "a text that compresses, a text that compresses, a text that compresses\n"

func read(r io.Reader) (content, format string, err error) {
	in := packed.Open(r)
	defer in.Close()
	all, err := io.ReadAll(in)
	return string(all), in.Format, err
}

func TestOpen(t *testing.T) {
	gz, zs := testkit.Gzip(t, strings.NewReader(text)), testkit.Zstd(t, strings.NewReader(text))
	for _, c := range []struct {
		name, format string
		data         []byte
	}{
		{"plain", "", []byte(text)},
		{"gzip", "gzip", gz},
		{"gzip members", "gzip", append(testkit.Gzip(t, strings.NewReader(text[:9])), testkit.Gzip(t, strings.NewReader(text[9:]))...)},
		{"zstd", "zstd", zs},
		{"zstd, a frame to skip", "zstd", append([]byte("\x50\x2a\x4d\x18\x04\x00\x00\x00skip"), zs...)},
	} {
		for _, r := range []io.Reader{bytes.NewReader(c.data), iotest.OneByteReader(bytes.NewReader(c.data)), iotest.DataErrReader(bytes.NewReader(c.data))} {
			content, format, err := read(r)
			require.NoError(t, err, c.name)
			require.Equal(t, []string{text, c.format}, []string{content, format}, c.name)
		}
	}
	for cut := 4; cut < len(gz); cut++ {
		_, _, err := read(bytes.NewReader(gz[:cut]))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut to %d bytes", cut)
	}
	for cut := 4; cut < len(zs); cut++ {
		_, _, err := read(bytes.NewReader(zs[:cut]))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut to %d bytes", cut)
	}
	for name, data := range map[string][]byte{"gzip": gz, "zstd": zs} {
		data[len(data)-1] ^= 1
		_, _, err := read(bytes.NewReader(data))
		require.ErrorContains(t, err, name+" data is corrupt")
		broken := errors.New("broken pipe")
		_, _, err = read(io.MultiReader(bytes.NewReader(data[:20]), iotest.ErrReader(broken)))
		require.Equal(t, broken, err)
	}
	_, _, err := read(strings.NewReader(""))
	require.NoError(t, err)
}

func TestPeek(t *testing.T) {
	long := strings.Repeat("x", 2*packed.PeekSize)
	never := func([]byte) bool { return false }
	start, rest, err := packed.Peek(strings.NewReader(long), never)
	require.NoError(t, err)
	require.Len(t, start, packed.PeekSize)
	all, err := io.ReadAll(rest)
	require.NoError(t, err)
	require.Equal(t, long, string(all))

	broken := errors.New("broken pipe")
	start, rest, err = packed.Peek(io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(broken)), never)
	require.ErrorIs(t, err, broken)
	require.Equal(t, "ab", string(start))
	all, err = io.ReadAll(rest)
	require.ErrorIs(t, err, broken)
	require.Equal(t, "ab", string(all))

	line := func(start []byte) bool { return bytes.Contains(start, []byte("\n")) }
	start, rest, err = packed.Peek(iotest.OneByteReader(strings.NewReader("ab\ncd")), line)
	require.NoError(t, err)
	require.Equal(t, "ab\n", string(start), "no byte is waited for behind the line")
	all, err = io.ReadAll(rest)
	require.NoError(t, err)
	require.Equal(t, "ab\ncd", string(all))
}

// What expands without end, or needs a huge window, takes little memory.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("compresses some hundred MiB: needs a run without -short")
	}
	zeros := func(n int64) io.Reader { return testkit.Repeat(strings.Repeat("\x00", 4096), n) }
	for name, data := range map[string][]byte{"gzip": testkit.Gzip(t, zeros(200<<20)), "zstd": testkit.Zstd(t, zeros(200<<20))} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		in := packed.Open(bytes.NewReader(data))
		_, err := io.Copy(struct{ io.Writer }{io.Discard}, in)
		in.Close()
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, packed.ErrExpands, name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), name)
	}
	_, _, err := read(bytes.NewReader(testkit.Zstd(t, zeros(40<<20), zstd.WithWindowSize(64<<20))))
	require.ErrorContains(t, err, "zstd data needs more than 32 MiB of memory")
}
