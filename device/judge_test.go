package device_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

func check(t require.TestingT, f *device.Fleet, p *program.Program, s device.Set) fit.Verdict {
	v, err := f.Check(p, s)
	require.NoError(t, err)
	return v
}

// grid is a device of some columns and rows with 1,000 bytes of L1 and CBs from 100.
func grid(cols, rows int) l1.Spec {
	return l1.Spec{Name: "toy", Cols: cols, Rows: rows, L1Size: 1000, CBBase: 100}
}

func texts(refusals []*fit.Refusal) (out []string) {
	for _, r := range refusals {
		out = append(out, r.Error())
	}
	return out
}

// 192 bytes over: tt-metal's issue 54876. Each step leaks buffers of 64 bytes at the
// top; a smaller L1_SMALL makes it fit.
func TestCheck192BytesOver(t *testing.T) {
	const end, lowest = 1_563_264, 1_563_072
	spec := l1.P150()
	spec.Cols, spec.Rows, spec.L1Small = 11, 10, 4096
	run := func(spec l1.Spec) (fit.Verdict, *program.Program) {
		f := device.NewFleet()
		d := addDevice(t, f, 0, spec)
		p := build(t, spec, 2282, cb("{[0-0 - 10-9]}", 1_000_000), cb("{[0-0 - 10-9]}", end-spec.CBBase-1_000_000))
		// Top-down below L1_SMALL, as tt-metal's allocator.
		size := uint64(1_572_864-4096) - lowest
		b := buffer(1, fit.KindL1, "{[0-0 - 10-9]}", spec.L1Size-spec.L1Small-size, size)
		b.Name = "activations"
		allocate(t, f, d.Set(), b)
		return check(t, f, p, d.Set()), p
	}
	v, p := run(spec)
	for _, cb := range p.CBs() {
		require.LessOrEqual(t, cb.Range.End, uint64(end))
	}
	require.False(t, v.Fits())
	require.Len(t, v.Refusals, 1)
	r := v.Refusals[0]
	require.Equal(t, fit.RefusedClash, r.Kind)
	require.EqualValues(t, end, r.End)
	require.EqualValues(t, lowest, r.Limit)
	require.EqualValues(t, 192, r.Over())
	require.EqualError(t, r, "Statically allocated circular buffers in program 2282 clash with L1 buffers on core range [0-0 - 10-9]. L1 buffer allocated at 1563072 and static circular buffer region ends at 1563264")
	require.Equal(t, texts(v.Refusals), texts(v.Hybrid))
	require.Len(t, v.Clashes, 1)
	c := v.Clashes[0]
	require.EqualValues(t, 192, c.Over())
	require.EqualValues(t, 192, c.Bytes)
	require.Equal(t, 110, c.Cores.Len())
	require.False(t, c.Grows)
	require.Equal(t, []int{0, 1}, cbsOf(v.Own(c)))
	above := v.Above(c)
	require.Len(t, above, 1)
	require.Equal(t, "activations", above[0].Buffer.Name)
	require.Empty(t, v.Difference(), "both say so")
	require.Equal(t, "lower L1_SMALL from 4,096 to at most 3,904, which moves every L1 buffer up, or take 192 bytes off CB 0, which has 1,000,000", v.Advice())
	require.Equal(t, r.Error(), v.String())

	spec.L1Small = 2048
	v, _ = run(spec)
	require.True(t, v.Fits(), "as the issue says")
	require.Empty(t, v.Advice())
	require.Empty(t, v.Difference())
	require.Contains(t, v.String(), "fits")
}

// 1,216 bytes beyond the end of L1: tt-metal's issue 35410.
func TestCheck1216BytesBeyond(t *testing.T) {
	f := device.NewFleet()
	spec := l1.P150()
	d := addDevice(t, f, 0, spec)
	p := build(t, spec, 1, cb("{[0-0 - 6-7]}", 1_574_080-spec.CBBase))
	v := check(t, f, p, d.Set())
	require.Len(t, v.Refusals, 1)
	require.Equal(t, fit.RefusedGrow, v.Refusals[0].Kind)
	require.EqualValues(t, 1216, v.Refusals[0].Over())
	require.EqualError(t, v.Refusals[0], "Statically allocated circular buffers on core range [0-0 - 6-7] grow to 1574080 B which is beyond max L1 size of 1572864 B")
	require.Len(t, v.Clashes, 1)
	require.True(t, v.Clashes[0].Grows)
	require.EqualValues(t, 1216, v.Clashes[0].Bytes)
	require.Equal(t, "take 1,216 bytes off CB 0, which has 1,462,464", v.Advice())
}

// Where tt-metal and the bytes disagree, and the text about it.
func TestCheckDifferences(t *testing.T) {
	dfb := func(on string, size uint64) program.CB {
		return program.CB{Kind: program.DataflowBuffer, Cores: cores(on), Size: size}
	}
	for _, test := range []struct {
		name    string
		spec    l1.Spec
		cbs     []program.CB
		buffers []fit.Buffer

		refused    []string // what tt-metal says, in its order
		clashes    []string // cores, bytes
		difference string
		advice     string
	}{
		{
			name: "nothing there", spec: grid(2, 2), cbs: []program.CB{cb("{[0-0 - 1-1]}", 100)},
		},
		{
			name: "the end is the limit", spec: grid(2, 2), cbs: []program.CB{cb("{[0-0 - 1-1]}", 100)},
			buffers: []fit.Buffer{buffer(1, fit.KindL1, "{[0-0 - 1-1]}", 200, 800)},
		},
		{
			name: "the end is the end of L1", spec: grid(2, 2), cbs: []program.CB{cb("{[0-0 - 1-1]}", 900)},
		},
		{
			name: "a buffer on other cores only", spec: grid(2, 2), cbs: []program.CB{cb("{[0-0 - 0-0]}", 300)},
			buffers:    []fit.Buffer{buffer(1, fit.KindL1, "{[1-1 - 1-1]}", 250, 100)},
			refused:    []string{"Statically allocated circular buffers in program 1 clash with L1 buffers on core range [0-0 - 0-0]. L1 buffer allocated at 250 and static circular buffer region ends at 400"},
			difference: "no byte clashes: the buffer at 250 lies on [1-1 - 1-1], and tt-metal compares with the lowest buffer of any core; in HYBRID mode it would run if that buffer were allocated per core",
			advice:     "free or move L1 buffer 1, or take 150 bytes off CB 0, which has 300",
		},
		{
			name: "a buffer in a hole of the region", spec: grid(1, 1),
			cbs:        []program.CB{at(100, cb("{[0-0 - 0-0]}", 50)), at(300, cb("{[0-0 - 0-0]}", 50))},
			buffers:    []fit.Buffer{buffer(1, fit.KindL1, "{[0-0 - 0-0]}", 200, 50)},
			refused:    []string{"Statically allocated circular buffers in program 1 clash with L1 buffers on core range [0-0 - 0-0]. L1 buffer allocated at 200 and static circular buffer region ends at 350"},
			difference: "no byte clashes: the buffer at 200 lies on [0-0 - 0-0], and tt-metal compares with the end of all that it charges to a range, holes included",
			advice:     "free or move L1 buffer 1",
		},
		{
			// Example D: X on 0-0..1-0, Y on 1-0..2-0. The charged range of 0-0 ends where Y does.
			name: "more is charged than occupied", spec: grid(3, 1),
			cbs:        []program.CB{cb("{[0-0 - 1-0]}", 40), cb("{[1-0 - 2-0]}", 60)},
			buffers:    []fit.Buffer{buffer(1, fit.KindL1, "{[0-0 - 0-0]}", 150, 850), buffer(2, fit.KindL1, "{[1-0 - 2-0]}", 200, 800)},
			refused:    []string{"Statically allocated circular buffers in program 1 clash with L1 buffers on core range [0-0 - 1-0]. L1 buffer allocated at 150 and static circular buffer region ends at 200", "Statically allocated circular buffers in program 1 clash with L1 buffers on core range [1-0 - 2-0]. L1 buffer allocated at 150 and static circular buffer region ends at 200"},
			difference: "no byte clashes: the buffer at 150 lies on [0-0 - 0-0], and tt-metal compares with the end of all that it charges to a range, holes included",
			advice:     "free or move L1 buffer 1, or take 50 bytes off CB 1, which has 60",
		},
		{
			// Example C: the last CB lies on all three cores, above five on 0-2.
			name: "a hole below the last CB", spec: grid(1, 3),
			cbs: []program.CB{
				cb("{[0-0 - 0-0]}", 20), cb("{[0-0 - 0-0]}", 20), cb("{[0-0 - 0-0]}", 20),
				cb("{[0-2 - 0-2]}", 20), cb("{[0-2 - 0-2]}", 20), cb("{[0-2 - 0-2]}", 20), cb("{[0-2 - 0-2]}", 20), cb("{[0-2 - 0-2]}", 20),
				cb("{[0-0 - 0-2]}", 20),
			},
			buffers: []fit.Buffer{buffer(1, fit.KindL1, "{[0-1 - 0-1]}", 150, 50)},
			refused: []string{
				"Statically allocated circular buffers in program 1 clash with L1 buffers on core range [0-0 - 0-0]. L1 buffer allocated at 150 and static circular buffer region ends at 220",
				"Statically allocated circular buffers in program 1 clash with L1 buffers on core range [0-2 - 0-2]. L1 buffer allocated at 150 and static circular buffer region ends at 220",
				"Statically allocated circular buffers in program 1 clash with L1 buffers on core range [0-0 - 0-2]. L1 buffer allocated at 150 and static circular buffer region ends at 220",
			},
			difference: "no byte clashes: the buffer at 150 lies on [0-1 - 0-1], and tt-metal compares with the lowest buffer of any core",
			advice:     "free or move L1 buffer 1",
		},
		{
			name: "a CB in the L1_SMALL area, which is empty", spec: l1.Spec{Cols: 1, Rows: 1, L1Size: 1000, L1Small: 100, CBBase: 100},
			cbs: []program.CB{cb("{[0-0 - 0-0]}", 850)},
		},
		{
			name: "an L1_SMALL buffer and no L1 tensor", spec: l1.Spec{Cols: 1, Rows: 1, L1Size: 1000, L1Small: 100, CBBase: 100},
			cbs:        []program.CB{cb("{[0-0 - 0-0]}", 850)},
			buffers:    []fit.Buffer{buffer(4, fit.KindL1Small, "{[0-0 - 0-0]}", 920, 64)},
			clashes:    []string{"[0-0 - 0-0]: 30 B"},
			difference: "tt-metal does not see it: it compares with the lowest L1 buffer, not with L1_SMALL buffer 4",
			advice:     "free or move L1_SMALL buffer 4, or take 30 bytes off CB 0, which has 850",
		},
		{
			name: "a CB at a given address over a kernel", spec: grid(1, 1),
			cbs:        []program.CB{at(90, cb("{[0-0 - 0-0]}", 50))},
			buffers:    []fit.Buffer{buffer(4, fit.KindKernel, "{[0-0 - 0-0]}", 40, 60)},
			clashes:    []string{"[0-0 - 0-0]: 10 B"},
			difference: "tt-metal does not see it: it compares with the lowest L1 buffer, not with kernel 4",
			advice:     "free or move kernel 4",
		},
		{
			name: "a global CB takes nothing", spec: grid(1, 1), cbs: []program.CB{global(cb("{[0-0 - 0-0]}", 5000))},
			buffers: []fit.Buffer{buffer(1, fit.KindL1, "{[0-0 - 0-0]}", 100, 900)},
		},
		{
			name: "a backing allocation blocks no program", spec: grid(1, 1), cbs: []program.CB{cb("{[0-0 - 0-0]}", 500)},
			buffers: []fit.Buffer{{ID: 1, Kind: fit.KindL1, Backing: true, Parts: []fit.Part{part("{[0-0 - 0-0]}", 100, 900)}}},
		},
		{
			name: "a wide global CB is charged with the bytes of a narrow one", spec: grid(2, 1),
			cbs:        []program.CB{global(cb("{[0-0 - 1-0]}", 8)), cb("{[0-0 - 0-0]}", 100)},
			buffers:    []fit.Buffer{buffer(1, fit.KindL1, "{[1-0 - 1-0]}", 150, 850)},
			refused:    []string{"Statically allocated circular buffers in program 1 clash with L1 buffers on core range [0-0 - 1-0]. L1 buffer allocated at 150 and static circular buffer region ends at 200", "Statically allocated circular buffers in program 1 clash with L1 buffers on core range [0-0 - 0-0]. L1 buffer allocated at 150 and static circular buffer region ends at 200"},
			difference: "no byte clashes: the buffer at 150 lies on [1-0 - 1-0], and tt-metal compares with the end of all that it charges to a range, holes included",
			advice:     "free or move L1 buffer 1, or take 50 bytes off CB 1, which has 100",
		},
		{
			name: "dataflow buffers", spec: grid(2, 1), cbs: []program.CB{dfb("{[0-0 - 1-0]}", 500)},
			buffers: []fit.Buffer{buffer(1, fit.KindL1, "{[0-0 - 1-0]}", 550, 450)},
			refused: []string{"Statically allocated dataflow buffers in program 1 clash with L1 buffers on core range [0-0 - 1-0]. L1 buffer allocated at 550 and static dataflow buffer region ends at 600"},
			clashes: []string{"[0-0 - 1-0]: 50 B"},
			advice:  "free or move L1 buffer 1, or take 50 bytes off CB 0, which has 500",
		},
		{
			name: "dataflow buffers and scratchpads beyond L1", spec: grid(1, 1),
			cbs:     []program.CB{dfb("{[0-0 - 0-0]}", 500), {Kind: program.Scratchpad, Cores: cores("{[0-0 - 0-0]}"), Size: 500}},
			refused: []string{"Statically allocated dataflow buffers on core range [0-0 - 0-0] grow to 1100 B which is beyond max L1 size of 1000 B"},
			clashes: []string{"[0-0 - 0-0]: 100 B"},
			advice:  "take 100 bytes off CB 0, which has 500",
		},
		{
			name: "scratchpads alone", spec: grid(1, 1),
			cbs:     []program.CB{{Kind: program.Scratchpad, Cores: cores("{[0-0 - 0-0]}"), Size: 901}},
			refused: []string{"Statically allocated dataflow buffers on core range [0-0 - 0-0] grow to 1001 B which is beyond max L1 size of 1000 B"},
			clashes: []string{"[0-0 - 0-0]: 1 B"},
			advice:  "take 1 bytes off CB 0, which has 901",
		},
		{
			name: "on a service core tt-metal compares with service buffers", spec: grid(2, 1), cbs: []program.CB{cb("{[1-0 - 1-0]}", 500)},
			buffers: []fit.Buffer{buffer(1, fit.KindService, "{[1-0 - 1-0]}", 599, 1), buffer(2, fit.KindL1, "{[0-0 - 0-0]}", 200, 100)},
			refused: []string{"Circular buffers on service-core range [1-0 - 1-0] in program 1 clash with ServiceCoreManager-allocated L1 (lowest service allocation at 599, CB region ends at 600)"},
			clashes: []string{"[1-0 - 1-0]: 1 B"},
			advice:  "free or move service buffer 1 and L1 buffer 2, or take 1 bytes off CB 0, which has 500",
		},
		{
			name: "on a service core an L1 buffer is ignored", spec: grid(2, 1), cbs: []program.CB{cb("{[1-0 - 1-0]}", 500)},
			buffers:    []fit.Buffer{buffer(1, fit.KindService, "{[1-0 - 1-0]}", 700, 1), buffer(2, fit.KindL1, "{[1-0 - 1-0]}", 500, 100)},
			clashes:    []string{"[1-0 - 1-0]: 100 B"},
			difference: "tt-metal does not see it: on service cores it compares with service buffers only",
			advice:     "free or move L1 buffer 2, or take 100 bytes off CB 0, which has 500",
		},
		{
			name: "two ways to clash on one core", spec: grid(1, 1), cbs: []program.CB{cb("{[0-0 - 0-0]}", 950)},
			buffers: []fit.Buffer{buffer(2, fit.KindL1, "{[0-0 - 0-0]}", 800, 100), buffer(3, fit.KindL1, "{[0-0 - 0-0]}", 900, 100)},
			refused: []string{"Statically allocated circular buffers on core range [0-0 - 0-0] grow to 1050 B which is beyond max L1 size of 1000 B"},
			clashes: []string{"[0-0 - 0-0]: 250 B"},
			advice:  "take 250 bytes off CB 0, which has 950",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := device.NewFleet()
			d := addDevice(t, f, 0, test.spec)
			p := build(t, test.spec, 1, test.cbs...)
			allocate(t, f, d.Set(), test.buffers...)
			v := check(t, f, p, d.Set())
			require.Equal(t, test.refused, texts(v.Refusals))
			require.Equal(t, test.refused, texts(v.Hybrid), "the buffers are in lockstep")
			var clashes []string
			for _, c := range v.Clashes {
				clashes = append(clashes, strings.Trim(c.Cores.String(), "{}")+": "+decimal(c.Bytes)+" B")
				require.Positive(t, c.Over())
				require.NotEmpty(t, v.Own(c))
			}
			require.Equal(t, test.clashes, clashes)
			require.Equal(t, test.difference, v.Difference())
			require.Equal(t, test.advice, v.Advice())
			require.Equal(t, len(test.refused)+len(test.clashes) == 0, v.Fits())
			require.Equal(t, v.Fits(), strings.HasSuffix(v.String(), "fits"))
			intact(t, f)
		})
	}
}

// A verdict names the obstacle: the lowest resident, not one that ends where it starts.
func TestClashLimitIsInTheWay(t *testing.T) {
	f := device.NewFleet()
	spec := grid(1, 1)
	d := addDevice(t, f, 0, spec)
	allocate(t, f, d.Set(), buffer(1, fit.KindKernel, "{[0-0 - 0-0]}", 0, 100), buffer(2, fit.KindL1Small, "{[0-0 - 0-0]}", 100, 100))
	p := build(t, spec, 1, cb("{[0-0 - 0-0]}", 50))
	v := check(t, f, p, d.Set())
	require.Len(t, v.Clashes, 1)
	require.EqualValues(t, 100, v.Clashes[0].Limit)
	require.EqualValues(t, 50, v.Clashes[0].Over())
	require.EqualValues(t, 50, v.Clashes[0].Bytes)
	require.Equal(t, "program 1 ends at 150 on [0-0 - 0-0]: L1_SMALL buffer 2 is in the way, which starts at 100; 50 B too many", v.String())
	require.EqualError(t, v, v.String())
	require.EqualError(t, ofProgram("Enqueue", 1, 2, v), v.String())
}

// cbsOf returns the places of residents in their program.
func cbsOf(all []fit.Resident) (out []int) {
	for _, r := range all {
		out = append(out, r.CB)
	}
	return out
}

// Free bytes that placement cannot use, and why.
func TestHoles(t *testing.T) {
	f := device.NewFleet()
	spec := grid(1, 2)
	d := addDevice(t, f, 0, spec)
	p := build(t, spec, 1, cb("{[0-0 - 0-0]}", 100), cb("{[0-0 - 0-1]}", 100), cb("{[0-1 - 0-1]}", 50), at(500, cb("{[0-1 - 0-1]}", 100)))
	b := buffer(1, fit.KindL1, "{[0-1 - 0-1]}", 550, 100)
	b.Name = "x"
	allocate(t, f, d.Set(), b)
	v := check(t, f, p, d.Set())
	require.Len(t, v.Clashes, 1)
	c := v.Clashes[0]
	require.Equal(t, []fit.Hole{
		{Range: l1.Range{Start: 100, End: 200}, Why: "below the program's buffers: their address is that of all their cores"},
		{Range: l1.Range{Start: 350, End: 500}, Why: "between the program's buffers: placement goes on above the last one and does not go back"},
		{Range: l1.Range{Start: 650, End: 1000}, Why: "above what is in the way: circular buffers grow from the base up and cannot pass it"},
	}, v.Holes(c))
	require.Equal(t, []int{1, 3, 2}, cbsOf(v.Own(c)), "the largest first")
	require.Equal(t, `free or move L1 buffer 1 ("x"), or take 50 bytes off CB 3, which has 100, while all others stay in their places`, v.Advice())
}

// Devices with the same buffers are judged once.
func TestCheckOfAMesh(t *testing.T) {
	f := device.NewFleet()
	spec := grid(1, 1)
	m := addMesh(t, f, 0, 2, 2, spec)
	p := build(t, spec, 1, cb("{[0-0 - 0-0]}", 500))
	some := of(t, f, 1, 3)
	allocate(t, f, some, buffer(1, fit.KindL1, "{[0-0 - 0-0]}", 400, 100))
	v := check(t, f, p, m.Set())
	require.Len(t, v.Refusals, 1)
	require.EqualValues(t, 1, v.Refusals[0].Device)
	require.Equal(t, 2, v.Refusals[0].Devices)
	require.Len(t, v.Hybrid, 2, "HYBRID looks at every device")
	require.Len(t, v.Clashes, 1)
	require.EqualValues(t, 1, v.Clashes[0].Device)
	require.Equal(t, 2, v.Clashes[0].Devices)
	require.True(t, check(t, f, p, of(t, f, 0, 2)).Fits())
	require.True(t, check(t, f, p, device.Set{}).Fits(), "no devices")
	intact(t, f)

	// A service core of one device; the service buffers of all devices count.
	f = device.NewFleet()
	m = addMesh(t, f, 0, 1, 2, spec)
	allocate(t, f, of(t, f, 0), buffer(1, fit.KindService, "{[0-0 - 0-0]}", 700, 100))
	allocate(t, f, of(t, f, 1), buffer(1, fit.KindService, "{[0-0 - 0-0]}", 500, 100))
	v = check(t, f, p, of(t, f, 0))
	require.True(t, v.Fits())
	v = check(t, f, p, m.Set())
	require.Len(t, v.Refusals, 2)
	require.EqualValues(t, 500, v.Refusals[0].Limit)
}

func TestCheckRefusals(t *testing.T) {
	f := device.NewFleet()
	d := addDevice(t, f, 0, l1.N150())
	p := build(t, l1.N150(), 1, cb("{[0-0 - 0-0]}", 8))
	gone := addDevice(t, f, 1, l1.N150())
	goneSet := gone.Set()
	require.NoError(t, f.Remove(goneSet))
	foreign := addDevice(t, device.NewFleet(), 0, l1.N150()).Set()
	other := build(t, l1.P150(), 2, cb("{[0-0 - 0-0]}", 8))
	still(t, f, func() {
		for name, call := range map[string]func(p *program.Program, s device.Set) error{
			"check":    func(p *program.Program, s device.Set) error { _, err := f.Check(p, s); return err },
			"enqueue":  func(p *program.Program, s device.Set) error { _, err := f.Enqueue(p, s); return err },
			"may grow": func(p *program.Program, s device.Set) error { _, _, err := f.MayGrow(p, 0, s); return err },
			"headroom": func(p *program.Program, s device.Set) error { _, err := f.Headroom(p, s); return err },
		} {
			if name != "headroom" { // of all programs
				require.ErrorIs(t, call(nil, d.Set()), device.ErrNoProgram, name)
			}
			require.ErrorIs(t, call(p, foreign), device.ErrForeignSet, name)
			require.ErrorIs(t, call(p, goneSet), device.ErrNoDevice, name)
			require.ErrorIs(t, call(other, d.Set()), device.ErrSpec, name)
			require.NoError(t, call(other, device.Set{}), name)
		}
		_, err := f.Headroom(nil, foreign)
		require.ErrorIs(t, err, device.ErrForeignSet)
		_, err = f.Headroom(nil, goneSet)
		require.ErrorIs(t, err, device.ErrNoDevice)
		_, _, err = f.MayGrow(p, 7, d.Set())
		require.ErrorAs(t, err, new(*program.Error))
		_, _, err = f.MayGrow(p, -1, d.Set())
		require.ErrorAs(t, err, new(*program.Error))
	})
}

// What knows nothing, or has nothing, fits and does not break anything.
func TestCheckOfLittle(t *testing.T) {
	for _, spec := range []l1.Spec{{}, {Cols: 1, Rows: 1}, {L1Size: 64}, {L1Size: 64, L1Small: 64, CBBase: 64}} {
		f := device.NewFleet()
		d := addDevice(t, f, 0, spec)
		for id, p := range []*program.Program{
			build(t, spec, 1), build(t, spec, 2, cb("{[0-0 - 0-0]}", 0)), build(t, spec, 3, global(cb("{[0-0 - 0-0]}", 99))),
		} {
			require.True(t, check(t, f, p, d.Set()).Fits(), "%v, program %d", spec, id+1)
			_, err := f.Enqueue(p, d.Set())
			require.NoError(t, err)
			room, err := f.Headroom(p, d.Set())
			require.NoError(t, err)
			require.Empty(t, room, "it has no bytes anywhere")
		}
		room, err := f.Headroom(nil, d.Set())
		require.NoError(t, err)
		require.Len(t, room, spec.NumCores(), "on every core from the base")
		// An empty buffer, and one on no cores.
		allocate(t, f, d.Set(), buffer(1, fit.KindL1, "{[0-0 - 0-0]}", 0, 0), fit.Buffer{ID: 2, Kind: fit.KindL1, Parts: []fit.Part{{Range: l1.Range{End: 64}}}})
		require.True(t, check(t, f, build(t, spec, 4, cb("{[0-0 - 0-0]}", 0)), d.Set()).Fits())
		require.Zero(t, d.Totals().Tracked)
		intact(t, f)
	}
	require.Zero(t, (&fit.Refusal{Kind: fit.RefusedGrid}).Over())
	require.Zero(t, (&fit.Refusal{End: 1, Limit: 2}).Over())
	require.Zero(t, fit.Clash{End: 1, Limit: 2}.Over())
	require.Equal(t, "no program: nothing to fit", fit.Verdict{}.String())
}

// A program of a Spec without a grid may name any core; on a device it may not.
func TestRefusedGrid(t *testing.T) {
	r := &fit.Refusal{Kind: fit.RefusedGrid, Program: 5, Cores: l1.CoreRange{Start: core(0, 0), End: core(8, 7)}, Cols: 8, Rows: 8}
	require.EqualError(t, r, "Circular buffer core range [0-0 - 8-7] in program 5 exceeds device compute grid (8x8) and is not entirely on cores claimed via ServiceCoreManager")
	f := device.NewFleet()
	spec := grid(2, 2)
	d := addDevice(t, f, 0, spec)
	p, err := program.NewBuilder(5).CB(cb("{[1-1 - 2-1]}", 10)).Build(spec)
	require.NoError(t, err)
	v := check(t, f, p, d.Set())
	require.Equal(t, []string{"Circular buffer core range [1-1 - 2-1] in program 5 exceeds device compute grid (2x2) and is not entirely on cores claimed via ServiceCoreManager"}, texts(v.Refusals))
	require.Equal(t, "name cores inside the 2x2 grid only", v.Advice())
	require.Empty(t, v.Difference())
	_, err = f.Enqueue(p, d.Set())
	require.ErrorIs(t, err, device.ErrGrid, "Register comes first")
	allocate(t, f, d.Set(), buffer(1, fit.KindService, "{[1-1 - 2-1]}", 500, 10))
	require.True(t, check(t, f, p, d.Set()).Fits(), "on cores that are claimed")
}

// Small buffers that leak, each below the last one: the advice names as many as are in
// the way, the lowest first, and it is true when it is followed.
func TestCheckAdviceOnManyBuffers(t *testing.T) {
	tests := []struct {
		name   string
		size   uint64
		free   []fit.BufferID
		advice string
	}{
		{"the lowest", 650, []fit.BufferID{4}, "free or move L1 buffer 4, or take 6 bytes off CB 0, which has 650"},
		{"two", 710, []fit.BufferID{4, 3}, "free or move L1 buffer 4 and L1 buffer 3, or take 66 bytes off CB 0, which has 710"},
		{"all", 900, []fit.BufferID{4, 3, 2, 1}, "free or move L1 buffer 4 and L1 buffer 3 (+2 more), or take 256 bytes off CB 0, which has 900"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := device.NewFleet()
			spec := grid(2, 1)
			d := addDevice(t, f, 0, spec)
			for id := fit.BufferID(1); id <= 4; id++ {
				on := "{[0-0 - 1-0]}"
				if id == 3 {
					on = "{[1-0 - 1-0]}" // tt-metal compares with buffers on any core
				}
				allocate(t, f, d.Set(), buffer(id, fit.KindL1, on, 1000-64*uint64(id), 64))
			}
			p := build(t, spec, 1, cb("{[0-0 - 0-0]}", test.size))
			v := check(t, f, p, d.Set())
			require.Equal(t, test.advice, v.Advice())
			for _, id := range test.free {
				require.False(t, check(t, f, p, d.Set()).Fits())
				_, err := f.Free(id, d.Set())
				require.NoError(t, err)
			}
			require.True(t, check(t, f, p, d.Set()).Fits())
		})
	}
}
