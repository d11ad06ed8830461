package fuzz_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/stretchr/testify/require"
)

// small is a world so small that everything that can happen in it can be tried: three
// cores, three programs, two devices.
//
//	         0-0             1-0             2-0
//	P0  X [0,16)        X [0,16)                         its two ranges overlap without
//	                    Y [16,40)       Y [16,40)        being equal: reserves more
//	P1                  [12,20)
//	P2  [0,40)          [0,40)          [0,40)
type small struct {
	spec     l1.Spec
	programs [3]*program.Program
	rows     [8]model.Totals // by set of programs, without peaks
	cores    [8][3]model.CoreTotals
	regions  [8][3][]l1.Range
}

func newSmall(t *testing.T) *small {
	w := &small{spec: l1.Spec{Name: "small", Cols: 3, Rows: 1, L1Size: 64}}
	set := l1.MustParseCoreRangeSet
	for id, b := range []*program.Builder{
		program.NewBuilder(0).CB(program.CB{Cores: set("{[0-0 - 1-0]}"), Size: 16}).CB(program.CB{Cores: set("{[1-0 - 2-0]}"), Size: 24}),
		program.NewBuilder(1).Range(set("{[1-0 - 1-0]}"), l1.Range{Start: 12, End: 20}),
		program.NewBuilder(2).Range(set("{[0-0 - 2-0]}"), l1.Range{End: 40}),
	} {
		p, err := b.Build(w.spec)
		require.NoError(t, err)
		w.programs[id] = p
	}
	for state := range w.rows {
		m := model.NewFleet()
		require.NoError(t, m.AddDevice(0, w.spec))
		for i, p := range w.programs {
			if state>>i&1 == 1 {
				_, err := m.Register(p, []uint64{0})
				require.NoError(t, err)
			}
		}
		w.rows[state], _ = m.Totals(0)
		w.rows[state].Peak = model.Peaks{}
		for x := range 3 {
			core := l1.Core{X: uint8(x)}
			w.cores[state][x], w.regions[state][x] = m.Core(0, core), m.Regions(0, core)
			w.cores[state][x].Peak = 0
		}
	}
	return w
}

// A walk is a fleet with the world in it, and what should be where.
type walk struct {
	*small
	fleet   *device.Fleet
	mesh    device.Mesh
	devices [2]device.Device
	sets    [2]device.Set
	state   [2]int // set of programs on each device
	lives   int
}

func newWalk(t *testing.T, w *small) *walk {
	k := &walk{small: w, fleet: device.NewFleet()}
	var err error
	k.mesh, err = k.fleet.AddMesh(0, 1, 2, w.spec)
	require.NoError(t, err)
	for i, d := range slices.Collect(k.mesh.All()) {
		k.devices[i], k.sets[i] = d, d.Set()
	}
	return k
}

// move makes one of the twelve calls and reports whether it changed anything.
func (k *walk) move(register bool, p, d int) (changed bool, err error) {
	has := k.state[d]>>p&1 == 1
	if register {
		added, err := k.fleet.Register(k.programs[p], k.sets[d])
		if err != nil || (added.Len() == 1) == has {
			return false, fmt.Errorf("register: added %v, %w; was there: %v", added, err, has)
		}
		k.state[d] |= 1 << p
		return !has, nil
	}
	if err := k.fleet.Unregister(k.programs[p].ID(), k.sets[d]); (err == nil) != has {
		return false, fmt.Errorf("unregister: %w; was there: %v", err, has)
	}
	k.state[d] &^= 1 << p
	return has, nil
}

// check compares the totals.
func (k *walk) check() error {
	var sum uint64
	for i, d := range k.devices {
		got, want := totals(d.Totals()), k.rows[k.state[i]]
		got.Peak = model.Peaks{}
		if got != want || d.Registered() != want.Registered {
			return fmt.Errorf("device %d: got %+v (atomic %d), want %+v", i, got, d.Registered(), want)
		}
		sum += want.Registered
	}
	if got := k.mesh.Registered(); got != sum {
		return fmt.Errorf("mesh: got %d, want %d", got, sum)
	}
	return nil
}

// checkCores compares every core, and checks the invariants of the fleet.
func (k *walk) checkCores() error {
	for i, d := range k.devices {
		for x := range 3 {
			core := l1.Core{X: uint8(x)}
			got, want := model.CoreTotals(d.Core(core)), k.cores[k.state[i]][x]
			got.Peak = 0
			if regions := slices.Collect(d.Regions(core)); got != want || !slices.Equal(regions, k.regions[k.state[i]][x]) {
				return fmt.Errorf("device %d core %v: got %+v %v, want %+v %v", i, core, got, regions, want, k.regions[k.state[i]][x])
			}
		}
	}
	return k.fleet.CheckInvariants()
}

// Every life of up to depth calls: each of three programs registered on or taken off
// each of two devices, also where it is there already or not there. A call that
// changed something is taken back when all lives that begin with it were lived, so
// that the whole tree is one long life of one fleet.
func TestEveryLife(t *testing.T) {
	depth, want := 5, 12+144+1728+20736+248832
	switch {
	case raceEnabled || testing.Short():
		depth, want = 4, 12+144+1728+20736
	case testkit.Nightly():
		depth, want = 6, 12+144+1728+20736+248832+2985984
	}
	k := newWalk(t, newSmall(t))
	require.NoError(t, k.tree(depth, 0))
	require.Equal(t, want, k.lives)
	require.Equal(t, [2]int{}, k.state)
}

func (k *walk) tree(depth, level int) error {
	if level == depth {
		return nil
	}
	for move := range 12 {
		register, p, d := move&1 == 0, move>>1%3, move/6
		changed, err := k.move(register, p, d)
		if err == nil {
			err = k.check()
		}
		if err == nil && level < 3 {
			err = k.checkCores()
		}
		if err != nil {
			return fmt.Errorf("register %v program %d on device %d: %w", register, p, d, err)
		}
		k.lives++
		if err := k.tree(depth, level+1); err != nil {
			return fmt.Errorf("register %v program %d on device %d, then %w", register, p, d, err)
		}
		if changed {
			if _, err := k.move(!register, p, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// Every life of four calls again, each on a new fleet, where high-water marks mean
// something.
func TestEveryShortLifeHasItsPeaks(t *testing.T) {
	w := newSmall(t)
	for life := range 12 * 12 * 12 * 12 {
		k := newWalk(t, w)
		var peak device.Peaks
		var meshPeak uint64
		for moves, step := life, 0; step < 4; moves, step = moves/12, step+1 {
			move := moves % 12
			if _, err := k.move(move&1 == 0, move>>1%3, move/6); err != nil {
				t.Fatalf("life %d: step %d: %v", life, step, err)
			}
			a, b := w.rows[k.state[0]], w.rows[k.state[1]]
			peak.Registered, peak.Reserved = max(peak.Registered, a.Registered), max(peak.Reserved, a.Reserved)
			peak.Logical, peak.Core = max(peak.Logical, a.Logical), max(peak.Core, a.Core)
			meshPeak = max(meshPeak, a.Registered+b.Registered)
		}
		if got := k.devices[0].Totals().Peak; got != peak {
			t.Fatalf("life %d: got %+v, want %+v", life, got, peak)
		}
		if got := k.mesh.Totals().Peak.Registered; got != meshPeak {
			t.Fatalf("life %d: mesh: got %d, want %d", life, got, meshPeak)
		}
	}
}

// All triples of ranges on an axis of six bytes, as three programs on core ranges that
// cut each other, in every order of coming and going.
func TestAllTriplesInEveryOrder(t *testing.T) {
	spec := l1.Spec{Name: "axis", Cols: 3, Rows: 1, L1Size: 8}
	var ranges []l1.Range
	for s := range uint64(6) {
		for e := s + 1; e <= 6; e++ {
			ranges = append(ranges, l1.Range{Start: s, End: e})
		}
	}
	spans := [3][2]int{{0, 1}, {1, 2}, {1, 1}} // columns of each program
	var programs [3][]*program.Program         // by range
	for i, span := range spans {
		for _, r := range ranges {
			cores := l1.MustParseCoreRangeSet(fmt.Sprintf("{[%d-0 - %d-0]}", span[0], span[1]))
			p, err := program.NewBuilder(program.ID(i)).Range(cores, r).Build(spec)
			require.NoError(t, err)
			programs[i] = append(programs[i], p)
		}
	}
	orders := [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	if raceEnabled || testing.Short() {
		orders = orders[3:5]
	}
	f := device.NewFleet()
	d, err := f.AddDevice(0, spec)
	require.NoError(t, err)
	set := d.Set()
	for i := range ranges {
		for j := range ranges {
			for k := range ranges {
				triple := [3]int{i, j, k}
				var want [8]uint64 // by set of programs
				for state := range want {
					var held [3][6]bool
					for p, r := range triple {
						for x := spans[p][0]; state>>p&1 == 1 && x <= spans[p][1]; x++ {
							for a := ranges[r].Start; a < ranges[r].End; a++ {
								if !held[x][a] {
									held[x][a] = true
									want[state]++
								}
							}
						}
					}
				}
				for _, in := range orders {
					for _, out := range orders {
						state := 0
						for _, p := range in {
							state |= 1 << p
							if _, err := f.Register(programs[p][triple[p]], set); err != nil || d.Registered() != want[state] {
								t.Fatalf("%v: in %v: %d bytes, want %d; %v", triple, in, d.Registered(), want[state], err)
							}
						}
						for _, p := range out {
							state &^= 1 << p
							if err := f.Unregister(programs[p][triple[p]].ID(), set); err != nil || d.Registered() != want[state] {
								t.Fatalf("%v: in %v, out %v: %d bytes, want %d; %v", triple, in, out, d.Registered(), want[state], err)
							}
						}
					}
				}
			}
		}
	}
}
