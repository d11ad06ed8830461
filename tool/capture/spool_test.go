package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
)

// padded returns a capture which is so many bytes long, and hardly compresses. Two frees announce two programs, and the
// last buffer shows that the first one is one program: three readings find that.
func padded(n int) []byte {
	text := `,"graph":` + graphOf(member(0), freeOf(9), freeOf(9), placeOn(0), bufferAt8192("allocate"), placeOn(0)) + "}"
	random := rand.New(rand.NewPCG(1, 2))
	data := []byte(`{"x":"`)
	for len(data)+1+len(text) < n {
		data = append(data, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-"[random.IntN(64)])
	}
	return append(append(data, '"'), text...)
}

// left returns the names of the files in a folder.
func left(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestSpool: a source that cannot seek is kept in memory up to 1 MiB, and beyond that in a file of the caller's folder.
// Unix shows no name of the file, and after the end no system does.
func TestSpool(t *testing.T) {
	for _, c := range []struct {
		size int
		file bool
	}{{1000, false}, {spoolInMemory, false}, {spoolInMemory + 1, true}, {3*spoolInMemory + 17, true}} {
		t.Run(fmt.Sprint(c.size), func(t *testing.T) {
			dir, data := t.TempDir(), padded(c.size)
			want, err := copied(NewReader(bytes.NewReader(data), "x").Events(Options{}))
			require.NoError(t, err)
			for _, pieces := range []int{1 << 20, 1000} {
				r := NewReader(pipe{&inPieces{data, pieces}}, "x")
				var events []*event.Event
				for e, err := range r.Events(Options{TempDir: dir}) {
					require.NoError(t, err)
					events = append(events, new(*e))
					require.Equal(t, c.file, r.spool.file != nil)
					require.LessOrEqual(t, r.spool.kept.Len(), spoolInMemory)
					if runtime.GOOS != "windows" {
						require.Empty(t, left(t, dir), "while it is read")
					}
				}
				require.Equal(t, want, events)
				require.Empty(t, left(t, dir))
			}
		})
	}
}

// inPieces yields bytes a few at a time.
type inPieces struct {
	rest []byte
	size int
}

func (p *inPieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.size)], p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// TestSpoolLeavesNothing: the file goes with an error of the input, and with a caller that stops.
func TestSpoolLeavesNothing(t *testing.T) {
	data := padded(2 * spoolInMemory)
	for name, source := range map[string]io.Reader{
		"a cut capture":  bytes.NewReader(data[:len(data)-5]),
		"a broken pipe":  io.MultiReader(bytes.NewReader(data[:len(data)-5]), failing{errors.New("gone")}),
		"another format": io.MultiReader(strings.NewReader(`{"graph":7`), bytes.NewReader(data)),
	} {
		dir := t.TempDir()
		events, err := copied(NewReader(pipe{source}, "x").Events(Options{TempDir: dir}))
		var input *event.InputError
		require.ErrorAs(t, err, &input, name)
		require.Equal(t, "x", input.File, name)
		require.Empty(t, events, name)
		require.Empty(t, left(t, dir), name)
	}
	dir := t.TempDir()
	r := NewReader(pipe{bytes.NewReader(data)}, "x")
	for _, err := range r.Events(Options{TempDir: dir}) {
		require.NoError(t, err)
		break
	}
	require.NotNil(t, r.spool.file)
	require.ErrorIs(t, r.spool.file.Close(), os.ErrClosed)
	require.Empty(t, left(t, dir))
}

// A failing reader has an error alone.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestSpoolRefuses: each refusal has the name of the input, and what helps.
func TestSpoolRefuses(t *testing.T) {
	dir := t.TempDir()
	gone := filepath.Join(dir, "gone")
	data := padded(2 * spoolInMemory)
	for _, c := range []struct {
		name  string
		dir   string
		most  int64
		is    error
		wants []string
	}{
		{"no folder", "", maxSpool, event.ErrTooLarge, []string{"longer than 1 MiB", "Options.TempDir"}},
		{"the limit", dir, spoolInMemory, event.ErrTooLarge, []string{"longer than 1 MiB", dir, "a file instead"}},
		{"no such folder", gone, maxSpool, os.ErrNotExist, []string{gone, "a file instead"}},
	} {
		for kind, source := range map[string][]byte{"plain": data, "gzip": testkit.Gzip(t, bytes.NewReader(data))} {
			r := NewReader(pipe{bytes.NewReader(source)}, "run.json")
			r.most = c.most
			events, err := copied(r.Events(Options{TempDir: c.dir}))
			require.Empty(t, events)
			require.ErrorIs(t, err, c.is, "%s, %s", c.name, kind)
			var input *event.InputError
			require.ErrorAs(t, err, &input)
			require.Equal(t, "run.json", input.File)
			for _, text := range c.wants {
				require.Contains(t, err.Error(), text, "%s, %s", c.name, kind)
			}
			require.Empty(t, left(t, dir))
		}
	}
}

// TestSpoolIsReadAgain: each reading has all bytes, from the start.
func TestSpoolIsReadAgain(t *testing.T) {
	for _, size := range []int{0, 1000, spoolInMemory, spoolInMemory + 1, 3 * spoolInMemory} {
		want := padded(max(size, 1000))[:size]
		s := &spool{src: pipe{&inPieces{want, 70_000}}, dir: t.TempDir(), most: maxSpool}
		got, err := io.ReadAll(s)
		require.NoError(t, err)
		require.Equal(t, want, got)
		for range 3 {
			again, err := s.again()
			require.NoError(t, err)
			got, err := io.ReadAll(again)
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got), "%d bytes", size)
		}
		require.NoError(t, s.close())
		require.Empty(t, left(t, s.dir))
	}
}

// TestSpoolOfAFullDisk: bytes that cannot be written are an error, and so are bytes that cannot be read again.
func TestSpoolOfAFullDisk(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		at  int // bytes behind which the file is shut
		why string
	}{{spoolInMemory + 1000, "cannot be kept in " + dir}, {2 * spoolInMemory, "cannot be read again"}} {
		data := padded(2 * spoolInMemory)
		r := NewReader(nil, "run.json")
		r.src = pipe{io.MultiReader(bytes.NewReader(data[:c.at]), then(func() { require.NoError(t, r.spool.file.Close()) }), bytes.NewReader(data[c.at:]))}
		events, err := copied(r.Events(Options{TempDir: dir}))
		require.Empty(t, events)
		var input *event.InputError
		require.ErrorAs(t, err, &input)
		require.Equal(t, "run.json", input.File)
		require.ErrorIs(t, err, os.ErrClosed)
		require.Contains(t, err.Error(), c.why)
		require.Empty(t, left(t, dir))
	}
}

// then is a reader of no bytes, which calls a function.
type then func()

func (f then) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

// TestLogLeavesTheSpool: an event has come when its line has, and nothing of a log is kept.
func TestLogLeavesTheSpool(t *testing.T) {
	in, out := io.Pipe()
	lines := []string{`{"event":"log","version":1}`, `{"event":"op_start","name":"f"}`, `{"event":"op_end"}`}
	n := 0
	go func() { _, _ = io.WriteString(out, lines[0]+"\n") }()
	r := NewReader(in, "x")
	for e, err := range r.Events(Options{}) {
		require.NoError(t, err)
		require.Contains(t, lines[n], `"`+string(e.Kind)+`"`)
		if n++; n == len(lines) {
			go func() { _ = out.Close() }()
			continue
		}
		go func() { _, _ = io.WriteString(out, lines[n]+"\n") }() // behind the event of the line before it
	}
	require.Equal(t, len(lines), n)

	long := lines[0] + "\n" + strings.Repeat(lines[1]+"\n"+lines[2]+"\n", spoolInMemory/40)
	for _, text := range [][]byte{[]byte(long), testkit.Gzip(t, strings.NewReader(long))} {
		r := NewReader(pipe{bytes.NewReader(text)}, "x")
		for _, err := range r.Events(Options{}) {
			require.NoError(t, err)
			require.Zero(t, r.spool.kept.Len())
		}
		require.Nil(t, r.spool.file)
	}
}

// TestSeeking: a source that can seek is read again from where it stood, and nothing of it is kept.
func TestSeeking(t *testing.T) {
	data := padded(2 * spoolInMemory)
	want, err := copied(piped(data, Options{}))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "run.json")
	require.NoError(t, os.WriteFile(path, append([]byte("xyz"), data...), 0o600))
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	for name, source := range map[string]io.ReadSeeker{"a file": file, "bytes": bytes.NewReader(append([]byte("xyz"), data...))} {
		_, err := source.Seek(3, io.SeekStart)
		require.NoError(t, err)
		r := NewReader(source, "pipe.json")
		events, err := copied(r.Events(Options{}))
		require.NoError(t, err, name)
		require.Equal(t, want, events, name)
		require.Nil(t, r.spool, name)
	}
}

// TestFileChangesBetweenReadings: the second reading of a file that was written to ends with an error.
func TestFileChangesBetweenReadings(t *testing.T) {
	sharded := func(n int) string {
		s := &script{}
		for i := range n {
			s.sharded(0, 1_000_000+64*i, 64, `[{"start":{"x":0,"y":0},"end":{"x":0,"y":1}}]`)
		}
		return s.text(t)
	}
	path := filepath.Join(t.TempDir(), "a.json")
	for _, after := range []string{sharded(9), sharded(1), "[]", ""} {
		require.NoError(t, os.WriteFile(path, []byte(sharded(2)), 0o600))
		r, err := Input{Path: path}.open()
		require.NoError(t, err)
		s := survey.New(survey.NewMembers())
		_, err = r.survey(s, Options{}, nil)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(after), 0o600))
		err = r.read(s.Known, Options{}, event.Opt[uint64]{}, func(*event.Event, error) bool { return true })
		require.ErrorIs(t, err, event.ErrChanged)
		var input *event.InputError
		require.ErrorAs(t, err, &input)
		require.NoError(t, r.shut())
	}
}
