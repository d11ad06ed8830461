package main

import (
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/guard/baseline"
	"github.com/cbl1/cbl1/l1"
)

// tensors are the buffers of a history. They come to places above all programs, and leave in the
// order in which they came.
type tensors struct {
	*maker
	live    []*fit.Buffer
	nextID  fit.BufferID
	n       int    // places
	size    uint64 // of a place
	sharded bool   // one in four lies on a random rectangle
}

func newTensors(devices, live int) *tensors {
	const room = 1 << 20 // bytes at the end of L1
	t := &tensors{maker: newMaker(13, devices), n: live + 1, size: min(room/uint64(live+1), 64<<10) &^ 31}
	t.measure = baseline.Tracked
	return t
}

// fill allocates all but one place.
func (t *tensors) fill() {
	for len(t.live) < t.n-1 {
		t.before = append(t.before, t.come())
	}
}

func (t *tensors) come() step {
	cores := t.spec.Grid().Cores()
	if t.sharded && t.rnd.IntN(4) == 0 {
		cores = must(l1.NewCoreRangeSet(t.rectangle(4))).Cores()
	}
	top := t.spec.L1Size - uint64(t.nextID)%uint64(t.n)*t.size
	at := l1.Range{Start: top - 32*(1+t.rnd.Uint64N(t.size/32)), End: top}
	b := &fit.Buffer{ID: t.nextID, Kind: fit.KindL1, Parts: []fit.Part{{Cores: cores, Range: at}}}
	t.nextID++
	t.live = append(t.live, b)
	return step{do: allocate, buffer: b, devices: t.all}
}

func (t *tensors) leave() step {
	b := t.live[0]
	t.live = t.live[1:]
	return step{do: free, buffer: b, devices: t.all}
}
