package gen

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"pgregory.net/rapid"
)

// rerunOps are the calls that Rerun draws.
func rerunOps() []Op {
	return []Op{Register, Unregister, BeginTrace, Record, EndTrace, Dispatch, Evict, Replay}
}

// Rerun draws a story that ends with a replay which has something to do: a program that
// fits is captured, and the trace runs. In between the program is overwritten or evicted,
// or it leaves a device and returns. Calls drawn one by one hardly ever come to that. The
// story is empty where no program fits on any device.
//
//	register 3, begin trace, record 3, end trace, dispatch 5, replay
func Rerun(w *World) *rapid.Generator[[]Move] {
	return rapid.Custom(func(t *rapid.T) []Move {
		p, on := w.fitting(t)
		if len(on) == 0 {
			return nil
		}
		trace, traced := w.State.NextTrace(), on
		if len(on) > 1 && rapid.Bool().Draw(t, "not on the first") {
			traced = on[1:]
		}
		moves := []Move{
			{Op: Register, Program: p, Devices: on},
			{Op: BeginTrace, Devices: traced},
			{Op: Record, Trace: trace, Program: p},
			{Op: EndTrace, Trace: trace},
		}
		switch rapid.IntRange(0, 2).Draw(t, "in between") {
		case 0:
			moves = append(moves, Move{Op: Evict, Program: p, Devices: on})
		case 1:
			moves = append(moves, Moves(Dispatch, w).Draw(t, "dispatch"))
		case 2:
			away := []uint64{rapid.SampledFrom(on).Draw(t, "away")}
			moves = append(moves, Move{Op: Unregister, Program: p, Devices: away},
				Move{Op: Register, Program: p, Devices: away})
		}
		return append(moves, Move{Op: Replay, Trace: trace})
	})
}

// Scatter draws a story of many dispatches in no order, so that hardly anything was left like that before. Each
// program has about half of the cores.
//
//	register 1..5 on all devices, dispatch 3, 1, 5, 3, 2, 5, 4, 1 ...
func Scatter(w *World) *rapid.Generator[[]Move] {
	return rapid.Custom(func(t *rapid.T) (moves []Move) {
		state := rapid.Uint64().Draw(t, "seed")
		random := func() uint64 {
			state = state*6364136223846793005 + 1442695040888963407
			return state >> 32
		}
		devices, spec := w.State.Devices(), w.Specs[0]
		var all []*program.Program
		for _, id := range ProgramIDs() {
			var cores []l1.Core
			for _, c := range Cores(spec) {
				if random()%2 == 1 {
					cores = append(cores, c)
				}
			}
			cb := program.CB{Cores: l1.CoreSetOf(cores...).Ranges(), Size: 8 * (1 + random()%4)}
			p := build(t, program.NewBuilder(id).CB(cb), spec)
			all = append(all, p)
			moves = append(moves, Move{Op: Register, Program: p, Devices: devices})
		}
		for range 60 {
			moves = append(moves, Move{Op: Dispatch, Program: all[random()%uint64(len(all))], Devices: devices})
		}
		return moves
	})
}

// fitting draws a program, known or new, and the devices on which it fits now.
func (w *World) fitting(t *rapid.T) (*program.Program, []uint64) {
	all := append(slices.Clone(w.Programs), Program(w.one(t), ProgramIDs()...).Draw(t, "new"))
	p := rapid.SampledFrom(all).Draw(t, "program")
	var on []uint64
	for _, id := range w.State.Devices() {
		if v, err := w.State.Check(p, []uint64{id}); err == nil && v.Fits() {
			on = append(on, id)
		}
	}
	return p, on
}
