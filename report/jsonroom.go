package report

import (
	"encoding/json"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// RoomSchema is the name of the JSON of room, as the field "schema" has it.
const RoomSchema = "cbl1.room/1"

type jsonRooms struct {
	Schema    string           `json:"schema"`
	File      string           `json:"file"`
	Rank      *uint64          `json:"rank"`
	Nodes     int64            `json:"nodes"`
	Windows   []event.Window   `json:"windows,omitempty"`
	Answer    replay.Answer    `json:"answer"`
	Untold    []replay.Told    `json:"untold"`
	Accepted  []replay.Told    `json:"accepted"`
	Basis     replay.Basis     `json:"basis"`
	Runs      int64            `json:"runs"`
	Sharded   *string          `json:"sharded"`
	Size      *uint64          `json:"size_bytes"`
	Room      *jsonRoom        `json:"room"`
	Devices   []jsonDeviceRoom `json:"devices"`
	Tight     []jsonTightRun   `json:"too_tight"`
	TightMore int64            `json:"too_tight_more"`
}

type jsonRoom struct {
	Cores string         `json:"cores"`
	Count int            `json:"count"`
	Bytes uint64         `json:"bytes"`
	Start *uint64        `json:"start"`
	End   *uint64        `json:"end"`
	Fits  *uint64        `json:"fits_at"`
	Below *jsonRoomLimit `json:"below"`
	Above *jsonRoomLimit `json:"above"`
}

type jsonRoomLimit struct {
	Program *replay.ProgramRun `json:"program"`
	Enqueue *uint64            `json:"counter"`
	T       json.Number        `json:"t,omitempty"`
	Buffer  *replay.BufferInfo `json:"buffer"`
}

type jsonDeviceRoom struct {
	Device *uint64           `json:"device"`
	Kind   replay.DeviceKind `json:"kind"`
	Chips  []uint64          `json:"chips"`
	Room   jsonRoom          `json:"room"`
	Groups []jsonRoom        `json:"groups"`
}

type jsonTightRun struct {
	Program replay.ProgramRun `json:"program"`
	Enqueue uint64            `json:"counter"`
	T       json.Number       `json:"t,omitempty"`
	Device  *uint64           `json:"device"`
	Devices int               `json:"devices"`
	Times   int64             `json:"times"`
	Bytes   uint64            `json:"bytes"`
	Start   *uint64           `json:"start"`
	End     *uint64           `json:"end"`
}

func newRoomDocument(m room) jsonRooms {
	r, rooms := m.result, m.rooms()
	out := jsonRooms{
		Schema: RoomSchema, File: r.File, Rank: optional(r.Rank), Nodes: r.Nodes, Windows: r.Windows, Answer: m.Answer, Untold: r.Told(m.Untold),
		Accepted: r.Told(m.Accepted), Basis: r.Basis(r.Spec), Runs: r.Checks.Runs, Devices: []jsonDeviceRoom{}, Tight: []jsonTightRun{},
		TightMore: rooms.TightMore,
	}
	if q := rooms.Question; q.Size > 0 {
		out.Size = &q.Size
	}
	if q := rooms.Question; !q.Cores.IsEmpty() {
		cores := q.Cores.String()
		out.Sharded = &cores
	}
	if len(rooms.Devices) > 0 {
		all := newRoom(rooms.All)
		out.Room = &all
	}
	for _, d := range rooms.Devices {
		row := jsonDeviceRoom{optional(d.Device), d.Kind, append([]uint64{}, d.Chips...), newRoom(d.Room), []jsonRoom{}}
		for _, g := range d.Groups {
			row.Groups = append(row.Groups, newRoom(g))
		}
		out.Devices = append(out.Devices, row)
	}
	for _, x := range rooms.Tight {
		row := jsonTightRun{Program: x.Run, Enqueue: x.Enqueue, T: x.T, Device: optional(x.Device), Devices: x.Devices, Times: x.Times, Bytes: x.Range.Len()}
		row.Start, row.End = newEnds(x.Range)
		out.Tight = append(out.Tight, row)
	}
	return out
}

func newRoom(of replay.Room) jsonRoom {
	out := jsonRoom{Cores: of.Cores.String(), Count: of.Cores.Len(), Bytes: of.Range.Len(), Below: newRoomLimit(of.Below), Above: newRoomLimit(of.Above)}
	out.Start, out.End = newEnds(of.Range)
	out.Fits, _ = newEnds(of.Place)
	return out
}

// newEnds returns where a range starts and ends, nil where it is empty.
func newEnds(r l1.Range) (start, end *uint64) {
	if r.IsEmpty() {
		return nil, nil
	}
	return &r.Start, &r.End
}

func newRoomLimit(l *replay.RoomLimit) *jsonRoomLimit {
	switch {
	case l == nil:
		return nil
	case l.Program != nil:
		run := *l.Program
		return &jsonRoomLimit{Program: &run, Enqueue: &l.Enqueue, T: l.T}
	}
	buffer := *l.Buffer
	return &jsonRoomLimit{Buffer: &buffer}
}
