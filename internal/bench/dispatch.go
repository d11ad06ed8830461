package bench

import (
	"fmt"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Turns is W11: two programs of 4 circular buffers on the whole grid are dispatched in
// turn, beside live others that were dispatched before.
func Turns(devices, live, turns int) Workload { return inTurn("turns", devices, live, 2, turns) }

// Again is W11 with a program that is resident already.
func Again(devices, live, turns int) Workload { return inTurn("again", devices, live, 1, turns) }

// Round is W11 with so many programs in turn that no way from one to the next is
// remembered.
func Round(devices, programs, turns int) Workload {
	return inTurn("round", devices, 0, programs, turns)
}

func inTurn(name string, devices, live, programs, turns int) Workload {
	w := Workload{Name: fmt.Sprintf("W11/%s/devices=%d/live=%d", name, devices, live+programs), Spec: l1.N150(), Devices: devices}
	return w.dispatched(cached(w.Spec, live+programs), live, turns)
}

// Scattered is W11 with programs on random rectangles, in random order: hardly ever is
// the same left twice.
func Scattered(devices, live, turns int) Workload {
	w := Workload{Name: fmt.Sprintf("W11/scattered/devices=%d/live=%d", devices, live), Spec: l1.N150(), Devices: devices}
	m := newMaker(11, w.Spec)
	programs := make([]*program.Program, live)
	for i := range programs {
		programs[i] = m.placed(4, 64<<10, m.rectangles(1)...)
	}
	w = w.dispatched(programs, 0, 0)
	all := numbers(devices)
	for range turns {
		w.Steps = append(w.Steps, Call{Program: programs[m.rnd.IntN(live)], Devices: all, Do: Dispatch})
	}
	return w
}

// dispatched registers and dispatches programs, and then dispatches all but the first in turn.
func (w Workload) dispatched(programs []*program.Program, first, turns int) Workload {
	all := numbers(w.Devices)
	for _, p := range programs {
		w.Before = append(w.Before, Call{Program: p, Devices: all}, Call{Program: p, Devices: all, Do: Dispatch})
	}
	for i := range turns {
		w.Steps = append(w.Steps, Call{Program: programs[first+i%(len(programs)-first)], Devices: all, Do: Dispatch})
	}
	return w
}

// Warm is W12: two programs that are registered are enqueued in turn, beside buffers.
func Warm(devices, buffers, turns int) Workload {
	w := Workload{Name: fmt.Sprintf("W12/warm/devices=%d/buffers=%d", devices, buffers), Spec: l1.N150(), Devices: devices}
	all := numbers(devices)
	w.Before = newTensors(w, buffers, 4).fill()
	programs := cached(w.Spec, 2)
	for _, p := range programs {
		w.Before = append(w.Before, Call{Program: p, Devices: all, Do: Enqueue})
	}
	for i := range turns {
		w.Steps = append(w.Steps, Call{Program: programs[i%2], Devices: all, Do: Enqueue})
	}
	return w
}

// Cold is W12 with programs that are new, each of them.
func Cold(devices, buffers, programs int) Workload {
	w := Workload{Name: fmt.Sprintf("W12/cold/devices=%d/buffers=%d", devices, buffers), Spec: l1.N150(), Devices: devices}
	w.Before = newTensors(w, buffers, 4).fill()
	for _, p := range cached(w.Spec, programs) {
		w.Steps = append(w.Steps, Call{Program: p, Devices: numbers(devices), Do: Enqueue})
	}
	return w
}

// Operations is W12 as a model runs: an output is allocated, a program of 16 is
// enqueued, and the oldest buffer is freed.
func Operations(devices, buffers, operations int) Workload {
	w := Workload{Name: fmt.Sprintf("W12/operations/devices=%d/buffers=%d", devices, buffers), Spec: l1.N150(), Devices: devices}
	t := newTensors(w, buffers, 4)
	w.Before = t.fill()
	programs := cached(w.Spec, 16)
	for i := range operations {
		w.Steps = append(w.Steps, t.come(), Call{Program: programs[i%len(programs)], Devices: t.all, Do: Enqueue}, t.leave())
	}
	return w
}

// Tight is W12 with a buffer that comes where the programs end, so that some of them are
// refused, now these and then those.
func Tight(devices, rounds int) Workload {
	w := Workload{Name: fmt.Sprintf("W12/tight/devices=%d", devices), Spec: l1.N150(), Devices: devices}
	programs, all := cached(w.Spec, 12), numbers(devices)
	m := newMaker(12, w.Spec)
	for i := range rounds {
		low := w.Spec.CBBase + m.rnd.Uint64N(256<<10)
		b := &fit.Buffer{
			ID: fit.BufferID(i), Kind: fit.KindL1,
			Parts: []fit.Part{{Cores: w.Spec.Grid().Cores(), Range: l1.Range{Start: low, End: w.Spec.L1Size}}},
		}
		w.Steps = append(w.Steps, Call{Buffer: b, Devices: all, Do: Allocate})
		for range 4 {
			w.Steps = append(w.Steps, Call{Program: programs[m.rnd.IntN(len(programs))], Devices: all, Do: Enqueue})
		}
		w.Steps = append(w.Steps, Call{Buffer: b, Devices: all, Do: Free})
	}
	return w
}

// Interleaved is W13: live buffers on all cores, one program below them; pairs times a
// new buffer comes and the oldest leaves.
func Interleaved(devices, live, pairs int) Workload {
	return tensorsInTurn("interleaved", devices, live, 0, pairs)
}

// Sharded is W13 with one of four buffers on a random rectangle, so that hardly any two
// cores hold the same.
func Sharded(devices, live, pairs int) Workload {
	return tensorsInTurn("sharded", devices, live, 4, pairs)
}

func tensorsInTurn(name string, devices, live, sharded, pairs int) Workload {
	w := Workload{Name: fmt.Sprintf("W13/%s/devices=%d/live=%d", name, devices, live), Spec: l1.N150(), Devices: devices}
	t := newTensors(w, live, sharded)
	w.Before = append(t.fill(), Call{Program: cached(w.Spec, 1)[0], Devices: t.all, Do: Enqueue})
	for range pairs {
		w.Steps = append(w.Steps, t.come(), t.leave())
	}
	return w
}

// tensors are buffers of a workload. They come to places above all programs, and leave
// in the order in which they came.
type tensors struct {
	*maker
	all  []int
	live []*fit.Buffer
	next fit.BufferID
	n    int    // places
	size uint64 // of a place

	sharded int // one of so many lies on a random rectangle; 0 = none
}

func newTensors(w Workload, live, sharded int) *tensors {
	const room = 1 << 20 // bytes at the end of L1
	size := min(room/uint64(live+1), 64<<10)
	return &tensors{maker: newMaker(13, w.Spec), all: numbers(w.Devices), n: live + 1, size: size &^ 31, sharded: sharded}
}

// fill returns steps that allocate all but one place.
func (t *tensors) fill() (out []Call) {
	for len(t.live) < t.n-1 {
		out = append(out, t.come())
	}
	return out
}

func (t *tensors) come() Call {
	cores := t.spec.Grid().Cores()
	if t.sharded > 0 && t.rnd.IntN(t.sharded) == 0 {
		cores = t.rectangle(4).Cores()
	}
	top := t.spec.L1Size - uint64(t.next)%uint64(t.n)*t.size
	at := l1.Range{Start: top - 32*(1+t.rnd.Uint64N(t.size/32)), End: top}
	b := &fit.Buffer{ID: t.next, Kind: fit.KindL1, Parts: []fit.Part{{Cores: cores, Range: at}}}
	t.next++
	t.live = append(t.live, b)
	return Call{Buffer: b, Devices: t.all, Do: Allocate}
}

func (t *tensors) leave() Call {
	b := t.live[0]
	t.live = t.live[1:]
	return Call{Buffer: b, Devices: t.all, Do: Free}
}
