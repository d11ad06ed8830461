package version

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device/internal/lookup"
)

// A set is the value under test: some of eight things, as bits.
type set struct {
	Version[set, uint8, thing]
}

type thing struct {
	bit   uint8
	named int // steps that name it
}

// rules count their calls.
type rules struct{ copies, changes int }

func (r *rules) Copy(c *uint8) *uint8 {
	r.copies++
	out := *c
	return &out
}

func (r *rules) Change(c *uint8, by Step[thing]) *uint8 {
	r.changes++
	*c = after(*c, by)
	return c
}

func (r *rules) Name(x *thing, steps int) { x.named += steps }

func after(bits uint8, by Step[thing]) uint8 {
	if by.Old != nil {
		bits &^= by.Old.bit
	}
	if by.New != nil {
		bits |= by.New.bit
	}
	return bits
}

func newSet(bits uint8, hash lookup.Hash) *set {
	s := &set{}
	s.Self, s.Hash = s, hash
	s.Content = &bits
	return s
}

// bits returns the elements of s, worked out.
func (s *set) bits() uint8 {
	content, steps := s.View()
	out := *content
	for _, by := range slices.Backward(steps) {
		out = after(out, by.back())
	}
	return out
}

// A fleet is devices that each are at a version.
type fleet struct {
	store Store[set, uint8, thing]
	rules
	at     []*set
	things [8]thing
	most   int  // of Advance
	alike  int  // how many hashes there are
	eager  bool // a version with devices has its content
}

func newFleet(devices, most, alike int) *fleet {
	f := &fleet{most: most, alike: alike, at: make([]*set, devices)}
	for i := range f.things {
		f.things[i].bit = 1 << i
	}
	empty := newSet(0, 0)
	empty.Users = devices
	f.store.Put(&empty.Version)
	for d := range f.at {
		f.at[d] = empty
	}
	return f
}

// step makes a step on one device.
func (f *fleet) step(d int, by Step[thing]) {
	from := f.at[d]
	bits := after(from.bits(), by)
	h := lookup.Hash(int(bits) % f.alike)
	to := f.store.Next(&from.Version, h, by, func(to *set) bool { return to.bits() == bits })
	whole := from.Users == 1
	switch {
	case to == nil:
		to = &set{}
		to.Self, to.Hash = to, h
		most := f.most
		if f.eager && !whole {
			most = 0
		}
		f.store.Advance(f, &from.Version, &to.Version, by, most)
	case f.eager:
		f.store.Pass(f, &from.Version, &to.Version, by, whole)
	}
	to.Users++
	f.at[d] = to
	from.Users--
	f.store.Leave(f, &from.Version)
}

// check holds all versions against the sets that devices have.
func (f *fleet) check(t require.TestingT, want []uint8) {
	users, leaners, named := map[*set]int{}, map[*set]int{}, map[*thing]int{}
	for d, s := range f.at {
		require.Equal(t, want[d], s.bits())
		users[s]++
	}
	seen := map[uint8]bool{}
	for h, v := range f.store.found.All() {
		require.Equal(t, v.Hash, h)
		require.False(t, seen[v.Self.bits()], "two versions are equal")
		seen[v.Self.bits()] = true
		_, steps := v.View()
		require.LessOrEqual(t, len(steps), f.most+1)
		if v.to == nil {
			continue
		}
		leaners[v.to.Self]++
		require.Equal(t, after(v.Self.bits(), v.by), v.to.Self.bits())
		for _, x := range []*thing{v.by.Old, v.by.New} {
			if x != nil {
				named[x]++
			}
		}
	}
	for _, v := range f.store.found.All() {
		require.Equal(t, users[v.Self], v.Users)
		require.Equal(t, leaners[v.Self], v.leaners)
		require.Positive(t, v.Users+v.leaners, "a version that serves nobody")
		require.True(t, !f.eager || v.Users == 0 || v.Content != nil, "a version with devices and without a content")
		delete(users, v.Self)
	}
	require.Empty(t, users, "versions that are not found")
	for i := range f.things {
		require.Equal(t, named[&f.things[i]], f.things[i].named)
	}
}

// Devices have the sets that they would have alone, whatever the others do. With -short a rare way would be
// missed in one round of tries.
func TestVersions(t *testing.T) {
	for range 20 {
		rapid.Check(t, versions)
	}
}

func versions(t *rapid.T) {
	f := newFleet(rapid.IntRange(1, 5).Draw(t, "devices"), rapid.IntRange(1, 4).Draw(t, "most"),
		rapid.SampledFrom([]int{1, 3, 256}).Draw(t, "hashes"))
	f.eager = rapid.Bool().Draw(t, "eager")
	want := make([]uint8, len(f.at))
	device := rapid.IntRange(0, len(f.at)-1)
	t.Repeat(map[string]func(*rapid.T){
		"step": func(t *rapid.T) {
			d := device.Draw(t, "device")
			var by Step[thing]
			off, on := rapid.IntRange(0, 8).Draw(t, "off"), rapid.IntRange(0, 8).Draw(t, "on")
			if off < 8 && want[d]&(1<<off) != 0 {
				by.Old = &f.things[off]
			}
			if on < 8 && want[d]&(1<<on) == 0 {
				by.New = &f.things[on]
			}
			if by != (Step[thing]{}) {
				want[d] = after(want[d], by)
				f.step(d, by)
			}
		},
		"fill":  func(t *rapid.T) { f.store.Fill(f, &f.at[device.Draw(t, "device")].Version) },
		"sweep": func(t *rapid.T) { f.store.Sweep(f, rapid.SampledFrom([]int{-128, 0}).Draw(t, "things")) },
		"":      func(t *rapid.T) { f.check(t, want) },
	})
}

// Devices that follow one after the other work nothing out: each step is made once, and nothing
// is copied.
func TestFollowersWorkNothingOut(t *testing.T) {
	f := newFleet(32, 64, 256)
	for d := range f.at {
		for i := range f.things {
			f.step(d, Step[thing]{New: &f.things[i]})
		}
	}
	require.Equal(t, rules{changes: len(f.things)}, f.rules)
	require.Equal(t, 1, f.store.Len())
	for d := range f.at {
		for i := range f.things {
			f.step(d, Step[thing]{Old: &f.things[i]})
		}
	}
	require.Equal(t, rules{changes: 2 * len(f.things)}, f.rules)
	require.Equal(t, 1, f.store.Len())
}

// Where each version with devices has its content, devices that follow one after the other pass one
// copy on.
func TestFollowersPassTheContentOn(t *testing.T) {
	f := newFleet(32, 64, 256)
	f.eager = true
	for d := range f.at {
		for i := range f.things {
			f.step(d, Step[thing]{New: &f.things[i]})
		}
		if d > 0 && d < 31 {
			require.Equal(t, 1+d, f.copies)
		}
	}
	require.Equal(t, 1, f.store.Len())
}

// A device that goes to and fro beside others takes the content along, one step each time at most.
func TestToAndFro(t *testing.T) {
	f := newFleet(2, 64, 256)
	p := &f.things[0]
	for range 10 {
		f.step(0, Step[thing]{New: p})
		f.step(0, Step[thing]{Old: p})
	}
	require.Equal(t, rules{changes: 1}, f.rules)
}

// Two devices that go different ways part with one copy, and then know nothing of each other.
func TestDevicesPart(t *testing.T) {
	f := newFleet(2, 64, 256)
	for i := range 4 {
		f.step(0, Step[thing]{New: &f.things[i]})
		f.step(1, Step[thing]{New: &f.things[4+i]})
	}
	require.Equal(t, 1, f.copies)
	require.Equal(t, 2, f.store.Len())
}

// A device that is left far behind is not kept the way for ever.
func TestSweep(t *testing.T) {
	f := newFleet(2, 3, 1)
	for i := range f.things {
		f.step(0, Step[thing]{New: &f.things[i]})
	}
	f.store.Sweep(f, 0)
	require.Equal(t, 9, f.store.Len(), "few are kept")
	f.store.Sweep(f, -128)
	require.Equal(t, 2, f.store.Len())
	require.Zero(t, f.at[1].bits())
	f.check(t, []uint8{255, 0})
}

// kept counts what a store holds.
type kept struct{ versions, contents, steps int }

func (f *fleet) kept() (n kept) {
	for _, v := range f.store.found.All() {
		n.versions++
		if v.Content != nil {
			n.contents++
		}
		if v.to != nil {
			n.steps++
		}
	}
	return n
}

// On the way of a device that is ahead, each version leans on the next one, with or without a copy of
// its own. The last follower leaves one version, without a step.
func TestEachVersionLeansOnTheNext(t *testing.T) {
	f := newFleet(3, 2, 256)
	for i := range f.things {
		f.step(0, Step[thing]{New: &f.things[i]})
		require.Equal(t, kept{versions: i + 2, contents: 1 + i/2, steps: i + 1}, f.kept())
	}
	for _, d := range []int{1, 2} {
		for i := range f.things {
			f.step(d, Step[thing]{New: &f.things[i]})
		}
	}
	require.Equal(t, kept{versions: 1, contents: 1}, f.kept())
}
