package program_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/stretchr/testify/require"
)

// Mistakes in a program, each with the error that carries its values.
func TestBuildErrors(t *testing.T) {
	one := cb("{[0-0 - 0-0]}", 64)
	kind := func(k program.Kind) program.CB { return as(k, one) }
	dfb := kind(program.DataflowBuffer)
	fail := func(at int, field string, value int64, reason string) *program.Error {
		return &program.Error{Program: 1, Part: "CB", At: at, Field: field, Value: fmt.Sprint(value), Err: errors.New(reason)}
	}
	over := func(at int, field, reason string) *program.Error { // a value of 2^63
		out := fail(at, field, 0, reason)
		out.Value = "9223372036854775808"
		return out
	}
	const different = "another member of the group differs in Global, Fixed or Address"
	for _, test := range []struct {
		name string
		cbs  []program.CB
		want []*program.Error
	}{
		{"size of 2^63", []program.CB{cb("{[0-0 - 0-0]}", 1<<63)},
			[]*program.Error{over(0, "Size", "beyond 2^63-1")}},
		{"size of a global CB", []program.CB{global(cb("{[0-0 - 0-0]}", 1<<63))},
			[]*program.Error{over(0, "Size", "beyond 2^63-1")}},
		{"given address and size", []program.CB{one, fixed(1<<63-64, one)},
			[]*program.Error{fail(1, "Address", 1<<63-64, "ends beyond 2^63-1")}},
		{"given address, no bytes", []program.CB{fixed(1<<63, cb("{[0-0 - 0-0]}", 0))},
			[]*program.Error{over(0, "Address", "ends beyond 2^63-1")}},
		{"unknown kind", []program.CB{kind(3), kind(255)},
			[]*program.Error{fail(0, "Kind", 3, "unknown"), fail(1, "Kind", 255, "unknown")}},
		{"circular and dataflow buffers", []program.CB{kind(program.DataflowBuffer), kind(program.Scratchpad), one},
			[]*program.Error{fail(2, "Kind", 0, "a program has circular buffers or dataflow buffers, not both")}},
		{"negative index", []program.CB{indexed(one, program.Index{Number: -3})},
			[]*program.Error{fail(0, "Indices", -(3), "negative index")}},
		{"alias of a circular buffer", []program.CB{alias(1, one)},
			[]*program.Error{fail(0, "Alias", 1, "only dataflow buffers share an address")}},
		{"alias of a scratchpad, beside an alias group of that number", []program.CB{alias(1, kind(program.Scratchpad)), alias(1, as(program.DataflowBuffer, cb("{[0-0 - 0-0]}", 8)))},
			[]*program.Error{fail(0, "Alias", 1, "only dataflow buffers share an address")}},
		{"aliases of different sizes: each unlike the first", []program.CB{alias(1, dfb), alias(1, as(program.DataflowBuffer, cb("{[0-0 - 0-0]}", 8))), alias(1, dfb)},
			[]*program.Error{fail(1, "Alias", 1, "another member of the group has 64 bytes, this one 8")}},
		{"aliases at different addresses", []program.CB{alias(1, fixed(64, dfb)), alias(1, fixed(128, dfb))},
			[]*program.Error{fail(1, "Alias", 1, different)}},
		{"aliases, one with an address", []program.CB{alias(1, dfb), alias(1, fixed(64, dfb))},
			[]*program.Error{fail(1, "Alias", 1, different)}},
		{"aliases, one borrowed", []program.CB{alias(1, dfb), alias(1, global(dfb))},
			[]*program.Error{fail(1, "Alias", 1, different)}},
		{"placed beyond 2^63-1", []program.CB{cb("{[0-0 - 0-0]}", 1<<62), cb("{[0-0 - 0-0]}", 1<<62)},
			[]*program.Error{fail(1, "Size", 1<<62, "placed so that it ends beyond 2^63-1")}},
		{"placed where the next aligned address is beyond 2^63-1", []program.CB{fixed(1<<63-2, cb("{[0-0 - 0-0]}", 1)), cb("{[0-0 - 0-0]}", 0)},
			[]*program.Error{fail(1, "Size", 0, "placed so that it ends beyond 2^63-1")}},
		{"scratchpad placed beyond 2^63-1", []program.CB{kind(program.Scratchpad), as(program.DataflowBuffer, cb("{[0-0 - 1-0]}", 1<<63-103_712-1))},
			[]*program.Error{fail(0, "Size", 64, "placed so that it ends beyond 2^63-1")}},
		{"everything at once, by CB", []program.CB{fixed(1<<63, indexed(one, program.Index{Number: -1}, program.Index{Number: -1 << 31})), kind(9), cb("{}", 1<<63)},
			[]*program.Error{
				over(0, "Address", "ends beyond 2^63-1"),
				fail(0, "Indices", -(1), "negative index"),
				fail(0, "Indices", -(1 << 31), "negative index"),
				fail(1, "Kind", 9, "unknown"),
				over(2, "Size", "beyond 2^63-1"),
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := builder(test.cbs...).Build(l1.N150())
			require.Nil(t, p)
			var all *program.BuildError
			require.ErrorAs(t, err, &all)
			require.EqualValues(t, 1, all.Program)
			var got []*program.Error
			for _, e := range all.Unwrap() {
				var one *program.Error
				require.ErrorAs(t, e, &one)
				got = append(got, one)
			}
			require.Equal(t, test.want, got)
			requireOneLine(t, err)
			require.True(t, strings.HasPrefix(err.Error(), test.want[0].Error()), "the first complaint is named: %v", err)
		})
	}
}

func requireOneLine(t *testing.T, err error) {
	t.Helper()
	require.LessOrEqual(t, len(err.Error()), 300)
	require.NotContains(t, err.Error(), "\n")
}

func TestBuildErrorCountsTheOthers(t *testing.T) {
	bad := cb("{[0-0 - 0-0]}", 1<<63)
	_, err := builder(bad, bad, bad).Build(l1.N150())
	require.EqualError(t, err, "program 1: CB 0: Size 9223372036854775808: beyond 2^63-1 (+2 more)")
}

// Negative numbers read as such.
func TestErrorsOfSignedFields(t *testing.T) {
	_, err := builder(indexed(cb("{[0-0 - 0-0]}", 64), program.Index{Number: -3})).Build(l1.N150())
	require.EqualError(t, err, "program 1: CB 0: Indices -3: negative index")
	_, err = builder(alias(-2, cb("{[0-0 - 0-0]}", 64))).Build(l1.N150())
	require.EqualError(t, err, "program 1: CB 0: Alias -2: only dataflow buffers share an address")
}

func TestSpecThatMakesNoSense(t *testing.T) {
	_, err := builder(cb("{[0-0 - 0-0]}", 1<<63)).Build(l1.Spec{Name: strings.Repeat("\n\xff", 1000), L1Size: 64, CBBase: 1<<63 - 1})
	var spec *l1.SpecError
	require.ErrorAs(t, err, &spec)
	require.Equal(t, "CBBase", spec.Field)
	var cb *program.Error
	require.ErrorAs(t, err, &cb, "the mistakes in the CBs are said too")
	requireOneLine(t, err)
}

// The range form takes what a simulator has computed, right or wrong.
func TestRangeErrors(t *testing.T) {
	cores := l1.MustParseCoreRangeSet("{[0-0 - 0-0]}")
	for _, r := range []l1.Range{
		{Start: 2, End: 1}, {Start: 1 << 63, End: 0}, {Start: 1<<64 - 1, End: 1}, {Start: 1<<63 + 5, End: 4}, {Start: 1<<63 - 1, End: 0},
		{Start: 0, End: 1 << 63}, {Start: 1, End: 1 << 63}, {Start: 1<<63 - 1, End: 1 << 63}, {Start: 1 << 63, End: 1 << 63}, {Start: 1<<64 - 1, End: 1<<64 - 1},
	} {
		_, err := program.NewBuilder(1).Range(cores, r).Build(l1.Spec{})
		var bad *program.Error
		require.ErrorAs(t, err, &bad, "%v", r)
		require.Equal(t, "Range", bad.Field)
		var given *l1.RangeError
		require.ErrorAs(t, err, &given, "%v", r)
		require.Equal(t, r, l1.Range{Start: given.Start, End: given.End}, "as it was given")
		requireOneLine(t, err)
	}
	_, err := program.NewBuilder(1).Range(cores, l1.Range{}).Range(cores, l1.Range{Start: 200, End: 100}).CB(program.CB{Size: 1 << 63}).Build(l1.Spec{})
	require.EqualError(t, err, "program 1: CB 1: range [200, 100): start lies above end (+1 more)")
	p, err := program.NewBuilder(1).Range(cores, l1.Range{Start: 0, End: 1<<63 - 1}).Range(cores, l1.Range{Start: 1<<63 - 1, End: 1<<63 - 1}).Build(l1.Spec{})
	require.NoError(t, err)
	require.EqualValues(t, uint64(1<<63-1), p.Occupied(program.CircularBuffer).Bytes())
}

// Sums are exact or refused: they never wrap.
func TestOverflow(t *testing.T) {
	const half = 1 << 62
	everywhere := l1.MustParseCoreRangeSet("{[0-0 - 255-255]}")
	one := l1.MustParseCoreRangeSet("{[0-0 - 0-0]}")
	zero := l1.Spec{}
	for _, test := range []struct {
		name string
		cbs  []program.CB
		kind program.Kind
		fits bool
	}{
		{"65,536 cores with 2^47-1 bytes", []program.CB{{Cores: everywhere, Size: 1<<47 - 1}}, program.CircularBuffer, true},
		{"65,536 cores with 2^47 bytes", []program.CB{{Cores: everywhere, Size: 1 << 47}}, program.CircularBuffer, false},
		{"65,536 cores with 2^63-1 bytes", []program.CB{{Cores: everywhere, Size: 1<<63 - 1}}, program.CircularBuffer, false},
		{"two sizes on a core, in one shape", []program.CB{{Cores: one, Size: half, Fixed: true}, {Cores: one, Size: half, Fixed: true}}, program.CircularBuffer, false},
		{"two sizes on a core, in two shapes", []program.CB{{Cores: one, Size: half, Fixed: true}, {Cores: everywhere, Size: half, Fixed: true}}, program.CircularBuffer, false},
		{"two sizes on two cores", []program.CB{{Cores: one, Size: half}, {Cores: l1.MustParseCoreRangeSet("{[1-0 - 1-0]}"), Size: half}}, program.CircularBuffer, false},
		{"aliases share bytes, but not their sizes", times(2, program.CB{Kind: program.DataflowBuffer, Cores: one, Size: half, Alias: 1}), program.DataflowBuffer, false},
		{"global CBs take nothing", times(9, program.CB{Cores: everywhere, Size: 1<<63 - 1, Global: true}), program.CircularBuffer, true},
		{"only the reserved bytes", []program.CB{{Cores: everywhere, Global: true}, {Cores: one, Size: half}}, program.CircularBuffer, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := builder(test.cbs...).Build(zero)
			if test.fits {
				require.NoError(t, err)
				return
			}
			var sum *program.Error
			require.ErrorAs(t, err, &sum)
			require.Equal(t, "Size", sum.Field)
			require.EqualError(t, err, "program 1: "+test.kind.String()+"s sum to more than 2^63-1 bytes over all cores")
		})
	}
}

func TestProgramsThatTakeNothing(t *testing.T) {
	for name, test := range map[string]struct {
		cbs   []program.CB
		cores int
	}{
		"no CBs":                {nil, 0},
		"only global CBs":       {times(3, global(cb("{[0-0 - 7-7]}", 4096))), 64},
		"zero-size CBs":         {times(3, cb("{[0-0 - 7-7]}", 0)), 64},
		"CBs on no cores":       {times(3, cb("{}", 4096)), 0},
		"empty ranges anywhere": {[]program.CB{fixed(7, cb("{[0-0 - 1-0]}", 0)), fixed(1<<62, cb("{[1-0 - 2-0]}", 0))}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			p := build(t, l1.N150(), test.cbs...)
			require.Equal(t, len(test.cbs), p.Len())
			require.Equal(t, test.cores, p.Cores().Len())
			f := p.Occupied(program.CircularBuffer)
			require.Zero(t, f.NumGroups())
			require.Zero(t, f.Bytes())
			require.Zero(t, f.Logical())
			require.True(t, f.Cores().IsEmpty())
			require.True(t, f.Equal(program.Footprint{}))
			require.True(t, p.Reserved(program.CircularBuffer).Equal(f))
			_, ok := f.On(l1.Core{})
			require.False(t, ok)
		})
	}
}

// A core that a set covers twice counts once, however often and however cut.
func TestOverlappingRectanglesCountOnce(t *testing.T) {
	once := build(t, l1.N150(), cb("{[0-0 - 3-3]}", 100))
	for _, cores := range []string{
		"{[0-0 - 3-3], [0-0 - 3-3]}", "{[0-0 - 2-3], [1-0 - 3-3]}", "{[0-0 - 3-1], [0-1 - 3-3], [2-2 - 2-2]}", "{[0-2 - 3-3], [0-0 - 3-1]}",
	} {
		p := build(t, l1.N150(), cb(cores, 100))
		require.True(t, p.Equal(once), cores)
	}
}

func TestTouchingCBsAreOneRegion(t *testing.T) {
	p := build(t, l1.Spec{}, cb("{[0-0 - 0-0]}", 3), cb("{[0-0 - 0-0]}", 5), cb("{[0-0 - 0-0]}", 7))
	require.Equal(t, []string{"{[0-0 - 0-0]} [0,15)"}, groups(p.Occupied(program.CircularBuffer)))
	require.Equal(t, []string{"{[0-0 - 0-0]} [0,15)"}, groups(p.Reserved(program.CircularBuffer)))
}

// Groups part where the ranges part, and where only the logical bytes do.
func TestGroups(t *testing.T) {
	p := build(t, l1.Spec{},
		fixed(0, cb("{[0-0 - 3-0]}", 64)), fixed(0, cb("{[1-0 - 1-0]}", 64)), fixed(64, cb("{[2-0 - 2-0]}", 64)))
	f := p.Occupied(program.CircularBuffer)
	require.Equal(t, []string{"{[0-0 - 0-0], [3-0 - 3-0]} [0,64)", "{[1-0 - 1-0]} [0,64)", "{[2-0 - 2-0]} [0,128)"}, groups(f))
	require.EqualValues(t, 64+64+64+128, f.Bytes())
	require.EqualValues(t, 64+128+64+128, f.Logical())
	g, ok := f.On(l1.Core{X: 1})
	require.True(t, ok)
	require.EqualValues(t, 64, g.Bytes())
	require.EqualValues(t, 128, g.Logical())
	_, ok = f.On(l1.Core{X: 4})
	require.False(t, ok)
}

// Cores that differ only in how often their bytes are counted are two groups of the occupied
// footprint, and one of the reserved one.
func TestReservedGroupsCountNoSizes(t *testing.T) {
	p := build(t, l1.Spec{}, fixed(0, cb("{[0-0 - 0-0]}", 64)), fixed(0, cb("{[1-0 - 1-0]}", 64)), fixed(0, cb("{[1-0 - 1-0]}", 64)))
	require.Equal(t, []string{"{[0-0 - 0-0]} [0,64)", "{[1-0 - 1-0]} [0,64)"}, groups(p.Occupied(program.CircularBuffer)))
	reserved := p.Reserved(program.CircularBuffer)
	require.Equal(t, []string{"{[0-0 - 1-0]} [0,64)"}, groups(reserved))
	require.Zero(t, reserved.Logical())

	p = build(t, l1.Spec{}, cb("{[0-0 - 0-0]}", 64), cb("{[1-0 - 1-0]}", 32))
	occupied, reserved := p.Occupied(program.CircularBuffer), p.Reserved(program.CircularBuffer)
	require.Equal(t, groups(occupied), groups(reserved))
	require.False(t, occupied.Equal(reserved))
	require.Zero(t, reserved.Logical())
	for g := range reserved.Groups() {
		on, _ := reserved.On(l1.Core{})
		require.Zero(t, g.Logical()+on.Logical())
	}
}

func TestEqual(t *testing.T) {
	one := cb("{[0-0 - 1-0]}", 64)
	p := build(t, l1.N150(), one, one)
	for name, test := range map[string]struct {
		other *program.Program
		equal bool
	}{
		"itself":               {p, true},
		"built again":          {build(t, l1.N150(), one, one), true},
		"cut differently":      {build(t, l1.N150(), cb("{[0-0 - 0-0], [1-0 - 1-0]}", 64), one), true},
		"one CB of that size":  {build(t, l1.N150(), cb("{[0-0 - 1-0]}", 128)), true},
		"other logical bytes":  {build(t, l1.N150(), one, one, fixed(103_712, one)), false},
		"other sizes":          {build(t, l1.N150(), one, cb("{[0-0 - 1-0]}", 65)), false},
		"other cores":          {build(t, l1.N150(), one, one, cb("{[0-1 - 0-1]}", 1)), false},
		"other named cores":    {build(t, l1.N150(), one, one, global(cb("{[0-1 - 0-1]}", 1))), false},
		"other reserved bytes": {build(t, l1.N150(), one, one, global(cb("{[0-0 - 0-0]}", 1)), global(cb("{[1-0 - 2-0]}", 1))), false},
		"other kind":           {build(t, l1.N150(), times(2, as(program.DataflowBuffer, one))...), false},
		"other Spec":           {build(t, l1.N300(), one, one), false},
		"none":                 {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.equal, p.Equal(test.other))
			require.Equal(t, test.equal, test.other.Equal(p))
		})
	}
	t.Run("ids may differ", func(t *testing.T) {
		q, err := program.NewBuilder(2).CB(one).CB(one).Build(l1.N150())
		require.NoError(t, err)
		require.True(t, p.Equal(q))
		require.EqualValues(t, 2, q.ID())
	})
	t.Run("a program without CBs differs from one with empty CBs: only the latter is registered", func(t *testing.T) {
		require.False(t, build(t, l1.N150()).Equal(build(t, l1.N150(), cb("{}", 0))))
	})
	t.Run("no program is no program", func(t *testing.T) {
		var none *program.Program
		require.True(t, none.Equal(nil))
		require.Equal(t, "no program", none.String())
	})
}

// Footprints with the same sums that hold something else.
func TestFootprintEqual(t *testing.T) {
	of := func(cbs ...program.CB) program.Footprint {
		return build(t, l1.Spec{}, cbs...).Occupied(program.CircularBuffer)
	}
	f := of(fixed(0, cb("{[0-0 - 0-0]}", 64)), fixed(0, cb("{[1-0 - 1-0]}", 32)), fixed(0, cb("{[1-0 - 1-0]}", 16)))
	require.True(t, f.Equal(of(fixed(0, cb("{[0-0 - 0-0]}", 64)), fixed(16, cb("{[1-0 - 1-0]}", 16)), fixed(0, cb("{[1-0 - 1-0]}", 32)))),
		"the same bytes by other CBs")
	for name, other := range map[string]program.Footprint{
		"other ranges":              of(fixed(0, cb("{[0-0 - 0-0]}", 64)), fixed(1, cb("{[1-0 - 1-0]}", 32)), fixed(1, cb("{[1-0 - 1-0]}", 16))),
		"other cores":               of(fixed(0, cb("{[0-0 - 0-0]}", 64)), fixed(0, cb("{[2-0 - 2-0]}", 32)), fixed(0, cb("{[2-0 - 2-0]}", 16))),
		"other logical per core":    of(fixed(0, cb("{[0-0 - 0-0]}", 64)), fixed(0, cb("{[1-0 - 1-0]}", 32)), fixed(0, cb("{[0-0 - 0-0]}", 16))),
		"one group":                 of(fixed(0, cb("{[0-0 - 1-0]}", 48)), fixed(0, cb("{[0-0 - 1-0]}", 8))),
		"other logical sum":         of(fixed(0, cb("{[0-0 - 0-0]}", 64)), fixed(0, cb("{[1-0 - 1-0]}", 32))),
		"other bytes, same logical": of(fixed(0, cb("{[0-0 - 0-0]}", 64)), fixed(0, cb("{[1-0 - 1-0]}", 32)), fixed(32, cb("{[1-0 - 1-0]}", 16))),
		"nothing":                   {},
	} {
		require.False(t, f.Equal(other), name)
		require.False(t, other.Equal(f), name)
	}
}

func TestProgramsAndBuildersNeverChange(t *testing.T) {
	indices := []program.Index{{Number: 0, PageSize: 64}}
	ranges := []l1.CoreRange{rect(0, 0, 1, 0)}
	b := program.NewBuilder(1).CB(program.CB{Cores: setOf(t, ranges...), Size: 64, Indices: indices})
	p, err := b.Build(l1.N150())
	require.NoError(t, err)
	check := func(t *testing.T) {
		again, err := b.Build(l1.N150())
		require.NoError(t, err)
		for _, q := range []*program.Program{p, again} {
			require.Equal(t, 1, q.Len())
			require.Equal(t, []string{"{[0-0 - 1-0]} [103712,103776)"}, groups(q.Occupied(program.CircularBuffer)))
			require.Empty(t, findings(q))
			for _, cb := range q.CBs() {
				require.Equal(t, []program.Index{{Number: 0, PageSize: 64}}, cb.Indices)
				require.EqualValues(t, 64, cb.Size)
			}
		}
	}

	t.Run("when the caller's slices do", func(t *testing.T) {
		indices[0].Number = 99
		ranges[0] = rect(5, 5, 7, 7)
		check(t)
	})
	t.Run("when the yielded CBs are edited", func(t *testing.T) {
		for _, cb := range p.CBs() {
			cb.Indices[0].Number = 99
			cb.Size = 1
		}
		check(t)
	})
	t.Run("when iteration stops early", func(t *testing.T) {
		for range p.CBs() {
			break
		}
		for range p.Occupied(program.CircularBuffer).Groups() {
			break
		}
		check(t)
	})
	t.Run("when it is built for another device", func(t *testing.T) {
		q, err := b.Build(l1.P150())
		require.NoError(t, err)
		require.Equal(t, "111616", addresses(q))
		require.Equal(t, l1.P150(), q.Spec())
		require.Equal(t, l1.N150(), p.Spec())
		check(t)
	})
	t.Run("when it is resized", func(t *testing.T) {
		_, err := p.Resize(0, 1)
		require.NoError(t, err)
		check(t)
	})
	t.Run("when the Builder is used again", func(t *testing.T) {
		b.CB(cb("{[0-0 - 0-0]}", 64))
		require.Equal(t, 1, p.Len())
		q, err := b.Build(l1.N150())
		require.NoError(t, err)
		require.Equal(t, "103712 103776", addresses(q))
	})
}

// Every id is an ordinary one, and the zero Builder builds program 0.
func TestIDs(t *testing.T) {
	var b program.Builder
	p, err := b.CB(cb("{[0-0 - 0-0]}", 64)).Build(l1.Spec{})
	require.NoError(t, err)
	require.Zero(t, p.ID())
	require.Equal(t, "0", addresses(p))

	p, err = program.NewBuilder(1<<64 - 1).Build(l1.Spec{})
	require.NoError(t, err)
	require.EqualValues(t, uint64(1<<64-1), p.ID())
}

func TestUnknownKindTakesNothing(t *testing.T) {
	p := build(t, l1.N150(), cb("{[0-0 - 0-0]}", 64))
	for _, kind := range []program.Kind{program.Scratchpad + 1, 255} {
		require.Zero(t, p.Occupied(kind))
		require.Zero(t, p.Reserved(kind))
	}
}

func TestTexts(t *testing.T) {
	require.Equal(t, "circular buffer", program.CircularBuffer.String())
	require.Equal(t, "dataflow buffer", program.DataflowBuffer.String())
	require.Equal(t, "scratchpad", program.Scratchpad.String())
	require.Equal(t, "kind 17", program.Kind(17).String())

	one := cb("{[0-0 - 1-0]}", 64)
	for _, test := range []struct {
		want string
		cbs  []program.CB
	}{
		{"program 1 (0 CBs on 0 cores, 0 bytes)", nil},
		{"program 1 (2 CBs on 2 cores, 256 bytes)", []program.CB{one, one}},
		{"program 1 (1 CBs on 2 cores, 0 bytes)", []program.CB{global(one)}},
		{"program 1 (2 CBs on 2 cores, 0 bytes, 128 bytes of dataflow buffers, 128 bytes of scratchpads)",
			[]program.CB{as(program.DataflowBuffer, one), as(program.Scratchpad, one)}},
	} {
		require.Equal(t, test.want, build(t, l1.N150(), slices.Clone(test.cbs)...).String())
	}
}

// A name is shown beside the id, in errors too, and counts for nothing else.
func TestNames(t *testing.T) {
	core := cb("{[0-0 - 0-0]}", 2048)
	p, err := program.Place(7, "matmul", l1.N150(), core, core)
	require.NoError(t, err)
	require.Equal(t, "matmul", p.Name())
	require.Equal(t, "103712 105760", addresses(p))
	require.Equal(t, `program 7 "matmul" (2 CBs on 1 cores, 4096 bytes)`, p.String())

	other, err := program.Place(7, "", l1.N150(), core, core)
	require.NoError(t, err)
	require.Empty(t, other.Name())
	require.True(t, p.Equal(other), "a device registers them as the same program")
	resized, err := p.Resize(0, 64)
	require.NoError(t, err)
	require.Equal(t, "matmul", resized.Name())

	core.Size = 1 << 63
	_, err = program.Place(7, "matmul", l1.N150(), core)
	require.EqualError(t, err, `program 7 "matmul": CB 0: Size 9223372036854775808: beyond 2^63-1`)
	var all *program.BuildError
	require.ErrorAs(t, err, &all)
	require.Equal(t, "matmul", all.Name)
	core.Size = 1<<63 - 1
	_, err = program.Place(7, "matmul", l1.Spec{}, core, core)
	require.EqualError(t, err, `program 7 "matmul": CB 1: Size 9223372036854775807: placed so that it ends beyond 2^63-1`)
	_, err = p.Resize(9, 64)
	require.EqualError(t, err, `program 7 "matmul": CB 9: Size 64: the program has 2 CBs`)

	for _, name := range []string{strings.Repeat("\xff", 1000), strings.Repeat("\n\"", 40), strings.Repeat("\U0010ffff", 20)} {
		group := times(2, alias(math.MinInt32, as(program.DataflowBuffer, cb("{[0-0 - 0-0]}", 64))))
		group[1].Global = true
		_, err = program.Place(1<<64-1, name, l1.N150(), group...)
		require.Error(t, err)
		requireOneLine(t, err)
	}
}

// Sizes that are too large together are refused, also where no core has them.
func TestSizesWithoutCores(t *testing.T) {
	build := func(size uint64) error {
		_, err := program.NewBuilder(1).CB(program.CB{Size: 1 << 62}).CB(program.CB{Size: size}).Build(l1.N150())
		return err
	}
	require.ErrorContains(t, build(1<<62), "sum to more than 2^63-1 bytes")
	require.NoError(t, build(1<<62-1))
}

// Two longer forms of one program: each has its own CBs behind the CBs that they share.
func TestWith(t *testing.T) {
	cb := func(size uint64) program.CB { return program.CB{Cores: l1.Rect(0, 0, 0, 0), Size: size} }
	with := func(p *program.Program, size uint64) *program.Program {
		longer, ok := p.With(1, "", cb(size))
		require.True(t, ok)
		return longer
	}
	p, err := program.Place(1, "", l1.Spec{CBBase: 64}, cb(32), cb(64))
	require.NoError(t, err)
	longer := with(p, 96)
	one, other := with(longer, 128), with(longer, 160)
	const on = " on {[0-0 - 0-0]}"
	for _, c := range []struct {
		p    *program.Program
		want string
	}{
		{p, "program 1 {[64,96)" + on + "; [96,160)" + on + "}"},
		{longer, "program 1 {[64,96)" + on + "; [96,160)" + on + "; [160,256)" + on + "}"},
		{one, "program 1 {[64,96)" + on + "; [96,160)" + on + "; [160,256)" + on + "; [256,384)" + on + "}"},
		{other, "program 1 {[64,96)" + on + "; [96,160)" + on + "; [160,256)" + on + "; [256,416)" + on + "}"},
	} {
		require.Equal(t, c.want, c.p.GoString())
	}
}
