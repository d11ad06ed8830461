package cbregion

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A byteModel is the definition in its plainest form: the list of live ranges, and
// per byte of a short axis the question who covers it.
type byteModel struct {
	size uint64 // bytes on the axis
	at   uint64 // address of the first one
	live []held
}

type held struct {
	owner Owner
	r     l1.Range
}

func (h held) compare(o held) int {
	if c := h.r.Compare(o.r); c != 0 {
		return c
	}
	return cmp.Compare(h.owner, o.owner)
}

func (m *byteModel) add(o Owner, r l1.Range) {
	m.live = append(m.live, held{o, r})
	slices.SortFunc(m.live, held.compare)
}

func (m *byteModel) remove(o Owner, r l1.Range) bool {
	i := slices.Index(m.live, held{o, r})
	if i >= 0 {
		m.live = slices.Delete(m.live, i, i+1)
	}
	return i >= 0
}

// overlapping returns the live ranges that share a byte with r.
func (m *byteModel) overlapping(r l1.Range) []held {
	var out []held
	for _, h := range m.live {
		if h.r.Overlaps(r) {
			out = append(out, h)
		}
	}
	return out
}

// covered says for each byte of the axis whether it is covered.
func (m *byteModel) covered() []bool {
	out := make([]bool, m.size)
	for _, h := range m.live {
		for a := h.r.Start; a < h.r.End; a++ {
			out[a-m.at] = true
		}
	}
	return out
}

func (m *byteModel) bytesIn(r l1.Range) uint64 {
	n := uint64(0)
	for i, c := range m.covered() {
		if c && r.Has(m.at+uint64(i)) {
			n++
		}
	}
	return n
}

// gap goes from the end of one region to the start of the next.
func (m *byteModel) gap(r l1.Range) l1.Range {
	free := l1.Range{End: l1.MaxAddr}
	for _, region := range append(m.regions(), l1.Range{Start: l1.MaxAddr, End: l1.MaxAddr}) {
		free.End = region.Start
		if r.Overlaps(free) {
			return r.Intersect(free)
		}
		free.Start = region.End
	}
	return l1.Range{}
}

func (m *byteModel) bytes() uint64 { return m.bytesIn(l1.Range{End: l1.MaxAddr}) }

func (m *byteModel) regions() []l1.Range {
	var out []l1.Range
	was := false
	for i, c := range append(m.covered(), false) {
		a := m.at + uint64(i)
		switch {
		case c && !was:
			out = append(out, l1.Range{Start: a, End: a})
		case !c && was:
			out[len(out)-1].End = a
		}
		was = c
	}
	return out
}

func (m *byteModel) owners(addr uint64) []Owner {
	var out []Owner
	for _, h := range m.live {
		if h.r.Has(addr) {
			out = append(out, h.owner)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// collect gathers what an iterator over owned ranges yields.
func collect(seq func(func(Owner, l1.Range) bool)) []held {
	var out []held
	for o, r := range seq {
		out = append(out, held{o, r})
	}
	return out
}

// requireEqual compares the answers of all queries of a Counter with the model.
func requireEqual(t require.TestingT, m *byteModel, c *Counter) {
	require.NoError(t, c.CheckInvariants())
	require.Equal(t, m.bytes(), c.Bytes(), "bytes of %v", m.live)
	require.Equal(t, len(m.live), c.Len())
	require.Equal(t, m.regions(), slices.Collect(c.Regions()), "regions of %v", m.live)
	if len(m.live) == 0 {
		require.Empty(t, collect(c.Ranges()))
		return
	}
	require.Equal(t, m.live, collect(c.Ranges()))
}

// requireEqualIn compares the questions about a part of the axis.
func requireEqualIn(t require.TestingT, m *byteModel, c *Counter, r l1.Range) {
	require.Equal(t, m.bytesIn(r), c.BytesIn(r), "bytes of %v in %v", m.live, r)
	require.Equal(t, m.gap(r), c.cover.Gap(r), "gap in %v of %v", r, m.live)
	require.Equal(t, m.overlapping(r), collect(c.Overlapping(r)), "overlapping %v", r)
	require.Equal(t, m.owners(r.Start), slices.Collect(c.Owners(r.Start)), "owners of %d", r.Start)
}

// grid has the ends that the state machine draws: few, so that they meet all the
// time, with neighbours one byte apart.
func grid(at uint64) []uint64 {
	out := []uint64{0, 1, 2, 8, 9, 15, 16, 24, 31, 32, 33, 40, 48, 56, 63, 64}
	for i := range out {
		out[i] += at
	}
	return out
}

// counterModel is one random life of a Counter beside the model. The nodes have the
// given limits; 0 means as they are in production.
func counterModel(leafLimit, innerLimit int) func(*rapid.T) {
	return func(t *rapid.T) {
		at := rapid.SampledFrom([]uint64{0, 111_616, l1.MaxAddr - 64}).Draw(t, "at")
		m := &byteModel{size: 64, at: at}
		c := &Counter{cover: Coverage{leafLimit: leafLimit, innerLimit: innerLimit}}
		drawEnd := func() uint64 { return rapid.SampledFrom(grid(at)).Draw(t, "end") }
		drawRange := func() l1.Range {
			a, b := drawEnd(), drawEnd()
			return l1.Range{Start: min(a, b), End: max(a, b)}
		}
		drawOwner := func() Owner { return rapid.SampledFrom([]Owner{0, 1, 2, 1<<64 - 1}).Draw(t, "owner") }

		add := func(t *rapid.T) {
			o, r := drawOwner(), drawRange()
			before := m.bytes()
			if !r.IsEmpty() {
				m.add(o, r)
			}
			grew, err := c.Add(o, r)
			require.NoError(t, err)
			require.Equal(t, m.bytes()-before, grew)
		}
		// remove draws any range of any owner: a missing one must be refused.
		remove := func(o Owner, r l1.Range) {
			before := m.bytes()
			ok := m.remove(o, r) || r.IsEmpty()
			freed, err := c.Remove(o, r)
			if ok {
				require.NoError(t, err)
			} else {
				var notFound *NotFoundError
				require.ErrorAs(t, err, &notFound)
				require.ErrorIs(t, err, ErrNotFound)
				require.Equal(t, NotFoundError{o, r}, *notFound)
			}
			require.Equal(t, before-m.bytes(), freed)
		}
		t.Repeat(map[string]func(*rapid.T){
			"add":  add,
			"add2": add,
			"remove any": func(t *rapid.T) {
				remove(drawOwner(), drawRange())
			},
			"remove live": func(t *rapid.T) {
				if len(m.live) == 0 {
					remove(drawOwner(), drawRange())
					return
				}
				h := rapid.SampledFrom(m.live).Draw(t, "live")
				remove(h.owner, h.r)
			},
			"wrong owner": func(t *rapid.T) {
				if len(m.live) == 0 {
					remove(7, drawRange())
					return
				}
				remove(7, rapid.SampledFrom(m.live).Draw(t, "live").r)
			},
			"illegal": func(t *rapid.T) {
				r := l1.Range{Start: drawEnd() + 1, End: drawEnd()}
				if r.Start <= r.End {
					r = l1.Range{Start: r.Start, End: l1.MaxAddr + r.End - at + 1}
				}
				_, err := c.Add(drawOwner(), r)
				var bad *l1.RangeError
				require.ErrorAs(t, err, &bad)
				_, err = c.Remove(drawOwner(), r)
				require.ErrorAs(t, err, &bad)
				require.False(t, errors.Is(err, ErrNotFound))
			},
			"ask": func(t *rapid.T) {
				requireEqualIn(t, m, c, drawRange())
			},
			"clone": func(t *rapid.T) {
				// Life goes on with the copy; what happens to the original is not seen.
				original := c
				c = c.Clone()
				_, err := original.Add(9, l1.Range{Start: at, End: at + 64})
				require.NoError(t, err)
				for _, h := range m.live {
					_, err := original.Remove(h.owner, h.r)
					require.NoError(t, err)
				}
				require.NoError(t, original.CheckInvariants())
				require.EqualValues(t, 64, original.Bytes())
			},
			"": func(t *rapid.T) { requireEqual(t, m, c) },
		})
	}
}

// The limits that tests give to nodes: as in production, and so small that a few
// boundaries make a deep tree.
var limits = [][2]int{{0, 0}, {2, 2}, {3, 2}, {4, 4}, {8, 4}}

func TestCounterModel(t *testing.T) {
	for _, l := range limits {
		t.Run(fmt.Sprintf("leaf=%d/inner=%d", l[0], l[1]), func(t *testing.T) {
			rapid.Check(t, counterModel(l[0], l[1]))
		})
	}
}

func FuzzCounterModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(counterModel(0, 0))) }

func FuzzCounterModelSmallNodes(f *testing.F) { f.Fuzz(rapid.MakeFuzz(counterModel(2, 2))) }
