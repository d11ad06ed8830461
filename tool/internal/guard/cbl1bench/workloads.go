package main

import (
	"math/rand/v2"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/internal/guard/large"
)

// A workload is a history that is measured, or a capture that is read.
type workload struct {
	name    string
	decides string // the decision that its figures support
	made    func() history
	reads   *large.Plan // in the place of a history

	floor float64 // percore needs at least so many times as much as the engine; 0 = no floor
	lead  float64 // the same of shared
	rival part    // of the history, for percore and slice
	free  bool    // of the limit of a call: the simple structures do less there
}

// workloads returns all of them. Sizes are divided by div.
func workloads(div int) []workload {
	n := func(full int) int { return max(full/div, 4) }
	devices, cache, changes := n(32), n(1_000), n(2_000)
	ends := []int{0, devices - 1} // a part that stands for all
	mb := func(full int64) int64 { return max(full*1_000_000/int64(div), 50_000) }
	capture := func(name, decides string, c large.Plan) workload {
		return workload{name: name, decides: decides, reads: &c}
	}
	return []workload{
		{
			"mesh", "devices and cores share their work",
			func() history { return mesh(devices, n(200)) }, nil, 100, 7, part{devices: ends}, false,
		},
		{
			"mesh/order=device", "a state leans on the next one",
			func() history { return mesh(devices, n(200)).deviceMajor() }, nil, 50, 100, part{devices: ends}, false,
		},
		{
			"churn", "covered programs are hidden",
			func() history { return churn(devices, cache, changes) }, nil, 1_000, 2, part{ends, 400}, false,
		},
		{
			"churn/call=device", "the other devices follow the first",
			func() history { return churn(devices, cache, changes).perDevice() }, nil, 500, 4, part{ends, 800}, false,
		},
		{
			"rectangles", "the same, with sizes and cores as in life",
			func() history { return rectangles(devices, cache, n(500)) }, nil, 200, 20, part{ends, 400}, false,
		},
		{
			"nested", "a core keeps its ranges in a tree with sums",
			func() history { return nested(n(10_000), changes) }, nil, 30, 25, part{steps: 400}, false,
		},
		{
			"fragmented", "classes of cores pay where each core is one",
			func() history { return fragments(devices, n(500), changes, onAll(devices)) }, nil, 50, 8, part{ends, 400}, false,
		},
		{
			"diverged", "devices that all differ keep up with simple structures",
			func() history { return fragments(devices, n(500), changes/4, onHalves(devices)) }, nil, 5, 5, part{steps: 400}, false,
		},
		{
			"everywhere", "the worst case: another range on every core",
			func() history { return everywhere(n(100), n(200)) }, nil, 0, 4, part{}, false,
		},
		{
			"singles", "a class is found by its cores: one range on one core",
			func() history { return singles(devices, n(500), changes) }, nil, 0, 3, part{steps: 400}, false,
		},
		{
			"far", "the reach of each class bounds a search",
			func() history { return far(n(500), n(200)) }, nil, 0, 4, part{steps: 100}, false,
		},
		{
			"below", "the longest call: a class hides few programs with a range of its own",
			func() history { return below(n(2_000)) }, nil, 0, 0, part{}, false,
		},
		{
			"states", "devices in the same state are one",
			func() history { return states(n(10_000), n(50), 8, 16) }, nil, 50, 0, part{devices: []int{0, 1}}, false,
		},
		{
			"turns", "residues of dispatches are remembered",
			func() history { return turns(devices, cache, changes) }, nil, 10, 0, part{ends, 400}, false,
		},
		{
			"scattered", "residues that are new are built fast",
			func() history { return scattered(devices, n(64), n(500)) }, nil, 0, 0, part{ends, 400}, false,
		},
		{
			"lone", "a residue that is new on one core costs a copy",
			func() history { return lone(n(10_000)) }, nil, 0, 0, part{steps: 400}, true,
		},
		{
			"operations", "a fit is remembered beside buffers that come and go",
			func() history { return operations(devices, n(100), n(500)) }, nil, 30, 0, part{ends, 400}, false,
		},
		{
			"sharded", "heaps are shared, and keep their order",
			func() history { return sharded(devices, cache, n(500)) }, nil, 8, 0, part{ends, 400}, false,
		},
		capture("report, 1 % graph", "a reader skips all but the graph", large.Plan{Size: mb(64), Programs: 81, Share: 0.01}),
		capture("5,000 programs, buffers vary", "a capture becomes events, and a replay follows",
			large.Plan{Size: mb(10), Programs: n(5_000), Buffers: large.VaryBuffers}),
	}
}

// onAll names all devices again and again.
func onAll(devices int) func() []int {
	all := numbers(devices)
	return func() []int { return all }
}

// onHalves names a random half of the devices each time.
func onHalves(devices int) func() []int {
	rnd := random(6)
	return func() []int {
		half := rnd.Perm(devices)[:max(devices/2, 1)]
		slices.Sort(half)
		return half
	}
}

// mesh is programs of 16 circular buffers on 1 to 3 rectangles of cores, which come to all devices
// and stay.
func mesh(devices, programs int) history {
	m := newMaker(2, devices)
	for range programs {
		m.steps = append(m.steps, m.call(register, m.placed(16, 32<<10, m.rectangles(4)...)))
	}
	return m.history
}

// churn is a cache of programs that is full: the oldest leaves and a new one comes.
func churn(devices, live, pairs int) history {
	m := newMaker(1, devices)
	return m.renewed(live, pairs, onAll(devices), m.onGrid)
}

// rectangles is churn with few large sizes (Zipf), and with every second program on 1 to 3
// rectangles of the grid.
func rectangles(devices, live, pairs int) history {
	m := newMaker(3, devices)
	zipf := rand.NewZipf(m.rnd, 1.2, 8, 64<<10/m.spec.CBAlign-1)
	return m.renewed(live, pairs, onAll(devices), func() *program.Program {
		on := []l1.CoreRangeSet{m.spec.Grid()}
		if m.next%2 == 1 {
			on = m.rectangles(2)
		}
		return m.sized(4, func() uint64 { return m.spec.CBAlign * (1 + zipf.Uint64()) }, on...)
	})
}

// nested is one core with many live ranges, half of them nested, half in a staircase; random ones
// leave and come. Every range spans thousands of boundaries.
//
//	nested  ----------------    staircase  --------
//	          ------------                   --------
//	            --------                       --------
func nested(live, pairs int) history {
	m := newMaker(4, 1)
	m.spec.Name, m.spec.Cols, m.spec.Rows = "one core", 1, 1
	base, room := m.spec.CBBase, m.spec.L1Size-m.spec.CBBase
	n := uint64(live + live/8 + 1)
	var pool []*program.Program
	for i := range (n + 1) / 2 {
		inset, offset := i*(room*3/10)/(n/2), i*(room/2)/(n/2)
		pool = append(pool,
			m.at(l1.Range{Start: base + inset, End: base + room - inset}),
			m.at(l1.Range{Start: base + offset, End: base + offset + room/2 - 1}))
	}
	m.rnd.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	for _, p := range pool[:live] {
		m.before = append(m.before, m.call(register, p))
	}
	for range pairs {
		out, in := m.rnd.IntN(live), live+m.rnd.IntN(len(pool)-live)
		m.steps = append(m.steps, m.call(unregister, pool[out]), m.call(register, pool[in]))
		pool[out], pool[in] = pool[in], pool[out]
	}
	return m.history
}

// fragments is programs of 4 circular buffers on random rectangles, so many that no two cores hold
// the same. The oldest leaves and a new one comes.
func fragments(devices, live, pairs int, on func() []int) history {
	m := newMaker(5, devices)
	return m.renewed(live, pairs, on, func() *program.Program { return m.placed(4, 64<<10, m.rectangles(1)...) })
}

// everywhere is programs with another range at a random address on every core of one device.
func everywhere(live, pairs int) history {
	m := newMaker(14, 1)
	return m.renewed(live, pairs, onAll(1), m.scattered)
}

// singles is programs with one range at a random address on one core, on a random half of the
// devices.
func singles(devices, live, pairs int) history {
	m := newMaker(14, devices)
	cores := m.single()
	return m.renewed(live, pairs, onHalves(devices), func() *program.Program {
		return m.lying(cores[m.rnd.IntN(len(cores)):][:1], m.anywhere)
	})
}

// far is programs that reach far on one core each, and on the others hardly anywhere, below a large
// one that comes and goes. When it leaves, gaps open on every core, and a search for programs
// there meets many that reach far, but not here.
//
//	large       ------------------------
//	on its core --------------------
//	elsewhere   --
func far(live, pairs int) history {
	m := newMaker(15, 1)
	base, end, cores := m.spec.CBBase, m.spec.L1Size, m.single()
	for i := range live {
		here := cores[i%len(cores)]
		b := m.builder()
		b.Range(here, l1.Range{Start: base, End: end - 32*(2+m.rnd.Uint64N(1_000))})
		b.Range(m.spec.Grid().Cores().Minus(here.Cores()).Ranges(), l1.Range{Start: base, End: base + 32*(1+m.rnd.Uint64N(100))})
		m.before = append(m.before, m.call(register, must(b.Build(m.spec))))
	}
	large := m.at(l1.Range{Start: base, End: end})
	m.steps = slices.Repeat([]step{m.call(register, large), m.call(unregister, large)}, pairs)
	return m.history
}

// below is programs with another range on every core, which come below a large one. Then it leaves and comes again.
func below(programs int) history {
	m := newMaker(16, 1)
	m.spec = l1.P150()
	large := m.at(l1.Range{Start: m.spec.CBBase, End: m.spec.L1Size})
	m.before = []step{m.call(register, large)}
	for range programs {
		m.steps = append(m.steps, m.call(register, m.scattered()))
	}
	m.steps = append(m.steps, m.call(unregister, large), m.call(register, large))
	return m.history
}

// states is a large fleet in few states. Device d has the programs of state d % states, and then
// common programs come to all devices.
func states(devices, states, programs, common int) history {
	m, on := newMaker(9, devices), make([][]int, states)
	for d := range devices {
		on[d%states] = append(on[d%states], d)
	}
	for _, these := range on {
		for range programs {
			m.before = append(m.before, step{program: m.placed(4, 64<<10, m.rectangles(4)...), devices: these})
		}
	}
	for range common {
		m.steps = append(m.steps, m.call(register, m.placed(4, 64<<10, m.rectangles(4)...)))
	}
	return m.history
}

// turns is two programs on the whole grid that are dispatched in turn, beside others that were
// dispatched before.
func turns(devices, live, turns int) history {
	m := newMaker(1, devices)
	programs := m.dispatched(many(live, m.onGrid))
	for i := range turns {
		m.steps = append(m.steps, m.call(dispatch, programs[i%2]))
	}
	return m.history
}

// scattered is programs on random rectangles that are dispatched in random order: hardly ever is
// the same left twice.
func scattered(devices, live, turns int) history {
	m := newMaker(11, devices)
	programs := m.dispatched(many(live, func() *program.Program { return m.placed(4, 64<<10, m.rectangles(1)...) }))
	for range turns {
		m.steps = append(m.steps, m.call(dispatch, programs[m.rnd.IntN(live)]))
	}
	return m.history
}

// lone is programs of one core, two for each core of a device. The other one of a random core is dispatched: hardly
// ever is the same left twice.
func lone(turns int) history {
	m := newMaker(17, 1)
	var programs []*program.Program
	for _, core := range slices.Repeat(m.single(), 2) {
		programs = append(programs, m.placed(1, 64<<10, core))
	}
	m.dispatched(programs)
	for range turns {
		i, half := m.rnd.IntN(len(programs)/2), len(programs)/2
		m.steps = append(m.steps, m.call(dispatch, programs[i]))
		programs[i], programs[i+half] = programs[i+half], programs[i]
	}
	return m.history
}

// operations is a model that runs: an output is allocated, a program of 16 is enqueued, and the
// oldest buffer is freed.
func operations(devices, live, operations int) history {
	t, programs := newTensors(devices, live), many(16, newMaker(1, devices).onGrid)
	t.fill()
	for i := range operations {
		t.steps = append(t.steps, t.come(), t.call(enqueue, programs[i%len(programs)]), t.leave())
	}
	return t.history
}

// sharded is buffers, one in four on a random rectangle. Hardly any two cores hold the same. The
// oldest leaves and a new one comes.
func sharded(devices, live, pairs int) history {
	t := newTensors(devices, live)
	t.sharded = true
	t.fill()
	t.before = append(t.before, t.call(enqueue, newMaker(1, devices).onGrid()))
	for range pairs {
		t.steps = append(t.steps, t.come(), t.leave())
	}
	return t.history
}
