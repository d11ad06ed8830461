package fuzz_test

import (
	"errors"
	"testing"

	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/fuzz/suite"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// watched is the oracle, and counts what happens to it.
type watched struct {
	*model.Fleet
	seen map[string]int
}

func (w watched) note(op gen.Op, err error) {
	for _, class := range model.Errors() {
		if errors.Is(err, class) {
			w.seen[class.Error()]++
		}
	}
	if err == nil {
		w.seen[string(op)]++
	}
}

func (w watched) Register(p *program.Program, ids []uint64) ([]uint64, error) {
	added, err := w.Fleet.Register(p, ids)
	w.note(gen.Register, err)
	if len(added) > 1 {
		w.seen["register on several"]++
	}
	for _, id := range w.Devices() {
		t, _ := w.Fleet.Totals(id)
		if t.Programs > 2 {
			w.seen["three programs"]++
		}
		if t.Reserved > t.Registered && t.Logical > t.Registered {
			w.seen["logical and reserved differ"]++
		}
	}
	return added, err
}

func (w watched) Unregister(p *program.Program, ids []uint64) error {
	had := p != nil && len(w.Where(p.ID())) > 0
	err := w.Fleet.Unregister(p, ids)
	if had {
		w.note(gen.Unregister, err)
	}
	return err
}

func (w watched) Replace(old, new *program.Program) ([]uint64, error) {
	changed, err := w.Fleet.Replace(old, new)
	w.note(gen.Replace, err)
	return changed, err
}

func (w watched) Remove(ids []uint64) error {
	loaded := len(w.Programs()) > 0 && len(ids) > 0
	err := w.Fleet.Remove(ids)
	if loaded {
		w.note(gen.Remove, err)
	}
	return err
}

func (w watched) AddMesh(first uint64, rows, cols int, spec l1.Spec) error {
	err := w.Fleet.AddMesh(first, rows, cols, spec)
	w.note(gen.AddMesh, err)
	return err
}

func (w watched) Dispatch(p *program.Program, ids []uint64) error {
	before := w.resident()
	err := w.Fleet.Dispatch(p, ids)
	w.note(gen.Dispatch, err)
	if after := w.resident(); after < before {
		w.seen["dispatch that takes bytes away"]++
	} else if after > before {
		w.seen["dispatch that brings bytes"]++
	}
	for _, id := range w.Devices() {
		spec, _ := w.Spec(id)
		on := map[program.ID]bool{}
		for c := range spec.Grid().Cores().All() {
			if p, regions, ok := w.Resident(id, c); ok {
				on[p] = true
				if len(w.Where(p)) == 0 && len(regions) > 0 {
					w.seen["resident and not registered"]++
				}
			}
		}
		if len(on) > 1 {
			w.seen["several programs resident"]++
		}
	}
	return err
}

func (w watched) resident() (sum uint64) {
	for _, id := range w.Devices() {
		t, _ := w.Fleet.Totals(id)
		sum += t.Resident
	}
	return sum
}

func (w watched) Evict(p *program.Program, ids []uint64) ([]uint64, error) {
	evicted, err := w.Fleet.Evict(p, ids)
	if len(evicted) > 0 {
		w.note(gen.Evict, err)
	}
	return evicted, err
}

func (w watched) BeginTrace(ids []uint64) (uint64, error) {
	id, err := w.Fleet.BeginTrace(ids)
	w.note(gen.BeginTrace, err)
	return id, err
}

func (w watched) Record(trace uint64, p *program.Program) error {
	err := w.Fleet.Record(trace, p)
	w.note(gen.Record, err)
	return err
}

func (w watched) EndTrace(trace uint64) error {
	err := w.Fleet.EndTrace(trace)
	w.note(gen.EndTrace, err)
	return err
}

func (w watched) Replay(trace uint64) error {
	before := w.resident()
	err := w.Fleet.Replay(trace)
	w.note(gen.Replay, err)
	if w.resident() != before {
		w.seen["replay that changes bytes"]++
	}
	if errors.Is(err, model.ErrNotRegistered) {
		w.seen["replay of a program that is gone"]++
	}
	return err
}

func (w watched) ReleaseTrace(trace uint64) error {
	err := w.Fleet.ReleaseTrace(trace)
	w.note(gen.ReleaseTrace, err)
	return err
}

// A run in which too little happens is a failure, not a pass: if the generators grow
// dull, all tests of this folder pass for nothing.
func TestLivesAreNotDull(t *testing.T) {
	seen := map[string]int{}
	lives := 0
	property := suite.TrackerModel(func() suite.Tracker {
		lives++
		return watched{model.NewFleet(), seen}
	})
	for range 5 {
		rapid.Check(t, property)
	}
	want := []string{
		"three programs", "logical and reserved differ", "register on several",
		"dispatch that takes bytes away", "dispatch that brings bytes", "several programs resident",
		"resident and not registered", "replay that changes bytes", "replay of a program that is gone",
	}
	for _, op := range []gen.Op{
		gen.Register, gen.Unregister, gen.Replace, gen.Remove, gen.AddMesh, gen.Dispatch, gen.Evict,
		gen.BeginTrace, gen.Record, gen.EndTrace, gen.Replay, gen.ReleaseTrace,
	} {
		want = append(want, string(op))
	}
	for _, class := range model.Errors() {
		if !errors.Is(class, model.ErrRange) && !errors.Is(class, model.ErrNotHeld) { // of counters
			want = append(want, class.Error())
		}
	}
	t.Logf("in %d lives: %v", lives, seen)
	for _, what := range want {
		require.Greater(t, seen[what], lives/100, "%s, in %d lives", what, lives)
	}
}
