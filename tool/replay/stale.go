package replay

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// maxSooner bounds the buffers for which FindStale works out how much lower the peak would have been.
const maxSooner = 4

// FindStale finds Result.Stale, the largest first. The events are those of the Result once more, and are not read if no
// buffer was freed too late. Cost: a replay for each of the four largest buffers.
func FindStale(r *answer.Result, events iter.Seq2[*event.Event, error], opt Options) error {
	d := r.Fullest()
	if d == nil {
		return nil
	}
	for _, x := range d.Peak.Composed().Residents {
		if s, ok := x.Stale(d.Peak.At); ok {
			r.Stale = append(r.Stale, s)
		}
	}
	slices.SortStableFunc(r.Stale, func(a, b answer.Stale) int { return cmp.Compare(b.Bytes, a.Bytes) })
	var all []*earlierFree
	for i := range r.Stale {
		if s := &r.Stale[i]; s.Freed.OK && len(all) < maxSooner {
			all = append(all, &earlierFree{of: s, replay: newReplay(r.File, Options{Only: opt.Only, OnePeak: true})})
		}
	}
	if len(all) == 0 {
		return nil
	}
	for e, err := range events {
		for i := 0; i < len(all) && err == nil; i++ {
			err = all[i].event(e)
		}
		if err != nil {
			return err
		}
	}
	for _, s := range all {
		then, err := s.replay.finish()
		if err != nil {
			return err
		}
		for _, row := range then.L1 {
			if row.ID == d.ID && row.Peak != nil {
				s.of.Lower = event.Some(d.Peak.Bytes - min(row.Peak.Bytes, d.Peak.Bytes))
			}
		}
	}
	return nil
}

// An earlierFree replays a source in which one buffer is freed at its last use.
type earlierFree struct {
	of      *answer.Stale
	replay  *replay
	id      fit.BufferID
	devices event.Opt[[]device.ID] // on which the buffer lies; absent: all
	there   bool
	reached uint64 // the last node so far
	freed   bool
}

// event replays an event, unless it is about the buffer that is gone.
func (s *earlierFree) event(e *event.Event) error {
	own := e.Kind == event.KindAllocate && e.Node == s.of.Buffer.At && !e.Corrects && !e.Buffer.Backing
	if own {
		s.id, s.there = e.Buffer.ID, true
		s.devices.V, s.devices.OK = append(s.devices.V, e.Devices.V...), e.Devices.OK
	}
	s.reached = max(s.reached, e.Node)
	if !s.freed && s.there && s.reached > s.of.LastUse {
		s.freed = true
		free := event.Event{Pos: e.Pos, Kind: event.KindFree, Node: s.of.LastUse, Op: event.Some(""), Devices: s.devices, Buffer: fit.Buffer{ID: s.id}}
		if err := s.replay.event(&free); err != nil {
			return err
		}
	}
	if s.freed && e.Node <= s.of.Freed.V && e.Buffer.ID == s.id && (e.Kind == event.KindFree || e.Kind == event.KindAllocate) {
		return nil
	}
	return s.replay.event(e)
}
