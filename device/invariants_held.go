package device

import (
	"slices"

	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// check holds the content of devices, of which the first one has an id, against a recount.
func (t *content) check(a *audit, id fit.DeviceID, again *content) {
	ordered, ranked := t.live.ranked(again.live, again.occupied.roster)
	separate, now := 0, again.totals()
	if t.reserved != nil {
		separate = 1
	}
	a.about(id, "", nil)
	same(a, "charge of the content", t.charge, again.charge)
	same(a, "number of programs of the content", t.live.n, again.live.n)
	same(a, "number of programs by how far they reach", ordered, ranked)
	same(a, "number of programs by how far they reach", ranked, again.live.n)
	same(a, "number of programs that reserve otherwise than they occupy", t.differ, again.differ)
	same(a, "number of separate counts of what is reserved", separate, min(again.differ, 1))
	same(a, "registered, at most logical", min(now.Registered, now.Logical), now.Registered)
	same(a, "registered, at most reserved", min(now.Registered, now.Reserved), now.Registered)
	same(a, "hash of the content", t.live.hash, again.live.hash)
	a.once("number of times that the content names its programs", t.live.bits.equal(again.live.bits))
	t.occupied.check(a, id, "occupied", &again.occupied)
	if t.reserved != nil && a.err == nil {
		t.reserved.check(a, id, "reserved", again.reserved)
	}
}

// check verifies that the classes are disjoint and not empty, sum up, and hold on
// every core what a recount has there.
func (p *partition) check(t *audit, id fit.DeviceID, view string, again *partition) {
	var seen, all l1.CoreSet
	var bytes, logical uint64
	for at := range each(t, p.classes) {
		c := at.class
		t.about(id, view, nil)
		same(t, "class: number of cores", c.n, uint64(c.cores.Len()))
		t.once("class: number of cores, at least 1", c.n > 0)
		same(t, "class: programs, at least 1, that are missing", max(0, 1-c.programs), 0)
		same(t, "classes: cores in two of them", seen.Intersect(c.cores).Len(), 0)
		seen = seen.Union(c.cores)
		t.fail(c.cores, c.covered.CheckInvariants())
		bytes += c.covered.Bytes() * c.n
		logical += c.logical * c.n
		again.meet(c.cores, func(at int) uint64 {
			c.compare(t, id, view, again.classes[at].class)
			return 0
		})
		c.checkCounted(t, id, view, again)
	}
	for _, o := range again.classes {
		all = all.Union(o.cores)
	}
	t.about(id, view, nil)
	same(t, "sum of the classes", p.bytes, bytes)
	same(t, "logical sum of the classes", p.logical, logical)
	same(t, "cores in a class without programs there", seen.Minus(all).Len(), 0)
	same(t, "cores with programs in no class", all.Minus(seen).Len(), 0)
	p.checkNumbers(t, seen)
}

// checkNumbers verifies that each core names its class, and which one is the fullest.
func (p *partition) checkNumbers(t *audit, cores l1.CoreSet) {
	known, fullest := 0, uint64(0)
	for i, c := range p.classes {
		fullest = max(fullest, c.covered.Bytes())
		for core := range c.cores.All() {
			if at := p.at(core); at != i {
				t.differs("number of the class of core "+core.String(), uint64(at), uint64(i))
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
	same(t, "cores with the number of a class", known, cores.Len())
	same(t, "bytes of the fullest core", p.fullest, fullest)
}

// compare holds a class against one of a recount that shares a core with it.
func (c *class) compare(t *audit, id fit.DeviceID, view string, want *class) {
	t.about(id, view, c.cores.Intersect(want.cores))
	same(t, "programs", c.programs, want.programs)
	same(t, "logical bytes", c.logical, want.logical)
	same(t, "bytes", c.covered.Bytes(), want.covered.Bytes())
	t.ranges("a region", slices.Collect(c.covered.Regions()), slices.Collect(want.covered.Regions()))
	// Wrong ones join classes that differ, or never join.
	same(t, "hash of the groups", c.groups.hash, want.groups.hash)
	t.once("number of times that a class names its groups", c.groups.bits.equal(want.groups.bits))
}

// checkCounted verifies that a class, whose regions are right, counts the ranges of the
// programs that are not hidden on it, each once. Where a range is counted too often,
// or not at all, inside others, the bytes are right until one leaves.
func (c *class) checkCounted(t *audit, id fit.DeviceID, view string, again *partition) {
	want, named := counting{covered: new(cbregion.Coverage), reach: c.reach}, 0
	if o := again.on(c.first); o != nil {
		for number := range o.groups.bits.all() {
			r := again.roster.at(number)
			g, counted := again.footprint(r).Group(r.indexOf(number)), slices.Contains(c.counted, r)
			if c.plain || counted {
				want.count(g)
			} else {
				want.reach = max(want.reach, endOf(g))
			}
			named += int(flag(counted))
		}
	}
	t.about(id, view, c.cores)
	t.once("number of times that the first core is known", c.first == first(c.cores))
	same(t, "counted programs that are not registered", len(c.counted)-named, 0)
	same(t, "counted programs beyond those that a class may name", max(0, len(c.counted)-mostCounted), 0)
	same(t, "counted programs of a class that counts all", uint64(len(c.counted))*flag(c.plain), 0)
	same(t, "boundaries", c.covered.Boundaries(), want.covered.Boundaries())
	same(t, "reach of the hidden programs", c.reach, want.reach)
}
