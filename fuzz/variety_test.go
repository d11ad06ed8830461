package fuzz_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/fuzz/suite"
	"github.com/cbl1/cbl1/internal/guard/testkit"
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
	if len(added) > 0 && p.Spec().Cols > 32 {
		w.seen["register beyond 32 columns"]++
	}
	if errors.Is(err, model.ErrSpec) && errors.Is(err, model.ErrGrid) {
		w.seen["program with two errors"]++
	}
	if len(added) > 0 && p.AsWritten() {
		for _, cb := range p.CBs() {
			if !cb.Cores.Merge().Equal(cb.Cores) {
				w.seen["core ranges that merging would cut anew"]++
			}
		}
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

func (w watched) Moment(id uint64, without ...uint64) model.Moment {
	m := w.Fleet.Moment(id, without...)
	spec, _ := w.Spec(id)
	for c := range spec.Grid().Cores().All() {
		if len(m(c)) > 0 {
			w.seen["moment of something"]++
			if len(m(c)) < len(w.Residents(id, c, false)) {
				w.seen["moment without a buffer"]++
			}
		}
	}
	return m
}

func (w watched) Unregister(p program.ID, ids []uint64) error {
	had := len(w.Where(p)) > 0
	err := w.Fleet.Unregister(p, ids)
	if had {
		w.note(gen.Unregister, err)
	}
	return err
}

func (w watched) Replace(old program.ID, new *program.Program) ([]uint64, error) {
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

func (w watched) Dispatch(p program.ID, ids []uint64) error {
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

func (w watched) Evict(p program.ID, ids []uint64) ([]uint64, error) {
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

func (w watched) Record(trace uint64, p program.ID) error {
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
	if errors.Is(err, model.ErrFit) {
		w.seen["replay of what does not fit"]++
	}
	if errors.Is(err, model.ErrNotRegistered) {
		w.seen["replay of a program that is gone"]++
	}
	return err
}

func (w watched) SetHybrid(ids []uint64, on bool) ([]uint64, error) {
	changed, err := w.Fleet.SetHybrid(ids, on)
	if len(changed) > 0 {
		w.note(gen.SetHybrid, err)
	}
	return changed, err
}

func (w watched) Place(b model.Buffer, ids []uint64) error {
	err := w.Fleet.Place(b, ids)
	w.note(gen.Place, err)
	if err != nil || len(ids) == 0 {
		return err
	}
	w.seen["place an "+string(b.Kind)]++
	w.seen["place in mode "+string(b.Mode)]++
	return nil
}

func (w watched) ReleaseTrace(trace uint64) error {
	err := w.Fleet.ReleaseTrace(trace)
	w.note(gen.ReleaseTrace, err)
	return err
}

func (w watched) Allocate(b model.Buffer, ids []uint64) error {
	err := w.Fleet.Allocate(b, ids)
	w.note(gen.Allocate, err)
	if err == nil && len(ids) > 0 {
		w.seen["allocate "+string(b.Kind)]++
		if b.Backing {
			w.seen["allocate backing"]++
		}
		if len(b.Parts) > 1 {
			w.seen["allocate several parts"]++
		}
	}
	for _, id := range w.Devices() {
		t, _ := w.Totals(id)
		u := w.Usage(id, false)
		if len(u.Shared) > 0 {
			w.seen["kinds that share bytes"]++
		}
		if t.Tracked > t.Resident && t.Resident > 0 {
			w.seen["buffers beside programs"]++
		}
		if u.Of[model.Dataflow] > 0 && u.Of[model.CB] > 0 {
			w.seen["dataflow beside circular buffers"]++
		}
		if u.Of[model.Scratchpad] > 0 {
			w.seen["scratchpads"]++
		}
	}
	return err
}

func (w watched) Free(id uint64, ids []uint64) (model.Buffer, error) {
	b, err := w.Fleet.Free(id, ids)
	w.note(gen.Free, err)
	return b, err
}

func (w watched) Enqueue(p *program.Program, ids []uint64) ([]uint64, error) {
	cached := p != nil && len(w.Where(p.ID())) > 0
	added, err := w.Fleet.Enqueue(p, ids)
	w.note(gen.Enqueue, err)
	if errors.Is(err, model.ErrOverflow) {
		w.seen["enqueue that overflows"]++
	}
	switch {
	case err == nil && len(ids) > 0 && cached && len(added) == 0:
		w.seen["enqueue from the cache"]++
	case errors.Is(err, model.ErrFit) && cached:
		w.seen["enqueue from the cache that does not fit"]++
	case len(added) > 0:
		w.seen["enqueue of a new program"]++
	}
	return added, err
}

func (w watched) Check(p *program.Program, ids []uint64) (model.Verdict, error) {
	v, err := w.Fleet.Check(p, ids)
	switch {
	case err != nil:
		w.seen["check: "+strings.SplitN(err.Error(), "\n", 2)[0]]++
		return v, err
	case len(ids) == 0 || p.Len() == 0:
	case v.Fits():
		w.seen["fits"]++
		if slices.ContainsFunc(ids, func(id uint64) bool { return len(w.Buffers(id)) > 0 }) {
			w.seen["fits beside buffers"]++
		}
	case len(v.Doubts) > 0:
		w.seen["cannot tell: "+v.Doubts[0].Kind]++
	case len(v.Refusals) == 0:
		w.seen["clash that tt-metal does not see"]++
	case len(v.Clashes) == 0:
		w.seen["refusal without a clash"]++
	default:
		w.seen["refusal and clash"]++
	}
	for _, r := range v.Refusals {
		w.seen["refused: "+r.Kind]++
		if r.What != program.CircularBuffer {
			w.seen["refused: dataflow "+r.Kind]++
		}
		if r.Devices > 1 {
			w.seen["refused by devices alike"]++
		}
		if r.Device != v.Refusals[0].Device {
			w.seen["refused by devices that differ"]++
		}
	}
	for _, c := range v.Clashes {
		if c.Grows {
			w.seen["bytes beyond L1"]++
		} else if c.Bytes < c.End-c.Limit {
			w.seen["clash with some of the bytes above the limit"]++
		}
		if len(c.InWay) > 1 {
			w.seen["several in the way"]++
		}
	}
	return v, err
}

func (w watched) Headroom(p *program.Program, ids []uint64) ([]model.Headroom, error) {
	all, err := w.Fleet.Headroom(p, ids)
	for _, h := range all {
		switch {
		case h.Free == 0:
			w.seen["no headroom"]++
		case h.Gap.Start != h.End:
			w.seen["the largest gap is elsewhere"]++
		default:
			w.seen["headroom"]++
		}
	}
	return all, err
}

func (w watched) Room(mode model.Mode, cores l1.CoreRangeSet, ids []uint64) (l1.Range, error) {
	r, err := w.Fleet.Room(mode, cores, ids)
	lockstep, _ := w.Fleet.Room(model.Lockstep, cores, ids)
	switch {
	case err != nil || len(ids) == 0:
	case r.IsEmpty():
		w.seen["no room for a buffer"]++
	case r != lockstep:
		w.seen["more room for a buffer that is not in lockstep"]++
	case r.End < l1.MaxAddr:
		w.seen["room for a buffer"]++
	}
	return r, err
}

func (w watched) MayGrow(p *program.Program, cb int, ids []uint64) (uint64, bool, error) {
	n, ok, err := w.Fleet.MayGrow(p, cb, ids)
	switch {
	case ok && n > 0:
		w.seen["may grow"]++
	case ok:
		w.seen["may not grow"]++
	}
	return n, ok, err
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
	for seed := range 3 { // always the same lives: rare events must not be a matter of luck
		func() {
			defer testkit.SameDraws(seed+1, 100)()
			rapid.Check(t, property)
		}()
	}
	want := []string{
		"register beyond 32 columns", "program with two errors", "moment of something", "moment without a buffer",
		"three programs", "core ranges that merging would cut anew", "logical and reserved differ", "register on several",
		"dispatch that takes bytes away", "dispatch that brings bytes", "several programs resident",
		"resident and not registered", "replay that changes bytes", "replay of a program that is gone", "replay of what does not fit",
		"allocate backing", "allocate several parts", "kinds that share bytes", "buffers beside programs",
		"dataflow beside circular buffers", "scratchpads",
		"enqueue from the cache", "enqueue from the cache that does not fit", "enqueue that overflows", "enqueue of a new program",
		"fits", "fits beside buffers", "clash that tt-metal does not see", "refusal without a clash", "cannot tell: range-lockstep", "cannot tell: per-core-hidden",
		"refusal and clash", "refused: grow", "refused: clash", "refused: service-clash", "refused: grid",
		"refused: dataflow grow", "refused: dataflow clash", "refused by devices alike", "refused by devices that differ",
		"bytes beyond L1", "clash with some of the bytes above the limit", "several in the way",
		"no headroom", "the largest gap is elsewhere", "headroom", "no room for a buffer", "room for a buffer", "more room for a buffer that is not in lockstep", "may grow", "may not grow", "place an L1_SMALL buffer",
		"check: " + model.ErrSpec.Error(), "check: " + model.ErrNoProgram.Error(), "check: " + model.ErrNoDevice.Error(),
	}
	for _, op := range []gen.Op{
		gen.Register, gen.Unregister, gen.Replace, gen.Remove, gen.AddMesh, gen.Dispatch, gen.Evict,
		gen.BeginTrace, gen.Record, gen.EndTrace, gen.Replay, gen.ReleaseTrace,
		gen.Allocate, gen.Free, gen.Enqueue, gen.SetHybrid, gen.Place,
	} {
		want = append(want, string(op))
	}
	for _, kind := range model.Kinds()[3:] {
		want = append(want, "allocate "+string(kind))
	}
	for _, mode := range []model.Mode{model.Lockstep, model.PerCore, model.RangeLockstep} {
		want = append(want, "place in mode "+string(mode))
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
