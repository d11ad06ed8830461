package fit_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// follow does what the advice says about the buffers of the program.
func follow(t *testing.T, v fit.Verdict) *program.Program {
	t.Helper()
	said := regexp.MustCompile(`take ([\d,]+) bytes off CB (\d+), which has ([\d,]+)`).FindStringSubmatch(v.Advice())
	require.NotNil(t, said, v.Advice())
	number := func(text string) uint64 {
		n, err := strconv.ParseUint(strings.ReplaceAll(text, ",", ""), 10, 64)
		require.NoError(t, err)
		return n
	}
	p, err := v.Program.Resize(int(number(said[2])), number(said[3])-number(said[1]))
	require.NoError(t, err)
	return p
}

// A program that clashes on one core and grows on another: the advice is about the
// buffers of the cores that it speaks of, and is true when it is followed.
func TestAdviceNamesTheBuffersOfItsCores(t *testing.T) {
	spec := l1.Spec{Cols: 2, Rows: 1, L1Size: 1000}
	left, right := l1.Rect(0, 0, 0, 0), l1.Rect(1, 0, 1, 0)
	p, err := program.NewBuilder(1).CB(program.CB{Cores: left, Size: 300}).CB(program.CB{Cores: right, Size: 1200}).Build(spec)
	require.NoError(t, err)
	at := fit.Place{Spec: spec, Hybrid: true, Buffers: []fit.Buffer{
		{ID: 1, Kind: fit.KindL1, Mode: fit.PerCore, Cores: left.Cores(), Range: l1.Range{Start: 250, End: 400}},
	}}

	v := fit.Check(p, at)
	require.Equal(t, []fit.RefusalKind{fit.RefusedClash, fit.RefusedGrow}, []fit.RefusalKind{v.Refusals[0].Kind, v.Refusals[1].Kind})
	require.Equal(t, "50 bytes are too many, and no single buffer of the program was found to be enough: with 299 bytes off CB 0, which has 300, 200 are too many", v.Advice())
	p, err = p.Resize(0, 250)
	require.NoError(t, err)
	v = fit.Check(p, at)
	require.Len(t, v.Refusals, 1)
	require.Equal(t, "take 200 bytes off CB 1, which has 1,200", v.Advice())
	require.True(t, fit.Check(follow(t, v), at).Fits())

	// The same by bytes alone, which tt-metal does not compare: an L1_SMALL buffer.
	at.Buffers[0].Kind = fit.KindL1Small
	small, err := program.NewBuilder(1).CB(program.CB{Cores: right, Size: 900}).CB(program.CB{Cores: left, Size: 300}).Build(spec)
	require.NoError(t, err)
	v = fit.Check(small, at)
	require.Empty(t, v.Refusals)
	require.Equal(t, "free or move L1_SMALL buffer 1, or take 50 bytes off CB 1, which has 300", v.Advice())
	require.True(t, fit.Check(follow(t, v), at).Fits())
}
