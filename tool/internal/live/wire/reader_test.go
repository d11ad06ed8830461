package wire_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// requests are the types that a client with a dialect sends.
func requests(d wire.Dialect) []wire.Type {
	var out []wire.Type
	for t := wire.Type(1); int(t) <= d.Types; t++ {
		if t != wire.TypeResponse && t != wire.TypeDeviceInfo {
			out = append(out, t)
		}
	}
	return out
}

// drawRequest draws a record as a client sends it.
func drawRequest(t *rapid.T, d wire.Dialect) wire.Record {
	return wire.Record{
		Type: rapid.SampledFrom(requests(d)).Draw(t, "type"), Device: rapid.Int32().Draw(t, "device"), Size: rapid.Uint64().Draw(t, "size"),
		Kind: rapid.Byte().Draw(t, "kind"), PID: rapid.Int32().Draw(t, "pid"), ID: rapid.Uint64().Draw(t, "id"), Time: rapid.Uint64().Draw(t, "time"),
	}
}

func stream(t require.TestingT, d wire.Dialect, records ...wire.Record) (out []byte) {
	for _, r := range records {
		var err error
		out, err = d.Append(out, &r)
		require.NoError(t, err)
	}
	return out
}

func readAll(r *wire.Reader) (out []wire.Record, err error) {
	for {
		var rec wire.Record
		if err := r.Next(&rec); err != nil {
			return out, err
		}
		out = append(out, rec)
	}
}

// TestReaderModel reads what any client writes, in pieces of any size, with its dialect
// given or not.
func TestReaderModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom(wire.Dialects()).Draw(t, "dialect")
		var sent []wire.Record
		for range rapid.IntRange(1, 5).Draw(t, "records") {
			sent = append(sent, drawRequest(t, d))
		}
		text := stream(t, d, sent...)
		var in io.Reader = bytes.NewReader(text)
		if rapid.Bool().Draw(t, "byte by byte") {
			in = iotest.OneByteReader(in)
		}
		as := rapid.SampledFrom([]wire.Dialect{d, {}}).Draw(t, "as")
		r := wire.NewReader(in, as)
		got, err := readAll(r)
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, sent, got)
		require.Equal(t, d.Size, r.Dialect().Size)
		require.EqualValues(t, len(sent), r.Records())
		require.ErrorIs(t, r.Next(new(wire.Record)), io.EOF)
	})
}

// A stream that is cut has the records that came as a whole. A first record that is cut exactly at
// the end of a smaller dialect's is not recognised as cut: the package comment names this limit.
func TestCutAtEveryByte(t *testing.T) {
	for _, d := range wire.Dialects() {
		for _, typ := range requests(d) {
			rec := wire.Record{Type: typ, Device: 1, Size: 4096, Kind: 1, PID: 77, ID: 0x1000, Time: 5}
			text := stream(t, d, rec, rec, rec)
			for n := range text {
				for _, as := range []wire.Dialect{d, {}} {
					got, err := readAll(wire.NewReader(bytes.NewReader(text[:n]), as))
					whole := n / d.Size
					torn := n%d.Size != 0
					for _, other := range wire.Dialects() {
						if as == (wire.Dialect{}) && n == other.Size && n < d.Size && other.Knows(typ) {
							whole, torn = 1, false
						}
					}
					require.Len(t, got, whole, "%v as %v: %v, %d bytes", d, as, typ, n)
					if torn {
						require.ErrorIs(t, err, io.ErrUnexpectedEOF)
						wrong, ok := errors.AsType[*wire.RecordError](err)
						require.True(t, ok)
						require.EqualValues(t, whole, wrong.Record)
						require.EqualValues(t, whole*d.Size, wrong.Offset)
					} else {
						require.ErrorIs(t, err, io.EOF)
					}
				}
			}
		}
	}
}

// A writer with another size of records is noticed at once or at its second record, never
// misread: the table of A.6.
func TestMismatch(t *testing.T) {
	rec := wire.Record{Type: wire.TypeAlloc, Device: 0, Size: 4096, Kind: 1, PID: 2657333, ID: 0x1000, Time: 1700000000000000000}
	for _, writer := range wire.Dialects() {
		for _, reader := range wire.Dialects() {
			if writer.Size == reader.Size {
				continue
			}
			got, err := readAll(wire.NewReader(bytes.NewReader(stream(t, writer, rec, rec, rec)), reader))
			require.ErrorAs(t, err, new(*wire.RecordError), "%v read as %v", writer, reader)
			for _, r := range got {
				require.Equal(t, rec, r)
			}
			require.LessOrEqual(t, len(got), 1)
		}
	}
}

// silence returns its bytes and then times out, as a socket with a deadline does.
type silence struct {
	rest   []byte
	hurry  bool
	waited int
}

func (s *silence) Read(b []byte) (int, error) {
	if len(s.rest) == 0 {
		if !s.hurry {
			s.waited++
			return 0, io.EOF
		}
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// A client that sends one request and waits for its answer is recognised by its silence.
func TestSilenceEndsTheFirstRecord(t *testing.T) {
	for _, d := range wire.Dialects() {
		rec := wire.Record{Type: wire.TypeQuery, Device: 2}
		in := &silence{rest: stream(t, d, rec)}
		r := wire.NewReader(in, wire.Dialect{})
		r.Hurry = func(on bool) { in.hurry = on }
		var got wire.Record
		require.NoError(t, r.Next(&got))
		require.Equal(t, rec, got)
		require.Equal(t, d.Size, r.Dialect().Size)
		require.False(t, in.hurry)
		require.Zero(t, in.waited)
		in.rest = stream(t, d, goldenRecordFor(d))
		require.NoError(t, r.Next(&got))
		require.Equal(t, goldenRecordFor(d), got)
	}
}

func goldenRecordFor(d wire.Dialect) wire.Record {
	r := goldenRecord
	if !d.Knows(r.Type) {
		r.Type = wire.TypeAlloc
	}
	return r
}

func TestNotRecognised(t *testing.T) {
	text := stream(t, wire.Newest(), wire.Record{Type: wire.TypeAlloc, Size: 1})
	text[50] = 1
	_, err := readAll(wire.NewReader(bytes.NewReader(text), wire.Dialect{}))
	require.ErrorIs(t, err, wire.ErrUnrecognised)
	require.EqualError(t, err, "record 0, byte 0: byte 50 of it is not zero, as every one of a first record is: say which dialect it is")
	_, err = readAll(wire.NewReader(bytes.NewReader(stream(t, wire.Newest(), wire.Record{Type: wire.TypeResponse})), wire.Dialect{}))
	require.ErrorIs(t, err, wire.ErrUnrecognised)
	boom := errors.New("boom")
	_, err = readAll(wire.NewReader(io.MultiReader(bytes.NewReader(text[:20]), iotest.ErrReader(boom)), wire.Dialect{}))
	require.ErrorIs(t, err, boom)
}

func TestReaderDoesNotAllocate(t *testing.T) {
	d := wire.Newest()
	var text []byte
	for range 300 {
		text = append(text, stream(t, d, goldenRecord)...)
	}
	r := wire.NewReader(bytes.NewReader(text), wire.Dialect{})
	var rec wire.Record
	require.NoError(t, r.Next(&rec))
	require.Zero(t, testing.AllocsPerRun(200, func() {
		if r.Next(&rec) != nil {
			panic("refused")
		}
	}))
}

// FuzzReader: no bytes make a reader panic, and its records match the bytes, in whatever pieces
// they come.
func FuzzReader(f *testing.F) {
	for _, d := range wire.Dialects() {
		rec := goldenRecordFor(d)
		f.Add(stream(f, d, rec, rec), uint8(0))
		f.Add(stream(f, d, rec), uint8(d.Size/16))
	}
	f.Fuzz(func(t *testing.T, text []byte, choice uint8) {
		d := wire.Dialect{}
		if all := wire.Dialects(); int(choice) < len(all) {
			d = all[choice]
		}
		r := wire.NewReader(bytes.NewReader(text), d)
		got, err := readAll(r)
		pieces, again := readAll(wire.NewReader(iotest.OneByteReader(bytes.NewReader(text)), d))
		require.Equal(t, got, pieces)
		require.Equal(t, err.Error(), again.Error())
		if len(got) > 0 {
			back := stream(t, r.Dialect(), got...)
			require.Equal(t, text[:len(back)], back)
		}
		ledger := wire.NewLedger()
		for i := range got {
			if _, err := ledger.Apply(1, got[i].PID, &got[i]); err != nil {
				require.ErrorAs(t, err, new(*wire.DeviceError))
			}
		}
		ledger.Release(1)
		require.Zero(t, ledger.Len())
	})
}

// Every reason why bytes are no record, with the record, the byte and the value.
func TestReaderErrors(t *testing.T) {
	d := wire.Newest()
	good := stream(t, d, wire.Record{Type: wire.TypeAlloc, Size: 1})
	bad := func(at int, value byte) []byte {
		b := bytes.Clone(good)
		b[at] = value
		return b
	}
	for _, c := range []struct {
		name string
		in   []byte
		as   wire.Dialect
		want string
	}{
		{"a type", bad(0, 13), d, "record 1, byte 144: type: 13 is none of 1 to 12"},
		{"a type of nothing", bad(0, 0), d, "record 1, byte 144: type: 0 is none of 1 to 12"},
		{"padding", bad(2, 3), d, "record 1, byte 144: pad1: 768 is not zero"},
		{"padding behind the kind", bad(17, 1), d, "record 1, byte 144: pad2: 1 is not zero"},
		{"the first byte behind the head", bad(40, 1), d, "record 1, byte 144: byte 40 of it is not zero, as every one of a request is"},
		{"the last byte", bad(143, 1), d, "record 1, byte 144: byte 143 of it is not zero, as every one of a request is"},
		{"an end inside", good[:143], d, "record 1, byte 144: record: 143 bytes of it came before the end"},
		{"an end", nil, d, "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := wire.NewReader(bytes.NewReader(append(bytes.Clone(good), c.in...)), c.as)
			got, err := readAll(r)
			require.Len(t, got, 1)
			require.EqualError(t, err, c.want)
			require.EqualError(t, r.Next(new(wire.Record)), c.want, "and nothing more")
			require.EqualValues(t, 1, r.Records())
			require.EqualValues(t, 144, r.Offset())
		})
	}
	response := stream(t, d, wire.Record{Type: wire.TypeResponse, DRAM: 1})
	_, err := readAll(wire.NewReader(bytes.NewReader(response), d))
	require.ErrorIs(t, err, io.EOF, "an answer may have more than a head")
	_, err = readAll(wire.NewReader(bytes.NewReader(response), wire.Dialect{}))
	require.EqualError(t, err, "record 0, byte 0: type: 4 is an answer, and no request")
	_, err = readAll(wire.NewReader(bytes.NewReader(bad(143, 1)), wire.Dialect{}))
	require.EqualError(t, err, "record 0, byte 0: byte 143 of it is not zero, as every one of a first record is: say which dialect it is")
	_, err = readAll(wire.NewReader(bytes.NewReader(good[:39]), wire.Dialect{}))
	require.EqualError(t, err, "record 0, byte 0: record: 39 bytes of it came before the end")

	var rec wire.Record
	require.EqualError(t, d.Decode(append(good[:140:140], 5, 0, 0, 0), &rec), "record 0, byte 0: pad3: 5 is not zero")
	require.EqualError(t, d.Decode(good[:143], &rec), "record 0, byte 0: record: 143 has fewer than 144 bytes")
	_, err = wire.Dialect{Size: 72, Types: 4}.Append(nil, &wire.Record{Type: 5})
	require.EqualError(t, err, "record 0, byte 0: type: 5 is not known to the dialect 72/4")
	_, err = wire.ParseDialect("\x1b" + strings.Repeat("x", 100))
	require.Regexp(t, `^dialect \\x1bx{5,59}.*: want auto, 72, 112, 128 or 144, or one of 72/4, 72/5, 112/7, 128/11, 144/11, 144/12$`, err.Error())
	require.EqualError(t, &wire.RecordError{Record: 5, Offset: 6, Reason: "why", Err: errors.New("cause")}, "record 5, byte 6: why: cause")
	require.EqualError(t, &wire.DeviceError{Type: wire.TypeFree, Device: 300, PID: 7},
		"FREE names device 300, not one of 0 to 255 and not declared: perhaps a process id, if records have another size than the recognised one")
	require.EqualError(t, &wire.DeviceError{Type: wire.TypeFree, Device: 300, PID: 300},
		"FREE names device 300, which is the id of the sender's process: its records have another size than the recognised one")
}

// A stream that has ended inside a record returns its type and device, if the device has come.
func TestTorn(t *testing.T) {
	whole := stream(t, wire.Newest(), wire.Record{Type: wire.TypeCBFree, Device: 1<<24 + 5})
	for n, want := range map[int]bool{0: false, 7: false, 8: true, 143: true} {
		r := wire.NewReader(bytes.NewReader(whole[:n]), wire.Newest())
		_, err := readAll(r)
		require.ErrorIs(t, err, map[bool]error{true: io.EOF, false: io.ErrUnexpectedEOF}[n == 0])
		half, ok := r.Torn()
		require.Equal(t, want, ok, n)
		if ok {
			require.Equal(t, wire.Record{Type: wire.TypeCBFree, Device: 1<<24 + 5}, half)
		}
	}
}
