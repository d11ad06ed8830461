package fit_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/fit"
)

// Each kind has one figure, and a dropped buffer leaves nothing.
func TestBufferTotals(t *testing.T) {
	for kind, want := range map[fit.Kind]fit.BufferTotals{
		fit.KindL1:       {Count: 1, L1: 64},
		fit.KindL1Small:  {Count: 1, L1Small: 64},
		fit.KindGlobalCB: {Count: 1, L1: 64},
		fit.KindService:  {Count: 1, L1: 64},
		fit.KindKernel:   {Count: 1, Kernels: 64},
		fit.KindReserved: {Count: 1, Kernels: 64},
		fit.KindDRAM:     {Count: 1, DRAM: 64},
		fit.KindTrace:    {Count: 1, Trace: 64},
		fit.KindSystem:   {Count: 1, System: 64},
	} {
		for _, b := range []fit.Buffer{{Kind: kind, Size: 64}, {Kind: kind, Size: 64, Backing: true}} {
			if b.Backing {
				want = fit.BufferTotals{Backings: 1, Backing: 64}
			}
			var sum fit.BufferTotals
			sum.Add(&b, 1)
			require.Equal(t, want, sum, "%+v", b)
			sum.Add(&b, -1)
			require.Zero(t, sum, "%+v", b)
		}
	}
}

// A sum over devices follows some of them in every figure.
func TestBufferTotalsMove(t *testing.T) {
	row := func(k int) (out fit.BufferTotals) {
		v := reflect.ValueOf(&out).Elem()
		for i := range v.NumField() {
			if n := k * (i + 1); v.Field(i).CanInt() {
				v.Field(i).SetInt(int64(n))
			} else {
				v.Field(i).SetUint(uint64(n))
			}
		}
		return out
	}
	sum := row(20)
	sum.Move(row(5), row(2), 3)
	require.Equal(t, row(11), sum)
}
