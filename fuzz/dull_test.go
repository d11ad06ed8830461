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
	want := []string{"three programs", "logical and reserved differ", "register on several"}
	for _, op := range []gen.Op{gen.Register, gen.Unregister, gen.Replace, gen.Remove, gen.AddMesh} {
		want = append(want, string(op))
	}
	for _, class := range model.Errors() {
		if !errors.Is(class, model.ErrRange) && !errors.Is(class, model.ErrNotHeld) { // of counters
			want = append(want, class.Error())
		}
	}
	for _, what := range want {
		require.Greater(t, seen[what], lives/100, "%s, in %d lives", what, lives)
	}
}
