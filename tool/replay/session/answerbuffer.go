package session

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// A PlaceAnswer is where tt-metal's allocator would put a buffer. Its Parts have the form of an event "allocate".
type PlaceAnswer struct {
	AnswerHead
	Buffer fit.BufferID   `json:"buffer"`
	Places []PlacementRow `json:"places"` // one, or in the mode per_core one for devices with equal addresses
}

// A PlacementRow is the place of a buffer on some devices.
type PlacementRow struct {
	Devices []device.ID `json:"devices"`
	Parts   []PartRow   `json:"parts"`
}

// A PartRow is a range of bytes on some cores.
type PartRow struct {
	Cores   string `json:"cores"`
	Address uint64 `json:"address"`
	Size    uint64 `json:"size"` // on each core
}

// A RoomAnswer is where the largest L1 buffer fits, beside the live buffers and above all registered programs.
type RoomAnswer struct {
	AnswerHead
	Mode  fit.Mode `json:"mode"`
	Cores string   `json:"cores"`
	Count int      `json:"count"` // of the cores
	answer.Gap
	Below *LimitRow `json:"below"` // nil: the base of circular buffers
	Above *LimitRow `json:"above"` // nil: the end of usable L1
}

// A LimitRow is the program or the buffer that limits a room.
type LimitRow struct {
	Kind    fit.Kind      `json:"kind"`
	Program *program.ID   `json:"program,omitempty"`
	Buffer  *fit.BufferID `json:"buffer,omitempty"`
	Name    string        `json:"name,omitempty"`
	Op      string        `json:"op,omitempty"`
}

// A CheckBufferAnswer says whether a buffer could be allocated at its place.
type CheckBufferAnswer struct {
	AnswerHead
	Buffer   fit.BufferID `json:"buffer"`
	Fits     bool         `json:"fits"`
	Message  string       `json:"message"`
	Outside  uint64       `json:"outside_bytes"` // of a core, where no buffer of its kind may lie
	Overlaps []OverlapRow `json:"overlaps"`
	Refused  []RefusedRow `json:"refused"` // registered programs that fit now, or may, and would not fit or might not
}

// An OverlapRow is bytes that a buffer would share with another one.
type OverlapRow struct {
	Device  device.ID `json:"device"` // the first
	Devices int       `json:"devices"`
	Cores   string    `json:"cores"`
	Bytes   uint64    `json:"bytes"` // on each core
	With    fit.IDRow `json:"with"`
}

// A RefusedRow is the verdict about a registered program beside a buffer.
type RefusedRow struct {
	Program program.ID `json:"program"`
	Name    string     `json:"name,omitempty"`
	fit.AnswerRow
}

func (a PlaceAnswer) to(id, t json.RawMessage) StreamAnswer       { a.ID, a.T = id, t; return a }
func (a RoomAnswer) to(id, t json.RawMessage) StreamAnswer        { a.ID, a.T = id, t; return a }
func (a CheckBufferAnswer) to(id, t json.RawMessage) StreamAnswer { a.ID, a.T = id, t; return a }

// bufferOf returns the buffer that a query names, without a place, and the devices that it names.
func (s *Session) bufferOf(e *event.Event) (b fit.Buffer, set device.Set, err error) {
	b = e.Buffer
	if b.ID = e.Query.Buffer.V; b.Kind == fit.KindCB {
		b.Kind = fit.KindL1
	}
	if !e.Query.Buffer.OK {
		return b, set, errors.New("buffer: missing")
	}
	set, err = s.state.Set(e)
	return b, set, err
}

func (s *Session) placeBuffer(e *event.Event) (StreamAnswer, event.Code, error) {
	b, set, err := s.bufferOf(e)
	if err != nil {
		return nil, "", err
	}
	if b.Cores = e.Query.Cores.V; !e.Query.Cores.OK {
		if b.Cores, err = s.state.Grids.Common(&s.state.Fleet, set); err != nil {
			return nil, event.CodeSpec, err
		}
	}
	if len(e.Parts) > 0 {
		return nil, "", errors.New("parts: the query is for a place")
	}
	found, err := s.state.Fleet.FindPlace(b, e.Query.Size.V, set)
	if err != nil {
		return nil, "", err
	}
	a := PlaceAnswer{headOf("place"), b.ID, []PlacementRow{}}
	for _, p := range found {
		row := PlacementRow{Parts: []PartRow{}}
		for id := range p.Set.All() {
			row.Devices = append(row.Devices, id)
		}
		for part := range p.Buffer.All() {
			row.Parts = append(row.Parts, PartRow{part.Cores.String(), part.Range.Start, part.Range.Len()})
		}
		a.Places = append(a.Places, row)
	}
	return a, "", nil
}

func (s *Session) checkBuffer(e *event.Event) (StreamAnswer, event.Code, error) {
	b, set, err := s.bufferOf(e)
	if err == nil && e.Query.Program.OK {
		err = errors.New("a program and a buffer: one of them")
	}
	if err != nil {
		return nil, "", err
	}
	if len(e.Parts) == 0 && b.Hidden.IsEmpty() && b.Kind.InL1() {
		return nil, "", errors.New("parts: missing")
	}
	if b.Parts, err = s.state.PartsOf(e, set); err != nil {
		return nil, event.CodeSpec, err
	}
	v, err := s.state.Fleet.CheckBuffer(b, set)
	if err != nil {
		return nil, "", err
	}
	a := CheckBufferAnswer{headOf("check"), b.ID, v.Fits(), v.String(), v.Outside, []OverlapRow{}, []RefusedRow{}}
	rowOf := rowsWith(s.state.Programs)
	for _, o := range v.Overlaps {
		a.Overlaps = append(a.Overlaps, OverlapRow{o.Device, o.Devices, o.Cores.String(), o.Bytes, rowOf(o.With)})
	}
	for _, r := range v.Refused {
		id, _ := source.ShownID(r.Program.ID(), s.state.Programs)
		a.Refused = append(a.Refused, RefusedRow{id, clip(r.Program.Name()), fit.NewAnswerRow(r, rowOf)})
	}
	return a, "", nil
}

func (s *Session) room(e *event.Event) (StreamAnswer, event.Code, error) {
	set, err := s.state.Set(e)
	if err != nil {
		return nil, "", err
	}
	for id := range set.All() {
		if d, err := s.state.Fleet.Device(id); err == nil && !s.state.Grids.Of(d).HasAll(e.Query.Cores.V) {
			return nil, event.CodeGrid, fmt.Errorf("cores %s: not all lie on the grid of device %d", e.Query.Cores.V.Brief(), id)
		}
	}
	r, err := s.state.Fleet.Room(e.Buffer.Mode, e.Query.Cores.V, set)
	if err != nil {
		return nil, "", err
	}
	limit := func(at *fit.Resident) *LimitRow {
		if at == nil {
			return nil
		}
		row := rowsWith(s.state.Programs)(*at)
		return &LimitRow{row.Kind, row.Program, row.Buffer, row.Name, row.Op}
	}
	return RoomAnswer{headOf("room"), e.Buffer.Mode, r.Cores.String(), r.Cores.Len(), answer.NewGap(r.Range), limit(r.Below), limit(r.Above)}, "", nil
}
