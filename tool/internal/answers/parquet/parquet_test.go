package parquet_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/tool/internal/answers/parquet"
	"github.com/cbl1/cbl1/tool/internal/guard/parquetread"
)

// kinds are the columns of these tests, one of each kind.
func kinds() []parquet.Column {
	return []parquet.Column{{"yes", parquet.Bool}, {"signed", parquet.Int}, {"bytes", parquet.Uint}, {"share", parquet.Float}, {"name", parquet.Text}}
}

func truth(b bool) parquet.Value {
	if b {
		return parquet.Value{Kind: parquet.Bool, Bits: 1}
	}
	return parquet.Value{Kind: parquet.Bool}
}

func signed(n int64) parquet.Value { return parquet.Value{Kind: parquet.Int, Bits: uint64(n)} }

func whole(n uint64) parquet.Value { return parquet.Value{Kind: parquet.Uint, Bits: n} }

func float(f float64) parquet.Value {
	return parquet.Value{Kind: parquet.Float, Bits: math.Float64bits(f)}
}

func text(s string) parquet.Value { return parquet.Value{Kind: parquet.Text, Text: s} }

// write returns a file with some rows.
func write(t require.TestingT, columns []parquet.Column, rows ...[]parquet.Value) []byte {
	var b bytes.Buffer
	w := parquet.NewWriter(&b, columns)
	for _, row := range rows {
		require.NoError(t, parquet.Fits(row))
		require.NoError(t, w.Write(row))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// Each kind has its type, NULL is not the empty text, and extremes come back.
func TestRows(t *testing.T) {
	none := parquet.Value{}
	file, err := parquetread.Read(write(t, kinds(),
		[]parquet.Value{truth(true), signed(math.MinInt64), whole(math.MaxInt64), float(math.Inf(-1)), text("")},
		[]parquet.Value{none, none, none, none, none},
		[]parquet.Value{truth(false), signed(-1), whole(0), float(math.SmallestNonzeroFloat64), text("a\xff 'é\x00\u202e")},
	))
	require.NoError(t, err)
	require.Equal(t, []string{"yes", "signed", "bytes", "share", "name"}, file.Names)
	require.Equal(t, []string{"BOOLEAN", "INT64", "INT64", "DOUBLE", "UTF8"}, file.Types)
	require.Equal(t, [][]any{
		{true, int64(math.MinInt64), int64(math.MaxInt64), math.Inf(-1), ""},
		{nil, nil, nil, nil, nil},
		{false, int64(-1), int64(0), math.SmallestNonzeroFloat64, "a\uFFFD 'é\x00\u202e"},
	}, file.Rows)
}

// A table without rows has its columns.
func TestNoRows(t *testing.T) {
	file, err := parquetread.Read(write(t, kinds()))
	require.NoError(t, err)
	require.Len(t, file.Names, 5)
	require.Empty(t, file.Rows)
	require.Empty(t, file.Groups)
}

// INT64 does not hold 2^63.
func TestRange(t *testing.T) {
	require.NoError(t, parquet.Fits([]parquet.Value{whole(math.MaxInt64), signed(-1), float(1e300)}))
	require.ErrorIs(t, parquet.Fits([]parquet.Value{signed(0), whole(1 << 63)}), parquet.ErrRange)
}

// A row group ends with the row with which its values have 8 MiB: memory is bounded.
func TestRowGroups(t *testing.T) {
	const mib = 1 << 20
	var rows [][]parquet.Value
	for i := range 20 {
		rows = append(rows, []parquet.Value{text(strings.Repeat("x", mib-4)), truth(i%3 == 0)})
	}
	file, err := parquetread.Read(write(t, []parquet.Column{{"name", parquet.Text}, {"yes", parquet.Bool}}, rows...))
	require.NoError(t, err)
	require.Len(t, file.Rows, 20)
	require.Len(t, file.Groups, 3)
	require.InDelta(t, 8*mib, file.Groups[0], 100) // with headers
	require.InDelta(t, 4*mib, file.Groups[2], 100)
	for i, row := range file.Rows {
		require.Equal(t, i%3 == 0, row[1])
	}
}

// Whatever is written is read, with any number of rows in the last byte of levels.
func TestAnyRows(t *testing.T) { rapid.Check(t, anyRows) }

func FuzzAnyRows(f *testing.F) { f.Fuzz(rapid.MakeFuzz(anyRows)) }

func anyRows(t *rapid.T) {
	texts := rapid.OneOf(rapid.SampledFrom([]string{"", "'", "=1", "\x00", "\xff\xfe", "é", "\U0001F600", "a\nb", "NULL"}), rapid.String())
	var rows [][]parquet.Value
	var want [][]any
	for range rapid.IntRange(0, 40).Draw(t, "rows") {
		values := []parquet.Value{
			truth(rapid.Bool().Draw(t, "yes")), signed(rapid.Int64().Draw(t, "signed")), whole(rapid.Uint64Max(math.MaxInt64).Draw(t, "bytes")),
			float(rapid.Float64().Draw(t, "share")), text(texts.Draw(t, "name")),
		}
		is := []any{
			values[0].Bits == 1, int64(values[1].Bits), int64(values[2].Bits), math.Float64frombits(values[3].Bits),
			strings.ToValidUTF8(values[4].Text, "\uFFFD"),
		}
		for i := range values {
			if rapid.Bool().Draw(t, "null") {
				values[i], is[i] = parquet.Value{}, nil
			}
		}
		rows, want = append(rows, values), append(want, is)
	}
	file, err := parquetread.Read(write(t, kinds(), rows...))
	require.NoError(t, err)
	require.Equal(t, want, file.Rows)
}

// A writer that fails is reported, by the next row group or by Close.
func TestFull(t *testing.T) {
	full := errors.New("no space")
	w := parquet.NewWriter(failing{full}, kinds())
	require.ErrorIs(t, w.Close(), full)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
