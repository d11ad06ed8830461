package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// Of an unsized buffer the address is known alone: tt-metal's test compares with it, and
// no figure has a byte of it.
func TestUnsizedBuffer(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.Spec{Cols: 2, Rows: 1, L1Size: 1000})
	p := build(t, d.Spec(), 1, cb("{[0-0 - 0-0]}", 300))
	low := fit.Buffer{ID: 1, Kind: fit.KindL1, Unsized: true, Size: 77, Cores: cores("{[1-0 - 1-0]}").Cores(), Range: l1.Range{Start: 250, End: 250}}
	allocate(t, f, d.Set(), low)
	allocate(t, f, d.Set(), buffer(2, fit.KindL1, "{[0-0 - 1-0]}", 600, 100))
	intact(t, f)
	require.EqualValues(t, 77+200, d.Totals().Buffers.L1)
	require.EqualValues(t, 200, d.Totals().Tracked)

	_, err := f.Enqueue(p, d.Set())
	var refused fit.Verdict
	require.ErrorAs(t, err, &refused)
	v := refused
	require.Len(t, v.Refusals, 1)
	require.EqualValues(t, 250, v.Refusals[0].Limit)
	require.Empty(t, v.Clashes)
	require.Contains(t, v.Difference(), "no byte is known to clash")
	require.Contains(t, v.Advice(), "free or move L1 buffer 1")
	require.Equal(t, v.Refusals, v.Hybrid)

	room, err := f.Headroom(build(t, d.Spec(), 2, cb("{[0-0 - 1-0]}", 100)), d.Set())
	require.NoError(t, err)
	require.Len(t, room, 2)
	require.EqualValues(t, 500, room[0].Free)
	require.Equal(t, []any{uint64(150), l1.Range{Start: 700, End: 1000}}, []any{room[1].Free, room[1].Gap})

	was, err := f.Free(1, d.Set())
	require.NoError(t, err)
	require.Equal(t, low, was)
	intact(t, f)
	_, err = f.Enqueue(p, d.Set())
	require.NoError(t, err)

	sized := low
	sized.Range.End++
	require.ErrorContains(t, f.Allocate(sized, d.Set()), "buffer 1: illegal field Range: [250,251) has bytes, and the buffer is unsized")
	low.Backing = true
	allocate(t, f, d.Set(), low)
	intact(t, f)
	require.True(t, check(t, f, p, d.Set()).Fits(), "the buffer that it backs stands for it")
}

// Two starts of one unsized buffer on a core are the lower one.
func TestUnsizedParts(t *testing.T) {
	on := cores("{[0-0 - 0-0]}").Cores()
	spec := l1.Spec{Cols: 1, Rows: 1, L1Size: 1000}
	place := fit.Place{Spec: spec, Buffers: []fit.Buffer{{ID: 1, Kind: fit.KindL1, Unsized: true, Parts: []fit.Part{
		{Cores: on, Range: l1.Range{Start: 500, End: 500}}, {Cores: on, Range: l1.Range{Start: 400, End: 400}},
	}}}}
	require.True(t, fit.Check(build(t, spec, 1, cb("{[0-0 - 0-0]}", 400)), place).Fits())
	v := fit.Check(build(t, spec, 1, cb("{[0-0 - 0-0]}", 450)), place)
	require.Len(t, v.Refusals, 1)
	require.EqualValues(t, 400, v.Refusals[0].Limit)
	require.Empty(t, v.Clashes)
	require.EqualValues(t, 300, fit.HeadroomOf(build(t, spec, 1, cb("{[0-0 - 0-0]}", 100)), place)[0].Free)
	require.True(t, place.Buffers[0].Stands())
	require.False(t, fit.Buffer{Kind: fit.KindL1, Unsized: true}.Stands())
}
