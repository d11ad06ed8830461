package serve

import (
	"cmp"
	"io"
	"math"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// maxRows is how many devices have a row in a Snapshot before there is none for devices of fleets.
const maxRows = 4096

// Snapshot returns the present figures: of the devices in the records of processes, and behind them
// of the devices of named fleets, by name. Processes that are shown under one id are one row for
// each device. Cost: O(devices, and processes times the devices that they named).
func (s *Server) Snapshot() watch.Snapshot {
	out, fleets := s.ofRecords()
	for _, f := range fleets { // which have locks of their own
		f.notes.Add(&out, f.name, f.Fleet(), maxRows)
	}
	return out
}

// ofRecords returns the snapshot of the records of processes, and the named fleets.
func (s *Server) ofRecords() (watch.Snapshot, []*fleet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := s.count()
	out := watch.Snapshot{
		Schema: watch.Schema, Source: watch.FeedRecords, Time: s.c.Now().UnixNano(), Devices: []answer.LiveDevice{}, Processes: s.rows(), Odd: []watch.OddityCount{}, Leaked: s.counts.Leaked,
		Leaks: slices.Clone(s.latest.leaks), Refused: slices.Clone(s.latest.refused), Server: &counts.ServerCounts,
	}
	for _, id := range s.devices() {
		out.Devices = append(out.Devices, s.row(id))
	}
	odd := s.ledger.Anomalies()
	for _, a := range wire.Oddities() {
		if odd[a] > 0 {
			out.Odd = append(out.Odd, watch.OddityCount{Code: string(a), Count: odd[a]})
		}
	}
	return out, slices.SortedFunc(slices.Values(s.fleets), func(a, b *fleet) int { return cmp.Compare(a.name, b.name) })
}

// Row returns the row of one device, as Snapshot does: of the named fleet or, with the name "", of
// the records of processes. ok is false if the device is unknown there.
func (s *Server) Row(fleet string, id uint64) (row answer.LiveDevice, ok bool) {
	if fleet != "" {
		f := s.named(fleet)
		if f == nil {
			return row, false
		}
		d, err := f.Fleet().Device(device.ID(id))
		if err != nil {
			return row, false
		}
		row = f.notes.Row(f.Fleet(), d)
		row.Fleet = fleet
		return row, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if id > math.MaxInt32 {
		return row, false
	}
	if _, ok = slices.BinarySearch(s.devices(), int32(id)); ok {
		row = s.row(int32(id))
	}
	return row, ok
}

// row returns the session's row of a device with the ledger's figures in it; the row of a mesh is a view of its chips.
// Bytes of cores are a bound. Records show neither dispatches nor the bytes of a buffer on a core. One core stands for
// all of an undeclared device.
func (s *Server) row(id int32) answer.LiveDevice {
	if chips := s.mesh(id); chips != nil {
		rows := make([]answer.LiveDevice, len(chips))
		for i, chip := range chips {
			rows[i] = s.row(chip)
		}
		row := answer.MeshOf(uint64(id), "", rows)
		if d, err := s.live.Fleet().Device(device.ID(id)); err == nil {
			row.Board = d.Spec().Name
		}
		row.Incomplete = row.Incomplete || s.incomplete(id)
		return row
	}
	row := answer.LiveDevice{Device: uint64(id), Core: new(uint64), Peak: &answer.LivePeak{}} // nothing has lived there
	if d, err := s.live.Fleet().Device(device.ID(id)); err == nil {
		row = answer.NewLiveDevice(d)
	}
	t := s.ledger.On(id)
	row.Bound, row.Incomplete, row.Programs, row.Sum = true, s.incomplete(id), &t.CBs, &t.CB
	row.SetBuffers(t.BufferTotals)
	row.Dispatched, row.Tracked, row.TrackedCore, row.Below = nil, nil, nil, nil
	row.Peak = &answer.LivePeak{Registered: row.Peak.Registered, Core: row.Peak.Core}
	if known, declared := s.known[id]; declared {
		watch.SetDRAM(&row, known.DRAM)
	} else {
		row.Board, row.Cores, row.Usable, row.Registered, row.Logical, row.Peak.Registered = "", 0, 0, nil, nil, nil
	}
	return row
}

// rows are the processes that have something.
func (s *Server) rows() []watch.Process {
	type on struct{ pid, device int32 }
	sums, dead := map[on]wire.Sums{}, map[on]bool{}
	for _, p := range s.all {
		for named := range p.devices {
			for id, t := range s.ledger.TotalsOf(p.owner, named) {
				at := on{p.shown(), id}
				sum := sums[at]
				sum.Merge(t)
				sums[at], dead[at] = sum, dead[at] || !p.since.IsZero()
			}
		}
	}
	out := []watch.Process{}
	for at, sum := range sums {
		row := watch.ProcessOn(uint64(uint32(at.device)), at.pid, sum)
		row.Dead = dead[at]
		out = append(out, row)
	}
	watch.SortProcesses(out)
	return out
}

// Detail returns the contents of the cores of a device, which it finds as Row does. In records of
// processes each CB is on all cores, and a mesh has the contents of its fullest chip. It returns nil for an unknown device. Cost: a
// Device.UsageGroups, without the lock of the server.
func (s *Server) Detail(fleet string, id uint64) *watch.Detail {
	from := s.live.Fleet()
	if fleet != "" {
		f := s.named(fleet)
		if f == nil {
			return nil
		}
		from = f.Fleet()
	}
	d, err := from.Device(device.ID(id))
	if err != nil {
		return nil
	}
	if fleet == "" && id <= math.MaxInt32 {
		d = watch.Fullest(from, d, s.mesh(int32(id)))
	}
	detail := watch.DetailOf(d)
	detail.Fleet, detail.Device = fleet, id
	return detail
}

// WriteMoment writes an event log that begins now: its header, the devices, the live allocations,
// and the hidden facts. It concerns the named fleet or, with the name "", the records of processes.
// The error is ErrNoFleet, or the error of w. Cost: O(n log n) in the live allocations; clients
// wait meanwhile.
func (s *Server) WriteMoment(fleet string, w io.Writer) error {
	if fleet != "" {
		f := s.named(fleet)
		if f == nil {
			return ErrNoFleet
		}
		return f.WriteMoment(w)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	to, write := &wire.Translator{T: s.stamp()}, event.NewWriter(w).Write
	return cmp.Or(writeAll(write, to.Header()), s.moment(to, write))
}

// moment writes the ledger of records behind a header, as a log that begins now. A fleet has no processes, no declared
// DRAM and no CB without a place, so session.Shared.WriteMoment, which writes fleets, does not serve here. The error
// is the first of write.
func (s *Server) moment(to *wire.Translator, write func(*event.Event) error) error {
	for _, id := range s.devices() {
		for _, declared := range []map[int32]wire.DeclaredDevice{s.known, s.meshes} {
			if d, ok := declared[id]; ok {
				if err := writeAll(write, to.Declare(d)); err != nil {
					return err
				}
			}
		}
	}
	for lot := range s.ledger.Live() {
		if err := writeAll(write, to.Came(&lot)); err != nil {
			return err
		}
	}
	var hidden []event.Event
	for a, n := range s.ledger.Anomalies() {
		if a != wire.OddityWrapped { // which is counted beside others
			hidden = append(hidden, event.Event{Pos: event.Pos{Node: -1}, T: to.T, Kind: event.KindHidden, Code: wire.CodeOdd, Count: n, Detail: string(a)})
		}
	}
	slices.SortFunc(hidden, func(a, b event.Event) int { return cmp.Compare(a.Detail, b.Detail) })
	for _, l := range s.lost {
		hidden = append(hidden, l.event(to.T))
	}
	return writeAll(write, hidden)
}

func writeAll(write func(*event.Event) error, events []event.Event) error {
	for i := range events {
		if err := write(&events[i]); err != nil {
			return err
		}
	}
	return nil
}
