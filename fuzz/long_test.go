package fuzz_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Long lives: hundreds of calls for one device while others rest, follow at a
// distance, or run ahead. What a fleet shares between devices, or remembers of the way
// that one of them went, has to be right also when it becomes long.

// On a core with 64 bytes of L1 what a program takes is a word.
type masks [3]uint64

// longPrograms returns programs with a range on some of three cores each: so many that
// a life meets hundreds of different sets of them.
func longPrograms(t *rapid.T, spec l1.Spec) (programs []*program.Program, takes []masks) {
	spans := []string{"{[0-0 - 2-0]}", "{[0-0 - 0-0]}", "{[1-0 - 2-0]}", "{[0-0 - 1-0]}", "{[2-0 - 2-0]}"}
	columns := [][]int{{0, 1, 2}, {0}, {1, 2}, {0, 1}, {2}}
	for id := range 12 {
		start := uint64(id) * 5 % 48
		size := uint64(3 + id%4*4)
		k := id % len(spans)
		p, err := program.NewBuilder(program.ID(id)).
			Range(l1.MustParseCoreRangeSet(spans[k]), l1.Range{Start: start, End: start + size}).Build(spec)
		require.NoError(t, err)
		var m masks
		for _, x := range columns[k] {
			m[x] = (1<<size - 1) << start
		}
		programs, takes = append(programs, p), append(takes, m)
	}
	return programs, takes
}

func longLife(t *rapid.T) {
	spec := l1.Spec{Name: "long", Cols: 3, Rows: 1, L1Size: 64}
	programs, takes := longPrograms(t, spec)
	f := device.NewFleet()
	mesh, err := f.AddMesh(0, 1, 4, spec)
	require.NoError(t, err)
	devices := slices.Collect(mesh.All())
	state := make([]uint, len(devices)) // sets of programs
	peak := make([]masks, len(devices)) // high-water marks of cores, in bytes

	held := func(d int) (cores masks, sum uint64) {
		for x := range cores {
			var all uint64
			for p := range programs {
				if state[d]>>p&1 == 1 {
					all |= takes[p][x]
				}
			}
			cores[x] = uint64(bits.OnesCount64(all))
			sum += cores[x]
		}
		return cores, sum
	}
	move := func(d, p int) error {
		var err error
		if state[d]>>p&1 == 1 {
			err = f.Unregister(programs[p].ID(), devices[d].Set())
		} else {
			_, err = f.Register(programs[p], devices[d].Set())
		}
		state[d] ^= 1 << p
		cores, sum := held(d)
		for x := range cores {
			peak[d][x] = max(peak[d][x], cores[x])
		}
		if got := devices[d].Registered(); err != nil || got != sum {
			return fmt.Errorf("device %d, program %d: got %d, want %d: %w", d, p, got, sum, err)
		}
		return nil
	}
	check := func() {
		for d, device := range devices {
			cores, sum := held(d)
			require.Equal(t, sum, device.Totals().Registered)
			for x := range cores {
				got := device.Core(l1.Core{X: uint8(x)})
				require.Equal(t, cores[x], got.Registered, "device %d core %d", d, x)
				require.Equal(t, peak[d][x], got.Peak, "device %d core %d: peak", d, x)
			}
		}
		require.NoError(t, f.CheckInvariants())
	}

	var leader []int // programs in the order in which device 0 was given or lost them
	var follower [4]int
	for range rapid.IntRange(1, 12).Draw(t, "bursts") {
		d := rapid.IntRange(0, 3).Draw(t, "device")
		n := rapid.SampledFrom([]int{1, 3, 40, 400}).Draw(t, "calls")
		random := rand.New(rand.NewPCG(rapid.Uint64Range(0, 99).Draw(t, "way"), 0))
		for range n {
			p := random.IntN(len(programs))
			if d == 0 {
				leader = append(leader, p)
			} else if d < 3 && follower[d] < len(leader) { // 1 and 2 go the way of 0
				p = leader[follower[d]]
				follower[d]++
			}
			if err := move(d, p); err != nil {
				t.Fatal(err)
			}
		}
		check()
	}
}

func TestLongLives(t *testing.T) { many(t, longLife) }

func FuzzLongLives(f *testing.F) {
	seed(f)
	f.Fuzz(rapid.MakeFuzz(longLife))
}
