package device_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

func headroom(t require.TestingT, f *device.Fleet, p *program.Program, s device.Set) []fit.Headroom {
	out, err := f.Headroom(p, s)
	require.NoError(t, err)
	return out
}

func registeredHeadroom(t require.TestingT, f *device.Fleet, s device.Set) []fit.Headroom {
	all, err := f.Headroom(nil, s)
	require.NoError(t, err)
	for id := range s.All() { // the quick look says the least of it
		d, err := f.Device(id)
		require.NoError(t, err)
		alone, err := f.Headroom(nil, d.Set())
		require.NoError(t, err)
		least := slices.MinFunc(alone, func(a, b fit.Headroom) int { return cmp.Compare(a.Free, b.Free) }).Free
		free, ok := d.LeastHeadroom()
		require.Equal(t, d.Registered() > 0, ok)
		require.True(t, !ok || free == least, "device %d: %d by the quick look, and %d", id, free, least)
	}
	return all
}

func TestHeadroom(t *testing.T) {
	f := device.NewFleet()
	spec := l1.Spec{Cols: 4, Rows: 1, L1Size: 1000, L1Small: 100, CBBase: 100}
	m := addMesh(t, f, 0, 1, 3, spec)
	p := build(t, spec, 1, cb("{[0-0 - 2-0]}", 200))
	all := func(text string) l1.CoreSet { return cores(text).Cores() }
	span := func(from, to uint64) l1.Range { return l1.Range{Start: from, End: to} }
	require.Equal(t, []fit.Headroom{
		{Devices: 3, Cores: all("{[0-0 - 2-0]}"), End: 300, Free: 600, Gap: span(300, 900)}, // below L1_SMALL
	}, headroom(t, f, p, m.Set()))
	require.Equal(t, []fit.Headroom{
		{Devices: 3, Cores: all("{[0-0 - 3-0]}"), End: 100, Free: 800, Gap: span(100, 900)},
	}, registeredHeadroom(t, f, m.Set()), "nothing is registered: from the base")

	one := sub(t, m, 0, 1, 1, 1)
	allocate(t, f, one,
		buffer(1, fit.KindL1, "{[0-0 - 0-0]}", 500, 100),   // room on both sides
		buffer(2, fit.KindL1, "{[1-0 - 1-0]}", 250, 100),   // in the way
		buffer(3, fit.KindKernel, "{[0-0 - 3-0]}", 0, 100), // below
		buffer(4, fit.KindL1, "{[3-0 - 3-0]}", 200, 100))   // on another core
	require.Equal(t, []fit.Headroom{
		{Device: 0, Devices: 2, Cores: all("{[0-0 - 2-0]}"), End: 300, Free: 600, Gap: span(300, 900)},
		{Device: 1, Devices: 1, Cores: all("{[0-0 - 0-0]}"), End: 300, Free: 200, Gap: span(600, 900)},
		{Device: 1, Devices: 1, Cores: all("{[1-0 - 1-0]}"), End: 300, Free: 0, Gap: span(350, 900)},
		{Device: 1, Devices: 1, Cores: all("{[2-0 - 2-0]}"), End: 300, Free: 600, Gap: span(300, 900)},
	}, headroom(t, f, p, m.Set()))
	require.Empty(t, headroom(t, f, p, device.Set{}))

	// All that is registered, as if it were there at once.
	register(t, f, p, one)
	register(t, f, build(t, spec, 2, cb("{[0-0 - 0-0]}", 250)), one)
	register(t, f, build(t, spec, 3, cb("{[3-0 - 3-0]}", 60)), of(t, f, 2))
	require.Equal(t, []fit.Headroom{
		{Device: 0, Devices: 1, Cores: all("{[0-0 - 3-0]}"), End: 100, Free: 800, Gap: span(100, 900)},
		{Device: 1, Devices: 1, Cores: all("{[0-0 - 0-0]}"), End: 350, Free: 150, Gap: span(600, 900)},
		{Device: 1, Devices: 1, Cores: all("{[1-0 - 1-0]}"), End: 300, Free: 0, Gap: span(350, 900)},
		{Device: 1, Devices: 1, Cores: all("{[2-0 - 2-0]}"), End: 300, Free: 600, Gap: span(300, 900)},
		{Device: 1, Devices: 1, Cores: all("{[3-0 - 3-0]}"), End: 100, Free: 100, Gap: span(300, 900)}, // a buffer and no program
		{Device: 2, Devices: 1, Cores: all("{[0-0 - 2-0]}"), End: 100, Free: 800, Gap: span(100, 900)},
		{Device: 2, Devices: 1, Cores: all("{[3-0 - 3-0]}"), End: 160, Free: 740, Gap: span(160, 900)},
	}, registeredHeadroom(t, f, m.Set()))

	// L1 of unknown size ends with the addresses.
	unknown := l1.Spec{Name: "?"}
	d := addDevice(t, f, 9, unknown)
	q := build(t, unknown, 9, cb("{[0-0 - 0-0]}", 10))
	require.Equal(t, []fit.Headroom{
		{Device: 9, Devices: 1, Cores: all("{[0-0 - 0-0]}"), End: 10, Free: l1.MaxAddr - 10, Gap: span(10, l1.MaxAddr)},
	}, headroom(t, f, q, d.Set()))
	// Nor is the grid known: there are the cores that hold anything.
	register(t, f, q, d.Set())
	allocate(t, f, d.Set(), buffer(1, fit.KindL1, "{[5-0 - 5-0]}", 64, 8))
	require.Equal(t, []fit.Headroom{
		{Device: 9, Devices: 1, Cores: all("{[0-0 - 0-0]}"), End: 10, Free: l1.MaxAddr - 10, Gap: span(10, l1.MaxAddr)},
		{Device: 9, Devices: 1, Cores: all("{[5-0 - 5-0]}"), End: 0, Free: 64, Gap: span(72, l1.MaxAddr)},
	}, registeredHeadroom(t, f, d.Set()))
}

// TestHeadroomOfUnsizedKernel puts a kernel of unknown size where CBs start: nothing is known to be free above it.
func TestHeadroomOfUnsizedKernel(t *testing.T) {
	f := device.NewFleet()
	spec := l1.Spec{Cols: 1, Rows: 1, L1Size: 1000, CBBase: 100}
	d := addDevice(t, f, 0, spec)
	register(t, f, build(t, spec, 1, cb("{[0-0 - 0-0]}", 200)), d.Set())
	kernel := buffer(1, fit.KindKernel, "{[0-0 - 0-0]}", 100, 0)
	kernel.Unsized = true
	allocate(t, f, d.Set(), kernel)
	require.Zero(t, registeredHeadroom(t, f, d.Set())[0].Free)
}

func TestMayGrow(t *testing.T) {
	spec := l1.Spec{Cols: 4, Rows: 1, L1Size: 1000, L1Small: 100, CBBase: 100, CBAlign: 32}
	paged := func(on string, size uint64, pages ...uint64) program.CB {
		c := cb(on, size)
		for i, n := range pages {
			c.Indices = append(c.Indices, program.Index{Number: i, PageSize: n})
		}
		return c
	}
	for _, test := range []struct {
		name    string
		cbs     []program.CB
		buffers []fit.Buffer
		cb      int
		want    uint64
		ok      bool
	}{
		{"to L1_SMALL, though it is empty", []program.CB{cb("{[0-0 - 0-0]}", 100)}, nil, 0, 900 - 128 - 100, true},
		{"to an L1_SMALL buffer", []program.CB{cb("{[0-0 - 0-0]}", 100)}, []fit.Buffer{buffer(1, fit.KindL1Small, "{[0-0 - 0-0]}", 950, 50)}, 0, 900 - 128 - 100, true},
		{"not into L1_SMALL, where one is", []program.CB{cb("{[0-0 - 0-0]}", 100), cb("{[0-0 - 0-0]}", 700)}, nil, 1, 0, true},
		{"nor below one that is", []program.CB{cb("{[0-0 - 0-0]}", 100), cb("{[0-0 - 0-0]}", 700)}, nil, 0, 156 - 128, true},
		{"one without cores", []program.CB{cb("{}", 100)}, nil, 0, 900 - 128 - 100, true},
		{"to the lowest tensor of any core", []program.CB{cb("{[0-0 - 0-0]}", 100)}, []fit.Buffer{buffer(1, fit.KindL1, "{[3-0 - 3-0]}", 500, 50)}, 0, 500 - 128 - 100, true},
		{"not at all", []program.CB{cb("{[0-0 - 0-0]}", 372)}, []fit.Buffer{buffer(1, fit.KindL1, "{[0-0 - 0-0]}", 500, 50)}, 0, 0, true},
		{"it does not fit as it is", []program.CB{cb("{[0-0 - 0-0]}", 373)}, []fit.Buffer{buffer(1, fit.KindL1, "{[0-0 - 0-0]}", 500, 50)}, 0, 0, false},
		{"a global one takes nothing", []program.CB{global(cb("{[0-0 - 0-0]}", 373))}, nil, 0, 0, false},
		{"by whole pages", []program.CB{paged("{[0-0 - 0-0]}", 96, 16, 24)}, []fit.Buffer{buffer(1, fit.KindL1, "{[0-0 - 0-0]}", 500, 50)}, 0, 5 * 48, true},
		{"one above moves along, in steps of its alignment", []program.CB{cb("{[0-0 - 0-0]}", 100), cb("{[0-0 - 0-0]}", 100)}, []fit.Buffer{buffer(1, fit.KindL1, "{[0-0 - 0-0]}", 500, 50)}, 0, 384 - 128 - 100, true},
		{"the last one", []program.CB{cb("{[0-0 - 0-0]}", 100), cb("{[0-0 - 0-0]}", 100)}, []fit.Buffer{buffer(1, fit.KindL1, "{[0-0 - 0-0]}", 500, 50)}, 1, 500 - 256 - 100, true},
		{"pages without a common multiple below 2^63", []program.CB{paged("{[0-0 - 0-0]}", 0, 1<<62-1, 1<<62-3)}, nil, 0, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := device.NewFleet()
			d := addDevice(t, f, 0, spec)
			p := build(t, spec, 1, test.cbs...)
			allocate(t, f, d.Set(), test.buffers...)
			still(t, f, func() {
				n, ok, err := f.MayGrow(p, test.cb, d.Set())
				require.NoError(t, err)
				require.Equal(t, test.ok, ok)
				require.Equal(t, test.want, n)
			})
		})
	}
	// Without devices L1 ends, and without an end of L1 only the addresses do.
	f := device.NewFleet()
	n, ok, err := f.MayGrow(build(t, spec, 1, cb("{[0-0 - 0-0]}", 100)), 0, device.Set{})
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, uint64(900-128-100), n)
	d := addDevice(t, f, 0, l1.Spec{})
	n, ok, err = f.MayGrow(build(t, l1.Spec{}, 1, cb("{[0-0 - 0-0]}", 100)), 0, d.Set())
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, uint64(l1.MaxAddr-100), n)
}

// Aliases of a dataflow buffer grow together.
func TestMayGrowOfAliases(t *testing.T) {
	f := device.NewFleet()
	spec := l1.Spec{Cols: 1, Rows: 1, L1Size: 1000}
	d := addDevice(t, f, 0, spec)
	alias := func(page uint64) program.CB {
		return program.CB{
			Kind: program.DataflowBuffer, Cores: cores("{[0-0 - 0-0]}"), Size: 120, Alias: 1,
			Indices: []program.Index{{Number: int(page), PageSize: page}},
		}
	}
	n, ok, err := f.MayGrow(build(t, spec, 1, alias(8), alias(30)), 0, d.Set())
	require.NoError(t, err)
	require.True(t, ok)
	require.EqualValues(t, 840, n, "in steps of 120")
}

// headroomIsExact draws a program and buffers on toy devices. Growing a CB by its limit fits, one
// step more does not; and the room on each core equals a count of bytes.
func headroomIsExact(t *rapid.T) {
	spec := l1.Spec{Cols: toySide, Rows: toySide, L1Size: toyBytes, L1Small: rapid.SampledFrom([]uint64{0, 8}).Draw(t, "small"), CBBase: 4, CBAlign: rapid.SampledFrom([]uint64{0, 4}).Draw(t, "align")}
	f := device.NewFleet()
	m := addMesh(t, f, 0, 1, 2, spec)
	drawCores := func() l1.CoreRangeSet {
		x0, y0 := rapid.Uint8Range(0, toySide-1).Draw(t, "x0"), rapid.Uint8Range(0, toySide-1).Draw(t, "y0")
		x1, y1 := rapid.Uint8Range(x0, toySide-1).Draw(t, "x1"), rapid.Uint8Range(y0, toySide-1).Draw(t, "y1")
		set, err := l1.NewCoreRangeSet(l1.CoreRange{Start: core(x0, y0), End: core(x1, y1)})
		require.NoError(t, err)
		return set
	}
	b := program.NewBuilder(1)
	steps := []uint64{}
	for range rapid.IntRange(1, 4).Draw(t, "CBs") {
		c := program.CB{Cores: drawCores(), Size: rapid.Uint64Range(0, 12).Draw(t, "size"), Global: rapid.IntRange(0, 6).Draw(t, "global") == 0}
		step := uint64(1)
		if rapid.Bool().Draw(t, "paged") {
			step = rapid.Uint64Range(1, 4).Draw(t, "page")
			c.Size -= c.Size % step
			c.Indices = []program.Index{{Number: len(steps), PageSize: step}}
		}
		if rapid.IntRange(0, 5).Draw(t, "fixed") == 0 {
			c = at(rapid.Uint64Range(0, 40).Draw(t, "address"), c)
		}
		steps = append(steps, step)
		b.CB(c)
	}
	p, err := b.Build(spec)
	require.NoError(t, err)
	buffers := map[device.ID][]fit.Buffer{}
	for id := range fit.BufferID(rapid.IntRange(0, 4).Draw(t, "buffers")) {
		start := rapid.Uint64Range(0, toyBytes-1).Draw(t, "start")
		b := fit.Buffer{
			ID: id, Kind: rapid.SampledFrom([]fit.Kind{fit.KindL1, fit.KindL1, fit.KindL1Small, fit.KindGlobalCB, fit.KindService, fit.KindKernel}).Draw(t, "kind"),
			Parts: []fit.Part{{Cores: drawCores().Cores(), Range: l1.Range{Start: start, End: start + rapid.Uint64Range(0, 8).Draw(t, "length")}}},
		}
		on := rapid.SampledFrom([][]device.ID{{0}, {1}, {0, 1}}).Draw(t, "on")
		allocate(t, f, of(t, f, on...), b)
		for _, id := range on {
			buffers[id] = append(buffers[id], b)
		}
	}

	fits := check(t, f, p, m.Set()).Fits()
	for i, c := range p.CBs() {
		n, ok, err := f.MayGrow(p, i, m.Set())
		require.NoError(t, err)
		require.Equal(t, fits && !c.Global, ok)
		if !ok {
			require.Zero(t, n)
			continue
		}
		require.Zero(t, n%steps[i])
		most, more := resize(t, p, i, c.Size+n), resize(t, p, i, c.Size+n+steps[i])
		require.True(t, check(t, f, most, m.Set()).Fits() && !grewOut(p, most), "CB %d by %d", i, n)
		require.False(t, check(t, f, more, m.Set()).Fits() && !grewOut(p, more), "CB %d by %d and a step", i, n)
	}

	rooms := headroom(t, f, p, m.Set())
	for d := range m.All() {
		for c := range toyCores {
			var mine, taken [2 * toyBytes]bool
			end, base := uint64(0), uint64(2*toyBytes)
			for _, cb := range p.CBs() {
				if !cb.Global && cb.Cores.Cores().Has(c) && !cb.Range.IsEmpty() {
					base, end = min(base, cb.Range.Start), max(end, cb.Range.End)
					for a := cb.Range.Start; a < cb.Range.End; a++ {
						mine[a] = true
					}
				}
			}
			at := slices.IndexFunc(rooms, func(h fit.Headroom) bool {
				return h.Cores.Has(c) && sameBuffers(f, h.Device, d.ID())
			})
			require.Equal(t, end > 0, at >= 0, "device %d, core %v", d.ID(), c)
			if end == 0 {
				continue
			}
			for _, b := range buffers[d.ID()] {
				if p := b.Parts[0]; p.Cores.Has(c) {
					for a := p.Range.Start; a < p.Range.End; a++ {
						taken[a] = true
					}
				}
			}
			top := spec.L1Size - spec.L1Small
			free := uint64(0)
			clear := true // no buffer from the base to the end
			for a := base; a < end; a++ {
				clear = clear && !taken[a]
			}
			for a := end; clear && a < top && !taken[a]; a++ {
				if a >= spec.CBBase {
					free++
				}
			}
			h := rooms[at]
			require.Equal(t, end, h.End)
			require.Equal(t, free, h.Free, "device %d, core %v", d.ID(), c)
			var gap l1.Range
			for a := spec.CBBase; a < top; a++ {
				n := a
				for n < top && !mine[n] && !taken[n] {
					n++
				}
				step := max(spec.L1Align, spec.CBAlign, 1) // of buffers
				if low, high := (a+step-1)/step*step, n/step*step; high > low && high-low > gap.Len() {
					gap = l1.Range{Start: low, End: high}
				}
				a = max(a, n)
			}
			require.Equal(t, gap, h.Gap, "device %d, core %v", d.ID(), c)
		}
	}
}

// grewOut reports whether a CB ends above usable L1, and higher than it did.
func grewOut(was, is *program.Program) bool {
	var ends []uint64
	for _, cb := range was.CBs() {
		ends = append(ends, cb.Range.End)
	}
	top := is.Spec().L1Size - is.Spec().L1Small
	for i, cb := range is.CBs() {
		if !cb.Global && cb.Range.End > top && cb.Range.End > ends[i] {
			return true
		}
	}
	return false
}

// sameBuffers reports whether two devices have the same buffers.
func sameBuffers(f *device.Fleet, a, b device.ID) bool {
	one, _ := f.Device(a)
	two, _ := f.Device(b)
	return slices.Equal(bufferIDs(one), bufferIDs(two))
}

func TestHeadroomIsExact(t *testing.T) { rapid.Check(t, headroomIsExact) }
