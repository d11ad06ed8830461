package classes

import (
	"slices"

	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/device/internal/audit"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// Check holds the content of devices, of which the first one has an id, against a recount.
func (t *Content) Check(a *audit.Audit, id fit.DeviceID, again *Content) {
	ordered, ranked := t.Live.ranked(again.Live, again.Occupied.Roster)
	separate, now := 0, again.Totals()
	if t.Reserved != nil {
		separate = 1
	}
	a.About(id, "", nil)
	audit.Same(a, "charge of the content", t.Charge, again.Charge)
	audit.Same(a, "number of programs of the content", t.Live.n, again.Live.n)
	audit.Same(a, "number of programs by how far they reach", ordered, ranked)
	audit.Same(a, "number of programs by how far they reach", ranked, again.Live.n)
	audit.Same(a, "number of programs that reserve otherwise than they occupy", t.differ, again.differ)
	audit.Same(a, "number of separate counts of what is reserved", separate, min(again.differ, 1))
	audit.Same(a, "registered, at most logical", min(now.Registered, now.Logical), now.Registered)
	audit.Same(a, "registered, at most reserved", min(now.Registered, now.Reserved), now.Registered)
	audit.Same(a, "hash of the content", t.Live.Hash, again.Live.Hash)
	a.Once("number of times that the content names its programs", t.Live.Bits.Equal(again.Live.Bits))
	t.Occupied.Check(a, id, "occupied", &again.Occupied)
	if t.Reserved != nil && a.Err == nil {
		t.Reserved.Check(a, id, "reserved", again.Reserved)
	}
}

// Check verifies that the classes are disjoint and not empty, sum up, and hold on
// every core what a recount has there.
func (p *Partition) Check(t *audit.Audit, id fit.DeviceID, view string, again *Partition) {
	var seen, all l1.CoreSet
	var bytes, logical uint64
	for at := range audit.Each(t, p.Classes) {
		c := at.Class
		t.About(id, view, nil)
		audit.Same(t, "class: number of cores", c.N, uint64(c.Cores.Len()))
		t.Once("class: number of cores, at least 1", c.N > 0)
		audit.Same(t, "class: programs, at least 1, that are missing", max(0, 1-c.Programs), 0)
		audit.Same(t, "classes: cores in two of them", seen.Intersect(c.Cores).Len(), 0)
		seen = seen.Union(c.Cores)
		t.Fail(c.Cores, c.Covered.CheckInvariants())
		bytes += c.Covered.Bytes() * c.N
		logical += c.Logical * c.N
		again.Meet(c.Cores, func(at int) uint64 {
			c.compare(t, id, view, again.Classes[at].Class)
			return 0
		})
		c.checkCounted(t, id, view, again)
	}
	for _, o := range again.Classes {
		all = all.Union(o.Cores)
	}
	t.About(id, view, nil)
	audit.Same(t, "sum of the classes", p.Bytes, bytes)
	audit.Same(t, "logical sum of the classes", p.Logical, logical)
	audit.Same(t, "cores in a class without programs there", seen.Minus(all).Len(), 0)
	audit.Same(t, "cores with programs in no class", all.Minus(seen).Len(), 0)
	p.checkNumbers(t, seen)
}

// checkNumbers verifies that each core names its class, and which one is the fullest.
func (p *Partition) checkNumbers(t *audit.Audit, cores l1.CoreSet) {
	known, fullest := 0, uint64(0)
	for i, c := range p.Classes {
		fullest = max(fullest, c.Covered.Bytes())
		for core := range c.Cores.All() {
			if at := p.at(core); at != i {
				t.Differs("number of the class of core "+core.String(), uint64(at), uint64(i))
			}
		}
	}
	for _, n := range p.grid.in {
		if n > 0 {
			known++
		}
	}
	if p.grid.wide {
		known = cores.Len() // it keeps no numbers
	}
	audit.Same(t, "cores with the number of a class", known, cores.Len())
	audit.Same(t, "bytes of the fullest core", p.Fullest, fullest)
}

// compare holds a class against one of a recount that shares a core with it.
func (c *Class) compare(t *audit.Audit, id fit.DeviceID, view string, want *Class) {
	t.About(id, view, c.Cores.Intersect(want.Cores))
	audit.Same(t, "programs", c.Programs, want.Programs)
	audit.Same(t, "logical bytes", c.Logical, want.Logical)
	audit.Same(t, "bytes", c.Covered.Bytes(), want.Covered.Bytes())
	t.Ranges("a region", slices.Collect(c.Covered.Regions()), slices.Collect(want.Covered.Regions()))
	// Wrong ones join classes that differ, or never join.
	audit.Same(t, "hash of the groups", c.groups.Hash, want.groups.Hash)
	t.Once("number of times that a class names its groups", c.groups.Bits.Equal(want.groups.Bits))
}

// checkCounted verifies that a class, whose regions are right, counts the ranges of the
// programs that are not hidden on it, each once. Where a range is counted too often,
// or not at all, inside others, the bytes are right until one leaves.
func (c *Class) checkCounted(t *audit.Audit, id fit.DeviceID, view string, again *Partition) {
	want, named := counting{Covered: new(cbregion.Coverage), reach: c.reach}, 0
	if o := again.On(c.first); o != nil {
		for number := range o.groups.Bits.All() {
			r := again.Roster.At(number)
			g, counted := again.Footprint(r).Group(r.indexOf(number)), slices.Contains(c.counted, r)
			if c.plain || counted {
				want.count(g)
			} else {
				want.reach = max(want.reach, endOf(g))
			}
			named += int(audit.Flag(counted))
		}
	}
	t.About(id, view, c.Cores)
	t.Once("number of times that the first core is known", c.first == first(c.Cores))
	audit.Same(t, "counted programs that are not registered", len(c.counted)-named, 0)
	audit.Same(t, "counted programs beyond those that a class may name", max(0, len(c.counted)-mostCounted), 0)
	audit.Same(t, "counted programs of a class that counts all", uint64(len(c.counted))*audit.Flag(c.plain), 0)
	audit.Same(t, "boundaries", c.Covered.Boundaries(), want.Covered.Boundaries())
	audit.Same(t, "reach of the hidden programs", c.reach, want.reach)
}
