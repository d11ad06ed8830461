package testkit

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

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
